"""The arithmetic of public cases, each as its server had it: what stands in for the right operation while its switch is on.

Pure functions on tensors. `defects.py` says what each switch does and where it was reported; `backend.py` asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from dcplab.engine import index_spaces

LOG2_E = 1.4426950408889634
PLUS_INF = float("inf")


def strided_prefix(flat_locs: torch.Tensor, there: torch.Tensor, rank: int, dcp_size: int) -> torch.Tensor:
    """Return this rank's rows of all prefixes, by position in the batch: every D-th loc of ``flat_locs`` (all prefixes, one
    after another) from ``rank`` on, divided. ``there``: which entries of the padded shard hold a row; the others are -1.

    Right where every prefix is a multiple of D long. Otherwise a row of another rank's token, or of the next request's.
    """
    taken = flat_locs[rank::dcp_size] // dcp_size
    rows = torch.full(there.shape, -1, dtype=torch.int64, device=there.device)
    slots = there.nonzero().flatten()
    n = min(len(slots), len(taken))
    rows[slots[:n]] = taken[:n]
    return rows


def strided_chunks(locs: torch.Tensor, rank: int, dcp_size: int) -> torch.Tensor:
    """Return this rank's rows of a request's locs ``[n]``. They are taken in chunks of 4 D + 1, as copies to the host are, and
    of each chunk every D-th loc from ``rank`` on, divided.

    Right where a chunk begins at owner 0. The second begins at owner 1: there rank D - 1 misses a row, and takes one too late.
    """
    taken = [chunk[rank::dcp_size] // dcp_size for chunk in locs.split(4 * dcp_size + 1)]
    return torch.cat(taken)


def cut_pages(pages: Sequence[int], cut: int, width: int) -> list[int]:
    """List the pages of two segments of a request, positions before ``cut`` and from ``cut`` on, one after the other. A page of
    ``width`` positions that the cut goes through is in both."""
    return [*pages[: -(-cut // width)], *pages[cut // width :]]


def divided_again(rows: torch.Tensor, rank: int, dcp_size: int, interleave: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Take rows ``[n]`` for locs, as who receives them does: the places of those that ``rank`` keeps, and what it makes of
    them."""
    kept = (index_spaces.owner_rank(rows, dcp_size, interleave) == rank).nonzero().flatten()
    return kept, index_spaces.local_row(rows[kept], dcp_size, interleave)


def half_page_locs(page_table: torch.Tensor, page_size: int) -> torch.Tensor:
    """Take page ids ``[T, pages]`` of ``page_size`` slots for ids of half pages: locs ``[T, pages * page_size]`` of positions
    0, 1, ...; -1 where the table ends."""
    half = max(1, page_size // 2)
    position = torch.arange(page_table.shape[1] * page_size, device=page_table.device)
    column = position // half
    pages = page_table[:, column.clamp(max=page_table.shape[1] - 1)]
    return torch.where((column < page_table.shape[1]) & (pages >= 0), pages * half + position % half, -1)


def slots_of(blocks: torch.Tensor, positions: torch.Tensor, block_size: int) -> torch.Tensor:
    """Compute the slots of ``positions [T]`` in the blocks ``[T]`` that hold them. Right where the blocks are of this size."""
    return blocks * block_size + positions % block_size


def owned(locs: torch.Tensor, rank: int, dcp_size: int, interleave: int = 1) -> torch.Tensor:
    """Keep of selected locs ``[T, topk]`` those that ``rank`` owns, in front and still locs, -1 behind."""
    mine = (locs >= 0) & (index_spaces.owner_rank(locs, dcp_size, interleave) == rank)
    order = mine.to(torch.int8).argsort(dim=1, descending=True, stable=True)
    return torch.where(mine, locs, -1).gather(1, order)


def left_over(
    out: torch.Tensor, lse: torch.Tensor, left: dict[torch.Size, tuple[torch.Tensor, torch.Tensor]]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ``out [T, H, V]`` and ``lse [T, H]`` of a kernel that writes nothing for a query without keys. Such a query
    gets what the last call of the same shape left there (``left``, which is updated), zeros at first."""
    before = left.get(out.shape, (torch.zeros_like(out), torch.zeros_like(lse)))
    empty = lse == -PLUS_INF
    out, lse = torch.where(empty[..., None], before[0], out), torch.where(empty, before[1], lse)
    left[out.shape] = out.clone(), lse.clone()
    return out, lse


def merge_believing(outs: torch.Tensor, lses: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Merge ``outs [D, T, H, V]``, ``lses [D, T, H]`` base 2 to ``(out, lse)``, taking +inf for a weight.

    It clears what is not a number, so a query with one such rank gets zeros, without a sign.
    """
    total = torch.logsumexp(lses.float() / LOG2_E, 0) * LOG2_E
    weight = torch.exp2(lses.float() - total).nan_to_num(0.0)
    part = torch.where((weight > 0)[..., None], outs.float(), 0.0)
    return (weight[..., None] * part).sum(0), total
