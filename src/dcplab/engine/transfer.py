"""A request's KV from one node to another: the prefill node has its own number of ranks, its own pages and locs.

Each side translates its own locs, once: the sender finds a position's rank and row by its locs and its D, the receiver by its
own. What is addressed by loc (index-K, the draft's pools) is read at the sender's locs and written at the receiver's, on every
rank; index keys that are sharded come from all of the sender's ranks, and each of the receiver's takes its own. The recurrent
state goes from one req_pool_idx to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from dcplab.engine import host, index_spaces, public_cases
from dcplab.engine.index_spaces import Layout
from dcplab.engine.pools import CkvPool, HybridPool, IndexKCache
from dcplab.engine.request import Request
from dcplab.engine.space_tags import Space, layout_of, retag, tag

if TYPE_CHECKING:
    from dcplab.engine.scheduler import Engine

# A node's hosted pools, a request's locs there in position order ``[n]`` (int64), and its req_pool_idx.
End = tuple[Sequence[HybridPool], torch.Tensor, int]


@dataclass(frozen=True)
class Piece:
    """Rows that go from a rank of the sender to one of the receiver: ``src_rows [k]`` land at ``dst_rows [k]``, in order."""

    src_rank: int
    src_rows: torch.Tensor
    dst_rank: int
    dst_rows: torch.Tensor


def relayout(
    src_locs: torch.Tensor,
    src_dcp: int,
    dst_locs: torch.Tensor,
    dst_dcp: int,
    src_interleave: int = 1,
    dst_interleave: int = 1,
) -> list[Piece]:
    """List the pieces that move, sender by sender, from the locs ``[n]`` of the same positions on two nodes with D and D'
    ranks, which take so many locs a turn.

    No piece is empty. The runs may begin anywhere. ValueError if they differ in length.
    """
    if src_locs.shape != dst_locs.shape:
        raise ValueError(f"{src_locs.numel()} locs are sent and {dst_locs.numel()} receive.")
    src_layout, dst_layout = Layout.of(src_dcp, src_interleave), Layout.of(dst_dcp, dst_interleave)
    pieces = []
    for src_rank in range(src_dcp):
        src_rows = index_spaces.localize(src_locs, src_rank, src_dcp, src_interleave)
        for dst_rank in range(dst_dcp):
            dst_rows = index_spaces.localize(dst_locs, dst_rank, dst_dcp, dst_interleave)
            both = (src_rows >= 0) & (dst_rows >= 0)
            if bool(both.any()):
                src = tag(src_rows[both], Space.ROW, src_rank, src_layout)
                dst = tag(dst_rows[both], Space.ROW, dst_rank, dst_layout)
                pieces.append(Piece(src_rank, src, dst_rank, dst))
    return pieces


def receive(engine: Engine, node: Engine, request: Request) -> None:
    """Get a started request's KV and first token from the prefill node, which computes them now. From here on it decodes."""
    engine.watcher.phase = "receive"
    sent, end = node.submit(request.tokens, 2), len(request.tokens)
    while not sent.output:
        node.step()
    old, new = node.allocator.locs(sent.pages, request.stored, end), engine.place(request, request.stored, end)
    move((node.pools, old, sent.held_req_pool_idx), (engine.pools, new, request.held_req_pool_idx), engine.defects)
    engine.metrics.received += end - request.stored
    engine.metrics.largest_loc = max(engine.metrics.largest_loc, int(new.max()))
    engine.metrics.decoded += 1
    request.stored = end
    request.tokens.append(sent.output[0])
    if node.config.prefix_cache:
        node.cache.insert(sent.tokens[: sent.stored], sent.pages)
    node.leave(sent)


def move(sender: End, receiver: End, defects: frozenset[str] = frozenset()) -> None:
    """Copy all that a request has stored at the sender's locs to the receiver's. The sender hosts all of its ranks."""
    (src, src_locs, src_idx), (dst, dst_locs, dst_idx) = sender, receiver
    device = dst[0].state.device
    src_locs, dst_locs = (tag(locs.to(device), Space.LOC, layout=layout_of(locs)) for locs in (src_locs, dst_locs))
    a, b = src[0].ckv[0], dst[0].ckv[0]
    turn = a.interleave if "transfer_interleave" in defects else b.interleave
    pieces = relayout(src_locs, a.dcp_span, dst_locs, b.dcp_span, a.interleave, turn)
    for layer in range(len(src[0].ckv)):
        for pool in dst:
            to = pool.ckv[layer]
            if to.replicated:
                to.scatter(dst_locs, src[0].ckv[layer].gather(src_locs, "send_ckv"), "receive_ckv")
            elif "transfer_raw" in defects:
                _raw([p.ckv[layer] for p in src], src_locs, to, dst_locs)
            else:
                for piece in (p for p in pieces if p.dst_rank == to.rank or "transfer_twice" in defects):
                    _send(src[piece.src_rank].ckv[layer], piece, to, "transfer_twice" in defects)
    for layer in range(len(src[0].index_k)):
        keys, scales = _index_keys([p.index_k[layer] for p in src], src_locs)
        for pool in dst:
            mine = pool.index_k[layer].held(dst_locs).to(keys.device)
            pool.index_k[layer].restore((keys[mine], scales[mine]), dst_locs)
    for pool in dst:
        pool.state[dst_idx] = src[0].state[src_idx].to(device)


def _index_keys(caches: Sequence[IndexKCache], locs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the index keys and scales of ``locs``, in their order: any rank's where they are replicated, else each rank's own,
    put together."""
    if caches[0].dcp_span == 1:
        return caches[0].backup(locs)
    parts = [cache.backup(locs) for cache in caches]
    host.wait(locs.device)
    order = torch.cat([cache.held(locs).nonzero().flatten() for cache in caches]).argsort().cpu()
    keys, scales = (torch.cat(kind) for kind in zip(*parts, strict=True))
    return keys.view(torch.uint8)[order].view(keys.dtype), scales[order]


def _send(src: CkvPool, piece: Piece, to: CkvPool, twice: bool) -> None:
    values, rows = src.gather(piece.src_rows, "send_ckv"), piece.dst_rows
    if twice:
        to.watcher.expect(rows, Space.LOC, f"receive_ckv on {to.name}", "what is a row already would be divided twice")
        kept, again = public_cases.divided_again(rows, to.rank, to.dcp_span, to.interleave)
        values, rows = values[kept], tag(again, Space.ROW, to.rank, to.watcher.layout)
    to.scatter(rows, values, "receive_ckv")


def _raw(src: Sequence[CkvPool], src_locs: torch.Tensor, to: CkvPool, dst_locs: torch.Tensor) -> None:
    for pool in src:
        rows = index_spaces.localize(src_locs, pool.rank, pool.dcp_span, pool.interleave)
        here = rows >= 0
        values = pool.gather(tag(rows[here], Space.ROW, pool.rank, pool.watcher.layout), "send_ckv")
        to.scatter(retag(dst_locs[here], dst_locs), values, "receive_ckv")
