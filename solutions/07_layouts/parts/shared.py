"""Lab 07: locs and rows at the edges of a layout and of what number types hold, and the cells of a picture."""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cells import DrawnCell
from dcplab.course.seeded import Draw

EDGES = (2**24, 2**31, 2**58)  # past these float32, int32 and float64 are no longer exact
INT32_EDGES = (2**24, 2**31 - 2**13)
UNASKED = DrawnCell("", "unused")


def edges(draw: Draw, each: int, runs: int, dtype: torch.dtype = torch.int64, pads: int = 0) -> torch.Tensor:
    """Shuffled ids about the edges of ``runs`` runs of ``each``: of the first rounds, and one past each edge of a number type.

    Of a run its first, its second, one between and its last are there. ``pads`` of them are -1.
    """
    far = [edge + draw.int(70, 120) for edge in (EDGES if dtype == torch.int64 else INT32_EDGES)]
    rounds = [0, runs * each, *(start - start % (runs * each) for start in far)]
    places = sorted({0, min(1, each - 1), draw.int(0, each - 1), each - 1})
    ids = [start + run * each + place for start in rounds for run in range(runs) for place in places]
    return torch.tensor(draw.shuffled([*ids, *[-1] * pads]), dtype=dtype)


def past_float(draw: Draw, multiple: int) -> int:
    """A number past 2^58 that float64 rounds to one with another remainder by ``multiple``."""
    found = 2**58 + draw.int(70, 120)
    while found % multiple == int(float(found)) % multiple:
        found += 1
    return found


def strided(values: torch.Tensor, draw: Draw) -> torch.Tensor:
    """The same values, two to a row where they are even in number, as a transposed view of every other column."""
    flat = values.flatten()
    grid = flat.reshape(2, -1) if flat.numel() % 2 == 0 else flat.reshape(1, -1)
    store = torch.full((grid.shape[1], 2 * grid.shape[0]), draw.int(90, 99), dtype=values.dtype)
    view = store[:, ::2].T
    view.copy_(grid)
    return view


def flat(value: Any) -> list[int]:
    """The entries of a tensor, or an int alone, as a list."""
    return value.flatten().tolist() if isinstance(value, torch.Tensor) else [value]


def held(mine: list | None, right: list, say: Any = str) -> tuple[DrawnCell, ...]:
    """The cells of a result beside what is right; empty where nothing came back."""
    if mine is None:
        return (UNASKED,) * len(right)
    cells = []
    for i, due in enumerate(right):
        here = mine[i] if i < len(mine) else None
        cells.append(DrawnCell("nothing" if here is None else say(here), right=None if here == due else say(due)))
    return tuple(cells)
