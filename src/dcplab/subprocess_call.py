"""A function of the course in a process of its own, or many beside each other: what each prints and returns comes back, and
whatever ends it ends nothing else.

A CUDA context that meets an illegal access is lost for good, and with it every later CUDA call of its process (`ended.lost`).
So what may end so runs here, never in a notebook's own process or in one that still has other work to do.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from dcplab import ended, paths

# The end of whoever waits for it is its own: PR_SET_PDEATHSIG, SIGKILL.
_CODE = (
    "import ctypes, importlib, json, sys\n"
    "ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)\n"
    "value = importlib.import_module(sys.argv[1]).{function}(**json.loads(sys.argv[2]))\n"
    "sys.stdout.flush()\n"
    "print('\\x1e' + json.dumps(value), flush=True)\n"
)


def call(
    module: str,
    function: str,
    args: Mapping | None = None,
    env: Mapping[str, str | None] | None = None,
    before: Sequence[str] = (),
    timeout_s: float = 240.0,
    started: Callable[[subprocess.Popen], None] = lambda process: None,
) -> dict:
    """``module.function(**args)`` in a new Python. Gives ``value`` (what it returned, as JSON has it; None if it did not),
    ``how`` it ended ("done", "timeout", or a signal's or an exception's name) and ``why`` in a sentence ("" if done), ``said``
    (its output), ``errors`` (its stderr), ``seconds``.

    ``before`` goes before Python on the command line, as a sanitizer does. ``env`` changes the environment; None takes a
    variable out. ``started`` is given the process, whose group is its own.
    """
    path = os.pathsep.join([str(paths.root() / "src"), str(paths.root() / "kernels"), os.environ.get("PYTHONPATH", "")])
    changed = {**os.environ, "PYTHONPATH": path, **(env or {})}
    command = [*before, sys.executable, "-c", _CODE.format(function=function), module, json.dumps(dict(args or {}))]
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={name: value for name, value in changed.items() if value is not None},
        start_new_session=True,
    )
    try:
        started(process)
        out, errors = process.communicate(timeout=timeout_s)
        how, why = _how(process.returncode, errors), ended.why(process.returncode, errors)
    except subprocess.TimeoutExpired:
        kill(process)
        out, errors, how, why = "", "", "timeout", f"stopped after {timeout_s:g} s"
        with contextlib.suppress(subprocess.TimeoutExpired):  # what left its group may still hold the pipes
            out, errors = process.communicate(timeout=5)
    except BaseException:  # an interrupted cell leaves nothing behind
        kill(process)
        raise
    said, _, value = out.partition("\x1e")
    line = value.strip().split("\n")[0] if value else ""
    return {
        "value": json.loads(line) if line else None,
        "how": how,
        "why": why,
        "said": (said + value.removeprefix(value.split("\n")[0] if value else "")).strip(),
        "errors": errors.strip(),
        "seconds": time.monotonic() - began,
    }


def side_by_side(
    calls: Sequence[Mapping], width: int, first_alone: bool = False, limit_s: float | None = None
) -> Iterator[tuple[int, dict]]:
    """`call` with each mapping of arguments, up to ``width`` of them at a time, begun in order: (number, what `call` gives) as
    each ends. Where it is left early, or after ``limit_s``, those that run are ended and give nothing.

    ``first_alone``: the others wait until one has ended well; it compiles what all need and leaves it in a cache on disk.
    """
    running: set[subprocess.Popen] = set()
    over = threading.Event()
    until = None if limit_s is None else time.monotonic() + limit_s
    done: queue.Queue[tuple[int, dict | BaseException]] = queue.Queue()

    def one(number: int) -> None:
        mine: list[subprocess.Popen] = []

        def begun(process: subprocess.Popen) -> None:
            mine.append(process)
            running.add(process)
            if over.is_set():
                kill(process)

        try:
            done.put((number, call(**calls[number], started=begun)))
        except BaseException as error:
            done.put((number, error))
        finally:
            running.difference_update(mine)

    waiting, busy, room = list(range(len(calls)))[::-1], 0, 1 if first_alone else width
    try:
        while waiting or busy:
            while waiting and busy < room:
                threading.Thread(target=one, args=(waiting.pop(),), daemon=True).start()
                busy += 1
            try:
                number, result = done.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            except queue.Empty:
                return
            busy -= 1
            if isinstance(result, BaseException):
                raise result
            room = width if result["how"] == "done" else room
            yield number, result
    finally:
        over.set()
        for process in list(running):
            kill(process)


def kill(process: subprocess.Popen) -> None:
    """Ends a process of `call` and its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def told(done: Mapping) -> str:
    """What a page shows in place of a result that did not come: what ended the process, and that nothing else is touched."""
    return f"The process ended before it could tell: {done['why']}. It was a process of its own; run the cell again."


def while_grading() -> bool:
    """Whether nbgrader runs the notebook: what takes a minute and earns no points is left out then."""
    return os.environ.get("NBGRADER_EXECUTION") is not None


def _how(status: int, stderr: str) -> str:
    if status == 0:
        return "done"
    if status < 0:
        return signal.Signals(-status).name
    last = stderr.strip().split("\n")[-1]
    return last.partition(":")[0] if ":" in last else f"exit status {status}"
