"""Keeps the results of grading in the files asked for: rows in JSON, to which a later run adds, and what is made of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcplab.course.catalog import Lab
from dcplab.errors import CourseError
from dcplab.grade import feedback, junit, marks, rows
from dcplab.grade.layout import Found
from dcplab.grade.roster import Roster
from dcplab.grade.rows import to_json

EXCEL = "\ufeff"  # without this mark Excel takes UTF-8 for another encoding


@dataclass(frozen=True)
class Targets:
    """Files to write; None is not asked for."""

    json: Path | None = None
    csv: Path | None = None
    marks: Path | None = None
    junit: Path | None = None
    feedback: Path | None = None

    def check(self, roster: Path | None = None) -> None:
        """Raise CourseError for one that cannot be written, or is another one or the roster."""
        pages = self.feedback and self.feedback / "index.html"
        files = list(filter(None, (self.json, self.csv, self.marks, self.junit, pages)))
        for target in files:
            rows.check_writable(target)
        places = [os.path.abspath(path) for path in filter(None, (roster, *files))]
        if twice := next((place for place in places if places.count(place) > 1), None):
            raise CourseError(f"{twice} is given twice: what it holds would be lost.")


def load(path: Path | None) -> dict[str, dict]:
    """Return the rows that a file has from earlier runs, by absolute path; of what was not handed in, by student and lab. A
    file that is not there has none; CourseError for one that holds something else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path else []
        return {_key(row): _believed(row) for row in found}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CourseError(
            f"{path} is not a list of rows that `grade --json` wrote ({type(error).__name__}): give another file."
        ) from error


def _key(row: Mapping) -> str:
    return os.path.abspath(row["path"]) if row["path"] else f"{row['student']}: {row['lab']}"  # no absolute path begins so


def _believed(row: dict) -> dict:
    """Return a row of a file with the points of its parts. Raises ValueError and the like for what is no row."""
    points = [float(part["points"]) for part in row["parts"]]
    if not all(0 <= got <= part["max_points"] for got, part in zip(points, row["parts"], strict=True)):
        raise ValueError("points that a part has not")
    if row["seed"] is not None and not 0 <= row["seed"] < 2**63:
        raise ValueError("a seed that nobody has")
    return {**row, "points": sum(points)}


def remembered(found: Iterable[Found], earlier: Mapping[str, Mapping]) -> list[Found]:
    """Return what was found, each as the student's whom an earlier call over more folders has named: below one student's
    folder the names are the student's own, and would make them another."""
    return [_remembered(one, earlier.get(os.path.abspath(one.name))) for one in found]


def _remembered(one: Found, row: Mapping | None) -> Found:
    if row is None or row["student"] is None:
        return one
    account, given = row.get("account", row["student"]), row.get("given", "")
    wider = given in map(str, Path(one.given).parents)
    if one.student is not None and (not wider or account == one.account):  # the roster of this call may say more
        return one._replace(given=given) if wider else one
    return one._replace(student=row["student"], account=account, given=given or one.given)


def together(earlier: Mapping[str, Mapping], new: Iterable[Mapping]) -> list[Mapping]:
    """Return new rows and those of other paths, in order: a run over less than the class adds, and loses nothing."""
    by_path = {_key(row): row for row in new}
    came = {(row["student"], row["lab"]) for row in by_path.values()}
    kept = (row for key, row in earlier.items() if key not in by_path)
    return [*(row for row in kept if row["path"] or (row["student"], row["lab"]) not in came), *by_path.values()]


def save(path: Path | None, earlier: Mapping[str, Mapping], new: Iterable[Mapping]) -> None:
    """Write the rows so far."""
    if path:
        rows.write(path, to_json(_absolute(together(earlier, new))))


def _absolute(found: Iterable[Mapping]) -> list[dict]:
    """Return rows with absolute paths: the next run may be in another folder."""
    return [{**row, "path": os.path.abspath(row["path"]) if row["path"] else ""} for row in found]


def complete(found: Sequence[Mapping], labs: Sequence[Lab], roster: Roster | None, asked: Sequence[Lab]) -> list[dict]:
    """Return the rows with those of what was not handed in, and with what counts. ``asked``: the labs that a roster's students
    should have done; without any, those that somebody did."""
    worth = worth_of(asked)
    return marks.counted([*found, *(marks.expected(found, roster, worth) if roster else ())])


def worth_of(labs: Sequence[Lab]) -> dict[str, float]:
    return {lab.name: float(lab.points) for lab in labs}


def write(
    targets: Targets, found: Sequence[Mapping], marked: Sequence[Lab], labs: Sequence[Lab], roster: Roster | None = None
) -> None:
    """Write all files asked for. ``marked``: the labs of the marks."""
    if targets.json:
        rows.write(targets.json, to_json(_absolute(found)))
    if targets.csv:
        seen = {row["lab"] for row in found}
        parts = [part.id for lab in labs if lab.name in seen for part in lab.listed]
        rows.write(targets.csv, EXCEL + rows.to_csv(found, parts))
    if targets.marks:
        rows.write(targets.marks, EXCEL + marks.to_csv(found, worth_of(marked), roster))
    if targets.junit:
        rows.write(targets.junit, junit.to_xml(found))
    if targets.feedback:
        pages = [(feedback.file_name(row["path"]), row) for row in found if row["path"]]
        for name, row in pages:
            rows.write(targets.feedback / name, feedback.page(row))
        rows.write(
            targets.feedback / "index.html", feedback.index([*pages, *(("", row) for row in found if not row["path"])], labs)
        )
