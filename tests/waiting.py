"""Waiting for what another thread or process does: until it is so, however busy the machine is."""

import contextlib
import time
from collections.abc import Callable
from typing import TypeVar

import psutil

Found = TypeVar("Found")


def until(condition: Callable[[], Found], patience_s: float = 120.0) -> Found:
    """Return what ``condition`` gives once that is true. The patience only ends a test that would hang."""
    end = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < end, f"it did not come in {patience_s:.0f} s"
        time.sleep(0.02)
    return found


def gone(pid: int) -> bool:
    """True if a process is no more, or a zombie."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    return True
