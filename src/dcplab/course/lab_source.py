"""Reads a lab's source, ``solutions/NN_name/NN_name.py`` (jupytext's percent format), and makes starters of its answers.

This is our own reader, because importing jupytext takes two seconds and the first check of a notebook would wait for them.
Jupytext reads the same files in an editor; a test holds the two readings together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dcplab.errors import CourseError

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"  # nbgrader's defaults; any line that holds these words counts
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")  # nbgrader's replacement for a solution region

_MARKER = re.compile(r"# %%(?:\s+\[(?P<kind>\w+)\])?(?P<options>.*)")
_OPTION = re.compile(r'\s*(?P<key>\w+)=(?:"(?P<text>[^"]*)"|\[(?P<items>[^\]]*)\])')


@dataclass(frozen=True)
class Cell:
    """One cell of a lab's source. ``meta`` holds the words after ``# %%``: ``part``, ``role`` ("answer" or "check"),
    ``tags``."""

    kind: str  # "code" or "markdown"
    source: str
    meta: Mapping[str, str | list[str]] = field(default_factory=dict)
    line: int = 1  # line of the marker in the file, for messages

    @property
    def part(self) -> str | None:
        return self._word("part")

    @property
    def role(self) -> str | None:
        return self._word("role")

    def _word(self, name: str) -> str | None:
        value = self.meta.get(name)
        return value if isinstance(value, str) else None


def read(path: Path) -> list[Cell]:
    """Return the cells of a lab's source file, in order."""
    try:
        return parse(path.read_text(encoding="utf-8"), name=path.name)
    except FileNotFoundError:
        raise CourseError(f"There is no lab source at {path}.") from None


def parse(text: str, name: str = "source") -> list[Cell]:
    """Return the cells of a percent-format text. Only blank lines and comments may stand before the first ``# %%``."""
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if _MARKER.fullmatch(line)]
    for i, line in enumerate(lines[: starts[0] if starts else len(lines)]):
        if line.strip() and not line.startswith("#"):
            raise CourseError(f"{name}, line {i + 1}: code before the first '# %%' marker.")
    ends = [*starts[1:], len(lines)]
    return [_cell(lines, start, end, name) for start, end in zip(starts, ends, strict=False)]


def starter(source: str) -> str:
    """Return an answer cell as a learner gets it: every solution region replaced by nbgrader's stub, at the region's indent."""
    kept, inside = [], False
    for line in source.split("\n"):
        if BEGIN in line:
            if inside:
                raise CourseError(f"'{BEGIN}' inside a solution region.")
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            kept += [indent + stub for stub in STUB]
        elif END in line:
            inside = False
        elif not inside:
            kept.append(line)
    if inside:
        raise CourseError(f"A solution region has no '{END}'.")
    return "\n".join(kept)


def _cell(lines: list[str], start: int, end: int, name: str) -> Cell:
    marker = _MARKER.fullmatch(lines[start])
    assert marker is not None, "whoever calls has matched this line"
    kind = marker["kind"] or "code"
    if kind not in ("code", "markdown"):
        raise CourseError(f"{name}, line {start + 1}: a cell is code or [markdown], not [{kind}].")
    body = lines[start + 1 : end]
    while body and not body[-1].strip():
        body.pop()
    while body and not body[0].strip():
        body.pop(0)
    if kind == "markdown":
        body = [line[2:] if line.startswith("# ") else line.removeprefix("#") for line in body]
    return Cell(kind, "\n".join(body), _options(marker["options"], f"{name}, line {start + 1}"), start + 1)


def _options(text: str, where: str) -> dict[str, str | list[str]]:
    found, at = {}, 0
    text = text.rstrip()
    while at < len(text):
        option = _OPTION.match(text, at)
        if option is None:
            raise CourseError(f'{where}: cannot read {text[at:].strip()!r}; write options as key="value".')
        items = option["items"]
        found[option["key"]] = option["text"] if items is None else re.findall(r'"([^"]*)"', items)
        at = option.end()
    return found
