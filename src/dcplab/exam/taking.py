"""What a learner does in an examination: begin, ask, hand in, look. Each returns what is to be printed."""

from __future__ import annotations

import functools
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

from dcplab.course.model import Table
from dcplab.errors import CourseError
from dcplab.exam import answers, folder, marking, results, sittings, tickets
from dcplab.exam.answers import HandedIn
from dcplab.exam.tickets import ExamTicket
from dcplab.field.faults import PlantedFault
from dcplab.present import table
from dcplab.present.text_with_table import Pieces

HANDED_TO = "When the time is over, your instructor takes this folder as it is: there are no hints, and it is marked once."
MOST = sum(marking.POINTS.values())  # of a case


def start(place: Path, sort: str, seed: int, key_file: Path | None) -> str:
    """Write an examination's folder. With one's own key its time begins; with an instructor's the folder is only made."""
    place = place.absolute()
    key = tickets.key(key_file)
    ticket, drawn = tickets.issue(key, sort, seed)
    minutes = f"You have {sittings.MINUTES} minutes." if sort == "examination" else "There is no limit of time."
    folder.make(place, ticket, drawn, key, HANDED_TO if key_file else f"{minutes}\n\n{_own_rules(place)}")
    if key_file is not None:
        return f"{place}: seed {seed}, made with {key_file}. Graded with it too: ./course exam grade {place} --key {key_file}"
    sittings.begin(ticket)
    return f"{place}: seed {seed}. {minutes} Begin with README.md there.\n{status(place)}"


def _own_rules(place: Path) -> str:
    """Say in a folder's README what its commands are."""
    case = f"{place} --case 1"
    return (
        f"    ./course exam status {place}\n"
        f"    ./course exam hint {case}       a question, for {sittings.HINT_POINTS} points\n"
        f"    ./course exam hand-in {case}    up to {sittings.HAND_INS} times\n\n"
        "What is right for the first time in the second hand-in counts three quarters, in the third half."
    )


def hint(place: Path, case: int | None) -> str:
    """Return the next question about a case of the examination in a folder."""
    return asked(tickets.read(place), case)


def asked(ticket: ExamTicket, case: int | None) -> str:
    """Return the next question about a case."""
    number = _number(ticket, case)
    fault = tickets.faults_of(tickets.key(), ticket)[number]
    ask = questions(fault.kind)
    shown = sittings.next_hint(ticket, number, len(ask))
    results.on_the_board(ticket)
    return f"Hint {shown + 1} of {len(ask)}, {sittings.HINT_POINTS} points: {ask[shown]}"


def questions(kind: str) -> list[str]:
    """Return the questions of a kind of fault, in the order in which they are asked."""
    data = _hints()
    return [*data["every"], *([data["kind"][kind]] if kind in data["kind"] else [])]


@functools.cache
def _hints() -> dict:
    return tomllib.loads(Path(__file__).with_name("hints.toml").read_text(encoding="utf-8"))


def hand_in(place: Path, case: int | None, say: Callable[[str], None] = lambda text: None) -> str:
    """Count what lies in a case's folder as a hand-in, mark it, and tell what may be told."""
    ticket = tickets.read(place)
    number = _number(ticket, case)
    fault = tickets.faults_of(tickets.key(), ticket)[number]
    return handed_in(ticket, number + 1, answers.read(place / f"case_{number + 1}", fault.house), say)


def handed_in(ticket: ExamTicket, case: int | None, handed: HandedIn, say: Callable[[str], None] = lambda text: None) -> str:
    """Count a hand-in of a case, mark it, and tell what may be told."""
    number, key = _number(ticket, case), tickets.key()
    fault = tickets.faults_of(key, ticket)[number]
    if answers.untouched(handed, fault):
        raise CourseError("Nothing in it has changed since it was handed out. It was not counted.")
    if slip := answers.unfinished(handed, fault):
        raise CourseError(f"{slip} It was not counted.")
    turn = sittings.count(ticket, number, handed.digest)
    try:
        marks = marking.mark(fault, handed, marking.secret_seeds(key, ticket.seals[number]), say)
    except CourseError as error:  # a busy machine, a full disk of ours
        sittings.uncount(ticket, number, handed.digest)
        raise CourseError(f"{error} It was not counted.") from error
    record = sittings.note(ticket, number, handed.digest, marks)
    results.on_the_board(ticket)
    rows = [(f"({mark.part})", results.NAMES[mark.part], mark.message) for mark in marks]
    lines = [f"Case {number + 1}, hand-in {turn + 1} of {sittings.HAND_INS}", *table.columns(rows)]
    if sittings.closed(record):
        return "\n".join([*lines, *_truth(fault), stand(ticket)])
    left = sittings.HAND_INS - len(record["handed"])
    return "\n".join([*lines, f"{left} hand-in{'s' * (left != 1)} left."])


def status(place: Path) -> str:
    """Say how the examination in a folder stands."""
    return stand(tickets.read(place))


def stand(ticket: ExamTicket) -> str:
    """Say of each case what was handed in and asked, of a closed one its points, and how much time is left."""
    return standing(ticket).text


def standing(ticket: ExamTicket) -> Pieces:
    """Return the same as a table and sentences, for a notebook."""
    if (record := sittings.find(ticket)) is None:
        return Pieces("This examination was not begun here: whoever made it grades the folder.")
    rows = []
    for number, case in enumerate(record["cases"]):
        points = f"{sittings.points(ticket, record, number):g} of {MOST}" if sittings.closed(case) else "open"
        rows.append((str(number + 1), f"{len(case['handed'])} of {sittings.HAND_INS}", str(case["hints"]), points))
    lines = []
    if ticket.sort == "examination":
        left = int(record["begun"] + 60 * sittings.MINUTES - time.time()) // 60
        over = f"The {sittings.MINUTES} minutes are over: no more hand-ins count."
        lines.append(f"{left} minutes left." if left >= 0 else over)
    if interrupted := [i + 1 for i, case in enumerate(record["cases"]) if any(one["marks"] is None for one in case["handed"])]:
        lines.append(f"A hand-in of case {interrupted[0]} was not marked to its end: hand the same in again, it counts once.")
    return Pieces(Table(("case", "hand-ins", "hints", "points"), tuple(rows)), "\n".join(lines))


def _truth(fault: PlantedFault) -> list[str]:
    return [
        "",
        f"{fault.edit.file}, line {fault.line}: {fault.index} is in {fault.was}, and {fault.expected} is expected.",
        f"{fault.about} A public report of the kind ({fault.kind}): {fault.source}",
        "",
    ]


def _number(ticket: ExamTicket, case: int | None) -> int:
    """Return the case meant, from 0."""
    if case is None and len(ticket.seals) > 1:
        raise CourseError("Say which case: --case 1 or --case 2.")
    if not 1 <= (case or 1) <= len(ticket.seals):
        raise CourseError(f"There is no case {case}.")
    return (case or 1) - 1
