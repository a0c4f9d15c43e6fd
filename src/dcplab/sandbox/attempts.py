"""What answers did on the cases of a part: the pool's records, program by program, whatever ended them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from dcplab.course.model import Part
from dcplab.notebook.extract import Program
from dcplab.sandbox import pool
from dcplab.sandbox.driver_source import source_of
from dcplab.sandbox.kernels.interpreter_limits import LOGIC


@dataclass
class Trial:
    """``records`` by case number, as far as it got. ``status`` is "done" or how its child ended (see ``pool.Run``)."""

    records: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    load_error: Mapping[str, Any] | None = None
    status: str = "died"
    exit: int | None = None
    stdout: str = ""
    stderr: str = ""
    stuck: str = ""
    wall_s: float = 0.0
    watched: Trial | None = None  # a kernel's run in the interpreter, beside the one on a GPU

    @property
    def end(self) -> str:
        """How its process ended, in words."""
        if self.exit is not None and self.exit < 0:
            return signal.Signals(-self.exit).name
        return f"exit status {self.exit}" if self.exit is not None else "no exit status"


def attempt(
    programs: Sequence[Program],
    part: Part,
    packed: Sequence[Mapping[str, Any]],
    mode: str,
    wall_s: float,
    note: Callable[[str], None] | None = None,
) -> list[Trial]:
    """Runs programs on packed cases and says what each did.

    A GPU does not show a load outside a buffer. So kernels run there and, beside it, in the interpreter under the guard; what
    the guard saw is added to what the GPU computed.
    """
    if mode == "cpu":
        return _attempt(programs, part, packed, mode, wall_s, note)
    if not any(case["kind"] == "launch" for case in packed):
        trials = _attempt(programs, part, packed, mode, wall_s, note)
        return _with_the_index(programs, part, packed, trials, wall_s)
    with ThreadPoolExecutor(1) as beside:
        guarded = beside.submit(_attempt, programs, part, packed, "cpu", wall_s, None)
        trials = _attempt(programs, part, packed, mode, wall_s, note)
        for trial, watched in zip(trials, guarded.result(), strict=True):
            _add_loads(trial, watched)
            trial.watched = watched
    return trials


def compiles(
    program: Program, part: Part, packed: Sequence[Mapping[str, Any]], wall_s: float
) -> tuple[bool, Mapping[str, Any] | None]:
    """Whether Triton compiled the kernel of every launch for a GPU that need not be here, and what it raised where it refused.

    Neither, where it is not known: the kernel is autotuned, or compiling took too long.
    """
    trial = _attempt([program], part, packed, "compile", wall_s, None)[0]
    raised = trial.load_error or next((record["raised"] for record in trial.records.values() if "raised" in record), None)
    return len(trial.records) == len(packed) and all(record.get("compiled") for record in trial.records.values()), raised


def _with_the_index(
    programs: Sequence[Program], part: Part, packed: Sequence[Mapping[str, Any]], trials: Sequence[Trial], wall_s: float
) -> list[Trial]:
    """The trials, and for one that a GPU's assert ended what the same answer does on the CPU, if it raises there too.

    An index outside a tensor ends a GPU's context, names no index, and touched nothing. On a CPU the same call says which.
    """
    found = list(trials)
    lost = {i: case for i, t in enumerate(trials) for case, r in t.records.items() if r.get("raised", {}).get("fault")}
    told = _attempt([programs[i] for i in lost], part, packed, "cpu", wall_s, None) if lost else []
    for (i, case), trial in zip(lost.items(), told, strict=True):
        if "raised" in (record := trial.records.get(case, {})):
            more = "On the GPU it is a device-side assert, which names no index. This is from the CPU:\n"
            raised = {**record["raised"], "traceback": more + record["raised"]["traceback"]}
            trial.records[case] = {**record, "raised": raised}
            trial.watched = trial  # so that the bank is held against it on the CPU
            found[i] = trial
    return found


def _add_loads(trial: Trial, watched: Trial) -> None:
    """The loads outside buffers that the guard saw, where the interpreter could run the case at all."""
    for number, record in trial.records.items():
        seen = watched.records.get(number, {})
        if "raised" in record or "raised" in seen or "events" not in seen or LOGIC in seen.get("doubts", ()):
            continue
        loads = [event for event in seen["events"] if event["kind"] == "outside" and event["op"] == "load"]
        trial.records[number] = {**record, "events": [*record["events"], *loads]}


def _attempt(
    programs: Sequence[Program],
    part: Part,
    packed: Sequence[Mapping[str, Any]],
    mode: str,
    wall_s: float,
    note: Callable[[str], None] | None,
) -> list[Trial]:
    """One after another in one child. If one ends the child, those after it run in a new one."""
    trials: list[Trial] = []
    while len(trials) < len(programs):
        rest = [{"source": p.source, "entry": p.entry, "folder": p.folder} for p in programs[len(trials) :]]
        patience = wall_s * (1 + (len(rest) - 1) / 8)  # a bank's answers are many and short
        ran = pool.run(rest, packed, mode, wall_s=patience, drive=source_of(part.drive), may_import=part.may_import, note=note)
        done = [_trial(ran, number, wall_s) for number in range(len(rest))]
        finished = next((i for i, t in enumerate(done) if t.status != "done"), len(done) - 1)
        trials += done[: finished + 1]
    return trials


def _trial(ran: pool.Run, number: int, wall_s: float) -> Trial:
    mine = [r for r in ran.records if r.get("program") == number]
    # A run with junk in its channel proves nothing about any program that was in it.
    done = any(r.get("case") == "end" for r in mine) and ran.status != "broken"
    trial = Trial(
        records={r["case"]: r for r in mine if isinstance(r.get("case"), int) and r["case"] >= 0},
        load_error=next((r["raised"] for r in mine if r.get("case") == -1), None),
        status="done" if done else "died" if ran.status == "done" else ran.status,
        exit=ran.exit,
        stdout=ran.stdout,
        stderr=ran.stderr,
        stuck=ran.stuck,
        wall_s=wall_s,
    )
    if ran.status == "broken":
        trial.records, trial.load_error = {}, None
    return trial
