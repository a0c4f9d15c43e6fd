"""Which wrong answers run on which cases until only those that did the same as an answer are left."""

import pytest

from dcplab.course.drawn import Drawn
from dcplab.course.key import Key
from dcplab.course.model import Case, Part, Wrong
from dcplab.course.trial import Trial
from dcplab.judge import sieve
from dcplab.judge.deeds import deeds
from dcplab.judge.judgement import judge
from dcplab.notebook.extract import extract

PROGRAM = extract(["def above(n):\n    return n > 3\n"], ("above",))
RIGHT = [10, 20, 30, 40, 50]
MINE = [11, 20, 31, 41, 51]  # all wrong but the second


def left(answers, mine=MINE, ended=False, sources=None, **also):
    """The names that are left, and what ran: (names, case). ``sources``: of the answers, by name."""
    part = Part("9a", "above", "", 10, 1, lambda draw: (), "Which?", ("a", "b", "c"), **also)
    cases = tuple(Case((i,), size=size) for i, size in enumerate([0, 1, 4, 3, 2]))
    drawn = Drawn(1, "cpu", cases, tuple({"kind": "case", "call": ""} for _ in cases), 0, 1.0)
    trial = Trial({i: {"returned": v, "events": []} for i, v in enumerate(mine)}, status="died" if ended else "done", exit=1)
    judged = judge(Key("09", part, PROGRAM, PROGRAM, []), PROGRAM, drawn, trial, RIGHT)
    ran = []

    def bank(wrong, mode, cases):
        [number] = cases
        ran.append((len(wrong), number))
        return [deeds(Trial({number: {"returned": answers[w.id][number], "events": []}}), None) for w in wrong]

    wrong = [Wrong(id=name, part="9a", says=name, asks="?", source=(sources or {}).get(name, "")) for name in answers]
    return [w.id for w in sieve.on_failing(judged, sieve.on_shown(judged, wrong, bank), bank)], ran


def test_each_case_excludes_some_and_the_rest_run_on_the_next_small_one():
    answers = {f"other on {i}": [*MINE[:i], 0, *MINE[i + 1 :]] for i in (0, 1, 2, 3, 4)} | {"a": MINE, "b": MINE}
    names, ran = left(answers)
    # the failing cases, small ones first; the one that passes is not asked for
    assert ran == [(7, 0), (6, 4), (5, 3), (4, 2)]
    assert names == ["other on 1", "a", "b"]


def test_it_ends_where_few_are_left_or_nobody_falls_out():
    assert left({"a": MINE, "b": MINE, "otherwise": [0] * 5})[1] == [(3, 0)]
    assert left({name: MINE for name in "abcd"})[1] == [(4, 0), (4, 4)]
    assert left({})[1] == []


@pytest.mark.parametrize("reached", [1, 3])
def test_cases_that_an_answer_did_not_reach_exclude_nobody(reached):
    names, ran = left({name: MINE for name in "abcd"}, MINE[:reached], ended=True)
    assert names == list("abcd") and {number for _, number in ran} <= set(range(reached))


def test_who_has_the_solutions_function_there_is_not_run_where_a_part_asks_for_several():
    mends = "def above(n):\n    return n > 3\ndef below(n):\n    return n < 3\n"
    sources = {"a": mends.replace("n > 3", "n >= 3"), "elsewhere": mends.replace("n < 3", "n <= 3")}
    answers = dict.fromkeys(sources, MINE)
    assert left(answers, sources=sources, also=("below",)) == (["a"], [(1, 0)])
    assert left(answers, sources=sources) == (["a", "elsewhere"], [(2, 0)]), "one function: nobody is left out"
    driven = left(answers, sources=sources, also=("below",), drive=lambda entry, n: entry(n))
    assert driven == (["a", "elsewhere"], [(2, 0)]), "a driver may call any of them"


def test_code_is_like_code_by_its_operations_and_not_by_its_names():
    """Who is written most like an answer stands first, whatever its names are."""
    part = Part("9a", "f", "", 10, 1, lambda draw: (), "Which?", ("a", "b", "c"))
    sources = {
        "after": "def f(step):\n    for rank in step.ranks:\n        rank.read()\n        rank.write()\n",
        "never": "def f(step):\n    for rank in step.ranks:\n        rank.read()\n",
        "first": "def f(step):\n    for rank in step.ranks:\n        rank.write()\n        rank.read()\n",
    }
    wrong = [Wrong(id=name, part="9a", says=name, asks="?", source=source) for name, source in sources.items()]
    mine = extract(
        ["def f(s):\n    others = s.ranks\n    for each in others:\n        each.write()\n        each.read()\n"], ("f",)
    )
    judged = judge(Key("09", part, PROGRAM, mine, []), mine, Drawn(1, "cpu", (), (), 0, 1.0), Trial(), [])
    assert sieve.by_likeness(judged, wrong)[0].id == "first"
    assert sieve.by_likeness(judged, wrong[:2])[0].id == "never", "it has nothing that the answer has not"
