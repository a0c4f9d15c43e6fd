"""Defines a scene, the content of a picture: boxes with text, and lines between boxes. Plain data, in pixels, y downwards.

Every text lies in a filled box of a named style (`palette`), so a picture needs no background and can be read on light and dark
pages. `svg` and `plot` draw the same scene; neither adds a fact of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil

CELL_HEIGHT = 36
GAP = 3
MARGIN = 8
LINE_WIDTH = 680  # pixels that a line of cells may take before it wraps
MOST_PER_LINE = 16
Place = tuple[float, float, float, float]  # x, y, width, height


@dataclass(frozen=True)
class Box:
    """A filled rectangle. ``sub`` is a second, smaller line of text. ``loc`` makes the box selectable.

    ``mark`` is an outline: "selected", "last" (the last legal loc), "due" (the place where something belongs),
    "wrong" (with a cross on it), or "" for none.
    """

    x: float
    y: float
    w: float
    h: float
    style: str
    text: str = ""
    sub: str = ""
    mark: str = ""
    loc: int | None = None
    hover: str = ""

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    @property
    def top(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y

    @property
    def bottom(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h


@dataclass(frozen=True)
class Line:
    """A line through points. ``style`` is "journey" (of the selected loc), "thread" (of any other) or "limit" (a bound)."""

    points: tuple[tuple[float, float], ...]
    style: str = "thread"


@dataclass(frozen=True)
class Scene:
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...] = ()

    @property
    def width(self) -> int:
        right = [b.x + b.w for b in self.boxes] + [x for line in self.lines for x, _ in line.points]
        return int(max(right, default=0) + MARGIN)

    @property
    def height(self) -> int:
        return int(max((b.y + b.h for b in self.boxes), default=0) + MARGIN)

    def select(self, loc: int | None) -> Scene:
        """Return the same scene with every box of ``loc`` marked."""
        if loc is None:
            return self
        return replace(self, boxes=tuple(replace(b, mark="selected") if b.loc == loc else b for b in self.boxes))


def number(value: int) -> str:
    """Format a number for a picture and its table: 12, -1, 3,646,463."""
    return f"{value:,}" if abs(value) >= 10_000 else str(value)


def text_width(text: str, size: float = 13) -> float:
    """Guess the width of ``text`` in pixels, on the safe side, without a font at hand."""
    return 0.62 * size * len(text)


def cell_width(texts: Iterable[str], least: float = 36) -> float:
    """Return one width for all cells of a grid: enough for the longest text."""
    return ceil(max([least, *(text_width(t) + 8 for t in texts)]))


def per_line(width: float, *multiple_of: int) -> int:
    """Return how many cells of ``width`` stand in a line: a multiple of the first of ``multiple_of`` that fits, if one does."""
    n = max(1, min(MOST_PER_LINE, int(LINE_WIDTH // (width + GAP))))
    return next((n // m * m for m in multiple_of if m <= n), n)


def chip(x: float, y: float, text: str, style: str = "header", h: float = 22, w: float | None = None) -> Box:
    """Make a label: a small box as wide as its text."""
    return Box(x, y, w if w is not None else chip_width([text]), h, style, text)


def chip_width(texts: Iterable[str]) -> float:
    """Return one width for a column of labels."""
    return ceil(max((text_width(t, 12) + 14 for t in texts), default=0))


def chunks(items: Sequence, n: int) -> list[tuple[int, Sequence]]:
    """Return ``(start, items[start:start + n])`` for every line."""
    return [(i, items[i : i + n]) for i in range(0, len(items), n)]


def runs(values: Sequence[int]) -> list[tuple[int, int, int]]:
    """Join neighbours of equal value: ``(start, count, value)``."""
    found: list[tuple[int, int, int]] = []
    for i, value in enumerate(values):
        if found and found[-1][2] == value and found[-1][0] + found[-1][1] == i:
            found[-1] = (found[-1][0], found[-1][1] + 1, value)
        else:
            found.append((i, 1, value))
    return found
