"""Draws a learner's own result on one small case: what was given, what came back, and the wrong cells outlined."""

from __future__ import annotations

from markupsafe import Markup

from dcplab.course.cells import Cells, DrawnCell, Strip
from dcplab.course.model import Table
from dcplab.present.page import html
from dcplab.viz.core.palette import STYLES, owner_style, request_style
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import (
    CELL_HEIGHT,
    GAP,
    MARGIN,
    Box,
    Scene,
    cell_width,
    chip,
    chip_width,
    chunks,
    per_line,
    text_width,
)

IN_CARD = (
    '<details{} class="dcplab-answer" style="margin:.4em 0"><summary>{}</summary>{}'
    '<div style="font-size:90%">{}. {}</div></details>'
)
HEADER, SAID = 22, 12  # pixels of a line of names; wrong cells that the text alternative spells out


def answer(cells: Cells) -> Picture:
    """Draw a picture of an answer: a group of strips below the other, a wrong cell with the right value in its small line."""
    label = chip_width(strip.label for group in cells.groups for strip in group)
    boxes: list[Box] = []
    y = float(MARGIN)
    for group in cells.groups:
        y = _group(boxes, group, y, label) + 10
    rows = [
        (strip.label, str(i), cell.text, cell.text if cell.right is None else cell.right)
        for group in cells.groups
        for strip in group
        for i, cell in enumerate(strip.cells)
    ]
    return Picture(
        cells.title,
        cells.caption,
        Scene(tuple(boxes)),
        Table(("line", "place", "holds", "right"), tuple(rows)),
        alt=said(cells),
    )


def in_card(cells: Cells | None, shown: bool) -> Markup:
    """Return the picture for a check's card: open if it is to be ``shown`` at once. None gives nothing."""
    if cells is None:
        return Markup()
    picture = answer(cells)
    summary = "Your answer in a picture"
    return html(IN_CARD, Markup(" open") if shown else Markup(), summary, picture.image, picture.title, picture.caption)


def said(cells: Cells) -> str:
    """Put a picture into words, for who does not see it: its caption and its wrong cells."""
    wrong = cells.wrong
    spelled = [
        f"{label}, place {i}: {cell.text}" + (f", right is {cell.right}" if cell.right else "") for label, i, cell in wrong
    ]
    more = f" and {len(wrong) - SAID} more" if len(wrong) > SAID else ""
    return f"{cells.title}. {cells.caption}" + (f" Not right: {'; '.join(spelled[:SAID])}{more}." if wrong else "")


def _group(boxes: list[Box], group: tuple[Strip, ...], y: float, label: float) -> float:
    """Add the boxes of strips that stand below each other, wrapped together. Returns the y below them."""
    every = [cell for strip in group for cell in strip.cells]
    width = max(cell_width(cell.text for cell in every), *(text_width(_sub(cell), 11) + 4 for cell in every), 0)
    length = max(len(strip.cells) for strip in group)
    left = MARGIN + label + 2 * GAP
    for start, part in chunks(range(length), per_line(width)):
        for strip in group:
            line = strip.cells[start : start + len(part)]
            head = all(cell.style == "header" for cell in line)
            height = HEADER if head or not any(_sub(cell) for cell in strip.cells) else CELL_HEIGHT
            boxes.append(chip(MARGIN, y + (height - HEADER) / 2, strip.label, w=label))
            boxes += [_box(left + i * (width + GAP), y, width, height, cell) for i, cell in enumerate(line)]
            y += height + (GAP if head else GAP + 1)
        y += 6
    return y


def _box(x: float, y: float, width: float, height: float, cell: DrawnCell) -> Box:
    mark = "wrong" if cell.right is not None else ""
    return Box(x, y, width, height, _style(cell.style), cell.text, _sub(cell), mark)


def _sub(cell: DrawnCell) -> str:
    return f"✓ {cell.right}" if cell.right else cell.sub


def _style(name: str) -> str:
    """Return a style of the palette: ranks and requests past its last repeat."""
    for kind, of in (("owner", owner_style), ("request", request_style)):
        if (number := name.removeprefix(kind)).isdigit() and name.startswith(kind):
            return of(int(number))
    return name if name in STYLES else "yes"
