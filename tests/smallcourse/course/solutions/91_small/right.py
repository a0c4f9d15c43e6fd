# %% preamble
import torch
import triton
import triton.language as tl


# %% 91a divide-first
def localize(locs, dcp_rank, dcp_size):
    rows = locs.div(dcp_size, rounding_mode="floor")
    return torch.where(rows * dcp_size + dcp_rank == locs, rows, torch.full_like(rows, -1))


# %% 91b loop-free
@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(src + at, mask=inside)
    tl.store(dst + at, value + value, mask=inside)
