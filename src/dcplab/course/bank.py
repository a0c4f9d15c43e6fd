"""Reads the bank of one part, ``solutions/NN_name/bank/ID.py``: wrong answers with their diagnoses, and other right ones.

An answer is written out, or as changes of another one, so that a reader sees the mistake::

    # %% 3a no-divide
    # says: You kept the right tokens but stored them in the rows of their locs.
    # asks: How many rows has one rank, and how large is the largest loc?
    # outcome: unsafe
    # from: solution
    - row = loc // DCP_SIZE
    + row = loc

``from`` names the solution, or an answer further up that is written out. A blank line ends a change. A line that begins with
two spaces stays: it says where a new line goes, or which of several equal lines is meant. Indentation counts from the place. A
change that does not fit exactly one place is an error that names file, answer and line. ``outcome: passed`` marks a right
answer.

A cell ``preamble`` stands before every answer of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcplab.course.lab_source import BEGIN, END
from dcplab.course.model import OUTCOMES, Right, Wrong
from dcplab.errors import CourseError

_MARKER = re.compile(r"# %% *(?P<part>\S+)(?: +(?P<slug>\S+))? *")
_NOTE = re.compile(r"# *(?P<key>says|asks|family|outcome|from): *(?P<text>.*?) *")
_SIGNS = ("- ", "+ ", "  ")


@dataclass(frozen=True)
class Bank:
    """Answers to one part. The cells of ``preamble`` stand before each answer; they hold definitions that its author made
    elsewhere."""

    preamble: tuple[str, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    right: tuple[Right, ...] = ()


@dataclass(frozen=True)
class _Cell:
    marker: str
    notes: dict[str, str]
    body: list[str]
    where: str  # file and answer, for messages
    line: int  # number of the body's first line


def read(path: Path, solution: str) -> Bank:
    """Read the bank in ``path``, for the part whose solved answer cell is ``solution``. A missing file is an empty bank.

    Raises CourseError if a cell cannot be read or a change does not fit.
    """
    if not path.exists():
        return Bank()
    preamble, wrong, right = [], [], []
    bases = {"solution": without_markers(solution)}
    seen: set[str] = set()
    for cell in _cells(path):
        found = _MARKER.fullmatch(cell.marker)
        if found is None:
            raise CourseError(f"{cell.where}: cannot read {cell.marker!r}; a cell begins like '# %% {path.stem} no-divide'.")
        if found["part"] == "preamble":
            preamble.append(_source(cell, bases, seen))
            continue
        if found["part"] != path.stem or found["slug"] is None:
            raise CourseError(f"{cell.where}: {cell.marker!r} must name part {path.stem} and, after it, a short id.")
        slug, source = found["slug"], _source(cell, bases, seen)
        seen.add(slug)
        if "from" not in cell.notes:
            bases[slug] = source
        identity = f"{path.stem}-{slug}"
        if cell.notes.get("outcome") == "passed":
            right.append(Right(identity, path.stem, source))
        else:
            wrong.append(_wrong(cell, identity, path.stem, source))
    return Bank(tuple(preamble), tuple(wrong), tuple(right))


def without_markers(source: str) -> str:
    """Return a solved answer cell without the lines that mark its solution regions."""
    return "\n".join(line for line in source.split("\n") if BEGIN not in line and END not in line)


def changed(base: str, body: Sequence[str], where: str, line: int = 1) -> str:
    """Apply the changes in ``body`` to ``base``. ``body`` starts at ``line`` of the file that ``where`` names."""
    lines = base.rstrip("\n").split("\n")
    for number, old, new in _changes(body, where, line):
        places = [
            (i, pad) for i in range(len(lines) - len(old) + 1) if (pad := _fits(lines[i : i + len(old)], old)) is not None
        ]
        if len(places) != 1:
            count = f"{len(places)} places fit; add a neighbouring line that stays" if places else "no place fits"
            raise CourseError(f"{where}, line {number}: {old[0].strip()!r}: {count}.")
        [(i, pad)] = places
        lines[i : i + len(old)] = [pad + text if text.strip() else "" for text in new]
    return "\n".join(lines) + "\n"


def _changes(body: Sequence[str], where: str, first: int) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield (line, old lines, new lines) of each change."""
    old: list[str] = []
    new: list[str] = []
    start = first
    for number, text in enumerate([*body, ""], first):
        if not text.strip() and text[:1] not in ("-", "+"):
            if new and not old:
                raise CourseError(f"{where}, line {start}: {new[0].strip()!r} stands nowhere; begin with a line that is there.")
            if old or new:
                yield start, old, new
            old, new, start = [], [], number + 1
            continue
        sign, rest = (text + " ")[:2], text[2:]
        if sign not in _SIGNS:
            raise CourseError(f"{where}, line {number}: {text!r} begins neither with '- ', '+ ' nor two spaces.")
        if sign != "+ ":
            old.append(rest)
        if sign != "- ":
            new.append(rest)


def _fits(here: Sequence[str], old: Sequence[str]) -> str | None:
    """Return the indentation by which the lines ``old`` match the lines ``here``, or None if they do not match."""
    pads = {a[: len(a) - len(b)] for a, b in zip(here, old, strict=True) if b.strip()}
    pad = next(iter(pads)) if len(pads) == 1 else None
    if pad is None or pad.strip():
        return None
    return pad if all(a == pad + b if b.strip() else not a.strip() for a, b in zip(here, old, strict=True)) else None


def _source(cell: _Cell, bases: dict[str, str], seen: set[str]) -> str:
    name = cell.notes.get("from")
    if name is None:
        return _text(cell.body)
    if name not in bases:
        why = "is written as changes itself" if name in seen else "does not stand above it"
        raise CourseError(f"{cell.where}: from {name!r}, which {why}; name the solution or an answer that is written out.")
    source = changed(bases[name], cell.body, cell.where, cell.line)
    if source == changed(bases[name], [], cell.where):
        raise CourseError(f"{cell.where}: changes nothing of {name}.")
    return source


def _wrong(cell: _Cell, identity: str, part: str, source: str) -> Wrong:
    notes = cell.notes
    outcome: Any = notes.get("outcome", "wrong")
    if outcome not in OUTCOMES or not notes.get("says") or not notes.get("asks"):
        raise CourseError(f"{cell.where}: needs '# says:', '# asks:' and an outcome that there is; 'passed' if it is right.")
    return Wrong(identity, part, notes["says"], notes["asks"], source, outcome, notes.get("family", ""))


def _cells(path: Path) -> Iterator[_Cell]:
    lines = path.read_text(encoding="utf-8").split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("# %%")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        at, notes = start + 1, {}
        while at < end and (note := _NOTE.fullmatch(lines[at])):
            notes[note["key"]] = note["text"]
            at += 1
        name = lines[start].removeprefix("# %%").strip()
        yield _Cell(lines[start], notes, lines[at:end], f"bank/{path.name}, {name!r}", at + 1)


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n") + "\n"
