"""What becomes of a top-k selection: positions to locs (PAGED), to ragged indices (RAGGED), and locs to one rank's rows.

Contracts: exercises 4d and 3d; upstream's ``transform_index`` and ``remap_dcp_local_topk_indices``. -1 is padding and stays -1.
Compaction matters: a rank owns about 1/D of a selection, and a list with holes makes its attention walk all of it.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dcp_kernels.runtime import check_dcp, check_devices, check_indices, check_interleave, clamp_pow2, on


@triton.jit
def topk_to_paged_kernel(
    pos_ptr, req_ptr, table_ptr, out_ptr, rows, k, pos_stride, table_stride, ROWS: tl.constexpr, COLS: tl.constexpr
):
    """Positions ``[rows, k]`` to locs ``[rows, k]`` (contiguous) by the request's row of ``table``; grid over rows, columns."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (r < rows)[:, None] & (c < k)[None, :]
    pos = tl.load(pos_ptr + r[:, None] * pos_stride + c[None, :], mask=inside, other=-1).to(tl.int64)
    req = tl.load(req_ptr + r, mask=r < rows, other=0).to(tl.int64)
    loc = tl.load(table_ptr + req[:, None] * table_stride + pos, mask=pos >= 0, other=-1)
    tl.store(out_ptr + r[:, None] * k + c[None, :], loc, mask=inside)


@triton.jit
def topk_to_ragged_kernel(pos_ptr, req_ptr, cu_ptr, out_ptr, rows, k, pos_stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Positions ``[rows, k]`` to ragged indices ``[rows, k]`` (contiguous): the request's first index, plus the position."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (r < rows)[:, None] & (c < k)[None, :]
    pos = tl.load(pos_ptr + r[:, None] * pos_stride + c[None, :], mask=inside, other=-1).to(tl.int64)
    req = tl.load(req_ptr + r, mask=r < rows, other=0).to(tl.int64)
    start = tl.load(cu_ptr + req, mask=r < rows, other=0).to(tl.int64)
    tl.store(out_ptr + r[:, None] * k + c[None, :], tl.where(pos >= 0, pos + start[:, None], -1), mask=inside)


@triton.jit(do_not_specialize=["dcp_rank"])
def localize_topk_kernel(
    loc_ptr,
    row_ptr,
    count_ptr,
    queries,
    k,
    loc_stride,
    dcp_rank,
    DCP_SIZE: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
    INTERLEAVE: tl.constexpr = 1,
):
    """ROWS queries a program: -1 everywhere, then the owned rows to the front in their order, and how many they are.

    An owned entry's place is the number of owned ones before it, so the order depends on nothing but the input. Instructions
    weigh as much as bytes here: unsigned division costs half of what signed does, and a fill without holes stores 16
    bytes at a time.
    """
    q = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    for first in range(0, k, COLS):
        c = first + tl.arange(0, COLS)
        inside = (q < queries)[:, None] & (c < k)[None, :]
        tl.store((row_ptr + q * k)[:, None] + c[None, :], tl.full((ROWS, COLS), -1, tl.int32), mask=inside)
    tl.debug_barrier()
    total = tl.zeros((ROWS,), tl.int32)
    for first in range(0, k, COLS):
        c = first + tl.arange(0, COLS)
        inside = (q < queries)[:, None] & (c < k)[None, :]
        loc = tl.load((loc_ptr + q * loc_stride)[:, None] + c[None, :], mask=inside, other=-1)
        size = loc.to(tl.uint64 if loc.dtype == tl.int64 else tl.uint32)
        if INTERLEAVE == 1:
            rank, row = size % DCP_SIZE, size // DCP_SIZE
        else:
            rank = size // INTERLEAVE % DCP_SIZE
            row = size // (INTERLEAVE * DCP_SIZE) * INTERLEAVE + size % INTERLEAVE
        owned = (loc >= 0) & (rank.to(tl.int32) == dcp_rank)
        flag = owned.to(tl.int32)
        place = total[:, None] + tl.cumsum(flag, 1) - 1
        # Not true of places, and harmless: the mask keeps the store to one entry at a time. Told so, the compiler leaves the
        # entries with the lanes that read them; else it moves rows, places and mask through shared memory first.
        place = tl.max_contiguous(tl.multiple_of(place, (1, 4)), (1, 4))
        tl.store((row_ptr + q * k)[:, None] + place, row.to(tl.int32), mask=owned)
        total += tl.sum(flag, 1)
    tl.store(count_ptr + q, total, mask=q < queries)


def _tile(rows: int, k: int, entries: int, widest: int) -> tuple[int, int]:
    """Choose (ROWS, COLS): about ``entries`` of them, at most ``widest`` of a row."""
    cols = clamp_pow2(k, 16, widest)
    return clamp_pow2(min(entries // cols, rows), 1, entries // 16), cols


def topk_to_paged(topk_pos: Tensor, req_of_row: Tensor, req_to_token: Tensor) -> Tensor:
    """Map selected positions to locs: ``req_to_token[req_of_row[row], position]``.

    topk_pos: positions ``[rows, k]``, int32 or int64, -1 padded. req_of_row: ``[rows]``, a row of the table each.
    req_to_token: locs ``[requests, longest]``. Result: locs ``[rows, k]`` in the dtype of ``topk_pos``, which must hold them.
    Every pair must be in the table: ``0 <= req_of_row < requests``, ``topk_pos < longest``. The kernel does not look (a check
    would make the CPU wait for the GPU) and reads whatever lies there; shapes and dtypes are checked.
    Upstream's has crashed so; sglang#39431 (open on 2026-11-30) makes -1 of such a position.
    """
    return _transform(topk_to_paged_kernel, topk_pos, req_of_row, req_to_token, 2)


def topk_to_ragged(topk_pos: Tensor, req_of_row: Tensor, cu_seqlens_k: Tensor) -> Tensor:
    """Map selected positions to ragged indices: ``cu_seqlens_k[req_of_row[row]] + position``.

    topk_pos: positions ``[rows, k]``, int32 or int64, -1 padded. req_of_row: ``[rows]``, ``0 <= req_of_row < requests``, which
    the kernel does not look at. cu_seqlens_k: ``[requests + 1]``. A position past its request's last is no error: it is an
    index of the next request.
    Result: ragged indices ``[rows, k]`` in the dtype of ``topk_pos``.
    """
    return _transform(topk_to_ragged_kernel, topk_pos, req_of_row, cu_seqlens_k, 1)


def _transform(kernel: Any, topk_pos: Tensor, req_of_row: Tensor, table: Tensor, table_dim: int) -> Tensor:
    if topk_pos.dim() != 2 or table.dim() != table_dim:
        raise ValueError(f"topk_pos must be [rows, k] and its table {table_dim}-dimensional, not {list(table.shape)}.")
    check_indices("topk_pos", topk_pos)
    check_indices("req_of_row", req_of_row, topk_pos.shape[0])
    check_indices("the table", table)
    device = check_devices(topk_pos, req_of_row, table)
    topk_pos, table = _dense(topk_pos), _dense(table)
    rows, k = topk_pos.shape
    out = torch.empty(rows, k, dtype=topk_pos.dtype, device=device)
    if out.numel():
        # Neighbouring queries select neighbouring positions: many rows and few columns find their table entries in L1.
        tile_rows, cols = _tile(rows, k, 4096, 256)
        strides = (topk_pos.stride(0),) if table_dim == 1 else (topk_pos.stride(0), table.stride(0))
        grid = (triton.cdiv(rows, tile_rows), triton.cdiv(k, cols))
        with on(device):
            kernel[grid](topk_pos, req_of_row.contiguous(), table, out, rows, k, *strides, ROWS=tile_rows, COLS=cols)
    return out


def localize_topk(topk_locs: Tensor, dcp_rank: int, dcp_size: int, interleave: int = 1) -> tuple[Tensor, Tensor]:
    """Map selected locs to this rank's compacted rows, and count those: ``(rows, counts)``.

    topk_locs: locs ``[..., k]``, int64 or int32, -1 anywhere. rows: int32, same shape; along the last axis the owned rows in
    their order, then -1. counts: int32, one per query (the shape without the last axis). ``interleave``: locs that go to one
    rank before the next one's turn.
    """
    check_dcp(dcp_rank, dcp_size)
    check_interleave(interleave)
    check_indices("topk_locs", topk_locs)
    device = check_devices(topk_locs)
    k = topk_locs.shape[-1]
    flat = _dense(topk_locs.reshape(-1, k) if topk_locs.numel() else topk_locs.new_empty(0, k))
    rows = torch.empty(topk_locs.shape, dtype=torch.int32, device=device)
    counts = torch.empty(topk_locs.shape[:-1], dtype=torch.int32, device=device)
    if k == 0:
        counts.zero_()
    elif flat.numel():
        queries = flat.shape[0]
        tile_rows, cols = _tile(queries, k, 2048, 2048)
        with on(device):
            localize_topk_kernel[(triton.cdiv(queries, tile_rows),)](
                flat,
                rows,
                counts,
                queries,
                k,
                flat.stride(0),
                dcp_rank,
                DCP_SIZE=dcp_size,
                ROWS=tile_rows,
                COLS=cols,
                INTERLEAVE=interleave,
            )
    return rows, counts


def _dense(t: Tensor) -> Tensor:
    """Return ``t`` itself where its last dimension is dense, else a contiguous copy."""
    return t if t.shape[-1] <= 1 or t.stride(-1) == 1 else t.contiguous()
