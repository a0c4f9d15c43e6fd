"""Sparse MLA attention of a decode step: few queries, so the keys of one query are split over programs (TileLang)."""

import torch
from torch import Tensor

from dcp_kernels import tl_runtime, tl_sparse

MAX_SPLITS = 32


def split_count(tokens: int, heads: int, topk: int, device: torch.device) -> int:
    """Count the programs that share one query's keys: enough to fill the device, never under one block of keys each."""
    if device.type == "cpu":
        return 2 if topk > tl_sparse.BLOCK else 1
    groups = tokens * -(-heads // 64)
    processors = torch.cuda.get_device_properties(device).multi_processor_count
    blocks = max(1, -(-topk // tl_sparse.BLOCK))
    return max(1, min(processors // groups, blocks, MAX_SPLITS))


def sparse_mla_decode(
    q: Tensor,
    kv: Tensor,
    indices: Tensor,
    counts: Tensor | None,
    sm_scale: float,
    d_v: int = 512,
    *,
    splits: int | None = None,
    out: Tensor | None = None,
    lse: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute the attention of each query to the rows it selected: ``(out [T, H, 512], lse [T, H] fp32, base 2)``.

    ``q [T, H, 512 + R]``, ``kv [rows, 512 + R]`` this rank's c-KV rows, ``indices [T, topk]`` int32 rows, ``counts [T]`` int32
    or None: how many leading entries of a line count, so that a compacted list costs what it holds. R is 0 or 64, H is 16 to
    128 and a multiple of 16; bf16 (GPU), fp16 or fp32 (CPU), contiguous. An entry of -1, or not below ``rows``, is masked and
    nothing is read for it; with ``DCP_KERNELS_DEBUG=1`` an index past the end is a ``ValueError``. A query with nothing left
    gets ``(0, -inf)``, which the merge over ranks takes as weight zero. ``sm_scale`` is a positive float.
    ``splits`` (chosen from the shape where None), ``out`` and ``lse`` may be given.
    Contract: DeepSeek V3.2's absorbed MLA; the oracle is ``reference.sparse_mla_decode``.
    """
    counts, out, lse = tl_sparse.prepare(q, kv, indices, counts, sm_scale, d_v, out, lse)
    tokens, heads, _ = q.shape
    if not tokens:  # a GPU launches no empty grid
        return out, lse
    if splits is None:
        splits = split_count(tokens, heads, indices.shape[1], q.device)
    if splits == 1:
        run = tl_sparse.attention_kernel(q, kv, out.dtype)
        run(q, kv, indices, counts, out.unsqueeze(1), lse.unsqueeze(1), float(sm_scale))
        return out, lse
    parts = torch.empty(tokens, splits, heads, d_v, dtype=torch.float32, device=q.device)
    lses = torch.empty(tokens, splits, heads, dtype=torch.float32, device=q.device)
    tl_sparse.attention_kernel(q, kv, torch.float32)(q, kv, indices, counts, parts, lses, float(sm_scale))
    tl_runtime.kernel(tl_sparse.combine, q.device, heads=heads, dtype=tl_runtime.dtype_name(out.dtype))(parts, lses, out, lse)
    return out, lse
