"""A part that asks for more than one function: all of them belong to the answer, and a case says which one it calls."""

import pytest

from dcplab import checking
from dcplab.course.key import Key
from dcplab.course.model import Case, Part
from dcplab.errors import CourseError
from dcplab.notebook.extract import extract

STARTER = "def half(n):\n    raise NotImplementedError\n\ndef twice(m):\n    raise NotImplementedError\n"
RIGHT = "STEP = 2\n\ndef half(n):\n    return n // STEP\n\ndef twice(m):\n    return m * STEP\n"


def _cases(draw):
    return [Case((draw.int(10, 99),), label="half"), Case((draw.int(10, 99),), label="twice", size=1, call="twice")]


PART = Part("99a", "half", "Two", 10, 1, _cases, "Which?", ("a", "b", "c"), also=("twice",))


def judged(source):
    key = Key("99_two", PART, extract([RIGHT], PART.names), extract([STARTER], PART.names))
    return checking.check(key, extract([source], PART.names), seed=3)


def test_both_are_run_with_what_they_need():
    found = judged(RIGHT)
    assert (found.outcome, found.points) == ("passed", 10), found.message


def test_they_may_stand_in_two_cells():
    first, second = RIGHT.split("\n\ndef twice")
    key = Key("99_two", PART, extract([RIGHT], PART.names), extract([STARTER], PART.names))
    program = extract([first, "print(1)", f"def twice{second}"], PART.names)
    assert checking.check(key, program, seed=3).outcome == "passed"


@pytest.mark.parametrize(
    "source, outcome, says",
    [
        (STARTER, "not_attempted", "the starter is as it was"),
        (RIGHT.replace("return m * STEP", "raise NotImplementedError"), "not_attempted", "Not finished yet"),
        (RIGHT.replace("def twice", "def thrice"), "not_attempted", "No cell defines `twice`"),
        (RIGHT.replace("m * STEP", "m + STEP"), "wrong", ""),
        (RIGHT.replace("n // STEP", "n - STEP"), "wrong", ""),
        (RIGHT.replace("def twice(m):", "def twice(m:"), "crashed", "cannot be read"),
    ],
)
def test_one_that_is_not_right(source, outcome, says):
    found = judged(source)
    assert (found.outcome, found.points) == (outcome, 0), found.message
    assert says in found.message


def call(program, function=""):
    return checking.call(PART, program, checking.own_case(PART, (8,), {}, function), "cpu")


def test_lab_run_calls_the_one_that_is_asked_for():
    program = extract([RIGHT], PART.names)
    assert call(program)[0] == 4
    assert call(program, "twice")[0] == 16
    with pytest.raises(CourseError, match="Part 99a has no function 'thrice'; it has half, twice"):
        call(program, "thrice")


def test_a_failure_names_the_parameters_of_the_function_that_failed():
    found = judged(RIGHT.replace("m * STEP", "m + STEP"))
    assert found.case.startswith("twice: m = ")
