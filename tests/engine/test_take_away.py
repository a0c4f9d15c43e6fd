"""No cache can be left out unseen: each write and each read of the standard wiring is taken away, one at a time."""

from dataclasses import dataclass, replace

import pytest
import torch

from dcplab.engine import backend, ops, pools, scenario
from dcplab.engine import defects as switches
from dcplab.engine.backend import LayerStep
from dcplab.engine.comm import Local
from dcplab.engine.configurator import WIDTH, ServerConfig
from dcplab.engine.rank_step import RankStep
from dcplab.engine.runner import ServerCrash
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import Space, tag

pytestmark = pytest.mark.slow  # a server for each

CONFIG = ServerConfig(page_size=4, dcp_size=2, size=scenario.default_size(4, 2), layers=3, topk=scenario.TOPK)
FEATURES = {"verify": dict(draft_tokens=3), "draft": dict(draft_tokens=3), "mixed": dict(mixed=True)}
RANKED = ("write_ckv", "write_index_k")
PAGED, RAGGED = ("select_paged", "attend"), ("read_prefix", "assemble", "select_ragged", "attend_ragged")
USED = {
    "decode": RANKED + PAGED,
    "verify": RANKED + PAGED,
    "draft": RANKED + PAGED,
    "extend": RANKED + RAGGED,
    "mixed": RANKED + RAGGED,
}
EVERYWHERE = None
EMPTY_RANK = ("lse_plus_inf", "lse_uninitialised")  # what a rank without keys hands in


@dataclass
class Without(RankStep):
    """A rank that leaves one operation out: a write stores nothing, a read gives what nothing looks like."""

    gone: str = ""

    def __getattribute__(self, name):
        if name in GIVES and name == object.__getattribute__(self, "gone"):
            return lambda *given, **options: GIVES[name](self)
        return super().__getattribute__(name)


def _first(rank):
    """Scores that are all zero: the tie goes to the first positions."""
    column = torch.arange(rank.shared.config.topk)
    there = column <= rank.batch.positions[:, None]
    return tag(torch.where(there, column, -1).to(torch.int32), Space.POSITION)


def _zeros(rank):
    shape = len(rank.batch.positions), rank.shared.config.heads
    return torch.zeros(*shape, WIDTH), torch.full(shape, ops.MINUS_INF)


GIVES = {
    "write_ckv": lambda rank: None,
    "write_index_k": lambda rank: None,
    "select_paged": _first,
    "select_ragged": _first,
    "attend": _zeros,
    "attend_ragged": lambda rank: _zeros(rank)[0],
    "read_prefix": lambda rank: torch.zeros(len(rank.batch.prefix_rows[0]), WIDTH, dtype=rank.shared.config.dtype),
    "assemble": lambda rank: None,  # the workspace stays as the layer before left it
}


def without(role, gone, layers=EVERYWHERE, ranks=EVERYWHERE):
    """The standard wiring without one operation, in one kind of batch, on some layers and ranks."""

    def wrapped(path, kind):
        def run(step):
            here = kind == role if step.batch.forward_mode != "mixed" else role == "mixed"
            hit = here and (layers is EVERYWHERE or step.layer in layers)
            outs = [
                Without(**vars(rank), gone=gone) if hit and (ranks is EVERYWHERE or rank.rank in ranks) else rank
                for rank in step.ranks
            ]
            return path(LayerStep(step.shared, step.batch, outs, step.layer))

        return run

    standard = replace(backend.STANDARD, draft=backend.draft)
    kinds = ("decode", "verify", "extend", "draft")
    return replace(standard, **{kind: wrapped(getattr(standard, kind), kind) for kind in kinds})


def told(role, level, stored, paths=backend.STANDARD, defects=(), config=CONFIG, **more):
    """The story on a server that has the role's kind of batch."""
    config = scenario.settings(replace(config, **FEATURES.get(role, {})), defects)
    return scenario.story(Engine(config, defects, Local(config.dcp_size), paths=paths), level, stored=stored, **more)


class Enough(Exception):
    """Raised between two acts of a story that has shown what is asked for: the acts after it would only show it again."""


@pytest.fixture
def shown(monkeypatch):
    """`told`, but for the acts after one in which something was seen."""

    def shown(role, *given, **more):
        def until_seen(engine, when, asked, out, *others, **options):
            act(engine, when, asked, out, *others, **options)
            out.metrics = engine.metrics
            if seen(role, out):
                raise Enough(out)

        monkeypatch.setattr(scenario, "_act", until_seen)
        try:
            return told(role, *given, **more)
        except Enough as enough:
            return enough.args[0]

    act = scenario._act
    return shown


def seen(role, out):
    """A wrong answer or an alarm; of a draft that guesses worse the figure is all there is."""
    return out.signs or (role == "draft" and out.metrics.accepted < out.metrics.proposed)


HOW = [(level, stored) for level in ("below", "above") for stored in (False, True)]


@pytest.mark.parametrize("role", USED)
def test_nothing_taken_away_nothing_seen(role):
    for level, stored in HOW:
        out = told(role, level, stored)
        assert out.verdict == "right" and out.signs == () and out.metrics.accepted == out.metrics.proposed
        assert (out.metrics.proposed > 0) == ("draft_tokens" in FEATURES.get(role, {}))


@pytest.mark.parametrize("role, gone", [(role, gone) for role, names in USED.items() for gone in names])
def test_each_write_and_each_read_is_missed_on_every_layer(role, gone, shown):
    layers = 1 if role == "draft" else CONFIG.layers
    at = USED[role].index(gone)
    for i, (level, stored) in enumerate((HOW[at:] + HOW[:at])[: CONFIG.layers]):  # each layer once; the operation says how
        layer = (i + at) % layers
        assert seen(role, shown(role, level, stored, without(role, gone, {layer}))), (level, stored, layer)


@pytest.mark.parametrize("role, gone", [(role, gone) for role, names in USED.items() for gone in names])
def test_each_is_missed_on_one_rank(role, gone, shown):
    """Not the first, whose tokens are the server's."""
    layer = 0 if role == "draft" else USED[role].index(gone) % CONFIG.layers
    assert seen(role, shown(role, "above", True, without(role, gone, {layer}, {1})))


@pytest.mark.parametrize("gone", RANKED)
def test_a_cache_that_nobody_writes_is_missed(gone, shown):
    """In all kinds of batches at once, so that writers agree: the keys of a wiring that has forgotten one of the two."""
    for level, stored in HOW:
        wiring = without("decode", gone)
        both = replace(wiring, extend=without("extend", gone).extend)
        assert "answer" in shown("decode", level, stored, both).signs


@pytest.mark.parametrize("kind", [pools.CkvPool, pools.IndexKCache])
@pytest.mark.parametrize("layer", range(CONFIG.layers))
def test_what_a_retraction_does_not_put_back_is_missed(kind, layer, monkeypatch):
    real = kind.restore
    monkeypatch.setattr(kind, "restore", lambda pool, *given: pool.name.endswith(f".{layer}") or real(pool, *given))
    for level in ("below", "above"):
        assert "answer" in told("decode", level, True, retract=True).signs


@pytest.mark.parametrize("layer", range(1, CONFIG.layers))
def test_another_layers_cache_is_no_cache(layer, shown):
    """Each layer's rows and keys have a basis of their own, so reading the layer before is not reading the same."""
    for kind in ("ckv", "index_k"):

        def decode(step, kind=kind):
            ranks = step.ranks
            if step.layer == layer:
                ranks = [replace(rank, **{kind: f"{kind}.{layer - 1}"}) for rank in ranks]
            return backend.decode(LayerStep(step.shared, step.batch, ranks, step.layer))

        out = shown("decode", "below", True, replace(backend.STANDARD, decode=decode))
        assert "answer" in out.signs


@pytest.mark.parametrize("name", switches.NAMES)
def test_each_switch_is_seen(name):
    if name == "draft_budget":  # it ends the start
        with pytest.raises(ServerCrash, match="out of memory at the start"):
            Engine(scenario.settings(CONFIG, {name}), {name}, Local(CONFIG.dcp_size))
        return
    # Of four ranks some find none of the chosen tokens. Of two, none does in this story.
    config = replace(CONFIG, dcp_size=4, size=scenario.default_size(4, 4)) if name in EMPTY_RANK else CONFIG
    for stored in (False, True):
        out = told("", scenario.default_level({name}), stored, defects=frozenset({name}), config=config)
        if name == "resolved_twice":  # the draft guesses worse after the return: a figure
            assert out.signs == () and out.metrics.accepted < out.metrics.proposed
        else:
            assert out.signs, name


def test_no_patch_at_all_is_seen_below_the_watermark_by_a_monitor_alone():
    assert told("", "below", False, defects=frozenset(switches.PATCHES)).signs == ("sharding",)


@pytest.mark.parametrize("factor", [ops.LOG2_E, 1 / ops.LOG2_E])
@pytest.mark.parametrize("role", ["decode", "verify"])
def test_a_wrong_base_of_the_lse_is_seen(role, factor):
    """The finding heads are peaked and do not notice; the witness's weights are three to one."""
    real = ops._pick("merge_lse", torch.zeros(1))
    with ops.using(merge_lse=lambda outs, lses: real(outs, lses * factor)):
        assert "answer" in told(role, "below", True).signs


def test_a_draft_that_is_never_accepted_is_an_alarm():
    """It has lost D: each rank guesses from its own keys and nothing is merged. Every answer is right."""

    def own_keys_only(step):
        outs = []
        for rank in step.ranks:
            rank.write_ckv(step.batch.out_cache_loc)
            rank.write_index_k(step.batch.out_cache_loc)
            outs.append(rank.attend(*rank.localize(rank.to_locs(rank.select_paged())))[0])
        return outs

    out = told("draft", "below", True, replace(backend.STANDARD, draft=own_keys_only))
    assert out.verdict == "right" and out.metrics.proposed > 0
    assert out.metrics.accepted == 0 and "draft" in out.signs
