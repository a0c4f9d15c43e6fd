"""Writes a page of feedback for one notebook: one file that loads nothing from elsewhere and holds no test and no solution."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from dcplab.course.model import CheckResult, Table
from dcplab.present import check_result

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; background: #ffffff; max-width: 54rem;
  margin: 2rem auto; padding: 0 1rem; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; } }
h1 { font-size: 1.4rem; } a { color: inherit; } section { margin: 1rem 0; }
h1, p { overflow-wrap: anywhere; } table { font-variant-numeric: tabular-nums; }
.list { border-collapse: collapse; }
.list td, .list th { border: 1px solid currentColor; padding: .2rem .6rem; text-align: left; }
"""


def page(row: Mapping) -> str:
    """Return the feedback for a row (as JSON gives it). Each part shows the same result as a check in the notebook."""
    title = f"{row['lab'] or 'No lab'}: {_points(row)}"
    # Show the file's name without its folders: they are the grader's, and a learner reads this page.
    about = [row["message"], row["student"] and f"Student {row['student']}.", f"File {PurePath(row['path']).name}."]
    head = "\n".join(f"<p>{_safe(line)}</p>" for line in about if line)
    parts = "\n".join(f"<section>{check_result.as_html(_result(part))}</section>" for part in row["parts"])
    return _document(title, f"<h1>{_safe(title)}</h1>\n{head}\n{parts}")


def index(rows: Sequence[tuple[str, Mapping]]) -> str:
    """Return the list of all pages, given as (file name, row)."""
    lines = "\n".join(
        f'<tr><td><a href="{_safe(name)}">{_safe(row["student"] or row["path"])}</a></td>'
        f"<td>{_safe(row['lab'] or '')}</td><td>{_safe(row['status'])}</td><td>{_points(row)}</td></tr>"
        for name, row in rows
    )
    head = "<tr><th>notebook</th><th>lab</th><th>status</th><th>points</th></tr>"
    return _document("Feedback", f"<h1>Feedback</h1>\n<table class=list>{head}\n{lines}</table>")


def file_name(path: str) -> str:
    """Return a file name for the page of a path: readable, and different for different paths."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", path).strip("._")[-80:] or "notebook"
    return f"{plain}-{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}.html"


def _result(part: Mapping) -> CheckResult:
    table = part["table"] and Table(part["table"]["header"], part["table"]["rows"], part["table"]["caption"])
    return CheckResult(**{**part, "table": table})


def _points(of: Mapping) -> str:
    return f"{of['points']:g} of {of['max_points']:g} points"


def _safe(value) -> str:
    """Escape a value for a page, without the characters that a browser cannot show."""
    return html.escape(str(value).encode("utf-8", "replace").decode(), quote=True)


def _document(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{_safe(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
