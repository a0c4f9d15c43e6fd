"""Reduces an answer's behaviour to the facts that tell two answers apart."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from dcplab import codec
from dcplab.course.model import Case, Launch
from dcplab.course.trial import Trial
from dcplab.judge.compare import alike


@dataclass(frozen=True)
class Deeds:
    """The behaviour of an answer. ``of``: case number -> values, exception and accesses; a digest if values are compared
    exactly. ``shared``: case number -> the arguments whose memory the result shares. ``loads``: the answer loaded.
    ``untyped``: as ``of``, whatever the dtypes of the returned tensors are; empty if values are compared by closeness.
    ``raised``: the cases that ended in an exception."""

    of: Mapping[int, Any]
    shared: Mapping[int, tuple[Any, ...]]
    status: str
    exit: int | None
    loads: bool
    untyped: Mapping[int, bytes] = field(default_factory=dict)
    raised: frozenset[int] = frozenset()


def deeds(trial: Trial, close: float | None, untyped: bool = True) -> Deeds:
    """Reduce a trial. ``close`` as in ``Part``: near floats count as the same, so they are kept as they are and not as a
    digest. ``untyped``: nobody asks for it of a machine's hundreds."""
    of = {number: deed(record) for number, record in trial.records.items()}
    shared = {number: did.pop("shared") for number, did in of.items()}
    kept = of if close is not None else {number: _digest(did) for number, did in of.items()}
    any_type = of if close is None and untyped else {}
    bare = {n: _digest({**did, "returned": _untyped(did["returned"])}) for n, did in any_type.items()}
    raised = frozenset(number for number, did in of.items() if did["raised"])
    return Deeds(kept, shared, trial.status, trial.exit, not trial.load_error, bare, raised)


def of_values(cases: Sequence[Case | Launch], values: Sequence[Any], close: float | None) -> Deeds:
    """Reduce results, one a case, as if an answer had them and did nothing else."""
    records: dict[int, Mapping[str, Any]] = {}
    for number, (case, value) in enumerate(zip(cases, values, strict=True)):
        if getattr(case, "raises", None):
            continue
        records[number] = {"written" if isinstance(case, Launch) or case.writes else "returned": value}
    return deeds(Trial(records, status="done"), close)


def agree(a: Deeds, b: Deeds, close: float | None, aliases: bool = True) -> bool:
    """Return True if two answers did the same on every case and ended alike. ``aliases`` as in `agree_on`."""
    if a.status != b.status or a.of.keys() != b.of.keys() or a.loads != b.loads:
        return False
    if a.status != "done" and a.exit != b.exit:
        return False
    return agree_on(a.of, a, b, close, aliases)


def agree_on(numbers: Collection[int], a: Deeds, b: Deeds, close: float | None, aliases: bool = True) -> bool:
    """Return True if both did the same on each of these cases. A case that one of them did not reach counts as different.

    Without ``aliases``, shared memory is ignored: the same mistake in a view and in a copy of it is one mistake.
    """
    return all(
        n in a.of and n in b.of and _same(a.of[n], b.of[n], close) and (not aliases or a.shared[n] == b.shared[n])
        for n in numbers
    )


def deed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a record that tell two answers apart: values, the exception, the memory touched."""
    raised, events = record.get("raised"), record.get("events") or ()
    return {
        "returned": record.get("returned"),
        "written": record.get("written"),
        # Compare messages too: the type alone would confuse different mistakes. Ignore those that the learner wrote.
        "raised": raised and (raised["type"], "" if _in_own_words(raised) else raised["message"]),
        # Ignore the order of accesses: two loads may stand either way round.
        "events": sorted({repr(sorted(event.items())) for event in events if event["kind"] != "shares"}),
        "shared": tuple(sorted(str(event["argument"]) for event in events if event["kind"] == "shares")),
    }


def _in_own_words(raised: Mapping[str, Any]) -> bool:
    return raised["type"] == "AssertionError" or bool(raised.get("own"))


def _untyped(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and not value.dtype.is_complex:
        whole = value.to(torch.float64) if value.dtype.is_floating_point else value
        return [list(whole.shape), *(int(v) if math.isfinite(v) and v == int(v) else v for v in whole.reshape(-1).tolist())]
    if isinstance(value, tuple):
        return tuple(_untyped(entry) for entry in value)
    return value


def _digest(of: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(codec.encode(of, compact=True)).digest()


def _same(a: Any, b: Any, close: float | None) -> bool:
    return a == b if close is None else alike(a, b, close)
