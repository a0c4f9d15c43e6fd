"""Exact comparison. Type, dtype, shape and every value; an int is no bool and no tensor, and NaN equals nothing.

Only bytes and Python's own integers and floats are compared here. Nothing asks an object of the answer whether it is equal, and
torch's and numpy's comparison functions, which a notebook can replace, are not used.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from dcplab.codec import Other, encode, tensor_bytes

RIGHT_VALUES = " (the values are right)."  # how the sentence ends where nothing but the dtype is wrong
_KINDS = {"tensor", "None", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "set", "frozenset"}


def difference(got: Any, expected: Any, close: float | None = None, where: str = "") -> str | None:
    """None if ``got`` is right, else one sentence on the first way in which it is not. ``where`` names it ("entry 0")."""
    what = where or "the result"
    if kind(got) != kind(expected):
        if got is None:
            return f"{_cap(what)} is None: is there a return?"
        more = f" ({got.text})" if isinstance(got, Other) and got.text else ""
        return f"{_cap(what)} is {article(kind(got))}{more}; {article(kind(expected))} is expected."
    if isinstance(expected, torch.Tensor):
        return _tensor_difference(got, expected, close, what)
    if isinstance(expected, float):
        return None if _floats_agree(got, expected, close) else f"{_cap(what)} is {got!r}; {expected!r} is expected."
    if isinstance(expected, list | tuple):
        if len(got) != len(expected):
            return f"{_cap(what)} has {len(got)} entries; {len(expected)} are expected."
        inner = ((got[i], expected[i], f"entry {i}" + (f" of {where}" if where else "")) for i in range(len(expected)))
        return next((d for g, e, name in inner if (d := difference(g, e, close, name))), None)
    if isinstance(expected, dict):
        if set(map(_key, got)) != set(map(_key, expected)):
            return f"{_cap(what)} has the keys {sorted(map(str, got))}; {sorted(map(str, expected))} are expected."
        return next((d for k in expected if (d := difference(got[k], expected[k], close, f"`{k}`"))), None)
    return None if got == expected else f"{_cap(what)} is {short(got)}; {short(expected)} is expected."


def identical(a: Any, b: Any) -> bool:
    """Whether two outcomes are the same bit by bit (NaN with NaN too): how an answer is told to be one of the bank."""
    return encode(a, compact=True) == encode(b, compact=True)


def alike(a: Any, b: Any, close: float | None) -> bool:
    """As `identical`; with ``close``, floats that are that near count as the same. NaN is like NaN."""
    if close is None or identical(a, b):
        return identical(a, b)
    if kind(a) != kind(b):
        return False
    if isinstance(a, torch.Tensor):
        if (a.shape, a.dtype) != (b.shape, b.dtype) or not a.dtype.is_floating_point:
            return False
        return all(alike(x, y, close) for x, y in zip(_values(a), _values(b), strict=True))
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or _floats_agree(a, b, close)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(alike(x, y, close) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key], close) for key in a)
    return False


def wrong_places(got: torch.Tensor, expected: torch.Tensor, close: float | None = None) -> list[int]:
    """Flat indices at which two tensors of one shape and dtype differ."""
    if tensor_bytes(got) == tensor_bytes(expected) and not expected.dtype.is_floating_point:
        return []
    pairs = zip(_values(got), _values(expected), strict=True)
    if expected.dtype.is_floating_point:
        return [i for i, (g, e) in enumerate(pairs) if not _floats_agree(g, e, close)]
    return [i for i, (g, e) in enumerate(pairs) if g != e]


def kind(value: Any) -> str:
    """The exact type as a person would name it. Tensors of any dtype and shape are of one kind."""
    if isinstance(value, Other):  # never the name of a kind that can be compared, whatever a stranger calls its class
        return f"{value.type} of another kind" if value.type in _KINDS else value.type
    return "tensor" if isinstance(value, torch.Tensor) else "None" if value is None else type(value).__name__


def short(value: Any, width: int = 60) -> str:
    """A value on one line of a table."""
    if isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        if value.numel() > 16:
            return f"{name} tensor of shape {list(value.shape)}"
        # every element in full: torch's own repr rounds floats and breaks lines
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


def _tensor_difference(got: torch.Tensor, expected: torch.Tensor, close: float | None, what: str) -> str | None:
    if tuple(got.shape) != tuple(expected.shape):
        return f"{_cap(what)} has shape {list(got.shape)}; {list(expected.shape)} is expected."
    if got.dtype != expected.dtype:
        mine, right = (str(t.dtype).removeprefix("torch.") for t in (got, expected))
        same = _same_values(got, expected)
        return f"{_cap(what)} has dtype {mine}; {right} is expected" + (RIGHT_VALUES if same else ".")
    wrong = wrong_places(got, expected, close)
    if not wrong:
        return None
    return f"{_cap(what)} differs in {len(wrong)} of {expected.numel()} values."


def _same_values(got: torch.Tensor, expected: torch.Tensor) -> bool:
    return all(g == e for g, e in zip(_values(got), _values(expected), strict=True))


def _values(t: torch.Tensor) -> list:
    """Elements as Python numbers: exact for every integer; every float type widens to float64 without loss."""
    return (t.to(torch.float64) if t.dtype.is_floating_point else t).reshape(-1).tolist()


def _floats_agree(got: float, expected: float, close: float | None) -> bool:
    if math.isnan(got) or math.isnan(expected):
        return False
    if close is None or math.isinf(expected) or math.isinf(got):
        return got == expected
    return abs(got - expected) <= close * (1 + abs(expected))


def _key(key: Any) -> tuple[str, Any]:
    return type(key).__name__, key


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
