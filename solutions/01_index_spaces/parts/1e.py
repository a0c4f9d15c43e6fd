"""1e: A page that is wider than a page"""

from __future__ import annotations

from typing import Any

from dcplab.course.cases import numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw

from .shared import entries_that_differ


def _page_cases(draw: Draw) -> list[Case]:
    return numbered(
        [
            ("a page", (draw.int(2, 5), 4, 2)),
            ("page 0", (0, 4, 3)),
            ("one rank", (draw.int(2, 9), 16, 1)),
            ("a dcp_size that is no power of two", (draw.int(2, 9), 5, 6)),
            ("a page of a real server", (draw.int(890, 7120), 64, 8)),
            ("a page past 2^53", (2**50 + draw.int(5, 99), 64, 3)),
        ]
    )


def _page_rows(case: Case, got: Any, expected: Any) -> Table:
    page, page_size, dcp_size = case.args
    caption = f"page {page}, page_size {page_size}, dcp_size {dcp_size}."
    return entries_that_differ(("place in the page", "yours", "expected"), lambda i: (i,), got, expected, caption)


PART = Part(
    id="1e",
    entry="page_locs",
    title="A page that is wider than a page",
    points=10,
    minutes=6,
    cases=_page_cases,
    rows=_page_rows,
    question="How many locs must one allocator page hold so that every rank gets page_size rows of it?",
    hints=(
        "Each of the D ranks stores a full physical page of its own. Count the locs that fill them all.",
        "The allocator's page is page_size * dcp_size locs wide. Page 0 starts at loc 0, page 1 right after it ends.",
        "A range from the first loc of this page up to the first loc of the next. torch.arange makes it; for ints it is "
        "int64 already.",
    ),
    prediction=Prediction(
        question="P = 4, D = 2. Page 0 is never handed out. What is the first loc that a request can get?",
        answer="8",
        because="The allocator counts in pages of P * D = 8 locs: page 0 is locs 0..7, page 1 starts at 8.",
        choices=("1", "4", "8", "16"),
    ),
    picture=Shows("loc"),
)
