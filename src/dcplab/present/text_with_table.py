"""Displays a tool's result: sentences and tables in turn. Text in a terminal; in a notebook tables that scroll if they are
wide."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from dcplab.course.model import Table
from dcplab.present.display import Shown
from dcplab.present.page import PRE, html
from dcplab.present.table import columns, to_html

SCROLLS = '<div style="overflow-x:auto">{}</div>'


class Words(Shown):
    """Lines of text that break between words."""

    def _repr_html_(self) -> str:
        return str(html(PRE, self.text))


class Pieces(Shown):
    """Sentences and tables, one below the other. A table's caption stands above it."""

    def __init__(self, *pieces: str | Table):
        self.pieces = tuple(piece for piece in pieces if piece)
        super().__init__("\n\n".join(map(_text, self.pieces)))

    def _repr_html_(self) -> str:
        return str(Markup().join(map(_html, self.pieces)))


class Told(Pieces):
    """``head`` and ``note`` are sentences. ``rows`` hold cells of any type, under ``header``."""

    def __init__(self, head: str, header: Sequence[str], rows: Sequence[Sequence], note: str):
        self.head, self.note, self.table = head, note, table(header, rows)
        super().__init__(head, self.table, note)


def table(header: Sequence[str], rows: Sequence[Sequence], caption: str = "") -> Table:
    """Make a table of cells of any type."""
    return Table(tuple(header), tuple(tuple(str(cell) for cell in row) for row in rows), caption)


def _text(piece: str | Table) -> str:
    if isinstance(piece, str):
        return piece
    return "\n".join([*filter(None, [piece.caption]), *columns([piece.header, *piece.rows])])


def _html(piece: str | Table) -> Markup:
    return html("<p>{}</p>", piece) if isinstance(piece, str) else html(SCROLLS, to_html(piece))
