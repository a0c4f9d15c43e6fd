"""Formats a `Table` as text for a terminal, and as HTML for a page and a screen reader."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from markupsafe import Markup

from dcplab.course.model import Table
from dcplab.present.page import fill

# Attributes of a table and of its cells. Colours are the page's own.
LOOKS = {
    "plain": {"table": Markup(), "cell": Markup()},
    "card": {
        "table": Markup(' style="border-collapse:collapse;margin:.3em 0;color:inherit"'),
        "cell": Markup(' style="padding:.15em .7em;text-align:left;border:1px solid var(--jp-border-color2,currentColor)"'),
    },
    "board": {
        "table": Markup(' style="border-collapse:collapse;color:inherit"'),
        "cell": Markup(' style="text-align:left;padding:.1em .8em"'),
    },
}


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


def to_html(table: Table, bold: Collection[int] = (), look: str = "plain") -> Markup:
    """Format a table. ``bold``: numbers of its rows. ``look``: one of LOOKS. A cell may be `Markup`, such as a link."""
    return fill("table.html", table=table, bold=bold, look=LOOKS[look])


def every(tables: Sequence[Table], selected: int | None = None) -> Markup:
    """Put tables one below the other, as HTML. ``selected``: a row of the first table."""
    chosen = () if selected is None else (selected,)
    return Markup("<br>").join(to_html(t, chosen if i == 0 else ()) for i, t in enumerate(tables))
