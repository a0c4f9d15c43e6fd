"""2c: How much index-K is enough?"""

from __future__ import annotations

from dcplab.course.cases import numbered
from dcplab.course.cells import Ruler
from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import REAL, few_pages, huge_size, pages_ruler


def _slot_cases(draw: Draw) -> list[Case]:
    toy, odd = 4 * few_pages(draw), 5 * few_pages(draw) + draw.int(2, 4)
    far = huge_size(draw, 1)
    return numbered(
        [
            ("a toy target", (toy, 4, 2, 1)),
            ("a toy draft: its size is scaled", (toy * 2, 4, 2, 2)),
            ("a target, no whole pages", (odd, 5, 3, 1)),
            ("a draft, no whole pages", (odd * 3, 5, 3, 3)),
            ("one rank, no whole pages", (8 * few_pages(draw) + draw.int(1, 7), 8, 1, 1)),
            ("a real target", (*REAL, 1)),
            ("a real draft", (REAL[0] * 8, 64, 8, 8)),
            ("a size past 2^53", (far, 3, 7, 1)),
        ]
    )


def _ruler(case: Case) -> Ruler | None:
    size, page_size, dcp_size, scale = case.args
    return pages_ruler(page_size * dcp_size, size // scale // page_size, "loc", counts=True)


PART = Part(
    id="2c",
    entry="index_k_slots",
    title="How much index-K is enough?",
    points=15,
    minutes=9,
    picture=Shows(ruler=_ruler),
    cases=_slot_cases,
    question="What is the largest loc that may come, and how many slots does a buffer need that has one for it?",
    hints=(
        "index-K has a slot for every loc. So its size follows from the largest loc, not from C.",
        "For a draft, size has been multiplied already: size // scale is C again for both. Then count whole "
        "pages as in 2a. "
        "The last allocator page is P * D slots long here, not P.",
        "One slot more than largest_loc(size // scale, page_size, dcp_size); that is a multiple of page_size already.",
    ),
    prediction=Prediction(
        question=("#36989 gives index-K C * D + P slots. C = 20, P = 4, D = 3: that is 64. How many legal locs have no slot?"),
        answer="8",
        because=(
            "Page 5 is locs 60 to 71, and slots end at 63. The spare page of a buffer that is addressed by loc is P * D = "
            "12 slots, and this leaves P = 4: (D - 1) * P are missing."
        ),
        choices=("0", "4", "8", "12"),
    ),
)
