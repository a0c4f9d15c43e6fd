"""The calls of a learner's notebook in a closed book: ``from dcplab import lab``. The grading service checks, draws and counts.

Sent along are the cells that this kernel has run, and the notebook's own: what was judged is what a check on one's own would.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any

from dcplab import front_end
from dcplab.errors import CourseError, without_traceback
from dcplab.notebook import file

from . import remote

LABS = Path(__file__).resolve().parents[2] / "labs"


def start(lab: str) -> Any:
    """Open a lab. Shows the mode and your progress."""
    if shell := _shell():
        with contextlib.suppress(ValueError):
            shell.events.unregister("post_run_cell", front_end.note_the_cell)
        shell.events.register("post_run_cell", front_end.note_the_cell)
    return _ask("start", lab)


def check(part: str, seed: int | None = None) -> Any:
    """Check your answer to a part. The result shows the seed that drew its inputs."""
    saved = front_end.save(_notebook(part))
    saved()
    return _ask("check", part, seed=seed, about=part)


def explain(part: str, seed: int | None = None) -> Any:
    """Show every case with its outcome, the traceback, and your answer's output."""
    return _ask("explain", part, seed=seed, about=part)


def hint(part: str, tier: int | None = None) -> Any:
    """Show the next hint of a part, if your instructor has opened it."""
    return _ask("hint", part, tier=tier)


def mine(*parts: str) -> Any:
    """Say why lab 05 runs on the course's own functions here."""
    return _ask("mine", *parts)


def reset(part: str) -> Any:
    """Put a part's starter back ("1c")."""
    if not re.fullmatch(r"\s*\d+[a-zA-Z]\s*", part):
        raise CourseError(f"In a closed book a part is reset, such as 1c, and not {part!r}.")
    of, told = _told("reset", (part,), {}, part)
    starter = told.pop("next_input", None)
    shell = _shell()
    if starter and front_end.here():
        front_end.fill(f"answer-{part.strip().lower()}", part.strip().lower(), starter)
    elif starter and shell:
        shell.set_next_input(starter)
    return remote.result(of, told)


def progress() -> Any:
    """Show the board: every part of every lab, with points, attempts and hints."""
    return _ask("progress")


def predict(part: str, answer: str | None = None) -> Any:
    """Ask the part's question before you run anything. Shows a form, or takes ``answer`` at once."""
    from dcplab.viz.core import form

    if answer is not None or not form.widgets_here():
        return _ask("predict", part, answer)
    of, told = _told("predict", (part, None), {}, None)
    about = told.get("prediction")
    if about is None:
        return remote.result(of, told)
    commit = lambda said: _ask("predict", part, said).text  # noqa: E731
    return form.form(about["part"], about["question"], about["choices"], about["before"], commit, told["shown"]["text/plain"])


def recall(lab: str, seed: int | None = None) -> Any:
    """Ask five questions on what came before a lab ("02"). Nothing is graded or kept."""
    return _ask("recall", lab, seed=seed)


def run(part: str, *args: Any, function: str = "", **kwargs: Any) -> Any:
    """Run your present answer to a part on your own arguments, at the service. Returns its result and prints its output."""
    return _ask("run", part, *args, function=function, about=part, **kwargs)


def _ask(name: str, *args: Any, about: str | None = None, **kwargs: Any) -> Any:
    of, told = _told(name, args, kwargs, about)
    return remote.result(of, told)


def _told(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], about: str | None) -> tuple[Any, remote.Told]:
    given = {key: remote.sent(one) for key, one in kwargs.items() if one is not None}
    of = ("call", ("name", f"lab.{name}"), [remote.sent(one) for one in args], given)
    return of, remote.ask({"of": of, **_cells(about, name)})


def _cells(about: str | None, name: str) -> dict[str, Any]:
    """Return what a request says of this notebook: the runs of its kernel, and its saved cells."""
    shell = _shell()
    history = {"history": shell.history_manager.input_hist_raw[1:], "runs": dict(front_end.ran)} if shell else {}
    if about is None:
        return history if name == "reset" else {}
    path = _notebook(about)
    try:
        cells = file.code(file.parse(path.read_bytes()))
    except (OSError, file.Unreadable):
        return history
    saved = [[file.source(c), str(c.get("id", "")), file.grade_id(c)] for c in cells]
    return history | {"notebook": {"name": _lab_of(about), "cells": saved, "written": path.stat().st_mtime}}


def _lab_of(part: str) -> str:
    number = re.match(r"\s*0*(\d+)", str(part))
    found = sorted(LABS.glob(f"{int(number[1]):02d}_*")) if number else []
    if not found:
        raise CourseError(f"{part!r} names no part; a part is called like '1c'.")
    return found[0].name


def _notebook(part: str) -> Path:
    """Return the file of the notebook that this kernel serves: Jupyter names it, else the lab's own beside us."""
    name = _lab_of(part)
    if _shell() is None:
        return LABS / name / f"{name}.ipynb"
    named = Path(os.environ.get("JPY_SESSION_NAME") or f"{name}.ipynb")
    return named if named.is_file() else Path.cwd() / named.name


def _shell() -> Any:
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    shell = get_ipython()
    return shell if getattr(shell, "history_manager", None) is not None else None


if _shell() is None:  # a script; IPython asks the error itself what to show
    without_traceback()
