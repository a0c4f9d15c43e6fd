"""Calls of every static figure, easy and awkward, that the tests of drawing share."""

import functools

import torch

from dcplab import viz
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import Space, tag
from dcplab.viz.figures import bars
from dcplab.viz.views.matrix import live as matrix_live
from dcplab.viz.views.matrix import state as matrix_state

BIG = 2**31 + 5
MEMORY = [("layer 0", 0, 16), ("layer 1", 16, 32), ("somebody else's", 32, 48)]


def engine(defects: str = "index_k_size", layers: int = 2, strict: bool = False, size: int = 12) -> Engine:
    """A server that did nothing yet, D = 2, P = 4."""
    config = ServerConfig(size, 4, 2, layers=layers, max_requests=2, chunk=16)
    return Engine(config, defects.split(",") if defects else (), Local(2), strict=strict)


def written(server: Engine, *writes: tuple[str, list[int]]) -> Engine:
    """The same server after its first rank has written to buffers at indices, all of them locs."""
    for name, locs in writes:
        index = tag(torch.tensor(locs), Space.LOC)
        server.watcher.use(server.workers[0].arena, 0, name, index, f"write {name}", True, index)
    return server


@functools.lru_cache
def spilled(layers: int = 2) -> Engine:
    """Keys of locs 8 to 40 written to both ends of index-K, whose 16 slots hold locs 8 to 15, and c-KV written at locs."""
    last = f"index_k.{layers - 1}"
    writes = [("index_k.0", [*range(8, 20)]), (last, [*range(20, 32)]), ("ckv.0", [9, 11, 17]), ("index_k.0", [31])]
    server = written(engine(layers=layers), *writes)
    return written(server, (last, [40, 10**6]))


def isolation_matrix(*verdicts: str) -> viz.MatrixTable:
    """Two subsets at two watermarks, all predicted to be right; what ran did ``verdicts``, in order."""
    names, told = ("size", "write"), [*verdicts, *[""] * 4]
    cells = [
        matrix_state.MatrixCell(
            f"{s}, {level}", s, level, has, "right", told[2 * i + j], told[2 * i + j] and "3/3, -, -", "Because."
        )
        for i, (s, has) in enumerate((("none", (False, False)), ("all", (True, True))))
        for j, level in enumerate(("below", "above"))
    ]
    return matrix_live.matrix(names, tuple(cells), lambda *_: None)


CALLS = {
    "decode step": viz.decode_step,
    "decode step, a piece": lambda: viz.decode_step(["top_k", "localize"]),
    "extend step": viz.extend_step,
    "extend step, a piece": lambda: viz.extend_step(["gather", "assemble"]),
    "strip": lambda: viz.owner_strip(range(16, 48), 4),
    "strip, three ranks": lambda: viz.owner_strip(range(12, 36), 3),
    "strip, padding and big locs": lambda: viz.owner_strip([0, -1, 455_744, 3_646_463, BIG, 2**40], 8),
    "strip, eleven ranks": lambda: viz.owner_strip(range(33), 11),
    "ranks": lambda: viz.rank_table(range(16, 48), 4),
    "ranks, holes": lambda: viz.rank_table([8, 9, 13, -1, 16, BIG], 2),
    "localized": lambda: viz.localized([2, 5, 8, 10, -1], 4),
    "localized, long": lambda: viz.localized(range(100), 3),
    "page": lambda: viz.widened_page(3, 4, 2),
    "page, one rank": lambda: viz.widened_page(0, 1, 1),
    "page, real size": lambda: viz.widened_page(7121, 64, 8),
    "page tables": lambda: viz.two_page_tables([*range(24, 32), 8, 9, 10], 4, 2),
    "page tables, wide page": lambda: viz.two_page_tables(range(512, 600), 64, 8),
    "page tables, three ranks": lambda: viz.two_page_tables(range(15, 40), 5, 3),
    "flattened": lambda: viz.flattened([[8, 9, 10, 11], [0, 0, 0, 0], [16, 17, 18, 19]], [2, 0, 1], [3, 2, 0]),
    "lanes": lambda: viz.kernel_lanes([16, 17, 18, -1, 20, 21, 22, 23, 24, 25], 1, 4, 8),
    "lanes, big": lambda: viz.kernel_lanes([BIG, BIG + 1, -1], 2, 3, 2),
    "memory": lambda: viz.memory_map(MEMORY, [("loc 8", "layer 0", 8), ("loc 24", "layer 0", 24), ("loc 31", "layer 1", 60)]),
    "memory, many accesses": lambda: viz.memory_map(MEMORY, [(f"loc {v}", "layer 0", v) for v in range(40)]),
    "memory, bytes": lambda: viz.memory_map([("c-KV", 0, 2**33), ("canary", 2**33, 2**33 + 1024)], unit="byte"),
    "watermark": lambda: viz.watermark().picture,
    "watermark, first page": lambda: viz.watermark(8, 4, 2, 3, [4, "free A", 8]).picture,
    "watermark, three ranks, spare rows": lambda: viz.watermark(22, 5, 3, 1, [17, 20, "keep A", 5, "free B", 40]).picture,
    "watermark, one rank": lambda: viz.watermark(12, 4, 1).picture,
    "watermark, pages of one": lambda: viz.watermark(40, 1, 2, requests=[3] * 12 + ["free C"]).picture,
    "watermark, empty": lambda: viz.watermark(requests=[]).picture,
    "watermark, real size": lambda: viz.watermark(455_744, 64, 8, 11).picture,
    "arena": lambda: viz.arena_map(spilled()).picture,
    "arena, first access": lambda: viz.arena_map(spilled(), at=1).picture,
    "arena, many layers": lambda: viz.arena_map(spilled(14), reads=True).picture,
    "arena, nothing wrong": lambda: viz.arena_map(engine("")).picture,
    "owner table": lambda: viz.owner_table().picture,
    "owner table, tail": lambda: viz.owner_table(2, 4, 14, selected=31).picture,
    "owner table, three ranks": lambda: viz.owner_table(3, 5, 22, requests={"prompt": 17, "B": [45, 46]}).picture,
    "owner table, real size": lambda: viz.owner_table(8, 64, 455_744, selected=3_646_463).picture,
    "shards": lambda: viz.shards_picture([5, 3]),
    "shards, starts and an empty one": lambda: viz.shards_picture(torch.tensor([5, 0, 3, 7]), [0, 2, 3, 5], 3),
    "shards, one rank": lambda: viz.shards_picture([4, 2], dcp_size=1),
    "shards, far along": lambda: viz.shards_picture([9], [BIG], 8),
    "layouts": lambda: viz.workspace_picture([5, 3], [3, 2]),
    "layouts, nothing cached or nothing new": lambda: viz.workspace_picture([0, 7, 0], [4, 0, 12]),
    "workspace": lambda: viz.workspace().picture,
    "workspace, wrong id": lambda: viz.workspace(use="position").picture,
    "workspace, beyond": lambda: viz.workspace(request="A", position=7, use="loc").picture,
    "workspace, c-KV": lambda: viz.workspace(dcp_size=3, request="A", position=1, use="raw").picture,
    "workspace, nothing cached": lambda: viz.workspace({"A": ("", "one two three"), "B": ("", "four")}).picture,
    "workspace, eight ranks, an empty one": lambda: (
        viz.workspace(
            {"prompt": ("some words of a longer text than fits", "abcdefghijkl"), "B": ("", ""), "C": ("x", "y")},
            8,
            1,
            "C",
            1,
            "prefix",
        ).picture
    ),
    "journey": lambda: viz.token_journey_picture(),
    "journey, half a fix": lambda: viz.token_journey_picture(write=True, selected="one"),
    "journey, high": lambda: viz.token_journey_picture(read=True, level="high"),
    "journey, three ranks, pages of two": lambda: viz.token_journey_picture(3, 2, level="high", selected="ship"),
    "journey, other words": lambda: viz.token_journey_picture(2, old="x", new="incorrect words as long"),
    "retraction": lambda: viz.retraction().picture,
    "retraction, on the host": lambda: viz.retraction(at=1, selected=12).picture,
    "retraction, old locs, last freed first": lambda: viz.retraction(need_sort=False, restore="at the old locs").picture,
    "retraction, three ranks, nothing restored": lambda: viz.retraction(3, 4, 24, restore="not at all", selected=7).picture,
    "retraction, one rank": lambda: viz.retraction(1, 4, 9, at=2).picture,
    "two layouts": lambda: viz.layouts().picture,
    "two layouts, one rank to eight": lambda: viz.layouts((1, 1), (8, 1), 32, 31).picture,
    "two layouts, runs longer than the request": lambda: viz.layouts((3, 2), (8, 16), 13, 12).picture,
    "two layouts, one token": lambda: viz.layouts((8, 16), (1, 16), 1, 0).picture,
    "matrix": lambda: isolation_matrix().picture,
    "matrix, half run": lambda: isolation_matrix("silent", "", "crash", "alarm").picture,
    "roofline": lambda: viz.roofline().picture,
    "links, gather": viz.links,
    "links, merge": lambda: viz.links("merge"),
    "bars": lambda: bars.bars(
        "Times", "", "ms", [bars.Bar("D = 8", "with holes", 0.0512, "unused"), bars.Bar("D = 8", "x", 0, "yes")]
    ),
}
