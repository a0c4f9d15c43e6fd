"""With every patch, D ranks answer what one rank answers, token for token: random schedules, ragged lengths, full pools."""

import random
from dataclasses import replace

import pytest
import torch

from dcplab.engine import index_spaces
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.engine.tokenizer import Tokenizer

WORDS = 64
BASE = ServerConfig(size=64, page_size=4, dcp_size=1, layers=2, topk=16, chunk=24, max_requests=5)


def engine(config, **more):
    return Engine(config, tokenizer=Tokenizer(WORDS), **more)


def prompts(draw, count, longest):
    """Token ids with repeats, so that there is something to look up; lengths from 1, many of them under any D."""
    out = []
    for _ in range(count):
        length = draw.choice([1, 2, 3, draw.randint(1, longest), draw.randint(1, longest)])
        out.append([0, *(draw.randrange(1, 12) for _ in range(length - 1))])
    # Some share a beginning, as conversations do.
    out += [p + [draw.randrange(1, 12) for _ in range(draw.randint(1, 9))] for p in draw.sample(out, count // 3)]
    return out


def drive(server, asked, draw=None, often=0.3):
    """Submit over time, retract at random, so often after a step, run dry. Gives the outputs in the order of ``asked``."""
    queue, requests = list(enumerate(asked)), {}
    while queue or server.busy:
        while queue and (draw is None or not server.busy or draw.random() < 0.5):
            i, (tokens, new) = queue.pop(0)
            requests[i] = server.submit(tokens, new)
        if server.busy:
            server.step()
        if draw is not None and draw.random() < often:
            decoding = [r for r in server.running if not r.extending]
            if decoding:
                server.retract(draw.choice(decoding))
    return [requests[i].output for i in range(len(asked))]


def untouched(server):
    """Nothing was used in a wrong space or outside, no canary changed, and every page comes back."""
    assert server.watcher.first_misuse is None and server.watcher.first_outside is None
    for worker in server.workers:
        assert worker.arena.damage() == []
    assert server.metrics.diverged == 0
    server.cache.clear()
    assert server.allocator.available == server.allocator.pages
    assert server.req_to_token_pool.available == server.config.max_requests
    assert server.host.used == 0 and not server.metrics.selection_lost


@pytest.mark.parametrize("dcp_size", [1, 2, 3, 4, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_random_schedule_answers_as_one_rank_does(dcp_size, seed):
    draw = random.Random(100 * dcp_size + seed)
    asked = [(p, draw.randint(1, 12)) for p in prompts(draw, 9, 40)]
    expected = drive(engine(BASE), asked)
    options = dict(mixed=draw.random() < 0.5, draft_tokens=draw.choice([0, 0, 3]), chunk=draw.choice([5, 16, 40]))
    # About 64 locs in all: a few requests fill it, so pages are evicted, requests retracted, and low pages used again.
    config = replace(BASE, dcp_size=dcp_size, page_size=2, size=max(2, 72 // dcp_size // 2 * 2), **options)
    server = engine(config)
    assert drive(server, asked, draw) == expected
    if dcp_size > 1:
        assert server.shared.monitor.valid == server.shared.monitor.selected > 0
    untouched(server)


FORCED = {
    "decode": {},
    "mixed": dict(mixed=True),
    "verify": dict(draft_tokens=3),
    "freed pages wait": dict(need_sort=True, draft_tokens=2, mixed=True),
    "a full host": dict(host_tokens=12),
    "no host": dict(host_tokens=0, draft_tokens=2),
    "from one rank": dict(prefill_dcp=1, need_sort=True, prefix_cache=False),
    "from three ranks": dict(prefill_dcp=3, need_sort=True, draft_tokens=2, host_tokens=12),
}


@pytest.mark.slow
@pytest.mark.parametrize("dcp_size", [1, 2, 4])
@pytest.mark.parametrize("kind", FORCED)
def test_forced_retractions_change_no_token(kind, dcp_size):
    """At least 10 in each, some 600 in all, after prompts, answers, proposals and in the middle of others' chunks."""
    draw = random.Random(f"{kind} {dcp_size}")
    asked = [(p, draw.randint(8, 16)) for p in prompts(draw, 9, 40)]
    expected = drive(engine(BASE), asked)
    server = engine(replace(BASE, dcp_size=dcp_size, page_size=2, size=96 // dcp_size // 2 * 2, **FORCED[kind]))
    assert drive(server, asked, draw, often=0.9) == expected
    assert server.metrics.retractions >= 10
    assert (server.metrics.recomputed > 0) == (len(server.host.refusals) > 0) == ("host_tokens" in FORCED[kind])
    assert (server.metrics.received > 0) == ("prefill_dcp" in FORCED[kind])
    assert server.metrics.chosen > 0 or FORCED[kind].get("host_tokens") == 0
    untouched(server)


@pytest.mark.parametrize("dcp_size", [2, 3])
@pytest.mark.parametrize("draft_tokens", [0, 2])
def test_memory_pressure_retracts_and_nothing_is_lost(dcp_size, draft_tokens):
    draw = random.Random(dcp_size)
    asked = [[0, *(draw.randrange(1, 12) for _ in range(n))] for n in (9, 13, 16)]
    expected = engine(BASE).generate(asked, 24)
    pages = 24 // dcp_size  # two of the three fit as they end
    config = replace(BASE, dcp_size=dcp_size, size=pages * 4, draft_tokens=draft_tokens, layers=2)
    server = engine(config)
    assert server.generate(asked, 24) == expected
    assert server.metrics.retractions > 0
    untouched(server)


@pytest.mark.parametrize("dcp_size", [2, 3, 8])
@pytest.mark.parametrize("draft_tokens", [0, 2])
def test_a_pool_filled_to_its_last_slot(dcp_size, draft_tokens):
    config = replace(BASE, dcp_size=dcp_size, size=12, layers=1, draft_tokens=draft_tokens)
    last = index_spaces.largest_loc(config.size, config.page_size, dcp_size)
    draw = random.Random(dcp_size)
    tokens = [0, *(draw.randrange(1, 12) for _ in range(config.longest - 9))]
    server = engine(config, strict=True)
    out = server.generate([tokens], 9)[0]  # the last token generated is never stored
    assert server.metrics.largest_loc == last
    assert server.generate([tokens + out[:8]], 1)[0] == out[8:]
    one = engine(replace(BASE, size=config.longest, layers=1))
    assert one.generate([tokens], 9)[0] == out
    untouched(server)


def test_attention_is_the_same_within_a_float32s_rounding():
    draw = random.Random(5)
    asked = [p for p in prompts(draw, 4, 50)][:5]
    plain = replace(BASE, size=512, prefix_cache=False)
    one = engine(plain, capture=True)
    one.generate(asked, 6)
    for dcp_size in (2, 3, 8):
        many = engine(replace(plain, dcp_size=dcp_size), capture=True)
        many.generate(asked, 6)
        assert len(many.shared.captured) == len(one.shared.captured)
        for a, b in zip(one.shared.captured, many.shared.captured, strict=True):
            assert (a["forward_mode"], a["layer"]) == (b["forward_mode"], b["layer"])
            torch.testing.assert_close(a["out"], b["out"], atol=2e-4, rtol=0)
            if a["lse"] is not None:
                torch.testing.assert_close(a["lse"], b["lse"], atol=2e-4, rtol=0)


@pytest.mark.parametrize("dcp_size", [2, 4])
def test_a_draft_changes_how_fast_and_not_what(dcp_size):
    draw = random.Random(9)
    asked = prompts(draw, 4, 40)
    config = replace(BASE, dcp_size=dcp_size, size=128)
    plain, fast = engine(config), engine(replace(config, draft_tokens=3))
    assert plain.generate(asked, 10) == fast.generate(asked, 10)
    assert fast.metrics.accepted > 0 and fast.metrics.steps < plain.metrics.steps


@pytest.mark.parametrize("draft_tokens", [0, 2])
def test_an_unwatched_server_answers_alike(draft_tokens):
    """What ranks share instead of computing it each for itself, and the checks that are left out, change nothing."""
    draw = random.Random(17)
    asked = prompts(draw, 6, 40)
    config = replace(BASE, dcp_size=3, size=96, draft_tokens=draft_tokens)
    watched, quick = engine(config), engine(config, watch=False)
    assert quick.runner.alike and not watched.runner.alike
    assert quick.generate(asked, 8) == watched.generate(asked, 8)
    assert quick.watcher.highest == {} and quick.shared.monitor.selected == 0


def test_what_is_preloaded_is_what_an_extend_leaves():
    draw = random.Random(3)
    tokens = [0, *(draw.randrange(1, 60) for _ in range(70))]
    config = replace(BASE, dcp_size=3, layers=2)
    whole, quick = engine(config), engine(config)
    whole.generate([tokens[:61]], 1)
    assert quick.preload(tokens[:61]) == 60
    for a, b in zip(whole.workers, quick.workers, strict=True):
        for name in ("ckv.0", "ckv.1"):
            assert torch.equal(a.arena.view(name)[4:24], b.arena.view(name)[4:24])
        for name in ("index_k.0", "index_k.1"):
            assert torch.equal(a.arena.view(name)[3:18], b.arena.view(name)[3:18])
    assert quick.generate([tokens], 3) == whole.generate([tokens], 3)
    assert quick.metrics.cached == 60
