"""Launches of a special kind: the end of a larger buffer, cases for one mode only, casts that the interpreter gets right."""

from dataclasses import replace

import pytest
import torch

from dcplab import checking
from dcplab.course import catalog
from dcplab.course.seeded import Draw
from dcplab.judge.compare import alike

LAB = catalog.lab("03")


def with_cases(part, change):
    """The key of a part whose cases are changed one by one."""
    key = LAB.key(part)
    return replace(key, part=replace(key.part, cases=lambda draw: [change(case) for case in LAB.part(part).cases(draw)]))


def program(name):
    return next(LAB.program(wrong) for wrong in LAB.wrong if wrong.id == name)


@pytest.mark.slow
def test_a_pointer_before_its_buffer_reaches_only_the_end_of_the_larger_one():
    far = next(case for case in LAB.part("3a").cases(Draw(1)) if case.args[0].before)
    assert far.args[0].before >= 2**31 and far.buffers["kv"].numel() < 2**20
    key = LAB.key("3a")
    only = replace(key, part=replace(key.part, cases=lambda draw: [far]))
    assert checking.check(only, key.solution, seed=1).outcome == "passed"
    wrapped = checking.check(only, program("3a-int32-address"), seed=1)
    # One case cannot tell a loc in 32 bits from an address in 32 bits, so neither is named, and a fact stands there; and it did
    # store, elsewhere.
    assert (wrapped.outcome, wrapped.diagnosis) == ("unsafe", "3a-fact") and "before the start" in wrapped.message


def test_cases_for_a_gpu_are_left_out_on_a_cpu_and_counted():
    key = with_cases("3g", lambda case: replace(case, modes=("gpu",)) if case.size == 0 else case)
    found = checking.check(key, key.solution, seed=1, mode="cpu")
    cases = key.part.cases(Draw(1))
    here = sum("cpu" in case.modes for case in cases)
    assert 0 < here < len(cases)
    assert found.outcome == "passed" and found.message.startswith(f"Right on all {here} cases")
    assert f"{len(cases) - here} more can only be judged on a GPU." in found.message
    none = with_cases("3g", lambda case: replace(case, modes=("gpu",)))
    found = checking.check(none, key.solution, seed=1, mode="cpu")
    assert (found.outcome, found.points) == ("error", 0)
    assert found.message.startswith("Not judged here: it can only be judged on a GPU.")


@pytest.mark.parametrize("exact, outcome", [(True, "wrong"), (False, "error")])
def test_casts_are_judged_where_the_values_survive_them(exact, outcome):
    key = with_cases("3g", lambda case: replace(case, exact=exact, modes=("cpu",) if case.exact else ("gpu",)))
    found = checking.check(key, program("3g-positive"), seed=1, mode="cpu")
    assert found.outcome == outcome
    assert found.diagnosis == ("3g-positive" if exact else None)


def test_bf16_arithmetic_that_the_interpreter_has_no_constant_for_is_not_judged():
    key = LAB.key("3g")
    doubled = replace(key.solution, source=key.solution.source.replace("mask=owned).to(tl.float32)", "mask=owned) * 1.0"))
    assert doubled.source != key.solution.source
    found = checking.check(key, doubled, seed=1, mode="cpu")
    assert (found.outcome, found.points) == ("error", 0) and "computes bf16 wrongly" in found.message


def test_outcomes_are_alike_within_the_tolerance_of_a_part():
    a = {"returned": (torch.tensor([1.0, float("nan")]), 3), "raised": None}
    b = {"returned": (torch.tensor([1.00001, float("nan")]), 3), "raised": None}
    assert alike(a, b, 1e-4) and not alike(a, b, None) and not alike(a, b, 1e-6)
    assert not alike(a, a | {"returned": (torch.tensor([1.0, 2.0]), 3)}, 1e-4)
    assert not alike(torch.tensor([1]), torch.tensor([2]), 10.0)  # integers are exact
    assert not alike(1.0, 1, 1e-4) and not alike((1.0,), (1.0, 1.0), 1e-4) and alike(float("inf"), float("inf"), 1e-4)
