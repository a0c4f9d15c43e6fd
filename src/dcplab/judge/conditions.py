"""Finds what the cases that fail have in common, and no other case has."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import torch

from dcplab.judge.compare import values

Inputs = Mapping[str, Any]
Test = tuple[tuple[Any, ...], Callable[[Inputs], bool]]  # what is tested, for `present.facts`, and the test

FEWEST = 3  # failing cases, and right ones, before a coincidence is out of question
FAR = 2**31


def exactly_where(cases: Mapping[int, Inputs], failing: Collection[int]) -> tuple[Any, ...] | None:
    """Return the first condition on the arguments that holds for every failing case and for no other, or None.

    ``cases``: the arguments of each case by name.
    """
    failed = [cases[n] for n in failing if n in cases]
    passed = [of for n, of in cases.items() if n not in failing]
    if len(failed) < FEWEST or len(passed) < FEWEST:
        return None
    tests = list(_tests(cases))
    for fact, test in tests:
        if all(map(test, failed)) and not any(map(test, passed)):
            return fact
    # Two conditions at once, of those that every failing case fulfils. Only of words and flags: there are few of these.
    common = [(f, t) for f, t in tests if f[0] in ("is", "not") and all(map(t, failed))]
    for (one, a), (other, b) in itertools.combinations(common, 2):
        if one[1] != other[1] and not any(a(of) and b(of) for of in passed):
            return "both", one, other
    return None


def _elements(name: str) -> bool:
    """Return True if a size counts the elements of a row: a count of tokens is in no relation to it, but by chance."""
    return any(word in name.lower() for word in ("stride", "dim", "width"))


def _tests(cases: Mapping[int, Inputs]) -> Iterator[Test]:
    every = list(cases.values())
    names = [n for n in every[0] if all(n in of for of in every)]
    kinds = {n: {type(of[n]) for of in every} for n in names}
    for n in names:
        if kinds[n] <= {str, bool, type(None)}:
            for value in dict.fromkeys(of[n] for of in every):
                yield ("is", n, value), lambda of, n=n, v=value: of[n] == v and type(of[n]) is type(v)  # type: ignore[misc]
            for value in dict.fromkeys(of[n] for of in every) if kinds[n] == {str} else ():
                yield ("not", n, value), lambda of, n=n, v=value: of[n] != v  # type: ignore[misc]
        if kinds[n] == {int, torch.Tensor}:
            yield ("tensor", n), lambda of, n=n: isinstance(of[n], torch.Tensor)  # type: ignore[misc]
            yield ("number", n), lambda of, n=n: type(of[n]) is int  # type: ignore[misc]
    tensors = [n for n in names if kinds[n] == {torch.Tensor}]
    for n in tensors:
        yield ("empty", n), lambda of, n=n: of[n].numel() == 0  # type: ignore[misc]
    whole = [n for n in tensors if not any(of[n].dtype.is_floating_point for of in every)]
    for n in whole:
        yield ("negative", n), lambda of, n=n: any(v < 0 for v in values(of[n]))  # type: ignore[misc]
        yield ("zero", n), lambda of, n=n: 0 in values(of[n])  # type: ignore[misc]
        yield ("far", n), lambda of, n=n: any(v >= FAR for v in values(of[n]))  # type: ignore[misc]
        yield ("int32", n), lambda of, n=n: of[n].dtype == torch.int32  # type: ignore[misc]
        yield ("int64", n), lambda of, n=n: of[n].dtype == torch.int64  # type: ignore[misc]
    ints = [n for n in names if kinds[n] == {int}]
    for n in ints:
        yield ("is", n, 0), lambda of, n=n: of[n] == 0  # type: ignore[misc]
        yield ("is", n, 1), lambda of, n=n: of[n] == 1  # type: ignore[misc]
        yield ("more", n, 1), lambda of, n=n: of[n] > 1  # type: ignore[misc]
        yield ("more", n, 0), lambda of, n=n: of[n] > 0  # type: ignore[misc]
        yield ("no_power", n), lambda of, n=n: of[n] & (of[n] - 1) != 0  # type: ignore[misc]
        yield ("odd", n), lambda of, n=n: of[n] % 2 == 1  # type: ignore[misc]
    for a, b in (pair for pair in itertools.permutations(ints, 2) if _elements(pair[0]) == _elements(pair[1])):
        yield ("no_multiple", a, b), lambda of, a=a, b=b: of[b] > 0 and of[a] % of[b] != 0  # type: ignore[misc]
        yield ("multiple", a, b), lambda of, a=a, b=b: of[b] > 0 and of[a] % of[b] == 0  # type: ignore[misc]
    for a, b in (pair for pair in itertools.permutations(ints, 2) if _elements(pair[0]) == _elements(pair[1])):
        yield ("equal", a, b), lambda of, a=a, b=b: of[a] == of[b]  # type: ignore[misc]
        yield ("last", a, b), lambda of, a=a, b=b: of[a] == of[b] - 1  # type: ignore[misc]
        yield ("less", a, b), lambda of, a=a, b=b: of[a] < of[b]  # type: ignore[misc]
    for n in tensors:
        yield ("strided", n), lambda of, n=n: not of[n].is_contiguous()  # type: ignore[misc]
    for n in whole:
        yield ("twice", n), lambda of, n=n: of[n].numel() < 10_000 and len(set(values(of[n]))) < of[n].numel()  # type: ignore[misc]
