"""Judges one case: compares an answer's behaviour with the right one. Gives facts only; `present` words them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcplab.course.model import Case, Launch, Part
from dcplab.course.trial import LOGIC, ONLY_IF_RIGHT, Trial
from dcplab.judge.compare import Difference, difference


@dataclass(frozen=True)
class Verdict:
    """The verdict on one case.

    ``outcome``: "passed", "wrong", "unsafe", "crashed", "timeout", "not_attempted", "unjudged" or "not_run".
    ``what`` names the deciding fact, and ``fact`` is that fact:

    * "differs": a `Difference`
    * "compared": the part's own sentence
    * "returned", "raised_other": the exception asked for
    * "touched": an event
    * "doubt": ``(kind, dtype)``
    * "ended": the child's end
    * "too_large", "unfinished", "fault", "refused", "memory", "name", "raised": no fact
    """

    number: int
    outcome: str
    what: str = ""
    fact: Any = None


NO_CASE = Verdict(-1, "not_run")  # where there is none to display


def outcome_of(case: Case | Launch, record: Mapping[str, Any]) -> Any:
    """Return the values that a case is judged by: those written, or the one returned."""
    return record.get("written") if isinstance(case, Launch) or case.writes else record.get("returned")


def of_case(part: Part, number: int, case: Case | Launch, trial: Trial, expected: Any) -> Verdict:
    """Judge one case."""
    record = trial.records.get(number)
    if record is None:
        return missing(number, trial)
    if "too_large" in record:
        return Verdict(number, "wrong", "too_large")
    asked, raised = getattr(case, "raises", None), record.get("raised")
    if raised:
        if asked and asked in raised["is_a"]:
            return _touched(number, record) or Verdict(number, "passed")
        return _raised(number, raised, asked)
    if asked:
        return Verdict(number, "wrong", "returned", asked)
    unsafe, doubts = _touched(number, record), record.get("doubts") or ()
    logic = next((doubt for doubt in doubts if doubt[0] == LOGIC), None)
    if unsafe and any(event["kind"] not in ONLY_IF_RIGHT for event in record["events"]):
        return Verdict(number, "unjudged", "doubt", logic) if logic else unsafe
    wrong = _wrong(part, number, case, outcome_of(case, record), expected)
    if wrong is None:
        if logic:  # which side was kept depends on their order: a right value proves nothing either
            return Verdict(number, "unjudged", "doubt", logic)
        return unsafe or Verdict(number, "passed")  # report aliasing, and needless reads, only when the values are right
    return Verdict(number, "unjudged", "doubt", doubts[0]) if doubts else wrong


def missing(number: int, trial: Trial) -> Verdict:
    """Return the verdict on a case without a record. The first such case is the one that ended the child."""
    if number != len(trial.records):
        return Verdict(number, "not_run")
    return Verdict(number, "timeout" if trial.status == "timeout" else "crashed", "ended", trial.status)


def in_order(verdicts: Sequence[Verdict], cases: Sequence[Case | Launch]) -> list[Verdict]:
    """Sort verdicts for the display, the smallest case first. If some case has wrong values, the cases with right values
    (of another dtype, or in the caller's memory) come last."""
    valued = any(v.outcome in ("wrong", "unsafe") and not _right_values(v) for v in verdicts)
    return sorted(verdicts, key=lambda v: (valued and _right_values(v), cases[v.number].size, v.number))


def overall(verdicts: Sequence[Verdict], cases: Sequence[Case | Launch]) -> tuple[str, Verdict]:
    """Return the outcome of the whole, and the case to display: the first in order with that outcome. Unsafe goes before wrong,
    except right values in the caller's memory."""
    ran = in_order([v for v in verdicts if v.outcome != "not_run"], cases)
    failed = [v for v in ran if v.outcome not in ("passed", "unjudged")]
    if not failed:
        doubtful = next((v for v in ran if v.outcome == "unjudged"), None)
        return ("unjudged", doubtful) if doubtful else ("passed", NO_CASE)
    if failed[0].outcome == "not_attempted":
        return "not_attempted", failed[0]
    failed = [v for v in failed if v.outcome != "not_attempted"]
    valued = any(v.outcome in ("wrong", "unsafe") and not _right_values(v) for v in failed)
    shown = next((v for v in failed if v.outcome == "unsafe" and not (valued and _right_values(v))), failed[0])
    return shown.outcome, shown


def _right_values(verdict: Verdict) -> bool:
    """Return True if a case fails with the right values: their dtype is wrong, they lie in the caller's memory, or too much was
    read for them."""
    match verdict.what:
        case "differs":
            return verdict.fact.what == "dtype" and verdict.fact.same
        case "touched":
            return verdict.fact["kind"] in ONLY_IF_RIGHT
    return False


def _wrong(part: Part, number: int, case: Case | Launch, got: Any, expected: Any) -> Verdict | None:
    if part.compare:
        says = part.compare(case, got, expected)
        return None if says is None else Verdict(number, "wrong", "compared", says)
    differs = _difference(case, got, expected, part.close)
    return None if differs is None else Verdict(number, "wrong", "differs", differs)


def _difference(case: Case | Launch, got: Any, expected: Any, close: float | None) -> Difference | None:
    if isinstance(case, Case) and not case.writes:
        return difference(got, expected, close)
    every = (difference(got.get(which), right, close, (which,)) for which, right in expected.items())
    return next((found for found in every if found is not None), None)  # the first written value that differs


def _raised(number: int, raised: Mapping[str, Any], asked: str | None) -> Verdict:
    if raised["type"] == "NotImplementedError":
        return Verdict(number, "not_attempted", "unfinished")
    if limit := _limit(raised["message"]):
        return Verdict(number, "unjudged", "doubt", limit)
    if asked:
        return Verdict(number, "wrong", "raised_other", asked)
    if raised["fault"]:
        return Verdict(number, "unsafe", "fault")
    if raised["refused"]:
        return Verdict(number, "crashed", "refused")
    if "allocate memory" in raised["message"] or raised["type"] in ("MemoryError", "OutOfMemoryError"):
        return Verdict(number, "crashed", "memory")
    return Verdict(number, "crashed", "name" if raised["type"] == "NameError" else "raised")


def _limit(message: str) -> tuple[str, str] | None:
    """Return the interpreter's own limitation that an exception's message is about, or None."""
    if "'InterpreterBuilder' object has no attribute 'get_bf16'" in message:  # the interpreter makes no bf16 constants
        return "arithmetic", "bf16"
    return None


def _touched(number: int, record: Mapping[str, Any]) -> Verdict | None:
    events = sorted(record["events"], key=lambda event: event["kind"] in ONLY_IF_RIGHT)  # the rest is worse
    if not events:
        return None
    return Verdict(number, "wrong" if events[0]["kind"] in ("again", "needless") else "unsafe", "touched", events[0])
