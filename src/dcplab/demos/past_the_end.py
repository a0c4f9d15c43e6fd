"""Gives an index in range and one past the end to torch, to a Triton kernel and to TileLang kernels. Runs in a child only.

Index-K of four pages lies in front of somebody else's memory, in one allocation. Loc 200 is in the last page. Loc 300 would be
in a fifth page.
"""

from __future__ import annotations

import torch

PAGE, PAGES, INSIDE, BEYOND = 64, 4, 200, 300  # slots a page, pages, and two locs
NEIGHBOUR = 17  # the value of every neighbour's byte


def _memory(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (index-K, the neighbour's pages behind it): two views of one allocation."""
    slab = torch.full((2 * PAGES, PAGE * 132), NEIGHBOUR, dtype=torch.uint8, device=device)
    slab[:PAGES] = 0
    return slab[:PAGES], slab[PAGES:]


def by_torch(device: str, loc: int) -> str:
    """Store a key and its scale with torch's own indexing."""
    buf, _ = _memory(device)
    page, slot = torch.tensor([loc // PAGE], device=device), loc % PAGE
    try:
        buf[page, slot * 128 : (slot + 1) * 128] = torch.ones(1, 128, dtype=torch.uint8, device=device)
        if device == "cuda":
            torch.cuda.synchronize()
    except Exception as error:
        return f"raised {type(error).__name__}: {str(error).strip().splitlines()[0]}"
    return f"{int((buf != 0).sum())} bytes of page {loc // PAGE} written"


def by_triton(device: str, loc: int) -> str:
    """Store a key with the course's own index-K writer, a Triton kernel."""
    from dcp_kernels.index_k import write_index_k

    buf, neighbour = _memory(device)
    keys = torch.ones(1, 128, dtype=torch.uint8, device=device)
    write_index_k(buf, keys, torch.full((1,), 0.3, device=device), torch.tensor([loc], device=device), PAGE)
    if device == "cuda":
        torch.cuda.synchronize()
    changed = neighbour != NEIGHBOUR
    if changed.any():
        page = int(changed.any(1).nonzero()[0])
        return f"no error; {int(changed.sum())} bytes of the neighbour's page {page} overwritten"
    return f"{int((buf != 0).sum())} bytes of page {loc // PAGE} written"


def by_gather(device: str, row: int) -> str:
    """Gather a row with a TileLang kernel, and report the value read."""
    from dcp_kernels import tl_runtime

    from dcplab.demos.gather import gather

    pool = torch.arange(12, dtype=torch.float32, device=device)[:, None].expand(12, 8).contiguous()
    out = torch.full((1, 8), -7.0, device=device)
    tl_runtime.kernel(gather, pool.device, width=8)(pool, torch.tensor([row], dtype=torch.int32, device=device), out)
    return f"reads {out[0, 0].item()}"


def by_indexer(device: str, page: int) -> str:
    """Run the course's TileLang indexer and top-k for a request of four pages whose fourth id is ``page``."""
    from dcp_kernels.tl_indexer import indexer_logits_paged
    from dcp_kernels.tl_topk import topk_select

    gen = torch.Generator().manual_seed(5)
    buf = torch.zeros(PAGES, PAGE * 132, dtype=torch.uint8)
    keys = torch.randn(PAGES, PAGE, 128, generator=gen)
    q = torch.randn(1, 32, 128, generator=gen).to(torch.float8_e4m3fn).float()
    keys[3, 8] = q[0].sum(0) / 4  # makes loc 200 the best match of the query
    buf[:, : PAGE * 128] = keys.to(torch.float8_e4m3fn).view(torch.uint8).view(PAGES, -1)
    buf.view(torch.float32)[:, PAGE * 32 :] = 1.0
    buf, dtype = buf.to(device), torch.float8_e4m3fn if device == "cuda" else torch.float16
    table = torch.tensor([[0, 1, 2, page]], dtype=torch.int32, device=device)
    lens = torch.tensor([4 * PAGE], dtype=torch.int32, device=device)
    weights = torch.full((1, 32), 1 / 32, device=device)
    logits = indexer_logits_paged(q.to(device).to(dtype), weights, buf, table, lens, PAGE)
    chosen = topk_select(logits, 4)[0].tolist()
    finite = int(torch.isfinite(logits[0, 3 * PAGE :]).sum())
    return f"{finite} of 64 logits of the page are numbers; top-4 {'has' if INSIDE in chosen else 'lacks'} position 200"


# (operation, function, index in range, index past the end). On a GPU torch's error ends the CUDA context, so torch comes last.
TRIALS = (
    ("Triton writes loc {}", by_triton, INSIDE, BEYOND),
    ("TileLang reads row {} of 12", by_gather, 3, 29),
    ("TileLang scores page {} of 4", by_indexer, PAGES - 1, PAGES),
    ("torch writes loc {}", by_torch, INSIDE, BEYOND),
)


def every_face(device: str) -> list[tuple[str, str]]:
    """Run each operation with both indices. Returns (operation, what happened) for each run."""
    return [(what.format(at), run(device, at)) for what, run, *both in TRIALS for at in both]
