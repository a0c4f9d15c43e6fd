"""2e: An assert for each consumer"""

from __future__ import annotations

from dcplab.course.cases import numbered
from dcplab.course.cells import Ruler
from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import REAL, few_pages, huge_size, pages_ruler

CHECKED = ("ckv_write_loc", "ckv_row", "index_k_loc", "draft_loc", "flattened_page_table")


def _bound_cases(draw: Draw) -> list[Case]:
    toy, odd = (4 * few_pages(draw), 4, 2), (5 * few_pages(draw) + draw.int(2, 4), 5, 3)
    far = (huge_size(draw, 2), 3, 7)
    named = [("a toy", toy), ("no whole pages", odd), ("a real server", REAL), ("a size past 2^53", far)]
    cases = [(f"{consumer}, {what}", (consumer, *sizes)) for what, sizes in named for consumer in CHECKED]
    return numbered([*cases, ("ckv_row, one rank", ("ckv_row", 8 * few_pages(draw), 8, 1))])


def _ruler(case: Case) -> Ruler | None:
    consumer, size, page_size, dcp_size = case.args
    ranks, space = (1, "row") if consumer == "ckv_row" else (dcp_size, "loc")
    return pages_ruler(page_size * ranks, size // page_size, space, counts=True)


PART = Part(
    id="2e",
    entry="check_bound",
    title="An assert for each consumer",
    points=10,
    minutes=6,
    picture=Shows(ruler=_ruler),
    cases=_bound_cases,
    question="Which space is the checked index in: locs of all ranks, or rows of this one?",
    hints=(
        "The bound belongs to the index that is checked, not to the file or the class that the assert stands in.",
        "Four of the five are locs: before the c-KV write nothing has been divided yet, and index-K, the draft and the "
        "flattened page table hold locs. Only ckv_row has been divided.",
        "largest_loc(...) + 1 for the four; for ckv_row the same count of whole pages without dcp_size: "
        "(size // page_size + 1) * page_size.",
    ),
    prediction=Prediction(
        question=(
            "C = 14, P = 4, D = 2: c-KV has C + P = 18 rows on a rank. What is the tightest right bound for a row, after "
            "the division?"
        ),
        answer="16",
        because=(
            "14 rows make 3 pages, and page 0 comes before them: legal rows go to 15. Rows 16 and 17 exist, but no loc "
            "leads there."
        ),
        choices=("14", "16", "18", "32"),
    ),
)
