"""Holds each learner to a share of the disk that their home lies on, where its file system counts files by user (quotas).

Units: bytes. The limits are the kernel's, set by `setquota` of Debian's package quota. Everything of the user on that file
system counts, /tmp too if it lies there.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from dcplab.errors import CourseError

BLOCK = 1024  # bytes, in which setquota counts


def counted(home: Path) -> bool:
    """Return True if the file system of a home counts files by user."""
    if shutil.which("quotaon") is None:
        return False
    done = subprocess.run(["quotaon", "--print-state", "--user", mount_of(home)], capture_output=True, text=True)
    return "is on" in done.stdout


def hold(user: str, home: Path, limit: int) -> None:
    """Let a user have ``limit`` bytes on the file system of their home; 0: as many as there are. Raises CourseError."""
    words = ["setquota", "-u", user, "0", str(limit // BLOCK), "0", "0", str(mount_of(home))]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise CourseError(f"{user} could not be held to {limit >> 20} MiB: {done.stderr.strip() or done.returncode}")


def mount_of(path: Path) -> Path:
    """Return the mount point that a path lies below."""
    path = path.resolve()
    return next(folder for folder in (path, *path.parents) if folder.is_mount())
