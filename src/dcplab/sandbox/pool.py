"""Runs jobs in disposable children of a warm fork server, and says how each ended.

A server of our own, not ``multiprocessing``'s: that one takes the environment of the first caller (``TRITON_INTERPRET`` would
have to be set in the notebook itself), imports the caller's ``__main__`` in every child, and moves results as pickles.
Torch is not imported here before a job is run, so that a command can start the server first and import beside it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import secrets
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcplab import paths
from dcplab.errors import CourseError
from dcplab.sandbox.gpu_lock import turn

STUCK = "Stack (most recent call first)"  # how faulthandler begins
START_S = 180.0  # a first import of torch from a cold disk
OUTPUT_KEPT, OUTPUT_LIMIT = 1 << 16, 32 << 20
RESULT_LIMIT = 256 << 20
FILE_BYTES = 512 << 20
MEMORY_BYTES = {"cpu": 2 << 30, "compile": 2 << 30, "gpu": 8 << 30}  # CUDA's libraries alone take a gigabyte or two of a child


@dataclass
class Run:
    """How a job went. ``status``: "done", "died" (``exit`` < 0: a signal), "timeout", "memory", "flood", "broken" (forged)."""

    status: str = "done"
    exit: int | None = None
    records: list[dict[str, Any]] = field(default_factory=list)
    stdout: str = ""
    stderr: str = ""
    stuck: str = ""  # where it was when time ran out, as a traceback
    elapsed_s: float = 0.0


def run(
    programs: Sequence[Mapping[str, Any]],
    cases: Sequence[Mapping[str, Any]],
    mode: str,
    *,
    wall_s: float,
    drive: Mapping[str, str] | None = None,
    may_import: Sequence[str] = (),
    memory_bytes: int | None = None,
    note: Callable[[str], None] | None = None,
) -> Run:
    """Runs programs (source, entry, folder) on packed cases in one child. ``note`` is told if the server must start first."""
    from dcplab import codec

    memory_bytes = memory_bytes or MEMORY_BYTES[mode]
    key = secrets.token_bytes(16)
    scratch = tempfile.mkdtemp(prefix="dcplab-")
    try:
        job = codec.encode(
            {
                "programs": list(programs),
                "cases": list(cases),
                "mode": mode,
                "key": key,
                "scratch": scratch,
                "drive": drive,
                "may_import": list(may_import),
                "forbidden": [str(p) for p in _forbidden()],
                "limits": {"memory_bytes": memory_bytes, "file_bytes": FILE_BYTES},
            }
        )
        with turn(mode, note):
            try:
                return _run(_server(mode, note), job, key, wall_s, memory_bytes)
            except _ServerLost:  # killed from outside, by this answer, or by one that ran beside it
                return _run_alone(mode, note, job, key, wall_s, memory_bytes)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def warm(mode: str, wait: bool = False) -> None:
    """Starts the server of a mode in the background, so that the first check finds it ready; or waits until it is."""
    _server(mode, None, wait=wait)


def shutdown() -> None:
    """Ends the servers, and with them whatever runs."""
    with _lock:
        for server in _servers.values():
            server.close()
        _servers.clear()


class _ServerLost(Exception):
    pass


def _run_alone(mode: str, note: Callable[[str], None] | None, job: bytes, key: bytes, wall_s: float, memory_bytes: int) -> Run:
    """A second try in a server of its own, which no other answer can end: whoever killed the first pays for it alone."""
    server = _Server(mode)
    try:
        server.wait_ready(note)
        return _run(server, job, key, wall_s, memory_bytes)
    except _ServerLost:
        return Run(status="died")
    finally:
        server.close()


class _Server:
    def __init__(self, mode: str):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.log = tempfile.TemporaryFile()
        self.owner = os.getpid()
        self.sending = threading.Lock()
        with theirs:
            self.process = subprocess.Popen(
                [*_command(mode), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                env=_environment(mode),
                cwd="/",  # a notebook may lie in a folder that answers may not read, such as solutions/
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C and a kernel's interrupt are for the notebook
            )
        self.ready = False

    def alive(self) -> bool:
        return self.owner == os.getpid() and self.process.poll() is None

    def wait_ready(self, note: Callable[[str], None] | None) -> None:
        with self.sending:
            if self.ready:
                return
            self.control.settimeout(0.3)
            try:
                said = self._first_word()
                if said is None:
                    if note:
                        note("Starting the checker (once a session, a few seconds) ...")
                    self.control.settimeout(START_S)
                    said = self._first_word()
            except OSError:
                said = b""
            if said != b"ready":
                self.process.kill()
                self.log.seek(0)
                tail = self.log.read().decode(errors="replace").strip().splitlines()
                raise CourseError(f"The checker did not start: {tail[-1] if tail else 'no answer from its process'}.")
            self.control.settimeout(None)
            self.ready = True

    def _first_word(self) -> bytes | None:
        try:
            return self.control.recv(16)
        except TimeoutError:
            return None

    def start(self, fds: Sequence[int]) -> None:
        try:
            with self.sending:
                socket.send_fds(self.control, [b"run"], list(fds))
        except OSError as e:
            raise _ServerLost from e

    def close(self) -> None:
        self.control.close()
        if self.owner == os.getpid():
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()


_servers: dict[str, _Server] = {}
_lock = threading.Lock()
atexit.register(shutdown)


def _server(mode: str, note: Callable[[str], None] | None, wait: bool = True) -> _Server:
    with _lock:
        server = _servers.get(mode)
        if server is None or not server.alive():
            server = _servers[mode] = _Server(mode)
    if wait:
        server.wait_ready(note)
    return server


def _command(mode: str) -> list[str]:
    return [sys.executable, "-P", "-m", "dcplab.sandbox.server"]


def _environment(mode: str) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    if mode != "gpu":
        env["CUDA_VISIBLE_DEVICES"] = ""
    if mode == "cpu":
        env["TRITON_INTERPRET"] = "1"
    here = [str(Path(__file__).resolve().parents[2]), str(paths.root() / "kernels")]
    env["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*here, *filter(None, env.get("PYTHONPATH", "").split(os.pathsep))]))
    return env


def _forbidden() -> list[Path]:
    root = paths.root()
    return [paths.solutions(), root / "tests", root / ".git", paths.state_dir()]


def _run(server: _Server, job: bytes, key: bytes, wall_s: float, memory_bytes: int) -> Run:
    started = time.perf_counter()
    with contextlib.ExitStack() as stack:
        job_fd = os.memfd_create("job")
        stack.callback(os.close, job_fd)
        with open(job_fd, "wb", closefd=False) as f:
            f.write(job)
        ours, theirs = [], []
        for _ in range(3):
            r, w = os.pipe()
            os.set_blocking(r, False)
            stack.callback(os.close, r)
            ours.append(r)
            theirs.append(w)
        link, their_link = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stack.enter_context(link)
        try:
            server.start([job_fd, *theirs, their_link.fileno()])
        finally:
            their_link.close()
            for w in theirs:
                os.close(w)
        outcome = _watch(link, ours, started + wall_s, memory_bytes)
    result, stdout, stderr = outcome.pop("streams")
    run = Run(**outcome, elapsed_s=time.perf_counter() - started)
    run.stdout, run.stderr = stdout.text(), stderr.text()
    if run.status == "timeout":
        run.stderr, _, run.stuck = run.stderr.rpartition(STUCK)
        run.stderr = run.stderr if run.stuck else stderr.text()
    run.records, broken = _records(bytes(result.data), key)
    if run.status == "done" and (broken or run.exit != 0):
        run.status = "broken" if broken else "died"
    return run


class _Stream:
    def __init__(self, fd: int, kept: int, limit: int):
        self.fd, self.kept, self.limit = fd, kept, limit
        self.data, self.seen, self.open = bytearray(), 0, True

    def drain(self, once: bool = False) -> None:
        while self.open:
            try:
                chunk = os.read(self.fd, 1 << 18)
            except BlockingIOError:
                return
            if not chunk:
                self.open = False
            self.seen += len(chunk)
            self.data += chunk[: max(0, self.kept - len(self.data))]
            if once or self.seen > self.limit:
                return

    def text(self) -> str:
        cut = f"\n... {self.seen - len(self.data):,} more bytes" if self.seen > len(self.data) else ""
        return self.data.decode(errors="replace") + cut


def _watch(link: socket.socket, fds: Sequence[int], deadline: float, memory_bytes: int) -> dict[str, Any]:
    """Follows one child to its end. Raises _ServerLost if the server goes away."""
    limits = ((RESULT_LIMIT, RESULT_LIMIT), (OUTPUT_KEPT, OUTPUT_LIMIT), (OUTPUT_KEPT, OUTPUT_LIMIT))
    streams = [_Stream(fd, *limit) for fd, limit in zip(fds, limits, strict=True)]
    status, exit_code, pid = "done", None, None
    baseline: int | None = None

    def stop(why: str) -> None:
        nonlocal status, deadline
        if status == "done":
            status, deadline = why, time.perf_counter() + 5.0
            with contextlib.suppress(OSError):
                link.send(b"kill")

    with selectors.DefaultSelector() as selector:
        selector.register(link, selectors.EVENT_READ)
        for stream in streams:
            selector.register(stream.fd, selectors.EVENT_READ, stream)
        while exit_code is None:
            events = selector.select(max(0.0, min(0.05, deadline - time.perf_counter())))
            for event, _ in events:
                if event.fileobj is link:
                    try:
                        data = link.recv(256)
                    except OSError:
                        data = b""
                    if not data:
                        if pid is not None:
                            with contextlib.suppress(OSError):
                                os.killpg(pid, signal.SIGKILL)
                        raise _ServerLost
                    message = json.loads(data)
                    pid = message.get("pid", pid)
                    exit_code = message.get("exit")
                else:
                    event.data.drain(once=True)
                    if not event.data.open:
                        selector.unregister(event.fd)
                    if event.data.seen > event.data.limit:
                        stop("flood")
            if pid is not None and exit_code is None:
                memory = _resident(pid)
                baseline = memory if baseline is None else baseline
                if memory - baseline > memory_bytes:
                    stop("memory")
            if exit_code is None and time.perf_counter() >= deadline:
                if status != "done":  # it was told to stop and the server does not say that it did
                    raise _ServerLost
                if pid is not None:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGUSR1)  # faulthandler prints where it is stuck
                    _let_print(streams[2])
                stop("timeout")
    for stream in streams:
        stream.drain()
    return {"status": status, "exit": exit_code, "streams": streams}


def _let_print(stream: _Stream, patience_s: float = 3.0) -> None:
    """Waits until a stuck child has said where it is, or does not. On a busy machine that takes a while."""
    end = time.perf_counter() + patience_s
    while stream.open and time.perf_counter() < end:
        before = stream.seen
        time.sleep(0.03)
        stream.drain()
        if STUCK.encode() in stream.data and stream.seen == before:
            return


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _records(data: bytes, key: bytes) -> tuple[list[dict[str, Any]], bool]:
    """The records of a stream, and whether it holds anything else: an answer that wrote into the channel gets no credit."""
    from dcplab import codec

    records, at = [], 0
    while at < len(data):
        if data[at : at + 16] != key:
            return records, True
        length = int.from_bytes(data[at + 16 : at + 24], "little")
        body = data[at + 24 : at + 24 + length]
        if len(body) < length:
            return records, False  # cut off by its end; that is told by the exit status
        try:
            record = codec.decode(body)
        except codec.CodecError:
            return records, True
        if not isinstance(record, dict):
            return records, True
        records.append(record)
        at += 24 + length
    return records, False
