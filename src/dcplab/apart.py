"""A function of the course in a process of its own: what it prints comes back, and whatever ends it ends nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from dcplab import paths


def call(
    module: str,
    function: str,
    args: Mapping | None = None,
    env: Mapping[str, str | None] | None = None,
    before: Sequence[str] = (),
    timeout_s: float = 240.0,
) -> dict:
    """``module.function(**args)`` in a new Python. Gives ``value`` (what it returned, as JSON has it; None if it did not),
    ``how`` it ended ("done", "timeout", or a signal's or an exception's name), ``said`` (its output), ``errors`` (its stderr).

    ``before`` goes before Python on the command line, as a sanitizer does. ``env`` changes the environment; None takes a
    variable out.
    """
    code = (
        "import importlib, json, sys\n"
        f"value = importlib.import_module({module!r}).{function}(**json.loads(sys.argv[1]))\n"
        "sys.stdout.flush()\n"
        "print('\\x1e' + json.dumps(value), flush=True)\n"
    )
    path = os.pathsep.join([str(paths.root() / "src"), str(paths.root() / "kernels"), os.environ.get("PYTHONPATH", "")])
    changed = {**os.environ, "PYTHONPATH": path, **(env or {})}
    command = [*before, sys.executable, "-c", code, json.dumps(dict(args or {}))]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env={name: value for name, value in changed.items() if value is not None},
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return {"value": None, "how": "timeout", "said": "", "errors": f"stopped after {timeout_s:g} s"}
    said, _, value = done.stdout.partition("\x1e")
    line = value.strip().split("\n")[0] if value else ""
    return {
        "value": json.loads(line) if line else None,
        "how": _how(done.returncode, done.stderr),
        "said": (said + value.removeprefix(value.split("\n")[0] if value else "")).strip(),
        "errors": done.stderr.strip(),
    }


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
