"""Relates wrong numbers to the right ones by the sizes that a case was called with."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dcplab.judge.pair import Pair

Found = tuple[str, tuple[Any, ...]] | None
Expression = tuple[str, Callable[[Mapping[str, int]], int | None]]  # as code, and its value

FEWEST = 3  # cases, and values of the expression, before a coincidence is out of question


def of_numbers(pairs: Sequence[Pair], close: float | None) -> Found:
    """Return how every wrong number is related to the right one, or None."""
    sizes = [of_sizes(p.inputs) for p in pairs]
    return by_sizes([(p.got, p.right, s) for p, s in zip(pairs, sizes, strict=True)], sizes) or _gives(
        [(p.got, s) for p, s in zip(pairs, sizes, strict=True)], sizes
    ) or above_or_below([(p.got, p.right) for p in pairs])  # fmt: skip


def of_sizes(inputs: Mapping[str, Any]) -> dict[str, int]:
    """Return those arguments that are ints."""
    return {name: value for name, value in inputs.items() if type(value) is int}


def by_sizes(values: Sequence[tuple[Any, Any, Mapping[str, int]]], cases: Sequence[Mapping[str, int]]) -> Found:
    """Return the difference or the factor between all values (got, right, sizes of the case): a number or an expression.
    ``cases``: the sizes of each case once."""
    if any(isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))) for g, r, _ in values for v in (g, r)):
        return None
    gaps = {g - r for g, r, _ in values}
    if len(gaps) == 1 and (len(values) > 1 or abs(next(iter(gaps))) == 1) and all(type(v) is int for v in gaps):
        gap = next(iter(gaps))
        return ("more" if gap > 0 else "less"), (abs(gap),)
    if all(g == -r for g, r, _ in values):
        return "negative", ()
    whole = all(type(g) is int and type(r) is int for g, r, _ in values)
    for text, value in _few(cases, simple(cases)) if whole else ():
        for what, holds in _RELATIONS.items():
            if all((e := value(s)) is not None and holds(g, r, e) for g, r, s in values):
                return what, (f"`{text}`",)
    return None


_RELATIONS: dict[str, Callable[[int, int, int], bool]] = {
    "more": lambda g, r, e: g == r + e,
    "less": lambda g, r, e: g == r - e,
    "times": lambda g, r, e: g == r * e,
    "part": lambda g, r, e: g * e == r,
    "divided": lambda g, r, e: e > 0 and g == r // e,
    "rest": lambda g, r, e: e > 0 and g == r % e,
}


def above_or_below(values: Sequence[tuple[Any, Any]]) -> Found:
    """Return that all values are too large, or all too small, if it is so."""
    if len(values) < FEWEST:
        return None
    return ("above", ()) if all(g > r for g, r in values) else ("below", ()) if all(g < r for g, r in values) else None


def simple(cases: Sequence[Mapping[str, int]]) -> Iterator[Expression]:
    """Yield the sizes that all cases have, one less than each, and products of two of these."""
    names = [name for name in cases[0] if all(name in case for case in cases)]
    singles: list[Expression] = [(name, lambda s, n=name: s[n]) for name in names]  # type: ignore[misc]
    ones: list[Expression] = [(f"{name} - 1", lambda s, n=name: s[n] - 1) for name in names]  # type: ignore[misc]
    yield from singles
    yield from ones
    for (a, of_a), (b, of_b) in itertools.combinations([*singles, *ones], 2):
        yield f"{_bracket(a)} * {_bracket(b)}", lambda s, x=of_a, y=of_b: x(s) * y(s)  # type: ignore[misc]


def _gives(values: Sequence[tuple[Any, Mapping[str, int]]], cases: Sequence[Mapping[str, int]]) -> Found:
    """Return the expression of two or three sizes that every result equals."""
    if len({g for g, _ in values}) < FEWEST or not all(type(g) is int for g, _ in values):
        return None
    for text, value in _compound(cases):
        if all(value(s) == g for g, s in values):
            return "gives", (f"`{text}`",)
    return None


OPERATORS: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else None,
    "%": lambda a, b: a % b if b else None,
}


def _compound(cases: Sequence[Mapping[str, int]]) -> Iterator[Expression]:
    names = [name for name in cases[0] if all(name in case for case in cases)]
    level: list[Expression] = [(name, lambda s, n=name: s[n]) for name in names]  # type: ignore[misc]
    singles = level
    for _ in range(3):
        yield from level
        for text, of in level:
            yield f"{text} + 1", lambda s, x=of: None if x(s) is None else x(s) + 1  # type: ignore[misc]
            yield f"{text} - 1", lambda s, x=of: None if x(s) is None else x(s) - 1  # type: ignore[misc]
        level = [
            (f"{_bracket(a)} {op} {b}" if op in ("*", "//", "%") else f"{a} {op} {b}", _join(of_a, op, of_b))
            for a, of_a in level
            for b, of_b in singles
            for op in OPERATORS
        ]


def _join(a: Callable[..., Any], op: str, b: Callable[..., Any]) -> Callable[[Mapping[str, int]], int | None]:
    def value(sizes: Mapping[str, int]) -> int | None:
        left = a(sizes)
        return None if left is None else OPERATORS[op](left, b(sizes))

    return value


def _bracket(text: str) -> str:
    return f"({text})" if " + " in text or " - " in text else text


def _few(cases: Sequence[Mapping[str, int]], made: Iterator[Expression]) -> Iterator[Expression]:
    """Yield the expressions that take several values over these cases, and so say more than a number."""
    for text, value in made:
        if len(cases) >= FEWEST and len({value(case) for case in cases}) >= FEWEST:
            yield text, value
