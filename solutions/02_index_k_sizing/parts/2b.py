"""2b: Who else reads locs?"""

from __future__ import annotations

from dcplab.course.cases import numbered
from dcplab.course.model import Case, Part, Prediction
from dcplab.course.seeded import Draw


def _scale_cases(draw: Draw) -> list[Case]:
    d = draw.choice((3, 5, 6, 7))
    scales = [
        ("a target", (False, d)),
        ("a draft", (True, d)),
        ("a draft, one rank", (True, 1)),
        ("a target, one rank", (False, 1)),
    ]
    pages = [("a draft's pool", (draw.int(5, 9), d)), ("a target's pool", (64, 1)), ("a real draft", (64, 8))]
    return numbered(scales) + numbered(pages, "pool_page_size", len(scales))


PART = Part(
    id="2b",
    entry="loc_space_scale",
    also=("pool_page_size",),
    title="Who else reads locs?",
    points=10,
    minutes=6,
    cases=_scale_cases,
    question="Which of the two pools is a copy on every rank, and how wide is a page for somebody who counts locs?",
    hints=(
        "Ask of each pool: does a rank store its share of the tokens, or all of them?",
        "The target's c-KV is sharded, so a rank needs C rows: scale 1. The draft's pool is whole on every rank and is "
        "addressed by loc: it needs D times as much. A page grows by the same factor as the pool.",
        "The scale is dcp_size for a draft worker and 1 for anybody else; the pool's page is page_size times the scale.",
    ),
    prediction=Prediction(
        question=(
            "Between the two pull requests the draft has C * D + P rows on every rank. A pool fills to its last page. "
            "What does the server do?"
        ),
        answer="writes past the draft's end",
        because=(
            "The last page is P * D locs, and only P of them have a row. The lab's last section runs it: what lies behind is "
            "index-K, and one answer is wrong."
        ),
        choices=("goes on, since no loc comes so far", "refuses the last page", "writes past the draft's end", "crashes"),
    ),
)
