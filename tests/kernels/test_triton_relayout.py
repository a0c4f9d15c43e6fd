"""Rows from one layout to another, piece by piece: against the oracle, there and back, and how often a row is read."""

import itertools
import math

import numpy as np
import pytest
import torch
from dcp_kernels import reference, relayout
from dcp_kernels.relayout import NodeRank, RelayoutPiece
from dcp_kernels.runtime import INTERPRETED
from guarded import Guarded, bits, random_bits
from hypothesis import given
from hypothesis import strategies as st
from test_triton_rows import raw

SIZES, RUNS = st.sampled_from([1, 2, 3, 8]), st.sampled_from([1, 2, 5, 16])
DTYPES = st.sampled_from([torch.bfloat16, torch.float32, torch.uint8, torch.float8_e4m3fn])


def ranks(size: int, run: int) -> list[NodeRank]:
    return [NodeRank(rank, size, run) for rank in range(size)]


def rows_for(end: int, size: int, run: int) -> int:
    """Rows of a pool whose node has all locs below ``end``."""
    return -(-end // (size * run)) * run


@given(
    source=st.tuples(SIZES, RUNS),
    target=st.tuples(SIZES, RUNS),
    piece=st.tuples(st.integers(0, 70), st.integers(0, 70), st.sampled_from([0, 1, 9, 64, 131])),
    width=st.sampled_from([1, 36, 64]),
    dtype=DTYPES,
    gaps=st.tuples(st.sampled_from([0, 3, 16]), st.sampled_from([0, 5])),
    shift=st.sampled_from([0, 1]),
    seed=st.integers(0, 2**31),
)
def test_one_piece_between_one_pair(device, source, target, piece, width, dtype, gaps, shift, seed):
    """Rows of any width and distance, pools off their alignment, pieces that begin and end within a run, or are empty."""
    gen = torch.Generator().manual_seed(seed)
    src, dst = (NodeRank(int(torch.randint(size, (1,), generator=gen)), size, run) for size, run in (source, target))
    memory = Guarded(device)
    pools = [
        memory.place(random_bits(gen, (rows_for(first + piece[2], *node) + 1, width), dtype).to(device), gap, shift)
        for first, node, gap in ((piece[0], source, gaps[0]), (piece[1], target, gaps[1]))
    ]
    expected = pools[1].clone()
    reference.relayout(raw(expected), raw(pools[0]), piece, dst, src)
    with memory.watched():
        relayout.relayout(pools[1], pools[0], RelayoutPiece(*piece), dst, src)
    assert torch.equal(bits(pools[1]), bits(expected))
    memory.unchanged(pools[0])


@given(
    source=st.tuples(SIZES, RUNS),
    target=st.tuples(SIZES, RUNS),
    firsts=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    tokens=st.integers(1, 90),
)
def test_all_pairs_move_everything_there_and_back(device, source, target, firsts, tokens):
    """Each token once: a node's pools hold the piece at the other node's places, and then again at their own."""
    piece = RelayoutPiece(*firsts, tokens)
    src, dst = (
        [torch.full((rows_for(first + tokens, *node), 2), -1, device=device) for _ in range(node[0])]
        for first, node in zip(firsts, (source, target), strict=True)
    )
    for i in range(tokens):
        turn, rest = divmod(firsts[0] + i, source[0] * source[1])
        src[rest // source[1]][turn * source[1] + rest % source[1]] = i
    back = [torch.full_like(pool, -1) for pool in src]
    for from_pools, to_pools, from_node, to_node, of in (
        (src, dst, source, target, piece),
        (dst, back, target, source, RelayoutPiece(firsts[1], firsts[0], tokens)),
    ):
        for a in ranks(*from_node):
            for b in ranks(*to_node):
                relayout.relayout(to_pools[b.rank], from_pools[a.rank], of, b, a)
        assert sorted(v for pool in to_pools for v in pool[:, 0].tolist() if v >= 0) == list(range(tokens))
    assert all(torch.equal(a, b) for a, b in zip(src, back, strict=True))


@pytest.mark.skipif(not INTERPRETED, reason="only the interpreter shows each load")
def test_all_pairs_together_read_each_row_once(device, monkeypatch):
    from triton.runtime import interpreter

    (s, i), (t, j), piece = (3, 2), (4, 5), RelayoutPiece(7, 11, 100)
    pools = [torch.zeros(rows_for(107, s, i), 4, dtype=torch.int32) for _ in range(s)]
    into = [torch.zeros(rows_for(111, t, j), 4, dtype=torch.int32) for _ in range(t)]
    counts = {pool.data_ptr(): np.zeros(pool.numel(), dtype=int) for pool in pools}
    load = interpreter.InterpreterBuilder.create_masked_load

    def counted(self, pointers, mask, *rest, **more):
        for address in pointers.data[mask.data].ravel().tolist():
            start = max((p for p in counts if p <= address), default=None)
            assert start is not None and address < start + counts[start].size * 4
            counts[start][(address - start) // 4] += 1
        return load(self, pointers, mask, *rest, **more)

    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_masked_load", counted)
    for a in ranks(s, i):
        for b in ranks(t, j):
            relayout.relayout(into[b.rank], pools[a.rank], piece, b, a)
    found = np.concatenate(list(counts.values()))
    assert found.max() == 1 and found.sum() == piece.tokens * 4


@given(
    lengths=st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.booleans()), max_size=8),
    holes=st.sets(st.integers(0, 40), max_size=4),
)
def test_pieces_are_the_longest_common_runs(lengths, holes):
    """Runs whose locs go on, or jump on either side; a hole (-1) belongs to none."""
    src, dst, at = [], [], [5, 900]
    for length, jump_src, jump_dst in lengths:
        at = [at[0] + 7 * jump_src, at[1] + 3 * jump_dst]
        for _ in range(length):
            src.append(at[0])
            dst.append(-1 if len(dst) in holes else at[1])
            at = [at[0] + 1, at[1] + 1]
    found = relayout.pieces(torch.tensor(src, dtype=torch.int64), torch.tensor(dst, dtype=torch.int32))
    tokens = [(p.src_first + k, p.dst_first + k) for p in found for k in range(p.tokens)]
    assert tokens == [(a, b) for a, b in zip(src, dst, strict=True) if b >= 0]
    for p, q in itertools.pairwise(found):
        assert (p.src_first + p.tokens, p.dst_first + p.tokens) != (q.src_first, q.dst_first)


def test_far_rows_and_far_locs(device):
    """Rows past 2^31 elements on either side by a stride, and locs past 2^33 on many ranks."""
    stride, far = 2**22, 2**31 // 2**22 + 3
    memory = torch.empty((far + 4) * stride + 8, dtype=torch.uint8, device=device)
    pool = memory.as_strided((far + 5, 8), (stride, 1))
    near = torch.arange(40, dtype=torch.uint8, device=device).view(5, 8)
    one, pair = NodeRank(0), NodeRank(1, 2, 1)
    relayout.relayout(pool, near, RelayoutPiece(0, 2 * far, 5), pair, one)
    assert torch.equal(pool[far : far + 2], near[1:5:2])
    back = torch.zeros_like(near)
    relayout.relayout(back, pool, RelayoutPiece(2 * far, 0, 5), one, pair)
    assert torch.equal(back[1::2], near[1::2]) and not back[::2].any()
    many = NodeRank(2**30 + 7, 2**31 + 2**10, 3)
    first = 2 * many.dcp_size * 3 + many.rank * 3
    there = torch.zeros(9, 8, dtype=torch.uint8, device=device)
    relayout.relayout(there, near, RelayoutPiece(1, first, 4), many, one)
    assert torch.equal(there[6:], near[1:4]) and not there[:6].any()


@pytest.mark.gpu
def test_many_rows_of_a_server(device):
    """Two ranks by one to eight ranks by 64, over 2^31 elements on the source: 4.2 million rows of 576 in bf16."""
    tokens, width = 2 * (2**31 // 576 + 64), 576
    src, dst, piece = (2, 1), (8, 64), RelayoutPiece(128, 512, tokens)
    row = torch.arange(rows_for(128 + tokens, *src), device=device, dtype=torch.int32)
    pools = [(row[:, None] * 2 + rank).to(torch.int32).view(torch.int16).repeat(1, width // 2) for rank in range(2)]
    assert pools[0].numel() > 2**31
    for rank in (0, 5):
        into = torch.zeros(rows_for(512 + tokens, *dst), width, dtype=torch.int16, device=device)
        for a in ranks(*src):
            relayout.relayout(into, pools[a.rank], piece, NodeRank(rank, *dst), a)
        loc = torch.arange(512, 512 + tokens, device=device)
        loc = loc[loc // 64 % 8 == rank]
        held = into.view(torch.int32)[loc // 512 * 64 + loc % 64]
        assert torch.equal(held, (loc - 384).int()[:, None].expand_as(held))
        assert math.prod(held.shape) == int((into.view(torch.int32) != 0).sum())


def test_what_does_not_fit_is_refused(device):
    pool, one = torch.zeros(4, 8, device=device), NodeRank(0)
    for bad in (
        lambda: relayout.relayout(pool, pool.clone().T, RelayoutPiece(0, 0, 4), one, one),
        lambda: relayout.relayout(pool, torch.zeros(4, 7, device=device), RelayoutPiece(0, 0, 4), one, one),
        lambda: relayout.relayout(pool.half(), pool, RelayoutPiece(0, 0, 4), one, one),
        lambda: relayout.relayout(pool, pool.clone(), RelayoutPiece(0, 0, 5), one, one),
        lambda: relayout.relayout(pool, pool.clone(), RelayoutPiece(0, 4, 5), NodeRank(0, 2, 2), one),
        lambda: relayout.relayout(pool, pool.clone(), RelayoutPiece(-1, 0, 2), one, one),
        lambda: relayout.relayout(pool, pool.clone(), RelayoutPiece(0, 0, 2), NodeRank(2, 2), one),
        lambda: relayout.relayout(pool, pool.clone(), RelayoutPiece(0, 0, 2), one, NodeRank(0, 2, 0)),
        lambda: relayout.pieces(torch.arange(3), torch.arange(4)),
        lambda: relayout.pieces(torch.arange(3.0), torch.arange(3)),
    ):
        with pytest.raises(ValueError, match=r"[.]$"):
            bad()
    relayout.relayout(
        pool, pool.clone(), RelayoutPiece(7, 1, 1), NodeRank(1, 2, 4), NodeRank(0, 2, 4)
    )  # neither rank has the token
