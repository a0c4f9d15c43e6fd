"""Locs to rows for a whole page table.

Space: global locs in, one rank's rows out. Contract: exercise 1h; upstream's ``_dcp_localize_page_table`` in SGLang PR #36989.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from dcp_kernels.runtime import check_dcp, check_devices, check_indices, check_interleave, on


@triton.jit
def localize_page_table_kernel(
    locs_ptr,
    rows_ptr,
    n,
    DCP_RANK: tl.constexpr,
    DCP_SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    INTERLEAVE: tl.constexpr = 1,
):
    """``n`` locs to rows, contiguous, one lane a loc.

    A GPU's ``%`` and ``//`` truncate where torch's floor; under the guard no answer depends on which.
    """
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    loc = tl.load(locs_ptr + i, mask=i < n, other=-1).to(tl.int64)
    if INTERLEAVE == 1:
        rank, row = loc % DCP_SIZE, loc // DCP_SIZE
    else:
        rank = loc // INTERLEAVE % DCP_SIZE
        row = loc // (INTERLEAVE * DCP_SIZE) * INTERLEAVE + loc % INTERLEAVE
    owned = (loc >= 0) & (rank == DCP_RANK)
    tl.store(rows_ptr + i, tl.where(owned, row, -1), mask=i < n)


def localize_page_table(locs: Tensor, dcp_rank: int, dcp_size: int, interleave: int = 1) -> Tensor:
    """Map ``locs`` to rows of ``dcp_rank``: ``loc // dcp_size`` where ``loc % dcp_size == dcp_rank``, else -1; -1 stays -1.

    With ``interleave`` I, the locs that go to one rank before the next one's turn, the owner is ``loc // I % dcp_size`` and the
    row ``loc // (I * dcp_size) * I + loc % I``; 1 is upstream's.
    locs: locs, any shape and layout, int64 or int32. Result: rows, same shape and dtype, contiguous.
    """
    check_dcp(dcp_rank, dcp_size)
    check_interleave(interleave)
    check_indices("locs", locs)
    device = check_devices(locs)
    locs = locs.contiguous()
    rows = torch.empty_like(locs)
    n = locs.numel()
    if n:
        block = 1024
        with on(device):
            localize_page_table_kernel[(triton.cdiv(n, block),)](locs, rows, n, dcp_rank, dcp_size, block, interleave)
    return rows
