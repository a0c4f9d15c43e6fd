"""Sparse MLA attention of an extend step: every new token over the ragged workspace of its request (TileLang)."""

from torch import Tensor

from dcp_kernels import tl_sparse


def sparse_mla_extend(
    q: Tensor,
    kv: Tensor,
    indices: Tensor,
    counts: Tensor | None,
    sm_scale: float,
    d_v: int = 512,
    *,
    out: Tensor | None = None,
    lse: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute the attention of each new token to its ragged indices: ``(out [S, H, 512], lse [S, H] fp32, base 2)``.

    ``q [S, H, 512 + R]``, ``kv [K, 512 + R]`` the ragged workspace ``[prefix_i; extend_i]`` of all requests, ``indices
    [S, topk]`` int32 ragged indices into it, ``counts [S]`` int32 or None: how many leading entries of a line count. R is 0 or
    64, H is 16 to 128 and a multiple of 16; bf16 (GPU), fp16 or fp32 (CPU), contiguous. An entry of -1, or not below K, is
    masked and nothing is read for it; with ``DCP_KERNELS_DEBUG=1`` an index past the end is a ``ValueError``. A token with
    nothing left gets ``(0, -inf)``. ``sm_scale`` is the softmax scale of the unabsorbed head (a positive float).
    ``out`` and ``lse`` may be given. Contract: DeepSeek V3.2's absorbed MLA; the oracle is ``reference.sparse_mla_extend``.
    """
    counts, out, lse = tl_sparse.prepare(q, kv, indices, counts, sm_scale, d_v, out, lse)
    if len(q):  # a GPU launches no empty grid
        run = tl_sparse.attention_kernel(q, kv, out.dtype)
        run(q, kv, indices, counts, out.unsqueeze(1), lse.unsqueeze(1), float(sm_scale))
    return out, lse
