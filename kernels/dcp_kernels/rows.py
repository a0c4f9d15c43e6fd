"""Rows out of a pool and back: the device half of backup and restore.

Space: rows of one rank's pool (for c-KV: localized first, see ``index_space``; for a pool whose ids are rows already: as they
are). A negative row is padding: it reads as zeros and is never written. Values move as bits, whatever their dtype.
Contract: exercise 6b; upstream's ``get_cpu_copy`` and ``load_cpu_copy``.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dcp_kernels.runtime import check_devices, check_indices, check_rows, on, raw, tile_rows


@triton.jit
def gather_rows_kernel(
    pool_ptr, rows_ptr, out_ptr, n, pool_stride, out_stride, V: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr
):
    """``out[i] = pool[rows[i]]`` for ROWS of the ``n`` rows a program; strides in elements."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    row = tl.load(rows_ptr + i, mask=i < n, other=-1).to(tl.int64)
    width = (c < V)[None, :]
    x = tl.load(pool_ptr + row[:, None] * pool_stride + c[None, :], mask=(row >= 0)[:, None] & width, other=0)
    tl.store(out_ptr + i[:, None] * out_stride + c[None, :], x, mask=(i < n)[:, None] & width)


@triton.jit
def scatter_rows_kernel(
    pool_ptr, rows_ptr, saved_ptr, n, pool_stride, saved_stride, V: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr
):
    """``pool[rows[i]] = saved[i]`` for ROWS of the ``n`` rows a program; strides in elements."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    row = tl.load(rows_ptr + i, mask=i < n, other=-1).to(tl.int64)
    here = (row >= 0)[:, None] & (c < V)[None, :]
    x = tl.load(saved_ptr + i[:, None] * saved_stride + c[None, :], mask=here)
    tl.store(pool_ptr + row[:, None] * pool_stride + c[None, :], x, mask=here)


def gather_rows(pool: Tensor, rows: Tensor) -> Tensor:
    """Copy rows of ``pool [rows, V]`` (any dtype, rows dense, any stride) in the order of ``rows [n]``: a new ``[n, V]``."""
    check_rows("pool", pool)
    check_indices("rows", rows, rows.numel())
    device = check_devices(pool, rows)
    out = torch.empty(rows.shape[0], pool.shape[1], dtype=pool.dtype, device=device)
    _launch(gather_rows_kernel, pool, rows, out)
    return out


def scatter_rows(pool: Tensor, saved: Tensor, rows: Tensor) -> None:
    """Write ``saved [n, V]`` to ``rows [n]`` of ``pool``, in place. One dtype; no row may occur twice, and all must exist."""
    check_rows("pool", pool)
    check_rows("saved", saved, pool.shape[1])
    check_indices("rows", rows, saved.shape[0])
    if saved.dtype != pool.dtype:
        raise ValueError(f"saved holds {saved.dtype} and the pool {pool.dtype}.")
    check_devices(pool, saved, rows)
    _launch(scatter_rows_kernel, pool, rows, saved)


def _launch(kernel: Any, pool: Tensor, rows: Tensor, other: Tensor) -> None:
    n, width = other.shape
    if n == 0 or width == 0:
        return
    cols = triton.next_power_of_2(width)
    tile = tile_rows(cols * pool.element_size())
    pool, other = raw(pool), raw(other)
    with on(pool.device):
        kernel[(triton.cdiv(n, tile),)](
            pool, rows.contiguous(), other, n, pool.stride(0), other.stride(0), V=width, ROWS=tile, COLS=cols
        )
