"""Runs the course's own programs on drawn cases: the solution, and the bank of wrong answers. Equal work is done once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dcplab import codec
from dcplab.course.drawn import Drawn, draw
from dcplab.course.key import Key
from dcplab.course.model import Case, Launch, Part, Wrong
from dcplab.course.trial import Trial
from dcplab.engine.threads import one_thread
from dcplab.judge.deeds import Deeds, deeds
from dcplab.judge.verdict import outcome_of
from dcplab.notebook.extract import Program
from dcplab.sandbox.attempts import attempt

ENDLESS_S = 2.0  # limit for a bank's endless answer, in place of the part's


class Reference:
    """The solution's results and the bank's deeds for one part, seed and mode. Each is run when first asked for, and kept.

    ``whole``: many answers will be compared with it, so a bank answer runs on all cases at once. Otherwise it runs on one case
    first, if one is asked for, and only those that agree there run on all. Threads may share a Reference. If the
    machine is too busy for the course's own programs, MachineBusy is raised and nothing is kept.
    """

    def __init__(self, key: Key, drawn: Drawn, whole: bool = False):
        self.key, self.drawn, self.whole = key, drawn, whole
        self._expected: Sequence[Any] | str | None = None
        self._did: dict[tuple[str, tuple[int, ...] | None, str], Deeds] = {}  # mode, cases, a wrong answer's source
        self._programs = {wrong.source: program for wrong, program in key.wrong}
        self._solving, self._running = threading.Lock(), threading.Lock()

    def expected(self) -> Sequence[Any] | str:
        """Return the right result of every case, or a sentence if the course's own program fails."""
        with self._solving:
            if self._expected is None:
                of = _from_solution if self.key.part.oracle is None else _from_oracle
                self._expected = of(self.key, self.drawn)
            return self._expected

    def bank(self, wrong: Sequence[Wrong], mode: str, cases: tuple[int, ...] | None) -> list[Deeds]:
        """Return the deeds of these wrong answers, all of one outcome, on the cases of these numbers, or on all."""
        with self._running:
            new = [w for w in wrong if (mode, None, w.source) not in self._did]
            by_people = all(w.source in self._programs for w in wrong)
            if new and cases is not None and not (self.whole and mode == "cpu" and by_people):  # a GPU compiles each kernel
                new = [w for w in new if (mode, cases, w.source) not in self._did]
                self._keep(mode, cases, new)
                return [self._did.get((mode, None, w.source)) or self._did[mode, cases, w.source] for w in wrong]
            if new and self.whole and by_people and mode == "cpu":  # answers that are asked for later run in the same child
                outcomes = {w.outcome for w in wrong}
                new = [w for w, _ in self.key.wrong if w.outcome in outcomes and (mode, None, w.source) not in self._did]
            self._keep(mode, None, new)
            return [self._did[mode, None, w.source] for w in wrong]

    def program(self, wrong: Wrong) -> Program:
        """Return a wrong answer's program. One that a machine made is edited from a program, and needs nothing more."""
        return self._programs.get(wrong.source) or replace(self.key.solution, source=wrong.source, lines=())

    def keep(self, mode: str, trials: dict[str, Trial]) -> None:
        """Store what bank answers, by their ids, have done on all cases (beside a GPU on the CPU too)."""
        sources = {wrong.id: wrong.source for wrong, _ in self.key.wrong}
        for name, trial in trials.items():
            self._did[mode, None, sources[name]] = deeds(trial, self.key.part.close)
            if trial.watched is not None:
                self._did["cpu", None, sources[name]] = deeds(trial.watched, self.key.part.close)

    def _keep(self, mode: str, cases: tuple[int, ...] | None, new: Sequence[Wrong]) -> None:
        numbers = range(len(self.drawn.packed)) if cases is None else cases
        if new:
            self._did |= {(mode, cases, w.source): did for w, did in zip(new, self._run(new, mode, numbers), strict=True)}

    def _run(self, wrong: Sequence[Wrong], mode: str, numbers: Sequence[int]) -> list[Deeds]:
        by_machine = wrong[0].source not in self._programs
        quick = wrong[0].outcome == "timeout" or by_machine
        own_s = min(self.drawn.own_s, ENDLESS_S) if quick else self.drawn.own_s
        packed = [self.drawn.quiet[n] for n in numbers]
        trials = attempt([self.program(w) for w in wrong], self.key.part, packed, mode, own_s)
        for trial in trials:
            trial.records = {numbers[i]: record for i, record in trial.records.items()}
        return [deeds(trial, self.key.part.close, untyped=not by_machine) for trial in trials]


class References:
    """The references of a grading run or a test: one for each part, seed and mode, kept as long as this object."""

    def __init__(self) -> None:
        self._made: dict[tuple, Reference] = {}
        self._lock = threading.Lock()

    def of(self, key: Key, seed: int, mode: str) -> Reference:
        """Return the reference of a part. The first call makes it."""
        with self._lock:
            place = (key.lab, key.part.id, seed, mode)
            if place not in self._made:
                self._made[place] = Reference(key, draw(key.part, seed, mode), whole=True)
            return self._made[place]


def _from_solution(key: Key, drawn: Drawn) -> list[Any] | str:
    trial = attempt([key.solution], key.part, drawn.packed, drawn.mode, drawn.own_s)[0]
    right = []
    for number, case in enumerate(drawn.cases):
        record = trial.records.get(number)
        if record is None or trial.load_error:
            return f"its own solution ended ({trial.status}) on case {number}."
        if "raised" in record and getattr(case, "raises", None) not in record["raised"]["is_a"]:
            return f"its own solution raised {record['raised']['type']}: {record['raised']['message']}"
        if record["events"]:
            return f"its own solution is unsafe on case {number}: {record['events'][0]}"
        right.append(outcome_of(case, record))
    return right


def _from_oracle(key: Key, drawn: Drawn) -> list[Any] | str:
    try:
        with one_thread():
            return [_oracle(key.part, case) for case in drawn.cases]
    except Exception as e:
        return f"its oracle raised {type(e).__name__}: {e}"


def _oracle(part: Part, case: Case | Launch) -> Any:
    assert part.oracle is not None
    oracle = part.oracle
    if getattr(case, "raises", None):
        return None
    if isinstance(case, Launch):
        whole = oracle(codec.decode(codec.encode(dict(case.buffers))), case)
        return {name: whole[name] for name in case.writes}
    args, kwargs = codec.decode(codec.encode((tuple(case.args), dict(case.kwargs))))
    value = oracle(*args, **kwargs)
    return {i: args[i] for i in case.writes} if case.writes else value
