"""Oracles of what moves rows: the cache writers, the index-K reader, the ragged workspace, backup and restore."""

import torch
from torch import Tensor

from dcp_kernels.reference.spaces import localize_page_table

INDEX_DIM = 128  # bytes of an index-K key; four bytes of fp32 scale belong to it
FP8_MAX = 448.0


def write_ckv_norope(kv: Tensor, src: Tensor, locs: Tensor, dcp_rank: int = 0, dcp_size: int = 1, interleave: int = 1) -> None:
    """Write ``src [n, DIM]`` to this rank's rows of ``kv [rows, DIM]``, in place; what the rank does not own is skipped."""
    rows = localize_page_table(locs, dcp_rank, dcp_size, interleave)
    here = rows >= 0
    kv[rows[here]] = src[here]


def write_ckv_rope(kv: Tensor, nope: Tensor, rope: Tensor, locs: Tensor, dcp_rank: int = 0, dcp_size: int = 1) -> None:
    """Write ``nope [n, DN]`` and ``rope [n, DR]`` side by side to this rank's rows of ``kv [rows, DN + DR]``, in place."""
    write_ckv_norope(kv[:, : nope.shape[1] + rope.shape[1]], torch.cat([nope, rope], 1), locs, dcp_rank, dcp_size)


def write_ckv_fp8(kv: Tensor, src: Tensor, locs: Tensor, dcp_rank: int = 0, dcp_size: int = 1) -> None:
    """Write as ``write_ckv_norope`` does, into a float8_e4m3fn pool: round to nearest even, saturate at 448, NaN stays NaN."""
    cast = src.to(torch.float32).clamp(-FP8_MAX, FP8_MAX).to(torch.float8_e4m3fn)
    write_ckv_norope(kv.view(torch.uint8), cast.view(torch.uint8), locs, dcp_rank, dcp_size)


def write_index_k(buf: Tensor, keys: Tensor, scales: Tensor, locs: Tensor, page_size: int = 64) -> None:
    """Write fp8 keys and fp32 scales into index-K pages ``buf uint8 [pages, page_size * 132]`` by loc, in place; -1 skipped."""
    here = locs >= 0
    page, slot = locs[here].to(torch.int64) // page_size, locs[here].to(torch.int64) % page_size
    buf[:, : page_size * INDEX_DIM].unflatten(1, (page_size, INDEX_DIM))[page, slot] = keys.view(torch.uint8)[here]
    scale_bytes = scales.contiguous().view(torch.uint8).view(-1, 4)
    buf[:, page_size * INDEX_DIM :].unflatten(1, (page_size, 4))[page, slot] = scale_bytes[here]


def read_index_k(buf: Tensor, locs: Tensor, page_size: int = 64) -> tuple[Tensor, Tensor]:
    """Return the keys ``[n, 128]`` float8_e4m3fn and scales ``[n]`` fp32 of the locs; a loc of -1 reads as zeros."""
    here = locs >= 0
    safe = torch.where(here, locs, 0).to(torch.int64)
    page, slot = safe // page_size, safe % page_size
    keys = buf[:, : page_size * INDEX_DIM].unflatten(1, (page_size, INDEX_DIM))[page, slot]
    scales = buf[:, page_size * INDEX_DIM :].unflatten(1, (page_size, 4))[page, slot].contiguous().view(torch.float32)[:, 0]
    keys = torch.where(here[:, None], keys, 0).view(torch.float8_e4m3fn)
    return keys, torch.where(here, scales, 0.0)


def assemble_ragged(
    shards: Tensor,
    extend: Tensor,
    prefix_lens: Tensor,
    starts: Tensor,
    extend_lens: Tensor,
    dcp_size: int,
    total: int | None = None,
    interleave: int = 1,
) -> Tensor:
    """Assemble the workspace ``[prefix_0; extend_0; prefix_1; extend_1; ...]`` from gathered shards ``[D, rows, V]``.

    Request i fills ``ceil((len + start % D) / D)`` rows of every shard; position p is in shard ``p % D``, in row
    ``p // D - start // D`` of the request's rows. With ``interleave`` I locs a turn: in shard ``p // I % D``, and its
    row counts I for each round of ``I * D`` positions since the one that ``start`` is in.
    """
    a_round = interleave * dcp_size
    parts, shard_row, extend_row = [], 0, 0
    for length, start, fresh in zip(prefix_lens.tolist(), starts.tolist(), extend_lens.tolist(), strict=True):
        position = torch.arange(start, start + length, device=shards.device)
        at = (position // a_round - start // a_round) * interleave + position % interleave
        parts.append(shards[position // interleave % dcp_size, shard_row + at])
        parts.append(extend[extend_row : extend_row + fresh])
        end = length + start % a_round
        shard_row += end // a_round * interleave + min(end % a_round, interleave) if length else 0
        extend_row += fresh
    out = torch.cat(parts) if parts else extend[:0].clone()
    if total is not None and total != out.shape[0]:
        raise ValueError(f"total is {total}, but the lengths sum to {out.shape[0]}")
    return out


def gather_rows(pool: Tensor, rows: Tensor) -> Tensor:
    """Return the rows of ``pool [rows, V]`` in the order of ``rows``; a row of -1 reads as zeros."""
    here = rows >= 0
    out = torch.zeros(rows.shape[0], pool.shape[1], dtype=pool.dtype, device=pool.device)
    out[here] = pool[rows[here].to(torch.int64)]
    return out


def scatter_rows(pool: Tensor, saved: Tensor, rows: Tensor) -> None:
    """Write ``saved [n, V]`` to the rows of ``pool``, in place; a row of -1 is skipped."""
    here = rows >= 0
    pool[rows[here].to(torch.int64)] = saved[here]


def relayout(
    dst_pool: Tensor,
    src_pool: Tensor,
    piece: tuple[int, int, int],
    dst: tuple[int, int, int],
    src: tuple[int, int, int],
) -> None:
    """Copy the rows of ``piece`` (source loc, target loc, tokens) that rank ``src`` has and rank ``dst`` must have, in place.

    A rank is (rank, D, I). Token by token: the turn, the rank and the place in its run are the digits of a loc.
    """
    for i in range(piece[2]):
        places = []
        for first, (rank, size, run) in ((piece[0], src), (piece[1], dst)):
            turn, rest = divmod(first + i, size * run)
            places.append(turn * run + rest % run if rest // run == rank else -1)
        if min(places) >= 0:
            dst_pool[places[1]] = src_pool[places[0]]
