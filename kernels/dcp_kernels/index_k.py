"""Index-K pages: the writer and the reader of the indexer's keys.

Space: global locs, on every rank alike (index-K is replicated, never localized). A page holds ``page_size`` tokens: first
all keys (128 bytes of float8_e4m3fn each), then all scales (one fp32 each); 8,448 bytes at 64 tokens. Token ``loc`` is slot
``loc % page_size`` of index-K page ``loc // page_size``.
Contract: exercise 2h; upstream's ``SetKAndS`` and ``GetKAndS`` (``index_buf_accessor``), which have no guard for -1.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from dcp_kernels.runtime import check_devices, check_indices, check_rows, clamp_pow2, on

DIM = 128
SCALE_BYTES = 4
ROWS = 64  # tokens a program: 8 KiB of keys


@triton.jit
def _slots(loc_ptr, n, page_stride, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    """Tokens of this program, whether they have a loc, and where their key (bytes) and scale (floats) lie in the buffer."""
    token = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1).to(tl.int64)
    here = loc >= 0
    page = tl.where(here, loc // PAGE_SIZE, 0)
    slot = tl.where(here, loc % PAGE_SIZE, 0)
    key_at = page * page_stride + slot * DIM
    scale_at = page * (page_stride // 4) + PAGE_SIZE * DIM // 4 + slot
    return token, here, key_at, scale_at


@triton.jit
def write_index_k_kernel(
    buf_ptr,
    buf_f32_ptr,
    key_ptr,
    scale_ptr,
    loc_ptr,
    n,
    page_stride,
    key_stride,
    PAGE_SIZE: tl.constexpr,
    DIM: tl.constexpr,
    ROWS: tl.constexpr,
):
    """ROWS tokens a program. buf_ptr and buf_f32_ptr are the same memory, as bytes and as floats; page_stride in bytes."""
    token, here, key_at, scale_at = _slots(loc_ptr, n, page_stride, PAGE_SIZE, DIM, ROWS)
    col = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * key_stride + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)


@triton.jit
def read_index_k_kernel(
    buf_ptr,
    buf_f32_ptr,
    key_ptr,
    scale_ptr,
    loc_ptr,
    n,
    page_stride,
    PAGE_SIZE: tl.constexpr,
    DIM: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Read keys ``[n, DIM]`` and scales ``[n]`` back, contiguous; a loc of -1 reads nothing and gives zeros."""
    token, here, key_at, scale_at = _slots(loc_ptr, n, page_stride, PAGE_SIZE, DIM, ROWS)
    col = tl.arange(0, DIM)
    key = tl.load(buf_ptr + key_at[:, None] + col[None, :], mask=here[:, None], other=0)
    scale = tl.load(buf_f32_ptr + scale_at, mask=here, other=0.0)
    tl.store(key_ptr + token[:, None] * DIM + col[None, :], key, mask=(token < n)[:, None])
    tl.store(scale_ptr + token, scale, mask=token < n)


def write_index_k(buf: Tensor, keys: Tensor, scales: Tensor, locs: Tensor, page_size: int = 64) -> None:
    """Write keys and scales into their slots of ``buf``, in place; a negative loc is padding and is skipped.

    buf: uint8 ``[pages, page_size * 132]``, pages dense (any distance between pages that is a multiple of 4), 4-byte
    aligned. keys: float8_e4m3fn or its bytes, ``[n, 128]``, rows dense. scales: fp32 ``[n]``. locs: locs ``[n]``, int64 or
    int32.
    """
    _check_pages(buf, page_size)
    check_rows("keys", keys, DIM)
    check_indices("locs", locs, keys.shape[0])
    if keys.element_size() != 1 or scales.dtype != torch.float32 or scales.shape != locs.shape:
        raise ValueError(f"keys must be fp8 and scales float32 [{keys.shape[0]}], not {keys.dtype} and {scales.dtype}.")
    device = check_devices(buf, keys, scales, locs)
    n = locs.shape[0]
    if n == 0:
        return
    rows = clamp_pow2(n // 512, 4, ROWS)
    with on(device):
        write_index_k_kernel[(triton.cdiv(n, rows),)](
            buf,
            buf.view(torch.float32),
            keys.view(torch.uint8),
            scales.contiguous(),
            locs.contiguous(),
            n,
            buf.stride(0),
            keys.stride(0),
            PAGE_SIZE=page_size,
            DIM=DIM,
            ROWS=rows,
        )


def read_index_k(buf: Tensor, locs: Tensor, page_size: int = 64) -> tuple[Tensor, Tensor]:
    """Return ``(keys [n, 128] float8_e4m3fn, scales [n] fp32)`` of ``locs [n]``; a negative loc gives zeros."""
    _check_pages(buf, page_size)
    check_indices("locs", locs, locs.numel())
    device = check_devices(buf, locs)
    n = locs.shape[0]
    keys = torch.empty(n, DIM, dtype=torch.uint8, device=device)
    scales = torch.empty(n, dtype=torch.float32, device=device)
    if n:
        rows = clamp_pow2(n // 512, 4, ROWS)
        with on(device):
            read_index_k_kernel[(triton.cdiv(n, rows),)](
                buf,
                buf.view(torch.float32),
                keys,
                scales,
                locs.contiguous(),
                n,
                buf.stride(0),
                PAGE_SIZE=page_size,
                DIM=DIM,
                ROWS=rows,
            )
    return keys.view(torch.float8_e4m3fn), scales


def _check_pages(buf: Tensor, page_size: int) -> None:
    if buf.dtype != torch.uint8:
        raise ValueError(f"Index-K pages are bytes (uint8), not {buf.dtype}.")
    check_rows("buf", buf, page_size * (DIM + SCALE_BYTES))
    if buf.stride(0) % 4 or buf.data_ptr() % 4:
        raise ValueError("Index-K pages must start at multiples of 4 bytes: they hold fp32 scales.")
