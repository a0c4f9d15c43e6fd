"""Reads files of a folder that a stranger has handed in: plain files of a sensible size, never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES, MOST_FILES, DEPTH = 400_000, 200, 4


def text(path: Path) -> str | None:
    """Return a file's text; None if there is no plain file of at most `MOST_BYTES` with UTF-8 in it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = file.read(MOST_BYTES + 1)
        return data.decode("utf-8") if len(data) <= MOST_BYTES else None
    except (OSError, ValueError):  # a pipe, a link, no UTF-8; a name with a NUL
        return None


def sources(folder: Path) -> dict[str, str]:
    """Return the Python files below a folder: path there -> text. What cannot be read is left out."""
    found: dict[str, str] = {}
    for path in _python(folder, DEPTH):
        if len(found) >= MOST_FILES:
            break
        if (source := text(path)) is not None:
            found[path.relative_to(folder).as_posix()] = source
    return found


def _python(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries[: 10 * MOST_FILES]:
        if entry.is_dir(follow_symlinks=False) and depth:
            yield from _python(Path(entry.path), depth - 1)
        elif entry.name.endswith(".py") and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
