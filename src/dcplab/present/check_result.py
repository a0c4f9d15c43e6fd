"""A check's result in words: the diagnosis first, then the smallest failing case, one question, and how to see more."""

from __future__ import annotations

import html
import textwrap
import time

from dcplab import mode as modes
from dcplab.course.model import CheckResult, Part, Table

WIDTH = 80
MARKS = {"passed": "✓", "not_attempted": "○", "error": "?"}
WORDS = {
    "passed": "passed",
    "wrong": "not right yet",
    "unsafe": "unsafe",
    "crashed": "crashed",
    "timeout": "did not end",
    "not_attempted": "not attempted",
    "error": "not judged",
}


def result(
    *,
    lab: str,
    part: Part,
    outcome: str,
    first: str,
    seed: int,
    mode: str,
    started: float,
    diagnosis: str | None = None,
    question: str = "",
    second: str = "",
    count: str = "",
    table: Table | None = None,
    case: str = "",
    label: str = "",
    detail: str = "",
    share: float = 0.0,
    case_seed: int | None = None,
) -> CheckResult:
    """The CheckResult of a judged answer, its message composed. ``share`` of the points is for one that did not pass."""
    lines = textwrap.wrap(" ".join(first.split()), WIDTH) or [""]
    # An overlong first sentence goes on in the next line; nothing that was found is cut away.
    if second:
        lines += textwrap.wrap(second, WIDTH)
    if table is not None:
        lines += ["", *textwrap.wrap(f"{count}{label}".rstrip(": "), WIDTH), *_lines(table)]
    if question:
        lines += ["", *textwrap.wrap(f"Ask yourself: {question}", WIDTH)]
    if outcome in ("wrong", "unsafe", "crashed", "timeout"):
        lines += [f'More: lab.hint("{part.id}") for a hint, lab.explain("{part.id}") for every case and the traceback.']
    points = part.points if outcome == "passed" else round(part.points * share, 2)
    versions = modes.versions()
    whose = [f"The answer is about the cases of seed {case_seed}."] if case_seed is not None else []
    lines += ["", *whose, conditions(seed, mode, versions)]
    lines += [f"{part.id}: {WORDS[outcome]}, {points:g} of {part.points:g} points"]
    return CheckResult(
        lab=lab,
        part=part.id,
        outcome=outcome,
        points=float(points),
        max_points=float(part.points),
        message="\n".join(lines),
        seed=seed,
        mode=mode,
        versions=versions,
        diagnosis=diagnosis,
        question=question,
        table=table,
        case=case,
        detail=detail,
        elapsed_s=time.perf_counter() - started,
        case_seed=case_seed,
    )


def conditions(seed: int, mode: str, versions: dict[str, str]) -> str:
    """Under what a result was obtained: a CPU result never passes for a GPU one."""
    where = f"GPU ({modes.current().device})" if mode == "gpu" else "CPU (Triton interpreter)"
    return f"seed {seed}, {where}, " + ", ".join(f"{k} {versions[k]}" for k in ("torch", "triton") if k in versions)


def text(found: CheckResult) -> str:
    return found.message


def as_html(found: CheckResult) -> str:
    """The same for a notebook. Colours come from the theme; the outcome is a word and a mark, and only then a border."""
    first, rest = _first(found.message)
    mark = MARKS.get(found.outcome, "✗")
    rest = rest.rpartition("\n")[0]  # the last line says what the heading says
    above, body, below = rest, "", ""
    if found.table is not None:
        above, _, below = rest.partition("\n".join(_lines(found.table)))
        body = _table_html(found.table)
    return (
        '<div style="border:1px solid var(--jp-border-color1,currentColor);border-left-width:6px;padding:.5em .8em;'
        'color:var(--jp-content-font-color1,inherit);max-width:52em">'
        f"<div><strong>{mark} {html.escape(found.part)} {WORDS[found.outcome]}</strong>, "
        f"{found.points:g} of {found.max_points:g} points</div>"
        f'<div style="font-weight:600;margin:.3em 0">{html.escape(first)}</div>'
        f"{_paragraphs(above)}{body}{_paragraphs(below)}</div>"
    )


def _first(message: str) -> tuple[str, str]:
    """The diagnosis whole, also where it was too long for a line, and what comes after it."""
    lines = message.split("\n")
    n = 1
    while n < len(lines) and lines[n].strip() and not lines[n - 1].endswith((".", "?")):
        if len(lines[n - 1]) + 1 + len(lines[n].split()[0]) <= WIDTH:  # it was not broken here
            break
        n += 1
    return " ".join(lines[:n]), "\n".join(lines[n:])


def _paragraphs(lines: str) -> str:
    blocks = [b for b in lines.strip("\n").split("\n\n") if b.strip()]
    return "".join(f'<div style="margin:.3em 0">{"<br>".join(map(html.escape, b.splitlines()))}</div>' for b in blocks)


def _lines(table: Table) -> list[str]:
    """A table as text, columns aligned to the right, under its caption."""
    caption = textwrap.wrap(table.caption, WIDTH) if table.caption else []
    if not table.rows:
        return caption
    rows = [table.header, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.header))]
    return caption + ["  " + "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]


def _table_html(table: Table) -> str:
    cell = 'style="padding:.15em .7em;text-align:right;border:1px solid var(--jp-border-color2,currentColor)"'
    head = "".join(f"<th {cell}>{html.escape(h)}</th>" for h in table.header)
    rows = "".join("<tr>" + "".join(f"<td {cell}>{html.escape(c)}</td>" for c in row) + "</tr>" for row in table.rows)
    caption = f"<div>{html.escape(table.caption)}</div>" if table.caption else ""
    grid = (
        f'<table style="border-collapse:collapse;margin:.3em 0;color:inherit"><tr>{head}</tr>{rows}</table>'
        if table.rows
        else ""
    )
    return f'{caption}<div style="overflow-x:auto">{grid}</div>'
