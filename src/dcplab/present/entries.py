"""Makes the table of entries that differ, for parts that put an entry into words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import torch

from dcplab.course.cases import UNWRITTEN
from dcplab.course.model import Table
from dcplab.present.values import short

SHOWN = 6  # rows of a failure table


def different(
    header: tuple[str, ...], where: Callable[[int], tuple], got: Any, expected: Any, caption: str, say: Callable = str
) -> Table:
    """Make a table of the first few entries that differ: ``where(i)``, then both sides in words.

    An entry lies at one index of the first dimension. ``say`` puts it into words. It must take None too, since one side may be
    longer. Values that cannot be compared entry by entry (another dtype, another trailing shape) are shown whole.
    """
    alike = isinstance(got, torch.Tensor) and got.dtype == expected.dtype and got.shape[1:] == expected.shape[1:]
    if not alike or got.dim() != expected.dim() or not got.dim():
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    pairs = list(zip_longest(got.tolist(), expected.tolist()))
    wrong = [i for i, (mine, right) in enumerate(pairs) if mine != right]
    if len(wrong) > SHOWN:
        caption += f" The first {SHOWN} wrong places:"
    rows = []
    for i in wrong[:SHOWN]:
        mine, right = ("nothing" if side is None else say(side) for side in pairs[i])
        if mine == right:  # equal in words, so show the numbers
            mine, right = (short(side, 40) for side in pairs[i])
        rows.append((*map(str, _place(where, i, len(header) - 2)), mine, right))
    return Table(header, tuple(rows), caption)


def _place(where: Callable[[int], tuple], i: int, width: int) -> tuple:
    try:
        return where(i)
    except IndexError:  # this side has no such entry
        return ("-",) * width


def whose(row: Any, known: list[list[float]], name: str) -> str:
    """Put a row of a pool into words: the place in ``known`` that it equals, or what else it holds."""
    if row is None:
        return "nothing"
    if row in known:
        return f"{name} {known.index(row)}"
    return "not written" if all(v == UNWRITTEN for v in row) else "something else"
