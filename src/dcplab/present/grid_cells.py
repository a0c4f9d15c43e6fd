"""Makes the cells of answers that are one word a case: a grid of cases, and lines of an answer's own entries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from dcplab.course.cells import DrawnCase, DrawnCell, Strip
from dcplab.present.values import short

WORD = 20  # characters of a cell's text
BLANK, NO_CASE = DrawnCell("", "unused"), DrawnCell("")


def word(got: Any, expected: Any, wrong: bool, tells: bool = True) -> DrawnCell:
    """Make the cell of one word: empty where nothing came back, with the right word if it is wrong and ``tells``."""
    if got is None and not wrong:
        return BLANK
    style = "quiet" if got is None or got is False else "yes"
    due = _plain(expected) if tells else ""
    return DrawnCell("nothing" if got is None else _plain(got), style, right=due if wrong else None)


def grid(
    head: str, tried: Sequence[DrawnCase], place: Callable[[Any], tuple[str, str] | None], tells: bool = True
) -> tuple[Strip, ...]:
    """Make a line a row and a cell a case. ``head`` says what the rows are. ``place(case)``: its row and its column, None if it
    has none. A wrong case of a place hides a right one."""
    held: dict[tuple[str, str], DrawnCase] = {}
    for one in tried:
        where = place(one.case)
        if where is not None and (one.wrong or where not in held):
            held[where] = one
    rows, columns = (tuple(dict.fromkeys(where[i] for where in held)) for i in (0, 1))
    lines = [Strip(head, tuple(DrawnCell(name, "header") for name in columns))]
    for row in rows:
        cells = (held.get((row, column)) for column in columns)
        lines.append(Strip(row, tuple(NO_CASE if t is None else word(t.got, t.expected, t.wrong, tells) for t in cells)))
    return tuple(lines)


def entries(head: str, said: Mapping[str, Any], wrong: Collection[str]) -> tuple[Strip, ...]:
    """Make a line with an answer's own entries under their names. What would be right is not told."""
    cells = (word(value, None, name in wrong, tells=False) for name, value in said.items())
    return Strip(head, tuple(DrawnCell(name, "header") for name in said)), Strip("yours", tuple(cells))


def _plain(value: Any) -> str:
    return short(value, WORD).strip("'")
