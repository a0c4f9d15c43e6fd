"""Lab 04: tokens that say who they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from dcplab.course.seeded import Draw
from dcplab.present.values import short

FAR = 2**58  # past what float64, float32 and int32 hold exactly
GARBAGE = -7777  # in a row that holds no token


def ints(values: Sequence[int], dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.tensor(list(values), dtype=dtype)


def token_values(draw: Draw, request: int, position: int) -> list[int]:
    return [request, position, draw.int(10, 99)]


def both_sides(draw: Draw, prefix_lens: Sequence[int], extend_lens: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Prefixes and new tokens, ``[n, 3]`` and ``[m, 3]``; a request's new tokens go on where its prefix ends."""
    prefix = [token_values(draw, i, p) for i, n in enumerate(prefix_lens) for p in range(n)]
    pairs = zip(prefix_lens, extend_lens, strict=True)
    extend = [token_values(draw, i, n + j) for i, (n, m) in enumerate(pairs) for j in range(m)]
    return tuple(torch.tensor(rows, dtype=torch.int64).reshape(-1, 3) for rows in (prefix, extend))


def who(row: Any) -> str:
    """A row of a gathered buffer, in words."""
    if row is None:
        return "nothing"
    while isinstance(row, list) and row and isinstance(row[0], list):
        row = row[0]
    if not isinstance(row, list):
        return str(row)
    if any(v == GARBAGE or v != v for v in row):
        return "garbage"
    if len(row) > 2 and not any(row):  # the first token of all is request 0, position 0, and its noise is 10 and more
        return "zeros"
    if all(float(v).is_integer() and v >= 0 for v in row) and len(row) >= 2 and row[0] < 10:  # noise is 10 and more
        return f"request {int(row[0])}, position {int(row[1])}"
    return short(row, 40)
