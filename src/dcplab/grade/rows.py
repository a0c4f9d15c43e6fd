"""Holds the grading of one notebook as a ``GradeRow``, and writes rows as JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcplab import files, progress
from dcplab.course.model import CheckResult
from dcplab.errors import CourseError
from dcplab.present.strangers import on_a_line

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet runs a cell with such a start


@dataclass(frozen=True)
class GradeRow:
    """One path's grading. ``status`` is one of those in ``dcplab.grade.read``. Only "graded" rows have parts."""

    path: str
    status: str
    points: float = 0.0
    max_points: float = 0.0
    parts: tuple[CheckResult, ...] = ()
    lab: str | None = None
    student: str | None = None
    message: str = ""
    seed: int | None = None
    digest: str = ""
    own_seed: int | None = None  # the seed of the student's own cases, if it was known

    def to_json(self) -> dict:
        """Return the row's entry in ``--json`` (listed in `docs/grading.md`): points and parts, the lab, the student, a
        sentence, the seed, the file's digest, and the seed of the student's own cases if it was known."""
        return {
            "path": self.path,
            "status": self.status,
            "points": self.points,
            "max_points": self.max_points,
            "parts": [part.to_json() for part in self.parts],
            "lab": self.lab,
            "student": self.student,
            "message": self.message,
            "seed": self.seed,
            "digest": self.digest,
            "own_seed": self.own_seed,
        }


def to_json(rows: Iterable[Mapping]) -> str:
    return json.dumps(list(rows), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def to_csv(rows: Sequence[Mapping], part_ids: Sequence[str]) -> str:
    """Write one line a row: student, file, points; then the points of each part; then the outcome of each part.

    A cell that a spreadsheet would run as a formula gets an apostrophe in front. Numbers stay numbers.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    head = ["path", "student", "lab", "status", "points", "max_points", "seed", "case_seed", "same_cases_as", "message"]
    shared = same_cases(rows)
    writer.writerow([*head, *part_ids, *(f"{part} outcome" for part in part_ids), *(f"{part} diagnosis" for part in part_ids)])
    for row in rows:
        of = {part["part"]: part for part in row["parts"]}
        more = {"case_seed": " ".join(map(str, case_seeds(row))), "same_cases_as": "; ".join(shared.get(row["path"], ()))}
        cells = [{**row, **more}[name] for name in head]
        for column in ("points", "outcome", "diagnosis"):
            cells += [of[part][column] if part in of else "" for part in part_ids]
        writer.writerow([spreadsheet_safe(cell) for cell in cells])
    return out.getvalue()


def case_seeds(row: Mapping) -> list[int]:
    """Return the seeds of the learner's own cases that a row's answers are about. There is one, unless a notebook mixes parts
    of several learners."""
    return sorted({part["case_seed"] for part in row["parts"] if part.get("case_seed") is not None})


def same_cases(rows: Sequence[Mapping]) -> dict[str, list[str]]:
    """Map each path to the others who answer about the same cases. Learners' seeds differ, so each hit deserves a question."""
    of = holders(rows)
    found = {row["path"]: [n for seed in case_seeds(row) for n in of[seed] if n != _who(row)] for row in rows}
    return {path: list(dict.fromkeys(names)) for path, names in found.items() if names}


def holders(rows: Sequence[Mapping]) -> dict[int, list[str]]:
    """Map each seed to those who answer about its cases, each once."""
    found = {progress.SOLVED_SEED: ["the solved notebook"]}
    for row in rows:
        for seed in case_seeds(row):
            found.setdefault(seed, []).append(_who(row))
    return {seed: list(dict.fromkeys(names)) for seed, names in found.items()}


def _who(row: Mapping) -> str:
    return row["student"] or row["path"]


def spreadsheet_safe(value):
    """Return ``value`` in a form that a spreadsheet shows and does not run, nor a terminal: a name can hold escape codes."""
    if isinstance(value, str):
        text = on_a_line(value)
        return "'" + text if text.lstrip(" ").startswith(FORMULA_STARTS) else text
    return "" if value is None else value


def check_writable(path: Path) -> None:
    """Raise ``CourseError`` if a result could not be written to ``path``: better now than after an hour of grading."""
    if path.is_dir():
        raise CourseError(f"{path} is a folder; give a file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise CourseError(f"{path} cannot be written ({error.strerror or error}).") from error


def write(path: Path, text: str) -> None:
    """Replace ``path`` whole or not at all. Readable by its owner alone: these are grades."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
    files.replace(path, text, private=True)
