"""Sparse attention over paged caches, without any state of its own."""

from __future__ import annotations

import torch

NEG_INF = float("-inf")


def store(cache: torch.Tensor, values: torch.Tensor, slots: torch.Tensor) -> None:
    """Write ``values[t]`` to ``cache[slots[t]]``; negative slots are padding or another rank's."""
    kept = slots >= 0
    cache[slots[kept]] = values[kept]


def index_scores(
    query: torch.Tensor, weights: torch.Tensor, keys: torch.Tensor, scales: torch.Tensor, kv_lens: torch.Tensor
) -> torch.Tensor:
    """Score ``keys [T, K, 128]`` of which the first ``kv_lens [T]`` are the request's: ``[T, K]``, -inf for the others."""
    dots = torch.matmul(query.float(), keys.float().transpose(1, 2)).relu_()
    scores = (weights[..., None] * dots).sum(1) * scales
    return scores.masked_fill_(torch.arange(keys.shape[1]) >= kv_lens[:, None], NEG_INF)


def local_topk(scores: torch.Tensor, topk: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the best scores and their columns, the earlier column first where scores are equal."""
    best = scores.sort(dim=1, descending=True, stable=True)
    return best.values[:, :topk], best.indices[:, :topk]


def merge_topk(scores: torch.Tensor, positions: torch.Tensor, topk: int) -> torch.Tensor:
    """Choose the best of all ranks' candidates ``[T, n]``: positions ``[T, topk]``, -1 where there are fewer."""
    order = positions.sort(dim=1, stable=True).indices
    scores, positions = scores.gather(1, order), positions.gather(1, order)
    best = scores.sort(dim=1, descending=True, stable=True)
    chosen = positions.gather(1, best.indices)[:, :topk]
    return chosen.masked_fill(best.values[:, :topk] == NEG_INF, -1)


def attend(query: torch.Tensor, cache: torch.Tensor, slots: torch.Tensor, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Attend to ``cache[slots[t]]``: output ``[T, H, W]`` and natural-log LSE ``[T, H]``; (0, -inf) where there is no slot."""
    valid = slots >= 0
    kv = cache[slots.clamp(min=0)].float()
    scores = torch.einsum("thd,tkd->thk", query.float(), kv) * scale
    scores = scores.masked_fill(~valid[:, None, :], NEG_INF)
    lse = torch.logsumexp(scores, -1)
    weights = torch.exp(scores - lse.masked_fill(lse == NEG_INF, 0.0)[..., None])
    return torch.einsum("thk,tkd->thd", weights, kv), lse


def merge_states(outs: torch.Tensor, lses: torch.Tensor) -> torch.Tensor:
    """Combine partial attention ``[D, T, H, W]`` by its LSE ``[D, T, H]``. A rank that saw nothing has no weight."""
    top = lses.amax(0)
    weights = torch.exp(lses - top.masked_fill(top == NEG_INF, 0.0))
    total = weights.sum(0).clamp(min=1e-30)
    return (outs * (weights / total)[..., None]).sum(0)
