"""4a: My rows of everybody's prefix"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different
from dcplab.present.values import short

from .shared import ints


def _locs(draw: Draw, lengths: Sequence[int], page_size: int, dcp_size: int, starts: Sequence[int] = (), base: int = 0):
    """Locs of positions ``start ..`` of each request, one request after another. Pages fall, and are never adjacent."""
    width, locs = page_size * dcp_size, []
    free = [base + 2 * page + draw.int(0, 1) for page in sorted(draw.sample(range(1, 9), 6), reverse=True)]
    for n, start in zip_longest(lengths, starts, fillvalue=0):
        pages = [free.pop(0) for _ in range(-(-(start + n) // width))]
        locs += [pages[p // width] * width + p % width for p in range(start, start + n)]
    return locs


def _prefix_cases(draw: Draw) -> list[Case]:
    def case(label, lengths, page_size, dcp_size, rank, dtype=torch.int64, **more):
        locs = ints(_locs(draw, lengths, page_size, dcp_size, **more), dtype)
        return label, (locs, ints(lengths), rank, dcp_size)

    shared = _locs(draw, [6], 3, 2)

    def float64_is_right(locs, _, rank, dcp_size):
        mine = locs[locs % dcp_size == rank]
        return torch.equal((mine.double() / dcp_size).long(), mine // dcp_size)

    def drawn_far():
        return case("locs past 2^31 and 2^53", [5, 8], 4, 6, draw.int(1, 4), base=2**54)

    far = drawn_far()
    while float64_is_right(*far[1]):
        far = drawn_far()
    column = case("a column of a table, int32 lengths", [10, draw.int(11, 13)], 2, 8, draw.choice([0, 5]))[1]
    return numbered(
        [
            case("one request", [draw.int(6, 7)], 4, 4, 1),
            case("prefixes of 5 and 3 tokens", [5, 3], 4, 4, 0),
            case("prefixes of 5 and 4 tokens", [5, 4], 4, 4, 0),
            case("an empty prefix between two", [4, 0, 5], 3, 3, 0),
            case("prefixes that fill several pages", [draw.int(9, 11), 13], 2, 3, 1),
            ("two requests that share a prefix", (ints(shared + shared[:5]), ints([6, 5]), 1, 2)),
            ("two requests whose prefix is the same one token", (ints(shared[:1] * 2), ints([1, 1]), 0, 2)),
            case("a piece that does not start at position 0", [6, 4], 4, 4, draw.int(1, 2), starts=[5, 3]),
            ("loc 0 and its neighbours", (torch.arange(5), ints([2, 3]), 0, 3)),
            ("row 0 of another rank", (torch.arange(5), ints([2, 3]), 1, 3)),
            case("int32 locs", [7, 1, 4], 4, 3, draw.int(0, 1), torch.int32),
            case("one rank", [4, 3], 4, 1, 0),
            far,
            ("a column of a table, int32 lengths", (as_column(column[0]), column[1].int(), *column[2:])),
            case("a rank that holds nothing of them", [2, 1], 4, 4, 3),
            case("nothing but empty prefixes", [0, 0], 4, 4, 1),
            case("no request", [], 4, 4, 1),
        ]
    )


def _prefix_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, lens, rank, dcp_size = case.args
    owned = [(i, p, loc) for i, p, loc in _places(lens.tolist(), locs.tolist()) if loc % dcp_size == rank]
    caption = f"dcp_rank {rank}, dcp_size {dcp_size}, prefix_lens {lens.tolist()}, prefix_locs {short(locs)}."
    header = ("entry", "request", "place in it", "loc", "yours", "expected")
    return different(header, lambda i: (i, *(owned[i] if i < len(owned) else "---")), got, expected, caption)


def _places(lens: Sequence[int], values: Sequence[int]) -> list[tuple[int, int, int]]:
    """(request, place in it, value) of each entry of a list of all requests' values."""
    return [(i, p, v) for (i, p), v in zip(((i, p) for i, n in enumerate(lens) for p in range(n)), values, strict=True)]


PART = Part(
    id="4a",
    entry="local_prefix_rows",
    title="My rows of everybody's prefix",
    points=15,
    minutes=8,
    cases=again(_prefix_cases),
    rows=_prefix_rows,
    question="Take one loc of the list. Who owns it, and what does that depend on?",
    hints=(
        "Ask each loc, not its place in the list: the list is several requests, laid end to end.",
        "A mask of the locs that this rank owns keeps the order and needs no lengths. What is left has to become rows.",
        "Select prefix_locs where its remainder by dcp_size is dcp_rank, then floor-divide what you have selected.",
    ),
    prediction=Prediction(
        question="D = 4. Prefixes of 5 and 3 tokens at locs 16 to 20 and 32 to 34. Which rows does rank 0 read?",
        answer="[4, 5, 8]",
        because=(
            "Rank 0 owns 16, 20 and 32. Every fourth entry of the eight would be 16 and 20 only: the second request begins "
            "at entry 5, which is not its turn."
        ),
        choices=("[4, 5]", "[4, 5, 8]", "[16, 20, 32]", "[0, 1, 2]"),
    ),
    picture=Shows("row", {"prefix_lens": "number", "prefix_locs": "loc"}),
)
