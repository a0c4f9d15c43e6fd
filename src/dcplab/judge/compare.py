"""Compares values exactly: type, dtype, shape and every value. An int is no bool and no tensor, and NaN equals nothing.

Only bytes and Python's own integers and floats are compared. No object of the answer is asked whether it is equal. The
comparison functions of torch and numpy, which a notebook can replace, are not used.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dcplab.codec import Other, encode, tensor_bytes

_KINDS = {"tensor", "None", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "set", "frozenset"}


@dataclass(frozen=True)
class Difference:
    """The first difference between a value and the right one. ``what``: "kind", "length", "keys", "shape", "dtype" or "values"
    differ.

    ``path`` leads to ``got`` and ``expected``: an argument or buffer that was written, ``("entry", i)``, or ``("key", k)``.
    ``places``: flat indices at which tensors differ. ``same``: the values are equal and only the dtypes differ.
    """

    what: str
    path: tuple[Any, ...]
    got: Any
    expected: Any
    places: Sequence[int] = ()
    same: bool = False


def difference(got: Any, expected: Any, close: float | None = None, path: tuple[Any, ...] = ()) -> Difference | None:
    """Return the first difference, or None if ``got`` is right. A list is right where a tuple of the same entries is."""
    listed = type(got) is list and type(expected) is tuple  # it serves whoever unpacks it
    if kind(got) != kind(expected) and not listed:
        return Difference("kind", path, got, expected)
    if isinstance(expected, torch.Tensor):
        return _tensor_difference(got, expected, close, path)
    if isinstance(expected, float):
        return None if _floats_agree(got, expected, close) else Difference("values", path, got, expected)
    if isinstance(expected, list | tuple):
        if len(got) != len(expected):
            return Difference("length", path, got, expected)
        inner = ((got[i], expected[i], ("entry", i)) for i in range(len(expected)))
        return next((d for g, e, step in inner if (d := difference(g, e, close, (*path, step)))), None)
    if isinstance(expected, dict):
        if set(map(_key, got)) != set(map(_key, expected)):
            return Difference("keys", path, got, expected)
        return next((d for k in expected if (d := difference(got[k], expected[k], close, (*path, ("key", k))))), None)
    return None if got == expected else Difference("values", path, got, expected)


def identical(a: Any, b: Any) -> bool:
    """Return True if two results are the same bit by bit, NaN with NaN too. Used to recognise a bank answer."""
    if type(a) is type(b) and type(a) in (bool, str, float):  # entry by entry, this is asked a hundred thousand times
        return bool(struct.pack("<d", a) == struct.pack("<d", b) if type(a) is float else a == b)
    if type(a) is type(b) is int and -(2**63) <= min(a, b) and max(a, b) < 2**63:
        return bool(a == b)
    return encode(a, compact=True) == encode(b, compact=True)


def alike(a: Any, b: Any, close: float | None) -> bool:
    """Compare as `identical` does; with ``close``, floats that are that near count as the same, and NaN equals NaN."""
    if close is None or identical(a, b):
        return identical(a, b)
    if kind(a) != kind(b):
        return False
    if isinstance(a, torch.Tensor):
        if (a.shape, a.dtype) != (b.shape, b.dtype) or not a.dtype.is_floating_point:
            return False
        return bool((_agreeing(a, b, close) | (a.isnan() & b.isnan()).reshape(-1)).all())
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or _floats_agree(a, b, close)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(alike(x, y, close) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key], close) for key in a)
    return False


def wrong_places(got: torch.Tensor, expected: torch.Tensor, close: float | None = None) -> list[int]:
    """Return the flat indices at which two tensors of one shape and dtype differ."""
    if not expected.dtype.is_floating_point:
        if tensor_bytes(got) == tensor_bytes(expected):
            return []
        return [i for i, (g, e) in enumerate(zip(values(got), values(expected), strict=True)) if g != e]
    places: list[int] = _agreeing(got, expected, close).logical_not().nonzero().view(-1).tolist()
    return places


def kind(value: Any) -> str:
    """Name the exact type as a person would. Tensors of any dtype and shape are of one kind."""
    if isinstance(value, Other):  # never the name of a comparable kind, whatever its class is called
        return f"{value.type} of another kind" if value.type in _KINDS else value.type
    return "tensor" if isinstance(value, torch.Tensor) else "None" if value is None else type(value).__name__


def _tensor_difference(
    got: torch.Tensor, expected: torch.Tensor, close: float | None, path: tuple[Any, ...]
) -> Difference | None:
    if tuple(got.shape) != tuple(expected.shape):
        return Difference("shape", path, got, expected)
    if got.dtype != expected.dtype:
        pairs = zip(values(got), values(expected), strict=True)
        others = [i for i, (g, e) in enumerate(pairs) if g != e]
        return Difference("dtype", path, got, expected, others, same=not others)
    wrong = wrong_places(got, expected, close)
    return Difference("values", path, got, expected, wrong) if wrong else None


def values(t: torch.Tensor) -> list[Any]:
    """Return the elements as Python numbers. Every integer is exact, and every float type widens to float64 without loss."""
    return (t.to(torch.float64) if t.dtype.is_floating_point else t).reshape(-1).tolist()


def _floats_agree(got: float, expected: float, close: float | None) -> bool:
    if math.isnan(got) or math.isnan(expected):
        return False
    if close is None or math.isinf(expected) or math.isinf(got):
        return got == expected
    return abs(got - expected) <= close * (1 + abs(expected))


def _agreeing(got: torch.Tensor, expected: torch.Tensor, close: float | None) -> torch.Tensor:
    """Compare two float tensors of one shape as `_floats_agree` does their elements: bool, flat."""
    g, e = (t.reshape(-1).to(torch.float64) for t in (got, expected))
    agree = g == e
    if close is not None:
        agree |= torch.isfinite(g) & torch.isfinite(e) & ((g - e).abs() <= close * (1 + e.abs()))
    return agree


def _key(key: Any) -> tuple[str, Any]:
    return type(key).__name__, key
