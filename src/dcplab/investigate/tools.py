"""Shows a case to a learner: the symptom, and six tools. Each tells one thing, never the answer. What a server did is kept, so
a tool that is asked again answers at once.

| tool | tells | keeps to itself |
|---|---|---|
| `HiddenCase.trace` | who used which indices on what, where one asks | which of them is wrong |
| `HiddenCase.strict` | when an index first left its buffer, and by how much | which buffer, which operation |
| `HiddenCase.typed` | which space was first used as another, and whether by a step | which operation |
| `HiddenCase.layers` | in which layer what first differs from one rank | why |
| `HiddenCase.lse` | whether ranks hold the same keys | where |
| `HiddenCase.identity` | whether what is read was put there for that token | why not |
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcplab.engine.space_tags import SpaceError
from dcplab.engine.threads import one_thread
from dcplab.engine.watcher import OutsideError
from dcplab.investigate import against_one_rank, hidden_cases, identity, local_faults, trace_filters
from dcplab.investigate.hidden_cases import RecordedRun
from dcplab.investigate.trace_filters import Span
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
        count: int = trace_filters.LISTED,
        *,
        step: Span | None = None,
        rank: Span | None = None,
        buffer: str | None = None,
        op: str | None = None,
        layer: Span | None = None,
        request: str | None = None,
        phase: str | None = None,
        loc: Span | None = None,
        row: Span | None = None,
    ) -> Shown:
        """Show the accesses that match: of a ``step``, ``rank``, ``layer``, ``buffer`` ("ckv.1", or "ckv" for all layers),
        operation ``op``, ``request``, ``phase``; that touch a ``loc``, or use an index ``row``. A number may be a pair, first
        and last.

        Without any it says what there is to ask by. Many are counted instead of listed; ``start`` lists ``count`` of them
        from that number on.
        """
        asked = {"step": step, "rank": rank, "buffer": buffer, "op": op, "layer": layer}
        asked |= {"request": request, "phase": phase, "loc": loc, "row": row}
        wanted = {key: value for key, value in asked.items() if value is not None}
        return trace_filters.answer(_head("trace"), self._run.seen, wanted, start, count)

    @tool
    def strict(self) -> Shown:
        """Run the server until the first index outside its buffer, which stops it."""
        engine = _stopped(self.n, self.seed, "strict")
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
    def typed(self, until: int | None = None) -> Shown:
        """Run the server until the first index of one space is used as another: which two spaces they are. ``until`` asks
        whether that had happened by the end of a step."""
        engine, head = _stopped(self.n, self.seed, "typed"), _head("typed spaces")
        error = engine.error
        if not isinstance(error, SpaceError):
            return Words(f"{head}\n\nNothing was refused up to the end ({engine.steps} steps).")
        if engine.steps == 0:
            return Words(
                f"{head}\n\nRefused before the first request: a buffer that is indexed by "
                f"{error.needed.value} does not cover every {error.needed.value} there is."
            )
        if until is not None:
            so_far = "An index was refused" if engine.steps <= until else "Nothing was refused"
            return Words(f"{head}\n\n{so_far} by the end of step {until}.")
        came = error.given.an if error.given else "an index of no stated space"
        return Words(
            f"{head}\n\nRefused in one of the {self._run.outcome.metrics.steps} steps: an operation that takes "
            f"{error.needed.an} was given {came}. typed(until=N) says whether that had happened by the end of step N."
        )

    @tool
    def layers(self) -> Shown:
        """Compare each layer with a server of one rank that gets the same requests, and show where each quantity differs
        first."""
        differences, wrong = _compared(self.n, self.seed)
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
    def identity(
        self,
        loc: Span | None = None,
        *,
        rank: Span | None = None,
        buffer: str | None = None,
        row: Span | None = None,
        step: Span | None = None,
        request: str | None = None,
    ) -> Shown:
        """Say of the slots that were read whether what lay there was put there for that token: counts by buffer, or, of what is
        asked for, who wrote it, when, for which token, and who reads it for what. Filters as in ``trace``."""
        asked = {"loc": loc, "rank": rank, "buffer": buffer, "row": row, "step": step, "request": request}
        wanted = {key: value for key, value in asked.items() if value is not None}
        return identity.answer(_head("identity"), self._run.seen, wanted)

    @tool
    def lse(self) -> Shown:
        """Show what the sharding monitor counted in the decode steps of each act."""
        rows = []
        for when, m in (self._run.monitors or {}).items():
            keys = f"{m.valid / m.selected:.2f}" if m.selected else "-"
            rows.append((when, m.selected, m.valid, keys, f"{m.replicated} of {m.queries}"))
        header = ("act", "keys selected", "keys read on all ranks", "per key", "queries with one LSE on all ranks")
        note = "A key that lies on one rank is read once. Ranks that hold different keys have different LSEs."
        return Told(_head("LSE monitor, all layers together"), header, rows, note)


@dataclass(frozen=True)
class _Stopped:
    """The end of a server that refuses: the error or None, the step (0: before the first) and the phase."""

    error: Exception | None
    steps: int
    phase: str


@functools.lru_cache(maxsize=2 * hidden_cases.COUNT)
def _stopped(n: int, seed: int, how: str) -> _Stopped:
    """Run the server of a case until it refuses, ``how``: typed or strict."""
    setup, asked = hidden_cases.visible_run(n, seed).setup, dict[str, Any]({how: True})
    with progress_line.line(f"case {n}, {how}") as say, one_thread():
        try:
            engine = local_faults.engine(setup.config, setup.fault, **asked)
        except SpaceError as error:
            return _Stopped(error, 0, "start")
        out = hidden_cases.play(engine, setup, lambda when, engine: say(hidden_cases.act(when, engine)))
        return _Stopped(out.error, engine.watcher.step, engine.watcher.phase)


@functools.lru_cache(maxsize=hidden_cases.COUNT)
def _compared(n: int, seed: int) -> tuple[dict[tuple[int, str], against_one_rank.LayerDifference], int]:
    """Compare the server of a case with one rank, layer by layer."""
    with progress_line.line(f"case {n}, layer by layer") as say:
        return against_one_rank.layer_by_layer(hidden_cases.visible_run(n, seed).setup, say)


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


def _differs(d: against_one_rank.LayerDifference | None) -> str:
    return "same" if d is None else f"step {d.step} ({d.phase}), {d.count} of {d.of}"
