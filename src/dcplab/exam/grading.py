"""Grades examinations of a class: a row a folder as `grade` gives it, and the results by kind of fault."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dcplab.course.model import CheckResult
from dcplab.errors import CourseError
from dcplab.exam import answers, marking, results, sittings, tickets
from dcplab.exam.answers import HandedIn
from dcplab.exam.marking import POINTS
from dcplab.field import faults
from dcplab.field.faults import PlantedFault
from dcplab.grade.rows import GradeRow


def find(paths: Iterable[Path]) -> list[Path]:
    """Return the examinations at, or at most two folders below, the given folders; a path without one stays."""
    found: list[Path] = []
    for path in paths:
        inner = [path, *sorted(path.glob("*")), *sorted(path.glob("*/*"))] if path.is_dir() else [path]
        found += [one for one in inner if not one.is_symlink() and (one / tickets.FILE).is_file()] or [path]
    return list(dict.fromkeys(found))


def row(
    folder: Path, key: bytes, say: Callable[[str], None] = lambda text: None, student: str = ""
) -> tuple[GradeRow, list[dict[str, Any]]]:
    """Grade one folder. Returns its row, and an entry a case: ``kind``, ``house``, ``id`` and the outcome of each part.

    A sitting that was held on this machine has its marks already, and its hints. Of another folder, what lies in it is marked,
    once and in full.
    """
    name, student = str(folder), student or folder.absolute().name
    try:
        ticket = tickets.read(folder)
        planted = tickets.faults_of(key, ticket)
        record = sittings.find(ticket)
    except CourseError as error:
        return GradeRow(name, "missing" if not folder.exists() else "unreadable", student=student, message=str(error)), []
    parts: list[CheckResult] = []
    cases: list[dict[str, Any]] = []
    started = time.perf_counter()
    all_handed = _handed(folder, planted)
    for number, (fault, handed) in enumerate(zip(planted, all_handed, strict=True)):
        if record is not None:
            marks, asked = sittings.best(ticket, record, number), record["cases"][number]["hints"]
        else:
            say(f"{name}, case {number + 1}")
            marks, asked = marking.mark(fault, handed, marking.secret_seeds(key, ticket.seals[number])), 0
        parts += results.of_case(ticket.seed, number, marks, asked)
        cases.append({"kind": fault.kind, "house": fault.house, "id": fault.id} | {mark.part: mark.outcome for mark in marks})
    hints = sum(case["hints"] for case in record["cases"]) if record else 0
    done = GradeRow(
        path=name,
        status="graded",
        points=round(sum(part.points for part in parts), 2),
        max_points=float(len(planted) * sum(POINTS.values())),
        parts=tuple(parts),
        lab=results.LAB,
        student=student,
        message=f"{hints} hint{'s' * (hints != 1)} shown." if hints else "",
        seed=ticket.seed,
        digest=_digest(all_handed),
    )
    say(f"{name}: {time.perf_counter() - started:.0f} s")
    return done, cases


def kept(state: Path) -> Iterator[tuple[GradeRow, list[dict[str, Any]]]]:
    """Give a row a learner of the examinations that a class's grading service has kept in its ``state``, and the cases as `row`
    does. Raises CourseError where there is none."""
    found = sorted(state.glob(f"*/exam/begun/examination/{tickets.FILE}"))
    if not found:
        raise CourseError(f"{state} holds no examination that a grading service has kept, or you may not read it.")
    before = os.environ.get("DCPLAB_STATE")
    try:
        for path in found:
            learner = path.parents[3]
            os.environ["DCPLAB_STATE"] = str(learner)  # where its key and its sittings lie
            yield row(path.parent, tickets.key(), student=learner.name)
    finally:
        os.environ.pop("DCPLAB_STATE") if before is None else os.environ.update(DCPLAB_STATE=before)


def unchanged(folder: Path, key: bytes, digest: str) -> bool:
    """Return True if a folder that an instructor made holds what a row with this digest was about. A sitting of this machine
    has its marks and hints already: its row costs nothing to make again."""
    try:
        ticket = tickets.read(folder)
        return sittings.find(ticket) is None and _digest(_handed(folder, tickets.faults_of(key, ticket))) == digest
    except CourseError:
        return False


def _handed(folder: Path, planted: Sequence[PlantedFault]) -> list[HandedIn]:
    return [answers.read(folder / f"case_{number}", fault.house) for number, fault in enumerate(planted, 1)]


def _digest(handed: Sequence[HandedIn]) -> str:
    return hashlib.sha256("".join(one.digest for one in handed).encode()).hexdigest()


def by_kind(cases: Iterable[Mapping[str, Any]]) -> list[Sequence[str]]:
    """Return a table with a row a kind: how many had a case of it, and how many found, mended and tested it."""
    of: dict[str, list[Mapping[str, Any]]] = {}
    for case in cases:
        of.setdefault(case["kind"], []).append(case)
    rows: list[Sequence[str]] = [("kind", "cases", *(results.NAMES[part] for part in POINTS), "")]
    for kind, had in sorted(of.items()):
        right = [sum(case[part] == "passed" for case in had) for part in POINTS]
        rows.append((kind, str(len(had)), *map(str, right), "" if right[0] else "nobody found it"))
    return rows


def sheet(kind: str | None = None) -> list[Sequence[str]]:
    """Return a table of all cases: kind, id, place, index, the two spaces, public source."""
    chosen = [fault for fault in faults.every() if kind in (None, fault.kind)]
    if not chosen:
        raise CourseError(f"There is no kind {kind!r}; there are {', '.join(faults.kinds())}.")
    rows: list[Sequence[str]] = [("kind", "case", "place", "index", "was", "expected", "public source")]
    for fault in sorted(chosen, key=lambda one: (one.kind, one.id)):
        place = f"{fault.edit.file}:{fault.line}"
        rows.append((fault.kind, fault.id, place, fault.index, fault.was, fault.expected, fault.source))
    return rows
