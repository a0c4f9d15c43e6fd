"""Gives turns on a GPU that several people share: lock files that all users of a machine can open.

The lock is our own and not filelock's. filelock opens a lock with O_CREAT, which a sticky folder refuses for another user's
file, and it holds one file, but a turn is any one of several.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from dcplab import settings


@contextlib.contextmanager
def turn(mode: str, note: Callable[[str], None] | None, large: bool = False) -> Iterator[None]:
    """Wait for a turn on a GPU that a class may share. ``DCPLAB_GPU_TURNS`` children run at a time (1), whoever asks.

    The wall limit begins with the turn. ``large``: a server that takes much of a GPU's memory. Only one of these runs at a
    time, and checks do not wait for it.
    """
    if mode != "gpu":
        yield
        return
    handles = [_turn_file("large")] if large else [_turn_file(str(i)) for i in range(settings.gpu_turns())]
    try:
        if not any(_taken(handle) for handle in handles):
            if note:
                note(f"Another {'large server' if large else 'check'} has the GPU; waiting for a turn ...")
            fcntl.flock(handles[os.getpid() % len(handles)], fcntl.LOCK_EX)
        yield
    finally:
        for handle in handles:
            os.close(handle)


def _turn_file(name: str) -> int:
    devices = re.sub(r"\W+", "-", os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
    path = Path(tempfile.gettempdir()) / f"dcplab-gpu-{devices}-{name}.lock"
    try:
        return os.open(path, os.O_RDWR)  # another user's file in a sticky folder must be opened without O_CREAT
    except FileNotFoundError:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        with contextlib.suppress(OSError):
            os.chmod(path, 0o666)
        return handle


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
