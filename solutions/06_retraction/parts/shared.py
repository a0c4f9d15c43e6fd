"""Lab 06: the locs of a request, which change with every stay."""

from __future__ import annotations

import torch

from dcplab.course.seeded import Draw

FAR = 2**50  # a page whose locs, and they alone, are past what float64 holds exactly


def run(draw: Draw, length: int, page_size: int, dcp_size: int, start: int = 0, base: int = 0) -> torch.Tensor:
    """Locs of ``length`` positions from ``start`` on, int64. Pages lie behind ``base``, not adjacent and not ascending."""
    width = page_size * dcp_size
    pages = [base + 2 * page + 2 for page in draw.sample(range(12), -(-(start + length) // width))]
    return torch.tensor([pages[p // width] * width + p % width for p in range(start, start + length)], dtype=torch.int64)
