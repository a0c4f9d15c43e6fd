"""Finds what was handed in, and whose it is, in the layouts that people have: a folder a learner, an nbgrader tree, the homes
of a hub, what Moodle and Canvas give to download, zips of these. Reads names only; nothing of a notebook.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from dcplab.present.strangers import on_a_line

SKIPPED = {"__pycache__", "__MACOSX", "node_modules"}  # and whatever begins with a dot: checkpoints, backups, caches
DISGUISED = (".ipynb.txt", ".ipynb.json")  # what browsers and mail make of a notebook
LINK = "This is a link to another file, and no link below a folder is followed."
NOT_A_NAME = {"labs", "course", "source", "release", "submitted", "autograded"}  # folders that name no learner

_MOODLE = re.compile(r"(.+)_\d+_assignsubmission_\w+")  # Doe Jane_12345_assignsubmission_file_
_CANVAS = re.compile(r"([\w-]+?)(?:_LATE)?_\d+_\d+_.+")  # doejane_LATE_123_456_homework.ipynb

Who = Callable[[Sequence[str]], str | None]  # names, the likeliest first -> whom a roster has for one of them


class Found(NamedTuple):
    """A path to grade. ``path``: where it lies. ``shown``: what it is called, if that is another place, as within a zip.

    ``status``: known before it is read, one of those in `grade.read`. ``note``: a sentence for its row.
    """

    path: Path
    student: str | None = None
    account: str | None = None  # the student's name in the path, where a roster has another id
    shown: str = ""
    status: str = ""
    note: str = ""
    given: str = ""  # the path of the call below which it was found, absolute

    @property
    def name(self) -> str:
        return self.shown or str(self.path)


def nobody(names: Sequence[str]) -> None:
    """Know nobody: the roster of who has none."""
    return None


def packed(path: Path) -> Iterator[Found]:
    """Leave a zip packed."""
    yield Found(path)


def find(
    given: Sequence[Path], labs: Collection[str] = (), unpack: Callable[[Path], Iterable[Found]] = packed, who: Who = nobody
) -> list[Found]:
    """Return what the given paths stand for, in order, each once. A file is itself; a folder is every notebook below it.

    A path without any notebook stays in the list, so that it gets a row; so does a learner's folder, or one of a lab, without
    one. ``labs``: names of labs, which name no learner. ``unpack``: gives what a zip holds (`grade.zips`). ``who``: a roster.
    """
    found: dict[str, Found] = {}
    for path in given:
        for one in (list(_below(path, labs)) if path.is_dir() else []) or [path]:
            for each in unpack(one) if _is_zip(one) else [_as_it_lies(one, given=one == path)]:
                whole = one.is_dir() or (each.path == one and _is_zip(one))  # the row of a folder itself, or of a zip
                student, account = student_of(PurePath(each.name, "x" if whole else ""), path, labs, who)
                found.setdefault(
                    os.path.abspath(each.name), each._replace(student=student, account=account, given=os.path.abspath(path))
                )
    return list(found.values())


def _as_it_lies(path: Path, given: bool) -> Found:
    if path.is_symlink() and not given:  # it may point to another's notebook; one that was given is meant
        return Found(path, status="not_a_notebook", note=LINK)
    if path.is_dir():
        held = sorted(name for name in os.listdir(path) if not name.startswith("."))[:3]
        holds = f"no notebook, but {', '.join(map(on_a_line, held))}" if held else "nothing"
        return Found(path, status="no_notebooks", note=f"This folder holds {holds}.")
    disguised = path.name.lower().endswith(DISGUISED)
    return Found(path, note="Its name is not a notebook's; it was taken for one." if disguised else "")


def student_of(path: PurePath, given: Path, labs: Collection[str] = (), who: Who = nobody) -> tuple[str | None, str | None]:
    """Return the student's id, the roster's if they are on it, and their account: the name in the path.

    The folders above ``given`` are the grader's own, those below it may be a student's. So the outermost name below counts, and
    nobody hands in as another by folders, zips or names within their own. Before it counts the name of ``given``, if a roster
    or a course system's form knows it: then it is one student's folder.
    """
    parts, own = Path(os.path.abspath(path)).parts, len(Path(os.path.abspath(given)).parts)
    account, last = _of_tree(parts, own), parts[own - 1]
    if account is None:
        formed = _MOODLE.fullmatch(last) or (_CANVAS.fullmatch(last) if is_notebook(last) else None)
        account = formed[1] if formed else last if who([last]) else None
    if account is None and len(parts) > own:
        account = _name(parts[own], labs, folder=len(parts) > own + 1)
    return (who([account]) or account if account else None), account


def _name(part: str, labs: Collection[str], folder: bool) -> str | None:
    """Return whom one name in a path stands for: a folder's, or that of a file or a zip as Canvas names it."""
    bare = part.removesuffix(".zip")
    handed_in = not folder or bare != part  # a file, or a zip: a folder may be called `ann_2026_11_30`
    if formed := _MOODLE.fullmatch(bare) or (_CANVAS.fullmatch(bare) if handed_in else None):
        return formed[1]
    return bare if folder and bare not in NOT_A_NAME and bare not in labs else None


def _of_tree(parts: Sequence[str], own: int) -> str | None:
    """Return the student of an nbgrader tree that ``given`` is, lies in, or holds at its top."""
    for tree in ("submitted", "autograded"):
        places = [i for i, name in enumerate(parts[:-3]) if name == tree and i <= own]
        if places:
            return parts[places[-1] + 1]
    return None


def is_notebook(name: str) -> bool:
    return name.lower().endswith((".ipynb", *DISGUISED))


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip" and path.is_file() and not path.is_symlink()


def _below(folder: Path, labs: Collection[str]) -> Iterator[Path]:
    """Yield notebooks and zips below a folder, and those folders in it that should hold one and do not."""
    for here, folders, files in os.walk(folder):
        place = Path(here)
        if (place / "solutions").is_dir() and (place / "labs").is_dir():  # a checkout of the course, or what is left of one
            folders[:], files = ["labs"], []
        folders[:] = _looked_at(folders)
        kept = [name for name in sorted(files) if not name.startswith("._")]
        flat = not place.relative_to(folder).parts  # a course system's download without folders: each file is a hand-in
        yield from (
            place / name
            for name in kept
            if is_notebook(name) or name.lower().endswith(".zip") or (flat and _CANVAS.fullmatch(name))
        )
        # A folder named like a notebook is a mistake; it gets a row too.
        yield from (place / name for name in folders if is_notebook(name))
        depth = len(place.relative_to(folder).parts)
        expected = (place.name in labs and depth > 0) or (depth == 1 and place.name not in NOT_A_NAME)
        if expected and not _holds_any(place):
            yield place


def _holds_any(folder: Path) -> bool:
    """Return True if something below a folder is taken for a hand-in: a checkpoint's copy, or what a Mac adds, is not."""
    for _, folders, files in os.walk(folder):
        folders[:] = _looked_at(folders)
        names = (*(name for name in files if not name.startswith("._")), *folders)
        if any(is_notebook(name) or name.lower().endswith(".zip") for name in names):
            return True
    return False


def _looked_at(folders: Iterable[str]) -> list[str]:
    return sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
