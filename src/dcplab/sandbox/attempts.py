"""Runs answers on the cases of a part and returns the pool's records, program by program, whatever ended them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from typing import Any

from dcplab.course.driver_source import source_of
from dcplab.course.model import Part
from dcplab.course.trial import GUARDED, Trial, accesses_known
from dcplab.errors import CourseError
from dcplab.notebook.extract import Program
from dcplab.notebook.inert import inert
from dcplab.sandbox import kept_modules, pool

CHILDREN, FEW = 16, 4  # most children for a bank; programs that are worth a child, unless each takes long
COMPILING_S = 300.0  # for all kernels of the engine, with others at the same work
TRIES = 2  # for a program that a busy machine kept from working


class MachineBusy(CourseError):
    """Raised when a program hardly got a processor, twice: its results are not known."""

    def __init__(self) -> None:
        super().__init__("The machine is busy: it kept this from working, twice. Try again.")


def attempt(
    programs: Sequence[Program],
    part: Part,
    packed: Sequence[Mapping[str, Any]],
    mode: str,
    own_s: float,
    note: Callable[[str], None] | None = None,
) -> list[Trial]:
    """Run programs on packed cases. Returns one Trial a program. Raises MachineBusy.

    A GPU shows neither a load outside a buffer nor a store into another buffer's memory. So kernels run on the GPU and also in
    the interpreter under the guard (``watched``). Accesses outside buffers that the guard sees count against the answer too.
    """
    if mode != "gpu":
        return _attempt(programs, part, packed, mode, own_s, note)
    if not any(case["kind"] == "launch" for case in packed):
        trials = _attempt(programs, part, packed, mode, own_s, note)
        lost = [i for i, trial in enumerate(trials) if _fault(trial) is not None]
        seen = _attempt([programs[i] for i in lost], part, packed, "cpu", own_s, None) if lost else []
        for i, watched in zip(lost, seen, strict=True):
            trials[i].watched = watched
    else:
        with ThreadPoolExecutor(1) as beside:
            guarded = beside.submit(_attempt, programs, part, packed, "cpu", own_s, None)
            trials = _attempt(programs, part, packed, mode, own_s, note)
            for trial, watched in zip(trials, guarded.result(), strict=True):
                _add_outside(trial, watched)
                trial.watched = watched
    for trial in trials:
        _after_a_fault(trial)
    return trials


_ready: set[str] = set()
_compiling = threading.Lock()


def compile_ours(
    solution: Program, part: Part, packed: Sequence[Mapping[str, Any]], note: Callable[[str], None] | None
) -> None:
    """Run the course's own solution on a GPU once, if the part's driver launches kernels of the course's, so that every later
    child finds them compiled. Does nothing the second time."""
    drive = source_of(part.drive)
    if drive is None or not any(name.startswith("dcplab.engine") for name in kept_modules.imports(drive["source"])):
        return
    with _compiling:
        if part.id in _ready:
            return
        _ready.add(part.id)
        if note:
            note("Compiling the course's kernels (once on this machine) ...")
        pool.run([_job(solution)], packed, "gpu", COMPILING_S, pool.Rules(drive, part.may_import, keeps=True))


def compiles(
    program: Program, part: Part, packed: Sequence[Mapping[str, Any]], own_s: float
) -> tuple[bool, Mapping[str, Any] | None]:
    """Compile every launch for sm_90; no GPU needed. Returns (True, None), (False, error) if Triton refused, or (False, None)
    if unknown: too slow, or the program runs code of its own while it loads, which could make the compiler say anything.
    Raises MachineBusy."""
    trial = _attempt([program], part, packed, "compile", own_s, None)[0]
    raised = trial.load_error or next((record["raised"] for record in trial.records.values() if "raised" in record), None)
    every = len(trial.records) == len(packed) and all(record.get("compiled") for record in trial.records.values())
    return every and inert(program.source), raised


def _fault(trial: Trial) -> int | None:
    """Return the case whose access ended the GPU's context, and with it the child."""
    return next((i for i, record in trial.records.items() if record.get("raised", {}).get("fault")), None)


def _after_a_fault(trial: Trial) -> None:
    """Replace the records from a GPU fault on by those of the CPU run, if the CPU fails on the same case too.

    A fault names no index, leaves no memory to read back and costs the later cases. The same call on a CPU tells more.
    """
    if trial.watched is None or (lost := _fault(trial)) is None:
        return
    seen = trial.watched.records.get(lost, {})
    if raised := seen.get("raised"):
        more = "On the GPU it is a fault, which names no index. This is from the CPU:\n"
        seen = {**seen, "raised": {**raised, "traceback": more + raised["traceback"]}}
    elif not seen.get("events"):
        return
    trial.records |= {i: record for i, record in trial.watched.records.items() if i > lost} | {lost: seen}
    trial.status, trial.exit = trial.watched.status, trial.watched.exit


def _add_outside(trial: Trial, watched: Trial) -> None:
    """Replace the bands' reports of stores outside buffers by the guard's, and add what only the guard sees, in cases that the
    interpreter could run."""
    for number, record in trial.records.items():
        seen = watched.records.get(number, {})
        if "raised" in record or not accesses_known(seen):
            continue
        guarded = [event for event in seen["events"] if event["kind"] in GUARDED]
        if guarded:
            outside = any(event["kind"] == "outside" for event in guarded)
            others = [event for event in record["events"] if event["kind"] != "outside" or not outside]
            trial.records[number] = {**record, "events": [*guarded, *others]}


def _attempt(
    programs: Sequence[Program],
    part: Part,
    packed: Sequence[Mapping[str, Any]],
    mode: str,
    own_s: float,
    note: Callable[[str], None] | None,
) -> list[Trial]:
    """Return a Trial for each program. Cases that ask for another child, one without other wirings or one that may compile,
    run in others."""
    asks = lambda case: (case.get("hides", ()), case.get("compiles", False))  # noqa: E731
    groups = [list(cases) for _, cases in groupby(packed, asks)] or [[]]
    trials = _dealt(programs, part, groups[0], mode, own_s, note)
    begun = len(groups[0])
    for cases in groups[1:]:
        going = [i for i, trial in enumerate(trials) if trial.status == "done" and not trial.load_error]
        for i, more in zip(going, _dealt([programs[i] for i in going], part, cases, mode, own_s, note), strict=True):
            trials[i] = _joined(trials[i], more, begun)
        begun += len(cases)
    return trials


def _joined(first: Trial, then: Trial, begun: int) -> Trial:
    """Return one Trial of two: ``then`` began with the case ``begun``."""
    records = first.records | {begun + i: record for i, record in then.records.items()}
    return replace(then, records=records, stdout=first.stdout + then.stdout, stderr=first.stderr + then.stderr)


def _dealt(
    programs: Sequence[Program],
    part: Part,
    packed: Sequence[Mapping[str, Any]],
    mode: str,
    own_s: float,
    note: Callable[[str], None] | None,
) -> list[Trial]:
    """Return a Trial for each program. Many programs, such as a bank, are dealt out to several children if there are cores."""
    slow = len(packed) > 1 and (part.drive is not None or any(case["kind"] == "launch" for case in packed))
    shares = min(len(os.sched_getaffinity(0)), CHILDREN, len(programs) // (1 if slow else FEW)) if mode == "cpu" else 1
    if shares < 2:
        return _one_by_one(programs, part, packed, mode, own_s, note)
    trials: list[Trial] = [Trial()] * len(programs)
    with ThreadPoolExecutor(shares) as children:
        dealt = [programs[i::shares] for i in range(shares)]
        for i, done in enumerate(children.map(lambda hand: _one_by_one(hand, part, packed, mode, own_s, note), dealt)):
            trials[i::shares] = done
    return trials


def _one_by_one(
    programs: Sequence[Program],
    part: Part,
    packed: Sequence[Mapping[str, Any]],
    mode: str,
    own_s: float,
    note: Callable[[str], None] | None,
) -> list[Trial]:
    """Run programs one after another in one child. If one ends the child, those after it run in a new one.

    A child of many programs has less time than the sum of their limits. A program that was running when the time was over runs
    once more, alone. So does one that a busy machine kept from working; after the second time MachineBusy is raised.
    """
    trials: list[Trial] = []
    alone, tries = False, 1
    keeps = mode == "compile" and all(inert(p.source) for p in programs)
    first = packed[0] if packed else {}
    rules = pool.Rules(source_of(part.drive), part.may_import, keeps, first.get("hides", ()), first.get("compiles", False))
    while len(trials) < len(programs):
        rest = programs[len(trials) : len(trials) + 1] if alone else programs[len(trials) :]
        patience = own_s * (1 + (len(rest) - 1) / 8)  # a bank's answers are many and most are quick
        ran = pool.run([_job(p) for p in rest], packed, mode, patience, rules, note)
        done = [_trial(ran, number, own_s) for number in range(len(rest))]
        last = next((i for i, t in enumerate(done) if t.status != "done"), len(done) - 1)
        busy = done[last].status == "busy"
        tries = tries + 1 if busy and last == 0 else 1
        if tries > TRIES:
            raise MachineBusy
        alone = busy or (done[last].status == "timeout" and last > 0)
        trials += done[:last] if alone else done[: last + 1]
    return trials


def _job(program: Program) -> dict[str, Any]:
    return {"source": program.source, "entry": program.entry, "folder": program.folder}


def _trial(ran: pool.Run, number: int, own_s: float) -> Trial:
    mine = [r for r in ran.records if r.get("program") == number]
    # A run with junk in its channel proves nothing about any of its programs.
    done = any(r.get("case") == "end" for r in mine) and ran.status != "broken"
    trial = Trial(
        records={r["case"]: r for r in mine if isinstance(r.get("case"), int) and r["case"] >= 0},
        load_error=next((r["raised"] for r in mine if r.get("case") == -1), None),
        status="done" if done else "died" if ran.status == "done" else ran.status,
        exit=ran.exit,
        stdout=ran.stdout,
        stderr=ran.stderr,
        stuck=ran.stuck,
        own_s=own_s,
    )
    if ran.status == "broken":
        trial.records, trial.load_error = {}, None
    return trial
