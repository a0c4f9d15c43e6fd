"""Gathers learners' notebooks from the homes of one machine, as a tree that both graders take. Whoever runs this can read more
than a learner can, so nothing of a learner's is believed: no link is followed, and a file must be its home's owner's."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcplab import files
from dcplab.errors import CourseError
from dcplab.grade import layout
from dcplab.grade.read import LIMIT_BYTES

MOST = 50  # notebooks in one folder
PLACES = (("course", "labs"), ("labs",))  # below a home: a hub's checkout, or one that a learner cloned there


@dataclass(frozen=True)
class Taken:
    """One learner's notebook of a lab. ``how``: "new", "changed", "as before", or a sentence: why it was not taken."""

    student: str
    lab: str
    how: str


def collect(homes: Path, target: Path, labs: Collection[str], only: Sequence[str] = ()) -> Iterator[Taken]:
    """Copy each learner's notebooks of these labs to ``target/submitted/STUDENT/LAB/`` and yield what became of each, whatever
    its name; and who has none. A learner is a folder in ``homes``. ``only``: names of learners. The copies are their maker's
    alone."""
    if not homes.is_dir():
        raise CourseError(f"{homes} is no folder; give the one that holds the learners' homes.")
    target.mkdir(parents=True, exist_ok=True)
    target.chmod(0o700)
    there = sorted(entry.name for entry in os.scandir(homes) if entry.is_dir(follow_symlinks=False))
    if unknown := sorted(set(only) - set(there)):
        raise CourseError(f"there is no home of {', '.join(unknown)} in {homes}.")
    for student in only or there:
        taken = [
            Taken(student, f"{lab}/{name}" if name != f"{lab}.ipynb" else lab, how)
            for lab in sorted(labs)
            for name, how in _take(homes / student, lab, target / "submitted" / student / lab)
        ]
        yield from taken or [Taken(student, "", "no notebook")]


def _take(home: Path, lab: str, copies: Path) -> Iterator[tuple[str, str]]:
    for place in PLACES:
        try:
            with _opened(home, (*place, lab)) as folder:
                names = sorted(name for name in os.listdir(folder) if layout.is_notebook(name))[:MOST]
                for name in names:
                    yield name, _copy(folder, name, home.stat().st_uid, copies / name)
                if names:
                    return
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            yield f"{lab}.ipynb", f"not taken: {error.strerror if isinstance(error, OSError) else error}"
            return


def _copy(folder: int, name: str, owner: int, copy: Path) -> str:
    try:
        data = _read(folder, name, owner)
    except (OSError, ValueError) as error:
        return f"not taken: {error.strerror if isinstance(error, OSError) else error}"
    before = copy.read_bytes() if copy.exists() else None
    if before == data:
        return "as before"
    copy.parent.mkdir(parents=True, exist_ok=True)
    files.replace(copy, data, private=True)
    return "new" if before is None else "changed"


@contextlib.contextmanager
def _opened(home: Path, names: Sequence[str]) -> Iterator[int]:
    """Open a folder below a home, step by step. Raises OSError, and ValueError for a link."""
    with contextlib.ExitStack() as opened:
        place = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        opened.callback(os.close, place)
        for name in names:
            place = _open(name, place, os.O_DIRECTORY)
            opened.callback(os.close, place)
        yield place


def _read(folder: int, name: str, owner: int) -> bytes:
    """Return a file's bytes. Raises OSError, and ValueError for one that is a link or another's."""
    handle = _open(name, folder, os.O_NONBLOCK)  # a named pipe would keep it waiting
    with open(handle, "rb") as f:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("it is no file")
        if about.st_uid != owner:
            raise ValueError("it belongs to another user")
        if about.st_size > LIMIT_BYTES:
            raise ValueError(f"it has {about.st_size:,} bytes; at most {LIMIT_BYTES:,} are taken")
        return f.read(LIMIT_BYTES)


def _open(name: str, place: int, how: int) -> int:
    if stat.S_ISLNK(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
        raise ValueError(f"{name} is a link")
    return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | how, dir_fd=place)
