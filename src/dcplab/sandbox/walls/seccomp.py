"""Refuses system calls to this process and its descendants: a filter of the kernel's, by prctl. No root is needed."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import socket
import struct
from collections.abc import Iterable

from dcplab.sandbox.walls import libc
from dcplab.sandbox.walls.allowances import ABSENT, LOCAL, OTHERS, PROCESSES, REFUSED, SIGNALS
from dcplab.sandbox.walls.numbers import AUDIT_ARCH, NUMBERS

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ERROR, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24  # where they stand in what a filter reads; of arguments the low half
_ME = 0xFFFFFFFE
_CLONE_THREAD, _X32 = 0x10000, 0x40000000


def possible() -> bool:
    """Return True if this kernel filters, and this machine's numbers are known."""
    return AUDIT_ARCH is not None and os.path.exists("/proc/sys/kernel/seccomp")


def enter(processes: bool, calls: Iterable[str] = ()) -> None:
    """Refuse, for good. ``processes``: programs may be started. ``calls``: of `REFUSED`, what stays open.

    A call that tells of another process by its id is refused but for this process (0, or its own id).
    """
    code = program(processes, tuple(calls)).replace(_line(_EQUAL, _ME, yes=1), _line(_EQUAL, os.getpid(), yes=1))
    lines = ctypes.create_string_buffer(code, len(code))
    given = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(lines))
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.create_string_buffer(given, len(given)))


@functools.cache
def program(processes: bool, calls: tuple[str, ...]) -> bytes:
    """Return the filter, with ``_ME`` where a process's own id belongs."""
    lines: list[bytes] = []

    def line(code: int, value: int, yes: int = 0, no: int = 0) -> None:
        lines.append(_line(code, value, yes, no))

    line(_LOAD, _ARCH)
    line(_EQUAL, AUDIT_ARCH or 0, yes=1)
    line(_RETURN, _KILL)
    line(_LOAD, _NUMBER)
    line(_AT_LEAST, _X32, no=1)
    line(_RETURN, _ERROR | errno.ENOSYS)
    line(_EQUAL, NUMBERS["clone3"], no=1)  # its flags lie in memory, which a filter cannot read; libc then takes clone
    line(_RETURN, _ERROR | errno.ENOSYS)
    refused = [name for name in REFUSED if name not in calls] + ([] if processes else list(PROCESSES))
    absent = {NUMBERS[name] for name in ABSENT}
    for number in sorted({NUMBERS[name] for name in refused} - {-1}):
        line(_EQUAL, number, no=1)
        line(_RETURN, _ERROR | (errno.ENOENT if number in absent else errno.EPERM))
    for name in (name for name in LOCAL if name in calls):
        line(_EQUAL, NUMBERS[name], no=4)
        line(_LOAD, _FIRST)
        line(_EQUAL, socket.AF_UNIX, yes=1)
        line(_RETURN, _ERROR | errno.EPERM)
        line(_RETURN, _ALLOW)
    others = {name: where for name, where in OTHERS.items() if name not in calls and not (processes and name in SIGNALS)}
    for name, argument in others.items():
        line(_EQUAL, NUMBERS[name], no=5)
        line(_LOAD, (_FIRST, _SECOND)[argument])
        line(_EQUAL, 0, yes=2)
        line(_EQUAL, _ME, yes=1)
        line(_RETURN, _ERROR | errno.EPERM)
        line(_RETURN, _ALLOW)
    if not processes:
        line(_EQUAL, NUMBERS["clone"], no=3)
        line(_LOAD, _FIRST)
        line(_ANY_BIT, _CLONE_THREAD, yes=1)
        line(_RETURN, _ERROR | errno.EPERM)
    line(_RETURN, _ALLOW)
    return b"".join(lines)


def _line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
