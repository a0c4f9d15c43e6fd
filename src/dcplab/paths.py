"""Where things are. One checkout is one course: everything hangs off its root."""

from __future__ import annotations

import os
from pathlib import Path


def root() -> Path:
    """The checkout's root: the folder that holds ``labs`` and ``solutions``. ``DCPLAB_ROOT`` overrides it."""
    if given := os.environ.get("DCPLAB_ROOT"):
        return Path(given).resolve()
    return Path(__file__).resolve().parents[2]


def labs() -> Path:
    return root() / "labs"


def solutions() -> Path:
    return root() / "solutions"


def state_dir() -> Path:
    """Where progress, backups and logs are: ``DCPLAB_STATE``, else ``.dcplab`` in the checkout, else the user's state folder.

    The last is for a checkout that the user may not write to.
    """
    if given := os.environ.get("DCPLAB_STATE"):
        return Path(given)
    home = root() / ".dcplab"
    if os.access(home if home.exists() else root(), os.W_OK):
        return home
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "dcplab"
