"""The parts of lab 08: what each case gives for each, its hints taken off, as the results that boards and tables list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from dcplab import mode, progress
from dcplab.course.model import CheckResult, Outcome
from dcplab.exam import sittings, tickets
from dcplab.exam.marking import POINTS, Mark
from dcplab.exam.tickets import ExamTicket

LAB = "08_field"
NAMES = {"a": "diagnosis", "b": "patch", "c": "regression test"}  # of a case's parts
_OUTCOMES: Mapping[str, Outcome] = {"passed": "passed", "failed": "wrong", "not_attempted": "not_attempted"}


def part_ids() -> list[str]:
    """Return the ids of an examination's parts: 8a to 8c are the first case's, 8d to 8f the second's."""
    return [part_id(case, part) for case in range(max(tickets.CASES.values())) for part in POINTS]


def part_id(case: int, part: str) -> str:
    """Return the id of a part ("a", "b", "c") of a case, from 0."""
    return "8" + "abcdef"[case * len(POINTS) + list(POINTS).index(part)]


def of_case(seed: int, case: int, marks: Sequence[Mark], hints: int = 0) -> list[CheckResult]:
    """Return a case's results. Its hints are taken off its parts, the first first, so that the parts' points are the case's."""
    found, cost = [], float(hints * sittings.HINT_POINTS)
    for mark in marks:
        less = min(cost, mark.points)
        cost -= less
        found.append(
            CheckResult(
                lab=LAB,
                part=part_id(case, mark.part),
                outcome=_OUTCOMES[mark.outcome],
                points=round(mark.points - less, 2),
                max_points=float(POINTS[mark.part]),
                message=mark.message + (f", less {less:g} for hints" if less else ""),
                seed=seed,
                mode="CPU",
                versions=mode.versions(),
            )
        )
    return found


def on_the_board(ticket: ExamTicket) -> None:
    """Enter where an examination stands in the learner's progress. A case counts once it is closed: while hand-ins are left,
    points would tell which field of a diagnosis is right. Of two examinations the better result of a part stays."""
    if ticket.sort != "examination" or (record := sittings.find(ticket)) is None:
        return
    for case, entry in enumerate(record["cases"]):
        for result in of_case(ticket.seed, case, sittings.best(ticket, record, case), entry["hints"]):
            _enter(ticket, result, len(entry["handed"]), entry["hints"], sittings.closed(entry))


def _enter(ticket: ExamTicket, result: CheckResult, handed: int, hints: int, closed: bool) -> None:
    def note(part: dict[str, Any]) -> None:
        others = part.get("best", 0) if part.get("sitting") != ticket.id else 0
        part |= {
            "attempts": handed,
            "hints": hints,
            "outcome": result.outcome,
            "best": max(others, result.points if closed else 0),
            "at": datetime.now().astimezone().isoformat(timespec="seconds"),
        }
        if not others or part["best"] > others:
            part["sitting"] = ticket.id

    if handed or hints:
        progress.change(LAB, result.part, note)
