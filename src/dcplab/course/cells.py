"""Defines a picture of an answer as plain data: strips of cells that hold what was given, what came back, and what is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class DrawnCell:
    """One cell. ``style`` is a name of `viz.core.palette`. ``right``: what should be there, if the cell is wrong; else None."""

    text: str
    style: str = "yes"
    sub: str = ""
    right: str | None = None


@dataclass(frozen=True)
class Strip:
    """A line of cells under one label."""

    label: str
    cells: tuple[DrawnCell, ...]


@dataclass(frozen=True)
class Cells:
    """A picture of one case. The strips of a group have equally many cells, which stand below each other."""

    title: str
    caption: str
    groups: tuple[tuple[Strip, ...], ...]

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
