"""Oracles of index work: from one index space to another. Exact, int64 inside, -1 stays -1."""

import torch
from torch import Tensor


def localize_page_table(locs: Tensor, dcp_rank: int, dcp_size: int, interleave: int = 1) -> Tensor:
    """Map locs (any shape) to this rank's rows, same dtype: ``loc // dcp_size`` if ``loc % dcp_size == dcp_rank``, else -1.

    The ranks take ``interleave`` locs a turn: the owner is that of the turn, and a row counts whole rounds of all ranks.
    """
    turn = torch.div(locs, interleave, rounding_mode="floor")
    owned = (locs >= 0) & (turn % dcp_size == dcp_rank)
    rounds = torch.div(turn, dcp_size, rounding_mode="floor")
    return torch.where(owned, rounds * interleave + locs % interleave, -1)


def localize_topk(topk_locs: Tensor, dcp_rank: int, dcp_size: int, interleave: int = 1) -> tuple[Tensor, Tensor]:
    """Map selected locs ``[..., k]`` to ``(rows [..., k], counts [...])``, both int32.

    Along the last axis the rows this rank owns come first, in their order, and -1 follows.
    """
    rows = localize_page_table(topk_locs, dcp_rank, dcp_size, interleave)
    missing = (rows < 0).to(torch.int8)
    order = torch.sort(missing, dim=-1, stable=True).indices
    return rows.gather(-1, order).to(torch.int32), (rows >= 0).sum(-1).to(torch.int32)


def topk_to_paged(topk_pos: Tensor, req_of_row: Tensor, req_to_token: Tensor) -> Tensor:
    """Map positions ``[rows, k]`` to locs: ``req_to_token[req_of_row[row], position]``, -1 stays -1. Dtype of ``topk_pos``.

    IndexError for a position or a request outside the table, which the kernel must not be given.
    """
    here = topk_pos >= 0
    if topk_pos.numel() == 0:
        return torch.empty_like(topk_pos)
    row = req_of_row.to(torch.int64)[:, None].expand_as(topk_pos)
    locs = req_to_token[row[here], topk_pos[here].to(torch.int64)]
    out = torch.full_like(topk_pos, -1)
    out[here] = locs.to(topk_pos.dtype)
    return out


def topk_to_ragged(topk_pos: Tensor, req_of_row: Tensor, cu_seqlens_k: Tensor) -> Tensor:
    """Map positions ``[rows, k]`` to ragged indices: ``cu_seqlens_k[req_of_row[row]] + position``, -1 stays -1."""
    first = cu_seqlens_k.to(torch.int64)[req_of_row.to(torch.int64)][:, None]
    return torch.where(topk_pos >= 0, topk_pos.to(torch.int64) + first, -1).to(topk_pos.dtype)
