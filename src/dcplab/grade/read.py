"""Reads notebooks as data. Every path, whatever it holds, gives a ``Submission`` with a status.

Statuses (``docs/grading.md`` lists them for instructors):

graded          a notebook of a lab; its parts were checked
missing         there is nothing at this path
no_notebooks    a folder without a notebook in it
empty           a file without a byte, or a notebook without a cell
unreadable      not text, not JSON, or JSON that ends too early
not_a_notebook  JSON, but not of a notebook; or another kind of file
too_big         over ``LIMIT_BYTES``, ``CELLS`` or ``CODE``
unknown_lab     a notebook in which no lab of this course is recognised
error           the grader itself failed; says how
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dcplab.notebook import file
from dcplab.notebook.extract import Program

UNGRADED = ("missing", "no_notebooks", "empty", "unreadable", "not_a_notebook", "too_big", "unknown_lab", "error")
LIMIT_BYTES = 256_000_000
CELLS, CODE = 2_000, 2_000_000  # code cells of a notebook, and their characters


@dataclass(frozen=True)
class Submission:
    """One path, as read. ``cells``: the sources of its code cells, in document order. ``programs``: by part, once they are cut
    out of them (`grade.reader`)."""

    path: Path
    status: str  # "graded" also means "to be graded", until grading is done
    message: str = ""
    lab: str | None = None
    cells: tuple[str, ...] = ()
    digest: str = ""  # hash of the file's bytes
    programs: Mapping[str, Program] = field(default_factory=dict)
    student: str | None = None
    account: str | None = None
    shown: str = ""  # what it is called, if that is not where it lies
    note: str = ""  # a sentence about how it was handed in

    @property
    def name(self) -> str:
        return self.shown or str(self.path)


def read(path: Path, labs: Iterable[tuple[str, Sequence[str], Sequence[str]]]) -> Submission:
    """Read one path. ``labs``: (name, part ids, entries) of the labs that it may belong to."""
    try:
        if path.is_dir():
            return Submission(path, "no_notebooks", "This folder holds no notebook.")
        size = path.stat().st_size
        if not path.is_file():
            return Submission(path, "not_a_notebook", "This is not a file.")
        if size > LIMIT_BYTES:
            return Submission(path, "too_big", f"{size:,} bytes; at most {LIMIT_BYTES:,} are read. Clear its outputs.")
        data = path.read_bytes()
    except FileNotFoundError:
        return Submission(path, "missing", "There is no file here.")
    except OSError as error:
        return Submission(path, "unreadable", f"It cannot be opened: {error.strerror or error}.")
    found = parse(path, data, labs)
    return Submission(path, found.status, found.message, found.lab, found.cells, hashlib.sha256(data).hexdigest())


def digest_of(path: Path) -> str:
    """Return the digest of a file as it is now; "" if it cannot be read."""
    try:
        with path.open("rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()
    except OSError:
        return ""


def parse(path: Path, data: bytes, labs: Iterable[tuple[str, Sequence[str], Sequence[str]]]) -> Submission:
    """Return the submission in a file's bytes."""
    try:
        nb = file.parse(data)
    except file.Unreadable as error:
        named = path.suffix.lower() == ".ipynb"
        kinds = {"empty": "empty", "text": "unreadable", "json": "unreadable" if named else "not_a_notebook"}
        return Submission(path, kinds.get(error.kind, "not_a_notebook"), str(error))
    except MemoryError:
        return Submission(path, "too_big", "Reading it takes too much memory.")
    cells = file.cells(nb)
    if not cells:
        return Submission(path, "empty", "A notebook without a cell.")
    code = tuple(map(file.source, file.code(nb)))
    if len(code) > CELLS or sum(map(len, code)) > CODE:
        says = f"{len(code):,} code cells with {sum(map(len, code)):,} characters; at most {CELLS:,} and {CODE:,} are read."
        return Submission(path, "too_big", says)
    lab = recognise(nb, cells, code, path, list(labs))
    if lab is None:
        return Submission(path, "unknown_lab", "No lab of this course is recognised in it.", None, code)
    return Submission(path, "graded", "", lab, code)


def recognise(nb: dict, cells: Sequence[dict], code: Sequence[str], path: Path, labs: Sequence[tuple]) -> str | None:
    """Return the lab whose parts a notebook holds. Goes by grade ids, then by the names it defines, its stamp, and its file
    name. A lab without parts, which is examined, has its stamp alone."""
    by_part = {part: name for name, parts, _ in labs for part in parts}
    ids = (file.grade_id(cell).removesuffix("-check") for cell in cells)
    votes = Counter(by_part[i] for i in ids if i in by_part)
    stamp = file.within(nb, "metadata", "dcplab").get("lab")
    if not votes and any(name == stamp and not parts for name, parts, _ in labs):
        return stamp
    if not votes:
        votes = Counter(name for name, _, entries in labs for entry in entries for text in code if f" {entry}(" in text)
    if votes:
        return votes.most_common(1)[0][0]
    names = [name for name, _, _ in labs]
    return next((name for name in names if name == stamp or name == path.stem), None)
