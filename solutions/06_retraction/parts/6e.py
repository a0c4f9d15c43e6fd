"""6e: From one layout to another"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN
from dcplab.present.values import short

from .shared import FAR, run


def _transfer_cases(draw: Draw) -> list[Case]:
    def case(length, source, target, cached=(), start=0, base=0, p=(2, 2)):
        """``source`` and ``target``: (size, rank) of the two nodes. ``cached``: positions that the target has already."""
        (s, s_rank), (t, t_rank) = source, target
        src, dst = run(draw, length, p[0], s, start, base), run(draw, length, p[1], t, start, base)
        dst[list(cached)] = -1
        return src, dst, s, s_rank, t, t_rank

    def float64_is_right(src, dst, s, s_rank, t, t_rank):
        moved = (src % s == s_rank) & (dst % t == t_rank)
        pairs = (src[moved], s), (dst[moved], t)
        return all(torch.equal((locs.double() / n).long(), locs // n) for locs, n in pairs)

    def drawn_far():
        return case(40, (3, draw.int(0, 2)), (5, draw.int(0, 4)), base=FAR, p=(5, 4))

    far = drawn_far()
    while float64_is_right(*far):
        far = drawn_far()
    src, dst, *sizes = case(11, (1, 0), (3, 1))
    n_src, n_dst, *n_sizes = case(13, (2, 1), (3, 2))
    crossed = case(9, (4, 1), (4, 1))
    twisted = torch.tensor(draw.shuffled(crossed[1].tolist()))
    return numbered(
        [
            ("from one rank to four: rank 1", case(9, (1, 0), (4, 1), p=(4, 2))),
            ("from one rank to four: the last rank", case(7, (1, 0), (4, 3), p=(4, 2))),
            ("from four ranks to one", case(9, (4, 2), (1, 0))),
            ("from two ranks to three", case(14, (2, 1), (3, draw.int(0, 2)))),
            ("from eight ranks to four: a pair that meets", case(17, (8, 5), (4, 1), p=(1, 2))),
            ("from eight ranks to four: a pair that never meets", case(16, (8, 5), (4, 2), p=(1, 2))),
            ("as many ranks on both sides", case(13, (4, 3), (4, 3))),
            ("as many ranks, and another rank", case(13, (4, 3), (4, 2))),
            ("one rank on both sides", case(6, (1, 0), (1, 0))),
            ("one rank on both sides, half cached", case(6, (1, 0), (1, 0), cached=(0, 1, 2))),
            ("the first page is cached: the last rank", case(13, (1, 0), (4, 3), cached=range(8), p=(4, 2))),
            ("three ranks, tokens cached here and there", case(14, (2, 0), (3, 2), cached=(0, 2, 5, 8))),
            ("a later chunk, which begins in a turn", case(9, (3, 1), (2, 0), start=5)),
            ("target locs in no order at all", (crossed[0], twisted, 4, 1, 4, draw.int(0, 3))),
            ("locs past 2^53", far),
            ("int32 on the source, int64 on the target", (n_src.int(), n_dst, *n_sizes)),
            ("a column of a table on both sides", (as_column(src), as_column(dst), *sizes)),
            ("loc 0 on either side", (torch.arange(6), torch.tensor([3, 1, 0, 2, 4, 5]), 2, 0, 3, 0)),
            ("everything is cached", case(5, (1, 0), (4, 3), cached=range(5))),
            ("no token", (torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64), 2, 1, 4, 3)),
        ]
    )


def _rows(case: Case, got: Any, expected: Any) -> Table:
    src, dst, s, s_rank, t, t_rank = case.args
    caption = f"Source: rank {s_rank} of {s}. Target: rank {t_rank} of {t}."
    header = ("position", "source loc", "target loc", "yours", "expected")
    pairs = isinstance(got, tuple) and len(got) == 2 and all(isinstance(one, torch.Tensor) and one.dim() == 1 for one in got)
    if not pairs or len(got[0]) != len(got[1]):
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    moved = ((dst >= 0) & (src % s == s_rank) & (dst % t == t_rank)).nonzero().flatten().tolist()
    mine, right = ([f"{a} to {b}" for a, b in zip(*(one.tolist() for one in two), strict=True)] for two in (got, expected))
    found = []
    for i in range(max(len(mine), len(right))):
        one, other = (side[i] if i < len(side) else "nothing" for side in (mine, right))
        if one != other:
            place = (moved[i], int(src[moved[i]]), int(dst[moved[i]])) if i < len(moved) else ("-", "-", "-")
            found.append((*map(str, place), one, other))
    return Table(header, tuple(found[:SHOWN]), caption)


PART = Part(
    id="6e",
    entry="transfer_rows",
    title="From one layout to another",
    points=15,
    minutes=11,
    cases=again(_transfer_cases),
    rows=_rows,
    question=(
        "Which tokens does this source rank hold that this target rank must have, and in which row is each on either side?"
    ),
    hints=(
        "Nothing new is needed: lab 01's rule, once with the source's locs and size, once with the target's.",
        "A token moves between these two ranks if the source rank owns its source loc, the target rank owns "
        "its target loc, and "
        "the target loc is not -1. One mask for both lists keeps them in step.",
        "moves = (dst_locs >= 0) & (src_locs % src_size == src_rank) & (dst_locs % dst_size == dst_rank). "
        "Divide src_locs[moves] "
        "by src_size and dst_locs[moves] by dst_size.",
    ),
    prediction=Prediction(
        question=(
            "Prefill has one rank, decode four. Position 5 lies at loc 69 there, at loc 133 here. Rows read "
            "and written, by rank 1?"
        ),
        answer="69 read, 33 written",
        because=(
            "One rank's row is its loc, 69. On the decode node 133 % 4 is 1 and 133 // 4 is 33. Each side divides by its own D."
        ),
        choices=("69 read, 33 written", "17 read, 33 written", "69 read, 133 written", "69 read, 17 written"),
    ),
    picture=Shows("row", {"src_locs": "loc", "dst_locs": "loc"}, named={"src_rows": "row", "dst_rows": "row"}),
)
