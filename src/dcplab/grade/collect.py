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
from dcplab.grade.read import LIMIT_BYTES

PLACES = (("course", "labs"), ("labs",))  # below a home: a hub's checkout, or one that a learner cloned there


@dataclass(frozen=True)
class Taken:
    """One learner's notebook of a lab. ``how``: "new", "changed", "as before", or a sentence: why it was not taken."""

    student: str
    lab: str
    how: str


def collect(homes: Path, target: Path, labs: Collection[str], only: Sequence[str] = ()) -> Iterator[Taken]:
    """Copy each learner's notebooks to ``target/submitted/STUDENT/LAB/LAB.ipynb`` and yield what became of each. A learner is a
    folder in ``homes``. ``only``: names of learners. The copies are their maker's alone."""
    if not homes.is_dir():
        raise CourseError(f"{homes} is no folder; give the one that holds the learners' homes.")
    target.mkdir(parents=True, exist_ok=True)
    target.chmod(0o700)
    there = sorted(entry.name for entry in os.scandir(homes) if entry.is_dir(follow_symlinks=False))
    if unknown := sorted(set(only) - set(there)):
        raise CourseError(f"there is no home of {', '.join(unknown)} in {homes}.")
    for student in only or there:
        for lab in sorted(labs):
            if how := _take(homes / student, lab, target / "submitted" / student / lab / f"{lab}.ipynb"):
                yield Taken(student, lab, how)


def _take(home: Path, lab: str, copy: Path) -> str | None:
    for place in PLACES:
        try:
            data = _read(home, (*place, lab, f"{lab}.ipynb"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            return f"not taken: {error.strerror or error}"
        except ValueError as error:
            return f"not taken: {error}"
        before = copy.read_bytes() if copy.exists() else None
        if before == data:
            return "as before"
        copy.parent.mkdir(parents=True, exist_ok=True)
        files.replace(copy, data, private=True)
        return "new" if before is None else "changed"
    return None


def _read(home: Path, names: Sequence[str]) -> bytes:
    """Return the bytes of a file below a home. Raises OSError, and ValueError for one that is a link or another's."""
    owner = home.stat().st_uid
    with contextlib.ExitStack() as opened:
        place = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        opened.callback(os.close, place)
        for name in names[:-1]:
            place = _open(name, place, os.O_DIRECTORY)
            opened.callback(os.close, place)
        handle = _open(names[-1], place, os.O_NONBLOCK)  # a named pipe would keep it waiting
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
