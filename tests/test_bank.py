"""Every lab, four ways: starters are not attempted, solutions and other right answers pass, wrong ones get their own diagnosis.

One test a part and seed: its children share the warm server. ``DCPLAB_BANK_SEEDS=1,2,3`` asks for other seeds than the
two fixed ones.
"""

import os

import pytest
from remembered import once

from dcplab import checking, mode
from dcplab.course import catalog
from dcplab.course.seeded import Draw
from dcplab.judge import diagnose

SEEDS = [int(s) for s in os.environ.get("DCPLAB_BANK_SEEDS", "1,20260").split(",")]
LABS = catalog.labs()
PARTS = [pytest.param(lab, part, id=part.id) for lab in LABS for part in lab.parts]
# Parts that run whole servers take one seed, unless others are asked for by name.
DRAWN = [
    pytest.param(lab, part, seed, id=f"{part.id}-{seed}")
    for lab in LABS
    for part in lab.parts
    for seed in (SEEDS[:1] if (part.carries or part.by_case) and "DCPLAB_BANK_SEEDS" not in os.environ else SEEDS)
]


def test_there_are_labs():
    assert LABS, "solutions/ holds no lab with parts"


@pytest.mark.parametrize("lab, part", PARTS)
def test_the_starter_is_not_attempted_and_not_run(lab, part):
    key = lab.key(part.id)
    found = checking.check(key, key.starter, seed=SEEDS[0])
    assert (found.outcome, found.points) == ("not_attempted", 0), found.message


@pytest.mark.parametrize("lab, part, seed", DRAWN)
def test_every_right_answer_passes(lab, part, seed):
    key = lab.key(part.id)
    here = mode.current().name
    answers = [("the solution", key.solution)] + [(r.id, lab.program(r)) for r in lab.right if r.part == part.id]
    failed = {}
    for name, program in answers:
        found = checking.check(key, program, seed=seed)
        assert found.max_points == part.points
        if part.not_here(here):
            assert (found.outcome, found.points) == ("error", 0)
        elif (found.outcome, found.points) != ("passed", part.points):
            failed[name] = f"{found.message}\n{found.detail}"
    assert not failed, "\n\n".join(f"{k}:\n{v}" for k, v in failed.items())


@pytest.mark.parametrize("lab, part, seed", DRAWN)
def test_every_wrong_answer_fails_with_its_own_diagnosis(lab, part, seed, monkeypatch):
    monkeypatch.setattr(diagnose, "attempt", once(diagnose.attempt))
    if reason := part.not_here(mode.current().name):
        pytest.skip(reason)
    key = lab.key(part.id)
    bank = [w for w in lab.wrong if w.part == part.id]
    assert bank, f"no wrong answer of {part.id} is known"
    failed = {}
    for wrong in bank:
        found = checking.check(key, lab.program(wrong), seed=seed)
        first = found.message.partition("\n")[0]
        enough = found.points < part.points if part.by_case else found.points == 0
        told = (found.diagnosis, found.outcome, enough, first, found.question)
        if told != (wrong.id, wrong.outcome, True, wrong.says, wrong.asks) or found.table is None:
            failed[wrong.id] = f"{told}\n{found.message}"
    assert not failed, "\n\n".join(f"{k}:\n{v}" for k, v in failed.items())


@pytest.mark.parametrize("lab, part", PARTS)
def test_a_seed_gives_the_same_cases_again_and_another_seed_others(lab, part):
    from dcplab.codec import encode

    def cases(seed):
        return [encode(checking.pack(case)) for case in part.cases(Draw(seed))]

    assert cases(3) == cases(3)
    assert len({tuple(cases(seed)) for seed in range(8)}) > 1
