"""Formats a `Table` as text for a terminal, and as HTML for a page and a screen reader."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dcplab.course.model import Table


def columns(rows: Sequence[Sequence[str]], right: bool = False) -> list[str]:
    """Align the cells of rows in columns, to the left or to the right. Returns a line a row."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    side = str.rjust if right else str.ljust
    return ["  ".join(side(cell, w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def to_text(table: Table) -> str:
    """Align columns to the right, with a rule below the header."""
    widths = [max(map(len, cells)) for cells in zip(table.header, *table.rows, strict=True)]
    head, *body = columns([table.header, *table.rows], right=True)
    rule = "  ".join("-" * w for w in widths)
    return "\n".join([*([table.caption] if table.caption else []), head, rule, *body])


def every(tables: Sequence[Table], selected: int | None = None) -> str:
    """Put tables one below the other, as HTML. ``selected``: a row of the first table."""
    return "<br>".join(to_html(t, selected if i == 0 else None) for i, t in enumerate(tables))


def to_html(table: Table, selected: int | None = None) -> str:
    """Format a plain table that takes its colours from the page. Row ``selected`` is bold and says so."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    body = []
    for i, row in enumerate(table.rows):
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        if i == selected:
            cells = "".join(f"<td><b>{escape(cell)}</b></td>" for cell in row)
        body.append(f"<tr>{cells}</tr>")
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
