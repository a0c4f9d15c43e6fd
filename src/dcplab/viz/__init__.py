"""Pictures of locs, ranks, pages and requests. A figure function returns a `Picture`; `owner_table`, `watermark`,
`arena_map`, `token_journey` and `workspace` return live ones."""

from .arena_live import ArenaMap, arena_map
from .journey_live import TokenJourney, token_journey, token_journey_picture
from .lanes import kernel_lanes
from .matrix_live import MatrixTable
from .memory import memory_map
from .pages import two_page_tables, widened_page
from .picture import Picture
from .requests import flattened
from .strips import localized, owner_strip, rank_table
from .watermark_live import Watermark, watermark
from .widget import OwnerTable, owner_table
from .workspace_figures import shards_picture, workspace_picture
from .workspace_live import Workspace, workspace

__all__ = [
    "ArenaMap",
    "MatrixTable",
    "OwnerTable",
    "Picture",
    "TokenJourney",
    "Watermark",
    "Workspace",
    "arena_map",
    "flattened",
    "kernel_lanes",
    "localized",
    "memory_map",
    "owner_strip",
    "owner_table",
    "rank_table",
    "shards_picture",
    "token_journey",
    "token_journey_picture",
    "two_page_tables",
    "watermark",
    "widened_page",
    "workspace",
    "workspace_picture",
]
