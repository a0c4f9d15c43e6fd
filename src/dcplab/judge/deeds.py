"""Reduces an answer's behaviour to the facts that tell two answers apart."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from dcplab import codec
from dcplab.course.trial import Trial
from dcplab.judge.compare import alike


@dataclass(frozen=True)
class Deeds:
    """The behaviour of an answer. ``of``: case number -> values, exception and accesses; a digest if values are compared
    exactly. ``loads``: the answer loaded."""

    of: Mapping[int, Any]
    status: str
    exit: int | None
    loads: bool


def deeds(trial: Trial, close: float | None) -> Deeds:
    """Reduce a trial. ``close`` as in ``Part``: near floats count as the same, so they are kept as they are and not as a
    digest."""
    of = {number: deed(record) for number, record in trial.records.items()}
    return Deeds(
        of if close is not None else {n: _digest(d) for n, d in of.items()}, trial.status, trial.exit, not trial.load_error
    )


def agree(a: Deeds, b: Deeds, close: float | None) -> bool:
    """Return True if two answers did the same on every case and ended alike."""
    if a.status != b.status or a.of.keys() != b.of.keys() or a.loads != b.loads:
        return False
    if a.status != "done" and a.exit != b.exit:
        return False
    return agree_on(a.of, a, b, close)


def agree_on(numbers: Collection[int], a: Deeds, b: Deeds, close: float | None) -> bool:
    """Return True if both did the same on each of these cases. A case that one of them did not reach counts as different."""
    return all(n in a.of and n in b.of and _same(a.of[n], b.of[n], close) for n in numbers)


def deed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a record that tell two answers apart: values, the exception, the memory touched."""
    raised = record.get("raised")
    return {
        "returned": record.get("returned"),
        "written": record.get("written"),
        # Compare messages too: the type alone would confuse different mistakes. Ignore assertion messages; the learner wrote
        # them.
        "raised": raised and (raised["type"], "" if raised["type"] == "AssertionError" else raised["message"]),
        # Ignore the order of accesses: two loads may stand either way round.
        "events": sorted({repr(sorted(event.items())) for event in record.get("events") or ()}),
    }


def _digest(of: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(codec.encode(of, compact=True)).digest()


def _same(a: Any, b: Any, close: float | None) -> bool:
    return a == b if close is None else alike(a, b, close)
