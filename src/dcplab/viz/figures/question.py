"""Draws the question that a figure answers: the same cells, and what is asked for is empty."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dcplab.course import catalog
from dcplab.course.model import Table
from dcplab.present import answer_cells
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import Box, Scene
from dcplab.viz.figures import answer
from dcplab.viz.figures.flattened import flattened
from dcplab.viz.figures.kernel_lanes import LINES, STEP, kernel_lanes
from dcplab.viz.figures.page_tables import two_page_tables, widened_page
from dcplab.viz.figures.pages import pages
from dcplab.viz.figures.strips import localized, owner_strip, rank_table
from dcplab.viz.views.workspace.figures import shards_picture

ASKED = "?"
Blank = Callable[[Box], Box]


def _empty(box: Box) -> Box:
    return replace(box, style="yes", text=ASKED, sub="", mark="", loc=None, hover="")


def _owner(box: Box) -> Box:
    return replace(box, style="yes", sub="r?", loc=None, hover="")


def _in_ranks(box: Box) -> Box:
    return _empty(box) if box.hover.startswith("rank ") else box


def _in_page(box: Box) -> Box:
    if box.loc is not None:
        return _empty(box)
    for start, shown in (("allocator page", box.text.split(":")[0]), ("index-K page", "locs"), ("row ", "row")):
        if box.text.startswith(start):
            return replace(box, text=shown)
    return replace(box, text=box.text.split(":")[0])


def _page_ids(box: Box) -> Box:
    named = box.text.endswith(("page", "page table"))
    return _empty(box) if box.style in ("index_k", "page") and not named else box


def _flat(box: Box) -> Box:
    if box.hover:  # of the table: which of its cells are asked for is the question
        return replace(box, style="yes", sub="", hover="")
    return _empty(box) if box.style.startswith("request") else box


def _lane(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    """Empty a program's cells but the element and the loc that is loaded: the kernel works out the rest."""
    asked = [LINES.index(name) for name in ("in range", "owned", "stores")]
    found, top = [], 0.0
    for box in boxes:
        top = box.y if box.text.startswith("program ") else top
        labelled = box.text in LINES
        line = -1 if labelled else round((box.y - top) / STEP)
        element = line == LINES.index("element")
        found.append(_empty(box) if line in asked else replace(box, style="yes") if element else box)
    return tuple(found)


def _in_order(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    """Empty the cells from the line "un-interleaved" on; its bars and indices stay."""
    below = next(box.y for box in boxes if box.text == "un-interleaved") - STEP
    return tuple(_empty(box) if box.y >= below and box.style.startswith("request") else box for box in boxes)


def _covered(box: Box) -> Box:
    return _empty(box) if box.text.startswith(("all ", "none")) or " of " in box.text else box


def _each(blank: Blank) -> Callable[[tuple[Box, ...]], tuple[Box, ...]]:
    return lambda boxes: tuple(map(blank, boxes))


# figure -> the figure, what empties its boxes, the question
FORMS: dict[str, tuple[Callable[..., Picture], Callable[[tuple[Box, ...]], tuple[Box, ...]], str]] = {
    "owner_strip": (owner_strip, _each(_owner), "Who owns each of these locs?"),
    "rank_table": (rank_table, _each(_in_ranks), "Which loc lies in which row of which rank?"),
    "localized": (localized, _each(_in_ranks), "What does each rank see in place of each loc?"),
    "widened_page": (widened_page, _each(_in_page), "Which locs are this page's, and which of them has each rank?"),
    "two_page_tables": (two_page_tables, _each(_page_ids), "In which pages of either kind do these locs lie?"),
    "flattened": (flattened, _each(_flat), "Which locs of the table belong to the requests, and in which order?"),
    "kernel_lanes": (kernel_lanes, _lane, "What does each lane load and store, and what does it leave alone?"),
    "pages": (pages, _each(_covered), "How many of each page's locs have a slot, and how many have none?"),
    "shards_picture": (shards_picture, _in_order, "Which cell of the shards belongs in each place below?"),
}


def of_part(part: str) -> Picture:
    """Draw what a part asks, by its id: the picture that its check will draw, of an answer that gave nothing yet."""
    asked = next((found for lab in catalog.labs() for found in lab.parts if found.id == part and found.picture), None)
    if asked is None:
        raise ValueError(f"there is no question of {part!r}: it is no part with a picture, and none of {', '.join(FORMS)}.")
    made = answer_cells.blank(asked)
    its_own = ", in a case of its own" if asked.picture and asked.picture.drawn else ""  # else it is all cases
    says = f"Your function fills the empty cells: the check draws what it gave{its_own}."
    return replace(answer.answer(replace(made, caption=says)), alt=f"{made.title}. {says}")


@drawn
def question(figure: str, *args: Any, **kwargs: Any) -> Picture:
    """Draw the question that ``figure`` (a name in FORMS, or a part's id) answers: its cells, empty where something is
    asked."""
    if figure not in FORMS:
        return of_part(figure)
    draws, empty, asks = FORMS[figure]
    full = inspect.unwrap(draws)(*args, **kwargs)
    says = f"{asks} The check draws what your function gave, in a case of its own."
    return Picture("The question", says, Scene(empty(full.scene.boxes)), Table(("asked",), ((asks,),)), alt=says)
