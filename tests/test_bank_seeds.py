"""Every misconception gives a result of its own on every seed, so that a diagnosis is never a guess.

``test_bank.py`` takes the whole way on two seeds. This takes many seeds in one child, and holds what the wrong answers did
against each other and against the solution. ``DCPLAB_BANK_MANY=200`` asks for more. Kernels and whole servers take fifty
times as long: for them the one or two seeds of ``test_bank.py`` stand, where two answers that did the same would not each
have a name.
"""

import os

import pytest

from dcplab import codec, mode
from dcplab.course import catalog
from dcplab.course.drawn import pack
from dcplab.course.model import Launch
from dcplab.course.seeded import Draw
from dcplab.judge.deeds import deed
from dcplab.sandbox.attempts import attempt

pytestmark = pytest.mark.slow
MANY = int(os.environ.get("DCPLAB_BANK_MANY", "6"))
FIRST = 100
PARTS = [
    pytest.param(lab, part, id=part.id)
    for lab in catalog.labs()
    for part in lab.parts
    if not (part.carries or part.by_case or isinstance(part.cases(Draw(FIRST))[0], Launch))
]


@pytest.mark.parametrize("lab, part", PARTS)
def test_no_two_answers_of_the_bank_do_the_same(lab, part):
    here = mode.current().name
    if reason := part.not_here(here):
        pytest.skip(reason)
    draws = {seed: part.cases(Draw(seed)) for seed in range(FIRST, FIRST + MANY)}
    key = lab.key(part.id)
    ends = [(wrong.id, program) for wrong, program in key.wrong if wrong.outcome != "timeout"]  # the others do nothing in time
    answers = [("the solution", key.solution), *ends]
    packed = [pack(case) for cases in draws.values() for case in cases]
    trials = attempt([program for _, program in answers], part, packed, here, 600.0)
    at = 0
    for seed, cases in draws.items():
        seen: dict[tuple, str] = {}
        for (name, _), trial in zip(answers, trials, strict=True):
            other = seen.setdefault(deeds(trial, range(at, at + len(cases))), name)
            assert other == name, f"{name} and {other} do the same on seed {seed}"
        at += len(cases)


def deeds(trial, numbers) -> tuple:
    """What an answer did on these cases; how it ended, for a case that it did not reach."""
    if trial.load_error:
        return (trial.load_error["type"], trial.load_error["message"])
    return tuple(codec.encode(deed(trial.records[i]), compact=True) if i in trial.records else trial.status for i in numbers)
