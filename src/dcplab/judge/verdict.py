"""What is to be said of one case: what the answer did there, held against what is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcplab import mode as modes
from dcplab.course.model import Case, Launch, Part, Table
from dcplab.judge.compare import difference
from dcplab.present import case_table
from dcplab.sandbox.attempts import Trial
from dcplab.sandbox.kernels import interpreter_limits
from dcplab.sandbox.kernels.bounds_guard import sentence


@dataclass(frozen=True)
class Verdict:
    """What is to be said of one case. ``outcome`` is "passed", "wrong", "unsafe", "crashed", "timeout", or "unjudged"."""

    number: int
    outcome: str
    says: str = ""
    table: Table | None = None
    traceback: str = ""


def outcome_of(case: Case | Launch, record: Mapping[str, Any]) -> Any:
    return record.get("written") if isinstance(case, Launch) or case.writes else record.get("returned")


def of_case(part: Part, number: int, case: Case | Launch, trial: Trial, expected: Any, names: Sequence[str]) -> Verdict:
    record = trial.records.get(number)
    if record is None:
        return missing(number, trial, expected)
    if "too_large" in record:
        return Verdict(
            number, "wrong", "The result is far larger than what is asked for.", case_table.raised("too large", expected)
        )
    asked = getattr(case, "raises", None)
    raised = record.get("raised")
    if raised:
        if asked and asked in raised["is_a"]:
            return _events(part, number, case, record, None, None, names) or Verdict(number, "passed")
        return _raised(number, raised, asked, expected)
    got = outcome_of(case, record)
    if asked:
        says = f"It returns where a {asked} is asked for."
        return Verdict(number, "wrong", says, case_table.raised(case_table.short(got), f"a {asked}"))
    unsafe = _events(part, number, case, record, got, expected, names)
    if unsafe and any(event["kind"] != "shares" for event in record["events"]):
        return (
            Verdict(number, "unjudged", interpreter_limits.LOGIC)
            if interpreter_limits.LOGIC in record.get("doubts", ())
            else unsafe
        )
    says = part.compare(case, got, expected) if part.compare else _difference(case, got, expected, part.close, names)
    if says is None:
        return unsafe or Verdict(number, "passed")  # a result that is somebody's memory is worth a word once it is right
    if record.get("doubts"):
        return Verdict(number, "unjudged", record["doubts"][0])
    return Verdict(number, "wrong", says, _table(part, case, got, expected, names))


def _difference(case: Case | Launch, got: Any, expected: Any, close: float | None, names: Sequence[str]) -> str | None:
    if isinstance(case, Case) and not case.writes:
        return difference(got, expected, close)
    for which, right in expected.items():  # what was written, argument by argument
        says = difference(got.get(which), right, close, f"`{_name(which, names)}`")
        if says:
            return says
    return None


def _raised(number: int, raised: Mapping[str, Any], asked: str | None, expected: Any) -> Verdict:
    first = raised["message"].strip().splitlines()[0] if raised["message"].strip() else ""
    what = f"{raised['type']}: {first}" if first else raised["type"]
    if raised["type"] == "NotImplementedError":
        return Verdict(number, "not_attempted", "It raises NotImplementedError.")
    message = raised["message"]
    if limit := interpreter_limits.constant_limit(message) or interpreter_limits.loop_limit(
        message, modes.versions()["triton"]
    ):
        return Verdict(number, "unjudged", limit)
    if asked:
        return Verdict(
            number, "wrong", f"It raises {raised['type']} where a {asked} is asked for.", case_table.raised(what, f"a {asked}")
        )
    if raised["fault"]:
        says = "It touched memory far outside its buffers: the GPU stopped it."
        return Verdict(number, "unsafe", says, case_table.raised(what, expected), raised["traceback"])
    if raised["refused"]:
        return Verdict(number, "crashed", first, case_table.raised("refused", expected), raised["traceback"])
    if "allocate memory" in raised["message"] or raised["type"] in ("MemoryError", "OutOfMemoryError"):
        return Verdict(
            number,
            "crashed",
            "It asked for more memory than it may have.",
            case_table.raised(what, expected),
            raised["traceback"],
        )
    if raised["type"] == "NameError":
        what = f"{first.rstrip('.')}: if a cell of yours defines it, run and save that cell first."
        return Verdict(number, "crashed", what, case_table.raised("NameError", expected), raised["traceback"])
    return Verdict(number, "crashed", f"It raised {what}", case_table.raised(what[:60], expected), raised["traceback"])


def missing(number: int, trial: Trial, expected: Any) -> Verdict:
    """The child ended before this case had an outcome. The first such case is the one that ended it."""
    if number != len(trial.records):
        return Verdict(number, "not_run", "not run")
    if trial.status == "timeout":
        return Verdict(
            number,
            "timeout",
            f"Stopped after {trial.wall_s:g} s: it did not end.",
            case_table.raised("no end", expected),
            trial.stuck,
        )
    says = {
        "memory": "It used more memory than it may have and was stopped.",
        "flood": "It printed without end and was stopped.",
        "broken": "It wrote into the checker's own channel; the run does not count.",
    }.get(trial.status, f"It ended the whole process ({trial.end}).")
    return Verdict(number, "crashed", says, case_table.raised("no result", expected))


def _events(part, number, case, record, got, expected, names) -> Verdict | None:
    if not record["events"]:
        return None
    event = record["events"][0]
    table = _table(part, case, got, expected, names) if got is not None and expected is not None else None
    if event["kind"] == "outside":
        element = str(event["element"])
        outside = Table(
            ("buffer", "element touched", "elements there are"), ((event["buffer"], element, f"0 to {event['size'] - 1}"),)
        )
        return Verdict(number, "unsafe", sentence(event), outside)
    name = f"`{_name(event['argument'], names)}`"
    says = {
        "changed": f"It changes {name}, which it may only read.",
        "shares": f"Its result shares memory with {name}: it must be a tensor of its own.",
        "between": f"It writes between the elements of {name}: that memory is somebody else's.",
    }[event["kind"]]
    if table is None or not table.rows:
        table = Table(("argument", "yours", "expected"), ((name.strip("`"), event["kind"], "left alone"),))
    return Verdict(number, "unsafe", says, table)


def _table(part: Part, case: Case | Launch, got: Any, expected: Any, names: Sequence[str]) -> Table | None:
    if part.rows is not None:
        try:
            return part.rows(case, got, expected)
        except Exception:  # an answer may return what its author did not think of; the general table takes anything
            pass
    return case_table.general(case, got, expected, names, part.close)


def overall(verdicts: Sequence[Verdict], cases: Sequence) -> tuple[str, Verdict | None]:
    """The outcome of the whole, and the case to show: the smallest with that outcome. Unsafe goes before wrong."""
    ran = sorted((v for v in verdicts if v.outcome != "not_run"), key=lambda v: (cases[v.number].size, v.number))
    failed = [v for v in ran if v.outcome not in ("passed", "unjudged")]
    if not failed:
        doubtful = next((v for v in ran if v.outcome == "unjudged"), None)
        return ("unjudged", doubtful) if doubtful else ("passed", None)
    if failed[0].outcome == "not_attempted":
        return "not_attempted", failed[0]
    failed = [v for v in failed if v.outcome != "not_attempted"]
    shown = next((v for v in failed if v.outcome == "unsafe"), failed[0])
    return shown.outcome, shown


def _name(which: Any, names: Sequence[str]) -> str:
    if isinstance(which, str):
        return which
    return names[which] if which < len(names) else f"argument {which}"
