"""Writes a page of feedback for one notebook: one file that loads nothing from elsewhere and holds no test and no solution."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from dcplab.course.model import CheckResult, Table
from dcplab.present import check_result
from dcplab.present.page import fill, html
from dcplab.present.table import to_html

LIST = ("notebook", "lab", "status", "points")


def page(row: Mapping) -> str:
    """Return the feedback for a row (as JSON gives it). Each part shows the same result as a check in the notebook."""
    # Show the file's name without its folders: they are the grader's, and a learner reads this page.
    about = [row["message"], row["student"] and f"Student {row['student']}.", f"File {PurePath(row['path']).name}."]
    cards = [check_result.as_html(_result(part)) for part in row["parts"]]
    title = f"{row['lab'] or 'No lab'}: {_points(row)}"
    return str(fill("feedback.html", title=title, about=about, cards=cards, list=""))


def index(rows: Sequence[tuple[str, Mapping]]) -> str:
    """Return the list of all pages, given as (file name, row)."""
    lines = [
        (html('<a href="{}">{}</a>', name, row["student"] or row["path"]), row["lab"] or "", row["status"], _points(row))
        for name, row in rows
    ]
    return str(fill("feedback.html", title="Feedback", about=(), cards=(), list=to_html(Table(LIST, tuple(lines)))))


def file_name(path: str) -> str:
    """Return a file name for the page of a path: readable, and different for different paths."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", path).strip("._")[-80:] or "notebook"
    return f"{plain}-{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}.html"


def _result(part: Mapping) -> CheckResult:
    table = part["table"] and Table(part["table"]["header"], part["table"]["rows"], part["table"]["caption"])
    return CheckResult(**{**part, "table": table})


def _points(of: Mapping) -> str:
    return f"{of['points']:g} of {of['max_points']:g} points"
