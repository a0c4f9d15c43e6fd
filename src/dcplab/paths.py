"""Where things are. One checkout is one course: everything hangs off its root."""

from __future__ import annotations

import os
from pathlib import Path

from dcplab import settings
from dcplab.errors import CourseError

PACKAGES = ("dcplab", "dcp_kernels")  # the course's own code holds oracles and kernels: an answer is held against it


def root() -> Path:
    """The checkout's root: the folder that holds ``labs`` and ``solutions``. ``DCPLAB_ROOT`` overrides it.

    A CourseError where there is none: a dcplab that was installed by itself has the engine and the commands, but no lab.
    """
    if given := settings.root():
        return given
    here = Path(__file__).resolve().parents[2]
    if not (here / "solutions").is_dir():
        raise CourseError("This dcplab is not in a checkout of the course; set DCPLAB_ROOT to one, or use ./course there.")
    return here


def labs() -> Path:
    return root() / "labs"


def solutions() -> Path:
    return root() / "solutions"


def state_dir() -> Path:
    """Where progress, backups and logs are: ``DCPLAB_STATE``, else ``.dcplab`` in the checkout, else the user's state folder.

    The last is for a checkout that the user may not write to.
    """
    if given := settings.state_dir():
        return given
    home = root() / ".dcplab"
    if os.access(home if home.exists() else root(), os.W_OK):
        return home
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "dcplab"


def python_path() -> str:
    """``PYTHONPATH`` for a Python that is started to run this course: this dcplab, its checkout's kernels, what was there."""
    kernels = Path(__file__).resolve().parents[2] / "kernels"
    ours = [Path(__file__).resolve().parents[1], *([kernels] if kernels.is_dir() else [])]
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([*map(str, ours), *filter(None, before)]))
