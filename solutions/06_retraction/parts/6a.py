"""6a: The view and its precondition"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different
from dcplab.present.values import short

from .shared import FAR, run


def _view_cases(draw: Draw) -> list[Case]:
    def cut(start, length, d):
        """A run that begins ``start`` positions into its page: a view of somebody's chunk."""
        return run(draw, length, 4, d, start)

    # So far out that float64 gives every token of a turn's neighbourhood one row, whether a division is one or a product with
    # the reciprocal, as a GPU does it.
    far_rank, far = draw.int(0, 5), run(draw, 25, 4, 6, base=16 * FAR)
    twisted = run(draw, 8, 4, 4)
    twisted[[4, 5]] = twisted[[5, 4]]
    column = run(draw, draw.int(9, 12), 2, 3)
    d, late = draw.choice([3, 5, 6]), draw.int(1, 2)
    right = [
        ("two turns of four ranks", (run(draw, 8, 4, 4), 4, 1)),
        ("three pages that do not ascend", (run(draw, 20, 2, 4), 4, draw.choice([0, 2]))),
        ("a length less one, as retraction has it: rank 0", (run(draw, 5, 4, 4), 4, 0)),
        ("a length less one: rank 3 holds one token fewer", (run(draw, 7, 4, 4), 4, 3)),
        ("three ranks", (run(draw, 11, 2, 3), 3, draw.int(0, 2))),
        ("fewer tokens than ranks: this one holds none", (run(draw, 2, 4, 4), 4, 3)),
        ("int32 locs", (run(draw, 10, 4, 3).int(), 3, draw.int(0, 2))),
        ("a column of a table", (as_column(column), 3, 1)),
        ("one rank: a copy", (run(draw, 6, 4, 1), 1, 0)),
        ("one rank, a run that begins in a page", (cut(3, 5, 1), 1, 0)),
        ("loc 0 and its neighbours", (torch.arange(7), 3, 0)),
        ("locs past 2^31 and 2^53", (far, 6, far_rank)),
        ("no locs", (torch.empty(0, dtype=torch.int64), 4, 1)),
    ]
    refused = [
        ("a run that begins at owner 1", (cut(1, 8, 4), 4, 1)),
        ("a run that begins at the last owner", (cut(3, 9, 4), 4, 0)),
        (f"{d} ranks, a run that begins {late} late", (cut(late, 2 * d + 1, d), d, draw.int(0, d - 1))),
        ("begins at owner 0, and skips a token later", (torch.cat([(locs := run(draw, 10, 4, 4))[:5], locs[6:]]), 4, 2)),
        ("only the last loc is out of turn", (torch.cat([run(draw, 8, 4, 4), cut(2, 1, 4)]), 4, 1)),
        ("two locs of one turn have changed places", (twisted, 4, 3)),
        ("begins late, and every row would be right by luck", (torch.tensor([17, 16, 18, 19]), 4, draw.int(0, 3))),
        ("out of turn where another rank's tokens lie", (torch.tensor([16, 17, 19, 22, 24]), 4, 0)),
        ("one loc, which is rank 1's", (torch.tensor([4 * draw.int(2, 9) + 1]), 4, 0)),
        ("locs past 2^53 that begin late", (far[1:], 6, far_rank)),
    ]
    wrong = numbered(refused, start=len(right))
    return numbered(right) + [replace(case, raises="ValueError") for case in wrong]


def _view_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, d, rank = case.args
    mine = locs[locs % d == rank].tolist()
    caption = f"dcp_size {d}, dcp_rank {rank}, locs {short(locs)}."
    header = ("entry", "loc that this rank owns", "yours", "expected")
    return different(header, lambda i: (i, mine[i] if i < len(mine) else "-"), got, expected, caption)


PART = Part(
    id="6a",
    entry="kernel_rows",
    title="The view and its precondition",
    points=15,
    minutes=9,
    cases=again(_view_cases),
    rows=_view_rows,
    question="For which runs of locs is every D-th entry this rank's, and how can you see it in the locs themselves?",
    hints=(
        "The view asks a place in the list for its owner. The loc has an owner of its own. Compare the two.",
        "At place i the view expects owner i % dcp_size. Hold that against locs % dcp_size, for all places and not only for "
        "the first, and raise before you take the view.",
        "torch.arange(len(locs), device=locs.device) % dcp_size are the owners that the view expects. If any differs, "
        "raise ValueError. Then locs[dcp_rank::dcp_size] // dcp_size, which is a new tensor for one rank too.",
    ),
    prediction=Prediction(
        question=(
            "D = 4. A run is cut at position 577: it begins with locs 65, 66, 67, 68. Which row does [0::4] // 4 give rank 0?"
        ),
        answer="16, and it is rank 1's token",
        because=(
            "Entry 0 is loc 65, rank 1's, and 65 // 4 is 16. Rank 0 has a row 16 as well, with loc 64 in "
            "it. No index is out of "
            "range: it saves its own token of another position."
        ),
        choices=("17", "16, and it is rank 1's token", "none: an IndexError", "16, and it is right"),
    ),
    picture=Shows("row", {"locs": "loc"}),
)
