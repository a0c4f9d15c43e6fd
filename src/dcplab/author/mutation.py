"""Tries mutants of a solution against a part's own cases: what survives is equivalent, or shows what no case asks for."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dcplab import paths
from dcplab.course.catalog import Lab
from dcplab.course.drawn import draw
from dcplab.course.key import Key
from dcplab.course.mutants import Mutant, mutants
from dcplab.judge import judgement
from dcplab.reference import Reference
from dcplab.sandbox.attempts import attempt

FILE = "mutants.toml"  # of a lab: part -> edited line -> why that survivor is no gap


@dataclass(frozen=True)
class Tried:
    """``survivors`` passed on every seed; ``reasons`` are of those that are known, by their edited line."""

    count: int
    survivors: Sequence[Mutant]
    reasons: dict[str, str]

    @property
    def unexplained(self) -> list[Mutant]:
        return [mutant for mutant in self.survivors if mutant.at not in self.reasons]


def judged_by_results(lab: Lab, identity: str) -> bool:
    """Return False for a part that runs whole servers or asks for a record: its solution has no line to mutate cheaply."""
    part = lab.part(identity)
    return not (part.carries or part.by_case)


def tried(lab: Lab, identity: str, seeds: Sequence[int], every: int = 1) -> Tried:
    """Run each mutant of a part's solution, ``every`` so manieth, until a seed tells it from the solution. The solution's own
    results are computed once a seed, and all mutants of a seed run in a row."""
    key = lab.key(identity)
    left = made = mutants(key.solution.source, key.part.names)[::every]
    for seed in seeds:
        left = _surviving(key, left, seed) if left else left
    return Tried(len(made), left, reasons(lab.name).get(key.part.id, {}))


def reasons(lab: str, solutions: Path | None = None) -> dict[str, dict[str, str]]:
    """Read why survivors of a lab are no gap: by part and edited line."""
    path = (solutions or paths.solutions()) / lab / FILE
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _surviving(key: Key, left: Sequence[Mutant], seed: int) -> list[Mutant]:
    drawn = draw(key.part, seed, "cpu")
    expected = Reference(key, drawn).expected()
    programs = [replace(key.solution, source=mutant.source, lines=()) for mutant in left]
    trials = attempt(programs, key.part, drawn.packed, "cpu", drawn.own_s)
    judged = [judgement.judge(key, p, drawn, t, expected) for p, t in zip(programs, trials, strict=True)]
    return [mutant for mutant, j in zip(left, judged, strict=True) if j.outcome in ("passed", "error")]
