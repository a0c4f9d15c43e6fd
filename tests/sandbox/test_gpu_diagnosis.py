"""What is right on a GPU is decided there, and a mistake has its name there too. `stand_in_gpu` does what differs."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dcplab import checking, reference
from dcplab.course import catalog
from dcplab.course.drawn import draw
from dcplab.course.model import Launch
from dcplab.course.seeded import Draw
from dcplab.sandbox import pool
from dcplab.sandbox.attempts import attempt

pytestmark = pytest.mark.slow
KERNELS = [(lab, part) for lab in catalog.labs() for part in lab.parts if isinstance(part.cases(Draw(1))[0], Launch)]


@pytest.fixture(scope="module")
def gpu():
    plain_command, plain_environment = pool._command, pool._environment

    def command(mode):
        return [*plain_command(mode)[:-1], "stand_in_gpu"] if mode == "gpu" else plain_command(mode)

    def environment(mode):
        env = plain_environment("cpu" if mode == "gpu" else mode)
        return env | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), env["PYTHONPATH"]])}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "_command", command)
        patch.setattr(pool, "_environment", environment)
        yield
        if server := pool._servers.pop("gpu", None):
            server.close()


def ids(pairs):
    return [part.id for _, part in pairs]


@pytest.mark.parametrize("lab, part", KERNELS, ids=ids(KERNELS))
def test_every_right_kernel_passes(gpu, lab, part):
    key = lab.key(part.id)
    kept = reference.References()
    answers = [("the solution", key.solution)] + [(r.id, lab.program(r)) for r in lab.right if r.part == part.id]
    found = {name: checking.check(key, program, seed=1, mode="gpu", kept=kept) for name, program in answers}
    assert {name: f.message for name, f in found.items() if f.outcome != "passed"} == {}


@pytest.mark.parametrize("lab, part", KERNELS, ids=ids(KERNELS))
def test_every_wrong_kernel_has_its_name(gpu, lab, part):
    """As in test_bank.py, a bank's answers run in a row in one child, and are held against what they did."""
    key, drawn = lab.key(part.id), draw(part, 1, "gpu")
    kept = reference.Reference(key, drawn, whole=True)
    bank = [(wrong, program) for wrong, program in key.wrong if wrong.part == part.id]
    trials = attempt([program for _, program in bank], part, drawn.packed, "gpu", drawn.own_s)
    kept.keep("gpu", {wrong.id: trial for (wrong, _), trial in zip(bank, trials, strict=True)})
    failed = {}
    for (wrong, program), trial in zip(bank, trials, strict=True):
        found = checking.judge(program, kept, trial=trial)
        if (found.wrong and found.wrong.id, found.outcome) != (wrong.id, wrong.outcome):
            failed[wrong.id] = (found.wrong and found.wrong.id, found.outcome)
    assert not failed, "\n".join(f"{k}: {v}" for k, v in failed.items())


def test_a_mistake_in_what_only_a_gpu_rounds_is_named_by_the_gpu(gpu, monkeypatch):
    lab = catalog.lab("03")
    key = lab.key("3g")
    rounded = replace(key, part=replace(key.part, cases=lambda draw: [replace(c, exact=False) for c in key.part.cases(draw)]))
    asked, attempt = [], reference.attempt
    monkeypatch.setattr(reference, "attempt", lambda p, *a: asked.append((a[2], len(p))) or attempt(p, *a))
    wrong, program = next(pair for pair in key.wrong if pair[0].id == "3g-scaled")
    found = checking.check(rounded, program, seed=1, mode="gpu")
    assert (found.outcome, found.diagnosis) == ("wrong", wrong.id)
    assert sum(n for mode, n in asked if mode == "gpu") <= 4, "the bank is not compiled"


def test_an_access_that_ends_the_gpus_context_is_told_as_on_a_cpu(gpu):
    lab = catalog.lab("03")
    key = lab.key("3a")
    far = replace(key.solution, source=key.solution.source.replace("kv_ptr + ", "kv_ptr + 1000000000 + "))
    assert far.source != key.solution.source
    on_gpu, on_cpu = (checking.check(key, far, seed=1, mode=mode) for mode in ("gpu", "cpu"))
    assert (
        on_gpu.outcome == on_cpu.outcome == "unsafe" and "It wrote element" in on_gpu.message and " 10000000" in on_gpu.message
    )
    # A fault leaves no values behind, so what they have in common is told on the CPU alone.
    told = [line for line in on_cpu.message.splitlines() if not line.startswith("Where it is wrong")]
    assert on_gpu.message.splitlines()[:5] == told[:5] and len(told) < len(on_cpu.message.splitlines())
