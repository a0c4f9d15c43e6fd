"""A part is judged on its own: a mistake in another part that it calls costs it neither points nor a true name."""

import pytest

from dcplab import checking
from dcplab.course import catalog
from dcplab.notebook.extract import extract

LAB = catalog.lab("02")
CAPACITY = "def largest_loc(size, page_size, dcp_size):\n    return size * dcp_size - 1\n"
RIGHT = LAB.solution("2d").source.partition("def first_loc_out")
FIRST_OUT = "def first_loc_out" + RIGHT[2]
MISTAKES = [w for w in LAB.wrong if w.part == "2a" and w.outcome == "wrong"]


def judged(*cells, seed=1, part="2d", lab=LAB):
    key = lab.key(part)
    return checking.check(key, extract([*lab.setup(), *cells], key.part.names), seed=seed)


def told(found):
    return " ".join(found.message.split())


@pytest.mark.parametrize("wrong", MISTAKES, ids=[w.id for w in MISTAKES])
def test_a_right_2d_passes_whatever_2a_is(wrong):
    found = judged(wrong.source, FIRST_OUT)
    assert (found.outcome, found.points, found.diagnosis) == ("passed", 15, None), found.message
    if "course's" in found.message:  # else this 2a does not show in 2d
        assert "Right on all 18 cases beside the course's `largest_loc` (2a)." in told(found)
        assert "But with your own `largest_loc` (2a) " in told(found) and " of 18 cases would fail" in told(found)


def test_nothing_is_said_of_the_courses_beside_the_courses_own():
    alone = judged(LAB.solution("2a").source, FIRST_OUT)
    assert "course's" not in alone.message and "your own" not in alone.message


def test_what_the_learners_own_would_do_is_shown_as_a_call():
    said = told(judged(CAPACITY, FIRST_OUT))
    assert "5 of 18 cases would fail, as first_loc_out('draft'," in said and "the result is None; " in said


def test_one_that_is_not_finished_or_raises_costs_nothing_either():
    for body, says in (
        ("raise NotImplementedError()", "Your own `largest_loc` (2a) is not finished yet."),
        ("return 1 / 0", "18 of 18 cases would fail"),
        ("return nothing_like_it", "18 of 18 cases would fail"),
    ):
        found = judged(f"def largest_loc(size, page_size, dcp_size):\n    {body}\n", FIRST_OUT)
        assert found.points == 15 and says in told(found), found.message


@pytest.mark.parametrize("wrong", [w for w in LAB.wrong if w.id in ("2d-strict", "2d-second-outside", "2d-draft-as-rank")])
def test_a_wrong_2d_has_its_own_name_beside_a_wrong_2a(wrong):
    found = judged(CAPACITY, wrong.source)
    assert (found.outcome, found.diagnosis, found.points) == ("wrong", wrong.id, 0), found.message
    assert "It was judged with the course's `largest_loc` (2a) in place of yours." in told(found)


def test_a_helper_of_the_same_name_that_serves_is_left_alone():
    mine = "def largest_loc(size, page_size):\n    return (size // page_size + 1) * page_size\n"
    answer = FIRST_OUT.replace("largest_loc(size, page_size, dcp_size)", "largest_loc(size, page_size) * dcp_size - 1")
    found = judged(mine, answer)
    assert found.points == 15 and "course's" not in found.message, found.message


@pytest.mark.slow
def test_a_right_5b_passes_beside_a_wrong_5a():
    lab = catalog.lab("05")
    wrong = next(w for w in lab.wrong if w.id.startswith("5a-") and w.outcome == "wrong")
    right = lab.solution("5b").source
    extend = right[right.index("def extend_path") :]
    assert "decode_path(step)" in extend and "def decode_path" not in extend
    found = judged(wrong.source, extend, part="5b", lab=lab)
    assert found.points == 25 and "beside the course's `decode_path` (5a)." in told(found), found.message
