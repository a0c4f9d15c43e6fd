"""Which misconception: the wrong answer of the bank that does, on the same inputs, what this one did.

Best on every case. Else on every case of the function that is shown: a part may ask for two, each with a mistake of its own.
Else on the case that is shown, on most of those that fail there and on most of those that pass: an answer often holds two
mistakes, and what is said must be true of what is shown. Those that pass count, since of two values a wrong one is always the
other: "True and False are swapped" would fit each failing case of any wrong bool.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcplab.course.model import Part, Wrong
from dcplab.judge.compare import alike
from dcplab.notebook.extract import Program
from dcplab.sandbox.attempts import Trial, attempt

Bank = Sequence[tuple[Wrong, Program]]
ENDLESS_S = 2.0  # a bank's endless answer is given this long, not the part's whole limit


@dataclass(frozen=True)
class Seen:
    """What one answer did in one mode, and what is to be said of it: ``shown`` is the case that the learner is shown."""

    trial: Trial
    mode: str
    outcome: str
    shown: int | None
    failing: Sequence[int]


def find(bank: Bank, part: Part, seen: Seen, packed: Sequence[Mapping[str, Any]], wall_s: float) -> Wrong | None:
    """The first of the bank that agrees on all cases (values, exceptions, memory touched), else on all of the shown function,
    else the nearest, if one is near. Only answers of its outcome run."""
    trial, shown = seen.trial, seen.shown
    candidates = [(wrong, program) for wrong, program in bank if wrong.part == part.id and wrong.outcome == seen.outcome]
    if not candidates:
        return None
    limit = min(wall_s, ENDLESS_S) if seen.outcome == "timeout" else wall_s
    if shown in trial.records:  # one case tells most of them apart, so only the rest run on all
        one = [packed[shown]]
        short = attempt([program for _, program in candidates], part, one, seen.mode, limit)
        mine, did = _deed(trial.records[shown]), [t.records.get(0) for t in short]
        candidates = [c for c, r in zip(candidates, did, strict=True) if r is not None and alike(_deed(r), mine, part.close)]
    trials = attempt([program for _, program in candidates], part, packed, seen.mode, limit)
    whole = next((wrong for (wrong, _), other in zip(candidates, trials, strict=True) if agree(trial, other, part.close)), None)
    if whole or shown not in trial.records:
        return whole
    here = [i for i, case in enumerate(packed) if case.get("call") == packed[shown].get("call")]
    for (wrong, _), other in zip(candidates, trials, strict=True):
        if len(here) < len(packed) and all(_agree_on(number, trial, other, part.close) for number in here):
            return wrong
    failing = [number for number in seen.failing if number in here]
    if len(failing) < 2:
        return None
    passing = [number for number in here if number not in failing]

    def shared(numbers: Collection[int], other: Trial) -> int:
        return sum(_agree_on(number, trial, other, part.close) for number in numbers)

    both = [(shared(failing, other), shared(passing, other)) for other in trials]
    near = [(f + p, -i) for i, (f, p) in enumerate(both) if 2 * f > len(failing) and 2 * p >= len(passing)]
    return candidates[-max(near)[1]][0] if near else None


def find_on_gpu(
    bank: Bank, part: Part, here: Seen, there: Seen, packed: Sequence[Mapping[str, Any]], wall_s: float
) -> Wrong | None:
    """As `find`, for an answer that failed on a GPU (``here``): what it did on the CPU (``there``) names it.

    Two writers of one place leave there what the GPU pleases, and a bank of kernels takes minutes to compile. The interpreter
    is quick, and does the same each time. Where it sees nothing wrong (values that only a GPU rounds), those of the bank that
    it cannot tell from the answer run on the GPU.
    """
    if there.outcome == here.outcome:
        return find(bank, part, there, packed, wall_s)
    if there.outcome not in ("passed", "unjudged"):
        return None  # what fails there is not what failed here: a kernel that does not compile also computes something
    own = [(wrong, program) for wrong, program in bank if wrong.part == part.id and wrong.outcome == here.outcome]
    did = attempt([program for _, program in own], part, packed, "cpu", wall_s)
    like = [pair for pair, other in zip(own, did, strict=True) if agree(there.trial, other, part.close)]
    return find(like, part, here, packed, wall_s)


def agree(a: Trial, b: Trial, close: float | None = None) -> bool:
    """Whether two answers did the same on every case; floats within ``close``, where a part is judged so."""
    if a.status != b.status or a.records.keys() != b.records.keys() or (a.load_error is None) != (b.load_error is None):
        return False
    if a.status != "done" and a.exit != b.exit:
        return False
    return all(_agree_on(i, a, b, close) for i in a.records)


def _agree_on(number: int, a: Trial, b: Trial, close: float | None) -> bool:
    return number in a.records and number in b.records and alike(_deed(a.records[number]), _deed(b.records[number]), close)


def _deed(record: Mapping[str, Any]) -> dict[str, Any]:
    raised = record.get("raised")
    return {
        "returned": record.get("returned"),
        "written": record.get("written"),
        # With its message: the same inputs give the same words, and a type alone would take one mistake for another. What an
        # assert says is its author's.
        "raised": raised and (raised["type"], "" if raised["type"] == "AssertionError" else raised["message"]),
        # What was touched, not in which order: two loads may stand either way round.
        "events": sorted({repr(sorted(event.items())) for event in record.get("events") or ()}),
    }
