"""4d: Two transforms of one selection"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different
from dcplab.present.values import short

from .shared import FAR, ints


def _picked(draw: Draw, lens: Sequence[int], req_of_row: Sequence[int], k: int) -> torch.Tensor:
    """A selection ``[rows, k]``: positions of the row's request, not sorted, with position 0 among them, -1 behind."""
    rows = []
    for i, request in enumerate(req_of_row):
        count = min(k - (i % 2), lens[request])
        chosen = [0, *draw.sample(range(1, lens[request]), count - 1)] if count else []
        rows.append(draw.shuffled(chosen) + [-1] * (k - count))
    return torch.tensor(rows, dtype=torch.int64).reshape(len(req_of_row), k)


def _request_table(draw: Draw, requests: int, width: int, base: int = 0) -> torch.Tensor:
    """A ``req_to_token`` in use: distinct locs, falling ones too; past a length stands what an older request left."""
    locs = draw.sample(range(base + 40, base + 40 + 30 * requests * width), requests * width)
    return torch.tensor(locs).reshape(requests, width)


def _transform_cases(draw: Draw) -> list[Case]:
    def drawn(lens, req_of_row, k, base=0, spare=8):
        topk = _picked(draw, lens, req_of_row, k)
        table = _request_table(draw, max(len(lens), len(req_of_row)), max(lens) + spare, base)
        cu = ints([0, *(base + end for end in accumulate(lens))])  # far: request 0 is that long, and few of it are picked
        return topk, ints(req_of_row), table, cu

    def narrow(topk, req, table, cu):
        return topk.int(), req.int(), table.int(), cu.int()

    def half_narrow(topk, req, table, cu):
        return topk.int(), req.int(), table, cu

    def strided(topk, req, table, cu):
        return topk.T.contiguous().T, as_column(req), as_column(table), as_column(cu)

    empty = (torch.empty(0, 4, dtype=torch.int64), ints([]), _request_table(draw, 2, 9), ints([0, 4, 9]))
    drawn_cases = [
        ("one request", drawn([5], [0], 3)),
        ("two requests, the second one's row", drawn([5, 6], [1], 4)),
        ("two requests, three rows", drawn([4, 7], [1, 0, 1], 4)),
        ("a request without tokens between", drawn([6, 0, 5], [2, 0, 2], 4)),
        ("more places than tokens", drawn([2, 3], [0, 1], 6)),
        ("a row that selected nothing", drawn([4, 0, 3], [1, 0, 2], 3)),
        ("rows in another order than requests", drawn([4, 5, 6], draw.shuffled([2, 0, 1, 2]), 5)),
        ("int32 positions, int64 tables", half_narrow(*drawn([6, 4], [1, 0, 1], 4))),
        ("int32", narrow(*drawn([6, 4], [1, 0, 1], 4))),
        ("strided", strided(*drawn([7, 5], [0, 1, 1], 4))),
        ("past 2^31 and 2^53", drawn([5, 8], [1, 0], 5, base=FAR + draw.int(5, 60))),
        ("no rows", empty),
    ]
    paged = [(label, (topk, req, table)) for label, (topk, req, table, _) in drawn_cases]
    ragged = [(label, (topk, req, cu)) for label, (topk, req, _, cu) in drawn_cases]
    return numbered(paged) + numbered(ragged, "topk_to_ragged", len(paged))


def _transform_rows(case: Case, got: Any, expected: Any) -> Table:
    topk, req, table = case.args
    caption = f"req_of_row {req.tolist()}"
    caption += f", cu_seqlens_k {short(table)}." if table.dim() == 1 else f", req_to_token of {len(table)} rows."
    header = ("row", "its request", "positions", "yours", "expected")
    return different(header, lambda i: (i, int(req[i]), short(topk[i].tolist())), got, expected, caption)


PART = Part(
    id="4d",
    entry="topk_to_paged",
    also=("topk_to_ragged",),
    title="Two transforms of one selection",
    points=15,
    minutes=10,
    cases=again(_transform_cases),
    rows=_transform_rows,
    question="A position says where a token is in its request. Which request, and where does that request begin?",
    hints=(
        "Both turn a position into an address, and a position alone is none: each needs the row's request.",
        "PAGED reads the request's row of req_to_token at the position. RAGGED adds the index at which the request begins. "
        "Look at -1 in both: what is the last column of the table, and what stands just before a request's start?",
        "Give req_of_row a second dimension, [:, None], so that each row uses its own request. torch.where with "
        "topk_pos >= 0 keeps the padding; clamp the positions to 0 before you index with them.",
    ),
    prediction=Prediction(
        question="cu_seqlens_k is [0, 3, 7]. A row of request 1 selected positions [3, 0, -1]. Its ragged indices?",
        answer="[6, 3, -1]",
        because="Request 1 begins at 3. Added to the padding as well, it would give 2: the last token of request 0.",
        choices=("[3, 0, -1]", "[6, 3, 2]", "[6, 3, -1]", "[10, 7, -1]"),
    ),
    picture=Shows("number", {"req_to_token": "number", "cu_seqlens_k": "number", "req_of_row": "number", "topk_pos": "number"}),
)
