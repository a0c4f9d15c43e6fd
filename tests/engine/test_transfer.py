"""A request's KV between nodes with other ranks: each side translates its own locs, once."""

import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplab.engine import transfer
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.engine.tokenizer import Tokenizer

WORDS = 64
CONFIG = ServerConfig(size=64, page_size=4, dcp_size=1, layers=2, topk=16, chunk=24, max_requests=5)


def locs_of(draw, n, page_size, dcp_size, start):
    """Locs of positions start .. start + n - 1 of a request whose pages lie anywhere."""
    width = page_size * dcp_size
    pages = draw.sample(range(1, 200), -(-(start + n) // width) + 1)
    return torch.tensor([pages[p // width] * width + p % width for p in range(start, start + n)], dtype=torch.int64)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 6), st.integers(0, 70), st.integers(0, 30), st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_every_position_moves_once_from_its_row_to_its_row(src_dcp, dst_dcp, page_size, n, start, seed):
    draw = random.Random(seed)
    src, dst = locs_of(draw, n, page_size, src_dcp, start), locs_of(draw, n, page_size, dst_dcp, start)
    pieces = transfer.relayout(src, src_dcp, dst, dst_dcp)
    moved = [
        (p.src_rank, a, p.dst_rank, b) for p in pieces for a, b in zip(p.src_rows.tolist(), p.dst_rows.tolist(), strict=True)
    ]
    right = [(a % src_dcp, a // src_dcp, b % dst_dcp, b // dst_dcp) for a, b in zip(src.tolist(), dst.tolist(), strict=True)]
    assert sorted(moved) == sorted(right) and len(set(moved)) == n
    assert all(len(p.src_rows) for p in pieces)


def test_two_positions_in_numbers():
    """Locs 16 to 19 of a node with one rank, 33 to 36 of one with four: 33 is rank 1's row 8, 36 rank 0's row 9."""
    pieces = transfer.relayout(torch.arange(16, 20), 1, torch.arange(33, 37), 4)
    assert [(p.dst_rank, p.src_rows.tolist(), p.dst_rows.tolist()) for p in pieces] == [
        (0, [19], [9]),
        (1, [16], [8]),
        (2, [17], [8]),
        (3, [18], [8]),
    ]


def test_runs_of_two_lengths_are_refused():
    with pytest.raises(ValueError, match="3 locs are sent and 4 receive"):
        transfer.relayout(torch.arange(3), 1, torch.arange(4), 2)


@pytest.mark.parametrize("prefill_dcp", [1, 2, 3])
@pytest.mark.parametrize("dcp_size", [1, 2, 4])
def test_two_nodes_answer_what_one_does(prefill_dcp, dcp_size):
    draw = random.Random(10 * prefill_dcp + dcp_size)
    asked = [[0, *(draw.randrange(1, 12) for _ in range(draw.choice([1, 3, 17, 30])))] for _ in range(6)]
    expected = Engine(CONFIG, tokenizer=Tokenizer(WORDS)).generate(asked, 8)
    two = replace(CONFIG, dcp_size=dcp_size, prefill_dcp=prefill_dcp, need_sort=True, draft_tokens=draw.choice([0, 2]))
    server = Engine(two, tokenizer=Tokenizer(WORDS), typed=True, strict=True)
    assert server.generate(asked, 8) == expected
    assert server.metrics.extended == 0 and server.metrics.received > 0
    assert server.prefill.metrics.extended > 0 and not server.prefill.busy
    server.prefill.cache.clear()
    assert server.prefill.allocator.available == server.prefill.allocator.pages
    assert server.metrics.diverged == 0 and not server.workers[0].arena.damage()
