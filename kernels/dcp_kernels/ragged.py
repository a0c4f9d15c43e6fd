"""The ragged workspace of extend: gathered prefix shards, un-interleaved, each request's new tokens behind its prefix.

Spaces: shards are indexed by (rank, row of the padded shard), the result by ragged index ``cu_seqlens_k[request] + offset``,
where the offset counts from the prefix's start. Request i fills ``ceil((len + start % D) / D)`` rows of every rank's shard;
position p lies in shard ``p % D``, in row ``p // D - start // D`` of the request's rows; rows that hold no token are garbage
and are not read. A request without a prefix fills none here; upstream's gather has one garbage row for it where start % D > 0.
With I locs to a rank a turn, position p lies in shard ``p // I % D``, in row ``p // (I * D) * I + p % I``, counted from the row
that begins ``start``'s round of ``I * D``; rank 0, which has the most, says how many rows a request fills.
Contract: exercises 4b and 4c; upstream's ``all_gather_kv_cache_for_dcp`` followed by ``all_gather_kv_cache_for_mha_extend``.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from dcp_kernels.runtime import check_devices, check_indices, check_interleave, check_rows, clamp_pow2, on, raw, tile_rows


@triton.jit(do_not_specialize=["requests"])
def cumulative_lengths_kernel(
    prefix_ptr,
    start_ptr,
    extend_ptr,
    cu_ptr,
    requests,
    DCP_SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    INTERLEAVE: tl.constexpr = 1,
):
    """One program: ``cu [3, requests + 1]`` int64 with leading zeros: rows of the workspace, of a padded shard, new tokens.

    A torch cumsum of the same three costs six launches, a third of the time of a whole workspace.
    """
    total = tl.zeros((), tl.int64)
    rows = tl.zeros((), tl.int64)
    new = tl.zeros((), tl.int64)
    for first in range(0, requests + 1, BLOCK):
        i = first + tl.arange(0, BLOCK)  # entry i sums the requests before i
        before = (i > 0) & (i <= requests)
        prefix = tl.load(prefix_ptr + i - 1, mask=before, other=0).to(tl.int64)
        start = tl.load(start_ptr + i - 1, mask=before, other=0).to(tl.int64)
        fresh = tl.load(extend_ptr + i - 1, mask=before, other=0).to(tl.int64)
        end = prefix + start % (INTERLEAVE * DCP_SIZE)
        if INTERLEAVE == 1:
            padded = (end + DCP_SIZE - 1) // DCP_SIZE
        else:  # rank 0 has the most: whole rounds, and of the last one up to a turn
            rest = end % (INTERLEAVE * DCP_SIZE)
            padded = end // (INTERLEAVE * DCP_SIZE) * INTERLEAVE + tl.where(rest < INTERLEAVE, rest, INTERLEAVE)
        padded = tl.where(prefix > 0, padded, 0)
        tl.store(cu_ptr + i, total + tl.cumsum(prefix + fresh, 0), mask=i <= requests)
        tl.store(cu_ptr + requests + 1 + i, rows + tl.cumsum(padded, 0), mask=i <= requests)
        tl.store(cu_ptr + 2 * (requests + 1) + i, new + tl.cumsum(fresh, 0), mask=i <= requests)
        total += tl.sum(prefix + fresh, 0)
        rows += tl.sum(padded, 0)
        new += tl.sum(fresh, 0)


@triton.jit(do_not_specialize=["requests", "steps"])
def assemble_ragged_kernel(
    shards_ptr,
    extend_ptr,
    out_ptr,
    cu_ptr,
    start_ptr,
    total,
    requests,
    steps,
    shard_stride,
    row_stride,
    extend_stride,
    V: tl.constexpr,
    DCP_SIZE: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
    INTERLEAVE: tl.constexpr = 1,
):
    """ROWS rows of the workspace a program, whichever requests they belong to.

    cu: int64 ``[3, requests + 1]``, cumulative with a leading 0: workspace rows, padded shard rows, new tokens. start: first
    position of each prefix. steps: halvings that search ``requests`` entries. Strides in elements; out ``[total, V]`` dense.
    """
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = r < total
    low = tl.zeros((ROWS,), tl.int64)  # the last request whose rows begin at or before r
    high = tl.zeros((ROWS,), tl.int64) + requests
    for _ in range(steps):
        middle = (low + high) // 2
        before = tl.load(cu_ptr + middle, mask=inside, other=0) <= r
        low = tl.where(before, middle, low)
        high = tl.where(before, high, middle)
    offset = r - tl.load(cu_ptr + low, mask=inside, other=0)
    shard_row = tl.load(cu_ptr + requests + 1 + low, mask=inside, other=0)
    fresh = tl.load(cu_ptr + 2 * (requests + 1) + low, mask=inside, other=0)
    fresh_len = tl.load(cu_ptr + 2 * (requests + 1) + low + 1, mask=inside, other=0) - fresh
    prefix_len = tl.load(cu_ptr + low + 1, mask=inside, other=0) - (r - offset) - fresh_len
    start = tl.load(start_ptr + low, mask=inside, other=0).to(tl.int64)
    position = start + offset
    if INTERLEAVE == 1:
        rank = position % DCP_SIZE
        shard_row += position // DCP_SIZE - start // DCP_SIZE
    else:
        rank = position // INTERLEAVE % DCP_SIZE
        rounds = position // (INTERLEAVE * DCP_SIZE) - start // (INTERLEAVE * DCP_SIZE)
        shard_row += rounds * INTERLEAVE + position % INTERLEAVE
    c = tl.arange(0, COLS)
    width = (c < V)[None, :]
    old = inside & (offset < prefix_len)
    new = inside & (offset >= prefix_len)
    old_at = rank * shard_stride + shard_row * row_stride
    new_at = (fresh + offset - prefix_len) * extend_stride
    x = tl.load(shards_ptr + old_at[:, None] + c[None, :], mask=old[:, None] & width, other=0)
    x = tl.load(extend_ptr + new_at[:, None] + c[None, :], mask=new[:, None] & width, other=x)
    tl.store(out_ptr + r[:, None] * V + c[None, :], x, mask=inside[:, None] & width)


def assemble_ragged(
    shards: Tensor,
    extend: Tensor,
    prefix_lens: Tensor,
    starts: Tensor,
    extend_lens: Tensor,
    dcp_size: int,
    total: int | None = None,
    interleave: int = 1,
) -> Tensor:
    """Assemble ``[prefix_0; extend_0; prefix_1; extend_1; ...]``: ``[total, V]``, contiguous, in the shards' dtype.

    shards: gathered prefix ``[dcp_size, rows, V]``, V dense. extend: new tokens ``[m, V]``, request by request, rows dense,
    same dtype. prefix_lens, starts (first position of each prefix), extend_lens: ``[requests]``, 0 allowed. total: the sum of
    both lengths where the caller knows it; without it a GPU is waited for once, to learn it. interleave: locs that go to one
    rank before the next one's turn.
    """
    if shards.dim() != 3 or shards.shape[0] != dcp_size or dcp_size < 1:
        raise ValueError(f"shards must be [dcp_size, rows, V] with dcp_size {dcp_size}, not {list(shards.shape)}.")
    if shards.shape[2] > 1 and shards.stride(2) != 1:
        raise ValueError("The rows of shards must be dense: stride 1 in the last dimension.")
    check_rows("extend", extend, shards.shape[2])
    if extend.dtype != shards.dtype:
        raise ValueError(f"extend holds {extend.dtype} and the shards {shards.dtype}.")
    requests, width = prefix_lens.numel(), shards.shape[2]
    for name, lens in (("prefix_lens", prefix_lens), ("starts", starts), ("extend_lens", extend_lens)):
        check_indices(name, lens, requests)
    device = check_devices(shards, extend, prefix_lens, starts, extend_lens)
    check_interleave(interleave)
    cu = _cumulative(prefix_lens, starts, extend_lens, dcp_size, interleave)
    if total is None:
        total = int(cu[0, -1])
    out = torch.empty(total, width, dtype=shards.dtype, device=device)
    if out.numel():
        cols = triton.next_power_of_2(width)
        tile = tile_rows(cols * out.element_size())
        with on(device):
            assemble_ragged_kernel[(triton.cdiv(total, tile),)](
                raw(shards),
                raw(extend),
                raw(out),
                cu,
                starts.contiguous(),
                total,
                requests,
                requests.bit_length(),
                shards.stride(0),
                shards.stride(1),
                extend.stride(0),
                V=width,
                DCP_SIZE=dcp_size,
                ROWS=tile,
                COLS=cols,
                INTERLEAVE=interleave,
            )
    return out


def _cumulative(prefix_lens: Tensor, starts: Tensor, extend_lens: Tensor, dcp_size: int, interleave: int) -> Tensor:
    """Return int64 ``[3, requests + 1]``: the cumulative lengths that ``assemble_ragged_kernel`` searches."""
    requests = prefix_lens.numel()
    cu = torch.empty(3, requests + 1, dtype=torch.int64, device=prefix_lens.device)
    lens = (prefix_lens.contiguous(), starts.contiguous(), extend_lens.contiguous())
    with on(cu.device):
        block = clamp_pow2(requests, 16, 1024)
        cumulative_lengths_kernel[(1,)](*lens, cu, requests, DCP_SIZE=dcp_size, BLOCK=block, INTERLEAVE=interleave)
    return cu
