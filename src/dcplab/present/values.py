"""Puts values into words: on one line of a table, and their kinds with an article."""

from __future__ import annotations

import re
from typing import Any

import torch

from dcplab.codec import Other


def short(value: Any, width: int = 60) -> str:
    """Format a value for one line of a table."""
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        if value.numel() > 16:
            return f"{name} tensor of shape {list(value.shape)}"
        # Write every element in full: torch's own repr rounds floats and breaks lines.
        text = f"{value.to(torch.float32).tolist() if value.dtype.is_floating_point else value.tolist()}"
        return _cut(f"{text} ({name})" if value.numel() else f"empty {name} tensor of shape {list(value.shape)}", width)
    if isinstance(value, Other):
        return _cut(f"{value.type}: {value.text}", width)
    if type(value) in (list, tuple):
        inner = ", ".join(short(v, width) for v in value)
        return _cut(f"[{inner}]" if type(value) is list else f"({inner}{',' if len(value) == 1 else ''})", width)
    if type(value) is dict:
        return _cut("{" + ", ".join(f"{k}: {short(v, width)}" for k, v in value.items()) + "}", width)
    return _cut(repr(value), width)


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


def article(name: str) -> str:
    if name == "None":
        return name
    return f"an {name}" if name[:1].lower() in "aeio" else f"a {name}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
