"""Waits for a turn on a GPU, in the queue that a daemon keeps: a class's, or one of this user's own, started when needed."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dcplab import paths, settings
from dcplab.sandbox.gpu_queue.daemon import BEAT_S, peer

CLASS = Path("/run/dcplab/gpu-queue.sock")  # root's, or of whom root has given the folder to
SILENT_S = 6 * BEAT_S  # a daemon that says nothing for so long is stopped, or gone
IDLE_S = 60.0  # after which a queue of one's own ends
RETRY_S = 6.0  # for which one waits for a daemon that is being restarted
GIVEN_UP_S = 300.0  # for which nobody of this process waits again for one that did not come back

Note = Callable[[str], None]


_given_up: dict[str, float] = {}  # a class's socket without a daemon -> when to look again


class _Lost(Exception):
    """The daemon does not answer."""


@contextlib.contextmanager
def turn(mode: str, note: Note | None = None, large: bool = False, what: str = "") -> Iterator[None]:
    """Wait for a turn on a GPU that a class may share; on a CPU there is nothing to wait for.

    As many have one at a time as the queue's keeper says (``DCPLAB_GPU_TURNS`` for a queue of one's own, 1), in the order of
    their coming. ``note`` is told who has it and how many are before. An interrupt leaves the queue. ``what`` is shown to the
    others. ``large``: a server that takes much of a GPU's memory: one at a time, and checks do not wait for it.
    """
    turns = settings.gpu_turns()
    if mode != "gpu":
        yield
        return
    ask = {"ask": "turn", "id": secrets.token_hex(8), "large": large, "what": what, "turns": turns}
    ask["devices"] = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
    connection = _wait(ask, note)
    try:
        yield
    finally:
        _give_back(connection, str(ask["id"]))


def status(path: Path | None = None) -> dict[str, Any] | None:
    """Return who holds a turn and who waits, in the class's queue (at ``path``) or one's own; None if nobody keeps one."""
    try:
        with contextlib.closing(_connect(start=False, at=path)) as connection:
            _say(connection, {"ask": "status"})
            return next(_lines(connection))
    except (_Lost, StopIteration):
        return None


def _wait(ask: dict[str, Any], note: Note | None) -> socket.socket | None:
    """Return the connection that holds the turn. None, said once, if no daemon can be reached: a check is not lost for that."""
    said, until, place = "", time.monotonic() + RETRY_S, str(_of_class())
    while _given_up.get(place, 0.0) < time.monotonic():
        connection = None
        try:
            connection = _connect()
            _say(connection, ask)
            for told in _lines(connection):
                if told.get("go"):
                    return connection
                until = time.monotonic() + RETRY_S
                text = _words(told, bool(ask["large"]))
                if note and text.split(" (")[0] != said.split(" (")[0]:
                    note(text)
                said = text
            raise _Lost
        except _Lost:
            if connection:
                connection.close()
            if time.monotonic() > until:
                _given_up[place] = time.monotonic() + GIVEN_UP_S
            time.sleep(0.2)
        except BaseException:
            if connection:
                connection.close()
            raise
    if note:
        note("The queue for the GPU does not answer; going on without a turn.")
    return None


def _words(told: dict[str, Any], large: bool) -> str:
    before, thing = int(told.get("before", 0)), "large server" if large else "check"
    holders = ", ".join(
        f"{h['user']}'s{' ' + h['what'] if h['what'] else ''} ({h['seconds']} s)" for h in told.get("holders", ())
    )
    first = "You are next" if not before else f"{before} {'is' if before == 1 else 'are'} before you"
    return f"Another {thing} has the GPU; waiting for a turn ... {first}. Now: {holders or 'nobody'}."


def _give_back(connection: socket.socket | None, ticket: str) -> None:
    if connection is None:
        return
    connection.setblocking(False)
    try:
        lost = connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        lost = False
    except OSError:
        lost = True
    connection.close()  # gives the turn back, unless the daemon was restarted meanwhile
    if lost:
        with contextlib.suppress(_Lost), contextlib.closing(_connect(start=False)) as again:
            _say(again, {"ask": "done", "id": ticket})


def _connect(start: bool = True, at: Path | None = None) -> socket.socket:
    """Connect to the class's queue; without one, to this user's own, which is started. Raises _Lost."""
    given = at or _of_class()
    path = given or _own_folder() / "gpu-queue.sock"
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(SILENT_S)
    for _ in range(100):
        try:
            connection.connect(str(path))
        except OSError as error:
            if given or not start:
                connection.close()
                raise _Lost from error
            _start(path)
            time.sleep(0.1)
        else:
            if given is None and peer(connection)[1] != os.getuid():
                break
            return connection
    connection.close()
    raise _Lost


def _of_class() -> Path | None:
    return settings.gpu_queue() or (CLASS if CLASS.exists() else None)


def _own_folder() -> Path:
    """Return a folder that nobody else can write to. Raises _Lost where there is none: somebody has taken its name."""
    folder = Path(tempfile.gettempdir()) / f"dcplab-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise _Lost
    return folder


def _start(path: Path) -> None:
    """Start a queue of one's own, once: a second daemon at the same place ends by itself."""
    words = ["--socket", str(path), "--turns", str(settings.gpu_turns()), "--idle", str(IDLE_S)]
    env = {**os.environ, "PYTHONPATH": paths.python_path()}
    null = subprocess.DEVNULL
    command = [sys.executable, "-m", "dcplab.sandbox.gpu_queue", *words]
    subprocess.Popen(command, env=env, cwd="/", start_new_session=True, stdin=null, stdout=null, stderr=null)


def _say(connection: socket.socket, what: dict[str, Any]) -> None:
    try:
        connection.sendall(json.dumps(what).encode() + b"\n")
    except OSError as error:
        raise _Lost from error


def _lines(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """Yield what the daemon says. Raises _Lost after a long silence, and where it says nonsense."""
    kept = b""
    while True:
        ready, _, _ = select.select([connection], [], [], SILENT_S)
        if not ready:
            raise _Lost
        try:
            piece = connection.recv(1 << 16)
        except OSError as error:
            raise _Lost from error
        if not piece or len(kept) > 1 << 20:
            raise _Lost
        *whole, kept = (kept + piece).split(b"\n")
        for line in whole:
            try:
                told = json.loads(line)
            except ValueError as error:
                raise _Lost from error
            if isinstance(told, dict):
                yield told
