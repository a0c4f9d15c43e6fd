"""A page of feedback for one notebook: one file, nothing loaded from elsewhere, no test and no solution in it."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Mapping, Sequence

# A word, a mark and a border: an outcome is never told by colour alone.
SHOWN = {
    "passed": ("passed", "✓"),
    "wrong": ("not right yet", "✗"),
    "unsafe": ("touched memory it must not", "⚠"),
    "crashed": ("crashed", "✗"),
    "timeout": ("stopped: too slow", "⏱"),
    "not_attempted": ("not attempted", "○"),
    "error": ("not judged", "?"),
}

STYLE = """
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #ffffff; --box: #f6f8fa;
  --good: #116329; --bad: #a40e26; --warn: #7d4e00; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9aa4ae; --line: #3d444d; --back: #0d1117; --box: #161b22;
    --good: #6fdd8b; --bad: #ff9492; --warn: #f0b72f; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 0 0 .3rem; } a { color: inherit; }
section { border: 1px solid var(--line); border-left: .4rem solid var(--soft); border-radius: .3rem;
  padding: .8rem 1rem; margin: 1rem 0; background: var(--box); }
section.passed { border-left-color: var(--good); } section.wrong, section.crashed { border-left-color: var(--bad); }
section.unsafe, section.timeout { border-left-color: var(--warn); }
.passed .outcome { color: var(--good); } .wrong .outcome, .crashed .outcome { color: var(--bad); }
.unsafe .outcome, .timeout .outcome { color: var(--warn); }
.first { font-weight: 600; } .soft { color: var(--soft); font-size: .9rem; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .2rem .6rem; text-align: right; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; font: inherit; }
.scroll { overflow-x: auto; }
"""


def page(row: Mapping) -> str:
    """The feedback of a row (as JSON gives it)."""
    title = f"{row['lab'] or 'No lab'}: {_points(row)}"
    who = f"<p class=soft>{_safe(row['student'])}</p>" if row["student"] else ""
    first = f"<p class=first>{_safe(row['message'])}</p>" if row["message"] else ""
    parts = "\n".join(_part(part) for part in row["parts"])
    return _document(
        title, f"<h1>{_safe(title)}</h1>\n{who}<p class=soft>{_safe(row['path'])}</p>\n{first}\n{parts}\n{_conditions(row)}"
    )


def index(rows: Sequence[tuple[str, Mapping]]) -> str:
    """The list of all pages, given as (file name, row)."""
    lines = "\n".join(
        f'<tr><td style="text-align:left"><a href="{_safe(name)}">{_safe(row["student"] or row["path"])}</a></td>'
        f"<td>{_safe(row['lab'] or '')}</td><td>{_safe(row['status'])}</td><td>{_points(row)}</td></tr>"
        for name, row in rows
    )
    head = "<tr><th>notebook</th><th>lab</th><th>status</th><th>points</th></tr>"
    return _document("Feedback", f"<h1>Feedback</h1>\n<div class=scroll><table>{head}\n{lines}</table></div>")


def file_name(path: str) -> str:
    """A file name for the page of a path: readable, and different for different paths."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", path).strip("._")[-80:] or "notebook"
    return f"{plain}-{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}.html"


def _part(part: Mapping) -> str:
    word, mark = SHOWN[part["outcome"]]
    first, _, rest = part["message"].strip().partition("\n")
    body = [f"<p class=first>{_safe(first)}</p>"] if first else []
    if part["table"]:
        body.append(_table(part["table"]))
    elif rest.strip():
        body.append(f"<pre>{_safe(rest.strip())}</pre>")
    if part["question"] and part["outcome"] != "passed":
        body.append(f"<p>{_safe(part['question'])}</p>")
    return (
        f"<section class={_safe(part['outcome'])}><h2>{_safe(part['part'])} "
        f"<span class=outcome>{mark} {word}</span> <span class=soft>{_points(part)}</span></h2>\n"
        + "\n".join(body)
        + "</section>"
    )


def _table(table: Mapping) -> str:
    head = "".join(f"<th>{_safe(cell)}</th>" for cell in table["header"])
    rows = "\n".join("<tr>" + "".join(f"<td>{_safe(cell)}</td>" for cell in row) + "</tr>" for row in table["rows"])
    caption = f"<p class=soft>{_safe(table['caption'])}</p>" if table["caption"] else ""
    return f"<div class=scroll><table><tr>{head}</tr>\n{rows}</table></div>{caption}"


def _conditions(row: Mapping) -> str:
    """In which mode and with which versions the notebook was graded."""
    if not row["parts"]:
        return ""
    of = row["parts"][0]
    versions = ", ".join(f"{name} {version}" for name, version in of["versions"].items())
    return f"<p class=soft>Seed {row['seed']}. Mode: {_safe(of['mode'])}. {_safe(versions)}.</p>"


def _points(of: Mapping) -> str:
    return f"{of['points']:g} of {of['max_points']:g} points"


def _safe(value) -> str:
    """Text for a page: escaped, and without what a browser cannot show."""
    return html.escape(str(value).encode("utf-8", "replace").decode(), quote=True)


def _document(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{_safe(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
