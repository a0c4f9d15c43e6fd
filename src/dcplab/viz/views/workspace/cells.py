"""Draws cells of buffers, in one line that wraps (`strip`) or a line a rank (`grid`), with bars above that name their
owners."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dcplab.viz.core.palette import owner_style, request_style
from dcplab.viz.core.scene import GAP, Box, chip, chip_width, chunks, number, per_line, runs, text_width

BAR, CELL, LANE = 18, 34, 9  # heights of a bar and of a cell; the free lane between lines, in which a journey runs

Spans = Sequence[tuple[str, int]]  # (name, number of cells)


@dataclass(frozen=True)
class BufferCell:
    """The content of a buffer at an index. ``request`` None: no token. ``loc``: can be selected. ``wrong``: a wrong id led
    here."""

    text: str = ""
    sub: str = ""
    request: int | None = None
    loc: int | None = None
    hover: str = ""
    wrong: bool = False


GARBAGE = BufferCell("?", "garbage", hover="no token: whatever lay there")


def width_of(cells: Iterable[BufferCell], least: float = 40) -> float:
    """Return one width for all cells: enough for the longest text."""
    return max([least, *(max(text_width(c.text) + 8, text_width(c.sub, 10) + 5) for c in cells)])


def label_width(labels: Iterable[str]) -> float:
    return chip_width(labels)


def strip(
    at: tuple[float, float], label: str, widths: tuple[float, float], cells: Sequence[BufferCell], spans: Spans
) -> tuple[list[Box], float]:
    """Draw one buffer: an index above each cell, and above these, bars for ``spans``, (name, number of cells), from its start
    on.

    ``at``: x and y. ``widths``: of the labels' column, and of a cell. Returns boxes and the y below them.
    """
    (x, y), (labels, width) = at, widths
    left = x + labels + 2 * GAP
    names = [name for name, count in spans for _ in range(count)]
    boxes: list[Box] = []
    for start, part in chunks(cells, per_line(width)):
        boxes += _bars(left, y, width, names[start : start + len(part)])
        y += BAR + GAP
        boxes.append(chip(x, y + BAR + GAP + 7, label, "header", h=BAR, w=labels))
        for i, cell in enumerate(part):
            place = left + i * (width + GAP)
            boxes += [chip(place, y, number(start + i), "header", BAR, width), _box(place, y + BAR + GAP, width, cell)]
        y += BAR + GAP + CELL + LANE
    return boxes, y


def grid(
    at: tuple[float, float],
    label: str,
    widths: tuple[float, float],
    lines: Sequence[Sequence[BufferCell]],
    spans: Spans,
    first: int = 0,
) -> tuple[list[Box], float]:
    """Draw a buffer a rank: ranks down, rows across, ``first`` the row of the first column. The rest is as for `strip`."""
    (x, y), (labels, width) = at, widths
    left = x + labels + 2 * GAP
    names = [name for name, count in spans for _ in range(count)]
    boxes: list[Box] = []
    columns = range(len(lines[0]))
    for start, part in chunks(columns, per_line(width)):
        if spans:
            boxes += _bars(left, y, width, names[start : start + len(part)])
            y += BAR + GAP
        boxes.append(chip(x, y, label, "header", BAR, labels))
        for i in range(len(part)):
            boxes.append(chip(left + i * (width + GAP), y, number(first + start + i), "header", BAR, width))
        y += BAR + LANE
        for rank, line in enumerate(lines):
            boxes.append(Box(x, y + 6, labels, 22, owner_style(rank), f"rank {rank}"))
            boxes += [_box(left + i * (width + GAP), y, width, line[c]) for i, c in enumerate(part)]
            y += CELL + LANE
    return boxes, y


def _bars(left: float, y: float, width: float, names: Sequence[str]) -> list[Box]:
    found = []
    kinds = list(dict.fromkeys(names))
    for start, count, kind in runs([kinds.index(name) for name in names]):
        span = count * (width + GAP) - GAP
        name = kinds[kind]
        tries = (name, name.split(",")[0], name.split()[-1])
        text = next((t for t in tries if text_width(t, 12) <= span), "")
        found.append(Box(left + start * (width + GAP), y, span, BAR, "page", text, hover=name))
    return found


def _box(x: float, y: float, w: float, cell: BufferCell) -> Box:
    style = "unused" if cell.request is None else request_style(cell.request)
    if cell.wrong:
        style = "notice"
    return Box(x, y, w, CELL, style, cell.text, cell.sub, "last" if cell.wrong else "", cell.loc, cell.hover)
