"""Every lab, four ways: starters are not attempted, solutions and other right answers pass, wrong ones get their own diagnosis.

One test a part and seed. A bank's answers run in a row in one child, and are then judged one by one as a learner's would be,
against what they did. On the first seed they run once more, on the first fifth of the cases: a diagnosis must not hang on
what one run happened to do. On a GPU, where a wrong kernel may race or read what lay there before, they are held against a
second run of the whole bank instead, as a learner's answer is. ``DCPLAB_BANK_SEEDS=1,2,3`` asks for other seeds than the two
fixed ones.
"""

import os

import pytest

from dcplab import checking, mode
from dcplab.course import catalog
from dcplab.course.drawn import draw, pack
from dcplab.course.seeded import Draw
from dcplab.judge import judgement
from dcplab.judge.deeds import agree_on, deeds
from dcplab.present import check_result
from dcplab.reference import ENDLESS_S, Reference
from dcplab.sandbox.attempts import attempt

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
pytestmark = pytest.mark.slow


def judged(reference, program, trial):
    key, drawn = reference.key, reference.drawn
    found = judgement.not_run(key, program, drawn.seed, drawn.mode) or checking.judge(program, reference, trial=trial)
    return check_result.result(found, mode.versions(), trial.own_s)


def tried(reference, programs, own_s):
    return attempt(programs, reference.key.part, reference.drawn.packed, reference.drawn.mode, own_s)


def unlike(reference, bank, trials):
    """The wrong answers that do something else when they run again, on the first fifth of the cases."""
    part, packed = reference.key.part, reference.drawn.packed
    first = packed[: -(-len(packed) // 5)]
    again = attempt([program for _, program in bank], part, first, reference.drawn.mode, reference.drawn.own_s)
    for (wrong, _), trial, other in zip(bank, trials, again, strict=True):
        reached = [n for n in range(len(first)) if n in trial.records]
        then, now = deeds(trial, part.close), deeds(other, part.close)
        if reached != sorted(now.of) or then.loads != now.loads or not agree_on(reached, then, now, part.close):
            yield wrong.id


def test_there_are_labs():
    assert LABS, "solutions/ holds no lab with parts"


@pytest.mark.parametrize("lab, part", PARTS)
def test_the_starter_is_not_attempted_and_not_run(lab, part):
    key = lab.key(part.id)
    found = checking.check(key, key.starter, seed=SEEDS[0])
    assert (found.outcome, found.points) == ("not_attempted", 0), found.message


@pytest.mark.parametrize("lab, part, seed", DRAWN)
def test_every_right_answer_passes(lab, part, seed):
    key, here = lab.key(part.id), mode.current().name
    if part.not_here(here):
        found = checking.check(key, key.solution, seed=seed)
        assert (found.outcome, found.points) == ("error", 0)
        return
    reference = Reference(key, draw(part, seed, here))
    answers = [("the solution", key.solution)] + [(r.id, lab.program(r)) for r in lab.right if r.part == part.id]
    trials = tried(reference, [program for _, program in answers], reference.drawn.own_s)
    failed = {}
    for (name, program), trial in zip(answers, trials, strict=True):
        found = judged(reference, program, trial)
        assert found.max_points == part.points
        if (found.outcome, found.points) != ("passed", part.points):
            failed[name] = f"{found.message}\n{found.detail}"
    assert not failed, "\n\n".join(f"{k}:\n{v}" for k, v in failed.items())


@pytest.mark.parametrize("lab, part, seed", DRAWN)
def test_every_wrong_answer_fails_with_its_own_diagnosis(lab, part, seed):
    here = mode.current().name
    if reason := part.not_here(here):
        pytest.skip(reason)
    key = lab.key(part.id)
    assert key.wrong, f"no wrong answer of {part.id} is known"
    reference = Reference(key, draw(part, seed, here), whole=True)
    failed = {}
    for endless in (True, False):
        bank = [(wrong, program) for wrong, program in key.wrong if (wrong.outcome == "timeout") == endless]
        trials = tried(reference, [program for _, program in bank], ENDLESS_S if endless else reference.drawn.own_s)
        first = seed == SEEDS[0]
        if not (first and here == "gpu"):
            reference.keep(here, {wrong.id: trial for (wrong, _), trial in zip(bank, trials, strict=True)})
        if first and here == "cpu" and not endless:
            failed |= {wrong: "It did something else when it ran again." for wrong in unlike(reference, bank, trials)}
        for (wrong, program), trial in zip(bank, trials, strict=True):
            found = judged(reference, program, trial)
            says = found.message.partition("\n")[0]
            enough = found.points < part.points if part.by_case else found.points == 0
            told = (found.diagnosis, found.outcome, enough, says, found.question)
            if told != (wrong.id, wrong.outcome, True, wrong.says, wrong.asks) or found.table is None:
                failed[wrong.id] = f"{told}\n{found.message}"
    assert not failed, "\n\n".join(f"{k}:\n{v}" for k, v in failed.items())


@pytest.mark.parametrize("lab, part", PARTS)
def test_a_seed_gives_the_same_cases_again_and_another_seed_others(lab, part):
    from dcplab.codec import encode

    def cases(seed):
        return [encode(pack(case)) for case in part.cases(Draw(seed))]

    assert cases(3) == cases(3)
    assert len({tuple(cases(seed)) for seed in range(8)}) > 1
