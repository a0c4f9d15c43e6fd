"""Makes the cells of values: an entry's text and colour by the space it is in, and what is right beside what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from dcplab.course.cells import DrawnCell

LARGEST = 99_999  # a number of more digits makes its cells too wide
BLANK = DrawnCell("", "unused")
VECTORS = ("token", "content")  # spaces in which an entry is a row of numbers


@dataclass(frozen=True)
class Surroundings:
    """What the cells of a case are coloured by: its sizes, and names for rows of numbers by what they equal (``known``)."""

    dcp_size: int = 0
    dcp_rank: int = -1
    known: Mapping[tuple[float, ...], str] = field(default_factory=dict)

    @property
    def lengths(self) -> list[int]:
        """Return the lengths of what is known, the longest first: behind a row may lie what belongs to nobody."""
        return sorted(set(map(len, self.known)), reverse=True)

    @classmethod
    def of(cls, size: Any, rank: Any, known: Mapping[tuple[float, ...], str]) -> Surroundings:
        return cls(size if type(size) is int else 0, rank if type(rank) is int else -1, known)


def filled(space: str, right: Sequence, mine: Sequence | None, around: Surroundings, before: Sequence = ()) -> list[DrawnCell]:
    """Make the cells of a result. A wrong one says what is right. ``before``: what was there, where memory is written."""
    if mine is None:
        return [BLANK] * len(right)
    none = object()
    found = []
    for i, (here, asked) in enumerate(zip_longest(mine, right, fillvalue=none)):
        old = before[i] if i < len(before) else none
        held = DrawnCell("nothing", "unused") if here is none else _written(space, here, old, around)
        if here is none or asked is none or not _equal(here, asked):
            due = "nothing" if asked is none else _written(space, asked, old, around).text or "as before"
            same = due if held.text != due else f"{due} alone"
            held = replace(held, text=held.text or "not written", right=same)
        found.append(held)
    return found


def _written(space: str, entry: Any, old: Any, around: Surroundings) -> DrawnCell:
    return BLANK if _equal(entry, old) else cell(space, entry, around)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    return a == b or (a != a and b != b)


def cell(space: str, entry: Any, around: Surroundings) -> DrawnCell:
    """Make the cell of one entry of a space. Raises ValueError for a number too long to draw."""
    if isinstance(entry, list):
        return _row(space, entry, around)
    if isinstance(entry, float) and not entry.is_integer():
        return DrawnCell(f"{entry:.4g}")
    if isinstance(entry, float):
        entry = int(entry)
    if abs(entry) > LARGEST:
        raise ValueError(f"{entry} is too long for a cell")
    match space:
        case "loc" if entry < 0:
            return DrawnCell(str(entry), "quiet", "pad")
        case "loc" if around.dcp_size:
            owner = entry % around.dcp_size
            return DrawnCell(str(entry), f"owner{owner}", f"r{owner}")
        case "rank":
            return DrawnCell(f"r{entry}", f"owner{entry}" if 0 <= entry < around.dcp_size else "quiet")
        case "row" if entry < 0:
            return DrawnCell(str(entry), "quiet")
        case "row" if around.dcp_rank >= 0:
            return DrawnCell(str(entry), f"owner{around.dcp_rank}")
        case "index-K page":
            return DrawnCell(str(entry), "index_k")
        case "c-KV page":
            return DrawnCell(str(entry), "page")
    return DrawnCell(str(entry))


def _row(space: str, row: list, around: Surroundings) -> DrawnCell:
    if space == "content":
        whole = tuple(map(float, row))
        name = next((around.known[whole[:n]] for n in around.lengths if whole[:n] in around.known), None)
        return DrawnCell(name) if name else DrawnCell("other values", "quiet")
    while row and isinstance(row[0], list):
        row = row[0]
    if len(row) > 2 and not any(row[:3]):  # a token's third number is 10 and more; behind its own there may be others
        return DrawnCell("zeros", "quiet")
    if len(row) < 2 or any(v != v or v < 0 or v != int(v) for v in row[:2]) or row[0] > 25:
        return DrawnCell("no token", "quiet")
    return DrawnCell(f"{chr(65 + int(row[0]))}{int(row[1])}", f"request{int(row[0])}")
