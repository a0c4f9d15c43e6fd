"""Draws locs and ranks: the owner of each loc, and its row."""

from __future__ import annotations

from collections.abc import Sequence

from dcplab.course.model import Table
from dcplab.engine import index_spaces
from dcplab.viz.core.palette import owner_style
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import (
    CELL_HEIGHT,
    GAP,
    MARGIN,
    Box,
    Place,
    Scene,
    cell_width,
    chip,
    chip_width,
    chunks,
    number,
    per_line,
)
from dcplab.viz.core.validate import geometry, whole_list


def loc_box(place: Place, loc: int, dcp_size: int, mark: str = "", interleave: int = 1) -> Box:
    """Draw a loc as every picture does: its number, its owner's name, colour and pattern. -1 is padding and has no owner."""
    if loc < 0:
        return Box(*place, "quiet", number(loc), "pad", mark)
    owner = index_spaces.owner_rank(loc, dcp_size, interleave)
    row = index_spaces.local_row(loc, dcp_size, interleave)
    hover = f"loc {number(loc)}: owner r{owner}, row {number(row)}"
    return Box(*place, owner_style(owner), number(loc), f"r{owner}", mark, loc, hover)


def rank_chips(x: float, y: float, dcp_size: int, h: float, step: float) -> list[Box]:
    """Draw one label a rank, one below the other, in the rank's colour."""
    w = chip_width([f"rank {dcp_size - 1}"])
    return [Box(x, y + r * step, w, h, owner_style(r), f"rank {r}") for r in range(dcp_size)]


@drawn
def owner_strip(locs, dcp_size: int) -> Picture:
    """Draw a strip of locs in the order given, each coloured and labelled by its owner.

    ``locs``: at most 256 locs (list, range, 1-D tensor), -1 for padding. ``dcp_size``: D >= 1.
    """
    dcp_size, _ = geometry(dcp_size)
    locs = whole_list(locs, "locs")
    width = cell_width(number(v) for v in locs)
    boxes = [
        loc_box((MARGIN + i * (width + GAP), MARGIN + line * (CELL_HEIGHT + 6), width, CELL_HEIGHT), loc, dcp_size)
        for line, (_, part) in enumerate(chunks(locs, per_line(width, dcp_size)))
        for i, loc in enumerate(part)
    ]
    rows = tuple(_facts(loc, dcp_size) for loc in locs)
    return Picture(
        f"Owners of {len(locs)} locs, D = {dcp_size}",
        "The big number is the loc, the small one the rank that owns it.",
        Scene(tuple(boxes)),
        Table(("loc", "owner"), rows),  # no more than the picture shows: the row is the next question
    )


def _facts(loc: int, dcp_size: int) -> tuple[str, str]:
    return number(loc), "none" if loc < 0 else f"r{index_spaces.owner_rank(loc, dcp_size)}"


def row_grid(x: float, y: float, rows: Sequence[int], shown: set[int], dcp_size: int, h: float = 30) -> list[Box]:
    """Draw ranks down and rows across: cell (r, row) holds the loc stored there, if it is one of ``shown``. Long lines wrap."""
    locs_of = {row: [index_spaces.globalize(row, r, dcp_size) for r in range(dcp_size)] for row in rows}
    width = cell_width([number(v) for row in rows for v in locs_of[row]] + [f"row {number(row)}" for row in rows], 44)
    left = x + chip_width([f"rank {dcp_size - 1}"]) + 2 * GAP
    boxes: list[Box] = []
    for _, part in chunks(rows, per_line(width)):
        boxes += rank_chips(x, y + 22 + GAP, dcp_size, h, h + GAP)
        for i, row in enumerate(part):
            at = left + i * (width + GAP)
            boxes.append(chip(at, y, f"row {number(row)}", w=width))
            for r, loc in enumerate(locs_of[row]):
                top = y + 22 + GAP + r * (h + GAP)
                if loc in shown:
                    hover = f"rank {r}, row {number(row)}: loc {number(loc)}"
                    boxes.append(Box(at, top, width, h, owner_style(r), number(loc), loc=loc, hover=hover))
                else:
                    boxes.append(Box(at, top, width, h, "unused", hover=f"rank {r}, row {number(row)}: not in this list"))
        y += 22 + GAP + dcp_size * (h + GAP) + 12
    return boxes


@drawn
def rank_table(locs, dcp_size: int) -> Picture:
    """Draw ranks down and rows across: each cell holds the loc that lies in that row of that rank.

    ``locs``: at most 256 locs, -1 is skipped. Only rows that hold one of them are drawn. ``dcp_size``: D >= 1.
    """
    dcp_size, _ = geometry(dcp_size)
    shown = {v for v in whole_list(locs, "locs") if v >= 0}
    rows = sorted({index_spaces.local_row(v, dcp_size) for v in shown})
    if not rows:
        raise ValueError("there is no loc to draw.")
    header = ("row", *(f"r{r}" for r in range(dcp_size)))
    lines = []
    for row in rows:
        held = [index_spaces.globalize(row, r, dcp_size) for r in range(dcp_size)]
        lines.append((number(row), *(number(v) if v in shown else "." for v in held)))
    return Picture(
        f"Which loc lies where, D = {dcp_size}",
        "A line for each rank, a column for each of its rows. A hatched cell holds a loc that is not in this list.",
        Scene(tuple(row_grid(MARGIN, MARGIN, rows, shown, dcp_size))),
        Table(header, tuple(lines)),
    )


@drawn
def localized(locs, dcp_size: int) -> Picture:
    """Draw one line of cells a rank: the row of each loc on that rank, or -1 where another rank owns the loc.

    ``locs``: at most 256 locs, -1 for padding. ``dcp_size``: D >= 1.
    """
    dcp_size, _ = geometry(dcp_size)
    locs = whole_list(locs, "locs")
    width = cell_width(number(v) for v in locs)
    left = MARGIN + chip_width([f"rank {dcp_size - 1}"]) + 2 * GAP
    boxes: list[Box] = []
    y = float(MARGIN)
    for _, part in chunks(locs, per_line(width, dcp_size)):
        boxes.append(chip(MARGIN, y + 7, "loc", w=left - MARGIN - 2 * GAP))
        boxes += [loc_box((left + i * (width + GAP), y, width, CELL_HEIGHT), loc, dcp_size) for i, loc in enumerate(part)]
        y += CELL_HEIGHT + 8
        boxes += rank_chips(MARGIN, y, dcp_size, 26, 26 + GAP)
        for r in range(dcp_size):
            for i, loc in enumerate(part):
                row = index_spaces.localize(loc, r, dcp_size)
                hover = f"rank {r}: loc {number(loc)} is " + (f"row {number(row)}" if row >= 0 else "not here")
                style = owner_style(r) if row >= 0 else "quiet"
                at = left + i * (width + GAP)
                boxes.append(Box(at, y, width, 26, style, number(row), loc=loc if row >= 0 else None, hover=hover))
            y += 26 + GAP
        y += 14
    rows = tuple((number(loc), *(number(index_spaces.localize(loc, r, dcp_size)) for r in range(dcp_size))) for loc in locs)
    return Picture(
        f"The same locs on each rank, D = {dcp_size}",
        "A row where the rank owns the loc, -1 elsewhere. Every loc but padding has exactly one row.",
        Scene(tuple(boxes)),
        Table(("loc", *(f"r{r}" for r in range(dcp_size))), rows),
    )
