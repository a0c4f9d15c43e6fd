"""Merge of the ranks' partial attention, in base 2.

Space: none; rank d's partial output and its LSE for every query and head. ``lse = log2(sum(exp(score)))`` over the keys the
rank holds. A rank that holds none of a query's keys has LSE -inf, or +inf where its kernel says it so (FlashMLA's), and weighs
zero; its output, which may be NaN, is not read. Contract: exercise 3e; upstream's ``cp_lse_ag_out_rs_mla``, which reads +inf
so too, and whose zero weight times NaN is NaN.

Where others went wrong: the base, sglang#33064 and vllm#43919; ``exp(lse)`` without the largest taken off, SHI-Labs/NATTEN#202.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from dcp_kernels.runtime import check_devices, on, tile_rows


@triton.jit
def _load_lse(at, inside):
    """LSEs in fp32, -inf where a rank holds no key."""
    lse = tl.load(at, mask=inside, other=float("-inf")).to(tl.float32)
    return tl.where(lse == float("inf"), float("-inf"), lse)


@triton.jit
def merge_lse_kernel(
    outs_ptr,
    lses_ptr,
    out_ptr,
    lse_ptr,
    rows,
    heads,
    outs_d,
    outs_t,
    outs_h,
    lses_d,
    lses_t,
    lses_h,
    D: tl.constexpr,
    V: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
):
    """ROWS (query, head) pairs a program; strides in elements; out ``[rows, V]`` and lse ``[rows]`` contiguous fp32."""
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLS)
    inside = r < rows
    t, h = r // heads, r % heads
    out_at = (t * outs_t + h * outs_h)[:, None] + c[None, :]
    lse_at = t * lses_t + h * lses_h
    top = tl.full((ROWS,), float("-inf"), tl.float32)
    for d in tl.static_range(D):
        top = tl.maximum(top, _load_lse(lses_ptr + d * lses_d + lse_at, inside))
    shift = tl.where(top == float("-inf"), 0.0, top)
    total = tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, COLS), tl.float32)
    for d in tl.static_range(D):
        lse = _load_lse(lses_ptr + d * lses_d + lse_at, inside)
        some = lse > float("-inf")
        weight = tl.where(some, tl.exp2(lse - shift), 0.0)
        part = tl.load(outs_ptr + d * outs_d + out_at, mask=some[:, None] & (c < V)[None, :], other=0.0).to(tl.float32)
        total += weight
        acc += weight[:, None] * part
    inverse = tl.where(total > 0, 1.0 / tl.where(total > 0, total, 1.0), 0.0)
    merged = tl.where(total > 0, shift + tl.log2(tl.where(total > 0, total, 1.0)), float("-inf"))
    tl.store(out_ptr + r[:, None] * V + c[None, :], acc * inverse[:, None], mask=inside[:, None] & (c < V)[None, :])
    tl.store(lse_ptr + r, merged, mask=inside)


def merge_lse(outs: Tensor, lses: Tensor) -> tuple[Tensor, Tensor]:
    """Merge outputs ``outs [D, T, H, V]`` and LSEs ``lses [D, T, H]`` (base 2) to ``(out [T, H, V], lse [T, H])``, float32.

    Inputs float32, float16 or bfloat16, V dense, other strides free. An LSE is finite, or -inf or +inf (no key: weighs
    zero, its output is ignored whatever it holds). All ranks empty gives 0 and -inf. Error under 1e-5 of float64.
    """
    if outs.dim() != 4 or lses.shape != outs.shape[:3]:
        raise ValueError(f"outs must be [D, T, H, V] and lses [D, T, H], not {list(outs.shape)} and {list(lses.shape)}.")
    if not (outs.is_floating_point() and lses.is_floating_point()):
        raise ValueError(f"outs and lses are floating point, not {outs.dtype} and {lses.dtype}.")
    device = check_devices(outs, lses)
    ranks, tokens, heads, width = outs.shape
    if width > 1 and outs.stride(3) != 1:
        outs = outs.contiguous()
    out = torch.empty(tokens, heads, width, dtype=torch.float32, device=device)
    lse = torch.empty(tokens, heads, dtype=torch.float32, device=device)
    rows = tokens * heads
    if rows:
        cols = triton.next_power_of_2(max(width, 1))
        tile = tile_rows(4 * cols, 4096, most=64)
        with on(device):
            merge_lse_kernel[(triton.cdiv(rows, tile),)](
                outs,
                lses,
                out,
                lse,
                rows,
                heads,
                *outs.stride()[:3],
                *lses.stride(),
                D=ranks,
                V=width,
                ROWS=tile,
                COLS=cols,
                num_warps=2,
            )
    return out, lse
