"""Calls the kernel by number: what Python has no function for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38


def call(number: int, *args: Any) -> int:
    """Make a system call. Ints are passed as 64 bits. Raises OSError."""
    done = _libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    return _checked(done)


def prctl(option: int, *args: Any) -> int:
    """Call prctl(2). Raises OSError."""
    given = [*args, *[0] * (4 - len(args))]
    return _checked(_libc.prctl(option, *(ctypes.c_ulong(a) if isinstance(a, int) else a for a in given)))


def unshare(flags: int) -> None:
    """Leave namespaces for new ones. Raises OSError."""
    _checked(_libc.unshare(flags))


def mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    """Mount a file system, or change how ``target`` is mounted (``kind`` None). Raises OSError."""
    given = (None if text is None else text.encode() for text in (source, target, kind))
    _checked(_libc.mount(*given, ctypes.c_ulong(flags), None))


def madvise(address: int, size: int, advice: int) -> None:
    """Tell the kernel what to do with a piece of this process's memory, in bytes. Raises OSError."""
    _checked(_libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), advice))


def _checked(done: int) -> int:
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return done
