"""Defines a picture of an answer as plain data: strips of cells that hold what was given, what came back, and what is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class DrawnCell:
    """One cell. ``style`` is a name of `viz.core.palette`. ``right``: what should be there, if the cell is wrong ("" where that
    is not told); else None."""

    text: str
    style: str = "yes"
    sub: str = ""
    right: str | None = None


@dataclass(frozen=True)
class Strip:
    """A line of cells under one label."""

    label: str
    cells: tuple[DrawnCell, ...]


Groups = tuple[tuple[Strip, ...], ...]


@dataclass(frozen=True)
class DrawnCase:
    """A case: what came back (None: nothing, or it has not run), what is expected, and whether it is wrong."""

    case: Any
    got: Any = None
    expected: Any = None
    wrong: bool = False


@dataclass(frozen=True)
class Ruler:
    """Equal pieces of a buffer, in order, on which one number is shown: an index that lies in a piece, or how many there are.

    ``what`` is the label of ``pieces``, their names. ``each``: how many the number counts of a piece. ``counts``: the number
    says how many there are, from the piece ``start`` on; else it is an index. ``above``: further lines, a text a piece.
    """

    what: str
    pieces: tuple[str, ...]
    each: int
    counts: bool = False
    start: int = 0
    above: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def filled(self, number: int) -> tuple[str, ...]:
        """Say of each piece how much of it there is, if there are ``number``; and of what is behind them."""
        there = [min(max(number - (i - self.start) * self.each, 0), self.each) for i in range(self.start, len(self.pieces))]
        texts = [f"all {self.each}" if n == self.each else f"{n} of {self.each}" if n else "none" for n in there]
        more = number - (len(self.pieces) - self.start) * self.each
        return (*[""] * self.start, *texts, f"{more} more" if more > 0 else "")

    def placed(self, number: int) -> tuple[str, ...]:
        """Put an index into its piece, or behind them all."""
        at = min(max(number, 0) // self.each, len(self.pieces))
        return tuple(str(number) if i == at else "" for i in range(len(self.pieces) + 1))


@dataclass(frozen=True)
class Cells:
    """A picture of one case. The strips of a group have equally many cells, which stand below each other."""

    title: str
    caption: str
    groups: Groups

    @property
    def wrong(self) -> list[tuple[str, int, DrawnCell]]:
        """Return each wrong cell with its strip's label and its place there."""
        lines = (strip for group in self.groups for strip in group)
        return [(strip.label, i, cell) for strip in lines for i, cell in enumerate(strip.cells) if cell.right is not None]

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Cells:
        """Return the picture that ``dataclasses.asdict`` took apart."""
        groups = (
            tuple(Strip(strip["label"], tuple(DrawnCell(**cell) for cell in strip["cells"])) for strip in group)
            for group in data["groups"]
        )
        return cls(data["title"], data["caption"], tuple(groups))
