"""7b: Back to the loc"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different

from .shared import edges, flat, held, strided


def _cases(draw: Draw) -> list[Case]:
    def rows(*some: int) -> torch.Tensor:
        return torch.tensor(draw.shuffled([-1, *some]))

    return numbered(
        [
            ("a rank between", (rows(0, 1, 2, *draw.sample(range(3, 20), 3)), draw.int(1, 2), 4, 2)),
            ("rank 0", (rows(0, 3, 4, *draw.sample(range(5, 30), 2)), 0, 3, 4)),
            ("the last rank", (rows(0, 3, 4, *draw.sample(range(5, 30), 2)), 2, 3, 4)),
            ("one loc a turn, as in lab 01", (rows(*draw.sample(range(20), 4)), draw.int(1, 3), 4, 1)),
            ("64 locs a turn, a page of them", (rows(0, 63, 64, 127, *draw.sample(range(128, 999), 3)), draw.int(1, 6), 8, 64)),
            ("a zero-dimensional tensor", (torch.tensor(draw.int(10, 30)), 1, 3, 4)),
            ("int32 rows", (edges(draw, 6, 1, pads=1)[:8].clamp(max=10**6).int(), 1, 2, 6)),
            ("past 2^31 and 2^53, 5 locs a turn", (edges(draw, 5, 1, pads=2), draw.int(1, 4), 6, 5)),
            ("past 2^31 and 2^53, one loc a turn", (edges(draw, 1, 6, pads=2), draw.int(1, 4), 6, 1)),
            ("a strided table", (strided(edges(draw, 16, 1, pads=2), draw), draw.int(3, 6), 8, 16)),
            ("a run longer than any row", (rows(*draw.sample(range(1000), 5)), draw.int(1, 3), 4, 4096)),
            ("one rank", (edges(draw, 8, 1, pads=1), 0, 1, 8)),
            ("no padding, in no order, a row twice", (torch.tensor([5, 0, 9, 2, 9, 7]), 1, 3, 2)),
            ("no rows", (torch.empty(0, 2, dtype=torch.int64), 1, 4, 2)),
        ]
    )


def _oracle(row: torch.Tensor, dcp_rank: int, dcp_size: int, interleave: int) -> torch.Tensor:
    """Count on from a row's run: each run that the rank has before it stands for one of every rank."""
    locs = []
    for one in flat(row):
        run, place = divmod(one, interleave)
        locs.append((run * dcp_size + dcp_rank) * interleave + place if one >= 0 else -1)
    return torch.tensor(locs, dtype=row.dtype).reshape(row.shape)


def _rows(case: Case, got: Any, expected: Any) -> Table:
    row, dcp_rank, dcp_size, interleave = case.args
    caption = f"dcp_rank {dcp_rank}, dcp_size {dcp_size}, interleave {interleave}."
    if isinstance(got, torch.Tensor) and got.shape == expected.shape:
        got, expected = got.flatten(), expected.flatten()
    return different(("row", "yours", "expected"), lambda i: (flat(row)[i],), got, expected, caption)


def _cells(tried: DrawnCase) -> Groups:
    row, dcp_rank, dcp_size, interleave = tried.case.args
    right = tried.expected if tried.expected is not None else _oracle(*tried.case.args)
    mine = flat(tried.got) if isinstance(tried.got, torch.Tensor) and tried.got.shape == right.shape else None
    head = Strip(
        f"row of rank {dcp_rank}, D = {dcp_size}, I = {interleave}", tuple(DrawnCell(str(r), "header") for r in flat(row))
    )
    return ((head, Strip("your loc", held(mine, flat(right)))),)


PART = Part(
    id="7b",
    entry="loc_of_row",
    title="Back to the loc",
    points=10,
    minutes=6,
    cases=again(_cases),
    oracle=_oracle,
    rows=_rows,
    question="Which round does the row belong to, with which loc does that round begin, and where in it is this rank's run?",
    hints=(
        "7a threw the rank away when it made a row. Here it comes back, as an argument.",
        "row // interleave is the round, row % interleave the place in the run. A round is interleave * dcp_size locs, and "
        "this rank's run begins dcp_rank runs after the round does.",
        "row // interleave * interleave * dcp_size + dcp_rank * interleave + row % interleave, by torch.where only where row "
        "is not negative.",
    ),
    prediction=Prediction(
        question="D = 4, I = 2, rank 3. You compute the loc without looking at the sign. What becomes of an entry -1?",
        answer="-1",
        because=(
            "-1 // 2 is round -1, which begins at -8; rank 3's run begins 6 later, and -1 % 2 is place 1: -8 + 6 + 1 is -1. On "
            "the last rank padding survives, whatever D and I are. On rank 0 it becomes -7."
        ),
        choices=("-7", "-2", "-1", "7"),
    ),
    picture=Shows(drawn=_cells, title="Which loc lies in each row?"),
)
