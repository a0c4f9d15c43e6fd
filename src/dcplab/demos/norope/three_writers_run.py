"""Runs the three writers, sparse decode on every rank, and the merge, against float64: the real kernels, in a child.

A CPU computes in float32, with Triton interpreted and TileLang by its C target. A GPU computes in bf16, compiled.
"""

from __future__ import annotations

import torch

P, HEADS, LATENT, ROPE = 64, 16, 512, 64
SCALE = 1 / 24
WRITERS = ("norope", "rope", "fp8")


def every_writer(device: str, dcp_size: int, tokens: int, queries: int, topk: int) -> list[dict]:
    """Return one result a writer. ``tokens`` of one request are stored, and each query selects ``topk`` of them.

    The last query selects only tokens that rank ``dcp_size - 1`` does not own, so that this rank has none for it.
    """
    return [_one(writer, device, dcp_size, tokens, queries, topk) for writer in WRITERS]


def _one(writer: str, device: str, dcp_size: int, tokens: int, queries: int, topk: int) -> dict:
    from dcp_kernels import reference
    from dcp_kernels.lse_merge import merge_lse
    from dcp_kernels.tl_sparse_decode import sparse_mla_decode
    from dcp_kernels.topk_transform import localize_topk

    gen = torch.Generator().manual_seed(3)
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    rope = ROPE if writer == "rope" else 0
    width = P * dcp_size
    pages = -(-tokens // width)
    locs = width + torch.randperm(pages * width, generator=gen)[:tokens]  # page 0 is never issued
    source = torch.randn(tokens, LATENT + rope, generator=gen)
    source = source.to(torch.float8_e4m3fn).float() if writer == "fp8" else source.to(dtype).float()
    q = torch.randn(queries, HEADS, LATENT + rope, generator=gen).to(dtype)
    picked = torch.stack([_selection(locs, topk, dcp_size, t == queries - 1, gen) for t in range(queries)])

    stored_as = torch.float8_e4m3fn if writer == "fp8" else dtype
    outs, lses, counts, stored = [], [], [], []
    for rank in range(dcp_size):
        pool = torch.zeros((pages + 1) * P, LATENT + rope, dtype=stored_as, device=device)
        _write(writer, pool, source.to(dtype).to(device), locs.to(device), rank, dcp_size)
        stored.append(int((pool.float() != 0).any(1).sum()))
        rows, count = localize_topk(locs[picked].to(device), rank, dcp_size)
        # This course's attention kernel reads no fp8, so the pool's values are widened first, which is exact.
        out, lse = sparse_mla_decode(q.to(device), pool.to(dtype), rows, count, SCALE)
        outs.append(out.float())
        lses.append(lse)
        counts.append(count.tolist())
    merged, lse = merge_lse(torch.stack(outs), torch.stack(lses))
    # The oracle is dense and knows no ranks: all tokens in position order, the picked positions, float64.
    want, want_lse = reference.sparse_mla_decode(q.float(), source, picked, None, SCALE)
    return {
        "writer": writer,
        "dtype": str(dtype).removeprefix("torch."),
        "stored": stored,
        "counts": counts,
        "empty": [[bool((part[t] == float("-inf")).all()) for t in range(queries)] for part in lses],
        "error": float((merged.double().cpu() - want).abs().max()),
        "lse_error": float((lse.double().cpu() - want_lse).abs().max()),
        "largest": float(want.abs().max()),
    }


def _write(writer: str, pool, source, locs, rank: int, dcp_size: int) -> None:
    from dcp_kernels.ckv_write import write_ckv_fp8, write_ckv_norope, write_ckv_rope

    if writer == "rope":
        write_ckv_rope(pool, source[:, :LATENT], source[:, LATENT:], locs, rank, dcp_size)
    else:
        write = {"norope": write_ckv_norope, "fp8": write_ckv_fp8}[writer]
        write(pool, source, locs, rank, dcp_size)


def _selection(locs, topk: int, dcp_size: int, leave_one_empty: bool, gen) -> torch.Tensor:
    """Draw ``topk`` positions, int64, ascending, with -1 behind where there are fewer."""
    allowed = (locs % dcp_size != dcp_size - 1) if leave_one_empty and dcp_size > 1 else torch.ones_like(locs, dtype=torch.bool)
    choice = allowed.nonzero()[:, 0]
    return choice[torch.randperm(len(choice), generator=gen)[:topk]].sort().values
