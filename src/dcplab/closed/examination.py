"""The examination in a closed book: the service draws, keeps the ticket, counts and marks; a learner has report and checkout.

What is kept lies in the learner's folder of the service's state, which is theirs by the user that the kernel named. A learner
has one examination, however often they begin it, and practice by its seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcplab import files
from dcplab.course.seeded import fresh_seed
from dcplab.errors import CourseError
from dcplab.exam import answers, taking, tickets
from dcplab.exam.tickets import ExamTicket

UNKNOWN = "You have begun no such examination here: ./course exam start DIR"


def start(seed: int | None, called: str) -> dict[str, Any]:
    """Begin, or begin again, the examination (``seed`` None) or practice. Returns ``said``, the ``sitting``'s name, and
    ``files``: text by path. ``called``: the learner's folder, as its README is to name it."""
    if not (seed is None or (type(seed) is int and 0 <= seed < 1 << 31)) or not isinstance(called, str):
        raise CourseError("A seed is a whole number from 0 on.")
    sort, sitting = ("examination", "examination") if seed is None else ("practice", f"practice-{seed}")
    kept = _kept(sitting)
    drawn = tickets.read(kept).seed if kept.exists() else fresh_seed() if seed is None else seed
    with files.scratch("exam") as scratch:
        made = Path(scratch) / "made"
        said = taking.start(made, sort, drawn, None)
        texts = {p.relative_to(made).as_posix(): p.read_text(encoding="utf-8") for p in made.rglob("*") if p.is_file()}
        kept.mkdir(parents=True, exist_ok=True)
        files.replace(kept / tickets.FILE, texts.pop(tickets.FILE), private=True)
        texts["README.md"] = texts["README.md"].replace(str(made), called)
    lines = said.split("\n")[1:]
    return {"said": "\n".join([f"{called}: begin with README.md there.", *lines]), "sitting": sitting, "files": texts}


def hint(sitting: str, case: int | None) -> str:
    return taking.asked(_ticket(sitting), case)


def status(sitting: str) -> str:
    return taking.stand(_ticket(sitting))


def hand_in(sitting: str, case: int | None, given: Mapping[str, str]) -> str:
    """Count and mark a case's files, by their paths in its folder."""
    ticket = _ticket(sitting)
    if not isinstance(given, dict) or not all(isinstance(text, str) for pair in given.items() for text in pair):
        raise CourseError("A case is handed in as files: a path and a text each.")
    if len(ticket.seals) > 1 and case is None:
        raise CourseError("Say which case: --case 1 or --case 2.")
    house = tickets.faults_of(tickets.key(), ticket)[_index(ticket, case)].house
    return taking.handed_in(ticket, case, answers.of(given, house), print)


def _index(ticket: ExamTicket, case: int | None) -> int:
    if case is not None and (type(case) is not int or not 1 <= case <= len(ticket.seals)):
        raise CourseError("There is no such case.")
    return (case or 1) - 1


def _kept(sitting: object) -> Path:
    if not isinstance(sitting, str) or not sitting.replace("-", "").isalnum():
        raise CourseError(UNKNOWN)
    return tickets.state_dir() / "begun" / sitting


def _ticket(sitting: object) -> ExamTicket:
    if not (_kept(sitting) / tickets.FILE).is_file():
        raise CourseError(UNKNOWN)
    return tickets.read(_kept(sitting))


CALLS = {"exam.start": start, "exam.hint": hint, "exam.hand_in": hand_in, "exam.status": status}
