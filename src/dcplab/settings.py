"""Reads the course's settings from the environment, in one place and at each use. docs/install.md lists the names.

``./course`` reads two more (``DCPLAB_PYTHON``, ``DCPLAB_INSTALLER``), and a hub its own, before there is a Python to ask.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from dcplab.errors import CourseError


def root() -> Path | None:
    """Return the checkout asked for (``DCPLAB_ROOT``), or None."""
    given = os.environ.get("DCPLAB_ROOT")
    if given and not Path(given).is_dir():
        raise CourseError(f"DCPLAB_ROOT names {given}, which is no folder.")
    return Path(given).resolve() if given else None


def state_dir() -> Path | None:
    """Return the folder asked for, for progress, backups and logs (``DCPLAB_STATE``), or None."""
    given = os.environ.get("DCPLAB_STATE")
    return Path(given) if given else None


def labs() -> Path | None:
    """Return the folder that stands for ``labs/`` (``DCPLAB_LABS``: what a learner sent to the grading service), or None."""
    given = os.environ.get("DCPLAB_LABS")
    return Path(given) if given else None


def cases() -> Path | None:
    """Return the folder for the cases of lab 08 (``DCPLAB_CASES``: a solved notebook's, which are nobody's), or None."""
    given = os.environ.get("DCPLAB_CASES")
    return Path(given) if given else None


def mode() -> str:
    """Return "cpu" or "gpu" if asked for (``DCPLAB_MODE``), else ""."""
    asked = os.environ.get("DCPLAB_MODE", "").lower()
    if asked not in ("", "cpu", "gpu"):
        raise CourseError(f"DCPLAB_MODE is {asked!r}; it must be 'cpu' or 'gpu'.")
    return asked


def gpu_turns() -> int:
    """Return the number of answers that may be on a GPU at a time, whoever checks (``DCPLAB_GPU_TURNS``)."""
    asked = os.environ.get("DCPLAB_GPU_TURNS", "1")
    if not asked.isdecimal() or int(asked) < 1:
        raise CourseError(f"DCPLAB_GPU_TURNS is {asked!r}; it must be a whole number from 1 on.")
    return int(asked)


def gpu_queue() -> Path | None:
    """Return the socket of a class's queue for the GPU (``DCPLAB_GPU_QUEUE``), or None."""
    given = os.environ.get("DCPLAB_GPU_QUEUE")
    return Path(given) if given else None


def note() -> str:
    """Return what a hub tells this learner now (the file ``DCPLAB_NOTE``), or ""."""
    with contextlib.suppress(OSError, KeyError):
        return Path(os.environ["DCPLAB_NOTE"]).read_text(encoding="utf-8").strip()
    return ""


def debug() -> bool:
    """Return True if an unexpected error shows its traceback (``DCPLAB_DEBUG=1``)."""
    return os.environ.get("DCPLAB_DEBUG") == "1"


def graded_by_nbgrader() -> str:
    """Return nbgrader's purpose in running the notebook ("autograde", "validate"), or "" outside nbgrader. nbgrader sets the
    variable."""
    return os.environ.get("NBGRADER_EXECUTION", "")


def own_seed() -> int | None:
    """Return the seed of the learner's own cases in labs 01 and 05, if an instructor gave them one (``DCPLAB_SEED``)."""
    asked = os.environ.get("DCPLAB_SEED", "")
    if asked and not asked.isdecimal():
        raise CourseError(f"DCPLAB_SEED is {asked!r}; it must be a whole number.")
    return int(asked) if asked else None


def seeds_of_learners() -> tuple[Path | None, Path | None]:
    """Return the table of learners' seeds and the file with the key that makes them, for `nbgrader autograde`
    (``DCPLAB_SEEDS``, ``DCPLAB_SEED_KEY``). `grade` has options."""
    table, key = os.environ.get("DCPLAB_SEEDS"), os.environ.get("DCPLAB_SEED_KEY")
    return Path(table) if table else None, Path(key) if key else None


def sandbox() -> str:
    """Return what a diagnosis changes in the walls around an answer (``DCPLAB_SANDBOX``: `sandbox.walls.allowances`), or ""."""
    return os.environ.get("DCPLAB_SANDBOX", "")
