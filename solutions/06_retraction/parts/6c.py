"""6c: A page freed twice"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from dcplab.course.cases import again, numbered
from dcplab.course.model import Case, Part, Prediction, Table
from dcplab.course.seeded import Draw
from dcplab.present.values import short

Segment = tuple[int, int]


def _cut(draw: Draw, start: int, end: int, pieces: int) -> list[Segment]:
    """``[start, end)`` in that many pieces, cut anywhere."""
    at = [start, *sorted(draw.sample(range(start + 1, end), pieces - 1)), end]
    return list(pairwise(at))


def _free_cases(draw: Draw) -> list[Case]:
    far = 2**58
    seam = 8 * draw.int(3, 5)  # only a request's last piece ends within a page: what follows there would be somebody's
    twelve = draw.int(2, 5)
    lists: list[tuple[str, Sequence[Segment], int, int]] = [
        ("one segment", [(0, draw.int(9, 15))], 4, 2),
        ("a cut at 576 of 512-slot pages", [(0, 576), (576, 1000)], 64, 8),
        ("the same, given in the other order", [(576, 1000), (0, 576)], 64, 8),
        ("a cut on a page's edge", [(0, 16), (16, 30)], 4, 2),
        ("a gap of whole pages", [(0, 16), (24, 30)], 4, 2),
        ("three pieces, and a gap", draw.shuffled([*_cut(draw, 0, seam, 3), (64, 70)]), 4, 2),
        ("pieces that overlap", [(0, 14), (10, 22), (20, 21)], 4, 2),
        ("one piece within another", [(0, 30), (4, 9)], 4, 2),
        ("within another, and it ends where the next begins", draw.shuffled([(0, 20), (8, 16), (20, 25)]), 4, 2),
        ("the same piece twice", [(8, 20), (8, 20)], 4, 2),
        ("the same start, the longer one first in the list", [(8, 30), (8, 12), (30, 31)], 4, 2),
        ("pages of 3 * 5 slots", draw.shuffled([*_cut(draw, 15 * twelve, 15 * twelve + 40, 4)]), 3, 5),
        ("one rank", draw.shuffled([*_cut(draw, 8, 29, 3)]), 4, 1),
        ("pages of one slot", [(3, 5), (7, 8), (5, 6)], 1, 1),
        ("many pieces", draw.shuffled([p for k in range(4) for p in _cut(draw, 48 * k, 48 * k + 32, 5)]), 4, 4),
        ("past 2^53", draw.shuffled([(far, far + 3), (far + 3, far + 9)]), 4, 2),
        ("nothing to free", [], 4, 2),
    ]
    refused: list[tuple[str, Sequence[Segment], int, int]] = [
        ("the start of a page is missing", [(8 * draw.int(1, 5) + 3, 60)], 4, 2),
        ("starts on a page of one rank, not of all", [(64, 600)], 64, 8),
        ("starts with a turn of the ranks, in a page", [(8, 600)], 64, 8),
        ("the second of two starts in a page", [(0, 13), (20, 24)], 4, 2),
        ("a hole within a page", draw.shuffled([(0, 10), (11, 16)]), 4, 2),
        ("one position after a page's edge, past 2^53", [(far + 1, far + 9)], 4, 2),
    ]
    right = numbered([(label, (segments, p, d)) for label, segments, p, d in lists])
    wrong = numbered([(label, (segments, p, d)) for label, segments, p, d in refused], start=len(right))
    return right + [replace(case, raises="ValueError") for case in wrong]


def _pages(segments: Any, width: int) -> str:
    """How often each page of the request is freed, in words."""
    try:
        counts: dict[int, int] = {}
        for start, end in segments:
            for page in range(start // width, -(-end // width)):
                counts[page] = counts.get(page, 0) + 1
    except (TypeError, ValueError):
        return "-"
    twice = [page for page, n in sorted(counts.items()) if n > 1]
    return f"{short(twice)} more than once" if twice else "each page once"


def _rows(case: Case, got: Any, expected: Any) -> Table:
    segments, page_size, dcp_size = case.args
    width = page_size * dcp_size
    caption = f"A widened page is {width} positions long. Segments {short(segments)}."
    rows = tuple((name, short(value), _pages(value, width)) for name, value in (("yours", got), ("expected", expected)))
    return Table(("", "segments", "pages freed"), rows, caption)


PART = Part(
    id="6c",
    entry="merge_frees",
    title="A page freed twice",
    points=15,
    minutes=9,
    cases=again(_free_cases),
    rows=_rows,
    entries=("segment", "start", "end"),
    question="Which segments touch, and on which page does each result begin?",
    hints=(
        "Sorted by their starts, a segment can only touch the one that was joined last.",
        "A segment whose start is not past the end of the last result belongs to it: the result ends at the larger of both "
        "ends. Otherwise it begins a new one. Look at the starts only after everything is joined.",
        "Go through sorted(segments), not segments.sort(). Replace the last result by (its start, max(its end, end)) if start "
        "<= its end. At the end raise ValueError if a start % (page_size * dcp_size) is not 0.",
    ),
    prediction=Prediction(
        question=(
            "P = 64, D = 8. A request of 1,000 tokens is freed as [0, 576) and [576, 1000), each by its pages. "
            "Which is freed twice?"
        ),
        answer="page 1",
        because=(
            "A widened page is 512 positions. The first piece touches pages 0 and 1, the second page 1 only: positions 576 to "
            "999 lie in the same page as 512 to 575. In pages of 64, 576 is an edge."
        ),
        choices=("none", "page 0", "page 1", "page 9"),
    ),
)
