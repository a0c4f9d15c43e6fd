"""1d: And back"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw

from .shared import edge_locs, entries_that_differ, flat, strided


def _globalize_cases(draw: Draw) -> list[Case]:
    return numbered(
        [
            ("a rank between", (torch.tensor(draw.shuffled([0, -1, *draw.sample(range(1, 20), 3)])), draw.int(1, 2), 4)),
            ("rank 0", (torch.tensor(draw.shuffled([0, -1, *draw.sample(range(1, 20), 3)])), 0, 4)),
            ("last rank", (torch.tensor(draw.shuffled([-1, 0, draw.int(2, 20)])), 3, 4)),
            ("a zero-dimensional tensor", (torch.tensor(draw.int(5, 30)), 1, 3)),
            ("int32 rows", (torch.tensor(draw.shuffled([-1, 0, *draw.sample(range(1, 10**6), 4)]), dtype=torch.int32), 2, 3)),
            ("one rank", (edge_locs(draw, 2, pads=1), 0, 1)),
            ("rows past 2^31 and 2^53", (edge_locs(draw, 6, pads=2), draw.int(1, 4), 6)),
            ("a strided table", (strided(edge_locs(draw, 8, pads=2), draw), draw.int(3, 6), 8)),
            ("no rows", (torch.empty(0, dtype=torch.int64), 1, 4)),
        ]
    )


def _globalize_rows(case: Case, got: Any, expected: Any) -> Table:
    rows, (dcp_rank, dcp_size) = flat(case.args[0]), case.args[1:]
    header = ("row", "dcp_rank", "yours", "expected")
    return entries_that_differ(header, lambda i: (rows[i], dcp_rank), got, expected, f"dcp_size {dcp_size}.")


PART = Part(
    id="1d",
    entry="globalize",
    title="And back",
    points=10,
    minutes=5,
    can_wait=True,
    cases=again(_globalize_cases),
    rows=_globalize_rows,
    question="Push one loc through localize. What does its row no longer say, and which argument still does?",
    hints=(
        "localize threw the owner away. In this function it comes back, as an argument.",
        "A row counts full groups of dcp_size locs; the rank says where in the group. And -1 is no row: what does your "
        "formula make of it on rank 0, and on the last rank?",
        "Multiply the row by dcp_size, add the rank, and use torch.where so that an entry below zero stays -1.",
    ),
    prediction=Prediction(
        question="D = 4, rank 3. You multiply and add without looking at the sign. What becomes of an entry -1?",
        answer="-1",
        because=(
            "-1 * 4 + 3 is -1. On the last rank the mistake hides; on rank 0 it gives -4. A test on one rank would not see it."
        ),
        choices=("-4", "-1", "3", "7"),
    ),
    picture=Shows("loc", {"rows": "row"}),
)
