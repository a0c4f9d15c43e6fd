"""c-KV writes: useful bytes (owned rows read and written, and all locs) against the copy bandwidth.

    python bench/triton_ckv_write.py

"random" locs are a random choice from the pool. "paged" ones are what an allocator issues: whole widened pages in random order,
tokens in sequence inside a page. Otherwise: one row a program (the geometry of the server's kernel), and a torch mask with
index_put.
"""

import argparse

import harness
import torch
import triton
import triton.language as tl
from dcp_kernels import ckv_write

N, PAGE_SIZE = 262_144, 64


@triton.jit
def one_row_a_program(kv_ptr, src_ptr, loc_ptr, kv_stride, src_stride, DIM: tl.constexpr, RANK: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    loc = tl.load(loc_ptr + i).to(tl.int64)
    col = tl.arange(0, DIM)
    owned = (loc >= 0) & (loc % D == RANK)
    x = tl.load(src_ptr + i * src_stride + col, mask=owned)
    tl.store(kv_ptr + loc // D * kv_stride + col, x, mask=owned)


def draw_locs(kind: str, dcp_size: int) -> torch.Tensor:
    """Draw n different locs of a pool twice as large."""
    if kind == "random":
        return torch.randperm(2 * N, device="cuda")[:N]
    widened = PAGE_SIZE * dcp_size
    pages = torch.randperm(2 * N // widened, device="cuda")[: N // widened]
    return (pages[:, None] * widened + torch.arange(widened, device="cuda")).flatten()


def with_torch(kv, src, locs, rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == rank)
    kv[locs[owned] // dcp_size] = src[owned]


def case(kind: str, dcp_size: int, width: int, rope: int, pool: torch.dtype) -> harness.Row:
    rank = min(3, dcp_size - 1)
    locs = draw_locs(kind, dcp_size)
    src = torch.randn(N, width + rope, device="cuda").bfloat16()
    nope, tail = src[:, :width].contiguous(), src[:, width:].contiguous()
    kv = torch.zeros(2 * N // dcp_size + PAGE_SIZE, width + rope, device="cuda").to(pool)
    owned = int((locs % dcp_size == rank).sum())
    useful = owned * (width + rope) * (src.element_size() + kv.element_size()) + locs.numel() * locs.element_size()
    if rope:
        ms = harness.time_ms(lambda: ckv_write.write_ckv_rope(kv, nope, tail, locs, rank, dcp_size))
    elif pool == torch.float8_e4m3fn:
        ms = harness.time_ms(lambda: ckv_write.write_ckv_fp8(kv, nope, locs, rank, dcp_size))
    else:
        ms = harness.time_ms(lambda: ckv_write.write_ckv_norope(kv, nope, locs, rank, dcp_size))
    others = {}
    if not rope and pool == torch.bfloat16:
        plain = (kv, nope, locs, kv.stride(0), nope.stride(0), width, rank, dcp_size)
        others["one row a program"] = harness.time_ms(lambda: one_row_a_program[(N,)](*plain))
        others["torch"] = harness.time_ms(lambda: with_torch(kv, nope, locs, rank, dcp_size))
    name = "512+64 bf16" if rope else f"512 {'fp8' if pool == torch.float8_e4m3fn else 'bf16'}"
    return harness.Row(f"{name}, D={dcp_size}, {kind}", ms, bytes=useful, others=others, note=f"[{owned} rows]")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    harness.require_gpu()
    rows = [case(kind, d, 512, 0, torch.bfloat16) for d in (1, 8) for kind in ("random", "paged")]
    rows += [case("paged", d, 512, 64, torch.bfloat16) for d in (1, 8)]
    rows += [case("paged", d, 512, 0, torch.float8_e4m3fn) for d in (1, 8)]
    harness.report("triton_ckv_write", rows)


if __name__ == "__main__":
    main()
