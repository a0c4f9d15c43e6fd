"""Locates the course's files. One checkout is one course: all paths start at its root."""

from __future__ import annotations

import os
from pathlib import Path

from dcplab import settings
from dcplab.errors import CourseError

PACKAGES = ("dcplab", "dcp_kernels")  # the course's own code: it holds the oracles that judge an answer


def root() -> Path:
    """Return the checkout's root: the folder that holds ``labs`` and ``solutions``. ``DCPLAB_ROOT`` overrides it.

    Raises CourseError if there is none: a dcplab installed without a checkout has the engine and the commands, but no lab.
    """
    if given := settings.root():
        return given
    here = Path(__file__).resolve().parents[2]
    if not (here / "solutions").is_dir():
        raise CourseError("This dcplab is not in a checkout of the course; set DCPLAB_ROOT to one, or use ./course there.")
    return here


def labs() -> Path:
    return settings.labs() or root() / "labs"


def solutions() -> Path:
    return root() / "solutions"


def state_dir() -> Path:
    """Return the folder of progress, backups and logs: ``DCPLAB_STATE``, else ``.dcplab`` in the checkout, else the user's
    state folder.

    The user's state folder serves a checkout that the user may not write to.
    """
    if given := settings.state_dir():
        return given
    home = root() / ".dcplab"
    if os.access(home if home.exists() else root(), os.W_OK):
        return home
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "dcplab"


def compiled_kernels() -> Path:
    """Return the folder of kernels that the course's own programs have compiled for a GPU, for all checks of this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dcplab" / "kernels"


def python_path() -> str:
    """Return ``PYTHONPATH`` for a new Python that runs this course: this dcplab, its checkout's kernels, and the present
    value."""
    kernels = Path(__file__).resolve().parents[2] / "kernels"
    ours = [Path(__file__).resolve().parents[1], *([kernels] if kernels.is_dir() else [])]
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([*map(str, ours), *filter(None, before)]))
