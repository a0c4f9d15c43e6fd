"""Turns rows into marks: which of a student's notebooks counts, who has handed in nothing, and one line a student."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

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
    missing. A lab of which there is nothing is an empty cell. For course systems: their columns are found again in it."""
    labs = [lab for lab in worth if any(row["lab"] == lab for row in rows)]
    of: dict[str, dict[str, Mapping]] = {}
    for row in rows:
        if row["student"] and row["lab"] in worth and row["counts"]:
            of.setdefault(row["student"], {})[row["lab"]] = row
    known = dict(zip(roster.ids, roster.lines, strict=True)) if roster else {}
    columns = roster.columns if roster else ("student",)
    others = sorted(student for student in of if student not in known)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*map(spreadsheet_safe, columns), *labs, "total", "of", "missing"])
    for student in [*known, *others]:
        line = known.get(student) or {columns[0]: student}
        got = {lab: row for lab, row in of.get(student, {}).items() if row["status"] == "graded"}
        points = [got[lab]["points"] if lab in got else "" for lab in labs]
        total = sum(row["points"] for row in got.values())
        there = of.get(student, {})
        missing = " ".join(
            f"{lab} ({there[lab]['status']})" if lab in there and there[lab]["path"] else lab for lab in labs if lab not in got
        )
        cells = [*(line.get(name, "") for name in columns), *points, total, sum(worth[lab] for lab in labs), missing]
        writer.writerow(map(spreadsheet_safe, cells))
    return out.getvalue()
