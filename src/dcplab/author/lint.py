"""Checks the rules for a lab and words each violation as a sentence. A clean lab gives an empty list. No cell is run."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nbformat import NotebookNode

from dcplab import syntax
from dcplab.course.lab_source import BEGIN, END, STUB, Cell
from dcplab.course.model import ExaminedPart, Part, Right, Wrong

SAYS_WIDTH = 80  # characters of a diagnosis, the first line that a learner reads
STARTER_WIDTH = 88  # characters of a signature and docstring: what the window's edge cuts off is not read
MINUTES_A_PART = 20
POINTS_A_LAB = 100


def lint(
    cells: Sequence[Cell],
    parts: Sequence[Part],
    wrong: Sequence[Wrong],
    right: Sequence[Right],
    learner: NotebookNode,
    examined: Sequence[ExaminedPart] = (),
) -> list[str]:
    """Return every violation in a lab: in its cells, its parts, its banks and the learner's notebook. ``examined``: parts that
    an examination marks."""
    return [
        *(cell_faults(cells, parts) if not examined else trial_faults(cells, examined)),
        *worth_faults(cells, parts),
        *part_faults(parts),
        *points_faults((*parts, *examined)),
        *bank_faults(parts, wrong, right),
        *leaks(learner, cells, [answer.source for answer in right]),
    ]


def trial_faults(cells: Sequence[Cell], examined: Sequence[ExaminedPart]) -> Iterator[str]:
    """Check a lab that is examined: its answer cells are trials, each with a solution region and of a part, and nothing in it
    checks or is a magic."""
    known = [part.id for part in examined]
    for cell in cells:
        if cell.role not in (None, "answer") or (cell.role == "answer" and cell.part not in known):
            yield f"line {cell.line}: {cell.role} of {cell.part}; a lab that is examined checks nothing, and has {known}."
    yield from _region_faults(cells)


def cell_faults(cells: Sequence[Cell], parts: Sequence[Part]) -> Iterator[str]:
    """Check that every part has one answer cell with a solution region and, after it, one check cell that ends in its check."""
    for role in ("answer", "check"):
        found = [cell.part for cell in cells if cell.role == role]
        if found != [part.id for part in parts]:
            yield f"{role} cells are {found}, parts/ has {[part.id for part in parts]}: same parts, same order, each once."
    seen: set[str | None] = set()
    for cell in cells:
        where = f"line {cell.line}"
        if cell.role == "answer":
            seen.add(cell.part)
        if cell.role == "check":
            if cell.source.rstrip().split("\n")[-1] != f'lab.check("{cell.part}")':
                yield f'{where}: a check cell ends in lab.check("{cell.part}"), nothing after it.'
            if cell.part not in seen:
                yield f"{where}: the check of {cell.part} stands before its answer."
    yield from _region_faults(cells)


def _region_faults(cells: Sequence[Cell]) -> Iterator[str]:
    """Check that each answer cell has a solution region and lines that a window shows, that no other has one, and that all is
    plain Python."""
    for cell in cells:
        where = f"line {cell.line}"
        if cell.role == "answer":
            if BEGIN not in cell.source:
                yield f"{where}: the answer cell of {cell.part} has no solution region."
            for line in _promises(cell.source):
                if len(line) > STARTER_WIDTH:
                    yield f"{where}: {len(line)} characters in {line.strip()[:40]!r} of {cell.part}; at most {STARTER_WIDTH}."
        elif BEGIN in cell.source or END in cell.source:
            yield f"{where}: a solution region outside an answer cell."
        if cell.kind == "code" and re.search(r"^\s*[%!]", cell.source, re.MULTILINE):
            yield f"{where}: a magic or shell line; a lab is plain Python, so that an answer can be checked outside Jupyter."


def worth_faults(cells: Sequence[Cell], parts: Sequence[Part]) -> Iterator[str]:
    """Check that the line under a part's heading says the points and minutes of its data, and whether it can wait."""
    for cell in cells:
        for identity, said in re.findall(r"^## (\w+) · .*\n\n\*(.*)\*$", cell.source, re.MULTILINE):
            for part in parts:
                if part.id == identity and said != (due := worth(part)):
                    yield f"line {cell.line}: the heading of {identity} says {said!r}; {due!r} is in parts/."


def worth(part: Part) -> str:
    """Return the line under a part's heading."""
    return f"{part.points:g} points, {part.minutes} minutes.{' It can wait.' if part.can_wait else ''}"


def _promises(source: str) -> Iterator[str]:
    """Yield the lines of the signatures and docstrings in an answer cell."""
    lines = source.splitlines()
    for node in ast.walk(syntax.parse(source)):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            yield from lines[node.lineno - 1 : node.body[0].end_lineno]


def part_faults(parts: Sequence[Part]) -> Iterator[str]:
    for identity, n in Counter(part.id for part in parts).items():
        if n > 1:
            yield f"{identity}: {n} parts have this id."
    for part in parts:
        if len(part.hints) != 3 or not all(hint.strip() for hint in part.hints):
            yield f"{part.id}: three hints are asked for, and there are {sum(bool(h.strip()) for h in part.hints)}."
        if part.points <= 0:
            yield f"{part.id}: {part.points:g} points."
        if not 0 < part.minutes <= MINUTES_A_PART:
            yield f"{part.id}: {part.minutes} minutes; a part takes at most {MINUTES_A_PART}."
        if not part.question.rstrip().endswith("?"):
            yield f"{part.id}: its question does not end in a question mark."


def points_faults(listed: Sequence[Part | ExaminedPart]) -> Iterator[str]:
    if (total := sum(part.points for part in listed)) != POINTS_A_LAB:
        yield f"The points sum to {total:g}, not {POINTS_A_LAB}."


def bank_faults(parts: Sequence[Part], wrong: Sequence[Wrong], right: Sequence[Right]) -> Iterator[str]:
    known = {part.id for part in parts}
    for identity, n in (Counter(answer.id for answer in wrong) | Counter(answer.id for answer in right)).items():
        if n > 1:
            yield f"{identity}: {n} answers of a bank have this id."
    for identity, part in [*((w.id, w.part) for w in wrong), *((r.id, r.part) for r in right)]:
        if part not in known:
            yield f"{identity}: there is no part {part!r}."
    for answer in wrong:
        if "\n" in answer.says or not 0 < len(answer.says) <= SAYS_WIDTH:
            yield f"{answer.id}: says {len(answer.says)} characters; a diagnosis is one line of at most {SAYS_WIDTH}."
        if not answer.asks.rstrip().endswith("?"):
            yield f"{answer.id}: asks no question."


def leaks(learner: NotebookNode, cells: Iterable[Cell], bank: Iterable[str]) -> Iterator[str]:
    """Find traces of an answer in a learner's notebook: in text, outputs, attachments or metadata."""
    if "widgets" in learner.metadata:
        yield "The learner's notebook carries widget state."
    shown = {_squeezed(line) for cell in cells if cell.role == "answer" for line in _given(cell.source)}
    secret = {_squeezed(line) for cell in cells for line in _solution_lines(cell.source) if _tells(line)}
    secret |= {_squeezed(line) for source in bank for line in source.split("\n") if _tells(line) and "return" in line}
    secret -= shown
    for cell in learner.cells:
        for place in ("outputs", "attachments"):
            if cell.get(place):
                yield f"Cell {cell.id} has {place}."
    for where, text in _strings(learner):
        if BEGIN in text or END in text or "HIDDEN TESTS" in text:
            yield f"{where}: a marker of a hidden region."
        flat = _squeezed(text)
        for line in secret:
            if line in flat:
                yield f"{where}: a line of an answer, {line!r}."


def _strings(node, where: str = "notebook") -> Iterator[tuple[str, str]]:
    """Yield every string of a notebook, keys too, with its place."""
    if isinstance(node, str):
        yield where, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield where, key
            yield from _strings(value, f"{where}.{key}")
    elif isinstance(node, list):
        for i, value in enumerate(node):
            name = value.get("id", i) if isinstance(value, dict) else i
            yield from _strings(value, f"{where}[{name}]")


def _solution_lines(source: str) -> Iterator[str]:
    inside = False
    for line in source.split("\n"):
        if BEGIN in line or END in line:
            inside = BEGIN in line
        elif inside:
            yield line


def _given(source: str) -> Iterator[str]:
    """Yield the lines of an answer cell that a learner gets in any case."""
    solution = set(_solution_lines(source))
    return (line for line in source.split("\n") if line not in solution or line.strip() in STUB)


def _tells(line: str) -> bool:
    """Return True if a line could give an answer away: it holds more than a bracket, a keyword or a bare name."""
    try:
        tokens = [t.string for t in tokenize.generate_tokens(io.StringIO(line.strip()).readline) if t.string.strip()]
    except (tokenize.TokenError, SyntaxError):
        tokens = line.split()
    return len([t for t in tokens if not keyword.iskeyword(t)]) >= 3 and not line.strip().startswith(
        ("#", "def ", "import ", "from ")
    )


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
