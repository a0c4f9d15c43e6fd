"""The hidden cases: one truth each, seen in the symptom, known to the watcher, and told by no single tool."""

import os
import re

import pytest

from dcplab import investigate, progress
from dcplab.engine import defects
from dcplab.engine.scheduler import Engine
from dcplab.errors import CourseError
from dcplab.investigate import against_one_rank, diagnose_by_rule, hidden_cases, local_faults, trace_filters
from dcplab.investigate.local_faults import Fault

pytestmark = pytest.mark.slow  # servers run

# More seeds by hand: DCPLAB_SEEDS=100 pytest tests/investigate/test_hidden_cases.py
SEEDS = range(int(os.environ.get("DCPLAB_SEEDS", "1")))
everywhere = pytest.mark.parametrize("seed, n", [(seed, n) for seed in SEEDS for n in (1, 2, 3)])


def setups(seeds):
    return {(seed, n): hidden_cases.draw(n, seed) for seed in seeds for n in (1, 2, 3)}


def test_no_two_learners_have_the_same():
    drawn = setups(range(400))
    servers = {(s.fault, s.config.dcp_size, s.config.page_size, s.config.size, s.salt) for s in drawn.values()}
    assert len(servers) == len(drawn)
    assert drawn == setups(range(400)), "a seed is a seed"


def test_a_seed_has_one_case_of_each_kind_and_every_defect_comes_up():
    kinds = {}
    for (seed, _), s in setups(range(200)).items():
        kinds.setdefault(seed, []).append(
            "size" if s.fault.defects & local_faults.WHOLE else "both" if len(s.fault.defects) > 1 else "half"
        )
    assert {tuple(sorted(k)) for k in kinds.values()} == {("both", "half", "size")}
    assert len({tuple(k) for k in kinds.values()}) == 6, "the order is the seed's too"
    seen = set().union(*(s.fault.defects for s in setups(range(200)).values()))
    assert seen == {"index_k_size", "ckv_write", "read", "extend", "mixed", "retract"} <= set(defects.NAMES)


def test_layer_0_is_never_at_fault():
    for s in setups(range(200)).values():
        assert s.fault.layers is None or 0 not in s.fault.layers
        assert s.fault.ranks is None or max(s.fault.ranks) < s.config.dcp_size


@everywhere
def test_a_case_has_one_truth_and_shows(seed, n):
    run = hidden_cases.visible_run(n, seed)
    truth, watcher = diagnose_by_rule.truth(n, seed), run.engine.watcher
    assert run.outcome.verdict in ("silent corruption", "crash", "alarm")
    assert run.outcome.wrong or run.outcome.verdict != "silent corruption"

    # What the watcher met first is the truth: it is its first misuse or its first index outside, whichever came first.
    first = watcher.wrong[0]
    assert first in (watcher.first_misuse, watcher.first_outside)
    assert (truth["buffer"], truth["op"], truth["rank"], truth["rows_available"]) == (
        first.buffer,
        first.op,
        first.rank,
        first.slots,
    )
    assert (
        first.op
        == {
            "index_k_size": "write_index_k",
            "ckv_write": "write_ckv",
            "ckv_write,extend,read": "write_ckv",
            "read": "sparse_mla_decode",
            "extend": "sparse_mla_decode",
            "mixed": "sparse_mla_extend",
            "retract": "get_cpu_copy",
        }[truth["defect"]]
    )
    fault = run.setup.fault
    assert fault.layers is None or first.buffer in (*(f"ckv.{i}" for i in fault.layers), "workspace")
    assert fault.ranks is None or first.rank in fault.ranks

    # The trace has this access once, with the same index, and nothing before it breaks the rule of its buffer.
    # Layers share a workspace, so there the smallest index has to say which access it is.
    key = (first.step, first.phase, first.rank, first.op, first.buffer, first.low)
    place = [i for i, s in enumerate(run.seen) if (s.step, s.phase, s.rank, s.op, s.buffer, s.low) == key]
    assert len(place) == 1
    seen = run.seen[place[0]]
    inside = any(a <= truth["row"] <= b for a, b in seen.runs)
    assert inside and seen.slots == truth["rows_available"]
    assert all(s.high < s.slots for s in run.seen[: place[0]])
    if first.misuse:
        assert truth["row"] == seen.low and seen.loc in (seen.low, None)
    else:
        assert truth["row"] == seen.slots, "locs run on without a gap, so the first beyond is the number of slots"


@everywhere
def test_comparing_the_first_layers_alone_shows_nothing(seed, n):
    setup = hidden_cases.visible_run(n, seed).setup
    found, wrong = against_one_rank.layer_by_layer(setup)
    if not found:  # the server died before a step ended in which something differs
        assert setup.fault.defects == {"retract"} and wrong == 0
        return
    first = min(d.step for d in found.values())
    assert all(d.step > first for (layer, _), d in found.items() if layer == 0)
    assert not wrong or first <= wrong


def test_a_server_without_a_fault_equals_one_rank_in_every_layer():
    setup = hidden_cases.draw(2, 3)
    config = local_faults.replace(setup.config, layers=2)
    for more in ({}, {"mixed": True}):
        clean = hidden_cases.Setup(local_faults.replace(config, **more), Fault(), setup.salt, retract=not more)
        assert against_one_rank.layer_by_layer(clean) == ({}, 0)
        run = hidden_cases.recorded(clean)
        assert run.outcome.verdict == "right" and not run.engine.watcher.wrong


@pytest.mark.parametrize("switch", ["ckv_write", "read", "extend"])
def test_a_fault_everywhere_is_the_engines_own_switch(switch):
    setup = hidden_cases.draw(1, 1)
    config = local_faults.replace(setup.config, layers=2)
    one = hidden_cases.play(local_faults.engine(config, Fault(frozenset({switch}))), setup)
    other = hidden_cases.play(Engine(config, {switch}), setup)
    assert [a.got for a in one.answers] == [a.got for a in other.answers] and one.first_misuse == other.first_misuse


UNSAID = [name for name in defects.NAMES if name not in ("extend", "read", "mixed", "retract", "assert")]  # those are words too


def tools(case):
    return {name: str(getattr(case, name)()) for name in ("trace", "strict", "typed", "layers", "lse")}


@pytest.mark.parametrize("seed", SEEDS)
def test_no_tool_by_itself_names_the_operation_or_the_rank(seed):
    for n in (1, 2, 3):
        case, truth = investigate.case(n, seed), diagnose_by_rule.truth(n, seed)
        said = tools(case)
        for name in ("strict", "typed", "layers", "lse"):
            assert truth["op"] not in said[name] and not re.search(r"ckv\.|index_k\.|workspace", said[name]), (n, name)
            assert not re.search(r"rank \d", said[name]) and not any(d in said[name] for d in UNSAID)
        assert not re.search(r"step \d", said["typed"]), "a step is found by halving"
        assert "wrong" not in said["trace"].lower()
        for word in (*UNSAID, truth["op"], "ckv.", "index_k."):
            assert word not in str(case), "a symptom is only a symptom"


@everywhere
def test_no_first_call_lists_the_first_wrong_access(seed, n):
    """Neither a call without a filter nor one with a single one has it in the line that is read first; most list nothing."""
    case = investigate.case(n, seed)
    truth, access = diagnose_by_rule.truth(n, seed), case._run.first_wrong
    assert case.trace().table.header == ("by", "accesses") == case.trace(0, count=500).table.header
    alone = {"step": access.step, "rank": access.rank, "op": access.op, "buffer": access.buffer}
    listed = {k: told for k, v in alone.items() if (told := case.trace(**{k: v})).table.header[0] == "no."}
    for told in listed.values():
        first = dict(zip(told.table.header, told.table.rows[0], strict=True))
        assert (first["buffer"], first["operation"], first["rank"]) != (truth["buffer"], truth["op"], str(truth["rank"]))
    page = case.trace(0, count=500, step=(1, 99))
    assert len(page.table.rows) == trace_filters.MOST, "nor is the whole trace one call away"


@everywhere
def test_step_layer_and_rank_lead_to_it(seed, n):
    """What the other tools tell is enough: in that step and buffer the ranks can be held against each other line by line."""
    case = investigate.case(n, seed)
    truth, access = diagnose_by_rule.truth(n, seed), case._run.first_wrong
    found = case.trace(step=access.step, op=access.op, buffer=access.buffer, rank=access.rank)
    assert found.table.header[0] == "no." and len(found.table.rows) <= trace_filters.LISTED
    lines = [dict(zip(found.table.header, row, strict=True)) for row in found.table.rows]
    assert any(row["there are"].startswith(f"{truth['rows_available']}, by") for row in lines)
    hit = case.trace(step=access.step, op=access.op, rank=access.rank, row=truth["row"])
    assert any(row[5] == truth["buffer"] for row in hit.table.rows)


def test_halving_the_steps_finds_the_step_that_was_refused():
    case = next(c for c in (investigate.case(n, 0) for n in (1, 2, 3)) if "typed(until=N)" in str(c.typed()))
    low, high = 0, case._run.outcome.metrics.steps
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if "An index was refused" in str(case.typed(until=middle)) else (middle, high)
    assert high == case._run.engine.watcher.first_misuse.step


def test_a_server_runs_once_for_all_that_is_asked_of_it(monkeypatch):
    first = tools(investigate.case(3, 0))
    monkeypatch.setattr(hidden_cases, "play", None)
    monkeypatch.setattr(hidden_cases, "recorded", None)
    case = investigate.case(3, 0)
    assert tools(case) == first and case.trace(step=1, rank=0).table.rows


def test_what_each_tool_tells():
    seed = next(
        s
        for s in range(99)
        if hidden_cases.draw(1, s).fault.defects == {"index_k_size"} and hidden_cases.draw(1, s).config.dcp_size == 2
    )
    case = investigate.case(1, seed)
    truth = diagnose_by_rule.truth(1, seed)
    beyond = truth["rows_available"]
    said = tools(case)
    assert f"index {beyond} is out of bounds for dimension 0 with size {beyond}" in said["strict"]
    assert "before the first request: a buffer that is indexed by loc does not cover every loc" in said["typed"]
    assert "1.00" in said["lse"] and "2.00" not in said["lse"]
    layer0, layer1 = (next(line for line in said["layers"].split("\n") if line.startswith(f"{i} ")) for i in (0, 1))
    assert re.search(r"\bstep 14", layer1) and not re.search(r"\bstep 14", layer0)
    assert all(r["got"] == r["answer"] for r in case.requests if r["when"] == "fresh")
    assert [r["when"] for r in case.requests] == ["fresh"] * 3 + ["long"] * 2 + ["again"] * 3


def test_a_grader_does_not_wait_for_the_tools(monkeypatch):
    case = investigate.case(2, 0)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(hidden_cases, "recorded", None)
    assert set(tools(case).values()) == {"Not run while the notebook is graded."}
    assert diagnose_by_rule.truth(2, 0)["rows_available"], "what a check needs is there"


def test_the_trace_answers_filters():
    case = investigate.case(2, 0)
    seen = case._run.seen

    def counted(told):
        return sum(int(n) for name, text in told.table.rows if name == "rank" for n in re.findall(r": (\d+)", text))

    assert counted(case.trace()) == len(seen)
    step1 = case.trace(step=1)
    assert counted(step1) == sum(s.step == 1 for s in seen) and step1.table.header == ("by", "accesses")
    page = case.trace(0, count=4, rank=1, op="write_index_k")
    assert [row[3:5] for row in page.table.rows] == [("1", "write_index_k")] * 4
    further = case.trace(int(page.table.rows[-1][0]) + 1, count=4, rank=1, op="write_index_k")
    assert int(further.table.rows[0][0]) > int(page.table.rows[-1][0]), "start= turns the page"
    few = case.trace(step=1, layer=1, rank=0)
    assert few.table.header[0] == "no." and {row[5] for row in few.table.rows} >= {"ckv.1", "index_k.1"}
    first = seen[0]
    assert {row[0] for row in case.trace(step=1, loc=first.loc, buffer="ckv.0", op="write_ckv").table.rows} == {"0"}
    assert "recite a passage" in str(case.trace(request="recite a passage"))


@pytest.mark.parametrize(
    "asked, there",
    [
        ({"step": 999}, "1, 2, 3"),
        ({"buffer": "ckv.99"}, "ckv.0, ckv.1"),
        ({"op": "write", "rank": 0}, "write_ckv, write_index_k"),
        ({"request": "nobody"}, "document 0"),
        ({"row": 10**6}, "0 to "),
        ({"loc": (10**6, 10**7)}, " to "),
        ({"step": 1, "request": "document 0"}, "That is what there is with step=1"),
    ],
)
def test_a_filter_that_matches_nothing_says_what_there_is(asked, there):
    said = str(investigate.case(2, 0).trace(**asked))
    assert "nothing matches" in said and there in said


@pytest.mark.parametrize(
    "n, seed, says", [(0, 1, "cases 1 to 3"), (4, 1, "cases 1 to 3"), (1, "x", "whole number"), (1, True, "whole")]
)
def test_a_case_that_there_is_not(n, seed, says):
    assert hidden_cases.visible_run.cache_parameters()["typed"], "or True is taken for a 1 that ran before"
    with pytest.raises(CourseError, match=says):
        investigate.case(n, seed)


def test_a_learners_seed_is_made_once(monkeypatch, tmp_path):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "a"))
    mine = investigate.seed()
    assert investigate.seed() == mine and 10**6 <= mine < 10**8
    progress.forget("05_full_path")
    assert investigate.seed() == mine, "a reset of the lab's parts keeps the cases"
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "b"))
    assert investigate.seed() != mine
