"""2a: The largest loc there is"""

from __future__ import annotations

from dcplab.course.cases import numbered
from dcplab.course.cells import Ruler
from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import REAL, few_pages, huge_size, pages_ruler


def _largest_cases(draw: Draw) -> list[Case]:
    return numbered(
        [
            ("a toy", (4 * few_pages(draw), 4, 2)),
            ("one page", (4, 4, 3)),
            ("a size that is no whole pages", (5 * few_pages(draw) + draw.int(2, 4), 5, 3)),
            ("one rank", (8 * few_pages(draw) + draw.int(1, 7), 8, 1)),
            ("a real server", REAL),
            ("a page of one row", (draw.int(20, 99), 1, 6)),
            ("a size past 2^53", (huge_size(draw, 2), 3, 7)),
        ]
    )


def _ruler(case: Case) -> Ruler | None:
    size, page_size, dcp_size = case.args
    return pages_ruler(page_size * dcp_size, size // page_size, "loc")


PART = Part(
    id="2a",
    entry="largest_loc",
    title="The largest loc there is",
    points=10,
    minutes=5,
    picture=Shows(ruler=_ruler),
    cases=_largest_cases,
    question="How many allocator pages are there, and what is the last loc of the last one?",
    hints=(
        "Do not start from C. Start from pages: which ones can be issued, and which is the last?",
        "A pool of C rows holds C // P whole pages; what is left over is never issued. Page 0 is not issued either, so the "
        "pages are 1 to C // P. Each is P * D locs wide.",
        "The page after the last one would start at (C // P + 1) * P * D. The loc before that is the largest.",
    ),
    prediction=Prediction(
        question="C = 20, P = 4, D = 2. The allocator has pages 1 to 5 to give, of 8 locs each. What is the largest loc?",
        answer="47",
        because="Page 5 is locs 40 to 47. C * D - 1 would be 39: it forgets that page 0 takes up eight numbers.",
        choices=("19", "23", "39", "47"),
    ),
)
