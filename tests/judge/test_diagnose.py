"""Which misconception an answer has: facts in, facts out, no process."""

import pytest
import torch

from dcplab.course.drawn import Drawn
from dcplab.course.key import Key
from dcplab.course.model import Case, Part, Wrong
from dcplab.course.trial import Trial
from dcplab.judge import diagnose, judgement
from dcplab.judge.deeds import agree, deeds
from dcplab.judge.judgement import judge
from dcplab.judge.observed import observed
from dcplab.notebook.extract import extract

PROGRAM = extract(["def above(n):\n    return n > 3\n"], ("above",))


SHARES = [{"kind": "shares", "argument": 0}]


def judged(records, truth, cases=None):
    """The judgement of an answer that did this, case by case."""
    part = Part("9a", "above", "", 10, 1, lambda draw: (), "Which?", ("a", "b", "c"))
    cases = cases or tuple(Case((i,), size=i) for i in range(len(truth)))
    drawn = Drawn(1, "cpu", cases, tuple({"kind": "case", "call": ""} for _ in cases), 0, 1.0)
    trial = Trial({i: {"events": [], **record} for i, record in enumerate(records)}, status="done")
    return judge(Key("09", part, PROGRAM, PROGRAM, []), PROGRAM, drawn, trial, truth)


def trial(values):
    return Trial({i: {"returned": v, "events": []} for i, v in enumerate(values)}, status="done")


def named(answers, mine, truth, made=None):
    """The id of the mistake that `judged_and_named` gives."""
    found = judged_and_named(answers, mine, truth, made)[1]
    return found and found.id


def judged_and_named(answers, mine, truth, made=None):
    """The judgement of an answer whose results are ``mine``, and its mistake, from a bank of results by name; ``made``: trials
    by source."""
    part = Part("9a", "above", "", 10, 1, lambda draw: (), "Which?", ("a", "b", "c"))
    bank = [(Wrong(id=name, part="9a", says=name, asks="?", source=""), PROGRAM) for name in answers]
    cases = tuple(Case((i,), size=i) for i in range(len(truth)))
    drawn = Drawn(1, "cpu", cases, tuple({"kind": "case", "call": ""} for _ in cases), 0, 1.0)
    judged = judge(Key("09", part, PROGRAM, PROGRAM, bank), PROGRAM, drawn, trial(mine), truth)

    def did(wrong, mode, number):
        known = {**{name: trial(values) for name, values in answers.items()}, **(made or {})}
        return [deeds(known.get(w.source) or known.get(w.id) or Trial(), None) for w in wrong]

    return judged, diagnose.find(judged, did)


def test_a_mistake_that_fits_the_failing_cases_alone_is_not_the_nearest():
    """Of two values a wrong one is the other: an inverted answer agrees with every failing case of any wrong bool."""
    truth = [True, True, True, False, False, False]
    answers = {"inverted": [not right for right in truth], "upper end only": [True, True, True, True, True, False]}
    assert named(answers, [True] * 6, truth) is None
    assert named(answers, [True, True, True, True, True, False], truth) == "upper end only"
    words = ["PAGED", "RAGGED", "RAGGED", "PAGED"]
    assert named({"all ragged": ["RAGGED"] * 4}, ["RAGGED", "RAGGED", "RAGGED", "PAGED"], words) is None
    assert named({"fits all failing": [9, 9, 9, 9, 9, 8]}, [9, 9, 9, 9, 9, 7], [7, 7, 7, 7, 7, 7]) is None, (
        "asked for: one value"
    )


def test_an_answer_that_agrees_everywhere_goes_before_the_nearest():
    truth = [1, 2, 3, 4, 5, 6]
    answers = {"near": [0, 0, 0, 0, 0, 6], "same": [0, 0, 0, 0, 5, 6]}
    assert named(answers, [0, 0, 0, 0, 5, 6], truth) == "same"
    assert named(answers, [9, 9, 9, 9, 9, 9], truth) is None


def test_the_nearest_explains_every_failing_case_and_is_wrong_on_few_others():
    truth, mine = [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 5, 6]
    assert named({"one more": [0, 0, 0, 0, 0, 6]}, mine, truth) == "one more"
    assert named({"two more": [0, 0, 0, 0, 0, 0]}, mine, truth) is None
    assert named({"one otherwise": [0, 0, 0, 7, 5, 6]}, mine, truth) is None


def test_a_mistake_that_shows_as_it_should_is_told_beside_one_that_nobody_knows():
    truth, mine = [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 5, 6]
    assert named({"one not explained": [0, 0, 0, 4, 5, 6]}, mine, truth) == "one not explained+more"
    assert named({"most not explained": [0, 2, 3, 4, 5, 6]}, mine, truth) is None
    judged, found = judged_and_named({"known": [1, 0, 0, 0, 5, 6]}, [9, 0, 0, 0, 5, 6], truth)
    assert (found.id, judged.shown.number) == ("known+more", 0)
    assert judgement.named(judged, found).shown.number == 1, "the case that is shown is one of the mistake that is named"
    assert named({"one": [0, 0, 3, 4, 5, 6], "other": [1, 2, 0, 0, 5, 6]}, mine, truth) is None


def test_the_machine_is_asked_where_no_person_knows_and_must_agree_on_every_case():
    truth, mine = [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 5, 6]
    edited = "def above(n):\n    return n >= 3"
    assert named({}, mine, truth, {edited: trial(mine)}) == "9a-edit"
    assert named({}, mine, truth, {edited: trial([0, 0, 0, 0, 5, 7])}) is None
    assert named({"known": mine}, mine, truth, {edited: trial(mine)}) == "known"
    assert named({"near": [0, 0, 0, 0, 0, 6]}, mine, truth, {edited: trial(mine)}) == "9a-edit", "true before frequent"


def test_a_mistake_in_another_dtype_is_two():
    truth = [torch.arange(3, 6), torch.arange(6), torch.arange(9)]
    known = [values + 1 for values in truth]
    assert named({"known": known}, [values.int() for values in known], truth) == "known+dtype"
    assert named({"known": known}, [values.int() + 1 for values in known], truth) is None


def test_of_two_names_that_fit_equally_neither_is_told():
    truth, mine = [1, 2, 3, 4, 5], [0, 0, 3, 4, 5]
    assert named({"one": mine, "other": mine}, mine, truth) is None
    truth, mine = [1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 5, 6]
    assert named({"one": [0, 0, 0, 0, 9, 6], "other": [0, 0, 0, 0, 8, 6]}, mine, truth) is None


def test_a_wrong_value_is_shown_before_a_wrong_dtype_and_before_an_alias():
    truth = [torch.arange(3, dtype=torch.int32), torch.arange(5), torch.arange(6)]
    records = [
        {"returned": torch.arange(3)},
        {"returned": torch.arange(5), "events": SHARES},
        {"returned": torch.arange(6) + 1},
    ]
    told = judged(records, truth)
    assert (told.outcome, told.shown.number, told.failing) == ("wrong", 2, [0, 1, 2])
    assert judged(records[:2], truth[:2]).outcome == "unsafe", "of right values an alias goes before a dtype"
    alias = judged([{"returned": truth[1], "events": SHARES}], truth[1:2])
    assert (alias.outcome, alias.shown.what) == ("unsafe", "touched")


def test_a_mistake_in_a_view_is_the_one_in_its_copy():
    truth = [torch.arange(n) for n in (3, 4, 5)]
    records = [{"returned": t + 1, "events": SHARES} for t in truth]
    records[0] = {"returned": truth[0], "events": SHARES}
    told = judged(records, truth)
    copies = deeds(Trial({i: {"returned": r["returned"]} for i, r in enumerate(records)}, status="done"), None)
    mine = deeds(told.trial, None)
    assert told.outcome == "wrong" and agree(mine, copies, None, aliases=False) and not agree(mine, copies, None)


@pytest.mark.parametrize(
    "mine, truth, plain",
    [
        ([True, True, True], [True, False, True], ("always", True)),
        ([0, 1, 2], [0, 2, 4], ("argument", 0)),
        ([7, 7, 7], [7, 7, 7.5], ("always", 7)),
        ([7, 7], [1, 2], None),
        ([7, 7, 8], [1, 2, 3], None),
    ],
)
def test_what_is_true_of_every_case_is_seen(mine, truth, plain):
    assert observed(judged([{"returned": value} for value in mine], truth)) == plain


def test_a_buffer_that_is_as_it_was_in_every_case_was_not_written():
    cases = tuple(Case((torch.zeros(n), n), writes=(0,), size=n) for n in (2, 3))
    truth = [{0: torch.ones(n)} for n in (2, 3)]
    nothing = [{"returned": None, "written": {0: torch.zeros(n)}} for n in (2, 3)]
    assert observed(judged(nothing, truth, cases)) == ("nothing", (0,))
    once = [nothing[0], {"returned": None, "written": {0: torch.full((3,), 2.0)}}]
    assert observed(judged(once, truth, cases)) is None


def test_an_answer_that_differs_in_dtypes_alone_has_the_name_of_its_values():
    def tensors(values, dtype=torch.int64):
        return [torch.tensor(row, dtype=dtype) for row in values]

    truth = tensors([[1, 2], [3, 4], [5, 6]])
    plus = [[2, 3], [4, 5], [6, 7]]
    answers = {"plus": tensors(plus, torch.int32), "widened": [t.int() for t in truth]}
    assert named(answers, tensors(plus), truth) == "plus", "the answer's dtype is right, the known one's is not"
    assert named({"widened": answers["widened"]}, [t.short() for t in truth], truth) is None, "no mistake but the dtype"


def test_the_reason_of_the_many_is_kept_beside_the_few():
    truth = [1, 2, 3, 4]
    crash = {"raised": {"type": "ValueError", "message": "4 and 8", "is_a": [], "fault": False, "refused": False}}
    told = judged([{"returned": 0}, crash, crash, crash], truth)
    assert (told.outcome, told.shown.number, told.many.number) == ("wrong", 0, 1)
    assert judged([{"returned": 0}, {"returned": 0}, crash, crash], truth).many is None


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


def raising(message, own):
    return {"raised": {"type": "ValueError", "is_a": ["ValueError", "Exception"], "message": message, "own": own}}


@pytest.mark.parametrize("own, same", [(True, True), (False, False)])
def test_the_words_of_an_exception_of_ones_own_tell_no_two_answers_apart(own, same):
    mine, other = (deeds(Trial({0: {"events": [], **raising(text, own)}}, status="done"), None) for text in ("", "not a turn"))
    assert agree(mine, other, None) is same
