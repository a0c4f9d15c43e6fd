"""7a: I at a time"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN
from dcplab.present.values import short

from .shared import edges, flat, held, past_float, strided


def _cases(draw: Draw) -> list[Case]:
    return numbered(
        [
            ("an int", (draw.int(9, 11), 4, 2)),  # rank 0 or 1 in its second turn: owner, row, block and place differ
            ("locs in a row", (torch.arange(24), 3, 4)),
            ("one loc a turn, as in lab 01", (torch.arange(12) + 4 * draw.int(0, 3), 4, 1)),
            ("an int, one rank", (draw.int(50, 99), 1, 8)),
            ("an int past 2^53", (past_float(draw, 15), 3, 5)),
            ("a zero-dimensional tensor", (torch.tensor(draw.int(60, 99)), 6, 4)),
            ("64 locs a turn, a page of them", (edges(draw, 64, 4)[:16], 4, 64)),
            ("int32 locs", (edges(draw, 7, 3, torch.int32), 3, 7)),
            ("past 2^31 and 2^53, 5 locs a turn", (edges(draw, 5, 6), 6, 5)),
            ("a dozen locs past 2^58", (torch.arange(12) * 101 + 2**58 + draw.int(70, 120), 6, 5)),
            ("past 2^31 and 2^53, one loc a turn", (edges(draw, 1, 6), 6, 1)),
            ("a strided table", (strided(edges(draw, 16, 8), draw), 8, 16)),
            ("a run longer than any loc: all are rank 0's", (torch.tensor(draw.sample(range(1000), 9)), 4, 4096)),
            ("one rank", (edges(draw, 64, 1), 1, 64)),
            ("in no order, a loc twice", (torch.tensor([17, 2, 30, 2, 0, 9]), 3, 2)),
            ("no locs", (torch.empty(0, 3, dtype=torch.int64), 4, 2)),
        ]
    )


def _oracle(loc: Any, dcp_size: int, interleave: int) -> tuple:
    """Take each loc apart, digit by digit: its place in the run, the rank, the round."""
    ranks, rows = [], []
    for one in flat(loc):
        run, place = divmod(one, interleave)
        rounds, rank = divmod(run, dcp_size)
        ranks.append(rank)
        rows.append(rounds * interleave + place)
    if isinstance(loc, int):
        return ranks[0], rows[0]
    return tuple(torch.tensor(side, dtype=loc.dtype).reshape(loc.shape) for side in (ranks, rows))


def _alike(got: Any, expected: Any) -> bool:
    if not (isinstance(got, tuple | list) and len(got) == 2):
        return False
    if type(expected[0]) is int:
        return all(type(side) is int for side in got)
    return all(isinstance(a, torch.Tensor) and a.shape == b.shape for a, b in zip(got, expected, strict=True))


def _rows(case: Case, got: Any, expected: Any) -> Table:
    locs, dcp_size, interleave = case.args
    caption = f"dcp_size {dcp_size}, interleave {interleave}."
    if not _alike(got, expected):
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    mine, right = (list(zip(*map(flat, pair), strict=True)) for pair in (got, expected))
    wrong = [i for i, (a, b) in enumerate(zip(mine, right, strict=True)) if a != b]
    if not wrong:  # as numbers they are equal: a dtype
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    found = [(str(flat(locs)[i]), *(f"rank {rank}, row {row}" for rank, row in (mine[i], right[i]))) for i in wrong[:SHOWN]]
    return Table(("loc", "yours", "expected"), tuple(found), caption)


def _cells(tried: DrawnCase) -> Groups:
    locs, dcp_size, interleave = tried.case.args
    right = tried.expected if tried.expected is not None else _oracle(*tried.case.args)
    sides = [None, None]
    if tried.got is not None and _alike(tried.got, right):
        sides = [flat(side) for side in tried.got]
    ranks = tuple(
        DrawnCell(cell.text, f"owner{cell.text[1:]}" if cell.text[1:].isdigit() else cell.style, right=cell.right)
        for cell in held(sides[0], flat(right[0]), lambda rank: f"r{rank}")
    )
    head = f"loc, {interleave} a turn, D = {dcp_size}"
    lines = (Strip(head, tuple(DrawnCell(str(loc), "header") for loc in flat(locs))), Strip("your rank", ranks))
    return ((*lines, Strip("your row", held(sides[1], flat(right[1])))),)


PART = Part(
    id="7a",
    entry="owner_and_row",
    title="I at a time",
    points=10,
    minutes=8,
    cases=again(_cases),
    oracle=_oracle,
    rows=_rows,
    question="Cut the locs into runs of I and deal the runs. Whose is the run, and how many rows does its rank have before it?",
    hints=(
        "Write 24 locs in a line, put a bar after every I, and deal the pieces to D ranks. A rank keeps its pieces one behind "
        "the other.",
        "The run of a loc is loc // interleave: deal that as lab 01 deals a loc. In the row two things are added: the rows of "
        "all rounds that are over, I for each, and the place in the run.",
        "A round is interleave * dcp_size locs. rank = loc // interleave % dcp_size, and row = loc // round * interleave + "
        "loc % interleave. Hold both against lab 01 at interleave 1.",
    ),
    prediction=Prediction(
        question="D = 4, I = 2: locs 0, 1 are rank 0's, 2, 3 rank 1's, and so on. Where is loc 10?",
        answer="rank 1, row 2",
        because=(
            "10 is in run 5, and 5 % 4 is 1. One round of 8 locs is over, which left rank 1 two rows, 0 and 1; loc 10 is the "
            "first of its run. 10 % 4 and 10 // 4, lab 01's rule, say rank 2, row 2: a row that exists, on another rank."
        ),
        choices=("rank 2, row 2", "rank 1, row 2", "rank 1, row 5", "rank 2, row 1"),
    ),
    picture=Shows(drawn=_cells, asks=1, title="Deal 24 locs, 4 at a time"),
)
