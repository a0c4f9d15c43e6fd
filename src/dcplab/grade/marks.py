"""Turns rows into marks: which of a student's notebooks counts, who has handed in nothing, and one line a student."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dcplab.grade.roster import Roster
from dcplab.grade.rows import GradeRow, spreadsheet_safe

Worth = Mapping[str, float]  # a lab's name -> its points, in the course's order
NOTHING = "Nothing was handed in."


def expected(rows: Sequence[Mapping], roster: Roster, worth: Worth) -> list[dict]:
    """Return a row for each student of the roster and each lab for which there is none. ``worth``: the labs asked for; without
    any, those that somebody handed in."""
    asked = worth or {row["lab"]: row["max_points"] for row in rows if row["lab"]}
    there = {(row["student"], row["lab"]) for row in rows}
    return [
        GradeRow("", "missing", lab=lab, student=student, max_points=points, message=NOTHING).to_json()
        for student in roster.ids
        for lab, points in sorted(asked.items())
        if (student, lab) not in there
    ]


def counted(rows: Iterable[Mapping]) -> list[dict]:
    """Return the rows, each with ``counts``: of several notebooks of one student for one lab the one with most points does, of
    equals the last by path. ``instead``: the path of the one that does."""
    rows = list(rows)
    best: dict[tuple[str, str], Mapping] = {}
    for row in rows:
        if row["student"] and row["lab"]:
            of = (row["student"], row["lab"])
            best[of] = max(best.get(of, row), row, key=lambda r: (r["status"] == "graded", r["points"], r["path"]))
    chosen = [best.get((row["student"], row["lab"]), row) for row in rows]
    return [
        {**row, "counts": row is one, "instead": "" if row is one else one["path"]}
        for row, one in zip(rows, chosen, strict=True)
    ]


def to_csv(rows: Sequence[Mapping], worth: Worth, roster: Roster | None = None) -> str:
    """Write one line a student: the roster's own columns as they were, or the id; the points of each lab; total, and what is
    missing. A lab of which there is nothing is an empty cell. For course systems: their columns are found again in it.

    A roster in the form of Canvas' gradebook gives one in that form (`_for_canvas`).
    """
    labs = [lab for lab in worth if any(row["lab"] == lab for row in rows)]
    of: dict[str, dict[str, Mapping]] = {}
    for row in rows:
        if row["student"] and row["lab"] in worth and row["counts"]:
            of.setdefault(row["student"], {})[row["lab"]] = row
    if roster and (head := _canvas_head(roster.columns)):
        table = _for_canvas(head, of, {lab: worth[lab] for lab in labs}, roster)
    else:
        table = _for_people(of, {lab: worth[lab] for lab in labs}, roster)
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([*map(spreadsheet_safe, line)] for line in table)
    return out.getvalue()


Counted = Mapping[str, Mapping[str, Mapping]]  # a student -> a lab -> the row that counts
Table = Iterator[Sequence[object]]


def _for_people(of: Counted, worth: Worth, roster: Roster | None) -> Table:
    known = dict(zip(roster.ids, roster.lines, strict=True)) if roster else {}
    columns = roster.columns if roster else ("student",)
    others = sorted(student for student in of if student not in known)
    yield [*columns, *worth, "total", "of", "missing"]
    for student in [*known, *others]:
        line = known.get(student) or {columns[0]: student}
        got, there = _graded(of, student), of.get(student, {})
        points = [got[lab]["points"] if lab in got else "" for lab in worth]
        total = sum(row["points"] for row in got.values())
        missing = " ".join(
            f"{lab} ({there[lab]['status']})" if lab in there and there[lab]["path"] else lab for lab in worth if lab not in got
        )
        yield [*(line.get(name, "") for name in columns), *points, total, sum(worth.values()), missing]


def _graded(of: Counted, student: str) -> dict[str, Mapping]:
    return {lab: row for lab, row in of.get(student, {}).items() if row["status"] == "graded"}


# What Canvas' importer takes for a student's columns, in its order; whatever follows `Section` it takes for an assignment.
CANVAS_HEAD = (
    "Student",
    "LastName",
    "FirstName",
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Integration ID",
    "Root Account",
    "Section",
)


def _canvas_head(columns: Sequence[str]) -> list[str]:
    """Return the student's columns of a Canvas gradebook, none if this is no such table.

    Source: `row_has_student_headers?` and `last_student_info_column` of `lib/gradebook_importer.rb`, instructure/canvas-lms.
    """
    head = list(columns[: columns.index("Section") + 1]) if "Section" in columns else []
    first = head[:2] == ["Student", "ID"] or head[:3] == ["LastName", "FirstName", "ID"]
    return head if first and set(head) <= set(CANVAS_HEAD) else []


def _for_canvas(head: Sequence[str], of: Counted, worth: Worth, roster: Roster) -> Table:
    """Yield a gradebook that Canvas imports: the roster's students, one column a lab, what each is worth. No other column, for
    Canvas would make it an assignment, and no other assignment, for a score given since the export would be set back.

    A lab goes under the title that the roster has for it (`01_index_spaces (4711)`): so Canvas knows its own assignment again.
    """
    titles = {
        lab: next((name for name in roster.columns if re.fullmatch(rf"{re.escape(lab)}( \(\d+\))?", name)), lab)
        for lab in worth
    }
    yield [*head, *titles.values()]
    yield ["Points Possible", *[""] * (len(head) - 1), *worth.values()]
    for student, line in zip(roster.ids, roster.lines, strict=True):
        got = _graded(of, student)
        yield [*(line[name] for name in head), *(got[lab]["points"] if lab in got else "" for lab in worth)]
