"""Pictures of locs, ranks, pages and requests. A figure function returns a `Picture`. `owner_table`, `watermark`, `arena_map`,
`token_journey`, `workspace`, `retraction`, `layouts` and `roofline` return live ones."""

from dcplab.viz.core.picture import Picture
from dcplab.viz.figures.decode_step import decode_step
from dcplab.viz.figures.extend_step import extend_step
from dcplab.viz.figures.flattened import flattened
from dcplab.viz.figures.kernel_lanes import kernel_lanes
from dcplab.viz.figures.links import links
from dcplab.viz.figures.memory_map import memory_map
from dcplab.viz.figures.page_tables import two_page_tables, widened_page
from dcplab.viz.figures.pages import pages
from dcplab.viz.figures.question import question
from dcplab.viz.figures.strips import localized, owner_strip, rank_table
from dcplab.viz.views.arena.live import ArenaMap, arena_map
from dcplab.viz.views.journey.live import TokenJourney, token_journey, token_journey_picture
from dcplab.viz.views.layouts.live import Layouts, layouts
from dcplab.viz.views.matrix.live import MatrixTable
from dcplab.viz.views.owner.live import OwnerTable, owner_table
from dcplab.viz.views.retraction.live import Retraction, retraction
from dcplab.viz.views.roofline.live import Roofline, roofline
from dcplab.viz.views.watermark.live import Watermark, watermark
from dcplab.viz.views.workspace.figures import shards_picture, workspace_picture
from dcplab.viz.views.workspace.live import Workspace, workspace

__all__ = [
    "ArenaMap",
    "Layouts",
    "MatrixTable",
    "OwnerTable",
    "Picture",
    "Retraction",
    "Roofline",
    "TokenJourney",
    "Watermark",
    "Workspace",
    "arena_map",
    "decode_step",
    "extend_step",
    "flattened",
    "kernel_lanes",
    "layouts",
    "links",
    "localized",
    "memory_map",
    "owner_strip",
    "owner_table",
    "pages",
    "question",
    "rank_table",
    "retraction",
    "roofline",
    "shards_picture",
    "token_journey",
    "token_journey_picture",
    "two_page_tables",
    "watermark",
    "widened_page",
    "workspace",
    "workspace_picture",
]
