"""The solutions of lab 06 against the engine's allocator, its transfer, and brute force: every token is looked for by name."""

import itertools
import random

import pytest
import torch

from dcplab.course import catalog
from dcplab.course.model import Launch
from dcplab.course.seeded import Draw
from dcplab.engine import transfer
from dcplab.engine.allocator import DoubleFree, PagedAllocator

LAB = catalog.lab("06")
RANKS = (1, 2, 3, 4, 6, 8)


def solved(part):
    names = {}
    exec(LAB.key(part).solution.source, names)
    return names


def stay(draw, length, page_size, dcp_size):
    """Locs of a request that gets pages in no order, as an allocator that has served others gives them."""
    allocator = PagedAllocator(40 * page_size, page_size, dcp_size)
    pages = draw.sample(range(1, 41), allocator.pages_needed(0, length))
    return allocator.locs(pages, 0, length)


@pytest.mark.parametrize("dcp_size", RANKS)
def test_the_view_is_the_mask_or_refuses(dcp_size):
    kernel_rows, draw = solved("6a")["kernel_rows"], random.Random(dcp_size)
    refused = 0
    for _ in range(200):
        start, page_size = draw.randrange(9), draw.randint(1, 4)
        locs = stay(draw, start + draw.randint(0, 30), page_size, dcp_size)[start:]
        fits = all(int(loc) % dcp_size == i % dcp_size for i, loc in enumerate(locs))
        for rank in range(dcp_size):
            if fits:
                assert torch.equal(kernel_rows(locs, dcp_size, rank), locs[locs % dcp_size == rank] // dcp_size)
            else:
                refused += 1
                with pytest.raises(ValueError):
                    kernel_rows(locs, dcp_size=dcp_size, dcp_rank=rank)
    assert bool(refused) == (dcp_size > 1)


@pytest.mark.parametrize("dcp_size", RANKS)
def test_a_night_brings_every_token_to_its_new_row_and_touches_no_other(dcp_size):
    names, draw = solved("6b"), random.Random(dcp_size)
    for _ in range(40):
        length, page_size = draw.randint(0, 30), draw.randint(1, 4)
        old, new = stay(draw, length, page_size, dcp_size), stay(draw, length, page_size, dcp_size)
        rows = 42 * page_size
        for rank in range(dcp_size):
            pool = torch.arange(rows * 2, dtype=torch.float32).reshape(rows, 2) + 1000
            before = pool.clone()
            saved = names["backup"](pool, old, rank, dcp_size)
            assert torch.equal(pool, before)
            names["restore"](pool, saved, new, rank, dcp_size)
            wanted = before.clone()
            for a, b in zip(old.tolist(), new.tolist(), strict=True):
                if a % dcp_size == rank:
                    wanted[b // dcp_size] = before[a // dcp_size]
            assert torch.equal(pool, wanted)


def test_a_pool_whose_ids_are_rows_is_not_divided_and_asks_no_rank():
    backup = solved("6b")["backup"]
    pool, ids = torch.arange(20.0)[:, None], torch.tensor([7, 3, 12])
    for rank in range(4):
        assert backup(pool, ids, rank, 1).flatten().tolist() == [7, 3, 12]


@pytest.mark.parametrize("dcp_size", RANKS)
def test_what_is_merged_frees_each_page_once_and_what_is_not_may_free_one_twice(dcp_size):
    merge_frees, draw = solved("6c")["merge_frees"], random.Random(dcp_size)
    page_size, twice = 4, 0
    width = page_size * dcp_size
    for _ in range(60):
        length = draw.randint(2, 6 * width)
        cuts = sorted(draw.sample(range(1, length), min(3, length - 1)))
        pieces = list(itertools.pairwise([0, *cuts, length]))
        merged = merge_frees(draw.sample(pieces, len(pieces)), page_size, dcp_size)
        assert merged == [(0, length)]
        for segments, once in ((merged, True), (pieces, False)):
            allocator = PagedAllocator(10 * page_size, page_size, dcp_size)
            pages = allocator.issue(-(-length // width))
            try:
                for start, end in segments:
                    allocator.release(pages[start // width : -(-end // width)])
            except DoubleFree:
                assert not once
                twice += 1
            else:
                assert allocator.available == 10
    assert twice


@pytest.mark.parametrize("src_size, dst_size", list(itertools.product(RANKS, RANKS)))
def test_a_transfer_is_the_engine_s_and_every_token_lands_once(src_size, dst_size):
    transfer_rows, draw = solved("6e")["transfer_rows"], random.Random(10 * src_size + dst_size)
    length = draw.randint(1, 40)
    src, dst = stay(draw, length, 2, src_size), stay(draw, length, 3, dst_size)
    pieces = {(p.src_rank, p.dst_rank): p for p in transfer.relayout(src, src_size, dst, dst_size)}
    landed = []
    for src_rank, dst_rank in itertools.product(range(src_size), range(dst_size)):
        read, written = transfer_rows(src, dst, src_size, src_rank, dst_size, dst_rank)
        piece = pieces.get((src_rank, dst_rank))
        assert read.tolist() == (piece.src_rows.tolist() if piece else [])
        assert written.tolist() == (piece.dst_rows.tolist() if piece else [])
        landed += [row * dst_size + dst_rank for row in written.tolist()]
    assert sorted(landed) == sorted(dst.tolist())


def test_a_prediction_s_answer_is_what_the_solutions_give():
    assert torch.arange(65, 73)[0::4].tolist()[0] // 4 == 16 and 65 % 4 == 1  # 6a
    rows = [[loc // 4 for loc in range(first, first + 7) if loc % 4 == 1] for first in (32, 80)]
    assert rows == [[8, 9], [20, 21]]  # 6b
    pages = [range(start // 512, -(-end // 512)) for start, end in ((0, 576), (576, 1000))]
    assert set(pages[0]) & set(pages[1]) == {1}  # 6c
    one, other = torch.tensor([69]), torch.tensor([133])
    read, written = solved("6e")["transfer_rows"](one, other, 1, 0, 4, 1)
    assert (read.item(), written.item()) == (69, 33)


@pytest.mark.parametrize("seed", [1, 20260])
def test_the_kernel_s_cases_reach_past_2_to_the_31_and_leave_rows_that_are_not_here(seed):
    cases = [case for case in LAB.part("6f").cases(Draw(seed)) if isinstance(case, Launch)]
    farthest = 0
    absent = 0
    for case in cases:
        c, (dst_stride, src_stride) = case.constexprs, case.args[5:]
        src_rows = -(-case.buffers["src"].numel() // src_stride)
        pairs = zip(case.buffers["src_loc"].tolist(), case.buffers["dst_loc"].tolist(), strict=True)
        for a, b in pairs:
            moves = b >= 0 and a % c["SRC_SIZE"] == c["SRC_RANK"] and b % c["DST_SIZE"] == c["DST_RANK"]
            if moves:
                farthest = max(farthest, b // c["DST_SIZE"] * dst_stride)
                assert a // c["SRC_SIZE"] < src_rows
            absent += a // c["SRC_SIZE"] >= src_rows
    assert farthest > 2**31 and absent


@pytest.mark.parametrize("part", [part.id for part in LAB.parts])
def test_every_seed_gives_cases(part):
    """Cases that are drawn until float64 is wrong on them come to an end, whoever the rank is."""
    for seed in range(60):
        assert LAB.part(part).cases(Draw(seed))
