"""The demonstrations of lab 02 show what its text says they show, on the machine that runs them."""

import re

import pytest

from dcplab import mode, subprocess_call
from dcplab.demos import memcheck, server, three_faces
from dcplab.engine import index_spaces

SLOTS = server.TOY.size + server.TOY.page_size  # of index-K, unpatched
LEGAL = index_spaces.loc_slots(server.TOY.size, server.TOY.page_size, server.TOY.dcp_size)


@pytest.mark.parametrize(
    "level, verdict, wrong", [("below", "right", 0), ("above", "silent corruption", 3), ("full", "crash", 0)]
)
def test_one_defect_has_three_symptoms(level, verdict, wrong):
    run = server.replay(level)
    assert (run.outcome.verdict, len(run.outcome.wrong)) == (verdict, wrong), run.text
    assert (run.outcome.largest_loc >= SLOTS) == (level != "below")
    assert f"verdict: {verdict}" in run.text


@pytest.mark.slow
def test_above_the_watermark_the_victim_is_the_next_layer_and_its_holder_the_prefix_cache():
    run = server.replay("above")
    assert run.outcome.first_outside.first == SLOTS and run.outcome.first_outside.buffer == "index_k.0"
    hit = run.outcome.overwritten["index_k.0", "index_k.1"]
    assert hit.held > 0 and run.outcome.holders[hit.loc] == "prefix cache"
    assert {d.band for d in run.outcome.canaries} >= {"canary after index_k.0", "canary after index_k.1"}


def test_strict_mode_refuses_before_a_byte_is_wrong():
    run = server.replay("above", strict=True)
    assert run.outcome.verdict == "refused" and not run.outcome.canaries
    assert run.text.endswith("canaries changed: none")


def test_typed_mode_refuses_before_a_request():
    run = server.replay("above", typed=True)
    assert run.engine is None
    assert run.text == f"Refused before any request: index_k.0 covers {SLOTS} of loc space, which has {LEGAL}."


@pytest.mark.slow
def test_the_published_fix_is_one_page_short_and_only_the_canaries_know():
    run = server.replay("full", "index_k_short")
    short = (server.TOY.dcp_size - 1) * server.TOY.page_size
    assert run.outcome.verdict == "right" and run.outcome.largest_loc == LEGAL - 1
    assert run.outcome.first_outside.first == LEGAL - short
    assert {d.band for d in run.outcome.canaries} == {"canary after index_k.0", "canary after index_k.1"}


@pytest.mark.slow
def test_the_draft_between_its_two_patches():
    run = server.replay("full", "draft_page")
    assert run.outcome.verdict == "silent corruption"
    assert run.outcome.first_outside.buffer == "draft.ckv"


@pytest.mark.parametrize("level, defect", [("above", "oob_bound"), ("full", "assert_short")])
def test_a_bound_of_the_wrong_space_is_a_false_alarm(level, defect):
    run = server.replay(level, defect)
    assert run.outcome.verdict == "alarm" and "it is a legal loc" in run.outcome.why
    assert run.outcome.first_outside is None


def test_traffic_alone_never_rises_and_held_pages_do():
    freed, kept = (_columns(server.traffic(keep).text) for keep in (False, True))
    assert len({used for _, _, used in freed}) == 1, "every request lives where the first one lived"
    assert freed[-1][1] == kept[-1][1] > SLOTS, "the same traffic, more tokens than index-K has slots"
    assert kept[-1][2] >= SLOTS > freed[-1][2]
    assert [used for *_, used in kept] == sorted({used for *_, used in kept})


def test_where_freed_pages_wait_traffic_alone_rises():
    text = server.traffic(keep=False, need_sort=True).text
    sorted_, freed = _columns(text), _columns(server.traffic(keep=False).text)
    assert sorted_[-1][2] >= SLOTS > freed[-1][2] and [row[:2] for row in sorted_] == [row[:2] for row in freed]
    assert text.count("none") == len(sorted_), "nothing is held after any of them"
    assert "need_sort" in text and "beyond index-K" in text


def _columns(text):
    return [tuple(map(int, m.groups())) for m in re.finditer(r"^ +(\d+) +(\d+) +(\d+) +(?:\d+|none)", text, re.MULTILINE)]


@pytest.mark.slow
def test_one_wrong_index_has_three_faces():
    told = three_faces.faces().text.split("\n")
    past = {line.split()[0] + " " + line.split()[1]: line for line in told if "past the end" in line}
    assert "raised" in past["torch writes"]
    assert "no error; 132 bytes of the neighbour's page 0 overwritten" in past["Triton writes"]
    assert past["TileLang reads"].endswith("reads 0.0")
    assert past["TileLang scores"].endswith("0 of 64 logits of the page are numbers; top-4 lacks position 200")
    inside = [line for line in told if "in range" in line]
    assert [line.partition("in range")[2].strip() for line in inside] == [
        "132 bytes of page 3 written",
        "reads 3.0",
        "64 of 64 logits of the page are numbers; top-4 has position 200",
        "128 bytes of page 3 written",
    ]


@pytest.mark.slow
def test_the_emitted_cuda_tests_the_index_and_does_not_without_the_pass():
    whole, _, changed = three_faces.guard().text.partition("What changes with")
    tests = re.compile(r"0 <= ids\[.*< rows")
    assert tests.search(whole)
    gone = [line for line in changed.split("\n") if line.startswith("-")]
    new = [line for line in changed.split("\n") if line.startswith("+")]
    assert any(tests.search(line) for line in gone) and new and not any(tests.search(line) for line in new)


def test_a_grader_does_not_wait_for_them(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setattr(subprocess_call, "call", None)  # a call would raise
    assert three_faces.faces().text == three_faces.guard().text == "Not shown while the notebook is graded."


def test_the_sanitizers_count_is_read_from_its_summary():
    assert memcheck.errors("========= ERROR SUMMARY: 0 errors\n") == 0
    assert memcheck.errors("x\n========= ERROR SUMMARY: 132 errors\n") == 132
    assert memcheck.errors("") is None


@pytest.mark.skipif(mode.current().name == "gpu", reason="there is a GPU: the sanitizer is run instead")
def test_without_a_gpu_nothing_is_claimed():
    told = memcheck.memcheck().text
    assert "there is none here, so nothing was run" in told and "elsewhere, on one H200" in told


@pytest.mark.gpu
@pytest.mark.skipif(memcheck.tool() is None, reason="compute-sanitizer is not installed")
def test_the_cache_of_allocations_hides_the_store():
    told = memcheck.memcheck().text.split("\n")
    counted = {line.startswith("without"): int(re.search(r"(\d+) errors", line)[1]) for line in told if " errors" in line}
    assert counted[False] == 0 and counted[True] > 0
