"""Formats a `Table` as text for a terminal, and as HTML for a page and a screen reader."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dcplab.course.model import Table


def to_text(table: Table) -> str:
    """Align columns to the right, with a rule below the header."""
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    drawn = ["  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
    rule = "  ".join("-" * w for w in widths)
    return "\n".join([*([table.caption] if table.caption else []), drawn[0], rule, *drawn[1:]])


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
