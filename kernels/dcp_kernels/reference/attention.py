"""Oracles of the float work: indexer logits, top-k, sparse attention, and the merge of ranks. Float64 throughout.

Everywhere here an LSE is in base 2: ``log2(sum(exp(score)))`` with ``score = sm_scale * q.k``.
"""

import math

import torch
from torch import Tensor

from dcp_kernels.reference.cache import read_index_k

LOG2_E = math.log2(math.e)
MINUS_INF = float("-inf")


def _indexer_scores(q: Tensor, weights: Tensor, keys: Tensor, scales: Tensor) -> Tensor:
    """Return ``scale[k] * sum_h weights[h] * relu(q[h] . keys[k])`` for one query, float64 ``[K]``."""
    dots = q.to(torch.float32).double() @ keys.to(torch.float32).double().T
    return (weights.double()[:, None] * dots.relu()).sum(0) * scales.double()


def indexer_logits_paged(
    q: Tensor, weights: Tensor, buf: Tensor, page_table: Tensor, seq_lens: Tensor, page_size: int = 64
) -> Tensor:
    """Return the logits of every position of each query's request, keys read from index-K pages.

    ``q [T, Hi, 128]``, ``weights [T, Hi]`` fp32, ``buf uint8 [pages, page_size * 132]``, ``page_table [T, npages]``
    index-K page ids in position order (entries past the last needed page are never read), ``seq_lens [T]``.
    Result ``[T, npages * page_size]`` by position, -inf at and beyond ``seq_len``.
    """
    out = torch.full((q.shape[0], page_table.shape[1] * page_size), MINUS_INF, dtype=torch.float64, device=q.device)
    for t, n in enumerate(seq_lens.tolist()):
        position = torch.arange(n, device=q.device)
        locs = page_table[t].to(torch.int64)[position // page_size] * page_size + position % page_size
        out[t, :n] = _indexer_scores(q[t], weights[t], *read_index_k(buf, locs, page_size))
    return out


def indexer_logits_ragged(q: Tensor, weights: Tensor, keys: Tensor, scales: Tensor, ks: Tensor, ke: Tensor) -> Tensor:
    """Return the logits ``[T, K]`` over ragged keys ``[K, 128]`` with ``scales [K]``; -inf outside ``[ks[t], ke[t])``."""
    out = torch.full((q.shape[0], keys.shape[0]), MINUS_INF, dtype=torch.float64, device=q.device)
    for t, (lo, hi) in enumerate(zip(ks.tolist(), ke.tolist(), strict=True)):
        if lo < hi:
            out[t, lo:hi] = _indexer_scores(q[t], weights[t], keys[lo:hi], scales[lo:hi])
    return out


def topk_select(logits: Tensor, topk: int, ks: Tensor | None = None, ke: Tensor | None = None) -> Tensor:
    """Choose the columns of each row's ``topk`` largest logits: int32 ``[T, topk]``, in ASCENDING COLUMN order, -1 after.

    A column counts if it lies in ``[ks[t], ke[t])`` (whole row where None) and its logit is neither -inf nor NaN.
    Among equal logits (-0.0 equals 0.0) the lower column wins, so every rank that sees the same logits picks the same set.
    """
    columns = torch.arange(logits.shape[1], device=logits.device)
    valid = (logits > MINUS_INF).clone()  # False for NaN
    if ks is not None:
        valid &= columns >= ks.to(torch.int64)[:, None]
    if ke is not None:
        valid &= columns < ke.to(torch.int64)[:, None]
    key = torch.where(valid, logits, MINUS_INF)
    best = torch.sort(key, dim=1, descending=True, stable=True).indices[:, :topk]
    chosen = torch.zeros_like(valid).scatter_(1, best, True) & valid
    out = torch.full((logits.shape[0], topk), -1, dtype=torch.int32, device=logits.device)
    for t in range(logits.shape[0]):
        found = chosen[t].nonzero()[:, 0]
        out[t, : found.numel()] = found.to(torch.int32)
    return out


def sparse_mla_decode(
    q: Tensor, kv: Tensor, indices: Tensor, counts: Tensor | None, sm_scale: float, d_v: int = 512
) -> tuple[Tensor, Tensor]:
    """Compute the attention of each query to the rows it selected: ``(out [T, H, d_v], lse [T, H])``.

    ``q [T, H, d_v + R]``, ``kv [rows, d_v + R]`` (the values are its first ``d_v`` columns), ``indices [T, topk]`` rows.
    An entry is ignored if it is -1, not below ``rows``, or at or after ``counts[t]``. None left gives ``(0, -inf)``.
    """
    tokens, heads, _ = q.shape
    out = torch.zeros(tokens, heads, d_v, dtype=torch.float64, device=q.device)
    lse = torch.full((tokens, heads), MINUS_INF, dtype=torch.float64, device=q.device)
    for t in range(tokens):
        picked = indices[t] if counts is None else indices[t, : int(counts[t])]
        picked = picked[(picked >= 0) & (picked < kv.shape[0])].to(torch.int64)
        if picked.numel():
            k = kv[picked].to(torch.float32).double()
            scores = q[t].to(torch.float32).double() @ k.T * sm_scale
            out[t] = scores.softmax(-1) @ k[:, :d_v]
            lse[t] = scores.logsumexp(-1) * LOG2_E
    return out, lse


def sparse_mla_extend(
    q: Tensor, kv: Tensor, indices: Tensor, counts: Tensor | None, sm_scale: float, d_v: int = 512
) -> tuple[Tensor, Tensor]:
    """Compute ``sparse_mla_decode`` over a ragged workspace ``kv [K, d_v + R]``: ``indices [T, topk]`` are ragged indices."""
    return sparse_mla_decode(q, kv, indices, counts, sm_scale, d_v)


def merge_lse(outs: Tensor, lses: Tensor) -> tuple[Tensor, Tensor]:
    """Merge D ranks' attention, ``outs [D, T, H, V]`` and ``lses [D, T, H]`` (base 2), to ``(out [T, H, V], lse [T, H])``.

    A rank with LSE -inf or +inf saw no key: it weighs zero whatever its output holds, NaN too. All empty gives ``(0, -inf)``.
    """
    lses = torch.where(lses == -MINUS_INF, MINUS_INF, lses.double())
    empty = lses == MINUS_INF
    top = lses.amax(0)
    top = torch.where(top == MINUS_INF, 0.0, top)
    weight = torch.where(empty, 0.0, torch.exp2(lses - top))
    total = weight.sum(0)
    parts = torch.where(empty[..., None], 0.0, outs.double()) * weight[..., None]
    out = parts.sum(0) / torch.where(total == 0, 1.0, total)[..., None]
    return out, top + torch.log2(total)
