"""3d: What this rank can read"""

from __future__ import annotations

import math
from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.values import short

from .shared import batch_locs


def _topk_cases(draw: Draw) -> list[Case]:
    def drawn(shape, rank, d, pads=0, dtype=torch.int64, rows=range(0, 64)):
        """A table of distinct locs; this rank has another number of them in each query."""
        *queries, k = shape
        table = []
        for number in range(math.prod(queries)):
            mine = min(1 + number % 3, k - pads)
            table.append(batch_locs(draw, rank, d, rows, mine, (k - pads - mine) if d > 1 else 0, pads))
            if d == 1:
                table[-1] = torch.tensor(draw.shuffled([*draw.sample(rows, k - pads), *[-1] * pads]))
        return torch.stack(table).reshape(shape).to(dtype), rank, d

    wide = drawn((2, 3, 12), draw.int(1, 6), 8, pads=2)
    many = 2**40 + 64 * draw.int(3, 999)  # with rows past 2^14 float64 rounds the last rank's locs up to the next row
    zero = torch.tensor([draw.shuffled([0, 4 * draw.int(1, 9), 5, 10, -1])])
    whole = torch.tensor([draw.shuffled([3, 7, 11, 15]), draw.shuffled([1, 2, 4, 8])])
    large = torch.tensor([draw.shuffled([*(2 * v + 1 for v in range(300)), *(2 * v for v in range(draw.int(20, 40)))])])
    return numbered(
        [
            ("one query, rank 0", (zero, 0, 4)),
            ("two queries, the last rank, padding", drawn((2, 6), 3, 4, pads=2)),
            ("all of one query, none of another", (whole, 3, 4)),
            ("int32 locs, three ranks", drawn((3, 8), draw.int(0, 2), 3, pads=1, dtype=torch.int32)),
            ("one rank", drawn((2, 5), 0, 1, pads=2)),
            ("a single query, one-dimensional", drawn((7,), draw.int(1, 2), 4, pads=1)),
            (
                "a strided table of queries and steps",
                (torch.stack([wide[0], wide[0]], -1)[..., 1].transpose(0, 1), *wide[1:]),
            ),
            ("rows up to 2^31", drawn((2, 6), 5, 6, rows=range(2**31 - 40, 2**31))),
            ("locs past 2^31 and 2^53", drawn((2, 6), many - draw.int(1, 2), many, pads=1, rows=range(2**14, 2**14 + 30))),
            ("many keys", drawn((4, 40), draw.choice([0, 5, 7]), 8, pads=3)),
            ("more keys of this rank than a byte can count", (large, 1, 2)),
            ("no keys", (torch.empty(3, 0, dtype=torch.int64), 1, 4)),
            ("no queries", (torch.empty(0, 4, dtype=torch.int64), 1, 4)),
        ]
    )


def _topk_rows(case: Case, got: Any, expected: Any) -> Table:
    topk, dcp_rank, dcp_size = case.args
    header = ("query", "its locs", "yours", "expected")
    caption = f"dcp_rank {dcp_rank}, dcp_size {dcp_size}; rows, then the count."
    if not (isinstance(got, tuple) and len(got) == 2 and all(isinstance(t, torch.Tensor) for t in got)):
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    if any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(got, expected, strict=True)):
        names = ("rows", "counts")
        said = [
            (n, *(f"{list(t.shape)} {str(t.dtype)[6:]}" for t in pair)) for n, *pair in zip(names, got, expected, strict=True)
        ]
        return Table(("result", "yours", "expected"), tuple(said), caption)
    k = topk.shape[-1]
    said = [
        [f"{_few(r)}, {n}" for r, n in zip(rows.reshape(-1, k).tolist(), counts.reshape(-1).tolist(), strict=True)]
        for rows, counts in (got, expected)
    ]
    locs = topk.reshape(-1, k).tolist()
    found = [(str(i), _few(locs[i]), mine, right) for i, (mine, right) in enumerate(zip(*said, strict=True)) if mine != right]
    return Table(header, tuple(found[:3]), caption)


def _few(values: list) -> str:
    return f"[{', '.join(map(str, values[:8]))}{', ...' if len(values) > 8 else ''}]"


PART = Part(
    id="3d",
    entry="localize_topk",
    title="What this rank can read",
    points=15,
    minutes=12,
    cases=again(_topk_cases),
    rows=_topk_rows,
    question="Of the locs of one query: which does this rank hold, in which order, and how many are they?",
    hints=(
        "Three steps: rows or -1, as in 1c; the rows to the front; how many there are.",
        "Sorting by the row would change the order of the keys. Sort by whether it is a hole: 0 for a row, 1 for -1. "
        "A stable sort keeps the order among equals.",
        "order = torch.argsort((rows < 0).int(), dim=-1, stable=True), then rows.gather(-1, order). The "
        "count is the sum of "
        "rows >= 0 along the last axis. Convert both to int32 at the end.",
    ),
    prediction=Prediction(
        question="D = 4. The top-k chose locs [10, 5, 8, 2], the best first. What does rank 2 walk after compaction?",
        answer="[2, 0, -1, -1], count 2",
        because=(
            "Locs 10 and 2 are rank 2's, in rows 2 and 0; they keep their order. The count tells the kernel to stop there."
        ),
        choices=(
            "[2, -1, -1, 0], count 2",
            "[2, 0, -1, -1], count 2",
            "[0, 2, -1, -1], count 2",
            "[2, 0, -1, -1], count 4",
        ),
    ),
    picture=Shows(given={"topk_locs": "loc"}, named={"rows": "row", "counts": "number"}),
)
