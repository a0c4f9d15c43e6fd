"""A sharded indexer: each rank scores its own keys, and the ranks agree on what is attended to.

*exact* gathers every rank's top-k with its scores, and chooses of those: a key of the whole top-k is in its own rank's, so
nothing is missed. *union* gathers nothing: each rank attends to its own top-k, up to D times as many keys, and the merge of
LSEs does the rest. Stands for vLLM's ``--dcp-sparse-indexer-mode exact|union``.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from dcplab.engine import ops

LAST = 2**31 - 1  # behind every position


class Candidates(NamedTuple):
    """A rank's own top-k of each token: positions ``[T, topk]`` int32, ascending, -1 behind, and their scores, float32, -inf
    behind."""

    positions: torch.Tensor
    scores: torch.Tensor


def pack(own: Candidates) -> torch.Tensor:
    """Put positions and scores into one tensor ``[2, T, topk]`` int32: one collective instead of two."""
    return torch.stack([own.positions, own.scores.view(torch.int32)])


def join(gathered: torch.Tensor) -> Candidates:
    """Put every rank's candidates ``[D, 2, T, topk]`` side by side, in the order of ranks: ``[T, D * topk]``."""
    side_by_side = gathered.permute(1, 2, 0, 3).reshape(2, gathered.shape[2], -1)
    return Candidates(side_by_side[0], side_by_side[1].contiguous().view(torch.float32))


def in_order(everyone: Candidates) -> Candidates:
    """Sort candidates ``[T, n]`` by position, -1 behind. Ties in score then go to the lower position, as on one rank."""
    behind = torch.where(everyone.positions < 0, LAST, everyone.positions)
    positions, order = behind.sort(dim=1, stable=True)
    return Candidates(torch.where(positions == LAST, -1, positions), everyone.scores.gather(1, order))


def best(everyone: Candidates, topk: int) -> torch.Tensor:
    """Choose the top-k of candidates ``[T, n]``: positions ``[T, topk]`` int32 in the order in which they stand, -1 behind. Of
    equal scores the one that stands first."""
    columns = ops.topk_select(everyone.scores, topk).to(torch.int64)
    return torch.where(columns >= 0, everyone.positions.gather(1, columns.clamp(min=0)), -1)
