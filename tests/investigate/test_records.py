"""The incident record: what the run says, figure by figure, and what the checker says of every figure that differs."""

import random
import re

import pytest

from dcplab import investigate
from dcplab.engine import index_spaces, threads
from dcplab.errors import CourseError
from dcplab.investigate import diagnose_by_rule, hidden_cases, incidents, records
from dcplab.investigate.records import FIELDS, HEADINGS

pytestmark = pytest.mark.slow  # two servers at the head of it

SEED = 4  # has none of the patches


@pytest.fixture(scope="module")
def run():
    with threads.one_thread():
        return investigate.incident(SEED)


def outcomes(findings):
    return {f.key: f.outcome for f in findings}


def test_a_record_filled_from_the_run_is_right_in_every_figure(run):
    for record in (records.filled(run), records.figures(run)):
        assert set(outcomes(investigate.verify(record, run)).values()) == {"right"}
    assert records.parse(records.filled(run)).keys() == records.figures(run).keys()


def test_the_figures_are_those_of_the_engine(run):
    f, c, watcher = records.figures(run), run.config, run.watcher
    assert f["patches"] == "none" and (f["fresh"], f["again"], f["fixed_again"]) == ("3/3", "0/3", "3/3")
    assert f["largest_legal_loc"] == index_spaces.largest_loc(c.size, c.page_size, c.dcp_size)
    assert f["ckv_rows"] == f["index_k_slots"] == c.size + c.page_size and f["index_k_needed"] == f["largest_legal_loc"] + 1
    assert f["ckv_highest"] == f["largest_loc"] > f["ckv_rows"]
    assert f["index_k_highest"] // c.page_size == f["largest_loc"] // c.page_size, "index-K is read in whole pages"
    assert (f["first_wrong_op"], f["first_wrong_step"], f["first_wrong_index"]) == ("write_ckv", 1, c.page_size * c.dcp_size)
    assert (f["first_outside_op"], f["first_outside_index"]) == ("write_ckv", f["ckv_rows"])
    assert f["first_outside_step"] == watcher.first_outside.step > 1
    assert f["canaries_changed"] == len(run.outcome.canaries) > 0


def test_the_bytes_outside_are_those_of_the_accesses(run):
    counted = sum(
        a.outside * (132 if "index_k" in a.buffer else 1024) for a in run.watcher.wrong if a.write and a.outside
    )  # c-KV rows are 512 bf16, an index-K slot 128 fp8 and a float
    assert len(run.watcher.wrong) < 2000, "every access was kept"
    assert records.figures(run)["bytes_outside"] == counted > 0


@pytest.mark.parametrize("key", [f.key for f in FIELDS])
def test_one_wrong_figure_is_found_and_no_other(run, key):
    figures = records.figures(run)
    other = figures | {key: figures[key] + 1 if isinstance(figures[key], int) else "something else"}
    wrong = [f for f in investigate.verify(other, run) if f.outcome != "right"]
    assert [(f.key, f.outcome) for f in wrong] == [(key, "wrong")]
    said = wrong[0].sentence.removesuffix(f"What is asked for: {wrong[0].what}.")
    assert str(other[key]) in said and not re.search(rf"\b{re.escape(str(figures[key]))}\b", said)


def test_a_template_is_a_record_with_nothing_in_it(run):
    text = investigate.template()
    assert all(f"## {heading}" in text for heading in HEADINGS) and len(HEADINGS) == 8
    assert outcomes(investigate.verify(text, run)) == {f.key: "missing" for f in FIELDS}
    assert all(f.what in text for f in FIELDS)


def test_a_figure_may_be_written_as_people_write_it(run):
    figures = records.figures(run)
    loose = figures | {
        "bytes_outside": f"{figures['bytes_outside']:,}",
        "device": "CPU",
        "ckv_dtype": f"torch.{figures['ckv_dtype']}",
        "verdict": f"'{figures['verdict'].upper()}'",
        "fresh": "3 / 3",
        "first_wrong_rank": " 0 ",
    }
    assert set(outcomes(investigate.verify(loose, run)).values()) == {"right"}
    text = records.filled(run).replace("steps: ", "steps:  ").replace("\n", "   # a remark\n")
    assert set(outcomes(investigate.verify(text, run)).values()) == {"right"}


def test_what_is_no_record_is_said_in_a_sentence(run):
    assert outcomes(investigate.verify({"stepps": 3}, run))["stepps"] == "unknown"
    with pytest.raises(CourseError, match="Line 2 of the record, 'no colon here', is not of the form"):
        investigate.verify("steps: 3\nno colon here", run)
    with pytest.raises(CourseError, match="gives steps a second time"):
        investigate.verify("steps: 3\nsteps: 4", run)


def test_no_two_learners_have_the_same_incident(run):
    other = investigate.incident(SEED + 1)
    assert (other.config, other.outcome.answers) != (run.config, run.outcome.answers)


@pytest.mark.parametrize(
    "seed, in_force, first, enough",
    [(1, "index_k_size", "ckv_write", "no"), (2, "ckv_write, read, extend, assert", "index_k_size", "yes")],
)
def test_a_learners_server_has_patches_of_its_own(seed, in_force, first, enough):
    run = investigate.incident(seed)
    f = records.figures(run)
    assert (f["patches"], f["patch_for_first"], f["patch_enough"]) == (in_force, first, enough)
    assert (f["fresh"], f["fixed_long"], f["fixed_again"], f["verdict"]) == ("3/3", "2/2", "3/3", "silent corruption")
    assert f["again"] != "3/3" or f["long"] != "2/2", "what the lab says of it: right at first, and wrong later"
    assert set(outcomes(investigate.verify(records.filled(run), run)).values()) == {"right"}
    assert (f["first_wrong_op"] == "write_index_k") == (first == "index_k_size")


def test_every_kind_of_server_is_drawn():
    drawn = [random.Random(f"the patches of {seed}").choice(incidents.IN_FORCE) for seed in range(300)]
    assert {len(p) for p in drawn} == {0, 1, 4} and min(drawn.count(p) for p in incidents.IN_FORCE) > 60


@pytest.mark.parametrize(
    "written, says",
    [
        ("index_k_size, ckv_write, read, extend, assert", "those are missing"),
        ("write", "a patch is named whose defect shows in this run."),
        ("all", "does not follow from what the run shows."),
        ("assert", "nothing tells of its patch."),
    ],
)
def test_wrong_patches_are_told_apart(run, written, says):
    findings = [f for f in investigate.verify(records.figures(run) | {"patches": written}, run) if f.key == "patches"]
    assert says in diagnose_by_rule.figure_of_the_mistake(findings, records.figures(run))


@pytest.mark.parametrize(
    "written, says",
    [
        ("ckv_write, read, extend", "one is left out whose defect raises an alarm above the watermark."),
        ("read, extend, assert", "a patch is left out whose defect does not show in this run."),
        ("none", "a patch is left out whose defect does not show in this run."),
        ("ckv_write, read, extend, assert, index_k_size", "a patch is named whose defect shows in this run."),
    ],
)
def test_a_patch_that_is_left_out_is_told_apart(written, says):
    run = investigate.incident(2)  # has all but index_k_size
    figures = records.figures(run)
    findings = [f for f in investigate.verify(figures | {"patches": written}, run) if f.key == "patches"]
    assert diagnose_by_rule.figure_of_the_mistake(findings, figures) == f"patches: {says}"


def test_none_is_what_one_line_of_the_run_says_and_not_what_is_asked_for():
    run = investigate.incident(2)
    figures = records.figures(run)
    assert "index of the wrong space:\n  none" in str(run), "its first wrong index is one beyond its buffer"
    for key in (k for k in figures if k.startswith(("first_wrong_s", "first_wrong_o", "first_wrong_i", "first_outside"))):
        (found,) = [f for f in investigate.verify(figures | {key: "none"}, run) if f.key == key]
        says = diagnose_by_rule.figure_of_the_mistake([found], figures)
        assert says.startswith(f"{key}: an index ") and "is not what" not in says


def test_a_part_of_the_bytes_is_told_by_its_buffers():
    run = investigate.incident(2)
    figures, writes = records.figures(run), run.writes_outside
    each = {places * size for places, size in writes.values()}
    assert len(writes) == 3 and len(each) == 1, "index-K of three layers"
    (found,) = [f for f in investigate.verify(figures | {"bytes_outside": each.pop()}, run) if f.key == "bytes_outside"]
    said = diagnose_by_rule.figure_of_the_mistake([found], figures, writes)
    assert said == "bytes_outside: that is one buffer; others were left as well."


def test_the_incident_is_told_with_what_a_record_asks_for(run):
    told, f = str(run), records.figures(run)
    assert told.startswith("CPU (torch)") and "GPU" not in told
    assert not re.search("patches:|index_k_size|missing", told), "which patches it has is for the record to infer"
    for key in ("dcp_size", "page_size", "size", "tokens_cached", "largest_loc", "ckv_rows"):
        assert str(f[key]) in told, key
    assert run.data()["run"]["largest_loc"] == f["largest_loc"] and run.data()["versions"]["torch"] == f["torch"]


def test_a_case_has_a_record_too():
    seed = next(s for s in range(99) if hidden_cases.draw(1, s).fault.defects == {"index_k_size"})
    case = investigate.case(1, seed)
    run = incidents.of_case(case._run)
    figures = records.figures(run)
    assert figures["patches"] == "ckv_write, read, extend, assert"
    assert figures["first_wrong_buffer"] == figures["first_outside_buffer"] == "index_k.0"
    truth = diagnose_by_rule.truth(1, seed)
    assert (figures["first_wrong_index"], figures["index_k_slots"]) == (truth["row"], truth["rows_available"])
    assert set(outcomes(investigate.verify(records.filled(run), run)).values()) == {"right"}


def test_what_is_asked_for_stands_in_no_name_that_a_learner_meets(run):
    """Tab completion and dir() show them: neither the truth of a case nor a filled record is one call away."""
    case = investigate.case(1, SEED)
    shown = {name for thing in (investigate, case) for name in dir(thing) if not name.startswith("_")}
    assert not shown & {"truth", "truth_of", "figures", "record", "filled", "fault", "setup"}
    assert not any(callable(getattr(case, name, None)) for name in ("incident", "run"))


@pytest.mark.parametrize(
    "said, same",
    [
        ("silent", "silent corruption"),
        ("0 of 3", "0/3"),
        ("0 out of 3", "0/3"),
        ("bf16", "bfloat16"),
        ("BF16 ", "bfloat16"),
        ("Silent  corruption", "silent"),
        ("0  of 3", "0/3"),
        ("write + read", "ckv_write, read"),
        ("size", "index_k_size"),
        ("torch.bfloat16", "bfloat16"),
        ("2032248 bytes", "2032248"),
        ("2 032 248", "2,032,248"),
        ("2_032_248", "2032248"),
    ],
)
def test_a_figure_counts_in_each_of_its_usual_forms(said, same):
    assert records.plain(said) == records.plain(same)


@pytest.mark.parametrize("said, other", [("0 of 3", "0/2"), ("3 of 0", "0/3"), ("right", "silent"), ("12 34", "1234")])
def test_another_figure_is_another(said, other):
    assert records.plain(said) != records.plain(other)


def test_a_seed_that_no_list_of_shared_cases_would_show_is_none():
    from dcplab.course.own_cases import seed_sentence

    assert seed_sentence(0) is None and seed_sentence(2**63 - 1) is None
    for seed in (-5, 2**63, 2**70, True, 1.0, "7", None):
        assert "is no seed" in seed_sentence(seed)
