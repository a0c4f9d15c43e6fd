"""Shows a case to a learner: the symptom, and five tools. A tool runs the server anew and tells one thing, never the answer.

| tool | tells | keeps to itself |
|---|---|---|
| `HiddenCase.trace` | who used which indices on what, in order | which of them is wrong |
| `HiddenCase.strict` | when an index first left its buffer, and by how much | which buffer, which operation |
| `HiddenCase.typed` | when an index of one space was first used as another | which operation |
| `HiddenCase.layers` | in which layer what first differs from one rank | why |
| `HiddenCase.lse` | whether ranks hold the same keys | where |
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dcplab.engine.space_tags import SpaceError
from dcplab.engine.threads import one_thread
from dcplab.engine.watcher import OutsideError
from dcplab.errors import CourseError
from dcplab.investigate import against_one_rank, hidden_cases, local_faults
from dcplab.investigate.access_list import SeenAccess
from dcplab.investigate.hidden_cases import RecordedRun
from dcplab.present import progress_line
from dcplab.present.display import Shown
from dcplab.present.text_with_table import Told, Words
from dcplab.subprocess_call import while_grading

TITLES = {"fresh": "The server has just started.", "long": "Two long requests.", "again": "The same questions again."}


def tool(method: Callable[..., Shown]) -> Callable[..., Shown]:
    """Mark a method that runs a server and earns no points: it is skipped where a notebook is graded."""

    @functools.wraps(method)
    def unless_grading(case: HiddenCase, *args, **more) -> Shown:
        return Words("Not run while the notebook is graded.") if while_grading() else method(case, *args, **more)

    return unless_grading


class HiddenCase(Words):
    """One hidden fault. Displayed, it says what a user saw and what an operator knows."""

    def __init__(self, n: int, seed: int):
        self.n, self.seed = n, seed
        self._run: RecordedRun = hidden_cases.visible_run(n, seed)
        self.config = self._run.setup.config
        super().__init__(_symptom(n, seed, self._run))

    @property
    def requests(self) -> list[dict]:
        """List the questions in order, as dicts: ``when``, ``name``, ``prompt``, ``answer`` (the right one) and ``got``."""
        return [
            {"when": a.when, "name": a.question.name, "prompt": a.question.prompt, "answer": a.question.answer, "got": a.got}
            for a in self._run.outcome.answers
        ]

    @tool
    def trace(
        self,
        start: int | None = None,
        count: int = 12,
        *,
        step: int | None = None,
        rank: int | None = None,
        buffer: str | None = None,
        op: str | None = None,
    ) -> Shown:
        """Show accesses in order: ``count`` of them from number ``start`` on, by default some around the first wrong one.

        ``step``, ``rank``, ``buffer`` and ``op`` show only those accesses.
        """
        run = self._again("trace")
        wanted = {"step": step, "rank": rank, "buffer": buffer, "op": op}
        asked = {k: v for k, v in wanted.items() if v is not None}
        chosen = [(i, s) for i, s in enumerate(run.seen) if all(getattr(s, k) == v for k, v in asked.items())]
        if start is None and not asked:
            start = max(0, _place(run) - random.Random(f"window {self.seed} {self.n}").randrange(1, max(2, count - 1)))
        page = [(i, s) for i, s in chosen if i >= (start or 0)][:count]
        if not page:
            raise CourseError(f"There is no such access: they are numbered 0 to {len(run.seen) - 1}.")
        return _traced(page, len(chosen), len(run.seen), self.config.dcp_size)

    @tool
    def strict(self) -> Shown:
        """Run the server until the first index outside its buffer, which stops it."""
        engine = self._stopped("strict")
        error = engine.error
        if not isinstance(error, OutsideError):
            return Words(f"{_head('strict mode')}\n\nNo index was outside its buffer up to the end ({engine.steps} steps).")
        a = error.access
        return Words(
            f"{_head('strict mode')}\n\nStopped in step {a.step} ({a.phase}):\n"
            f"IndexError: index {a.first} is out of bounds for dimension 0 with size {a.slots}\n\n"
            "It does not say whose index it was, or which buffer. Was every index before it right, then?"
        )

    @tool
    def typed(self) -> Shown:
        """Run the server until the first index of one space is used as another. The server stops before anything is stored."""
        engine = self._stopped("typed")
        error = engine.error
        if not isinstance(error, SpaceError):
            return Words(f"{_head('typed spaces')}\n\nNothing was refused up to the end ({engine.steps} steps).")
        if engine.steps == 0:
            return Words(
                f"{_head('typed spaces')}\n\nRefused before the first request: a buffer that is indexed by "
                f"{error.needed.value} does not cover every {error.needed.value} there is."
            )
        came = error.given.an if error.given else "an index of no stated space"
        return Words(
            f"{_head('typed spaces')}\n\nRefused in step {engine.steps} ({engine.phase}): an operation that takes "
            f"{error.needed.an} was given {came}."
        )

    @tool
    def layers(self) -> Shown:
        """Compare each layer with a server of one rank that gets the same requests, and show where each quantity differs
        first."""
        with progress_line.line(f"case {self.n}, layer by layer") as say:
            differences, wrong = against_one_rank.layer_by_layer(self._run.setup, say)
        header = ("layer", *against_one_rank.QUANTITIES)
        rows = [
            (str(layer), *(_differs(differences.get((layer, q))) for q in against_one_rank.QUANTITIES))
            for layer in range(self.config.layers)
        ]
        until = f"the first wrong word, in step {wrong}" if wrong else "where the server died" if self._died else "the end"
        return Told(
            _head("layer by layer, against one rank"),
            header,
            rows,
            "The first step with a difference, and in how many of the tokens held (index-K, c-KV) or rows (top-k, output). "
            f"Compared up to {until}.",
        )

    @property
    def _died(self) -> bool:
        return self._run.outcome.verdict in ("crash", "alarm")

    @tool
    def lse(self) -> Shown:
        """Show what the sharding monitor counted in the decode steps of each act."""
        run = self._again("LSE monitor")
        rows = []
        for when, m in (run.monitors or {}).items():
            keys = f"{m.valid / m.selected:.2f}" if m.selected else "-"
            rows.append((when, m.selected, m.valid, keys, f"{m.replicated} of {m.queries}"))
        header = ("act", "keys selected", "keys read on all ranks", "per key", "queries with one LSE on all ranks")
        note = "A key that lies on one rank is read once. Ranks that hold different keys have different LSEs."
        return Told(_head("LSE monitor, all layers together"), header, rows, note)

    def _again(self, what: str) -> RecordedRun:
        with progress_line.line(f"case {self.n}, {what}") as say:
            return hidden_cases.recorded(self._run.setup, say)

    def _stopped(self, how: str) -> _Stopped:
        setup, asked = self._run.setup, dict[str, Any]({how: True})
        with progress_line.line(f"case {self.n}, {how}") as say, one_thread():
            try:
                engine = local_faults.engine(setup.config, setup.fault, **asked)
            except SpaceError as error:
                return _Stopped(error, 0, "start")

            def step(when, engine) -> None:
                say(hidden_cases.act(when, engine))

            out = hidden_cases.play(engine, setup, step)
            return _Stopped(out.error, engine.watcher.step, engine.watcher.phase)


@dataclass(frozen=True)
class _Stopped:
    """The end of a server that refuses: the error or None, the step (0: before the first) and the phase."""

    error: Exception | None
    steps: int
    phase: str


def _place(run: RecordedRun) -> int:
    """Return the number of the first wrong access in the list of all accesses."""
    a = run.first_wrong
    assert a is not None  # a case has a fault
    same = (a.step, a.phase, a.rank, a.op, a.write, a.buffer, a.low)
    return next(i for i, s in enumerate(run.seen) if (s.step, s.phase, s.rank, s.op, s.write, s.buffer, s.low) == same)


def _head(what: str) -> str:
    return f"[CPU, torch] {what}"


def _symptom(n: int, seed: int, run: RecordedRun) -> str:
    c, out = run.setup.config, run.outcome
    lines = [
        f"[CPU, torch] Case {n}, seed {seed}: D {c.dcp_size}, P {c.page_size}, C {c.size}; {c.layers} DSA layers (0 to "
        f"{c.layers - 1}), top-k {c.topk}" + ("; prompts and decodes share batches" if c.mixed else ""),
    ]
    for when, title in TITLES.items():
        answers = [a for a in out.answers if a.when == when]
        lines += ["", title] if answers or when == "fresh" else []
        for a in answers:
            end = " ".join(a.question.prompt.split()[-5:])
            lines.append(f"  {'right' if a.right else 'WRONG'}  {a.question.name}: ... {end}")
            lines.append(f"         -> {a.got}")
            if not a.right:
                lines.append(f"  not    -> {a.question.answer}")
    lines += ["", _ended(run)]
    return "\n".join(lines)


def _ended(run: RecordedRun) -> str:
    out = run.outcome
    if out.verdict == "crash":
        late = (
            "while it took a request off the device to make room: a device-side assert"
            if run.setup.retract
            else "of an illegal memory access"
        )
        return f"The server died in step {out.metrics.steps}, {late}. Nothing more is known."
    if out.verdict == "alarm":
        return f"The server stopped itself after step {out.metrics.steps}: a check on an index failed."
    moved = " One request was taken off the device and put back on the way." if run.setup.retract else ""
    return f"No error was raised in {out.metrics.steps} steps.{moved} Largest loc used: {out.largest_loc}."


HEADER = ("no.", "step", "phase", "rank", "operation", "buffer", "there are", "indices used", "loc", "loc % D", "loc // D")


def _traced(page: Sequence[tuple[int, SeenAccess]], matching: int, total: int, dcp_size: int) -> Told:
    rows = []
    for i, s in page:
        whose = ("-", "-", "-") if s.loc is None else (s.loc, s.loc % dcp_size, s.loc // dcp_size)
        rows.append((i, s.step, s.phase, s.rank, s.op, s.buffer, f"{s.slots}, by {s.space.value}", _spans(s), *whose))
    some = "" if matching == total else f"; {matching} match"
    return Told(
        f"{_head('trace')}, accesses {page[0][0]} to {page[-1][0]} of {total}{some}",
        HEADER,
        rows,
        "There are: how many places the buffer has, and what counts them. The last three columns are of the token that the "
        "smallest index is for, where it is one that lasts.",
    )


def _spans(seen: SeenAccess, most: int = 3) -> str:
    shown = ", ".join(f"{a}" if a == b else f"{a}..{b}" for a, b in seen.runs[:most])
    return shown if len(seen.runs) <= most else f"{shown}, ... {seen.high}"


def _differs(d: against_one_rank.LayerDifference | None) -> str:
    return "same" if d is None else f"step {d.step} ({d.phase}), {d.count} of {d.of}"
