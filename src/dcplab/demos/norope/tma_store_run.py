"""Defines a writer that stores whole rows by TMA: a tensor descriptor has a box and a place, but no mask. Runs in a child.

It stands for SGLang's bulk-store writer of c-KV, which knows no owner. Its wrapper must not choose it where the pool is
sharded.
"""

from __future__ import annotations

import re

import torch
import triton
import triton.language as tl

RANKS, ROWS, DIM = 4, 24, 512  # dcp_size, rows of a rank's pool, elements of a row
FIRST, TOKENS = 16, 16  # the step's locs: all of the first widened page, of 4 rows on 4 ranks
SAME = 257  # times a byte gives an int16 of two equal bytes
OTHERS = 7 * SAME  # content of the rows of other tokens


@triton.jit
def bulk_store_kernel(kv_ptr, src_ptr, loc_ptr, rows, DIM: tl.constexpr):
    """Copy one token's whole row of ``src`` to row ``loc`` of the pool, one token a program. Elements outside the box are not
    stored."""
    token = tl.program_id(0)
    box = tl.make_tensor_descriptor(kv_ptr, [rows, DIM], [DIM, 1], [1, DIM])
    loc = tl.load(loc_ptr + token).to(tl.int32)
    x = tl.load(src_ptr + token * DIM + tl.arange(0, DIM))
    box.store([loc, 0], tl.reshape(x, (1, DIM)))


def write_bulk(kv: torch.Tensor, src: torch.Tensor, locs: torch.Tensor) -> None:
    """Copy ``src [n, DIM]`` to rows ``locs`` of ``kv [rows, DIM]``: no owner, no division, no padding. Right only for D = 1."""
    if kv.device.type == "cuda":
        triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=kv.device))
    bulk_store_kernel[(len(locs),)](kv, src, locs, kv.shape[0], DIM=kv.shape[1])


def every_rank(device: str) -> list[dict]:
    """Write the step with both writers on each rank. Returns the rows that differ, by kind."""
    from dcp_kernels.ckv_write import write_ckv_norope

    from dcplab.engine import index_spaces

    locs = torch.arange(FIRST, FIRST + TOKENS, device=device)
    src = ((torch.arange(TOKENS, device=device)[:, None] + 100) * SAME).expand(-1, DIM).to(torch.int16).contiguous()
    found = []
    for rank in range(RANKS):
        right, bulk = (torch.full((ROWS, DIM), OTHERS, dtype=torch.int16, device=device) for _ in range(2))
        write_ckv_norope(right, src, locs, rank, RANKS)
        write_bulk(bulk, src, locs)
        mine = index_spaces.localize(locs, rank, RANKS)
        owned = mine[mine >= 0].tolist()
        kept_right, kept_bulk = ((pool == OTHERS).all(1).tolist() for pool in (right, bulk))
        lost = [r for r in owned if kept_bulk[r]]
        hurt = [r for r in range(ROWS) if kept_right[r] and not kept_bulk[r]]
        found.append(
            {
                "owned": owned,
                "lost": lost,
                "hurt": hurt,
                "belong": index_spaces.globalize(torch.tensor(hurt, dtype=torch.int64), rank, RANKS).tolist(),
                "dropped": int((locs >= ROWS).sum()),
                "bytes": int((right.view(torch.uint8) != bulk.view(torch.uint8)).sum()),
            }
        )
    return found


def instructions() -> list[str]:
    """Return the kernel's bulk instructions, compiled for sm_90 and not run."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = bulk_store_kernel.arg_names
    types = {"kv_ptr": "*i16", "src_ptr": "*i16", "loc_ptr": "*i64", "rows": "i32"}
    source = ASTSource(
        fn=bulk_store_kernel,
        signature={n: types.get(n, "constexpr") for n in names},
        constexprs={(names.index("DIM"),): DIM},
        attrs={(names.index(n),): [["tt.divisibility", 16]] for n in ("kv_ptr", "src_ptr")},
    )
    ptx = triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
    return sorted(set(re.findall(r"cp\.async\.bulk\.tensor[\w.:]*", ptx)))
