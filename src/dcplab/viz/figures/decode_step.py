"""Draws one decode step of one request: from its new token to the merged output, with the pieces lit that a part is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplab.engine import index_spaces
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import GAP, Box
from dcplab.viz.figures.stages import CELL, HEIGHT, WIDTH, Boxes, Stage, Step, ranks, staged
from dcplab.viz.figures.strips import loc_box

D = 4
LOCS = (8, 9, 10, 11, 20, 21, 22, 23)  # of one request, by position; its two pages are no neighbours
SCORES = (0.2, 0.9, 0.1, 0.3, 0.8, 0.1, 0.7, 0.4)
CHOSEN = (1, 4, 6)  # the positions of the three highest scores
TABLE = (*(LOCS[i] for i in CHOSEN), -1)  # as the kernels get it, a multiple of four places: the last is padding


def _request(x: float, y: float) -> list[Box]:
    cells = [loc_box((x + i * (CELL + GAP), y, CELL, HEIGHT), loc, D) for i, loc in enumerate(LOCS)]
    return [replace(box, sub=f"position {i}", mark="last" if i == len(LOCS) - 1 else "") for i, box in enumerate(cells)]


def _write() -> Boxes:
    new = LOCS[-1]
    owner, row = index_spaces.owner_rank(new, D), index_spaces.local_row(new, D)
    return ranks([(f"row {row}" if r == owner else "", f"rank {r}, c-KV") for r in range(D)])


def _index_k(x: float, y: float) -> list[Box]:
    new = LOCS[-1]
    width = 2 * CELL + GAP
    return [Box(x + r * (width + GAP), y, width, HEIGHT, "index_k", f"loc {new}", f"rank {r}, index-K") for r in range(D)]


def _scores(x: float, y: float) -> list[Box]:
    return [
        Box(
            x + i * (CELL + GAP),
            y,
            CELL,
            HEIGHT,
            "index_k" if i in CHOSEN else "yes",
            f"{score}",
            f"position {i}",
            "selected" if i in CHOSEN else "",
        )
        for i, score in enumerate(SCORES)
    ]


def _topk(x: float, y: float) -> list[Box]:
    return [loc_box((x + i * (CELL + GAP), y, CELL, HEIGHT), loc, D) for i, loc in enumerate(TABLE)]


def _tables() -> list[tuple[int, ...]]:
    """Make each rank's own table of rows, -1 for what it does not hold."""
    return [
        tuple(index_spaces.local_row(v, D) if v >= 0 and index_spaces.owner_rank(v, D) == r else -1 for v in TABLE)
        for r in range(D)
    ]


def _localize() -> Boxes:
    return ranks([(" ".join(str(row) for row in rows), f"rank {r}") for r, rows in enumerate(_tables())])


def _attend() -> Boxes:
    texts = []
    for r, rows in enumerate(_tables()):
        mine = [row for row in rows if row >= 0]
        what = f"row{'s' if len(mine) > 1 else ''} {' and '.join(map(str, mine))}" if mine else ""
        texts.append((what, f"rank {r}: output, LSE" if mine else f"rank {r}: LSE is -inf"))
    return ranks(texts)


def _merge(x: float, y: float) -> list[Box]:
    return [Box(x, y, WIDTH, HEIGHT, "header", "one output", "each rank's weighted by its LSE")]


STAGES = (
    Stage("request", "its tokens, and their slots", ("a request", "a loc for each position", "loc"), _request),
    Stage("write", "the new token's c-KV: one rank", ("the new token's loc", "a row on its owner", "row"), _write()),
    Stage("index_k", "its index key: every rank", ("the new token's loc", "the same slot on every rank", "loc"), _index_k),
    Stage("indexer", "a score for every token", ("all index keys", "the top-k positions", "position"), _scores),
    Stage("top_k", "what is worth reading", ("the chosen positions", "a table of locs, padded with -1", "loc"), _topk),
    Stage("localize", "each rank: my rows, or -1", ("the table of locs", "a table of rows on each rank", "row"), _localize()),
    Stage("attend", "each rank reads what it holds", ("its rows", "an output and its LSE", "none"), _attend()),
    Stage("merge", "the parts become one", ("the ranks' outputs", "one output", "none"), _merge),
)
STEP = Step(
    STAGES,
    "One decode step of one request, D = 4 ranks, top-k 3 in tables of 4 places",
    "A colour is a rank, named in the cell where a line is about ranks. In each line the numbers mean something else.",
    "In a decode step",
)


@drawn
def decode_step(lit: str | Sequence[str] | None = None) -> Picture:
    """Draw one decode step of one request on D = 4 ranks, top-k 3, eight stages from the request to the merged output.

    ``lit``: the name of a stage or several of `STAGES`. All are named in a line above, and only these are drawn.
    """
    return staged(STEP, lit)
