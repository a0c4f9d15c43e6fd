"""Sparse MLA attention in TileLang: one contract, two kernels, and the combine of splits.

Both kernels compute, for query ``t`` and split ``s``, attention over the rows that ``indices[t]`` names in that split's
share of key blocks, and write its output and base-2 LSE to slot ``(t, s)``:

    q        [T, H, 512 + R]   the query, absorbed: 512 latent columns, then R rope columns (R is 0 or 64)
    kv       [rows, 512 + R]   c-KV rows; the values are the first 512 columns
    indices  [T, topk] int32   rows of ``kv``; an entry that is negative or not below ``rows`` is masked and never read
    counts   [T] int32         only the first ``counts[t]`` entries are looked at, so a compacted list costs what it holds
    out      [T, S, H, 512]    ``(0, -inf)`` where nothing is left
    lse      [T, S, H] fp32    base 2

Row addresses are int64: row 4,194,304 x 512 is past 2^31 elements.

``tile`` is written in tiles and runs on any target, the CPU included. ``specialized`` is for sm_90a and the same mathematics
with four warpgroups that hand a block of 64 keys to each other through mbarriers:

    producer  ->  scores  ->  left, right
    copies        S = Q K^T    O[:, :256] += P V[:, :256]
    rows          softmax      O[:, 256:] += P V[:, 256:]

The scores of block i+1 are computed while the two value warpgroups work on block i. A value warpgroup gives its half of the
block back as soon as it is done with it, and P lies in the block's own rope columns, which nobody reads after the scores.
"""

from typing import Any

import tilelang.language as T
import torch
from torch import Tensor

from dcp_kernels import tl_runtime

LATENT = 512  # columns of a c-KV row that are also its value
BLOCK = 64  # keys a step
LOG2_E = 1.4426950408889634
FLOOR = -(2.0**30)  # below every score; a finite start keeps (-inf) - (-inf) out of the rescaling


def tile(
    *,
    heads: int,
    rope: int,
    block_h: int = 16,
    block: int = BLOCK,
    threads: int = 128,
    stages: int = 0,
    dtype: str = "float32",
    out_dtype: str | None = None,
) -> Any:
    """Build the tile-level kernel: one block of ``block_h`` heads a program. ``heads`` must be a multiple of ``block_h``."""
    width = LATENT + rope
    tokens, rows, topk, splits = T.dynamic("tokens"), T.dynamic("rows"), T.dynamic("topk"), T.dynamic("splits")
    acc = "float32"

    @T.prim_func
    def sparse_mla_tile(
        q: T.Tensor((tokens, heads, width), dtype),
        kv: T.Tensor((rows, width), dtype),
        indices: T.Tensor((tokens, topk), "int32"),
        counts: T.Tensor((tokens,), "int32"),
        out: T.Tensor((tokens, splits, heads, LATENT), out_dtype or dtype),
        lse: T.Tensor((tokens, splits, heads), acc),
        scale: T.float32,
    ):
        with T.Kernel(heads // block_h, splits, tokens, threads=threads) as (bh, bs, bt):
            q_s = T.alloc_shared((block_h, width), dtype)
            k_s = T.alloc_shared((block, width), dtype)
            p_s = T.alloc_shared((block_h, block), dtype)
            o = T.alloc_fragment((block_h, LATENT), acc)
            s = T.alloc_fragment((block_h, block), acc)
            m = T.alloc_fragment((block_h,), acc)
            m_old = T.alloc_fragment((block_h,), acc)
            alpha = T.alloc_fragment((block_h,), acc)
            total = T.alloc_fragment((block_h,), acc)
            part = T.alloc_fragment((block_h,), acc)
            row = T.alloc_shared((block,), "int32")

            count = T.max(T.min(counts[bt], topk), 0)
            share = T.ceildiv(T.ceildiv(count, block), splits)  # blocks of a split
            first = bs * share
            last = T.min(first + share, T.ceildiv(count, block))

            T.fill(o, 0)
            T.fill(total, 0)
            T.fill(m, FLOOR)
            T.copy(q[bt, bh * block_h : (bh + 1) * block_h, 0:width], q_s)
            for i in T.Pipelined(T.max(last - first, 0), num_stages=stages):
                for j in T.Parallel(block):
                    at = (first + i) * block + j
                    # Never read past the list, and turn whatever is no row into -1: one test from here on.
                    r = T.if_then_else(at < count, indices[bt, T.min(at, topk - 1)], -1)
                    row[j] = T.if_then_else(r < T.cast(rows, "int32"), T.max(r, -1), -1)
                for j, d in T.Parallel(block, width):
                    # Zeros, not row 0: its contents may be NaN, and 0 * NaN is NaN.
                    k_s[j, d] = T.if_then_else(row[j] >= 0, kv[T.cast(T.max(row[j], 0), "int64"), d], T.cast(0, dtype))
                for h, j in T.Parallel(block_h, block):
                    s[h, j] = T.if_then_else(row[j] >= 0, 0, -T.infinity(acc))
                T.gemm(q_s, k_s, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(m, m_old)
                T.reduce_max(s, m, dim=1, clear=False)
                for h in T.Parallel(block_h):
                    alpha[h] = T.exp2((m_old[h] - m[h]) * (scale * LOG2_E))
                for h, j in T.Parallel(block_h, block):
                    s[h, j] = T.exp2((s[h, j] - m[h]) * (scale * LOG2_E))
                T.reduce_sum(s, part, dim=1)
                for h in T.Parallel(block_h):
                    total[h] = total[h] * alpha[h] + part[h]
                for h, d in T.Parallel(block_h, LATENT):
                    o[h, d] *= alpha[h]
                T.copy(s, p_s)
                T.gemm(p_s, k_s[:, 0:LATENT], o, policy=T.GemmWarpPolicy.FullRow)
            for h, d in T.Parallel(block_h, LATENT):
                o[h, d] = T.if_then_else(total[h] == 0, 0, o[h, d] / total[h])
            for h in T.Parallel(block_h):
                m[h] = T.if_then_else(total[h] == 0, -T.infinity(acc), T.log2(total[h]) + m[h] * (scale * LOG2_E))
            T.copy(o, out[bt, bs, bh * block_h : (bh + 1) * block_h, 0:LATENT])
            T.copy(m, lse[bt, bs, bh * block_h : (bh + 1) * block_h])

    return sparse_mla_tile


def specialized(*, heads: int, rope: int, dtype: str = "bfloat16", out_dtype: str | None = None) -> Any:
    """Build the sm_90a kernel: 64 heads a program (missing ones zero, not stored), four warpgroups, two blocks in flight."""
    width, half = LATENT + rope, LATENT // 2
    tokens, rows, topk, splits = T.dynamic("tokens"), T.dynamic("rows"), T.dynamic("topk"), T.dynamic("splits")
    acc = "float32"
    out_dtype = out_dtype or dtype
    tail = 64  # columns behind the latent: rope keys first, then P

    @T.prim_func
    def sparse_mla_specialized(
        q: T.Tensor((tokens, heads, width), dtype),
        kv: T.Tensor((rows, width), dtype),
        indices: T.Tensor((tokens, topk), "int32"),
        counts: T.Tensor((tokens,), "int32"),
        out: T.Tensor((tokens, splits, heads, LATENT), out_dtype),
        lse: T.Tensor((tokens, splits, heads), acc),
        scale: T.float32,
    ):
        with T.Kernel(T.ceildiv(heads, 64), splits, tokens, threads=512) as (bh, bs, bt):
            q_s = T.alloc_shared((64, width), dtype)
            k_s = T.alloc_shared((2, BLOCK, LATENT + tail), dtype)
            valid = T.alloc_shared((2, BLOCK), "float32", scope="shared")
            alpha_s = T.alloc_shared((2, 64), acc, scope="shared")
            total_s = T.alloc_shared((64,), acc, scope="shared")
            s = T.alloc_fragment((64, BLOCK), acc)
            m = T.alloc_fragment((64,), acc)
            m_old = T.alloc_fragment((64,), acc)
            alpha = T.alloc_fragment((64,), acc)
            total = T.alloc_fragment((64,), acc)
            part = T.alloc_fragment((64,), acc)
            o_0 = T.alloc_fragment((64, half // 2), acc)
            o_1 = T.alloc_fragment((64, half // 2), acc)
            o_2 = T.alloc_fragment((64, half // 2), acc)
            o_3 = T.alloc_fragment((64, half // 2), acc)
            index = T.alloc_local((4,), "int32")
            r = T.alloc_var("int32")
            at = T.alloc_var("int32")

            left_ready = T.alloc_barrier(arrive_count=[128] * 2)
            right_ready = T.alloc_barrier(arrive_count=[128 + 16] * 2)  # and whoever wrote ``valid``
            p_ready = T.alloc_barrier(arrive_count=[128] * 2)
            left_free = T.alloc_barrier(arrive_count=[128] * 2)
            right_free = T.alloc_barrier(arrive_count=[128] * 2)
            total_ready = T.alloc_barrier(arrive_count=128)
            q_ready = T.alloc_barrier(arrive_count=512)

            tx = T.get_thread_binding()
            count = T.max(T.min(counts[bt], topk), 0)
            blocks = T.ceildiv(count, BLOCK)
            share = T.ceildiv(blocks, splits)
            first = T.alloc_var("int32")
            steps = T.alloc_var("int32")
            first = bs * share
            steps = T.max(T.min(share, blocks - first), 0)

            T.tma_copy(q[bt, bh * 64 : (bh + 1) * 64, 0:width], q_s, barrier=q_ready)  # the first rows need not wait for it
            T.barrier_arrive(q_ready)

            if tx < 128:  # scores
                T.set_max_nreg(104, 0)
                T.fill(total, 0)
                T.fill(m, FLOOR)
                T.barrier_wait(q_ready, 0)
                for i in T.serial(steps):
                    T.barrier_wait(left_ready[i % 2], (i // 2) & 1)
                    T.fence_proxy_async()
                    T.wgmma_gemm(q_s[:, 0:half], k_s[i % 2, :, 0:half], s, transpose_B=True, clear_accum=True)
                    T.barrier_wait(right_ready[i % 2], (i // 2) & 1)
                    T.fence_proxy_async()
                    T.wgmma_gemm(q_s[:, half:LATENT], k_s[i % 2, :, half:LATENT], s, transpose_B=True)
                    if rope:
                        T.wgmma_gemm(q_s[:, LATENT:width], k_s[i % 2, :, LATENT:width], s, transpose_B=True)
                    T.wait_wgmma(0)
                    for h, j in T.Parallel(64, BLOCK):
                        s[h, j] = T.if_then_else(valid[i % 2, j] > 0, s[h, j], -T.infinity(acc))
                    T.copy(m, m_old)
                    T.reduce_max(s, m, dim=1, clear=False)
                    for h in T.Parallel(64):
                        alpha[h] = T.exp2((m_old[h] - m[h]) * (scale * LOG2_E))
                    for h, j in T.Parallel(64, BLOCK):
                        s[h, j] = T.exp2(s[h, j] * (scale * LOG2_E) - m[h] * (scale * LOG2_E))
                    T.copy(s, k_s[i % 2, :, LATENT : LATENT + tail])
                    T.copy(alpha, alpha_s[i % 2, :])
                    T.fence_proxy_async()
                    T.barrier_arrive(p_ready[i % 2])
                    T.reduce_sum(s, part, dim=1)
                    for h in T.Parallel(64):
                        total[h] = total[h] * alpha[h] + part[h]
                for h in T.Parallel(64):
                    total_s[h] = T.if_then_else(total[h] == 0, 0, 1.0 / total[h])  # not > 0: a NaN stays one
                T.barrier_arrive(total_ready)
                for h in T.Parallel(64):
                    m[h] = T.if_then_else(total[h] == 0, -T.infinity(acc), T.log2(total[h]) + m[h] * (scale * LOG2_E))
                for h in T.Parallel(64):
                    if bh * 64 + h < heads:
                        lse[bt, bs, bh * 64 + h] = m[h]
            elif tx < 256:  # values, left half
                T.set_max_nreg(168, 1)
                T.fill(o_0, 0)
                T.fill(o_1, 0)
                for i in T.serial(steps):
                    T.barrier_wait(p_ready[i % 2], (i // 2) & 1)
                    T.fence_proxy_async()
                    for h, d in T.Parallel(64, 128):
                        o_0[h, d] *= alpha_s[i % 2, h]
                    for h, d in T.Parallel(64, 128):
                        o_1[h, d] *= alpha_s[i % 2, h]
                    T.wgmma_gemm(k_s[i % 2, :, LATENT : LATENT + tail], k_s[i % 2, :, 0:128], o_0)
                    T.wgmma_gemm(k_s[i % 2, :, LATENT : LATENT + tail], k_s[i % 2, :, 128:256], o_1)
                    T.wait_wgmma(0)
                    T.barrier_arrive(left_free[i % 2])
                T.barrier_wait(total_ready, 0)
                for h, d in T.Parallel(64, 128):
                    o_0[h, d] *= total_s[h]
                for h, d in T.Parallel(64, 128):
                    o_1[h, d] *= total_s[h]
                for h, d in T.Parallel(64, 128):
                    if bh * 64 + h < heads:
                        out[bt, bs, bh * 64 + h, 0 + d] = o_0[h, d]
                for h, d in T.Parallel(64, 128):
                    if bh * 64 + h < heads:
                        out[bt, bs, bh * 64 + h, 128 + d] = o_1[h, d]
            elif tx < 384:  # values, right half
                T.set_max_nreg(168, 1)
                T.fill(o_2, 0)
                T.fill(o_3, 0)
                for i in T.serial(steps):
                    T.barrier_wait(p_ready[i % 2], (i // 2) & 1)
                    T.fence_proxy_async()
                    for h, d in T.Parallel(64, 128):
                        o_2[h, d] *= alpha_s[i % 2, h]
                    for h, d in T.Parallel(64, 128):
                        o_3[h, d] *= alpha_s[i % 2, h]
                    T.wgmma_gemm(k_s[i % 2, :, LATENT : LATENT + tail], k_s[i % 2, :, 256:384], o_2)
                    T.wgmma_gemm(k_s[i % 2, :, LATENT : LATENT + tail], k_s[i % 2, :, 384:512], o_3)
                    T.wait_wgmma(0)
                    T.barrier_arrive(right_free[i % 2])
                T.barrier_wait(total_ready, 0)
                for h, d in T.Parallel(64, 128):
                    o_2[h, d] *= total_s[h]
                for h, d in T.Parallel(64, 128):
                    o_3[h, d] *= total_s[h]
                for h, d in T.Parallel(64, 128):
                    if bh * 64 + h < heads:
                        out[bt, bs, bh * 64 + h, 256 + d] = o_2[h, d]
                for h, d in T.Parallel(64, 128):
                    if bh * 64 + h < heads:
                        out[bt, bs, bh * 64 + h, 384 + d] = o_3[h, d]
            else:  # producer
                T.set_max_nreg(72, 0)
                for k in T.unroll(4):
                    at = first * BLOCK + k * 16 + (tx - 384) // 8
                    r = T.if_then_else(at < count, indices[bt, T.min(at, topk - 1)], -1)
                    index[k] = T.if_then_else(r < T.cast(rows, "int32"), r, -1)
                for i in T.serial(steps):
                    T.barrier_wait(left_free[i % 2], ((i // 2) & 1) ^ 1)
                    for k in T.unroll(4):
                        for u in T.unroll(half // 64):
                            T.ptx_cp_async(
                                T.access_ptr(k_s[i % 2, k * 16 + (tx - 384) // 8, 64 * u + (tx - 384) % 8 * 8], "w", 8),
                                T.access_ptr(kv[T.cast(T.max(index[k], 0), "int64"), 64 * u + (tx - 384) % 8 * 8], "r", 8),
                                8,
                                predicate=index[k] >= 0,
                            )
                    T.cp_async_barrier_noinc(left_ready[i % 2])
                    T.barrier_wait(right_free[i % 2], ((i // 2) & 1) ^ 1)
                    for k in T.unroll(4):
                        for u in T.unroll(half // 64, width // 64):
                            T.ptx_cp_async(
                                T.access_ptr(k_s[i % 2, k * 16 + (tx - 384) // 8, 64 * u + (tx - 384) % 8 * 8], "w", 8),
                                T.access_ptr(kv[T.cast(T.max(index[k], 0), "int64"), 64 * u + (tx - 384) % 8 * 8], "r", 8),
                                8,
                                predicate=index[k] >= 0,
                            )
                        if (tx - 384) % 8 == 0:
                            valid[i % 2, k * 16 + (tx - 384) // 8] = T.if_then_else(index[k] >= 0, 1.0, 0.0)
                    if (tx - 384) % 8 == 0:
                        T.barrier_arrive(right_ready[i % 2])
                    T.cp_async_barrier_noinc(right_ready[i % 2])
                    for k in T.unroll(4):
                        at = (first + i + 1) * BLOCK + k * 16 + (tx - 384) // 8
                        r = T.if_then_else(at < count, indices[bt, T.min(at, topk - 1)], -1)
                        index[k] = T.if_then_else(r < T.cast(rows, "int32"), r, -1)

    return sparse_mla_specialized


specialized.pass_configs = {"tl.enable_fast_math": True}  # type: ignore[attr-defined]  # tl_runtime reads it


def combine(*, heads: int, threads: int = 128, dtype: str = "float32") -> Any:
    """Build the merge: ``parts [T, S, H, 512]`` fp32 and ``lses [T, S, H]`` to ``out [T, H, 512]`` and ``lse [T, H]``.

    A split whose LSE is -inf saw no key and weighs zero, whatever its output holds.
    """
    tokens, splits = T.dynamic("tokens"), T.dynamic("splits")

    @T.prim_func
    def sparse_mla_combine(
        parts: T.Tensor((tokens, splits, heads, LATENT), "float32"),
        lses: T.Tensor((tokens, splits, heads), "float32"),
        out: T.Tensor((tokens, heads, LATENT), dtype),
        lse: T.Tensor((tokens, heads), "float32"),
    ):
        with T.Kernel(heads, tokens, threads=threads) as (bh, bt):
            o = T.alloc_fragment((LATENT,), "float32")
            top = T.alloc_var("float32")
            total = T.alloc_var("float32")
            weight = T.alloc_var("float32")
            T.fill(o, 0)
            top = FLOOR
            total = 0.0
            for i in T.serial(splits):
                top = T.max(top, lses[bt, i, bh])
            for i in T.serial(splits):
                weight = T.exp2(lses[bt, i, bh] - top)
                total = total + weight
                if weight != 0:  # not > 0: a NaN stays one
                    for d in T.Parallel(LATENT):
                        o[d] += weight * parts[bt, i, bh, d]
            for d in T.Parallel(LATENT):
                out[bt, bh, d] = T.if_then_else(total == 0, 0, o[d] / total)
            for _ in T.Parallel(1):
                lse[bt, bh] = T.if_then_else(total == 0, -T.infinity("float32"), T.log2(total) + top)

    return sparse_mla_combine


def prepare(
    q: Tensor,
    kv: Tensor,
    indices: Tensor,
    counts: Tensor | None,
    sm_scale: float,
    d_v: int,
    out: Tensor | None,
    lse: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Check the arguments of a public function and make the tensors it was not given: ``(counts, out, lse)``."""
    tl_runtime.require_runnable(q, kv, indices, counts, out, lse)
    tokens, heads, width = q.shape
    if d_v != LATENT or width not in (LATENT, LATENT + 64) or kv.shape[1:] != (width,):
        raise ValueError(
            f"need 512 or 576 columns in q and kv and d_v 512, got q {tuple(q.shape)}, kv {tuple(kv.shape)}, d_v {d_v}"
        )
    if heads % 16 or not 16 <= heads <= 128:
        raise ValueError(f"need 16 to 128 heads in a multiple of 16, got {heads}")
    if q.dtype != kv.dtype:
        raise TypeError(f"q is {q.dtype}, kv is {kv.dtype}: they must agree")
    if indices.dtype != torch.int32 or indices.ndim != 2 or indices.shape[0] != tokens:
        raise ValueError(f"indices must be int32 [{tokens}, topk], got {indices.dtype} {tuple(indices.shape)}")
    if not sm_scale > 0:
        raise ValueError(f"sm_scale must be positive, got {sm_scale}")
    if not (q.is_contiguous() and kv.is_contiguous() and indices.is_contiguous()):
        raise ValueError("q, kv and indices must be contiguous")
    if kv.shape[0] >= 2**31:
        raise ValueError(f"indices are int32 and cannot name {kv.shape[0]} rows")
    if counts is None:
        counts = torch.full((tokens,), indices.shape[1], dtype=torch.int32, device=q.device)
    if tl_runtime.DEBUG:
        used = torch.arange(indices.shape[1], device=q.device) < counts[:, None]
        tl_runtime.require_below(torch.where(used, indices, -1), kv.shape[0], "indices", "rows")
    if out is None:
        out = torch.empty(tokens, heads, d_v, dtype=q.dtype, device=q.device)
    if lse is None:
        lse = torch.empty(tokens, heads, dtype=torch.float32, device=q.device)
    return counts.to(torch.int32), out, lse


def attention_kernel(q: Tensor, kv: Tensor, out_dtype: torch.dtype) -> Any:
    """Return the compiled kernel for these tensors: ``specialized`` on Hopper in 16 bits, ``tile`` elsewhere."""
    builder = specialized if tl_runtime.is_hopper(q.device) and q.dtype.itemsize == 2 else tile
    dtypes = {"dtype": tl_runtime.dtype_name(q.dtype), "out_dtype": tl_runtime.dtype_name(out_dtype)}
    return tl_runtime.kernel(builder, q.device, heads=q.shape[1], rope=q.shape[2] - LATENT, **dtypes)
