"""Helps the parts of all labs: makes cases in display order, and layouts of their tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from dcplab.course.model import Case, Launch
from dcplab.course.seeded import Draw

UNWRITTEN, GAP = 7, 9  # what a pool holds before a write; what lies between the rows of a buffer


def numbered(
    cases: Sequence[tuple[str, tuple[Any, ...]]], call: str = "", start: int = 0, writes: tuple[int, ...] = ()
) -> list[Case]:
    """Make cases of (label, arguments), in the order in which a failure should be shown: ``size`` is the place in the list."""
    return [Case(args=args, label=label, size=start + i, call=call, writes=writes) for i, (label, args) in enumerate(cases)]


def as_column(values: torch.Tensor) -> torch.Tensor:
    """Return the same values as a strided view: a column of a table whose other column holds other values."""
    return torch.stack([values, values + 1], dim=-1).movedim(-1, 0)[0]


def told_apart(draw: Draw, n: int, width: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return ``[n, width]`` whose values are all different, and none of them UNWRITTEN or GAP."""
    return (GAP + 1 + torch.randperm(n * width, generator=draw.torch())).reshape(n, width).to(dtype)


def spread_rows(values: torch.Tensor, stride: int, fill: float) -> torch.Tensor:
    """Put rows ``stride`` apart in one flat tensor that ends with the last row; between them lies ``fill``."""
    n, width = values.shape
    flat = torch.full(((n - 1) * stride + width,), fill, dtype=values.dtype)
    flat.as_strided((n, width), (stride, 1)).copy_(values)
    return flat


def again(cases: Callable[[Draw], Sequence[Case | Launch]]) -> Callable[[Draw], list[Case | Launch]]:
    """Make ``cases`` ask for more at the end, so that what an answer keeps from one call to the next comes to light.

    Two cases come again with other values in tensors of one shape: what was kept by shape is wrong then. The first comes again
    as it was. A launch of several programs comes again with its grid walked backwards: where two write one place, the other one
    wins.
    """

    def all_of(draw: Draw) -> list[Case | Launch]:
        first, later = list(cases(draw)), cases(draw)
        alike = [b for a, b in zip(first, later, strict=True) if _shape(a) == _shape(b) and _values(a) != _values(b)]
        added = [replace(case, label=f"{case.label}, other values") for case in (alike[:1] + alike[1:][-1:])]
        added.append(replace(first[0], label=f"{first[0].label}, once more"))
        several = [case for case in first if isinstance(case, Launch) and math.prod(case.grid) > 1]
        added += [replace(case, label=f"{case.label}, the last program first", backwards=True) for case in several[-1:]]
        return first + [replace(case, size=len(first) + i) for i, case in enumerate(added)]

    return all_of


def _parts(case: Case | Launch) -> tuple[Any, ...]:
    return (
        (case.buffers, case.args, case.grid, case.constexprs)
        if isinstance(case, Launch)
        else (case.args, case.kwargs, case.call)
    )


def _shape(value: Any) -> Any:
    """Return what a cache by shape would take for the same call: everything but the numbers in tensors."""
    if isinstance(value, Case | Launch):
        return _shape(_parts(value))
    if isinstance(value, torch.Tensor):
        return value.shape, value.dtype, value.stride()
    if isinstance(value, dict):
        return {key: _shape(v) for key, v in value.items()}
    return [_shape(v) for v in value] if isinstance(value, list | tuple) else value


def _values(value: Any) -> Any:
    if isinstance(value, Case | Launch):
        return _values(_parts(value))
    if isinstance(value, torch.Tensor):
        return value.tolist() if value.numel() else None
    if isinstance(value, dict):
        return {key: _values(v) for key, v in value.items()}
    return [_values(v) for v in value] if isinstance(value, list | tuple) else None
