"""Helps the parts of all labs: makes cases in display order, and layouts of their tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from dcplab.course.model import Case


def numbered(cases: Sequence[tuple[str, tuple]], call: str = "", start: int = 0, writes: tuple[int, ...] = ()) -> list[Case]:
    """Make cases of (label, arguments), in the order in which a failure should be shown: ``size`` is the place in the list."""
    return [Case(args=args, label=label, size=start + i, call=call, writes=writes) for i, (label, args) in enumerate(cases)]


def as_column(values: torch.Tensor) -> torch.Tensor:
    """Return the same values as a strided view: a column of a table whose other column holds other values."""
    return torch.stack([values, values + 1], dim=-1).movedim(-1, 0)[0]
