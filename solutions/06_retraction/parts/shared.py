"""Lab 06: the locs of a request, which change with every stay, and pools whose rows say who they are."""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.seeded import Draw

FAR = 2**50  # a page whose locs, and they alone, are past what float64 holds exactly
UNWRITTEN = 7  # in a pool, where nothing was put
FIRST = 10  # the smallest value of a stored token


def run(draw: Draw, length: int, page_size: int, dcp_size: int, start: int = 0, base: int = 0) -> torch.Tensor:
    """Locs of ``length`` positions from ``start`` on, int64. Pages lie behind ``base``, not adjacent and not ascending."""
    width = page_size * dcp_size
    pages = [base + 2 * page + 2 for page in draw.sample(range(12), -(-(start + length) // width))]
    return torch.tensor([pages[p // width] * width + p % width for p in range(start, start + length)], dtype=torch.int64)


def told_apart(draw: Draw, rows: int, width: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """``[rows, width]`` whose values are all different and none of them UNWRITTEN."""
    return (FIRST + torch.randperm(rows * width, generator=draw.torch())).reshape(rows, width).to(dtype)


def whose(row: Any, known: list[list[float]], name: str) -> str:
    """A row in words: the place in ``known`` that it equals, or what else it holds."""
    if row is None:
        return "nothing"
    if row in known:
        return f"{name} {known.index(row)}"
    return "not written" if all(v == UNWRITTEN for v in row) else "something else"
