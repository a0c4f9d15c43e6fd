"""What is true of every failing case: computed from values, and worded."""

import pytest
import torch

from dcplab.course.drawn import Drawn
from dcplab.course.key import Key
from dcplab.course.model import Case, Part
from dcplab.course.trial import Trial
from dcplab.judge import conditions
from dcplab.judge.judgement import judge
from dcplab.judge.related import related
from dcplab.notebook.extract import extract
from dcplab.present import facts


def judged(params, calls, got, right, writes=(), raises=None):
    """The judgement of an answer with these parameters, calls, results and right results. ``raises``: the exception that all
    cases ask for, or one a case."""
    program = extract([f"def entry({params}):\n    return 0\n"], ("entry",))
    part = Part("9a", "entry", "", 10, 1, lambda draw: (), "Which?", ("a", "b", "c"))
    asked = raises if isinstance(raises, tuple) else (raises,) * len(calls)
    cases = tuple(Case(call, size=i, writes=writes, raises=asked[i]) for i, call in enumerate(calls))
    drawn = Drawn(1, "cpu", cases, tuple({"kind": "case", "call": ""} for _ in cases), 0, 1.0)
    field = "written" if writes else "returned"
    trial = Trial({i: {"events": [], field: value} for i, value in enumerate(got)}, status="done")
    return judge(Key("09", part, program, program, []), program, drawn, trial, right)


def told(*args, **kwargs):
    found = related([judged(*args, **kwargs)])
    return found and " ".join(filter(None, [facts.of_plain("related", found, ()), facts.of_condition(("related", found))]))


SIZES = [(12, 4, 2), (20, 5, 3), (21, 7, 4), (16, 8, 5)]
PAGES = [c // p for c, p, _ in SIZES]


@pytest.mark.parametrize(
    "got, right, says",
    [
        ([c + 1 for c, _, _ in SIZES], [c for c, _, _ in SIZES], "Where it is wrong, the result is 1 too large."),
        ([c - p for c, p, _ in SIZES], [c for c, _, _ in SIZES], "Where it is wrong, the result is `p` too small."),
        ([c * d for c, _, d in SIZES], [c for c, _, _ in SIZES], "Where it is wrong, the result is `d` times too large."),
        (
            [c for c, _, _ in SIZES],
            [c * d * p for c, p, d in SIZES],
            "Where it is wrong, the result is `p * d` times too small.",
        ),
        ([c * 7 + 100 for c, _, _ in SIZES], [c for c, _, _ in SIZES], "Where it is wrong, the result is too large."),
        ([c * d + p for c, p, d in SIZES], [c * c for c, _, d in SIZES], "Where it is wrong, the result is `c * d + p`."),
        ([None] * 4, [1, 2, 3, 4], ""),
        ([1, 2, 3, 4], [None] * 4, "Where it is wrong, the result is a value and None is right."),
        ([9, 0, 77, 5], [10, 3, 12, 8], None),
    ],
)
def test_a_number_is_held_against_the_sizes_of_its_call(got, right, says):
    assert told("c, p, d", SIZES, got, right) == says


LOCS = [torch.tensor(row) for row in ([5, -1, 8], [0, 7, 9], [-1, -1, 4], [6, 2, 11])]
CALLS = [(locs, d) for locs, d in zip(LOCS, (2, 3, 4, 5), strict=True)]
RIGHT = [torch.where(locs >= 0, locs // d, -1) for locs, d in CALLS]


@pytest.mark.parametrize(
    "got, says",
    [
        ([r + 1 for r in RIGHT], "Where it fails, every entry of the result is wrong: each is 1 too large."),
        ([r.flip(0) for r in RIGHT], "Where it is wrong, the result has the right entries, the last one first."),
        ([r.sort().values for r in RIGHT], "Where it is wrong, the result has the right entries, but sorted."),
        ([r.int() for r in RIGHT], ""),
        (
            [r + 0.25 for r in RIGHT],
            "Where it is wrong, the result is right when rounded down, but its dtype is float32 and not int64.",
        ),
        ([r[:-1] for r in RIGHT], "Where it is wrong, the result is right as far as it goes, and ends too early."),
        ([r[1:] for r in RIGHT], "Where it is wrong, the beginning of the result is missing, and the rest is right."),
        ([torch.cat([r, r]) for r in RIGHT], "Where it is wrong, the result begins right and then goes on too far."),
        ([r[:0] for r in RIGHT], "Where it is wrong, the result is empty."),
        ([r[None] for r in RIGHT], "Where it is wrong, the result has the right values in another shape."),
        ([r[torch.tensor([0, 2])] for r in RIGHT], None),
        ([torch.where(r == -1, 0, r) for r in RIGHT], "Of the result only entries are wrong where -1 is right: each is 0."),
        ([locs % d for locs, d in CALLS], None),
    ],
)
def test_entries_are_held_against_the_right_ones(got, says):
    found = told("locs, d", CALLS, got, RIGHT)
    if says is None:
        assert found is None or "where it is wrong" in found.lower() or found.startswith("Each wrong entry"), found
    else:
        assert found == says


def test_entries_are_held_against_those_of_an_argument():
    calls, right = [CALLS[i] for i in (1, 3)] * 2, [RIGHT[i] for i in (1, 3)] * 2
    assert told("locs, d", calls, [locs for locs, _ in calls], right) == (
        "Each wrong entry of the result is that of `locs`, unchanged."
    )
    assert told("locs, d", calls, [locs % d for locs, d in calls], right) == "Each wrong entry of the result is `locs % d`."


def test_entries_are_held_against_an_expression_and_against_a_store():
    locs = [torch.tensor(row) for row in ([5, 17, 8], [22, 7, 9], [31, 13, 4], [6, 2, 11])]
    calls = [(row, d) for row, d in zip(locs, (2, 3, 4, 5), strict=True)]
    right = [row // d for row, d in calls]
    assert told("locs, d", calls, [row - row % d * d for row, d in calls], right) == (
        "Each wrong entry of the result is `locs - locs % d * d`."
    )
    tables = [torch.arange(9) * 7 + i for i in range(4)]
    calls = [(table, 2) for table in tables]
    got = [t[[0, 5 - i % 2, 8 - i % 2]] for i, t in enumerate(tables)]
    right = [t[[0, 1, 2 + i % 2]] for i, t in enumerate(tables)]
    got[0], got[1] = tables[0][[0, 1, 1]], tables[1][[0, 0, 3]]
    assert (
        told("table, d", calls, got, right)
        == "Where it is wrong, each wrong entry of the result is one of `table`, from another place."
    )


def test_which_of_several_results_is_wrong():
    right = [(r, len(r) + i) for i, r in enumerate(RIGHT)]
    assert told("locs, d", CALLS, [(r, n + 1) for r, n in right], right) == (
        "Where it is wrong, its second result is 1 too large, and the rest is right."
    )
    assert told("locs, d", CALLS, [(n, r) for r, n in right], right) == "Where it is wrong, its two results are swapped."
    odd = [(r + torch.tensor([1, 5, -3]), n) for r, n in right]
    assert told("locs, d", CALLS, odd, right) == "Where it fails, every entry of its first result is wrong."


@pytest.mark.parametrize(
    "got, says",
    [
        ([0, 0, 3, 0], "what is stored in `kv` is right, but some of it is missing."),
        ([0, 2, 3, 9], "all that belongs into `kv` is there, and more is stored where nothing belongs."),
        ([2, 0, 0, 3], "the right values are stored in `kv`, at wrong places."),
    ],
)
def test_memory_is_held_against_what_stood_there(got, says):
    before, right = torch.zeros(4, dtype=torch.int64), torch.tensor([0, 2, 3, 0])
    found = told("kv", [(before,)] * 2, [{0: torch.tensor(got)}] * 2, [{0: right}] * 2, writes=(0,))
    assert found == f"Where it is wrong, {says}"


def test_values_that_belong_to_another_place_are_told():
    before, right = torch.zeros(8, dtype=torch.int64), torch.tensor([11, 12, 13, 14, 15, 0, 0, 0])
    got = [torch.tensor(row) for row in ([11, 12, 12, 0, 15, 0, 0, 0], [11, 11, 13, 14, 15, 0, 14, 0])]
    found = told("kv", [(before,)] * 2, [{0: g} for g in got], [{0: right}] * 2, writes=(0,))
    assert found == "Where it is wrong, each wrong value that was stored in `kv` belongs to another place of it."


def test_a_condition_is_told_if_exactly_the_failing_cases_fulfil_it():
    calls = [(mode, n) for mode in ("decode", "extend", "mixed") for n in (1, 2, 3)]
    right = [n for _, n in calls]
    got = [n + 1 if mode == "mixed" else n for mode, n in calls]
    assert told("mode, n", calls, got, right) == (
        'Where it is wrong, the result is 1 too large. Of the cases drawn those fail where `mode` is "mixed", and no others.'
    )
    got = [n + 1 if mode == "mixed" and n > 1 else n for mode, n in calls]
    assert told("mode, n", calls, got, right) == "Where it is wrong, the result is 1 too large.", "two cases may be chance"


def test_more_seeds_refute_what_was_chance():
    one = judged("c, p, d", SIZES, [c + p for c, p, _ in SIZES], [c for c, _, _ in SIZES])
    other = judged("c, p, d", SIZES, [c + p + d for c, p, d in SIZES], [c for c, _, _ in SIZES])
    assert related([one, one]) and related([one])[0].what == "more"
    assert related([one, other])[0].what == "above"


def test_a_count_of_tokens_is_held_against_a_block_and_not_against_a_stride():
    cases = {
        i: {"n": n, "kv_stride": s, "ROWS": r}
        for i, (n, s, r) in enumerate([(5, 4, 8), (6, 4, 4), (7, 2, 4), (8, 4, 8), (4, 4, 4), (12, 2, 4)])
    }
    assert conditions.exactly_where(cases, [0, 1, 2])[:3] == ("no_multiple", "n", "ROWS")
    of_strides = {i: {"n": c["n"], "kv_stride": c["kv_stride"]} for i, c in cases.items()}
    assert conditions.exactly_where(of_strides, [0, 2, 4]) is None


def test_a_result_where_an_exception_is_due_is_held_against_no_value():
    """Nothing is right there, None neither: what is said of values is said of the other cases."""
    asked = judged("n", [(1,), (2,), (3,)], [1, 2, 3], [None] * 3, raises="ValueError")
    found = related([asked])
    assert found is None or found[0] is None
    both = judged("n", [(1,), (2,), (3,)], [2, 3, 3], [1, 2, None], raises=(None, None, "ValueError"))
    found = related([both])
    assert found and facts.of_plain("related", found, ()) == "Where it gives a wrong result, the result is 1 too large."


def test_entries_that_are_right_are_not_called_sorted():
    """An empty tensor is in any order: dtypes that differ in two ways are no order."""
    got = [torch.tensor([], dtype=torch.float32), torch.tensor([2, 3])]
    right = [torch.tensor([], dtype=torch.int64), torch.tensor([2, 3], dtype=torch.int32)]
    assert not told("locs", [(torch.tensor([]),), (torch.tensor([2, 3]),)], got, right)
