"""Relates the entries of wrong tensors to the right ones: which places are wrong, and what stands there instead."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dcplab.judge import numbers
from dcplab.judge.compare import alike, values, wrong_places
from dcplab.judge.numbers import Found
from dcplab.judge.pair import Pair

FEW = 4  # entries of which a wrong one may be one by chance
MOST = 200_000  # values that are looked at


@dataclass(frozen=True)
class _Entry:
    """A wrong entry: its place, the value there, the right one, and the entries there of arguments of the same shape."""

    place: int
    got: Any
    right: Any
    beside: Mapping[str, Any]


def of_dtypes(pairs: Sequence[Pair]) -> Found:
    """Return the other dtype of all results, if they are right but for it, or right when rounded down."""
    dtypes = {(str(p.got.dtype), str(p.right.dtype)) for p in pairs}
    if len({mine for mine, _ in dtypes}) > 1 or any(mine == right for mine, right in dtypes) or _too_many(pairs):
        return None
    if any(p.got.shape != p.right.shape for p in pairs):
        return None
    rights = {right for _, right in dtypes}
    facts = (pairs[0].got.dtype, pairs[0].right.dtype if len(rights) == 1 else None)
    flat = [(g, r) for p in pairs for g, r in zip(values(p.got), values(p.right), strict=True)]
    if all(g == r for g, r in flat):
        return "dtype", facts
    if not pairs[0].got.dtype.is_floating_point or pairs[0].right.dtype.is_floating_point:
        return None
    return ("dtype_down", facts) if all(math.isfinite(g) and math.floor(g) == r for g, r in flat) else None


def of_rows(pairs: Sequence[Pair], close: float | None) -> Found:
    """Relate tensors as lists of rows: some missing, some more, another order or shape."""
    if _too_many(pairs) or not all(p.right.dim() and p.got.dim() for p in pairs):
        return None
    flat = [(values(p.got), values(p.right)) for p in pairs]
    same_shape = all(p.got.shape == p.right.shape for p in pairs)
    if not same_shape:
        if any(p.got.shape == p.right.shape for p in pairs):
            return None
        if all(g == r for g, r in flat):
            return "shape", ()
        if all(p.got.shape[1:] == p.right.shape[1:] for p in pairs):
            return _of_lengths([(_rows(p.got), _rows(p.right)) for p in pairs])
        return _of_lines(pairs)
    lists = [(_rows(p.got), _rows(p.right)) for p in pairs]
    if all(g == r[::-1] for g, r in lists):
        return "reversed", ()
    if all(p.right.dim() > 1 for p in pairs):
        lines = [(_lines(p.got), _lines(p.right)) for p in pairs]
        if all(Counter(a) == Counter(b) for g, r in lines for a, b in zip(g, r, strict=True)):
            return "order_in_rows", ()
    if all(g != r and Counter(g) == Counter(r) for g, r in lists):  # else they differ in dtype alone
        ordered = all(p.got.dim() == 1 and g == sorted(g) for p, (g, _) in zip(pairs, lists, strict=True))
        return ("sorted" if ordered else "order"), ()
    return None


def _of_lines(pairs: Sequence[Pair]) -> Found:
    """Relate tensors whose last axes alone are of another length."""
    if any(p.got.shape[:-1] != p.right.shape[:-1] for p in pairs):
        return None
    lines = [(g, r) for p in pairs for g, r in zip(_lines(p.got), _lines(p.right), strict=False)]
    if all(len(g) < len(r) and g == r[: len(g)] for g, r in lines):
        return "axis_ends_early", ()
    return ("axis_ends_late", ()) if all(len(g) > len(r) and g[: len(r)] == r for g, r in lines) else None


def _of_lengths(lists: Sequence[tuple[list[Any], list[Any]]]) -> Found:
    if all(not g for g, _ in lists):
        return "empty", ()
    if all(len(g) < len(r) and g == r[: len(g)] for g, r in lists):
        return "ends_early", _by(lists)
    if all(len(g) < len(r) and g == r[len(r) - len(g) :] for g, r in lists):
        return "begins_late", _by(lists)
    if all(len(g) > len(r) and g[: len(r)] == r for g, r in lists):
        return "ends_late", _by(lists)
    if all(len(g) > len(r) and g[len(g) - len(r) :] == r for g, r in lists):
        return "begins_early", _by(lists)
    if all(_within(g, r) for g, r in lists):
        return "some_missing", ()
    if all(_within(r, g) for g, r in lists):
        return "some_more", ()
    if all(not Counter(g) - Counter(r) for g, r in lists):
        return "some_missing_order", ()
    if all(not Counter(r) - Counter(g) for g, r in lists):
        return "some_more_order", ()
    if all(g and r and g[0] == r[0] for g, r in lists):
        return "begins_right", ()
    if all(g and r and g[-1] == r[-1] for g, r in lists):
        return "ends_right", ()
    if all(len(g) < len(r) for g, r in lists):
        return "too_short", ()
    return ("too_long", ()) if all(len(g) > len(r) for g, r in lists) else None


def of_entries(pairs: Sequence[Pair], close: float | None) -> Found:
    """Relate tensors of the right shape entry by entry."""
    if _too_many(pairs) or not all(p.got.shape == p.right.shape and p.right.numel() for p in pairs):
        return None
    wrong = [_wrong(p, close) for p in pairs]
    if not all(wrong):
        return None
    sizes = [numbers.of_sizes(p.inputs) for p in pairs]
    value, place = _value(wrong, sizes), _place(pairs, wrong)
    if (value and value[0] not in ("above", "below")) or (place and place[0] != "all"):
        return "entries", (place, value)
    if taken := _taken(pairs, wrong):
        return taken
    if value or place:
        return "entries", (place, value)
    return ("begins_right", ()) if all(of[0].place > 0 for of in wrong) else None


def of_memory(pairs: Sequence[Pair], close: float | None) -> Found:
    """Relate memory that was to be written: what is missing, what was stored where nothing belongs, what has a wrong value."""
    if _too_many(pairs) or not all(p.got.shape == p.right.shape == p.before.shape for p in pairs):
        return None
    kinds: set[str] = set()
    every = {"lacks", "extra", "value"}  # what is so in each case
    moved, elsewhere = True, all(p.right.dtype not in (torch.uint8, torch.bool) for p in pairs)  # bytes are alike by chance
    for p in pairs:
        got, right, before = values(p.got), values(p.right), values(p.before)
        lacks, extra, other = [], [], []
        for i in wrong_places(p.got, p.right, close):
            if alike(got[i], before[i], None):
                lacks.append(right[i])
            elif alike(right[i], before[i], None):
                extra.append(got[i])
            else:
                other.append(got[i])
        here = {name for name, found in (("lacks", lacks), ("extra", extra), ("value", other)) if found}
        kinds |= here
        every &= here
        belongs = {_key(r) for r, b in zip(right, before, strict=True) if not alike(r, b, None)}
        elsewhere = elsewhere and len(belongs) >= FEW and all(_key(v) in belongs for v in (*extra, *other))
        moved = moved and Counter(lacks) == Counter(extra)
    if kinds == {"lacks", "extra"} and moved:
        return "moved", ()
    if elsewhere and kinds & {"extra", "value"}:
        return "misplaced", ()
    if len(kinds) > 1 and (found := of_entries(pairs, close)) and found[0] == "taken":
        return found
    if {"lacks", "extra"} <= every:
        return "lacks_and_extra", ()
    if kinds == {"lacks", "value"} <= every:
        return "lacks_and_value", ()
    if kinds == {"value"}:
        found = of_entries(pairs, close)
        return "stored_value", found[1] if found and found[0] == "entries" else ()
    return (f"stored_{next(iter(kinds))}", ()) if len(kinds) == 1 else None


def _value(wrong: Sequence[Sequence[_Entry]], sizes: Sequence[Mapping[str, int]]) -> Found:
    """Return what stands at the wrong places."""
    every = [(e, s) for of, s in zip(wrong, sizes, strict=True) for e in of]
    got = [e.got for e, _ in every]
    if all(g != g for g in got):
        return "nan", ()
    if len(set(got)) == 1:
        return "constant", (got[0],)
    beside = [n for n in every[0][0].beside if all(n in e.beside for e, _ in every)]
    for name in beside:
        if all(e.got == e.beside[name] for e, _ in every):
            return "unchanged", (name,)
    found = numbers.by_sizes([(e.got, e.right, s) for e, s in every], sizes)
    return found or _expression(every, beside, sizes) or numbers.above_or_below([(e.got, e.right) for e, _ in every])


def _taken(pairs: Sequence[Pair], wrong: Sequence[Sequence[_Entry]]) -> Found:
    """Return the argument whose entries stand at all wrong places, each at another's place."""
    for name in pairs[0].inputs:
        stores = [p.inputs.get(name) for p in pairs]
        if not all(isinstance(t, torch.Tensor) and t.dtype == p.right.dtype for t, p in zip(stores, pairs, strict=True)):
            continue
        known = [{_key(v) for v in values(t)} for t in stores if isinstance(t, torch.Tensor)]
        if max(map(len, known)) < FEW:
            continue
        if all(_key(e.got) in k and _key(e.right) in k for k, of in zip(known, wrong, strict=True) for e in of):
            return "taken", (name,)
    return None


def _key(value: Any) -> Any:
    return value if value == value else "NaN"  # one NaN is like another


def _expression(every: Sequence[tuple[_Entry, Mapping[str, int]]], beside: Sequence[str], sizes: Sequence[Any]) -> Found:
    """Return the expression of an argument's entry and a size that stands at every wrong place."""
    names = [n for n in sizes[0] if all(n in s for s in sizes)]
    if len(every) < numbers.FEWEST:
        return None
    for entry in beside:
        for name in names:
            for sign, of in numbers.OPERATORS.items():
                if all(of(e.beside[entry], s[name]) == e.got for e, s in every):
                    return "gives", (f"`{entry} {sign} {name}`",)
        for one, other in itertools.product(names, names):
            for text, value in _LONGER.items():
                if all(s[one] and s[other] and value(e.beside[entry], s[one], s[other]) == e.got for e, s in every):
                    return "gives", (f"`{text.format(a=entry, x=one, y=other)}`",)
    return None


# Expressions of an entry and of one or two sizes that people write where a shorter one is right.
_LONGER: dict[str, Callable[[int, int, int], int]] = {
    "{a} // {x} % {y}": lambda a, x, y: a // x % y,
    "{a} % {x} // {y}": lambda a, x, y: a % x // y,
    "{a} // {x} * {y}": lambda a, x, y: a // x * y,
    "{a} // {x} // {y}": lambda a, x, y: a // x // y,
    "{a} * {x} + {y}": lambda a, x, y: a * x + y,
    "{a} * {x} - {y}": lambda a, x, y: a * x - y,
    "{a} + {x} * {y}": lambda a, x, y: a + x * y,
    "({a} + {x}) * {y}": lambda a, x, y: (a + x) * y,
    "({a} + {x}) // {y}": lambda a, x, y: (a + x) // y,
    "({a} - {x}) // {y}": lambda a, x, y: (a - x) // y,
    "({a} + 1) // {x}": lambda a, x, y: (a + 1) // x,
    "({a} - 1) // {x}": lambda a, x, y: (a - 1) // x,
    "{a} // {x} + 1": lambda a, x, y: a // x + 1,
    "({a} + 1) % {x}": lambda a, x, y: (a + 1) % x,
    "({a} - 1) % {x}": lambda a, x, y: (a - 1) % x,
    "{a} - {a} % {x} * {y}": lambda a, x, y: a - a % x * y,
    "{a} - {a} // {x}": lambda a, x, y: a - a // x,
}


def _place(pairs: Sequence[Pair], wrong: Sequence[Sequence[_Entry]]) -> Found:
    """Return which places are wrong in every case."""
    sizes = [p.right.numel() for p in pairs]
    if all(len(of) == size for of, size in zip(wrong, sizes, strict=True)):
        return ("all", ()) if max(sizes) > 1 else None
    every = [e for of in wrong for e in of]
    rights = {e.right for e in every}
    if len(rights) == 1:
        return "where_right", (next(iter(rights)),)
    for name in every[0].beside:
        entries = [e.beside[name] for e in every if e.beside.get(name) is not None]
        if len(entries) < len(every):
            continue
        if all(v < 0 for v in entries):
            return "where_negative", (name,)
        if len(set(entries)) == 1:
            return "where_equal", (name, entries[0])
    if all([e.place for e in of] == [size - 1] for of, size in zip(wrong, sizes, strict=True)):
        return "last", ()
    if all([e.place for e in of] == [0] for of in wrong):
        return "first", ()
    if len(pairs) >= numbers.FEWEST and all(p.right.dim() > 1 and p.right.shape[0] > 1 for p in pairs):
        width = [p.right[0].numel() for p in pairs]
        if all(e.place >= w for of, w in zip(wrong, width, strict=True) for e in of):
            return "not_first_row", ()
    return None


def _wrong(pair: Pair, close: float | None) -> list[_Entry]:
    got, right = values(pair.got), values(pair.right)
    beside = {
        name: values(value)
        for name, value in pair.inputs.items()
        if isinstance(value, torch.Tensor) and value.shape == pair.right.shape and not value.dtype.is_floating_point
    }
    if pair.got.dtype == pair.right.dtype:
        places: Sequence[int] = wrong_places(pair.got, pair.right, close)
    else:
        places = [i for i, (g, r) in enumerate(zip(got, right, strict=True)) if g != r]
    return [_Entry(i, got[i], right[i], {name: of[i] for name, of in beside.items()}) for i in places]


def _rows(t: torch.Tensor) -> list[Any]:
    flat = values(t)
    if t.dim() == 1:
        return flat
    width = t[0].numel() if len(t) else 0
    return [tuple(flat[i * width : (i + 1) * width]) for i in range(len(t))]


def _lines(t: torch.Tensor) -> list[tuple[Any, ...]]:
    """Return the entries along the last axis, for each place before it."""
    flat, width = values(t), t.shape[-1]
    return [tuple(flat[i : i + width]) for i in range(0, len(flat), width)] if width else []


def _by(lists: Sequence[tuple[list[Any], list[Any]]]) -> tuple[int, ...]:
    """Return the number of rows too many or too few, if it is the same in every case."""
    apart = {abs(len(g) - len(r)) for g, r in lists}
    return tuple(apart) if len(apart) == 1 else ()


def _within(short: list[Any], long: list[Any]) -> bool:
    """Return True if ``short`` is what is left of ``long`` when some entries are taken out."""
    rest: Iterator[Any] = iter(long)
    return len(short) < len(long) and all(any(entry == other for other in rest) for entry in short)


def _too_many(pairs: Sequence[Pair]) -> bool:
    return sum(p.right.numel() + p.got.numel() for p in pairs) > MOST
