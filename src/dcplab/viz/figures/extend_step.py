"""Draws one extend step of two requests with cached prefixes: from their tokens to their outputs, which nobody has to merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplab.engine import index_spaces
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import GAP, Box
from dcplab.viz.figures.stages import CELL, HEIGHT, WIDTH, Stage, Step, ranks, staged
from dcplab.viz.figures.strips import loc_box

D = 4
PREFIXES = ((16, 17, 18, 19), (32, 33))  # locs of what is cached, by request and position
NEW = (20, 34)  # locs of the new tokens, one a request
NAMES = "AB"
BEGINS = (0, 5)  # cu_seqlens_k without its end
CHOSEN = ((1, 3, 4), (0, 2))  # positions that top-k picks for each new token, in its own request
HALF = (WIDTH - GAP) / 2


def _tokens() -> list[tuple[str, int, bool]]:
    """List (name, loc, whether it is new), request by request: the order of the workspace."""
    return [
        (f"{NAMES[i]}{p}", loc, p == len(prefix))
        for i, prefix in enumerate(PREFIXES)
        for p, loc in enumerate((*prefix, NEW[i]))
    ]


def _requests(x: float, y: float) -> list[Box]:
    cells = [loc_box((x + i * (CELL + GAP), y, CELL, HEIGHT), loc, D) for i, (_, loc, _) in enumerate(_tokens())]
    named = zip(cells, _tokens(), strict=True)
    return [replace(box, sub=f"{name}, new" if new else name, mark="last" if new else "") for box, (name, _, new) in named]


def _rows_of(locs: Sequence[int], rank: int) -> list[int]:
    return [index_spaces.local_row(loc, D) for loc in locs if index_spaces.owner_rank(loc, D) == rank]


def _listed(what: str, numbers: Sequence[int]) -> str:
    return f"{what}{'s' if len(numbers) > 1 else ''} {' '.join(map(str, numbers))}" if numbers else ""


def _index_k(x: float, y: float) -> list[Box]:
    width = 2 * CELL + GAP
    text = _listed("loc", NEW)
    return [Box(x + r * (width + GAP), y, width, HEIGHT, "index_k", text, f"rank {r}, index-K") for r in range(D)]


def _assemble(x: float, y: float) -> list[Box]:
    at = enumerate(_tokens())
    return [
        Box(x + i * (CELL + GAP), y, CELL, HEIGHT, f"request{NAMES.index(name[0])}", name, f"index {i}", "last" if new else "")
        for i, (name, _, new) in at
    ]


def _for_each(texts: Sequence[tuple[str, str]]):
    def boxes(x: float, y: float) -> list[Box]:
        return [Box(x + i * (HALF + GAP), y, HALF, HEIGHT, f"request{i}", text, sub) for i, (text, sub) in enumerate(texts)]

    return boxes


def _ragged() -> list[tuple[int, ...]]:
    return [tuple(BEGINS[i] + p for p in chosen) for i, chosen in enumerate(CHOSEN)]


def _attend(x: float, y: float) -> list[Box]:
    text = "output of A4, output of B2"
    return [Box(x, y, WIDTH, HEIGHT, "header", text, "from one workspace, the same on every rank: nothing to merge")]


_PREFIX_LOCS = [loc for prefix in PREFIXES for loc in prefix]
STAGES = (
    Stage("request", "what is cached, what is new", ("two requests", "a loc for each position", "loc"), _requests),
    Stage(
        "write",
        "new tokens' c-KV: their owners",
        ("the new tokens' locs", "a row on each owner", "row"),
        ranks([(_listed("row", _rows_of(NEW, r)), f"rank {r}, c-KV") for r in range(D)]),
    ),
    Stage("index_k", "their index keys: every rank", ("the new tokens' locs", "the same slots on every rank", "loc"), _index_k),
    Stage(
        "gather",
        "each rank sends its rows",
        ("all prefixes' locs", "this rank's rows of them, padded to turns", "row"),
        ranks([(_listed("row", _rows_of(_PREFIX_LOCS, r)), f"rank {r} sends") for r in range(D)]),
    ),
    Stage("assemble", "prefix, new; request by request", ("gathered rows", "the workspace", "ragged index"), _assemble),
    Stage(
        "top_k",
        "what is worth reading",
        ("scores of a request's tokens", "positions in that request", "position"),
        _for_each([(_listed("position", c), f"of {n}, for its new token") for c, n in zip(CHOSEN, NAMES, strict=True)]),
    ),
    Stage(
        "to_ragged",
        "a place in the workspace",
        ("positions, cu_seqlens_k", "their places in the workspace", "ragged index"),
        _for_each([(" ".join(map(str, r)), f"{b} + position") for r, b in zip(_ragged(), BEGINS, strict=True)]),
    ),
    Stage("attend", "reads the workspace", ("ragged indices", "an output a new token", "none"), _attend),
)
STEP = Step(
    STAGES,
    "One extend step of two requests, A and B, D = 4 ranks",
    "A4 and B2 are new, the others are cached. In each line the numbers mean something else.",
    "In an extend step",
)


@drawn
def extend_step(lit: str | Sequence[str] | None = None) -> Picture:
    """Draw one extend step of two requests on D = 4 ranks, eight stages from their cached and new tokens to their outputs.

    ``lit``: the name of a stage or several of `STAGES`. All are named in a line above, and only these are drawn.
    """
    return staged(STEP, lit)
