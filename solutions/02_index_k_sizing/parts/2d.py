"""2d: Where it breaks first"""

from __future__ import annotations

from dataclasses import replace

from dcplab.course.cases import numbered
from dcplab.course.cells import Ruler
from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import REAL, few_pages, huge_size, pages_ruler

CONSUMERS = ("index_k", "ckv_raw", "draft")


def _first_out_cases(draw: Draw) -> list[Case]:
    toy, pages = 4 * few_pages(draw, 5, 9), few_pages(draw)
    odd = 7 * pages + 6
    far = huge_size(draw, 0)
    cases = [(f"{consumer}, a toy", (consumer, toy, 4, 2)) for consumer in CONSUMERS]
    cases += [(f"{consumer}, one rank", (consumer, toy, 4, 1)) for consumer in CONSUMERS]
    cases += [(f"{consumer}, a pool smaller than an allocator page", (consumer, 8, 4, 5)) for consumer in CONSUMERS]
    cases += [
        ("ckv_raw, no whole pages", ("ckv_raw", 5 * pages + draw.int(2, 3), 5, 3)),
        ("draft, the last loc only", ("draft", 3 * pages + 1, 3, 2)),
        ("draft, no whole pages", ("draft", odd, 7, 3)),
        *((f"{consumer}, a real server", (consumer, *REAL)) for consumer in CONSUMERS),
        *((f"{consumer}, a size past 2^53", (consumer, far, 3, 7)) for consumer in CONSUMERS),
    ]
    return numbered(cases)


def _ruler(case: Case) -> Ruler | None:
    consumer, size, page_size, dcp_size = case.args
    has = size * (dcp_size if consumer == "draft" else 1) + page_size
    ruler = pages_ruler(page_size * dcp_size, size // page_size, "loc")
    return ruler and replace(ruler, above=(*ruler.above, ("the buffer has", ruler.filled(has)[:-1])))


PART = Part(
    id="2d",
    entry="first_loc_out",
    title="Where it breaks first",
    points=15,
    minutes=9,
    picture=Shows(ruler=_ruler),
    cases=_first_out_cases,
    question=(
        "How many slots or rows does this buffer have, and which loc that the allocator really issues is the first beyond?"
    ),
    hints=(
        "Three numbers decide: how much the buffer has, which loc is issued first of all, and which is the largest.",
        "The buffer holds indices 0 to slots - 1, so the index that equals the number of slots is the first "
        "outside. It counts "
        "only if it is issued: not below the first page, which starts at P * D, and not above largest_loc.",
        "slots is size + page_size for index_k and ckv_raw, size * dcp_size + page_size for draft. Take the "
        "larger of slots and "
        "P * D; give None if that is above largest_loc(size, page_size, dcp_size).",
    ),
    prediction=Prediction(
        question=(
            "C = 8, P = 4, D = 2: index-K has 12 slots, locs start at 8. Which allocator page holds the first loc outside?"
        ),
        answer="page 1, the first",
        because=(
            "Page 1 is locs 8 to 15, and 12 is in the middle of it. In so small a pool the very first request crosses the line."
        ),
        choices=("page 1, the first", "page 2, the last", "page 3, which does not exist", "none"),
    ),
)
