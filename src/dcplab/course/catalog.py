"""The labs there are: found in ``solutions/``, each with its parts, its banks, and its answer cells solved and unsolved."""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from dcplab import paths
from dcplab.checking import Key
from dcplab.course import lab_source
from dcplab.course.model import OUTCOMES, Part, Right, Wrong
from dcplab.errors import CourseError
from dcplab.notebook.extract import Program, extract
from dcplab.sandbox.driver_source import source_of

_NAME = re.compile(r"\d\d_\w+")
_BANK_MARKER = re.compile(r"# %% *(?P<part>\S+)(?: +(?P<slug>\S+))? *")
_BANK_NOTE = re.compile(r"# *(?P<key>says|asks|family|outcome): *(?P<text>.*?) *")


@dataclass(frozen=True)
class Lab:
    """One lab. ``cells`` are its solved notebook's code cells, in order; a preamble stands before each answer of a bank."""

    name: str  # "01_index_spaces"
    title: str
    minutes: int
    parts: tuple[Part, ...]
    wrong: tuple[Wrong, ...]
    right: tuple[Right, ...]
    cells: tuple[lab_source.Cell, ...]
    preambles: tuple[str, str]  # of wrong.py and of right.py

    @property
    def number(self) -> str:
        return self.name[:2]

    @property
    def points(self) -> float:
        return sum(part.points for part in self.parts)

    def part(self, identity: str) -> Part:
        """The part called "1c" (or "C", or "c")."""
        wanted = str(identity).strip().lower()
        for part in self.parts:
            if wanted in (part.id.lower(), part.id.lower().lstrip("0123456789")):
                return part
        raise CourseError(f"Lab {self.name} has no part {identity!r}; it has {', '.join(p.id for p in self.parts)}.")

    def starter_cell(self, identity: str) -> str:
        """The answer cell of a part as a learner first gets it."""
        return lab_source.starter(self._answer(identity).source)

    def key(self, identity: str) -> Key:
        """What an answer to this part is held against."""
        part = self.part(identity)
        solved = extract([c.source for c in self.cells], part.names)
        bare = [lab_source.starter(c.source) if c.role == "answer" else c.source for c in self.cells]
        bank = tuple((w, self.wrong_program(w)) for w in self.wrong if w.part == part.id)
        if solved.problem:
            raise CourseError(f"The solution of {part.id} in {self.name}: {solved.problem}")
        return Key(self.name, part, solved, extract(bare, part.names), bank)

    def wrong_program(self, wrong: Wrong) -> Program:
        return extract([self.preambles[0], wrong.source], self.part(wrong.part).names)

    def right_program(self, right: Right) -> Program:
        return extract([self.preambles[1], right.source], self.part(right.part).names)

    def setup(self) -> list[str]:
        """The code cells that are neither answers nor checks: imports and constants, for an answer alone in a file."""
        return [c.source for c in self.cells if c.role is None]

    def _answer(self, identity: str) -> lab_source.Cell:
        part = self.part(identity)
        for cell in self.cells:
            if cell.role == "answer" and cell.part == part.id:
                return cell
        raise CourseError(f"{self.name}.py has no answer cell of part {part.id}.")


def labs() -> list[Lab]:
    """Every lab, in order."""
    return [load(path) for path in folders()]


def folders(solutions: Path | None = None) -> list[Path]:
    """The folders of labs that have their ``parts.py``, in order."""
    base = solutions or paths.solutions()
    return sorted(p for p in base.glob("*") if _NAME.fullmatch(p.name) and (p / "parts.py").is_file()) if base.is_dir() else []


def lab(given: str | int) -> Lab:
    """The lab called "01", "1" or "01_index_spaces". Raises CourseError with the names there are."""
    wanted = str(given).strip().rstrip("/")
    for path in folders():
        if wanted == path.name or (wanted.isdigit() and int(wanted) == int(path.name[:2])):
            return load(path)
    known = ", ".join(p.name for p in folders()) or "none yet"
    raise CourseError(f"There is no lab {given!r}; there are: {known}.")


def of_part(identity: str) -> Lab:
    """The lab that a part belongs to, by the number it begins with: "1c" is in lab 01."""
    number = re.match(r"\s*0*(\d+)", str(identity))
    if number is None:
        raise CourseError(f"{identity!r} names no part; a part is called like '1c'.")
    found = lab(number[1])
    found.part(identity)
    return found


def place(first: str, second: str | None = None) -> tuple[Lab, Part | None]:
    """What a person names: a lab ("01"), a part alone ("1c", as in a notebook), or both ("01" and "1c", or "1" and "c")."""
    text = str(first).strip()
    if second is not None or text.isdigit() or "_" in text or not text[:1].isdigit():
        found = lab(text)
        return found, None if second is None else found.part(second)
    found = of_part(text)
    return found, found.part(text)


def load(folder: Path) -> Lab:
    """A lab from its folder. Kept until one of its files changes."""
    files = [folder / name for name in ("parts.py", "wrong.py", "right.py", f"{folder.name}.py")]
    return _load(folder, tuple(f.stat().st_mtime_ns if f.exists() else 0 for f in files))


@functools.lru_cache(maxsize=32)
def _load(folder: Path, stamps: tuple[int, ...]) -> Lab:
    module = _module(folder)
    about = getattr(module, "LAB", {})
    parts = tuple(getattr(module, "PARTS", ()))
    for part in parts:
        source_of(part.drive)  # read now
    wrong_preamble, wrong = read_bank(folder / "wrong.py")
    right_preamble, right = read_bank(folder / "right.py")
    source = folder / f"{folder.name}.py"
    cells = tuple(c for c in lab_source.read(source) if c.kind == "code") if source.exists() else ()
    return Lab(
        name=folder.name,
        title=about.get("title", folder.name),
        minutes=int(about.get("minutes", sum(p.minutes for p in parts))),
        parts=parts,
        wrong=tuple(_wrong(*entry) for entry in wrong),
        right=tuple(Right(f"{part}-{slug}", part, source) for part, slug, _, source in right),
        cells=cells,
        preambles=(wrong_preamble, right_preamble),
    )


def _module(folder: Path) -> ModuleType:
    name = f"dcplab_lab_{folder.name}"
    spec = importlib.util.spec_from_file_location(name, folder / "parts.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and inspect look a module up by its name
    spec.loader.exec_module(module)
    return module


def read_bank(path: Path) -> tuple[str, list[tuple[str, str, dict[str, str], str]]]:
    """A bank file: its preamble, and (part, slug, notes, source) of each answer. A file that is not there is an empty bank."""
    if not path.exists():
        return "", []
    preamble, entries = "", []
    for marker, body in _cells(path.read_text(encoding="utf-8").split("\n")):
        found = _BANK_MARKER.fullmatch(marker)
        if found is None:
            raise CourseError(f"{path.name}: cannot read {marker!r}; a cell begins like '# %% 1c no-divide'.")
        notes = {m["key"]: m["text"] for line in body if (m := _BANK_NOTE.fullmatch(line))}
        source = "\n".join(line for line in body if not _BANK_NOTE.fullmatch(line)).strip("\n") + "\n"
        if found["part"] == "preamble":
            preamble = source
        elif found["slug"] is None:
            raise CourseError(f"{path.name}: {marker!r} has no short id after its part.")
        else:
            entries.append((found["part"], found["slug"], notes, source))
    return preamble, entries


def _cells(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    starts = [i for i, line in enumerate(lines) if line.startswith("# %%")]
    return [(lines[a], list(lines[a + 1 : b])) for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _wrong(part: str, slug: str, notes: dict[str, str], source: str) -> Wrong:
    outcome = notes.get("outcome", "wrong")
    if outcome not in OUTCOMES or not notes.get("says") or not notes.get("asks"):
        raise CourseError(f"wrong.py: '{part} {slug}' needs '# says:', '# asks:' and an outcome that there is.")
    return Wrong(f"{part}-{slug}", part, notes["says"], notes["asks"], source, outcome, notes.get("family", ""))
