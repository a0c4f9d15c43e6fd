"""1c: Mine, or -1"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course import luck
from dcplab.course.cases import again, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw

from .shared import LOC_HEADER, edge_locs, entries_that_differ, flat, owner_and_row, strided


def _localize_cases(draw: Draw) -> list[Case]:
    low = torch.tensor(draw.shuffled([0, *draw.sample(range(1, 12), 4), -1]))
    return numbered(
        [
            ("rank 0", (low, 0, 4)),
            ("last rank", (torch.tensor(draw.shuffled([-1, 3, 7, draw.int(8, 20), 2])), 3, 4)),
            ("a rank between", (torch.arange(12) + 4 * draw.int(0, 3), draw.int(1, 2), 4)),
            ("a zero-dimensional tensor", (torch.tensor(3 * draw.int(9, 20) + 1), 1, 3)),
            ("int32 locs", (edge_locs(draw, 3, torch.int32, pads=2), draw.int(0, 2), 3)),
            ("one rank", (edge_locs(draw, 1, pads=2), 0, 1)),
            ("shuffled locs, past 2^31 and 2^53", (edge_locs(draw, 6, pads=3), draw.int(1, 5), 6)),
            ("a strided table", (strided(edge_locs(draw, 8, pads=2), draw), draw.choice([0, 5, 7]), 8)),
            ("no locs", (torch.empty(2, 0, dtype=torch.int64), 1, 4)),
        ]
    )


def _localize_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, (dcp_rank, dcp_size) = flat(case.args[0]), case.args[1:]
    caption = f"dcp_rank {dcp_rank}, dcp_size {dcp_size}."
    return entries_that_differ(LOC_HEADER, lambda i: owner_and_row(locs[i], dcp_size), got, expected, caption)


def _but(source: str) -> str | None:
    if not luck.asks_no_sign(source):
        return None
    return "But it never asks for the sign: rank D-1 takes -1 for its own, and it stays -1 only because // rounds down."


PART = Part(
    id="1c",
    entry="localize",
    title="Mine, or -1",
    points=15,
    minutes=10,
    cases=again(_localize_cases),
    rows=_localize_rows,
    question="For one entry of the table: does this rank own it, and if so, in which row? What if it is padding?",
    hints=(
        "Two questions an entry: does this rank store it, and where? Answer them apart, then join the answers.",
        "Make a mask of the entries that this rank owns, and the rows that they would have. Pick the row where the mask "
        "holds, -1 elsewhere. Then look at -1 itself: which owner does your arithmetic give to -1 when dcp_size is 4?",
        "torch.where takes the mask, the rows and -1. Keep -1 out of the mask with a comparison, so that it cannot pass "
        "for rank D-1's.",
    ),
    prediction=Prediction(
        question="D = 4. The top-k chose locs [2, 5, 8, 10]. What does rank 0 see?",
        answer="[-1, -1, 2, -1]",
        because="Of the four only 8 leaves no remainder by 4, and 8 is the third of rank 0's locs: row 2.",
        choices=("[0, 1, 2, 2]", "[-1, -1, 8, -1]", "[-1, -1, 2, -1]", "[2]"),
    ),
    but=_but,
    picture=Shows("row", {"locs": "loc"}),
)
