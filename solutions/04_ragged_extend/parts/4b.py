"""4b: Un-interleave the gather"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different

from .shared import FAR, GARBAGE, ints, token_values, who


def _padded(length: int, start: int, dcp_size: int) -> int:
    """Rows of every shard that a request fills."""
    return -(-(length + start % dcp_size) // dcp_size) if length else 0


def _shards(draw: Draw, lengths: Sequence[int], starts: Sequence[int], dcp_size: int) -> torch.Tensor:
    """What an all-gather of padded shards gives, ``[D, rows, 3]``."""
    rows = [_padded(n, s, dcp_size) for n, s in zip(lengths, starts, strict=True)]
    shards = torch.full((dcp_size, sum(rows), 3), GARBAGE)
    for i, (n, start, first) in enumerate(zip(lengths, starts, accumulate(rows, initial=0), strict=False)):
        for p in range(start, start + n):
            shards[p % dcp_size, first + p // dcp_size - start // dcp_size] = ints(token_values(draw, i, p))
    return shards


def _shard_cases(draw: Draw) -> list[Case]:
    def case(label, lengths, starts, dcp_size, change=lambda t: t, lens_dtype=torch.int64):
        shards = change(_shards(draw, lengths, starts, dcp_size))
        return label, (shards, ints(lengths, lens_dtype), ints(starts), dcp_size)

    def poisoned(t):
        return torch.where(t == GARBAGE, torch.nan, t.half())

    # float64 and int32 lead to other rows there, not to the same ones, and to none that there is not
    far = FAR + draw.choice([72, 73, 75, 78, 79])
    ranks = draw.int(2000, 2100)  # a length that is one more than a multiple of so many is rounded up all the same
    return numbered(
        [
            case("one request", [5], [0], 2),
            case("two requests", [5, 3], [0, 0], 4),
            case("a start that is no multiple of D", [5], [3], 4),
            case("a start past a whole turn of the ranks", [4, draw.int(5, 7)], [2, 7], 3),
            case("an empty prefix between two, with a start", [3, 0, 6], [1, 5, 2], 4),
            case("an empty prefix at a start that is a multiple of D", [3, 0, 5], [0, 8, 4], 4),
            case("one token a request", [1, 1, 1, 1], draw.shuffled([2, 5, 4, 7]), 4),
            case("lengths that are multiples of D", [6, 3], [0, 3], 3),
            case("one rank", [4, 2], [0, draw.int(3, 5)], 1),
            case("one rank, one request", [4], [0], 1),
            case("float16, rows without a token are NaN", [5, 6], [1, 3], 4, poisoned),
            case("strided shards, int32 lengths", [4, 7], [5, 0], 3, lambda t: as_column(t), torch.int32),
            case("positions past 2^31 and 2^53", [9, 4], [far, far // 3], 6),
            case("a longer batch", [draw.int(9, 14) for _ in range(5)], [draw.int(0, 9) for _ in range(5)], 5),
            case("two thousand ranks", [4, 3], [ranks - 3, 1], ranks),
            case("nothing but empty prefixes", [0, 0], [0, 3], 4),
            case("no request", [], [], 4),
        ]
    )


def _shard_rows(case: Case, got: Any, expected: Any) -> Table:
    _, lens, starts, dcp_size = case.args
    caption = f"dcp_size {dcp_size}, prefix_lens {lens.tolist()}, start_positions {starts.tolist()}."
    return different(("row of the result", "yours", "expected"), lambda i: (i,), got, expected, caption, who)


PART = Part(
    id="4b",
    entry="interleave_shards",
    title="Un-interleave the gather",
    points=15,
    minutes=19,
    cases=again(_shard_cases),
    rows=_shard_rows,
    question="In which shard, and in which of its rows, is position p of a request?",
    hints=(
        "Go from the result back: for each token that you want, say in which shard and in which row it is. The rows that "
        "hold no token are then never asked for.",
        "Within its request, position p is in shard p % D, in row p // D - start // D. The request's own rows begin where "
        "those of the requests before it end, and a request takes ceil((len + start % D) / D) of them, or none.",
        "Loop over the requests with `first`, the row at which this one begins. With p = torch.arange(start, start + n), "
        "index shards with two tensors, p % D and the rows; then add the request's count of rows to `first` if n is not 0.",
    ),
    prediction=Prediction(
        question="D = 4. A piece of one request has 6 tokens, the first at position 11. How many rows has a shard?",
        answer="3",
        because=(
            "Positions 11 to 16 lie in three turns of the ranks: 8..11, 12..15 and 16..19. So 12 rows travel for 6 tokens. "
            "Six tokens from position 8 on would take two turns."
        ),
        choices=("2", "3", "5", "6"),
    ),
    picture=Shows("token", {"shards": "token"}),
)
