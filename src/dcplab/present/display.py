"""Displays the result of a cell with the same words in a terminal and in a notebook."""

from __future__ import annotations

from dcplab.present.page import html


class Shown:
    """Something to read: text in a terminal, HTML in a notebook."""

    def __init__(self, text: str, html_text: str | None = None):
        self.text, self._html = text, html_text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return str(html("<pre>{}</pre>", self.text) if self._html is None else self._html)
