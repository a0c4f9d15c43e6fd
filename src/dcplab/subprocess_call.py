"""Call a course function in a new Python process and return its result and output. A crash there does not end the notebook.

A CUDA context that meets an illegal access is lost for good, and with it every later CUDA call of its process (`ended.lost`). A
function that may do this runs here, never in a notebook's own process or in one that still has other work.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcplab import ended, paths, settings

# If the parent's thread ends, the system kills the process: PR_SET_PDEATHSIG (1), SIGKILL (9).
_WITH_PARENT = "import ctypes; ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)\n"
_CALLS = """
import importlib, json, os, sys
calls = os.fdopen(os.dup(0))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
for line in calls:
    asked = json.loads(line)
    module = importlib.import_module(asked["module"])
    value = eval("module." + asked["function"])(**asked["args"])
    sys.stdout.flush(), sys.stderr.flush()
    print("\\x1e" + json.dumps(value), flush=True)
"""
_MARK = b"\x1e"


def python(
    code: str,
    words: Sequence[str] = (),
    env: Mapping[str, str | None] | None = None,
    before: Sequence[str] = (),
    **popen: Any,
) -> subprocess.Popen[Any]:
    """Start a Python that finds this course, in a process group of its own, on ``code`` with the arguments ``words``.

    It is killed with the thread that starts it, which must outlive it. ``env`` and ``before``: see `PythonProcess`.
    """
    changed = {**os.environ, "PYTHONPATH": paths.python_path(), **(env or {})}
    return subprocess.Popen(
        [*before, sys.executable, "-c", _WITH_PARENT + code, *words],
        env={name: value for name, value in changed.items() if value is not None},
        start_new_session=True,
        **popen,
    )


class PythonProcess:
    """A Python beside this one, in its own process group. It makes calls until it dies or is closed.

    ``before`` goes before Python on the command line, for a tool such as a sanitizer. ``env`` changes the environment; None
    removes a variable. The thread that makes a worker must outlive it.
    """

    def __init__(self, env: Mapping[str, str | None] | None = None, before: Sequence[str] = ()):
        self._errors = tempfile.TemporaryFile()
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0)
        self.process = python(_CALLS, (), env, before, **pipes)
        assert self.process.stdin and self.process.stdout  # they were asked for
        self._stdin, self._stdout = self.process.stdin, self.process.stdout

    def call(
        self, module: str, function: str, args: Mapping | None = None, timeout_s: float = 240.0, last: bool = True
    ) -> dict:
        """Return the result of `call`. ``last``: the process ends with this call, so its last output and its end belong to the
        call."""
        began, start = time.monotonic(), os.fstat(self._errors.fileno()).st_size
        until = began + timeout_s
        line = json.dumps({"module": module, "function": function, "args": dict(args or {})})
        with contextlib.suppress(BrokenPipeError):  # it died before; its exit status gives the reason
            self._stdin.write(line.encode() + b"\n")
            if last:
                self._stdin.close()
        out, answered, late = self._read(until, last)
        if late:
            how, why = "timeout", f"stopped after {timeout_s:g} s"
            self.kill()
        elif answered and not last:
            how, why = "done", ""
        else:
            try:
                status = self.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:  # it closed its output and does not end
                self.kill()
                status = self.process.wait()
            how, why = None, None
        end = os.fstat(self._errors.fileno()).st_size
        errors = os.pread(self._errors.fileno(), 1 << 20, max(start, end - (1 << 20))).decode(errors="replace").strip()
        if how is None:
            how, why = _how(status, errors), ended.why(status, errors)
        said, _, rest = out.decode(errors="replace").partition(_MARK.decode())
        value, _, after = rest.partition("\n")
        return {
            "value": json.loads(value) if answered else None,
            "how": how,
            "why": why,
            "said": (said + after).strip(),
            "errors": errors,
            "seconds": time.monotonic() - began,
        }

    def _read(self, until: float, to_the_end: bool) -> tuple[bytes, bool, bool]:
        """Read its output up to its answer or its end. Returns the output, whether it answered, and whether time ran out
        first."""
        out, fd = b"", self._stdout.fileno()
        while True:
            answered = b"\n" in out.partition(_MARK)[2]
            if answered and not to_the_end:
                return out, True, False
            ready, _, _ = select.select([fd], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return out, answered, True
            chunk = os.read(fd, 1 << 16)
            if not chunk:
                return out, answered, False
            out += chunk

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """Kill the process and its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self, patience_s: float = 5.0) -> None:
        """Close its input and wait for its end; kill it after ``patience_s``."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
        self._stdout.close()
        self._errors.close()


def call(
    module: str,
    function: str,
    args: Mapping | None = None,
    env: Mapping[str, str | None] | None = None,
    before: Sequence[str] = (),
    timeout_s: float = 240.0,
) -> dict:
    """Run ``module.function(**args)`` in a new Python.

    Returns ``value`` (the result, as JSON has it; None if there is none), ``how`` it ended ("done", "timeout", or a signal's or
    an exception's name), ``why`` in a sentence ("" if done), ``said`` (its output), ``errors`` (its stderr) and ``seconds``.
    ``env`` and ``before``: see `PythonProcess`.
    """
    worker = PythonProcess(env, before)
    try:
        return worker.call(module, function, args, timeout_s)
    except BaseException:  # an interrupted cell must leave no process behind
        worker.kill()
        raise
    finally:
        worker.close()


def side_by_side(
    calls: Sequence[Mapping], width: int, fresh: bool = True, first_alone: bool = False, limit_s: float | None = None
) -> Iterator[tuple[int, dict]]:
    """Run `call` with each mapping of arguments, up to ``width`` at a time, begun in order. Yields (number, result of `call`)
    as each ends. If the caller leaves early, or after ``limit_s``, running calls are ended and give nothing.

    ``fresh``: a process for each call. Otherwise one process makes calls (all with one ``env``) until a call ends it.
    ``first_alone``: the others wait until one has ended well. It compiles what all need and leaves it in a cache on disk.
    """
    todo, done = iter(range(len(calls))), queue.SimpleQueue[Any]()
    workers: set[PythonProcess] = set()
    over, taking = threading.Event(), threading.Lock()

    def make_calls() -> None:
        worker = None
        try:
            while not over.is_set():
                with taking:
                    number = next(todo, None)
                if number is None:
                    break
                given = dict(calls[number])
                env, before = given.pop("env", None), given.pop("before", ())
                if worker is None:
                    worker = PythonProcess(env, before)
                    workers.add(worker)
                if over.is_set():  # no one else would end this worker
                    break
                result = worker.call(**given, last=fresh)
                if fresh or not worker.alive:
                    workers.discard(worker)
                    worker.close()
                    worker = None
                done.put((number, result))
        except BaseException as error:
            done.put((-1, error))
        finally:
            if worker:
                workers.discard(worker)
                worker.close(0 if over.is_set() else 5)

    threads: list[threading.Thread] = []

    def begin(count: int) -> None:
        while len(threads) < min(count, len(calls)):
            threads.append(threading.Thread(target=make_calls, daemon=True))
            threads[-1].start()

    until = None if limit_s is None else time.monotonic() + limit_s
    begin(1 if first_alone else width)
    try:
        for _ in range(len(calls)):
            try:
                number, result = done.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            except queue.Empty:
                return
            if isinstance(result, BaseException):
                raise result
            if result["how"] == "done":
                begin(width)
            yield number, result
    finally:
        over.set()
        for worker in list(workers):
            worker.kill()


def told(done: Mapping) -> str:
    """Word a missing result: what ended the process, and that nothing else is affected."""
    why = done["why"] or "it printed no result"
    return (
        f"The process ended before it could tell: {why}. It was one of its own and nothing else is touched: run the cell again."
    )


def while_grading() -> bool:
    """Return True if nbgrader runs the notebook. Demonstrations that take a minute and earn no points are skipped then."""
    return bool(settings.graded_by_nbgrader())


def _how(status: int, stderr: str) -> str:
    if status == 0:
        return "done"
    if status < 0:
        return signal.Signals(-status).name
    last = stderr.strip().split("\n")[-1]
    return last.partition(":")[0] if ":" in last or last.isidentifier() else f"exit status {status}"
