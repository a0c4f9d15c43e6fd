"""Writers of the c-KV cache: each rank keeps the tokens whose loc it owns.

Space: global locs in; the pool is indexed by this rank's rows (``loc // dcp_size`` where the ranks take one loc a turn, on the
owner only; with I locs a turn ``loc // (I * dcp_size) * I + loc % I``). A negative loc is
padding and is skipped. No loc may occur twice, and every owned row must exist. Page 0 is not special here: the
allocator never issues it.
Contract: exercises 3a and 3g; upstream's ``set_mla_kv_buffer_triton`` and its norope and raw-fp8 variants.

With one row a program, ``dcp_size - 1`` of ``dcp_size`` programs only find out that they have nothing to do. Here a
program reads many locs in one load, moves the owned ones to the front, and then copies full tiles of owned rows.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from dcp_kernels.runtime import (
    INTERPRETED,
    check_dcp,
    check_devices,
    check_indices,
    check_interleave,
    check_rows,
    clamp_pow2,
    on,
    raw,
    refuse_interpreted,
    tile_rows,
)


@triton.jit(do_not_specialize=["dcp_rank"])
def write_ckv_kernel(
    kv_ptr,
    nope_ptr,
    rope_ptr,
    loc_ptr,
    n,
    kv_stride,
    nope_stride,
    rope_stride,
    dcp_rank,
    DN: tl.constexpr,
    DR: tl.constexpr,
    DCP_SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
    COLS_R: tl.constexpr,
    INTERLEAVE: tl.constexpr = 1,
):
    """Program b writes the owned ones of tokens ``b * BLOCK ..``, ROWS at a time.

    kv ``[rows, DN + DR]``, nope ``[n, DN]``, rope ``[n, DR]`` (DR may be 0), locs ``[n]``; strides in elements between rows.
    COLS and COLS_R are DN and DR rounded up to powers of two. A pool of another dtype makes the store cast.
    """
    first = tl.program_id(0).to(tl.int64) * BLOCK
    i = first + tl.arange(0, BLOCK)
    loc = tl.load(loc_ptr + i, mask=i < n, other=-1).to(tl.int64)
    if INTERLEAVE == 1:
        owned = (loc >= 0) & (loc % DCP_SIZE == dcp_rank)
    else:
        owned = (loc >= 0) & (loc // INTERLEAVE % DCP_SIZE == dcp_rank)
    seen = tl.cumsum(owned.to(tl.int32), 0)  # owned tokens up to and including this one
    count = tl.sum(owned.to(tl.int32), 0)
    col = tl.arange(0, COLS)
    for done in range(0, count, ROWS):
        j = done + tl.arange(0, ROWS)
        ok = j < count
        # As many tokens come before the j-th owned one (from 0) as have seen at most j.
        token = first + tl.sum((seen[None, :] <= j[:, None]).to(tl.int32), 1)
        row = tl.load(loc_ptr + token, mask=ok, other=0).to(tl.int64)
        if INTERLEAVE == 1:
            row = row // DCP_SIZE
        else:
            row = row // (INTERLEAVE * DCP_SIZE) * INTERLEAVE + row % INTERLEAVE
        in_nope = ok[:, None] & (col < DN)[None, :]
        x = tl.load(nope_ptr + token[:, None] * nope_stride + col[None, :], mask=in_nope)
        if DR > 0:
            col_r = tl.arange(0, COLS_R)
            in_rope = ok[:, None] & (col_r < DR)[None, :]
            y = tl.load(rope_ptr + token[:, None] * rope_stride + col_r[None, :], mask=in_rope)
            tl.store(kv_ptr + row[:, None] * kv_stride + DN + col_r[None, :], y, mask=in_rope)
        if x.dtype != kv_ptr.dtype.element_ty:
            x = x.to(tl.float32).to(kv_ptr.dtype.element_ty)
        tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=in_nope)


def _write(kv: Tensor, parts: tuple[Tensor, ...], locs: Tensor, dcp_rank: int, dcp_size: int, interleave: int = 1) -> None:
    """``parts``: what is written side by side, nope alone or nope and rope."""
    nope, rope = parts[0], parts[-1]
    width, width_r = nope.shape[1], sum(part.shape[1] for part in parts[1:])
    check_dcp(dcp_rank, dcp_size)
    check_interleave(interleave)
    check_rows("kv", kv, width + width_r)
    check_rows("the source", nope)
    check_indices("locs", locs, nope.shape[0])
    device = check_devices(kv, locs, *parts)
    n = locs.shape[0]
    if n == 0 or width + width_r == 0:
        return
    rows = tile_rows(width * max(kv.element_size(), nope.element_size()), most=32)
    # As many locs as hold about a tile of owned rows, fewer where that would leave multiprocessors idle.
    block = min(clamp_pow2(rows * dcp_size, 16, 1024), clamp_pow2(n // 512, 16, 1024))
    with on(device):
        write_ckv_kernel[(triton.cdiv(n, block),)](
            kv,
            nope,
            rope,
            locs.contiguous(),
            n,
            kv.stride(0),
            nope.stride(0),
            rope.stride(0),
            dcp_rank,
            DN=width,
            DR=width_r,
            DCP_SIZE=dcp_size,
            BLOCK=block,
            ROWS=min(rows, block),
            COLS=triton.next_power_of_2(max(width, 1)),
            COLS_R=triton.next_power_of_2(max(width_r, 1)),
            INTERLEAVE=interleave,
            num_warps=8,
        )


def write_ckv_norope(kv: Tensor, src: Tensor, locs: Tensor, dcp_rank: int = 0, dcp_size: int = 1, interleave: int = 1) -> None:
    """Write ``src [n, DIM]`` to this rank's rows of ``kv [rows, DIM]``, in place. Same dtype, any; rows dense, any stride.

    locs: locs ``[n]``, int64 or int32. ``dcp_size=1`` writes every token whose loc is not negative. ``interleave``: locs that
    go to one rank before the next one's turn.
    """
    _same_dtype(kv, src)
    _write(raw(kv), (raw(src),), locs, dcp_rank, dcp_size, interleave)


def write_ckv_rope(kv: Tensor, nope: Tensor, rope: Tensor, locs: Tensor, dcp_rank: int = 0, dcp_size: int = 1) -> None:
    """Write ``nope [n, DN]`` and ``rope [n, DR]`` side by side to this rank's rows of ``kv [rows, DN + DR]``, in place."""
    _same_dtype(kv, nope)
    _same_dtype(kv, rope)
    check_rows("rope", rope)
    if rope.shape[0] != nope.shape[0]:
        raise ValueError(f"nope has {nope.shape[0]} tokens and rope {rope.shape[0]}.")
    _write(raw(kv), (raw(nope), raw(rope)), locs, dcp_rank, dcp_size)


def write_ckv_fp8(kv: Tensor, src: Tensor, locs: Tensor, dcp_rank: int = 0, dcp_size: int = 1) -> None:
    """Write bf16 or fp32 ``src`` as ``write_ckv_norope`` does, into a float8_e4m3fn pool, without a scale.

    The store rounds to nearest even and saturates at 448; NaN stays NaN. Triton's interpreter rounds wrongly, so there a
    source that float8_e4m3fn does not hold exactly is refused (NotImplementedError).
    """
    if kv.dtype != torch.float8_e4m3fn or src.dtype not in (torch.bfloat16, torch.float32):
        raise ValueError(f"The pool must be float8_e4m3fn and the source bfloat16 or float32, not {kv.dtype} and {src.dtype}.")
    if INTERPRETED and not torch.equal(src.to(torch.float8_e4m3fn).to(src.dtype), src):
        refuse_interpreted("a cast to fp8", "its rounding is wrong, so give values that float8_e4m3fn holds exactly")
    _write(kv, (src,), locs, dcp_rank, dcp_size)


def _same_dtype(kv: Tensor, src: Tensor) -> None:
    if kv.dtype != src.dtype:
        raise ValueError(f"The pool holds {kv.dtype} and the source {src.dtype}; a writer that casts is write_ckv_fp8.")
