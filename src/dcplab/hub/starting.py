"""What a learner's server needs to start: a checkout of the course, a port, a turn. Nothing here blocks the hub.

JupyterHub asks the kernel for any free port and closes it again. The server listens there seconds later, a minute under load,
and until then any connection or kernel on the machine may get that port. So ports come from below those that the kernel gives
away.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import signal
import socket
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any

import psutil

CLONE_S = 300.0  # for a checkout, when thirty are made at one moment
PORTS = 2000  # how many ports a hub's servers may choose from
LISTENS = "0A"  # a socket's state in /proc/net/tcp
_CLONE = 'rm -rf "$1.new" && git clone --quiet "$0" "$1.new" && mv -T "$1.new" "$1"'


async def clone(book: Path, folder: Path, who: pwd.struct_passwd) -> str:
    """Make a learner's checkout of ``book``, as that learner, if it is not there: whole, or not at all. Returns what git said
    where there is none, else ""."""
    if folder.exists():
        return ""
    become: dict[str, Any] = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", _CLONE, str(book), str(folder)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=who.pw_dir,
        umask=0o077,
        start_new_session=True,
        env={"HOME": who.pw_dir, "PATH": "/usr/bin:/bin"},
        **become,
    )
    try:
        said, _ = await asyncio.wait_for(process.communicate(), CLONE_S)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)  # git, too
        await process.communicate()
        return f"no answer after {CLONE_S:g} s"
    return said.decode(errors="replace").strip() or "git failed" if process.returncode else ""


def free_port(first: int, taken: Collection[int]) -> int:
    """Return the first port from ``first`` on that nobody listens at, and that is not in ``taken``. Raises OSError."""
    for port in range(first, min(first + PORTS, 65536)):
        if port not in taken and _can_bind(port):
            return port
    raise OSError(f"no port from {first} on is free")


def _can_bind(port: int) -> bool:
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as tornado binds
        probe.bind(("127.0.0.1", port))
        return True
    return False


def listener(port: int) -> int | None:
    """Return the uid of who listens at a port of 127.0.0.1 or of all addresses; None if nobody does."""
    wanted = {f"0100007F:{port:04X}", f"00000000:{port:04X}"}
    with contextlib.suppress(OSError):
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, here, _, state, _, _, _, uid, *_ = line.split()
            if here in wanted and state == LISTENS:
                return int(uid)
    return None


def born(pid: int) -> float | None:
    """Return when the process began (seconds, as psutil tells it); None if there is none, or only its remains."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


@contextlib.asynccontextmanager
async def turn(of: asyncio.Semaphore, seconds: float) -> AsyncIterator[None]:
    """Hold one of the turns while the body runs, for at most ``seconds``: who takes longer goes on without."""
    await of.acquire()
    held = contextlib.ExitStack()
    held.callback(of.release)  # once, whoever closes it
    timer = asyncio.get_running_loop().call_later(seconds, held.close)
    try:
        yield
    finally:
        timer.cancel()
        held.close()
