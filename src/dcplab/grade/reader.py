"""Has notebooks read in a process beside this one, so that a hostile one costs its own row and nothing else.

One process reads all notebooks of a run, one after another. If one of them ends it, the next gets a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dcplab.grade import slices
from dcplab.grade.read import Submission
from dcplab.grade.slices import MEMORY_BYTES, PROCESSOR_S, Parts
from dcplab.notebook.extract import Program
from dcplab.notebook.statements import Borrowed
from dcplab.subprocess_call import PythonProcess

WALL_S = 10 * PROCESSOR_S  # a busy machine keeps it waiting
ENDS = {
    "SIGXCPU": f"takes more than {PROCESSOR_S} s",
    "timeout": f"takes more than {WALL_S} s",
    "MemoryError": f"takes more than {MEMORY_BYTES >> 30} GiB of memory",
    "RecursionError": "meets too deep a nesting",
}


class Unread(Exception):
    """Raised for what ended its reader. Its message is a sentence."""


class Reader:
    """A process that reads notebooks. Used by one thread, which must outlive it."""

    def __init__(self) -> None:
        self._process: PythonProcess | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def read(self, path: Path, labs: Mapping[str, Parts]) -> Submission:
        """Return the submission at a path: ``labs`` are those that it may belong to, with their parts."""
        try:
            found = self._ask("parse", path=str(path.absolute()), labs=labs, folder=str(path.absolute().parent))
        except Unread as error:
            return Submission(path, "unreadable", str(error))
        programs = {part: _program(data) for part, data in found.pop("programs").items()}
        return Submission(path, **found, programs=programs)

    def cut(self, cells: Sequence[str], parts: Parts, folder: str | None) -> dict[str, Program]:
        """Return the programs of these parts in cells that are in memory. Raises Unread."""
        found = self._ask("cut", cells=list(cells), parts=parts, folder=folder)
        return {part: _program(data) for part, data in found.items()}

    def _ask(self, function: str, **args: Any) -> Any:
        if self._process is None:
            self._process = PythonProcess()
        done = self._process.call(slices.__name__, function, args, WALL_S, last=False)
        if done["how"] != "done" or not self._process.alive:
            self._process.close(0)
            self._process = None
        if done["how"] != "done" or done["value"] is None:
            how = done["how"]
            raise Unread(f"Reading it {ENDS.get(how, f'ended the reader ({how})')}.")
        return done["value"]


def _program(data: Mapping[str, Any]) -> Program:
    more = {"lines": tuple((cell, line) for cell, line in data["lines"])}
    return Program(**{**data, **more, "borrowed": tuple(Borrowed(**b) for b in data["borrowed"])})
