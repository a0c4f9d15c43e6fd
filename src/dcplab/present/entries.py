"""The table of the entries that differ, for parts that say in words what an entry is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import torch

from dcplab.course.model import Table
from dcplab.present.values import short

SHOWN = 6  # rows of a failure table


def different(
    header: tuple[str, ...], where: Callable[[int], tuple], got: Any, expected: Any, caption: str, say: Callable = str
) -> Table:
    """Makes a table of the first few entries that differ: ``where(i)``, then both sides in words.

    An entry is what lies at one index of the first dimension. ``say`` puts one into words, None too: one side may be longer.
    What cannot be held against each other entry by entry (other dtype, other trailing shape) is shown as two wholes.
    """
    alike = isinstance(got, torch.Tensor) and got.dtype == expected.dtype and got.shape[1:] == expected.shape[1:]
    if not alike or got.dim() != expected.dim() or not got.dim():
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    pairs = list(zip_longest(got.tolist(), expected.tolist()))
    wrong = [i for i, (mine, right) in enumerate(pairs) if mine != right]
    if len(wrong) > SHOWN:
        caption += f" The first {SHOWN} places:"
    rows = []
    for i in wrong[:SHOWN]:
        mine, right = ("nothing" if side is None else say(side) for side in pairs[i])
        if mine == right:  # the same in words, so the numbers must tell them apart
            mine, right = (short(side, 40) for side in pairs[i])
        rows.append((*map(str, _place(where, i, len(header) - 2)), mine, right))
    return Table(header, tuple(rows), caption)


def _place(where: Callable[[int], tuple], i: int, width: int) -> tuple:
    try:
        return where(i)
    except IndexError:  # an entry too many
        return ("-",) * width
