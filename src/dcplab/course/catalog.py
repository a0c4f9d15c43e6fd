"""Finds the labs in ``solutions/`` and loads each with its parts, its banks, and its answer cells solved and unsolved."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcplab import paths
from dcplab.course import bank, lab_source
from dcplab.course.driver_source import source_of
from dcplab.course.key import Key
from dcplab.course.model import ExaminedPart, Part, Right, Wrong
from dcplab.course.recall import Question
from dcplab.errors import CourseError
from dcplab.notebook.extract import Program, extract

_NAME = re.compile(r"\d\d_\w+")
_PART_FILE = re.compile(r"\d+[a-z]+")


@dataclass(frozen=True)
class Lab:
    """One lab. ``cells``: its solved notebook's code cells, in order. ``preambles``: code that stands before each answer of a
    bank. ``examined``: the parts that its examination marks; such a lab has no other."""

    name: str  # "01_index_spaces"
    title: str
    minutes: int
    parts: tuple[Part, ...]
    wrong: tuple[Wrong, ...]
    right: tuple[Right, ...]
    cells: tuple[lab_source.Cell, ...]
    preambles: Mapping[str, tuple[str, ...]]  # by part: the lab's own, then the part's
    recall: tuple[Question, ...] = ()  # on what came before, `course.recall`
    examined: tuple[ExaminedPart, ...] = ()

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def points(self) -> float:
        return sum(part.points for part in self.listed)

    @property
    def listed(self) -> tuple[Part | ExaminedPart, ...]:
        """All that has points, in order: what a board and a table of marks list."""
        return (*self.parts, *self.examined)

    def asks(self, identity: str) -> Part | ExaminedPart:
        """Return the part called "1c", one that an examination marks too: for its prediction."""
        wanted = str(identity).strip().lower()
        return next((part for part in self.examined if part.id == wanted), None) or self.part(identity)

    def part(self, identity: str) -> Part:
        """Return the part called "1c" (or "C", or "c")."""
        wanted = str(identity).strip().lower()
        for part in self.parts:
            if wanted in (part.id.lower(), part.id.lower().lstrip("0123456789")):
                return part
        if self.examined:
            raise CourseError(f"Lab {self.number} is handed in and marked, not checked: its notebook, or ./course exam --help.")
        known = ", ".join(p.id for p in self.parts)
        raise CourseError(f"Lab {self.name} has no part {identity!r}; it has {known}.{_turned(wanted)}")

    def starter_cell(self, identity: str) -> str:
        """Return the answer cell of a part as a learner first gets it."""
        return lab_source.starter(self._answer(identity).source)

    def key(self, identity: str) -> Key:
        """Return the key of a part: its solution, its starter and its bank, with which an answer is compared."""
        part = self.part(identity)
        solved = self.solution(identity)
        bare = [lab_source.starter(c.source) if c.role == "answer" else c.source for c in self.cells]
        wrong = tuple((w, self.program(w)) for w in self.wrong if w.part == part.id)
        if solved.problem:
            raise CourseError(f"The solution of {part.id} in {self.name}: {solved.problem}")
        others = {name: other.id for other in self.parts if other is not part for name in other.names}
        return Key(self.name, part, solved, extract(bare, part.names), wrong, others, self.solution)

    def solution(self, identity: str) -> Program:
        """Return the solution of a part as the program that a child runs."""
        return extract([c.source for c in self.cells], self.part(identity).names)

    def program(self, answer: Wrong | Right) -> Program:
        """Return an answer of a bank as the program that a child runs."""
        return extract([*self.preambles[answer.part], answer.source], self.part(answer.part).names)

    def setup(self) -> list[str]:
        """Return the code cells that are neither answers nor checks: imports and constants, for an answer that stands alone in
        a file."""
        return [c.source for c in self.cells if c.role is None]

    def _answer(self, identity: str) -> lab_source.Cell:
        part = self.part(identity)
        for cell in self.cells:
            if cell.role == "answer" and cell.part == part.id:
                return cell
        raise CourseError(f"{self.name}.py has no answer cell of part {part.id}.")


def labs() -> list[Lab]:
    """Return every lab, in order."""
    return [load(path) for path in folders()]


def checked() -> list[Lab]:
    """Return the labs whose answers are checked: all but one that is examined."""
    return [lab for lab in labs() if lab.parts]


def folders(solutions: Path | None = None) -> list[Path]:
    """Return the folders of labs that have parts, in order."""
    base = solutions or paths.solutions()
    return sorted(p.parents[1] for p in base.glob("*/parts/__init__.py") if _NAME.fullmatch(p.parents[1].name))


def lab(given: str | int) -> Lab:
    """Return the lab called "01", "1", "lab01" or "01_index_spaces". Raises CourseError with the known names."""
    wanted = re.sub(r"^lab[ _-]?(?=\d)", "", str(given).strip().rstrip("/").lower())
    for path in folders():
        if wanted == path.name or (wanted.isdigit() and int(wanted) == int(path.name[:2])):
            return load(path)
    known = ", ".join(p.name for p in folders()) or "none yet"
    raise CourseError(f"There is no lab {given!r}; there are: {known}.{_turned(wanted)}")


def _turned(given: str) -> str:
    """Ask whether a part was meant whose number and letter are the other way round, as "a1"."""
    found = re.fullmatch(r"([a-z])0?(\d+)", given)
    return f' Did you mean "{found[2]}{found[1]}"?' if found else ""


def of_part(identity: str) -> Lab:
    """Return the lab that a part belongs to, by the number it begins with: "1c" is in lab 01."""
    number = re.match(r"\s*0*(\d+)", str(identity))
    if number is None:
        hint = _turned(str(identity).strip().lower())
        raise CourseError(f"{identity!r} names no part; a part is called like '1c'.{hint}")
    found = lab(number[1])
    found.asks(identity)
    return found


def place(first: str, second: str | None = None) -> tuple[Lab, Part | None]:
    """Resolve the words of a command: a lab ("01"), a part alone ("1c", as in a notebook), or both ("01" and "1c", or "1" and
    "c")."""
    text = re.sub(r"^lab[ _-]?(?=\d)", "", str(first).strip().lower())
    if second is not None or text.isdigit() or "_" in text or not text[:1].isdigit():
        found = lab(text)
        return found, None if second is None else found.part(second)
    found = of_part(text)
    return found, found.part(text)


def load(folder: Path) -> Lab:
    """Load a lab from its folder. The result is kept until one of its files changes."""
    files = sorted([*folder.glob("parts/*.py"), *folder.glob("bank/*.py"), *folder.glob(f"{folder.name}.py")])
    return _load(folder, tuple((f.name, f.stat().st_mtime_ns) for f in files))


@functools.lru_cache(maxsize=32)
def _load(folder: Path, stamps: tuple[tuple[str, int], ...]) -> Lab:
    about, parts, examined, recall = _parts(folder)
    source = folder / f"{folder.name}.py"
    cells = tuple(c for c in lab_source.read(source) if c.kind == "code") if source.exists() else ()
    solved = {c.part: c.source for c in cells if c.role == "answer"}
    preamble = folder / "bank" / "preamble.py"
    before = preamble.read_text(encoding="utf-8") if preamble.exists() else ""
    files = sorted(f for f in folder.glob("bank/*.py") if f != preamble)
    banks = {f.stem: bank.read(f, solved.get(f.stem, "")) for f in files}
    return Lab(
        name=folder.name,
        title=about.get("title", folder.name),
        minutes=int(about.get("minutes", sum(p.minutes for p in parts))),
        parts=parts,
        examined=examined,
        wrong=tuple(answer for b in banks.values() for answer in b.wrong),
        right=tuple(answer for b in banks.values() for answer in b.right),
        cells=cells,
        preambles={part: (before, *b.preamble) for part, b in banks.items()},
        recall=recall,
    )


def _parts(folder: Path) -> tuple[dict[str, Any], tuple[Part, ...], tuple[ExaminedPart, ...], tuple[Question, ...]]:
    """Load ``LAB`` of ``parts/__init__.py`` and, if they are there, its ``EXAMINED``; the ``PART`` of each ``parts/ID.py``;
    and, if it is there, the ``QUESTIONS`` of ``parts/recall.py``. Together they are one package."""
    name = f"dcplab_lab_{folder.name}"
    for known in [m for m in sys.modules if m.partition(".")[0] == name]:
        del sys.modules[known]
    importlib.invalidate_caches()
    home = folder / "parts"
    spec = importlib.util.spec_from_file_location(name, home / "__init__.py", submodule_search_locations=[str(home)])
    assert spec is not None and spec.loader is not None, "a path that ends in .py has a loader"
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package  # relative imports, dataclasses and inspect look modules up by name
    spec.loader.exec_module(package)
    parts = tuple(_part(name, f) for f in sorted(home.glob("*.py")) if _PART_FILE.fullmatch(f.stem))
    for part in parts:
        source_of(part.drive)  # read the source now: the file may change later
    recall = importlib.import_module(f"{name}.recall").QUESTIONS if (home / "recall.py").exists() else ()
    return package.LAB, parts, getattr(package, "EXAMINED", ()), recall


def _part(package: str, file: Path) -> Part:
    part = getattr(importlib.import_module(f"{package}.{file.stem}"), "PART", None)
    if not isinstance(part, Part) or part.id != file.stem:
        raise CourseError(f"{file} must define PART, a Part with the id {file.stem!r}.")
    return part
