"""Puts a server's children among themselves: in a PID and a network namespace others cannot be seen, signalled or called.

The process that asks stays outside and waits. What is started inside ends with the first process inside, at once and whatever
it did to detach itself: the kernel does it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

from dcplab.sandbox.walls import libc

_MOUNTS, _USER, _PID, _NET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
_PRIVATE, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS = 0x40000 | 0x4000, 2, 4, 8  # mount(2); private with all that lies below


def enter(keep: int, own_proc: bool = False) -> str:
    """Go on as the first process of new namespaces, if this system allows it. Returns "" if so, else the reason.

    ``keep``: a descriptor for inside; outside it is closed. ``own_proc``: with a /proc of the ids inside, where CUDA's driver
    looks itself up. Who owns the namespaces is root, or whoever may make a user namespace.
    """
    if reason := _refused(own_proc):
        return reason
    _leave(own_proc)
    inside = os.fork()
    if inside == 0:
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        if own_proc:
            _mount_proc()
        return ""
    os.close(keep)
    _, status = os.waitpid(inside, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def counted_apart() -> bool:
    """Return True in a user namespace that `enter` has made: there RLIMIT_NPROC counts what runs inside and nothing else of the
    user's. The kernel does not hold root to it."""
    with open("/proc/self/uid_map", encoding="ascii") as f:
        return f.read().split()[2:] == ["1"]


def _leave(own_proc: bool) -> None:
    user, group = os.geteuid(), os.getegid()
    flags = _PID | _NET | (_MOUNTS if own_proc else 0)
    try:
        libc.unshare(flags)
    except OSError:
        libc.unshare(_USER | flags)
        _map(user, group)


def _mount_proc() -> None:
    libc.mount(None, "/", None, _PRIVATE)
    libc.mount("proc", "/proc", "proc", _NO_SUID | _NO_DEVICES | _NO_PROGRAMS)


def _refused(own_proc: bool) -> str:
    """Try it in processes of their own: one that fails half-way has no user any more."""

    def errno_of(step: Callable[[], object]) -> int:
        tried = os.fork()
        if tried == 0:
            try:
                step()
                os._exit(0)
            except OSError as e:
                os._exit(min(e.errno or 1, 255))
            finally:
                os._exit(255)
        return os.waitstatus_to_exitcode(os.waitpid(tried, 0)[1])

    def leave_and_mount() -> None:
        _leave(True)
        os._exit(errno_of(_mount_proc))

    if number := errno_of(lambda: _leave(own_proc)):
        return f"unshare: {os.strerror(number)}"
    number = errno_of(leave_and_mount) if own_proc else 0
    return f"/proc: {os.strerror(number)}" if number else ""


def _map(user: int, group: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as f:
            f.write(text)
