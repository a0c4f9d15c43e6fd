"""Each defect does what its report says, and typed index spaces refuse it before an answer is wrong."""

from dataclasses import replace

import pytest

from dcplab.engine import backend, scenario
from dcplab.engine import defects as switches
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import Space, SpaceError
from dcplab.errors import CourseError

pytestmark = pytest.mark.slow  # a server for each defect

CONFIG = ServerConfig(page_size=4, dcp_size=2, size=scenario.default_size(4, 2), layers=3, topk=scenario.TOPK)


def told(defects, level, **more):
    chosen = switches.parse(defects)
    engine = Engine(scenario.settings(CONFIG, chosen), chosen, Local(CONFIG.dcp_size), **more)
    return scenario.story(engine, level, stored=True)


def score(out, when):
    asked = [a for a in out.answers if a.when == when]
    return sum(a.right for a in asked), len(asked)


def test_the_incident():
    """Right while fresh, wrong afterwards, and no error anywhere: the report."""
    out = told("unpatched", "above")
    assert out.verdict == "silent corruption"
    assert score(out, "fresh") == (3, 3) and score(out, "again")[0] < 3
    assert out.first_misuse.step == 1 and out.first_misuse.op == "write_ckv" and out.first_misuse.given is Space.LOC
    assert out.first_outside.op == "write_ckv" and out.first_outside.first == CONFIG.size + CONFIG.page_size
    hit = out.overwritten["ckv.0", "ckv.1"]
    assert hit.held > 0 and out.holders[hit.loc] == "prefix cache"
    assert out.monitor.alarm and out.monitor.valid == CONFIG.dcp_size * out.monitor.selected
    assert out.canaries


def test_below_the_watermark_only_the_monitor_can_tell():
    out = told("unpatched", "below")
    assert out.verdict == "right" and not out.wrong and not out.canaries and out.first_outside is None
    assert out.monitor.alarm and out.monitor.replicated == out.monitor.queries > 0


@pytest.mark.parametrize("level", scenario.LEVELS)
def test_with_every_patch_all_is_well_at_every_level(level):
    out = told("none", level)
    assert out.verdict == "right" and len(out.answers) >= 8 and not out.wrong and not out.canaries
    assert out.first_misuse is None and out.first_outside is None and not out.monitor.alarm
    for mark in out.watermarks:
        assert 0 <= mark.highest < mark.needed <= mark.slots
    if level == "full":
        assert {m.highest + 1 for m in out.watermarks} == {m.needed for m in out.watermarks}, "the last slot was used"


def test_a_pool_larger_than_the_workspace_is_filled_by_more_requests():
    """As at the report's size, where the workspace holds a quarter of the locs."""
    config = replace(CONFIG, workspace=CONFIG.size // 2)
    engine = Engine(config, comm=Local(config.dcp_size))
    out = scenario.story(engine, "full", stored=True)
    long = [a for a in out.answers if a.when == "long"]
    assert len(long) > 2 and out.verdict == "right" and not out.wrong
    assert {m.highest + 1 for m in out.watermarks} == {m.needed for m in out.watermarks}


# What each does on its own: level, verdict, and the first operation outside its buffer.
ALONE = {
    "index_k_size": ("above", "silent corruption", "write_index_k"),
    "ckv_write": ("below", "silent corruption", None),
    "read": ("below", "silent corruption", None),
    "extend": ("below", "silent corruption", None),
    "assert": ("above", "alarm", None),
    "index_k_short": ("full", None, "write_index_k"),
    "assert_short": ("full", "alarm", None),
    "mixed": ("below", "silent corruption", None),
    "draft_page": ("full", None, "write_ckv"),
    "oob_bound": ("above", "alarm", None),
    "retract": ("above", "crash", "get_cpu_copy"),
}


def test_every_switch_of_the_incident_is_here():
    assert {*ALONE, *switches.PUBLIC} == set(switches.NAMES)


@pytest.mark.parametrize("name", ALONE)
def test_a_defect_alone(name):
    level, verdict, outside = ALONE[name]
    out = told(name, level)
    if verdict:
        assert out.verdict == verdict
    assert (out.first_outside.op if out.first_outside else None) == outside
    if verdict == "alarm":
        assert "but it is a legal loc" in out.why and not out.canaries
    if name in ("index_k_short", "draft_page"):
        short = [m for m in out.watermarks if m.slots < m.needed]
        missing = (CONFIG.dcp_size - 1) * CONFIG.page_size
        assert short and all(m.needed - m.slots == missing and m.exceeded for m in short) and out.canaries


@pytest.mark.parametrize("name", ALONE)
def test_typed_spaces_refuse_it_before_an_answer_is_wrong(name):
    try:
        out = told(name, ALONE[name][0], typed=True)
    except SpaceError as error:
        assert "loc space" in str(error)
    else:
        assert out.verdict == "refused" and not out.wrong and not out.canaries
        assert "loc" in out.why


def test_typed_spaces_have_nothing_to_say_of_a_patched_server():
    out = told("none", "full", typed=True, strict=True)
    assert out.verdict == "right"


def test_a_double_conversion_is_refused():
    """What is a row already is divided twice."""

    def twice(step):
        for rank in step.ranks:
            rows, _ = rank.localize(rank.to_locs(rank.select_paged()))
            rank.localize(rows)
        return backend.decode(step)

    engine = Engine(CONFIG, typed=True, paths=backend.Paths(decode=twice, verify=twice, extend=backend.extend))
    with pytest.raises(SpaceError, match="localize_topk takes a loc and was given a row"):
        engine.generate(["one two three one two"], 3)


def test_masked_reads_lose_what_lies_outside():
    """A kernel that guards drops the keys instead: other wrong words, and still no error."""
    out = told("unpatched", "above", neighbours=False)
    assert out.verdict == "silent corruption" and score(out, "fresh") == (3, 3) and score(out, "again")[0] < 3


def test_a_crash_says_where():
    out = told("index_k_size", "full")
    assert out.verdict == "crash" and "write_index_k on index_k.2" in out.why and score(out, "fresh") == (3, 3)


def test_a_dead_server_stays_dead():
    chosen = switches.parse("index_k_size")
    engine = Engine(CONFIG, chosen)
    scenario.story(engine, "full", stored=True)
    engine.submit("hello there hello", 1)
    with pytest.raises(Exception, match="The server is dead"):
        engine.step()


def test_switches_are_spelled_and_refused():
    assert switches.parse("unpatched") == set(switches.PATCHES) and switches.parse("none") == frozenset()
    assert switches.parse("read, assert") == {"read", "assert"}
    assert switches.spell({"assert", "read"}) == "read,assert" and switches.spell(switches.PATCHES) == "unpatched"
    with pytest.raises(CourseError, match="no defect called 'raed'"):
        switches.parse("raed")


def test_all_that_go_together_make_one_server():
    """`all` names a server that starts: a switch that keeps it from starting, or asks for another server, is left out there."""
    chosen = switches.parse("all")
    engine = Engine(scenario.settings(CONFIG, chosen), chosen, Local(CONFIG.dcp_size))
    assert engine.defects == chosen and set(switches.NAMES) - chosen == {"draft_budget", "stores_localized"}
