"""Puts values into words: on one line of a table, and their kinds with an article."""

from __future__ import annotations

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
        if not value.dim():  # "True (bool)" would be Python's own
            return _cut(f"tensor({value.item()}) ({name})", width)
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


def article(name: str) -> str:
    if name == "None":
        return name
    return f"an {name}" if name[:1].lower() in "aeio" else f"a {name}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
