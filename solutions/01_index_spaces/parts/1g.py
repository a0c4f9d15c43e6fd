"""1g: From requests to locs"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw

from .shared import entries_that_differ


def _table(draw: Draw, rows: int, width: int, dtype: torch.dtype, base: int = 0) -> torch.Tensor:
    """A ``req_to_token`` in use: distinct locs, and 0s early and late; past a length stands what an older request left."""
    locs = torch.tensor(draw.sample(range(base + 1, base + 20 * rows * width), rows * width), dtype=dtype).reshape(rows, width)
    for row in range(rows):
        locs[row, [draw.int(0, 1), width - 1]] = 0
    return locs


def _flatten_cases(draw: Draw) -> list[Case]:
    tail = [draw.int(1, 4), 0, draw.int(2, 4)]
    wide = _table(draw, 5, 24, torch.int64, base=2**40)[:, 2:22]
    return numbered(
        [
            ("one request", (_table(draw, 3, 8, torch.int64), torch.tensor([2]), torch.tensor([draw.int(2, 5)]))),
            ("two requests", (_table(draw, 4, 12, torch.int64), torch.tensor([3, 1]), torch.tensor([draw.int(3, 5), 2]))),
            ("an empty request first", (_table(draw, 4, 12, torch.int32), torch.tensor([2, 3, 0]), torch.tensor([0, 3, 4]))),
            ("an empty request between", (wide, torch.tensor([4, 0, 3]), torch.tensor(tail))),
            (
                "int32 table and lengths, a transposed table",
                (_table(draw, 16, 5, torch.int32).T, torch.tensor([4, 1, 2]), torch.tensor([3, 5, 1], dtype=torch.int32)),
            ),
            (
                "an int32 table, int64 lengths",
                (_table(draw, 4, 9, torch.int32), torch.tensor([1, 3]), torch.tensor([draw.int(2, 4), 3])),
            ),
            (
                "a long request",
                (_table(draw, 2, 4_200, torch.int64), torch.tensor([1]), torch.tensor([draw.int(4_100, 4_190)])),
            ),
            (
                "no request",
                (_table(draw, 3, 6, torch.int32), torch.tensor([], dtype=torch.int64), torch.tensor([], dtype=torch.int64)),
            ),
            ("nothing but empty requests", (_table(draw, 3, 6, torch.int64), torch.tensor([1, 2]), torch.tensor([0, 0]))),
        ]
    )


def _flatten_rows(case: Case, got: Any, expected: Any) -> Table:
    _, pool, lens = case.args
    places = [(row, position) for row, n in zip(pool.tolist(), lens.tolist(), strict=True) for position in range(n)]
    caption = f"req_pool_indices {pool.tolist()}, seq_lens {lens.tolist()}."
    return entries_that_differ(
        ("row of req_to_token", "position", "yours", "expected"), lambda i: places[i], got, expected, caption
    )


PART = Part(
    id="1g",
    entry="flatten_request_locs",
    title="From requests to locs",
    points=15,
    minutes=9,
    can_wait=True,
    cases=again(_flatten_cases),
    rows=_flatten_rows,
    question="Which row of req_to_token belongs to a request of the batch, and where in it does its last token stand?",
    hints=(
        "A batch is a list of rows and a list of lengths. Take them in pairs.",
        "Row req_pool_indices[i] of the table belongs to request i, and only its first seq_lens[i] entries are its own. "
        "What stands after them is left over from an older request; nothing marks it.",
        "Slice each row up to its length and join the slices with torch.cat, which wants at least one tensor; or gather the "
        "rows, and select with a mask that compares column numbers with lengths.",
    ),
    prediction=Prediction(
        question="A request has 3 tokens. Its row of req_to_token reads [40, 41, 42, 17, 18, 0]. What are 17 and 18?",
        answer="left over from an older request",
        because="Nobody clears a row when a request ends. Only seq_lens says where a request stops.",
        choices=("its next two tokens", "left over from an older request", "padding", "token ids"),
    ),
    picture=Shows("loc", {"req_to_token": "loc", "req_pool_indices": "number", "seq_lens": "number"}),
)
