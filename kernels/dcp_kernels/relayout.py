"""Rows of one rank's pool to a rank of another node, where ranks may take turns otherwise.

Space: a *piece* is a run of tokens that are neighbours on both nodes, so it is three numbers: the loc of its first token on
either node, and how many they are. A node's rank is (rank, D, I): I locs go to one rank, then the next has its turn, and a rank
keeps its runs one behind the other. So the rows that a rank has of a piece are neighbours too, and no list of them is needed.
One launch moves what one source rank has of one piece to one target rank. It reads the rows that move, each once, and no
other; all pairs of ranks together read each row of the piece once. Values move as bits, whatever their dtype.
Contract: exercise 7e; upstream's interleave (vLLM's ``cp_kv_cache_interleave_size``).
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from dcp_kernels.runtime import check_dcp, check_devices, check_indices, check_interleave, check_rows, on, raw, tile_rows


class RelayoutPiece(NamedTuple):
    """``tokens`` tokens from the locs ``src_first`` and ``dst_first`` on."""

    src_first: int
    dst_first: int
    tokens: int


class NodeRank(NamedTuple):
    """One rank of a node with ``dcp_size`` ranks, which take ``interleave`` locs a turn."""

    rank: int
    dcp_size: int = 1
    interleave: int = 1

    def rows_below(self, loc: int) -> int:
        """Count this rank's rows of all locs below ``loc``: the row of its next loc from there on."""
        turns, rest = divmod(loc, self.dcp_size * self.interleave)
        return turns * self.interleave + min(max(rest - self.rank * self.interleave, 0), self.interleave)


@triton.jit(do_not_specialize=["first_row", "n", "src_rank", "dst_rank", "further"])
def relayout_rows_kernel(
    dst_ptr,
    src_ptr,
    first_row,
    n,
    further,
    src_rank,
    dst_rank,
    dst_stride,
    src_stride,
    SRC_SIZE: tl.constexpr,
    SRC_INTERLEAVE: tl.constexpr,
    DST_SIZE: tl.constexpr,
    DST_INTERLEAVE: tl.constexpr,
    V: tl.constexpr,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
):
    """Move ROWS of the source rank's rows ``first_row ..`` a program, those that are the target rank's. ``further``: what a
    token's target loc is more than its source loc."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    row = first_row + i
    loc = row // SRC_INTERLEAVE * (SRC_INTERLEAVE * SRC_SIZE) + src_rank * SRC_INTERLEAVE + row % SRC_INTERLEAVE + further
    moves = (i < n) & (loc // DST_INTERLEAVE % DST_SIZE == dst_rank)
    to = loc // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + loc % DST_INTERLEAVE
    c = tl.arange(0, COLS)
    mask = moves[:, None] & (c < V)[None, :]
    x = tl.load(src_ptr + row[:, None] * src_stride + c[None, :], mask=mask)
    tl.store(dst_ptr + to[:, None] * dst_stride + c[None, :], x, mask=mask)


def pieces(src_locs: Tensor, dst_locs: Tensor) -> list[RelayoutPiece]:
    """Cut a request's tokens into pieces: the longest runs whose locs are neighbours on both nodes.

    ``src_locs``, ``dst_locs [n]``: int32 or int64, locs of the same tokens on either node, in one order. A token with -1 on
    either side belongs to no piece: it is not there, or not wanted.
    """
    check_indices("src_locs", src_locs, src_locs.numel())
    check_indices("dst_locs", dst_locs, src_locs.numel())
    src, dst = src_locs.to("cpu", torch.int64), dst_locs.to("cpu", torch.int64)
    there = ((src >= 0) & (dst >= 0)).nonzero().flatten()
    src, dst = src[there], dst[there]
    begins = torch.ones(len(there), dtype=torch.bool)
    begins[1:] = (src.diff() != 1) | (dst.diff() != 1)
    at = begins.nonzero().flatten()
    lengths = torch.diff(at, append=torch.tensor([len(there)]))
    return [RelayoutPiece(*three) for three in zip(src[at].tolist(), dst[at].tolist(), lengths.tolist(), strict=True)]


def relayout(dst_pool: Tensor, src_pool: Tensor, piece: RelayoutPiece, dst: NodeRank, src: NodeRank) -> None:
    """Copy the rows of a piece that rank ``src`` has and rank ``dst`` must have, in place.

    ``dst_pool``, ``src_pool [rows, V]``: the two ranks' pools from row 0 on, one dtype, rows dense, any stride; not the same
    memory. ValueError if a pool ends before its rank's rows of the piece do. The oracle is ``reference.relayout``.
    """
    check_rows("dst_pool", dst_pool, src_pool.shape[1])
    check_rows("src_pool", src_pool)
    if dst_pool.dtype != src_pool.dtype:
        raise ValueError(f"dst_pool holds {dst_pool.dtype} and src_pool {src_pool.dtype}.")
    if piece.src_first < 0 or piece.dst_first < 0 or piece.tokens < 0:
        raise ValueError(f"Locs and lengths are not negative, and the piece is {tuple(piece)}.")
    for name, pool, node, first in (("src_pool", src_pool, src, piece.src_first), ("dst_pool", dst_pool, dst, piece.dst_first)):
        check_dcp(node.rank, node.dcp_size)
        check_interleave(node.interleave)
        begin, end = node.rows_below(first), node.rows_below(first + piece.tokens)
        if begin < end > pool.shape[0]:
            raise ValueError(f"{name} has {pool.shape[0]} rows, and the piece ends with row {end - 1}.")
    device = check_devices(dst_pool, src_pool)
    first_row = src.rows_below(piece.src_first)
    n, width = src.rows_below(piece.src_first + piece.tokens) - first_row, src_pool.shape[1]
    if n == 0 or width == 0:
        return
    cols = triton.next_power_of_2(width)
    tile = tile_rows(cols * src_pool.element_size())
    with on(device):
        relayout_rows_kernel[(triton.cdiv(n, tile),)](
            raw(dst_pool),
            raw(src_pool),
            first_row,
            n,
            piece.dst_first - piece.src_first,
            src.rank,
            dst.rank,
            dst_pool.stride(0),
            src_pool.stride(0),
            SRC_SIZE=src.dcp_size,
            SRC_INTERLEAVE=src.interleave,
            DST_SIZE=dst.dcp_size,
            DST_INTERLEAVE=dst.interleave,
            V=width,
            ROWS=tile,
            COLS=cols,
        )
