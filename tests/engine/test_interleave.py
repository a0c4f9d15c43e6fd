"""Several locs to a rank a turn: what one rank answers, D ranks answer, whatever divisor of the page they are dealt by."""

import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_schedules import BASE, drive, engine, prompts, untouched

from dcplab.engine import index_spaces, transfer
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.index_spaces import Layout
from dcplab.engine.space_tags import Space, SpaceError, layout_of, tag
from dcplab.errors import CourseError


def divisors(page_size):
    return [n for n in range(1, page_size + 1) if page_size % n == 0]


@st.composite
def servers(draw):
    """A server of any layout: small, so that pages are evicted and requests retracted."""
    dcp_size, page_size = draw(st.integers(1, 8)), draw(st.sampled_from([1, 2, 4, 6, 8]))
    pages = max(3, 72 // (dcp_size * page_size))
    return replace(
        BASE,
        dcp_size=dcp_size,
        page_size=page_size,
        interleave=draw(st.sampled_from(divisors(page_size))),
        kernel_block_size=draw(st.sampled_from([0, *divisors(page_size)])),
        size=max(pages, -(-60 // (dcp_size * page_size)) + 1) * page_size,
        chunk=draw(st.sampled_from([5, 16, 40])),
        mixed=draw(st.booleans()),
        draft_tokens=draw(st.sampled_from([0, 0, 2])),
        host_tokens=draw(st.sampled_from([None, None, 12])),
        need_sort=draw(st.booleans()),
    )


def answers_alike(config, seed, often=0.3):
    draw = random.Random(seed)
    asked = [(p, draw.randint(1, 10)) for p in prompts(draw, 5, 36)]
    server = engine(config, typed=True, strict=True)
    assert drive(server, asked, draw, often) == drive(engine(BASE), asked)
    untouched(server)
    return server


@settings(max_examples=6, deadline=None)
@given(config=servers(), seed=st.integers(0, 2**16))
def test_any_layout_answers_as_one_rank_does(config, seed):
    server = answers_alike(config, seed)
    if config.dcp_size > 1:
        assert server.shared.monitor.valid == server.shared.monitor.selected


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(config=servers(), seed=st.integers(0, 2**16), prefill=st.sampled_from([(0, 0), (0, 0), (1, 1), (3, 2), (2, 0)]))
def test_any_layout_and_any_prefill_node(config, seed, prefill):
    turn = prefill[1] if config.page_size % max(prefill[1], 1) == 0 else 0
    answers_alike(replace(config, prefill_dcp=prefill[0], prefill_interleave=turn), seed, often=0.6)


@pytest.mark.parametrize("interleave", [2, 4])
@pytest.mark.parametrize("more", [{}, dict(draft_tokens=2, host_tokens=12), dict(prefill_dcp=3, prefill_interleave=1)])
def test_retractions_change_no_token(interleave, more):
    config = replace(BASE, dcp_size=3, page_size=4, interleave=interleave, size=32, need_sort=True, **more)
    server = answers_alike(config, interleave, often=0.9)
    assert server.metrics.retractions > 3
    assert (server.metrics.received > 0) == ("prefill_dcp" in more)


def test_an_unwatched_server_answers_alike():
    asked = prompts(random.Random(3), 5, 40)
    config = replace(BASE, dcp_size=3, size=96, interleave=4)
    assert engine(config, watch=False).generate(asked, 6) == engine(BASE).generate(asked, 6)


# The arithmetic.


@given(dcp_size=st.integers(1, 8), interleave=st.sampled_from([1, 2, 3, 8, 64]), loc=st.integers(0, 2**40))
def test_a_loc_has_one_owner_and_comes_back(dcp_size, interleave, loc):
    rank, row = index_spaces.owner_rank(loc, dcp_size, interleave), index_spaces.local_row(loc, dcp_size, interleave)
    assert (rank, row) == (loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave)
    assert index_spaces.loc_of(row, rank, dcp_size, interleave) == loc
    for other in range(dcp_size):
        expected = row if other == rank else -1
        assert index_spaces.localize(loc, other, dcp_size, interleave) == expected
        assert index_spaces.localize(torch.tensor([loc, -1]), other, dcp_size, interleave).tolist() == [expected, -1]


@pytest.mark.parametrize("dcp_size", range(1, 9))
@pytest.mark.parametrize("interleave", [1, 2, 5])
def test_held_counts_and_rank_0_has_the_most(dcp_size, interleave):
    lengths = torch.arange(60)
    owners = index_spaces.owner_rank(lengths, dcp_size, interleave)
    for rank in range(dcp_size):
        counted = [int((owners[:n] == rank).sum()) for n in range(60)]
        assert index_spaces.held(lengths, rank, dcp_size, interleave).tolist() == counted
        assert [index_spaces.held(n, rank, dcp_size, interleave) for n in range(60)] == counted
        most = index_spaces.held(lengths, 0, dcp_size, interleave)
        assert bool((most >= torch.tensor(counted)).all()) and int((most - torch.tensor(counted)).max()) <= interleave


@pytest.mark.parametrize("interleave", [1, 2, 4])
def test_a_page_of_locs_is_a_page_of_rows_on_every_rank(interleave):
    """What a block table of allocator pages needs: D = 3, P = 4, page 5 is rows 20 to 23 everywhere."""
    locs = index_spaces.page_locs(5, 4, 3)
    for rank in range(3):
        rows = index_spaces.localize(locs, rank, 3, interleave)
        assert rows[rows >= 0].tolist() == [20, 21, 22, 23]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(interleave=3), "interleave must divide the page of 8 rows, and 3 does not"),
        (dict(interleave=0), "interleave must divide the page of 8 rows, and 0 does not"),
        (dict(interleave=16), "and 16 does not"),
        (dict(prefill_dcp=2, prefill_interleave=5), "prefill_interleave must divide the page of 8 rows, and 5 does not"),
    ],
)
def test_a_turn_that_does_not_divide_the_page_is_refused(change, words):
    with pytest.raises(CourseError, match=words):
        replace(ServerConfig(), **change).check()


# Typed spaces know whose locs and rows they are.


def test_an_index_of_another_layout_is_refused_and_both_are_named():
    server = engine(replace(BASE, dcp_size=8, page_size=64, size=256, interleave=64), typed=True)
    other = engine(replace(BASE, dcp_size=8, page_size=64, size=256), typed=True)
    mine, theirs = (e.allocator.locs([1], 0, 70) for e in (server, other))
    assert torch.equal(mine, theirs) and layout_of(mine) == Layout(8, 64) and layout_of(theirs) == Layout(8, 1)
    pool = server.pools[0].ckv[0]
    pool.rows(mine)
    words = r"rows of ckv.0 takes a loc of \(D = 8, I = 64\) and was given a loc of \(D = 8, I = 1\): the same number"
    with pytest.raises(SpaceError, match=words) as raised:
        pool.rows(theirs)
    assert raised.value.layouts == (Layout(8, 1), Layout(8, 64)) and raised.value.given is raised.value.needed is Space.LOC
    rows = other.pools[0].ckv[0].rows(theirs)
    words = r"a row of rank 0 of \(D = 8, I = 64\) and was given a row of rank 0 of \(D = 8, I = 1\)"
    with pytest.raises(SpaceError, match=words):
        pool.gather(rows, "get_cpu_copy")


def test_on_one_rank_every_turn_is_the_same():
    one = engine(replace(BASE, interleave=4), typed=True)
    one.pools[0].ckv[0].rows(engine(BASE).allocator.locs([1], 0, 3))
    assert one.config.layout == Layout(1, 1)
    assert layout_of(tag(torch.arange(3), Space.LOC)) is None


@given(
    src=st.tuples(st.integers(1, 5), st.sampled_from([1, 2, 4])),
    dst=st.tuples(st.integers(1, 5), st.sampled_from([1, 2, 4])),
    first=st.integers(0, 50),
    count=st.integers(1, 60),
)
def test_a_relayout_moves_each_token_once(src, dst, first, count):
    src_locs, dst_locs = torch.arange(first, first + count), torch.arange(count) + 16 * dst[0]
    landed = []
    for piece in transfer.relayout(src_locs, src[0], dst_locs, dst[0], src[1], dst[1]):
        assert layout_of(piece.src_rows) == Layout.of(*src) and layout_of(piece.dst_rows) == Layout.of(*dst)
        from_locs = index_spaces.globalize(piece.src_rows, piece.src_rank, *src)
        to_locs = index_spaces.globalize(piece.dst_rows, piece.dst_rank, *dst)
        landed += list(zip(from_locs.tolist(), to_locs.tolist(), strict=True))
    assert sorted(landed) == list(zip(src_locs.tolist(), dst_locs.tolist(), strict=True))
