"""Puts a server's children among themselves: in a PID and a network namespace others cannot be seen, signalled or called.

The process that asks stays outside and waits. What is started inside ends with the first process inside, at once and whatever
it did to detach itself: the kernel does it.
"""

from __future__ import annotations

import os
import signal

from dcplab.sandbox.walls import libc

_USER, _PID, _NET = 0x10000000, 0x20000000, 0x40000000


def enter(keep: int) -> str:
    """Go on as the first process of new namespaces, if this system allows it. Returns "" if so, else the reason.

    ``keep``: a descriptor for inside; outside it is closed. Who owns them is root, or whoever may make a user namespace.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        libc.unshare(_PID | _NET)
    except OSError:
        if reason := _no_user_namespace():
            return reason
        libc.unshare(_USER | _PID | _NET)
        _map(user, group)
    inside = os.fork()
    if inside == 0:
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        return ""
    os.close(keep)
    _, status = os.waitpid(inside, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _no_user_namespace() -> str:
    """Try it in a process of its own: one that fails half-way has no user any more."""
    tried = os.fork()
    if tried == 0:
        try:
            user, group = os.geteuid(), os.getegid()
            libc.unshare(_USER | _PID | _NET)
            _map(user, group)
            os._exit(0)
        except OSError as e:
            os._exit(min(e.errno or 1, 255))
        finally:
            os._exit(255)
    _, status = os.waitpid(tried, 0)
    number = os.waitstatus_to_exitcode(status)
    return "" if number == 0 else f"unshare: {os.strerror(number)}"


def _map(user: int, group: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as f:
            f.write(text)
