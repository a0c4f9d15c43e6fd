"""The second server, right as it is: its own unit tests pass, and it says what our engine says, token for token."""

import importlib
import pkgutil
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dcplab.field.server.tests as unit_tests
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.field.server.config import QuayConfig
from dcplab.field.server.server import QuayServer

UNIT = [
    (module.name, name)
    for module in pkgutil.iter_modules(unit_tests.__path__)
    for name in vars(importlib.import_module(f"{unit_tests.__name__}.{module.name}"))
    if name.startswith("test_")
]


@pytest.mark.parametrize("module, name", UNIT)
def test_its_own_unit_tests_pass(module, name):
    getattr(importlib.import_module(f"{unit_tests.__name__}.{module}"), name)()


LONGEST = 110


def prompts(draw: random.Random, count: int) -> list[list[int]]:
    """Prompts that share beginnings, and each ends with two words that stood in it before."""
    story = [draw.randrange(1, 200) for _ in range(40)]
    made = []
    for _ in range(count):
        prompt = [0, *story[: draw.randrange(40)], *(draw.randrange(1, 200) for _ in range(draw.randrange(8, 45)))]
        at = draw.randrange(1, len(prompt) - 3)
        made.append(prompt + prompt[at : at + 2])
    return made


def on_quay(cfg: QuayConfig, rounds, wanted) -> tuple[list[list[int]], QuayServer]:
    server, said = QuayServer(cfg), []
    for asked, counts in zip(rounds, wanted, strict=True):
        requests = [server.add_request(prompt, count) for prompt, count in zip(asked, counts, strict=True)]
        server.run()
        said += [request.output_token_ids for request in requests]
    assert server.num_free_blocks == cfg.num_blocks - 1, "every block is free once nothing runs"
    return said, server


def on_the_engine(rounds, wanted, topk: int) -> list[list[int]]:
    """Our engine on one rank with room for everything. That it says the same on D ranks is tests/engine's."""
    engine = Engine(ServerConfig(size=1024, dcp_size=1, layers=2, topk=topk, max_requests=6, chunk=64), watch=False)
    return [out for asked, counts in zip(rounds, wanted, strict=True) for out in engine.generate(asked, counts)]


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    cp_size=st.integers(1, 4),
    block_size=st.sampled_from((2, 4, 8)),
    interleave=st.sampled_from((1, 2, 4)),
    chunk=st.sampled_from((24, 40, 64)),
    draft=st.integers(0, 3),
    host=st.sampled_from((0, 3, 12)),
    room=st.sampled_from((1, 2, 4)),
    caching=st.sampled_from((True, True, False)),
)
@settings(max_examples=40, deadline=None)
def test_it_says_what_our_engine_says(seed, cp_size, block_size, interleave, chunk, draft, host, room, caching):
    draw = random.Random(seed)
    interleave = min(interleave, block_size)
    rounds = [prompts(draw, 3)]
    rounds += [prompts(draw, 2), draw.sample(rounds[0], 2)]
    wanted = [[draw.randrange(2, 16) for _ in asked] for asked in rounds]
    cfg = QuayConfig(
        block_size=block_size,
        num_blocks=room * -(-(LONGEST + draft) // (block_size * cp_size)) + 2,
        cp_size=cp_size,
        cp_interleave=interleave,
        num_draft_tokens=draft,
        num_host_blocks=host,
        max_num_batched_tokens=chunk,
        max_model_len=LONGEST,
        index_topk=16,
        enable_prefix_caching=caching,
    )
    said, _ = on_quay(cfg, rounds, wanted)
    assert said == on_the_engine(rounds, wanted, cfg.index_topk)


def test_what_it_has_is_at_work():
    """Preemption, both levels of the prefix cache and the drafter all happen in a run that a property test draws."""
    draw = random.Random(3)
    rounds = [prompts(draw, 4)]
    rounds += [prompts(draw, 3), rounds[0]]
    wanted = [[12] * len(asked) for asked in rounds]
    cfg = QuayConfig(
        cp_size=2, cp_interleave=2, num_blocks=17, num_draft_tokens=2, num_host_blocks=30, max_model_len=LONGEST, index_topk=16
    )
    said, server = on_quay(cfg, rounds, wanted)
    assert said == on_the_engine(rounds, wanted, cfg.index_topk)
    counts = server.stats
    assert min(counts.preempted, counts.prefix_hits, counts.host_hits, counts.proposed, counts.accepted) > 0, counts
    assert counts.proposed > counts.accepted > counts.proposed // 3


def test_what_does_not_fit_says_so():
    with pytest.raises(ValueError, match="cp_interleave 3 does not divide block_size 4"):
        QuayConfig(cp_interleave=3)
    with pytest.raises(ValueError, match="max_num_batched_tokens is too small"):
        QuayConfig(max_num_batched_tokens=4)
