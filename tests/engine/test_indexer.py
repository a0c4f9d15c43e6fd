"""A sharded indexer: exact says what a replicated one says, token for token; union reads more, and says how much and where."""

import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from test_interleave import answers_alike, servers
from test_schedules import BASE, engine, prompts

from dcplab.engine import configurator, indexer, ops
from dcplab.engine.indexer import Candidates
from dcplab.engine.space_tags import Space
from dcplab.errors import CourseError


@settings(max_examples=5, deadline=None)
@given(config=servers(), seed=st.integers(0, 2**16))
def test_exact_answers_as_one_rank_does(config, seed):
    server = answers_alike(replace(config, indexer="exact"), seed)
    if config.dcp_size > 1:
        assert server.shared.monitor.valid == server.shared.monitor.selected and server.shared.choices.more == 0


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(config=servers(), seed=st.integers(0, 2**16), prefill=st.sampled_from([0, 0, 1, 3]))
def test_exact_with_any_prefill_node(config, seed, prefill):
    answers_alike(replace(config, indexer="exact", prefill_dcp=prefill), seed, often=0.6)


def long_ones(seed):
    """Prompts of more tokens than top-k has keys, on each of a few ranks."""
    draw = random.Random(seed)
    return [[0, *(draw.randrange(1, 12) for _ in range(n))] for n in (33, 40, 51)]


def captured(config, asked):
    server = engine(config, capture=True)
    return server.generate(asked, 6), server


@pytest.mark.parametrize(("dcp_size", "interleave"), [(2, 1), (3, 4), (8, 2)])
def test_exact_attends_to_what_a_replicated_indexer_attends_to(dcp_size, interleave):
    """Not the words alone: the same keys, so the same output and LSE in each layer and step."""
    asked = long_ones(4)
    config = replace(BASE, dcp_size=dcp_size, interleave=interleave, size=256, topk=8, prefix_cache=False)
    words, replicated = captured(config, asked)
    again, exact = captured(replace(config, indexer="exact"), asked)
    assert again == words and len(replicated.shared.captured) == len(exact.shared.captured) > 0
    for a, b in zip(replicated.shared.captured, exact.shared.captured, strict=True):
        torch.testing.assert_close(a["out"], b["out"], atol=1e-6, rtol=0)
        if a["lse"] is not None:
            torch.testing.assert_close(a["lse"], b["lse"], atol=1e-6, rtol=0)


def test_union_reads_more_and_says_how_much_and_where():
    asked = long_ones(5)
    config = replace(BASE, dcp_size=4, size=256, topk=8, prefix_cache=False)
    words, exact = captured(replace(config, indexer="exact"), asked)
    again, union = captured(replace(config, indexer="union"), asked)
    m = union.shared.monitor
    assert again == words, "here the keys that are read beyond the whole top-k weigh little"
    assert m.valid == m.selected > exact.shared.monitor.selected and not m.alarm
    reads = union.shared.choices
    assert 0 < reads.more <= 3 * reads.whole and 0 < reads.queries
    assert "layer 0, position" in reads.first and "more than the 8 of the whole top-k" in reads.first
    apart = [
        (a["out"] - b["out"]).abs().amax((1, 2))
        for a, b in zip(exact.shared.captured, union.shared.captured, strict=True)
        if a["out"].shape == b["out"].shape
    ]
    assert max(float(d.max()) for d in apart) > 1e-6, "but they weigh something"
    everything = replace(config, topk=64, indexer="union")
    assert captured(everything, asked)[1].shared.choices.more == 0, "where all keys are selected there are no more"


def test_an_unwatched_union_gathers_nothing_in_decode():
    asked = prompts(random.Random(3), 3, 40)
    config = replace(BASE, dcp_size=3, size=96, topk=8, indexer="union")
    server, gathers = engine(config, watch=False), []
    real = server.comm.all_gather
    server.comm.all_gather = lambda parts: gathers.append(parts[0].dtype) or real(parts)
    assert server.generate(asked, 4) == engine(config).generate(asked, 4)
    gathers.clear()
    server.submit(asked[0], 2)
    server.step()
    gathers.clear()
    server.step()
    assert torch.int32 not in gathers and len(gathers) == 2 * config.layers + 1  # outputs, LSEs, and the tokens


@pytest.mark.parametrize("kind", ["exact", "union"])
@pytest.mark.parametrize(
    "more", [dict(draft_tokens=2), dict(mixed=True), dict(host_tokens=12, need_sort=True), dict(prefill_dcp=3)]
)
def test_retractions_drafts_and_prefill_nodes(kind, more):
    config = replace(BASE, dcp_size=4, page_size=4, interleave=2, size=24, indexer=kind, **more)
    if kind == "exact":
        assert answers_alike(config, 7, often=0.8).metrics.retractions > 3
    else:
        server = engine(config, typed=True, strict=True)
        asked = prompts(random.Random(2), 5, 30)
        server.generate(asked, 6)
        assert server.metrics.diverged == 0 and server.shared.monitor.valid == server.shared.monitor.selected


# The bill.


def test_index_k_costs_a_rank_a_dth():
    replicated = configurator.ServerConfig(size=1024, page_size=8, dcp_size=8)
    sharded = replace(replicated, indexer="exact")
    bills = [{c.consumer: c for c in configurator.charges(config)} for config in (replicated, sharded)]
    assert bills[0]["index_k.0"].bytes == 8 * bills[1]["index_k.0"].bytes == 8 * 1032 * 132
    assert bills[1]["index_k.0"].stored == "sharded" and bills[1]["index_k.0"].space is Space.ROW
    assert bills[0]["ckv.0"] == bills[1]["ckv.0"]
    rows = [configurator.bytes_per_row(config) for config in (replicated, sharded)]
    assert rows == [3 * (1024 + 8 * 132), 3 * (1024 + 132)]
    budget = 3 * (1024 + 8 * 132) * (1024 + 8)
    assert configurator.size_for(budget, replicated) == 1024 and configurator.size_for(budget, sharded) == 1848
    one = replace(sharded, dcp_size=1)
    assert not one.index_k_sharded and configurator.bytes_per_row(one) == 3 * (1024 + 132)


def test_an_indexer_that_there_is_not_is_refused():
    with pytest.raises(CourseError, match="no indexer called 'some'; there are replicated, exact, union"):
        replace(BASE, indexer="some").check()


# The arithmetic.


@given(
    dcp_size=st.integers(1, 5),
    interleave=st.sampled_from([1, 2, 3]),
    count=st.integers(1, 40),
    topk=st.integers(1, 12),
    levels=st.integers(1, 5),
    seed=st.integers(0, 2**31),
)
def test_of_equal_scores_the_lower_position_wins(dcp_size, interleave, count, topk, levels, seed):
    """Few levels, so many ties: the candidates of all ranks give what one top-k over all scores gives."""
    gen = torch.Generator().manual_seed(seed)
    scores = torch.randint(0, levels, (3, count), generator=gen).float()
    position = torch.arange(count)
    own = []
    for rank in range(dcp_size):
        mine = position[position // interleave % dcp_size == rank]
        columns = ops.topk_select(scores[:, mine], topk) if len(mine) else torch.full((3, topk), -1, dtype=torch.int32)
        there, at = columns >= 0, columns.clamp(min=0).long()
        positions = torch.where(there, mine[at] if len(mine) else -1, -1).to(torch.int32)
        best = scores[:, mine].gather(1, at) if len(mine) else columns.float()
        own.append(Candidates(positions, torch.where(there, best, float("-inf"))))
    everyone = indexer.join(torch.stack([indexer.pack(c) for c in own]))
    whole = indexer.best(indexer.in_order(everyone), topk)
    assert torch.equal(whole, ops.topk_select(scores, topk))
