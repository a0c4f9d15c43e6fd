"""Keeps what happened in an examination, outside its folder: when it began, hints, hand-ins and their marks.

A file a sitting in ``exam/`` of the state folder, written whole or not at all. It names no fault. A hand-in is counted before
it is marked: who stops the marking hands the same in again, and it counts once; another one counts as another.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcplab import files
from dcplab.errors import CourseError
from dcplab.exam import tickets
from dcplab.exam.marking import POINTS, Mark
from dcplab.exam.tickets import ExamTicket

HAND_INS, HINT_POINTS, MINUTES = 3, 3, 90
WORTH = (1.0, 0.75, 0.5)  # of what is right for the first time in that hand-in


def begin(ticket: ExamTicket) -> dict[str, Any]:
    """Begin a sitting, or return the one that was begun with this ticket."""
    with _changed(ticket, new=True) as record:
        return record


def find(ticket: ExamTicket) -> dict[str, Any] | None:
    """Return the record of a ticket's sitting: ``begun`` (seconds of the epoch) and ``cases``, each with ``hints`` (how many)
    and ``handed`` (``digest``, ``at``, ``marks``: None while it is being marked). None if it has none on this machine."""
    return _load(ticket)


def next_hint(ticket: ExamTicket, case: int, questions: int) -> int:
    """Note that a hint is shown, and return its number, from 0: the next one, or the last again."""
    with _changed(ticket) as record:
        entry = record["cases"][case]
        if closed(entry):
            raise CourseError("This case is closed: a hint would only cost points.")
        entry["hints"] = min(entry["hints"] + 1, questions)
        return entry["hints"] - 1


def count(ticket: ExamTicket, case: int, digest: str) -> int:
    """Count a hand-in, and return its number, from 0. Raises CourseError where none is left, or nothing has changed."""
    with _changed(ticket) as record:
        handed = record["cases"][case]["handed"]
        same = next((number for number, one in enumerate(handed) if one["digest"] == digest), None)
        if same is not None:
            if handed[same]["marks"] is not None:
                raise CourseError(
                    f"This was handed in already, as number {same + 1}. It was not counted again: change something."
                )
            return same
        if closed(record["cases"][case]):
            raise CourseError("This case is closed: all of it is right, or three were handed in.")
        handed.append({"digest": digest, "at": time.time(), "marks": None})
        return len(handed) - 1


def note(ticket: ExamTicket, case: int, digest: str, marks: Sequence[Mark]) -> dict[str, Any]:
    """Keep the marks of what was counted with this digest. Returns the case's record.

    Its number may be another by now: one that was handed in before it may have been taken back meanwhile.
    """
    with _changed(ticket) as record:
        for one in record["cases"][case]["handed"]:
            if one["digest"] == digest:
                one["marks"] = [mark.to_json() for mark in marks]
        return record["cases"][case]


def uncount(ticket: ExamTicket, case: int, digest: str) -> None:
    """Take a hand-in back that could not be marked through no fault of the learner's."""
    with _changed(ticket) as record:
        handed = record["cases"][case]["handed"]
        handed[:] = [one for one in handed if one["digest"] != digest or one["marks"] is not None]


def closed(case: Mapping[str, Any]) -> bool:
    """Return True if nothing more is taken in a case."""
    done = [one for one in case["handed"] if one["marks"] is not None]
    return len(case["handed"]) >= HAND_INS or any(all(m["outcome"] == "passed" for m in one["marks"]) for one in done)


def best(ticket: ExamTicket, record: Mapping[str, Any], case: int) -> list[Mark]:
    """Return the parts' marks: the most that each got in any hand-in in time, by what that hand-in is worth."""
    found = []
    for part in POINTS:
        of_part = [
            Mark(**{**mark, "points": round(mark["points"] * worth, 2)})
            for one, worth in zip(record["cases"][case]["handed"], WORTH, strict=False)
            for mark in one["marks"] or ()
            if mark["part"] == part and not late(ticket, record, one["at"])
        ]
        nothing = Mark(part, 0, "not_attempted", "nothing handed in")
        found.append(max(of_part, key=lambda mark: (mark.points, mark.outcome != "not_attempted"), default=nothing))
    return found


def points(ticket: ExamTicket, record: Mapping[str, Any], case: int) -> float:
    """Return a case's points: of its parts, less its hints."""
    earned = sum(mark.points for mark in best(ticket, record, case))
    return max(0.0, round(earned - HINT_POINTS * record["cases"][case]["hints"], 2))


def late(ticket: ExamTicket, record: Mapping[str, Any], at: float) -> bool:
    """Return True if a time, in seconds of the epoch, lies beyond an examination's minutes. Practice has no end."""
    return ticket.sort == "examination" and at > record["begun"] + 60 * MINUTES


@contextlib.contextmanager
def _changed(ticket: ExamTicket, new: bool = False) -> Iterator[dict[str, Any]]:
    """Yield a sitting's record to be changed under its lock; keep it unless an error is raised."""
    from filelock import UnixFileLock

    folder = tickets.state_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with UnixFileLock(folder / f"{ticket.id}.lock", mode=0o600):
            record = _load(ticket)
            if record is None and not new:
                raise CourseError("This examination was not begun here: hand in its folder where it was.")
            if record is None:
                cases = [{"hints": 0, "handed": []} for _ in ticket.seals]
                record = {"begun": time.time(), "sort": ticket.sort, "seed": ticket.seed, "cases": cases}
            yield record
            files.replace(folder / f"{ticket.id}.json", json.dumps(record, indent=1), private=True)
    except OSError as error:
        raise CourseError(f"{folder} cannot be written ({error.strerror or error}): nothing was counted.") from error


def _load(ticket: ExamTicket) -> dict[str, Any] | None:
    path = tickets.state_dir() / f"{ticket.id}.json"
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        assert len(record["cases"]) == len(ticket.seals) and record["begun"] > 0
        return record
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise CourseError(f"{path} is damaged, and with it what was handed in: ask whoever holds the examination.") from error
