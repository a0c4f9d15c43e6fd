"""Runs jobs in disposable children of a warm fork server, and reports how each ended.

The server is our own and not ``multiprocessing``'s. That one takes the environment of the first caller (``TRITON_INTERPRET``
would have to be set in the notebook itself), imports the caller's ``__main__`` in every child, and moves results as pickles.
Torch is imported here only when a job runs, so that a command can start the server first and import torch meanwhile.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import re
import secrets
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

from dcplab import files, paths, settings
from dcplab.errors import CourseError
from dcplab.sandbox.gpu_queue.client import turn
from dcplab.sandbox.walls import enclose
from dcplab.sandbox.watch import STUCK, Limits, ServerLost, Watch, hear, records

_SECRET = re.compile("TOKEN|SECRET|PASSW|CREDENTIAL|_KEY$|APIKEY", re.IGNORECASE)  # variables that no answer needs to read
# Whose a request is that starts a server (in a closed book) is nothing to those whose answers run there after it.
_OURS = {"TRITON_INTERPRET", "DCPLAB_SEED", "DCPLAB_STATE", "DCPLAB_LABS"}
QUIET_S = 2.0  # a start that takes no longer is not worth a line
START_S = 180.0  # enough for a first import of torch from a cold disk
FILES_BYTES = 512 << 20  # in all its files together
SPARE_S = 5  # beyond the limit, at which the watcher stops a child; the kernel's own limit is for a watcher without a processor
OPEN_FILES = {"cpu": 256, "compile": 256, "gpu": 4096}  # CUDA's driver opens many
THREADS = {"cpu": 256, "compile": 256, "gpu": 1024}  # of all its processes together
SIDE_BY_SIDE = 16  # children of a server may have so many threads together that each could reach its limit
MEMORY_BYTES = {"cpu": 2 << 30, "compile": 2 << 30, "gpu": 8 << 30}  # CUDA's libraries alone take one or two GiB


@dataclass
class Run:
    """The end of a job. ``status``: "done", "died" (``exit`` < 0: a signal), "timeout", "busy" (it hardly got a processor,
    which proves nothing about it), "memory", "threads", "files", "flood", or "broken" (forged)."""

    status: str = "done"
    exit: int | None = None
    records: list[dict[str, Any]] = field(default_factory=list)
    stdout: str = ""
    stderr: str = ""
    stuck: str = ""  # traceback of the place where it was when time ran out
    elapsed_s: float = 0.0


@dataclass(frozen=True)
class Rules:
    """A part's rules for its child: the driver to call in place of the entry, and modules that an answer may import.
    ``keeps``: no code of a learner's runs in the child, so what it compiles is kept for later children.
    ``hides``, ``compiles``: as in `Case`."""

    drive: Mapping[str, str] | None = None
    may_import: Sequence[str] = ()
    keeps: bool = False
    hides: Sequence[str] = ()
    compiles: bool = False


def run(
    programs: Sequence[Mapping[str, Any]],
    cases: Sequence[Mapping[str, Any]],
    mode: str,
    own_s: float,
    rules: Rules = Rules(),
    note: Callable[[str], None] | None = None,
) -> Run:
    """Run programs (source, entry, folder) on packed cases in one child. ``note`` is called if the server must start first.

    ``own_s``: their limit, as in `watch.Limits`. It begins when the child starts, after its turn on a GPU has come.
    """
    from dcplab import codec

    key = secrets.token_bytes(16)
    with files.scratch("answer") as folder:
        scratch = str(folder)
        limits = Limits(own_s, MEMORY_BYTES[mode], mode, THREADS[mode], FILES_BYTES, scratch)
        job = codec.encode(
            {
                "programs": list(programs),
                "cases": list(cases),
                "mode": mode,
                "key": key,
                "scratch": scratch,
                "drive": rules.drive,
                "may_import": list(rules.may_import),
                "keeps": rules.keeps,
                "kernels": str(paths.compiled_kernels()) if mode == "gpu" else "",
                "hides": list(rules.hides),
                "compiles": rules.compiles,
                "sandbox": settings.sandbox(),
                "forbidden": [str(p) for p in _forbidden()],
                "limits": {
                    "memory_bytes": limits.memory_bytes,
                    "file_bytes": FILES_BYTES,
                    "open_files": OPEN_FILES[mode],
                    "processes": SIDE_BY_SIDE * THREADS[mode],
                    "processor_s": math.ceil(own_s) + SPARE_S,
                },
            }
        )
        with turn(mode, note):
            if rules.compiles and mode == "cpu":  # what may start processes may signal others too, so it gets no neighbours
                return _run_alone(mode, None, job, key, limits)
            try:
                return _run(_server(mode, note), job, key, limits)
            except ServerLost:  # killed from outside, by this answer, or by a neighbour
                return _run_alone(mode, note, job, key, limits)


def warm(mode: str, wait: bool = False) -> None:
    """Start the server of a mode in the background, so that the first check finds it ready. ``wait``: return when it is."""
    _server(mode, None, wait=wait)


def shutdown() -> None:
    """End the servers, and all running jobs with them."""
    with _lock:
        for server in _servers.values():
            server.close()
        _servers.clear()


def lacks(mode: str) -> tuple[str, ...]:
    """Return the pieces of the walls that answers of this mode run without here, each in a few words."""
    missing = enclose.lacks(enclose.allowances(mode, settings.sandbox()))
    alone = _server(mode, None).alone
    return (*missing, *([f"namespaces ({alone})"] if alone else []))


def _run_alone(mode: str, note: Callable[[str], None] | None, job: bytes, key: bytes, limits: Limits) -> Run:
    """Run in a separate server, which no other answer can end. If this answer kills it, it hurts only itself."""
    server = _Server(mode)
    try:
        server.wait_ready(note)
        return _run(server, job, key, limits)
    except ServerLost:
        return Run(status="died")
    finally:
        server.close()


class _Server:
    def __init__(self, mode: str):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.pid = 0  # of the process that forks, once it is ready
        self.alone = ""  # why it has no namespaces of its own, if it has none
        self.log = tempfile.TemporaryFile()
        self.owner = os.getpid()
        self.sending = threading.Lock()
        with theirs:
            self.process = subprocess.Popen(
                [*_command(mode), str(theirs.fileno()), mode],
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
            self.control.settimeout(QUIET_S)
            try:
                said = self._first_word()
                if said is None:
                    if note:
                        note("Starting the checker (once a session, a few seconds) ...")
                    self.control.settimeout(START_S)
                    said = self._first_word()
            except OSError:
                said = b""
            if not said:
                self.process.kill()
                self.log.seek(0)
                tail = self.log.read().decode(errors="replace").strip().splitlines()
                raise CourseError(f"The checker did not start: {tail[-1] if tail else 'no answer from its process'}.")
            self.control.settimeout(None)
            self.alone = json.loads(said)["alone"]
            self.ready = True

    def _first_word(self) -> bytes | None:
        try:
            said, self.pid = hear(self.control)
            return said
        except TimeoutError:
            return None

    def start(self, fds: Sequence[int]) -> None:
        try:
            with self.sending:
                socket.send_fds(self.control, [b"run"], list(fds))
        except OSError as e:
            raise ServerLost from e

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
    env = {k: v for k, v in os.environ.items() if k not in _OURS and not _SECRET.search(k)}
    if mode == "gpu":
        # tilelang's import asks torch whether there is a GPU. Otherwise that starts CUDA, which no fork could use then.
        env["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    else:
        env["CUDA_VISIBLE_DEVICES"] = ""
    if mode == "cpu":
        env["TRITON_INTERPRET"] = "1"
    env["PYTHONPATH"] = paths.python_path()
    return env


def _forbidden() -> list[Path]:
    root = paths.root()
    return [paths.solutions(), root / "tests", root / ".git", paths.state_dir()]


def _run(server: _Server, job: bytes, key: bytes, limits: Limits) -> Run:
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
        link.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        try:
            server.start([job_fd, *theirs, their_link.fileno()])
        finally:
            their_link.close()
            for w in theirs:
                os.close(w)
        watch = Watch(link, ours, limits)
        watch.follow()
    run = Run(watch.status, watch.exit, elapsed_s=time.perf_counter() - started)
    run.stdout, run.stderr = watch.stdout.text(), watch.stderr.text()
    if run.status == "timeout":
        run.stderr, _, run.stuck = run.stderr.rpartition(STUCK)
        run.stderr = run.stderr if run.stuck else watch.stderr.text()
    run.records, broken = records(bytes(watch.result.data), key)
    if run.status == "done" and (broken or run.exit != 0):
        run.status = "broken" if broken else "timeout" if run.exit == -signal.SIGXCPU else "died"
    return run
