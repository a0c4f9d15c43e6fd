"""Lab 01: locs at the edges of what number types hold, and tables of entries that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from dcplab.course.cases import numbered
from dcplab.course.model import Case, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different

EDGES = (2**24, 2**31, 2**58)  # past these float32, int32 and float64 are no longer exact
UNWRITTEN = -7777  # what a rows buffer holds before a launch; no loc, row or padding


def edge_locs(draw: Draw, dcp_size: int, dtype: torch.dtype = torch.int64, pads: int = 0) -> torch.Tensor:
    """Shuffled locs: the first two rows of every rank, ``dcp_size`` neighbours past each edge, and ``pads`` times -1."""
    edges = EDGES if dtype == torch.int64 else (2**24, 2**31 - 2**9)
    starts = [0, *(edge + draw.int(70, 120) for edge in edges)]
    locs = [start + i for start in starts for i in range(dcp_size)] + [dcp_size + i for i in range(dcp_size)] + [-1] * pads
    return torch.tensor(draw.shuffled(locs), dtype=dtype)


def strided(values: torch.Tensor, draw: Draw) -> torch.Tensor:
    """The same values, two to a row where they are even in number, as a transposed view of every other column."""
    flat = values.flatten()
    grid = flat.reshape(2, -1) if flat.numel() % 2 == 0 else flat.reshape(1, -1)
    store = torch.full((grid.shape[1], 2 * grid.shape[0]), draw.int(90, 99), dtype=values.dtype)
    view = store[:, ::2].T
    view.copy_(grid)
    return view


def mapping_cases(draw: Draw) -> list[Case]:
    """Locs for 1a and 1b: no padding, ints and tensors."""
    past_float = 2**58 + draw.int(70, 120)
    while past_float % 3 == 2**58 % 3:  # float64 rounds it to a neighbour; let the neighbour have another owner
        past_float += 1
    return numbered(
        [
            ("an int", (draw.int(11, 14), 4)),  # owner and row differ
            ("an int, one rank", (draw.int(5, 99), 1)),
            ("an int past 2^53", (past_float, 3)),
            ("a zero-dimensional tensor", (torch.tensor(draw.int(20, 39)), 6)),
            ("consecutive locs", (torch.arange(12) + 8 * draw.int(0, 3), 4)),
            ("int32 locs", (edge_locs(draw, 3, torch.int32), 3)),
            ("shuffled locs, past 2^31 and 2^53", (edge_locs(draw, 6), 6)),
            ("a strided table", (strided(edge_locs(draw, 8), draw), 8)),
            ("one rank", (edge_locs(draw, 1), 1)),
            ("no locs", (torch.empty(0, 3, dtype=torch.int64), 4)),
        ]
    )


def flat(value: Any) -> list[int]:
    return value.flatten().tolist() if isinstance(value, torch.Tensor) else [value]


def side_by_side(got: Any, expected: Any) -> bool:
    """Whether entry can be held against entry: ints, tensors of one dtype and shape, or vectors of different lengths."""
    if not (isinstance(got, torch.Tensor) and isinstance(expected, torch.Tensor)):
        return type(got) is type(expected) is int
    return got.dtype == expected.dtype and (got.shape == expected.shape or got.dim() == expected.dim() == 1)


def words(value: int) -> str:
    return "not written" if value == UNWRITTEN else str(value)


def entries_that_differ(header: tuple[str, ...], where: Callable[[int], tuple], got: Any, expected: Any, caption: str) -> Table:
    """Makes the table of the first entries that differ; tensors of one shape are compared element by element."""
    if side_by_side(got, expected):
        got, expected = (torch.as_tensor(value).flatten() for value in (got, expected))
    return different(header, where, got, expected, caption, words)


def owner_and_row(loc: int, dcp_size: int) -> tuple:
    return (loc, "-", "-") if loc < 0 else (loc, loc % dcp_size, loc // dcp_size)


LOC_HEADER = ("loc", "owner", "row", "yours", "expected")


def mapping_rows(case: Case, got: Any, expected: Any) -> Table:
    locs, dcp_size = flat(case.args[0]), case.args[1]
    return entries_that_differ(LOC_HEADER, lambda i: owner_and_row(locs[i], dcp_size), got, expected, f"dcp_size {dcp_size}.")
