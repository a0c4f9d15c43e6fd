"""Finds facts that hold for every case of a wrong answer, whatever its reason: it stores nothing, it always returns the same
value, or it returns an argument unchanged."""

from __future__ import annotations

from typing import Any

from dcplab.course.model import Case, Launch
from dcplab.judge.compare import identical
from dcplab.judge.judgement import Judgement
from dcplab.judge.verdict import outcome_of

FEWEST = 3  # cases, for "always"


def observed(judgement: Judgement) -> tuple[str, Any] | None:
    """Return ("nothing", the buffers or arguments to write), ("always", the value), ("argument", its position), or None.

    None too if a case did not end or raised.
    """
    numbers = judgement.alongside
    cases = [judgement.drawn.cases[n] for n in numbers]
    records = [judgement.trial.records.get(n, {}) for n in numbers]
    right = [judgement.expected[n] for n in numbers]
    done = all("raised" not in r and ("returned" in r or "written" in r) for r in records)
    if judgement.outcome not in ("wrong", "unsafe") or not done:
        return None
    got = [outcome_of(case, record) for case, record in zip(cases, records, strict=True)]
    if any(isinstance(case, Launch) or case.writes for case in cases):
        before = [_before(case) for case in cases]
        kept = all(identical(g, b) for g, b in zip(got, before, strict=True))
        elsewhere = any(record.get("events") for record in records)  # it may have stored where it must not
        return ("nothing", tuple(before[0])) if kept and not elsewhere else None
    if len(numbers) < FEWEST or all(identical(value, right[0]) for value in right):
        return None
    if isinstance(got[0], bool | int | float | str) and all(identical(value, got[0]) for value in got):
        return "always", got[0]
    for position in range(min(len(case.args) for case in cases)):
        if all(identical(value, case.args[position]) for value, case in zip(got, cases, strict=True)):
            return "argument", position
    return None


def _before(case: Case | Launch) -> dict:
    """Return the initial contents of the memory that a case asks to be written."""
    if isinstance(case, Launch):
        return {name: case.buffers[name] for name in case.writes}
    return {position: case.args[position] for position in case.writes}
