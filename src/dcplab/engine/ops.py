"""The operations of the server, once: the real kernels where the tensors are on a GPU, torch where they are on a CPU.

Same names, same arguments, same results (index work exactly, float work within the kernels' tolerance). On the CPU what moves
or maps indices is `dcp_kernels.reference`; the three float operations are written here in float32, whole batches at once,
because the reference is one query at a time in float64. Locs, rows and positions as in each kernel's own docstring.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from dcplab.engine import index_spaces

MINUS_INF = float("-inf")
LOG2_E = 1.4426950408889634

# Where the kernels live: operation -> module of dcp_kernels.
HOMES = {
    "write_ckv": "ckv_write",
    "write_index_k": "index_k",
    "read_index_k": "index_k",
    "topk_to_paged": "topk_transform",
    "topk_to_ragged": "topk_transform",
    "localize_topk": "topk_transform",
    "merge_lse": "lse_merge",
    "assemble_ragged": "ragged",
    "gather_rows": "rows",
    "scatter_rows": "rows",
    "indexer_logits_paged": "tl_indexer",
    "indexer_logits_ragged": "tl_indexer",
    "topk_select": "tl_topk",
    "sparse_mla_decode": "tl_sparse_decode",
    "sparse_mla_extend": "tl_sparse_extend",
}
_NAMES = {"write_ckv": "write_ckv_norope"}  # where the kernel is called otherwise than the operation


@functools.cache
def kernel(name: str) -> Callable[..., Any]:
    """Return the GPU kernel's Python entry. Imported on first use: TileLang takes seconds, and the CPU has no need of it."""
    return getattr(importlib.import_module(f"dcp_kernels.{HOMES[name]}"), _NAMES.get(name, name))


@functools.cache
def _reference(name: str) -> Callable[..., Any]:
    return getattr(importlib.import_module("dcp_kernels.reference"), _NAMES.get(name, name))


_interpreting = False


@contextlib.contextmanager
def kernels_on_cpu() -> Iterator[None]:
    """Let a CPU run the real kernels too, in here: Triton's interpreted (the process must have started with
    ``TRITON_INTERPRET=1``), TileLang's through its C target. Slow, and for what these can compute: float32 c-KV, 16 heads,
    pages of 64."""
    global _interpreting
    before, _interpreting = _interpreting, True
    try:
        yield
    finally:
        _interpreting = before


_given: dict[str, Callable[..., Any]] = {}


@contextlib.contextmanager
def using(**functions: Callable[..., Any]) -> Iterator[None]:
    """Let these do the operations of their names, in here, in place of the course's: those of `learner_ops.py`. They take and
    give what the functions of this module of the same names do."""
    global _given
    before, _given = _given, {**_given, **functions}
    try:
        yield
    finally:
        _given = before


def _pick(name: str, at: Tensor) -> Callable[..., Any]:
    if name in _given:
        return _given[name]
    if at.device.type == "cuda" or _interpreting:
        return kernel(name)
    return _CPU.get(name) or _reference(name)


def _turns(interleave: int) -> tuple[int, ...]:
    """Return the last argument of an operation that deals locs to ranks. With one a turn it is left out, so that a function
    which knows no other can stand in (`using`)."""
    return () if interleave == 1 else (interleave,)


def write_ckv(kv: Tensor, src: Tensor, locs: Tensor, dcp_rank: int = 0, dcp_size: int = 1, interleave: int = 1) -> None:
    _pick("write_ckv", kv)(kv, src, locs, dcp_rank, dcp_size, *_turns(interleave))


def write_index_k(buf: Tensor, keys: Tensor, scales: Tensor, locs: Tensor, page_size: int) -> None:
    _pick("write_index_k", buf)(buf, keys, scales, locs, page_size)


def read_index_k(buf: Tensor, locs: Tensor, page_size: int) -> tuple[Tensor, Tensor]:
    return _pick("read_index_k", buf)(buf, locs, page_size)


def indexer_logits_paged(
    q: Tensor, weights: Tensor, buf: Tensor, page_table: Tensor, seq_lens: Tensor, page_size: int
) -> Tensor:
    q = q.half() if _interpreting else q  # the C target knows no fp8, and half holds every e4m3 value
    return _pick("indexer_logits_paged", buf)(q, weights, buf, page_table, seq_lens, page_size)


def indexer_logits_ragged(q: Tensor, weights: Tensor, keys: Tensor, scales: Tensor, ks: Tensor, ke: Tensor) -> Tensor:
    if _interpreting:
        q, keys = q.half(), keys.half()
    return _pick("indexer_logits_ragged", keys)(q, weights, keys, scales, ks, ke)


def topk_select(logits: Tensor, topk: int, ks: Tensor | None = None, ke: Tensor | None = None) -> Tensor:
    return _pick("topk_select", logits)(logits, topk, ks, ke)


def topk_to_paged(topk_pos: Tensor, req_of_token: Tensor, req_to_token: Tensor) -> Tensor:
    return _pick("topk_to_paged", topk_pos)(topk_pos, req_of_token, req_to_token)


def topk_to_ragged(topk_pos: Tensor, req_of_token: Tensor, cu_seqlens_k: Tensor) -> Tensor:
    return _pick("topk_to_ragged", topk_pos)(topk_pos, req_of_token, cu_seqlens_k)


def localize_topk(topk_locs: Tensor, dcp_rank: int, dcp_size: int, interleave: int = 1) -> tuple[Tensor, Tensor]:
    return _pick("localize_topk", topk_locs)(topk_locs, dcp_rank, dcp_size, *_turns(interleave))


def merge_lse(outs: Tensor, lses: Tensor) -> tuple[Tensor, Tensor]:
    out, lse = _pick("merge_lse", outs)(outs, lses)
    return out.float(), lse.float()


def assemble_ragged(
    shards: Tensor,
    extend: Tensor,
    prefix_lens: Tensor,
    starts: Tensor,
    extend_lens: Tensor,
    dcp_size: int,
    total: int,
    interleave: int = 1,
) -> Tensor:
    given = (shards, extend, prefix_lens, starts, extend_lens, dcp_size, total)
    return _pick("assemble_ragged", shards)(*given, *_turns(interleave))


def interleave_shards(
    shards: Tensor, prefix_lens: Tensor, starts: Tensor, dcp_size: int, total: int, interleave: int = 1
) -> Tensor:
    """Put gathered shards ``[D, rows, V]`` into position order ``[total, V]``: a workspace without new tokens."""
    if "interleave_shards" in _given:
        return _given["interleave_shards"](shards, prefix_lens, starts, dcp_size, total, *_turns(interleave))
    nothing = torch.zeros_like(prefix_lens)
    new = shards.new_empty(0, shards.shape[2])
    return assemble_ragged(shards, new, prefix_lens, starts, nothing, dcp_size, total, interleave)


def join_ragged(prefix: Tensor, extend: Tensor, prefix_lens: Tensor, extend_lens: Tensor, total: int) -> Tensor:
    """Join prefixes in position order and new tokens to ``[prefix_0; extend_0; prefix_1; extend_1; ...]``: one rank's
    shards."""
    if "join_ragged" in _given:
        return _given["join_ragged"](prefix, extend, prefix_lens, extend_lens, total)
    return assemble_ragged(prefix[None], extend, prefix_lens, torch.zeros_like(prefix_lens), extend_lens, 1, total)


def localize(locs: Tensor, dcp_rank: int, dcp_size: int, interleave: int = 1) -> Tensor:
    """Map locs of any shape to this rank's rows, or to -1, each in its place: what a reader needs that keeps the order."""
    return _given.get("localize", index_spaces.localize)(locs, dcp_rank, dcp_size, *_turns(interleave))


def gather_rows(pool: Tensor, rows: Tensor) -> Tensor:
    return _pick("gather_rows", pool)(pool, rows)


def scatter_rows(pool: Tensor, saved: Tensor, rows: Tensor) -> None:
    _pick("scatter_rows", pool)(pool, saved, rows)


def attend_rows(q: Tensor, kv: Tensor, indices: Tensor, counts: Tensor | None, sm_scale: float) -> tuple[Tensor, Tensor]:
    """Decode and verify: few queries, rows of this rank's pool."""
    return _pick("sparse_mla_decode", kv)(q, kv, indices, counts, sm_scale)


def attend_ragged(q: Tensor, kv: Tensor, indices: Tensor, counts: Tensor | None, sm_scale: float) -> tuple[Tensor, Tensor]:
    """Attend in an extend step: many queries, ragged indices of the workspace."""
    return _pick("sparse_mla_extend", kv)(q, kv, indices, counts, sm_scale)


# The CPU's float operations: float32, over whole batches.


def _logits(q: Tensor, weights: Tensor, keys: Tensor, scales: Tensor) -> Tensor:
    """Compute ``[T, K]`` from ``q [T, Hi, 128]``, ``keys [..., K, 128]`` (shared, or one set a query), ``scales [..., K]``."""
    dots = torch.matmul(q.float(), keys.float().transpose(-1, -2)).relu_()  # [T, Hi, K]
    return (weights.float()[..., None] * dots).sum(-2) * scales


def _indexer_logits_paged(
    q: Tensor, weights: Tensor, buf: Tensor, page_table: Tensor, seq_lens: Tensor, page_size: int
) -> Tensor:
    tokens, pages = page_table.shape
    position = torch.arange(pages * page_size)
    locs = page_table.to(torch.int64)[:, position // page_size] * page_size + position % page_size
    inside = (position < seq_lens[:, None]) & (page_table >= 0)[:, position // page_size]
    keys, scales = _reference("read_index_k")(buf, torch.where(inside, locs, -1).view(-1), page_size)
    logits = _logits(q, weights, keys.view(tokens, -1, 128), scales.view(tokens, -1))
    return torch.where(inside, logits, MINUS_INF)


def _indexer_logits_ragged(q: Tensor, weights: Tensor, keys: Tensor, scales: Tensor, ks: Tensor, ke: Tensor) -> Tensor:
    column = torch.arange(keys.shape[0])
    inside = (column >= ks[:, None]) & (column < ke[:, None])
    return torch.where(inside, _logits(q, weights, keys, scales), MINUS_INF)


def _topk_select(logits: Tensor, topk: int, ks: Tensor | None = None, ke: Tensor | None = None) -> Tensor:
    column = torch.arange(logits.shape[1])
    valid = logits > MINUS_INF
    if ks is not None:
        valid &= column >= ks[:, None]
    if ke is not None:
        valid &= column < ke[:, None]
    key = torch.where(valid, logits, MINUS_INF)
    if logits.shape[1] > topk:
        best = torch.sort(key, dim=1, descending=True, stable=True).indices[:, :topk]
    else:
        best = column.expand(logits.shape)
    chosen = torch.where(valid.gather(1, best), best, logits.shape[1])
    chosen = chosen.sort(dim=1).values
    out = torch.full((logits.shape[0], topk), -1, dtype=torch.int32)
    out[:, : chosen.shape[1]] = torch.where(chosen < logits.shape[1], chosen, -1)
    return out


def _sparse_mla(q: Tensor, kv: Tensor, indices: Tensor, counts: Tensor | None, sm_scale: float) -> tuple[Tensor, Tensor]:
    k = indices.shape[1]
    valid = (indices >= 0) & (indices < kv.shape[0])
    if counts is not None:
        valid &= torch.arange(k) < counts[:, None]
        longest = int(counts.max()) if len(counts) else 0
        indices, valid = indices[:, :longest], valid[:, :longest]  # a compacted list costs what it holds
    width = kv.shape[1]
    picked = kv[torch.where(valid, indices, 0).to(torch.int64)]  # [T, k, width]
    picked = picked.masked_fill_(~valid[..., None], 0.0).float()  # what a masked entry holds may be NaN
    scores = torch.einsum("thd,tkd->thk", q.float(), picked) * sm_scale
    scores = torch.where(valid[:, None, :], scores, MINUS_INF)
    lse = torch.logsumexp(scores, -1) if scores.shape[-1] else torch.full(scores.shape[:2], MINUS_INF)
    weight = torch.exp(scores - torch.where(lse == MINUS_INF, 0.0, lse)[..., None])
    out = torch.einsum("thk,tkd->thd", weight, picked)
    return out[..., : min(width, 512)], lse * LOG2_E


_CPU: dict[str, Callable[..., Any]] = {
    "indexer_logits_paged": _indexer_logits_paged,
    "indexer_logits_ragged": _indexer_logits_ragged,
    "topk_select": _topk_select,
    "sparse_mla_decode": _sparse_mla,
    "sparse_mla_extend": _sparse_mla,
}
