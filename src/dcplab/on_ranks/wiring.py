"""Runs a learner's own wiring of lab 05 on a whole server: the incident's story, on ranks that one process holds, or several.

Nothing is judged here and there are no points: a program runs as its owner's, in processes of their own, without the walls
that a check puts around an answer.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from dcplab import files, own_answers
from dcplab.course import catalog
from dcplab.course.model import Part
from dcplab.engine import learner_ops, ops
from dcplab.engine.allocator import DoubleFree
from dcplab.engine.backend import LayerStep, Paths
from dcplab.engine.group import Unlike
from dcplab.engine.pools import DeviceAssert
from dcplab.engine.rank_step import CapacityAlarm
from dcplab.engine.runner import ServerCrash
from dcplab.engine.space_tags import SpaceError
from dcplab.engine.watcher import OutsideError
from dcplab.errors import CourseError
from dcplab.notebook import reset
from dcplab.notebook.extract import Program, unfinished
from dcplab.present import sentences
from dcplab.present.strangers import printable

ROLES = ("decode", "extend", "verify", "draft")
PART = "5b"  # its cell, and 5a's, hold the four functions
# What a server says of an index: it is no fault of the program that brought it there, but the story's end.
OF_THE_SERVER = (ServerCrash, DeviceAssert, CapacityAlarm, SpaceError, OutsideError, DoubleFree, CourseError)


class WiringFailed(Unlike):
    """A learner's program raised. All processes may say so: `Distributed.first_to_say`."""


def part() -> Part:
    """Return 5b as a part whose answer is all four functions, 5a's among them."""
    names = tuple(f"{role}_path" for role in ROLES)
    return replace(catalog.of_part(PART).part(PART), entry=names[0], also=names[1:])


def program(answer: Path | None = None, mine: Sequence[str] = (), say: Callable[[str], None] = print) -> Program:
    """Read the four functions from the learner's notebook, or from ``answer``: a notebook, or a .py file.

    ``mine``: the parts of labs 01 to 04 whose functions run under them, checked first (`own_answers.take`); "all" for all.
    """
    found = ready(reset.program(catalog.of_part(PART), part(), answer))
    if mine:
        own_answers.take(() if list(mine) == ["all"] else mine, say)
    return own_answers.carry(found)


def ready(found: Program) -> Program:
    """Return the program. Raises CourseError where it lacks a function, or one is unfinished."""
    if found.problem:
        raise CourseError(f"{found.problem.partition(', the name')[0].rstrip('.')}: the path takes 5a's and 5b's answers.")
    for role in ROLES:
        if unfinished(found.source, f"{role}_path"):
            raise CourseError(f"`{role}_path` is not finished yet: it still ends in `raise NotImplementedError`.")
    return found


@contextlib.contextmanager
def at_work(found: Program, device: str, aloud: bool) -> Iterator[Paths]:
    """Load a program in this process, and give its wiring, over the functions of earlier labs that it carries.

    WiringFailed, with the line, for whatever it raises. What it prints goes to standard error, and nowhere unless ``aloud``.
    """
    if device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"  # before a kernel of the learner's is made
    with files.scratch("wiring") as folder, open(os.devnull, "w") as nowhere:
        path = folder / "own_wiring.py"
        path.write_text(found.source, encoding="utf-8")
        module = types.ModuleType("own_wiring")
        module.__file__ = str(path)
        sys.modules[module.__name__] = module
        if found.folder:
            sys.path.append(found.folder)
        guard = functools.partial(_guarded, found, folder, sys.stderr if aloud else nowhere)
        with guard():
            exec(compile(found.source, str(path), "exec", dont_inherit=True), vars(module))
            functions = learner_ops.load(getattr(module, learner_ops.CARRIED, {}), folder)

        def told(role: str) -> Callable[[LayerStep], list[torch.Tensor]]:
            wiring = learner_ops.checked(getattr(module, f"{role}_path"))

            def call(step: LayerStep) -> list[torch.Tensor]:
                with guard(step):
                    return wiring(step)

            return call

        with ops.using(**learner_ops.operations(functions)):
            yield Paths(**{role: told(role) for role in ROLES})


@contextlib.contextmanager
def _guarded(found: Program, folder: Path, out: Any, step: LayerStep | None = None) -> Iterator[None]:
    try:
        with contextlib.redirect_stdout(out):
            yield
    except OF_THE_SERVER:
        raise
    except Exception as error:
        place = _place(error, found, folder)
        said = printable(f"Your wiring raised {type(error).__name__}: {error}{place}.", 2000)
        hosted = len(step.ranks) if step else 0
        if step and hosted < step.shared.config.dcp_size and isinstance(error, LookupError | ValueError | RuntimeError):
            said += f" Of the {step.shared.config.dcp_size} ranks step.ranks has the {hosted} that this process holds."
        raise WiringFailed(said) from error


def _place(error: Exception, found: Program, folder: Path) -> str:
    """Name the line of the learner's that an exception left last."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path == folder / "own_wiring.py":
            return sentences.place(frame.lineno, found)
        if path.parent == folder:
            return f" (line {frame.lineno} of your answer to {path.stem.removeprefix('own_')})"
    return ""


def plain(found: Program) -> dict[str, Any]:
    """Return a program as plain data, for `both` in another process."""
    return {name: value for name, value in asdict(found).items() if name != "borrowed"}
