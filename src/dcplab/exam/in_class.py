"""Finds the examinations among what a class handed in, for `grade`: a row each, lab 08's, beside those of the notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from dcplab.errors import CourseError
from dcplab.exam import grading, results, tickets
from dcplab.grade.layout import SKIPPED, Found, Who, student_of


def folders(given: Path) -> Iterator[Path]:
    """Yield the examinations at or below a path. Practice is none, nor is the case that lab 08 solves. No link is followed."""
    for here, below, files in os.walk(given):
        if tickets.FILE in files:
            below.clear()  # what lies in a case is a server
            if _is_examination(Path(here)):
                yield Path(here)
        below[:] = sorted(name for name in below if name not in SKIPPED and not name.startswith("."))


def rows(
    given: Sequence[Path],
    key: bytes,
    labs: Collection[str],
    who: Who,
    earlier: Mapping[str, Mapping[str, Any]],
    say: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Any]]:
    """Grade the examinations below the given paths. ``labs``, ``who``: as `grade.layout.find` has them. ``earlier``: rows by
    absolute path, of which one stays whose folder holds what it held."""
    made = []
    for path in given:
        for folder in folders(path):
            student, account = student_of(PurePath(folder, "x"), path, labs, who)
            kept = earlier.get(os.path.abspath(folder))
            if kept is None or kept["status"] != "graded" or not grading.unchanged(folder, key, str(kept["digest"])):
                say(str(folder))
                kept = grading.row(folder, key, say)[0].to_json()
            made.append({**kept, "path": str(folder), "student": student or kept["student"]})
            made[-1] |= {"account": account, "given": os.path.abspath(path), "lab": results.LAB}
    return made


def others(found: Sequence[Found], examined: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Return what was found without what an examination's row stands for: its own folder, and the folder or the notebook of lab
    08 of the same student, which hold no marks."""
    places = [os.path.abspath(row["path"]) for row in examined]
    of = {row["student"] for row in examined}

    def stands_for(one: Found) -> bool:
        path = os.path.abspath(one.name)
        whole = any(path == place or path.startswith(place + os.sep) for place in places)
        return whole or (one.student in of and results.LAB in PurePath(path).with_suffix("").parts)

    return [one for one in found if not stands_for(one)]


def _is_examination(folder: Path) -> bool:
    try:
        return tickets.read(folder).sort == "examination"
    except CourseError:
        return True  # it was changed: it gets a row that says so
