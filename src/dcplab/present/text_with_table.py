"""Displays a tool's result: a head, a table, and a note. Text in a terminal; in a notebook a table that scrolls if it is
wide."""

from __future__ import annotations

from collections.abc import Sequence

from dcplab.course.model import Table
from dcplab.present.display import Shown
from dcplab.present.page import PRE, html
from dcplab.present.table import columns, to_html


class Words(Shown):
    """Lines of text that break between words."""

    def _repr_html_(self) -> str:
        return str(html(PRE, self.text))


class Told(Shown):
    """``head`` and ``note`` are sentences. ``rows`` hold cells of any type, under ``header``."""

    def __init__(self, head: str, header: Sequence[str], rows: Sequence[Sequence], note: str):
        self.head, self.note = head, note
        self.table = Table(tuple(header), tuple(tuple(str(cell) for cell in row) for row in rows))
        super().__init__("\n".join([head, "", *columns([self.table.header, *self.table.rows]), "", note]))

    def _repr_html_(self) -> str:
        form = '<p>{}</p><div style="overflow-x:auto">{}</div><p>{}</p>'
        return str(html(form, self.head, to_html(self.table), self.note))
