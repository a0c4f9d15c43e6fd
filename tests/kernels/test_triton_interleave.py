"""Several locs to a rank a turn: writers, top-k and workspace against plain loops, and against their oracles."""

import pytest
import torch
from dcp_kernels import ckv_write, index_space, ragged, reference, topk_transform
from guarded import Guarded
from hypothesis import given
from hypothesis import strategies as st

RANKS, TURNS = st.sampled_from([1, 2, 3, 8]), st.sampled_from([1, 2, 5, 64])


def dealt(count: int, dcp_size: int, interleave: int) -> list[tuple[int, int]]:
    """Owner and row of locs 0, 1, ...: dealt like cards, ``interleave`` at a time."""
    hands = [0] * dcp_size
    out = []
    for loc in range(count):
        rank = loc // interleave % dcp_size
        out.append((rank, hands[rank]))
        hands[rank] += 1
    return out


@given(dcp_size=RANKS, interleave=TURNS, dtype=st.sampled_from([torch.int64, torch.int32]), far=st.booleans())
def test_a_table_and_a_selection(device, dcp_size, interleave, dtype, far):
    rounds = interleave * dcp_size
    base = (2**31 // rounds - 9) * rounds if far else 0  # beyond it a row may not fit int32
    if far and dtype is torch.int64:
        base += 5 * 2**20 * rounds
    count = 8 * rounds + 3
    expected = dealt(count, dcp_size, interleave)
    locs = torch.cat([torch.arange(count) + base, torch.tensor([-1, -1])]).to(device, dtype)
    if dtype is torch.int32 and base + count > 2**31:
        return
    first = base // dcp_size
    for rank in range(dcp_size):
        want = [first + row if owner == rank else -1 for owner, row in expected] + [-1, -1]
        rows = index_space.localize_page_table(locs, rank, dcp_size, interleave)
        assert rows.tolist() == want
        assert reference.localize_page_table(locs, rank, dcp_size, interleave).tolist() == want
        mine = [row for row in want if row >= 0]
        if not mine or max(mine) < 2**31:
            for module in (topk_transform, reference):
                rows, counts = module.localize_topk(locs[None], rank, dcp_size, interleave)
                assert rows[0].tolist() == mine + [-1] * (len(want) - len(mine)) and counts.tolist() == [len(mine)]


@given(dcp_size=RANKS, interleave=TURNS, seed=st.integers(0, 2**31))
def test_the_writer(device, dcp_size, interleave, seed):
    gen = torch.Generator().manual_seed(seed)
    count = 4 * interleave * dcp_size
    places = dealt(count, dcp_size, interleave)
    memory = Guarded(device)
    picked = torch.randperm(count, generator=gen)[: max(1, count // 2)]
    locs = torch.cat([picked, torch.tensor([-1])]).to(device)
    src = memory.place(torch.randn(len(locs), 36, generator=gen).to(device))
    for rank in range(dcp_size):
        pool = memory.place(torch.zeros(4 * interleave, 36, device=device), 3)
        expected = torch.zeros(4 * interleave, 36, device=device)
        for i, loc in enumerate(picked.tolist()):
            if places[loc][0] == rank:
                expected[places[loc][1]] = src[i]
        with memory.watched():
            ckv_write.write_ckv_norope(pool, src, locs, rank, dcp_size, interleave)
        assert torch.equal(pool, expected)
        plain = torch.zeros_like(expected)
        reference.write_ckv_norope(plain, src, locs, rank, dcp_size, interleave)
        assert torch.equal(plain, expected)


@given(
    dcp_size=RANKS,
    interleave=st.sampled_from([1, 2, 5, 16]),
    lens=st.lists(st.tuples(st.integers(0, 70), st.integers(0, 40), st.integers(0, 9)), min_size=1, max_size=5),
)
def test_the_workspace(device, dcp_size, interleave, lens):
    """Shards as ranks hand them over, beginning anywhere: the rows of each start at those of the first position's round."""
    a_round = interleave * dcp_size
    places = dealt(120, dcp_size, interleave)
    blocks, whole, token = [], [], 0.0
    for length, start, fresh in lens:
        first = start // a_round * interleave
        own = [places[p] for p in range(start, start + length)]
        padded = max((row - first + 1 for rank, row in places[: start + length] if rank == 0), default=0) if length else 0
        block = torch.full((dcp_size, padded, 4), torch.nan)
        for rank, row in own:
            token += 1
            block[rank, row - first] = token
            whole.append(token)
        blocks.append(block)
        whole += [-float(len(whole))] * fresh
    out = torch.tensor(whole).view(-1, 1).expand(-1, 4)
    extend = out[out[:, 0] <= 0] if len(out) else torch.zeros(0, 4)
    shards = torch.cat(blocks, 1).to(device)
    given = [torch.tensor(column, device=device) for column in zip(*lens, strict=True)]
    for module in (ragged, reference):
        got = module.assemble_ragged(shards, extend.contiguous().to(device), *given, dcp_size, None, interleave)
        assert torch.equal(got, out.to(device)), module.__name__


def test_no_turn_of_nothing(device):
    with pytest.raises(ValueError, match="interleave must be at least 1, not 0"):
        topk_transform.localize_topk(torch.zeros(1, 4, dtype=torch.int64, device=device), 0, 2, 0)
