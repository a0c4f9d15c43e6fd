"""Writes a page of feedback for one notebook: one file that loads nothing from elsewhere and holds no test and no solution."""

from __future__ import annotations

import hashlib
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from dcplab.course.catalog import Lab
from dcplab.course.cells import Cells
from dcplab.course.model import OUTCOMES, CheckResult, Table
from dcplab.present import card
from dcplab.present.page import fill, html
from dcplab.present.table import to_html
from dcplab.viz.figures import answer

LIST = ("student", "lab", "status", "points")
KINDS = OUTCOMES
COMMONEST = 3  # mistakes shown of a part


def page(row: Mapping) -> str:
    """Return the feedback for a row (as JSON gives it). Each part shows the same result as a check in the notebook."""
    # Show the file's name without its folders: they are the grader's, and a learner reads this page.
    about = [row["message"], row["student"] and f"Student {row['student']}.", f"File {PurePath(row['path']).name}."]
    results = [_result(part) for part in row["parts"]]
    cards = [card.as_html(found, answer.in_card(found.cells, found.outcome != "passed")) for found in results]
    title = f"{row['lab'] or 'No lab'}: {_points(row)}"
    return str(fill("feedback.html", title=title, about=about, cards=cards, lists=()))


def index(rows: Sequence[tuple[str, Mapping]], labs: Sequence[Lab] = ()) -> str:
    """Return the list of all pages by student, given as (file name, row; "" has no page), and for each lab how the class did
    in each part, with its commonest mistakes by name. No text that a learner could have put into a file is in it."""
    by_name = sorted(rows, key=lambda pair: (pair[1]["student"] or pair[1]["path"], pair[1]["lab"] or "", pair[1]["path"]))
    lines = [
        (
            html('<a href="{}">{}</a>', name, row["student"] or row["path"]) if name else row["student"],
            row["lab"] or "",
            row["status"] if row.get("counts", True) else "does not count",
            _points(row),
        )
        for name, row in by_name
    ]
    counted = [row for _, row in rows if row.get("counts", True) and row["status"] == "graded"]
    tables = [Table(LIST, tuple(lines)), *(table for lab in labs if (table := _class(lab, counted)))]
    lists = [to_html(table) for table in tables]
    return str(fill("feedback.html", title="Feedback", about=(), cards=(), lists=lists))


def _class(lab: Lab, rows: Sequence[Mapping]) -> Table | None:
    """Return how a class did in a lab: a line a part."""
    of = [{part["part"]: part for part in row["parts"]} for row in rows if row["lab"] == lab.name]
    if not of:
        return None
    says = {wrong.id: wrong.says for wrong in lab.wrong}
    lines = []
    for part in lab.listed:
        results = [parts[part.id] for parts in of if part.id in parts]
        kinds = Counter(result["outcome"] for result in results)
        named = Counter(result["diagnosis"] for result in results if result["diagnosis"] in says).most_common(COMMONEST)
        mistakes = " ".join(f"{n} x: {says[name]}" for name, n in named)
        lines.append((part.id, *(str(kinds[kind] or "") for kind in KINDS), mistakes))
    totals = sorted(row["points"] for row in rows if row["lab"] == lab.name)
    middle = statistics.median(totals)
    caption = f"{lab.name}: {len(totals)} graded, {totals[0]:g} to {totals[-1]:g} points, median {middle:g}"
    return Table(("part", *(kind.replace("_", " ") for kind in KINDS), "mistakes"), tuple(lines), caption)


def file_name(path: str) -> str:
    """Return a file name for the page of a path: readable, and different for different paths."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", path).strip("._")[-80:] or "notebook"
    return f"{plain}-{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}.html"


def _result(part: Mapping) -> CheckResult:
    table = part["table"] and Table(part["table"]["header"], part["table"]["rows"], part["table"]["caption"])
    cells = Cells.of_json(part["cells"]) if part.get("cells") else None
    return CheckResult(**{**part, "table": table, "cells": cells})


def _points(of: Mapping) -> str:
    return f"{of['points']:g} of {of['max_points']:g} points"
