"""Which misconception an answer has: facts in, facts out, no process."""

from dcplab.course.drawn import Drawn
from dcplab.course.key import Key
from dcplab.course.model import Case, Part, Wrong
from dcplab.course.trial import Trial
from dcplab.judge import diagnose
from dcplab.judge.deeds import agree, deeds
from dcplab.judge.judgement import judge
from dcplab.notebook.extract import extract

PROGRAM = extract(["def above(n):\n    return n > 3\n"], ("above",))


def trial(values):
    return Trial({i: {"returned": v, "events": []} for i, v in enumerate(values)}, status="done")


def named(answers, mine, truth):
    """The name that an answer gets, whose results are ``mine``, from a bank of results by name."""
    part = Part("9a", "above", "", 10, 1, lambda draw: (), "Which?", ("a", "b", "c"))
    bank = [(Wrong(id=name, part="9a", says=name, asks="?", source=""), PROGRAM) for name in answers]
    cases = tuple(Case((i,), size=i) for i in range(len(truth)))
    drawn = Drawn(1, "cpu", cases, tuple({"kind": "case", "call": ""} for _ in cases), 0, 1.0)
    judged = judge(Key("09", part, PROGRAM, PROGRAM, bank), PROGRAM, drawn, trial(mine), truth, "")
    found = diagnose.find(judged, lambda wrong, mode, number: [deeds(trial(answers[w.id]), None) for w in wrong])
    return found and found.id


def test_a_mistake_that_fits_the_failing_cases_alone_is_not_the_nearest():
    """Of two values a wrong one is the other: an inverted answer agrees with every failing case of any wrong bool."""
    truth = [True, True, True, False, False, False]
    answers = {"inverted": [not right for right in truth], "upper end only": [True, True, True, True, True, False]}
    assert named(answers, [True] * 6, truth) == "upper end only"


def test_an_answer_that_agrees_everywhere_goes_before_the_nearest():
    truth = [1, 2, 3, 4]
    answers = {"near": [0, 0, 0, 4], "same": [0, 0, 3, 4]}
    assert named(answers, [0, 0, 3, 4], truth) == "same"
    assert named(answers, [9, 9, 9, 9], truth) is None


def did(**record):
    return deeds(Trial({0: record}, status="done"), None)


def test_what_an_assert_says_is_its_authors_and_accesses_have_no_order():
    def raised(kind, message):
        return did(raised={"type": kind, "message": message})

    reads = [{"kind": "outside", "op": "load", "element": e} for e in (3, 7)]
    assert agree(raised("AssertionError", "too large"), raised("AssertionError", ""), None)
    assert not agree(raised("IndexError", "index 3"), raised("IndexError", "index 4"), None)
    assert agree(did(events=reads), did(events=[*reversed(reads), reads[0]]), None)
    assert not agree(did(events=reads), did(events=reads[:1]), None)


def test_floats_count_as_the_same_where_a_part_says_how_near():
    def floats(close):
        return [deeds(Trial({0: {"returned": x}}, status="done"), close) for x in (1.0, 1.0 + 1e-6)]

    assert agree(*floats(1e-4), 1e-4) and not agree(*floats(None), None)
