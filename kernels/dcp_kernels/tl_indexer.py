"""Indexer logits in TileLang: how much each query wants each key, from index-K pages (decode) or ragged keys (extend).

    logits[t, k] = scale[k] * sum over heads h of weights[t, h] * relu(q[t, h] . key[k])

Keys lie along the rows of the product and the heads of one or more queries along its columns, so a thread has all heads of a
key at hand (a quarter of them; four lanes add up) and the sum over heads never leaves the registers.
The ``_specialized`` kernels are for sm_90a: one warpgroup fetches 64 keys a step by TMA into a ring of stages, the others take
the steps in turn, so that one's tensor-core product runs under another's relu and sum. The other two are tile-level and run on
any target.

A stage of the ring must always fall to the same warpgroup. A wait on an mbarrier tells only two neighbouring rounds apart, and
TMA copies may land in another order than they were asked for: a warpgroup that comes to a stage one round early, because the
copy of another one's step is late, would find the parity it waits for, read what the stage held before, and give back a stage
that is not its own. Sooner or later a barrier is then arrived at once too often, which ends the launch. If it is the same
warpgroup that used the stage a round ago, it cannot come early. `tests/kernels/test_tl_ring.py` shows both.
"""

from typing import Any

import tilelang.language as T
import torch
from torch import Tensor

from dcp_kernels import tl_runtime

DIM = 128  # columns of an index-K key
ROW_BYTES = 132  # a key in an index-K page: 128 fp8 values and one fp32 scale, all keys of the page first


def require_whole_turns(stages: int, groups: int) -> None:
    """Refuse a ring in which a stage would go from one warpgroup to another (see the head of this module)."""
    if stages % groups:
        raise ValueError(f"{stages} stages are not shared evenly by {groups} warpgroups; take {stages - stages % groups}")


def paged(
    *,
    heads: int,
    page_size: int = 64,
    width: int | None = None,
    threads: int = 128,
    stages: int = 0,
    dtype: str = "float8_e4m3fn",
) -> Any:
    """Build the kernel of logits by position.

    ``keys [pages, width]`` holds a page's keys in its first ``page_size * 128`` elements.
    """
    tokens, pages, npages, at = T.dynamic("tokens"), T.dynamic("pages"), T.dynamic("npages"), T.dynamic("at")
    width = width or page_size * ROW_BYTES
    acc = "float32"

    @T.prim_func
    def indexer_paged(
        q: T.Tensor((tokens, heads, DIM), dtype),
        weights: T.Tensor((tokens, heads), acc),
        keys: T.Tensor((pages, width), dtype),
        scales: T.Tensor((pages, at), acc),  # the page's scales are its last ``page_size`` columns
        page_table: T.Tensor((tokens, npages), "int32"),
        seq_lens: T.Tensor((tokens,), "int32"),
        logits: T.Tensor((tokens, npages * page_size), acc),
        per_program: T.int32,
    ):
        with T.Kernel(T.ceildiv(npages, per_program), tokens, threads=threads) as (bc, bt):
            q_s = T.alloc_shared((heads, DIM), dtype)
            k_s = T.alloc_shared((page_size, DIM), dtype)
            w = T.alloc_fragment((heads,), acc)
            s = T.alloc_fragment((page_size, heads), acc)
            total = T.alloc_fragment((page_size,), acc)
            first = T.alloc_var("int32")
            end = T.alloc_var("int32")
            live = T.alloc_var("int32")
            first = bc * per_program
            end = T.min(first + per_program, npages)
            live = T.max(T.min(end, T.ceildiv(seq_lens[bt], page_size)), first)  # past the last page with a position in it
            T.copy(q[bt, 0:heads, 0:DIM], q_s)
            T.copy(weights[bt, 0:heads], w)
            for p in T.Pipelined(live - first, num_stages=stages):
                for j, d in T.Parallel(page_size, DIM):
                    # An id that is no page reads page 0 and is masked below.
                    k_s[j, d] = keys[
                        T.if_then_else(
                            page_table[bt, first + p] < T.cast(pages, "int32"), T.max(page_table[bt, first + p], 0), 0
                        ),
                        j * DIM + d,
                    ]
                T.gemm(k_s, q_s, s, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                for j, h in T.Parallel(page_size, heads):
                    s[j, h] = T.max(s[j, h], 0) * w[h]
                T.reduce_sum(s, total, dim=1)
                for j in T.Parallel(page_size):
                    page = page_table[bt, first + p]
                    known = T.And(page >= 0, page < T.cast(pages, "int32"))
                    logits[bt, (first + p) * page_size + j] = T.if_then_else(
                        T.And(known, (first + p) * page_size + j < seq_lens[bt]),
                        total[j] * scales[T.if_then_else(known, page, 0), at - page_size + j],
                        -T.infinity(acc),
                    )
            for p in T.serial(end - live):
                for j in T.Parallel(page_size):
                    logits[bt, (live + p) * page_size + j] = -T.infinity(acc)

    return indexer_paged


def paged_specialized(
    *, heads: int, page_size: int = 64, groups: int = 2, stages: int = 6, dtype: str = "float8_e4m3fn"
) -> Any:
    """Build ``paged`` for sm_90a: one warpgroup fetches 64 keys a step by TMA, ``groups`` take the steps in turn.

    A key and its scale are 132 bytes, 33 / 32 of a key, so a page is a whole number of key-long lines of the buffer:
    ``keys [pages * page_size * 33 / 32, 128]`` is the same memory as ``scales [pages, page_size * 33]``.
    """
    tokens, pages, npages, lines = T.dynamic("tokens"), T.dynamic("pages"), T.dynamic("npages"), T.dynamic("lines")
    acc = "float32"
    block = 64
    per_page = page_size // block
    threads = 128 * (groups + 1)
    if groups not in (1, 2):
        raise ValueError(f"one or two warpgroups compute, not {groups}")
    require_whole_turns(stages, groups)

    @T.macro
    def compute(mine, q_s, k_s, scales, weights, page_table, length, logits, bt, first, steps, ready, free):
        w = T.alloc_fragment((heads,), acc)
        scale = T.alloc_fragment((block,), acc)
        s = T.alloc_fragment((block, heads), acc)
        total = T.alloc_fragment((block,), acc)
        page = T.alloc_var("int32")
        T.copy(weights[bt, 0:heads], w)
        for i in T.serial(T.ceildiv(steps - mine, groups)):
            at = i * groups + mine
            position = (first + at) * block
            page = page_table[bt, position // page_size]
            page = T.if_then_else(page < T.cast(pages, "int32"), page, -1)
            for j in T.Parallel(block):
                scale[j] = scales[T.max(page, 0), page_size * (DIM // 4) + position % page_size + j]
            T.barrier_wait(ready[at % stages], (at // stages) & 1)
            T.wgmma_gemm(k_s[at % stages, :, :], q_s, s, transpose_B=True, clear_accum=True)
            T.wait_wgmma(0)
            T.barrier_arrive(free[at % stages])
            over_heads = T.alloc_reducer((block,), acc, op="sum")
            T.reducer_init(over_heads)
            for j, h in T.Parallel(block, heads):
                T.reducer_update(over_heads[j], T.max(s[j, h], 0) * w[h])
            T.finalize_reducer(over_heads, total)
            for j in T.Parallel(block):
                logits[bt, position + j] = T.if_then_else(
                    T.And(page >= 0, position + j < length), total[j] * scale[j], -T.infinity(acc)
                )

    @T.prim_func
    def indexer_paged_specialized(
        q: T.Tensor((tokens * heads, DIM), dtype),
        weights: T.Tensor((tokens, heads), acc),
        keys: T.Tensor((lines, DIM), dtype),
        scales: T.Tensor((pages, page_size * ROW_BYTES // 4), acc),
        page_table: T.Tensor((tokens, npages), "int32"),
        seq_lens: T.Tensor((tokens,), "int32"),
        logits: T.Tensor((tokens, npages * page_size), acc),
        per_program: T.int32,  # steps of 64 positions
    ):
        with T.Kernel(T.ceildiv(npages * per_page, per_program), tokens, threads=threads) as (bc, bt):
            q_s = T.alloc_shared((heads, DIM), dtype)
            k_s = T.alloc_shared((stages, block, DIM), dtype)
            ready = T.alloc_barrier(arrive_count=[128] * stages)
            free = T.alloc_barrier(arrive_count=[128] * stages)
            q_ready = T.alloc_barrier(arrive_count=threads)
            first = T.alloc_var("int32")
            end = T.alloc_var("int32")
            steps = T.alloc_var("int32")
            length = T.alloc_var("int32")
            page = T.alloc_var("int32")
            tx = T.get_thread_binding()
            length = seq_lens[bt]
            first = bc * per_program
            end = T.min(first + per_program, npages * per_page)
            steps = T.max(T.min(end, T.ceildiv(length, block)) - first, 0)

            T.tma_copy(q[bt * heads : (bt + 1) * heads, 0:DIM], q_s, barrier=q_ready)
            T.barrier_arrive(q_ready)
            T.barrier_wait(q_ready, 0)
            if tx < 128:
                for at in T.serial(steps):
                    page = page_table[bt, (first + at) * block // page_size]
                    page = T.if_then_else(page < T.cast(pages, "int32"), T.max(page, 0), 0)  # masked by the others
                    line = page * (page_size * ROW_BYTES // DIM) + (first + at) * block % page_size
                    T.barrier_wait(free[at % stages], ((at // stages) & 1) ^ 1)
                    T.tma_copy(keys[line : line + block, 0:DIM], k_s[at % stages, :, :], barrier=ready[at % stages])
                    T.barrier_arrive(ready[at % stages])
                for i in T.serial(T.ceildiv((end - first - steps) * block, 128)):
                    if (first + steps) * block + i * 128 + tx < end * block:
                        logits[bt, (first + steps) * block + i * 128 + tx] = -T.infinity(acc)
            elif tx < 256:
                compute(0, q_s, k_s, scales, weights, page_table, length, logits, bt, first, steps, ready, free)
            else:
                if groups == 2:
                    compute(1, q_s, k_s, scales, weights, page_table, length, logits, bt, first, steps, ready, free)

    return indexer_paged_specialized


paged_specialized.pass_configs = {"tl.enable_fast_math": True}  # type: ignore[attr-defined]  # tl_runtime reads it


def ragged(*, heads: int, block: int = 64, threads: int = 128, stages: int = 2, dtype: str = "bfloat16") -> Any:
    """Build the kernel of logits by ragged index, one query a program, tile-level."""
    tokens, total_keys = T.dynamic("tokens"), T.dynamic("total_keys")
    acc = "float32"

    @T.prim_func
    def indexer_ragged(
        q: T.Tensor((tokens, heads, DIM), dtype),
        weights: T.Tensor((tokens, heads), acc),
        keys: T.Tensor((total_keys, DIM), dtype),
        scales: T.Tensor((total_keys,), acc),
        ks: T.Tensor((tokens,), "int32"),
        ke: T.Tensor((tokens,), "int32"),
        logits: T.Tensor((tokens, total_keys), acc),
    ):
        with T.Kernel(tokens, threads=threads) as bt:
            q_s = T.alloc_shared((heads, DIM), dtype)
            k_s = T.alloc_shared((block, DIM), dtype)
            w = T.alloc_fragment((heads,), acc)
            s = T.alloc_fragment((block, heads), acc)
            total = T.alloc_fragment((block,), acc)
            lo = T.alloc_var("int32")
            hi = T.alloc_var("int32")
            lo = T.max(ks[bt], 0)
            hi = T.min(ke[bt], total_keys)
            T.copy(q[bt, 0:heads, 0:DIM], q_s)
            T.copy(weights[bt, 0:heads], w)
            for i in T.Pipelined(T.ceildiv(T.max(hi - lo, 0), block), num_stages=stages):
                T.copy(keys[lo + i * block : lo + (i + 1) * block, 0:DIM], k_s)
                T.gemm(k_s, q_s, s, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
                for j, h in T.Parallel(block, heads):
                    s[j, h] = T.max(s[j, h], 0) * w[h]
                T.reduce_sum(s, total, dim=1)
                for j in T.Parallel(block):
                    if lo + i * block + j < hi:
                        logits[bt, lo + i * block + j] = total[j] * scales[lo + i * block + j]
            for i in T.serial(T.ceildiv(total_keys, threads)):
                for j in T.Parallel(threads):
                    k = i * threads + j
                    if T.And(k < total_keys, T.Or(k < lo, k >= hi)):
                        logits[bt, k] = -T.infinity(acc)

    return indexer_ragged


def ragged_specialized(
    *, heads: int, block_q: int = 2, groups: int = 3, stages: int = 9, regs: int = 152, dtype: str = "float8_e4m3fn"
) -> Any:
    """Build ``ragged`` for sm_90a: ``block_q`` queries a program, ``groups`` warpgroups compute, one fetches."""
    tokens, total_keys = T.dynamic("tokens"), T.dynamic("total_keys")
    acc = "float32"
    columns = block_q * heads
    block = 64
    threads = 128 * (groups + 1)
    if groups not in (2, 3):
        raise ValueError(f"two or three warpgroups compute, not {groups}")
    require_whole_turns(stages, groups)

    @T.macro
    def compute(mine, q_s, k_s, lo_s, hi_s, weights, scales, logits, bx, start, steps, lo_all, hi_all, ready, free):
        """Every ``groups``-th step, from ``mine``."""
        w = T.alloc_fragment((block_q, heads), acc)
        scale = T.alloc_fragment((block,), acc)
        s = T.alloc_fragment((block, columns), acc)
        by_query = T.reshape(s, (block, block_q, heads))
        total = T.alloc_fragment((block, block_q), acc)
        T.set_max_nreg(regs, 1)
        for i_q, h in T.Parallel(block_q, heads):
            w[i_q, h] = T.if_then_else(bx * block_q + i_q < tokens, weights[(bx * block_q + i_q) * heads + h], 0)
        for i in T.serial(T.ceildiv(steps - mine, groups)):
            at = i * groups + mine
            k0 = start + at * block
            for j in T.Parallel(block):
                scale[j] = T.if_then_else(k0 + j < total_keys, scales[k0 + j], 0)
            T.barrier_wait(ready[at % stages], (at // stages) & 1)
            T.wgmma_gemm(k_s[at % stages, :, :], q_s, s, transpose_B=True, clear_accum=True)
            T.wait_wgmma(0)
            T.barrier_arrive(free[at % stages])
            over_heads = T.alloc_reducer((block, block_q), acc, op="sum")
            T.reducer_init(over_heads)
            for j, i_q, h in T.Parallel(block, block_q, heads):
                T.reducer_update(over_heads[j, i_q], T.max(by_query[j, i_q, h], 0) * w[i_q, h])
            T.finalize_reducer(over_heads, total)
            if T.And(T.And(k0 >= lo_all, k0 + block <= hi_all), (bx + 1) * block_q <= tokens):  # seen by every query
                for j, i_q in T.Parallel(block, block_q):
                    logits[bx * block_q + i_q, k0 + j] = total[j, i_q] * scale[j]
            else:
                for j, i_q in T.Parallel(block, block_q):
                    if T.And(bx * block_q + i_q < tokens, k0 + j < total_keys):
                        logits[bx * block_q + i_q, k0 + j] = T.if_then_else(
                            T.And(k0 + j >= lo_s[i_q], k0 + j < hi_s[i_q]), total[j, i_q] * scale[j], -T.infinity(acc)
                        )

    @T.prim_func
    def indexer_ragged_specialized(
        q: T.Tensor((tokens * heads, DIM), dtype),
        weights: T.Tensor((tokens * heads,), acc),
        keys: T.Tensor((total_keys, DIM), dtype),
        scales: T.Tensor((total_keys,), acc),
        ks: T.Tensor((tokens,), "int32"),
        ke: T.Tensor((tokens,), "int32"),
        logits: T.Tensor((tokens, total_keys), acc),
    ):
        with T.Kernel(T.ceildiv(tokens, block_q), threads=threads) as bx:
            q_s = T.alloc_shared((columns, DIM), dtype)
            k_s = T.alloc_shared((stages, block, DIM), dtype)
            lo_s = T.alloc_shared((block_q,), "int32", scope="shared")
            hi_s = T.alloc_shared((block_q,), "int32", scope="shared")
            start = T.alloc_var("int32")
            steps = T.alloc_var("int32")
            lo = T.alloc_var("int32")
            hi = T.alloc_var("int32")
            lo_all = T.alloc_var("int32")
            hi_all = T.alloc_var("int32")
            ready = T.alloc_barrier(arrive_count=[128] * stages)
            free = T.alloc_barrier(arrive_count=[128] * stages)
            q_ready = T.alloc_barrier(arrive_count=threads)
            tx = T.get_thread_binding()

            lo = total_keys  # [lo, hi) is what any query sees, [lo_all, hi_all) what each one does
            hi = 0
            lo_all = 0
            hi_all = total_keys
            for i in T.unroll(block_q):
                if bx * block_q + i < tokens:
                    lo_all = T.max(lo_all, ks[bx * block_q + i])
                    hi_all = T.min(hi_all, ke[bx * block_q + i])
                    if ks[bx * block_q + i] < ke[bx * block_q + i]:
                        lo = T.min(lo, T.max(ks[bx * block_q + i], 0))
                        hi = T.max(hi, T.min(ke[bx * block_q + i], total_keys))
            for i in T.unroll(block_q):
                if tx == i:
                    if bx * block_q + i < tokens:
                        lo_s[i] = ks[bx * block_q + i]
                        hi_s[i] = ke[bx * block_q + i]
                    else:
                        lo_s[i] = 0
                        hi_s[i] = 0
            start = lo // block * block
            steps = T.if_then_else(lo < hi, T.ceildiv(hi - start, block), 0)

            T.tma_copy(q[bx * columns : (bx + 1) * columns, 0:DIM], q_s, barrier=q_ready)
            T.barrier_arrive(q_ready)
            T.barrier_wait(q_ready, 0)

            if tx < 128:
                T.set_max_nreg(24, 0)
                for at in T.serial(steps):
                    T.barrier_wait(free[at % stages], ((at // stages) & 1) ^ 1)
                    T.tma_copy(
                        keys[start + at * block : start + (at + 1) * block, 0:DIM],
                        k_s[at % stages, :, :],
                        barrier=ready[at % stages],
                    )
                    T.barrier_arrive(ready[at % stages])
                # What no step covers, while the others compute.
                for i_q in T.serial(block_q):
                    if bx * block_q + i_q < tokens:
                        for i in T.serial(T.ceildiv(start, 128)):
                            if i * 128 + tx < start:
                                logits[bx * block_q + i_q, i * 128 + tx] = -T.infinity(acc)
                        for i in T.serial(T.ceildiv(T.max(total_keys - (start + steps * block), 0), 128)):
                            if start + steps * block + i * 128 + tx < total_keys:
                                logits[bx * block_q + i_q, start + steps * block + i * 128 + tx] = -T.infinity(acc)
            elif tx < 256:
                compute(0, q_s, k_s, lo_s, hi_s, weights, scales, logits, bx, start, steps, lo_all, hi_all, ready, free)
            elif tx < 384:
                compute(1, q_s, k_s, lo_s, hi_s, weights, scales, logits, bx, start, steps, lo_all, hi_all, ready, free)
            else:
                if groups == 3:
                    compute(2, q_s, k_s, lo_s, hi_s, weights, scales, logits, bx, start, steps, lo_all, hi_all, ready, free)

    return indexer_ragged_specialized


ragged_specialized.pass_configs = {"tl.enable_fast_math": True}  # type: ignore[attr-defined]  # tl_runtime reads it


def _require(q: Tensor, weights: Tensor, heads: int) -> None:
    if q.ndim != 3 or q.shape[2] != DIM:
        raise ValueError(f"q must be [T, Hi, {DIM}], got {tuple(q.shape)}")
    if weights.shape != q.shape[:2] or weights.dtype != torch.float32:
        raise ValueError(f"weights must be float32 {tuple(q.shape[:2])}, got {weights.dtype} {tuple(weights.shape)}")
    if heads % 16:
        raise ValueError(f"the number of indexer heads must be a multiple of 16, got {heads}")


def indexer_logits_paged(
    q: Tensor,
    weights: Tensor,
    buf: Tensor,
    page_table: Tensor,
    seq_lens: Tensor,
    page_size: int = 64,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Compute the indexer logits of each query's request, by position: fp32 ``[T, npages * page_size]``.

    ``q [T, Hi, 128]`` fp8 e4m3, ``weights [T, Hi]`` fp32 (softmax scale and q's scale folded in), ``buf uint8 [pages,
    page_size * 132]`` index-K pages (a page: its keys as 128 e4m3 each, then its fp32 scales), ``page_table [T, npages]`` int32
    index-K page ids (``loc // page_size``) in position order, ``seq_lens [T]`` int32. All contiguous. On the CPU ``q`` is fp16
    or fp32 and the pages' keys are widened before the kernel, which the CPU target cannot do itself.
    The result is -inf at and beyond ``seq_len``. A page id that is no page of ``buf`` is never used as an address and gives
    -inf; with ``DCP_KERNELS_DEBUG=1`` one past the end that a position needs is a ``ValueError``.
    Contract: DeepGEMM's ``fp8_paged_mqa_logits``; the oracle is ``reference.indexer_logits_paged``.
    """
    tl_runtime.require_runnable(q, weights, buf, page_table, seq_lens, out)
    tokens, heads, _ = q.shape
    _require(q, weights, heads)
    if buf.dtype != torch.uint8 or buf.ndim != 2 or buf.shape[1] != page_size * ROW_BYTES:
        raise ValueError(f"buf must be uint8 [pages, {page_size * ROW_BYTES}], got {buf.dtype} {tuple(buf.shape)}")
    if page_size % 64:
        raise ValueError(f"page_size must be a multiple of 64, got {page_size}")
    npages = page_table.shape[1]
    if tl_runtime.DEBUG:
        used = torch.arange(npages, device=q.device) * page_size < seq_lens[:, None]
        tl_runtime.require_below(torch.where(used, page_table, -1), buf.shape[0], "page_table", "index-K pages")
    if out is None:
        out = torch.empty(tokens, npages * page_size, dtype=torch.float32, device=q.device)
    keys, scales = buf.view(torch.float8_e4m3fn), buf.view(torch.float32)
    if q.device.type == "cpu":
        keys = keys[:, : page_size * DIM].to(q.dtype).contiguous()
    elif q.dtype != torch.float8_e4m3fn:
        raise TypeError(f"index-K pages hold e4m3 keys, so q must be float8_e4m3fn on a GPU, got {q.dtype}")
    if not (tokens and npages and buf.shape[0]):
        return out.fill_(-torch.inf)
    if tl_runtime.is_hopper(q.device) and buf.shape[0] * page_size * 33 // 32 < 2**31:
        run = tl_runtime.kernel(paged_specialized, q.device, heads=heads, page_size=page_size)
        steps = pages_per_program(tokens, npages * (page_size // 64), q.device)
        run(q.view(-1, DIM), weights, keys.view(-1, DIM), scales, page_table, seq_lens, out, steps)
    else:
        static = {"heads": heads, "page_size": page_size, "width": keys.shape[1], "dtype": tl_runtime.dtype_name(q.dtype)}
        run = tl_runtime.kernel(paged, q.device, **static)
        run(q, weights, keys, scales, page_table, seq_lens, out, pages_per_program(tokens, npages, q.device))
    return out


def pages_per_program(tokens: int, npages: int, device: torch.device) -> int:
    """Choose how many pages one program walks: few enough to fill the device, enough to be worth fetching the query."""
    if device.type == "cpu":
        return npages
    programs = 4 * torch.cuda.get_device_properties(device).multi_processor_count
    return min(64, max(2, -(-tokens * npages // programs)))


def indexer_logits_ragged(
    q: Tensor,
    weights: Tensor,
    keys: Tensor,
    scales: Tensor | None,
    ks: Tensor,
    ke: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Compute the indexer logits of each new token by ragged index: fp32 ``[T, K]``, -inf outside ``[ks, ke)``.

    ``q [T, Hi, 128]`` and ``keys [K, 128]`` both fp8 e4m3 or bf16 (GPU), fp16 or fp32 (CPU), ``weights [T, Hi]`` fp32,
    ``scales [K]`` fp32 or None for ones, ``ks`` and ``ke [T]`` int32: the ragged indices a token may see. All contiguous.
    Contract: DeepGEMM's ``fp8_mqa_logits``; the oracle is ``reference.indexer_logits_ragged``.
    """
    tl_runtime.require_runnable(q, weights, keys, scales, ks, ke, out)
    tokens, heads, _ = q.shape
    _require(q, weights, heads)
    if keys.ndim != 2 or keys.shape[1] != DIM or keys.dtype != q.dtype:
        raise ValueError(f"keys must be {q.dtype} [K, {DIM}], got {keys.dtype} {tuple(keys.shape)}")
    if scales is None:
        scales = torch.ones(keys.shape[0], dtype=torch.float32, device=q.device)
    if out is None:
        out = torch.empty(tokens, keys.shape[0], dtype=torch.float32, device=q.device)
    if not out.numel():
        return out
    dtype = tl_runtime.dtype_name(q.dtype)
    if tl_runtime.is_hopper(q.device) and q.dtype.itemsize <= 2 and heads in (32, 64):
        run = tl_runtime.kernel(ragged_specialized, q.device, heads=heads, dtype=dtype, **SPECIALIZED[heads])
        run(q.view(tokens * heads, DIM), weights.view(-1), keys, scales, ks, ke, out)
    else:
        tl_runtime.kernel(ragged, q.device, heads=heads, dtype=dtype)(q, weights, keys, scales, ks, ke, out)
    return out


# Heads to the launch parameters of ``ragged_specialized``, chosen on an H200 (bench/README.md).
SPECIALIZED = {
    64: {"block_q": 2, "groups": 3, "regs": 152},
    32: {"block_q": 4, "groups": 3, "regs": 152},
}
