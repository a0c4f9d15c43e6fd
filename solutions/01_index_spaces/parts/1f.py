"""1f: Two page tables for one request"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN

from .shared import entries_that_differ, side_by_side


def _request(draw: Draw, page_size: int, dcp_size: int, full: int, last: int, base: int = 1, dtype=torch.int64) -> torch.Tensor:
    """A request's locs: ``full`` whole widened pages and ``last`` locs of one more; its pages fall, and are never adjacent."""
    width, count = page_size * dcp_size, full + (last > 0)
    pages = sorted(draw.sample(range(base, base + 12), count), reverse=True)
    pages = [2 * page + draw.int(0, 1) for page in pages]
    locs = [page * width + i for page in pages for i in range(width)]
    return torch.tensor(locs[: full * width + last], dtype=dtype)


def _page_table_cases(draw: Draw) -> list[Case]:
    column = torch.stack([_request(draw, 2, 4, 3, 5), torch.full((29,), draw.int(1, 7))], dim=1)[:, 0]
    return numbered(
        [
            ("one page, partly filled", (_request(draw, 4, 2, 0, draw.int(5, 7)), 4, 2)),
            ("three pages, the last partly filled", (_request(draw, 4, 2, 2, draw.int(5, 7)), 4, 2)),
            ("whole pages only", (_request(draw, 4, 3, 2, 0), 4, 3)),
            ("one rank", (_request(draw, 4, 1, 3, 1), 4, 1)),
            ("one loc on the last page", (_request(draw, 5, 3, 2, 1), 5, 3)),
            ("int32 locs", (_request(draw, 8, 3, 2, draw.int(9, 15), dtype=torch.int32), 8, 3)),
            ("a column of a table", (column, 2, 4)),
            ("locs past 2^53", (_request(draw, 16, 8, 2, draw.int(17, 31), base=2**50), 16, 8)),
            ("no locs", (torch.empty(0, dtype=torch.int64), 4, 2)),
        ]
    )


def _page_table_rows(case: Case, got: Any, expected: Any) -> Table:
    _, page_size, dcp_size = case.args
    header, caption = ("table", "place", "yours", "expected"), f"page_size {page_size}, dcp_size {dcp_size}."
    if not (isinstance(got, tuple) and len(got) == 2 and all(map(side_by_side, got, expected))):
        return entries_that_differ(header, lambda i: (), got, expected, caption)
    tables = [
        entries_that_differ(header, lambda i, name=name: (name, i), got[k], expected[k], caption)
        for k, name in enumerate(("index_k_pages", "ckv_pages"))
    ]
    return Table(header, tuple(row for table in tables for row in table.rows)[:SHOWN], caption)


PART = Part(
    id="1f",
    entry="page_tables",
    title="Two page tables for one request",
    points=15,
    minutes=13,
    cases=again(_page_table_cases),
    rows=_page_table_rows,
    question="Take one loc in the middle of the request. In which index-K page is it, and in which c-KV page of its owner?",
    hints=(
        "Both tables are thinned-out copies of locs. Only the step and the divisor differ.",
        "The request starts on a widened page, so every P-th position opens a new index-K page and every P*D-th a new "
        "c-KV page. Taking the loc at those places keeps the order of first use and also catches a last page that is "
        "partly filled.",
        "Slice locs with step page_size and divide by page_size; slice again with step page_size * dcp_size and divide by "
        "that.",
    ),
    prediction=Prediction(
        question=(
            "P = 4, D = 2. A request holds locs 8 to 15 and then 40 to 43: index-K pages 2, 3 and 10. Its c-KV pages on rank 1?"
        ),
        answer="[1, 5]",
        because="Rank 1 owns 9, 11, 13, 15 and 41, 43. Those are rows 4 to 7, page 1 of its pool, and rows 20 and 21, "
        "page 5. On rank 0 they are pages 1 and 5 too.",
        choices=("[2, 3, 10]", "[2, 10]", "[1, 5]", "[1, 1, 5]"),
    ),
    picture=Shows(given={"locs": "loc"}, named={"index-K pages": "index-K page", "c-KV pages": "c-KV page"}),
)
