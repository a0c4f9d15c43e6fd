"""Reads a notebook and cuts its parts' programs out of it, in a process with limits of its own.

``parse`` and ``cut`` are called there (`grade.reader` asks for them); what goes in and out is JSON.
"""

from __future__ import annotations

import contextlib
import gc
import resource
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from dcplab import syntax
from dcplab.grade import read
from dcplab.notebook import extract

PROCESSOR_S, MEMORY_BYTES = 20, 2 << 30  # for one notebook; 256 MB of it take less than 1 GiB if they are outputs
PROGRAM_SIZE = 200_000  # characters of what one answer needs

Parts = Mapping[str, Sequence[str]]  # a part's id -> the names that it asks for, the entry first


def parse(path: str, labs: Mapping[str, Parts], folder: str) -> dict[str, Any]:
    """Read a path. Returns the fields of a `Submission` but for its cells, and ``programs`` by part if it is of a lab."""
    _limit()
    known = [(name, list(parts), [names[0] for names in parts.values()]) for name, parts in labs.items()]
    gc.disable()  # it would look through millions of lists again and again, and JSON makes no cycles
    found = read.read(Path(path), known)
    gc.enable()
    programs = _programs(found.cells, labs[found.lab], folder) if found.status == "graded" and found.lab else {}
    told = {key: value for key, value in asdict(replace(found, cells=())).items() if key not in ("path", "cells", "programs")}
    return told | {"programs": programs}


def cut(cells: Sequence[str], parts: Parts, folder: str | None) -> dict[str, dict[str, Any]]:
    """Return the programs of these parts in cells that somebody else has read, as data."""
    _limit()
    return _programs(cells, parts, folder)


def _programs(cells: Sequence[str], parts: Parts, folder: str | None) -> dict[str, dict[str, Any]]:
    extract.forget()  # what an earlier notebook has left in memory counts against this one
    made = {}
    for part, names in parts.items():
        program = extract.extract(cells, tuple(names), folder)
        if len(program.source) > PROGRAM_SIZE:
            says = f"`{names[0]}` needs {len(program.source):,} characters of the notebook; at most {PROGRAM_SIZE:,} are read."
            program = extract.Program("", program.entry, problem=says, unreadable=True, folder=program.folder)
        with contextlib.suppress(SyntaxError, ValueError, RecursionError):
            syntax.parse(program.source)  # as a whole: who judges it parses it again, without limits
        made[part] = asdict(program)
    return made


def _limit() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + PROCESSOR_S
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
