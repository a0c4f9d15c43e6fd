"""Makes a stranger's text harmless to show: on a screen, in a table, in a file."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\^_]?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def printable(text: str, most: int = 1 << 20) -> str:
    """Return a text of a stranger's, at most so many characters of it, without what a terminal would obey: escape codes,
    control characters, what turns a line round. Line ends and tabs stay."""
    if len(text) > most:
        text = f"{text[:most]} ... ({len(text) - most:,} more characters)"
    return _CONTROLS.sub("", _ESCAPES.sub("", re.sub(r"\r\n?", "\n", text)))


def on_a_line(text: str) -> str:
    """Return a stranger's text as one line, with every character that does not print spelled out (``\\x1b``, ``\\n``)."""
    shown = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown)
