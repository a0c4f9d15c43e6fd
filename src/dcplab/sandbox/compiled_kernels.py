"""Compiled kernels as a child finds them: its own folders, which end with it, and in them the course's, to read.

TileLang takes 20 s for the engine's kernels, so on a GPU they are compiled once for all children, in a folder that only the
course's own programs fill. An answer finds links to them among its own and cannot change what they lead to.
"""

from __future__ import annotations

import os
from pathlib import Path

_NAMES = ("TRITON_CACHE_DIR", "TILELANG_CACHE_DIR", "CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR")


def place(own: Path, course: str, keeps: bool) -> list[str]:
    """Set the folders of compiled kernels in this process's environment. Returns those that it may change beside ``own``, its
    folder for this run.

    ``course``: where the course's compiled kernels lie, or "" for none. ``keeps``: this process runs the course's own programs
    and fills it, or without one the user's own cache of Triton.
    """
    if keeps and not course:
        from triton import knobs

        os.makedirs(knobs.cache.dir, exist_ok=True)
        return [knobs.cache.dir]
    for name in _NAMES:
        folder = (Path(course) if keeps else own) / name.lower()
        folder.mkdir(parents=True, exist_ok=True)
        if course and not keeps:
            _link(Path(course) / name.lower(), folder)
        os.environ[name] = str(folder)
    return [course] if keeps else []


def _link(theirs: Path, own: Path) -> None:
    """Make the folders of ``theirs`` anew in ``own``, and link those that hold files: each is one kernel, or was to become one.
    A name with a point in front is unfinished work."""
    if not theirs.is_dir():
        return
    for entry in os.scandir(theirs):
        if not entry.is_dir() or entry.name.startswith("."):
            continue
        if any(inner.is_file() for inner in os.scandir(entry.path)):
            (own / entry.name).symlink_to(entry.path)
        else:
            (own / entry.name).mkdir()
            _link(Path(entry.path), own / entry.name)
