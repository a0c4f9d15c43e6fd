"""Checks one answer: runs it, judges it, and words the result."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from dcplab import mode as modes
from dcplab.course.drawn import Drawn, draw, pack, patience
from dcplab.course.key import Key
from dcplab.course.model import Case, CheckResult, Launch, Part, Wrong
from dcplab.course.seeded import fresh_seed
from dcplab.course.trial import Trial
from dcplab.errors import CourseError
from dcplab.judge import diagnose, judgement
from dcplab.judge.deeds import agree, deeds
from dcplab.judge.judgement import Judgement
from dcplab.judge.observed import observed
from dcplab.judge.related import related
from dcplab.notebook.extract import Program
from dcplab.notebook.inert import core, inert, made_by_triton
from dcplab.present import check_result, sentences
from dcplab.present.strangers import printable
from dcplab.reference import ENDLESS_S, Reference, References
from dcplab.sandbox import pool
from dcplab.sandbox.attempts import MachineBusy, attempt, compile_ours, compiles

Note = Callable[[str], None]
OTHER_SEEDS = 2  # on which a fact about all failing cases is tried


def check(
    key: Key,
    program: Program,
    seed: int | None = None,
    mode: str | None = None,
    note: Note | None = None,
    kept: References | None = None,
) -> CheckResult:
    """Check one answer. ``seed`` draws the inputs (None: a fresh one). ``mode`` is "cpu" or "gpu" (None: this machine's).

    ``note`` is called with a sentence before slow work. ``kept``: results of the course's own programs, for callers that check
    many answers.
    """
    started = time.perf_counter()
    seed, mode = fresh_seed() if seed is None else seed, mode or modes.current().name
    judged = judgement.not_run(key, program, seed, mode)
    if judged is None:
        reference = kept.of(key, seed, mode) if kept else Reference(key, draw(key.part, seed, mode))
        judged = judge(program, reference, note) if reference.drawn.cases else judgement.elsewhere(key, program, seed, mode)
    judged = judgement.held_to(judged, key.own_seed)
    lacks = pool.lacks(mode) if judged.ran else ()
    return check_result.result(judged, modes.versions(), time.perf_counter() - started, lacks)


def judge(program: Program, reference: Reference, note: Note | None = None, trial: Trial | None = None) -> Judgement:
    """Run an answer on drawn cases and judge it. ``trial``: its records, if it has run already.

    If the machine is too busy, the answer is not judged, or judged without a name. The judgement says which.
    """
    judged = verdict(program, reference, note, trial)
    return named(judged, reference) if judged.why == "failed" else judged


def verdict(program: Program, reference: Reference, note: Note | None = None, trial: Trial | None = None) -> Judgement:
    """Judge an answer as `judge` does, without naming its mistake."""
    try:
        return _alone(_verdict(program, reference, note, trial), reference, note)
    except MachineBusy:
        return judgement.busy(reference.key, program, reference.drawn.seed, reference.drawn.mode)


def named(judged: Judgement, reference: Reference) -> Judgement:
    """Name the mistake of an answer that failed."""
    try:
        return _named(judged, reference)
    except MachineBusy:
        return judgement.nameless(judgement.named(judged, None, observed(judged)))


def _verdict(program: Program, reference: Reference, note: Note | None, trial: Trial | None) -> Judgement:
    key, drawn = reference.key, reference.drawn
    if drawn.mode == "gpu":
        compile_ours(key.solution, key.part, drawn.packed, note)
    kernel = drawn.mode == "cpu" and bool(drawn.launches)
    if kernel or drawn.mode == "gpu":
        pool.warm("compile" if kernel else "cpu")  # starts while this child works
    # The solution runs beside the answer in a separate child. Neither sees the other.
    with ThreadPoolExecutor(1) as beside:
        solution = beside.submit(reference.expected) if key.part.oracle is None else None
        trial = trial or attempt([program], key.part, drawn.packed, drawn.mode, drawn.own_s, note)[0]
    expected = solution.result() if solution else reference.expected()
    judged = judgement.judge(key, program, drawn, trial, expected)
    if kernel and judged.why in ("passed", "unjudged"):
        judged = judgement.compiled(judged, *_compiled(program, key.part, drawn))
    return _kernel_alone(judged, expected) if drawn.launches and judged.why == "passed" else judged


def _kernel_alone(judged: Judgement, expected: Sequence[Any] | str) -> Judgement:
    """Launch a kernel that passed once more where no other code of the answer runs, which could forge what its child reports.

    If it needs such code, the judgement stands and is not ``vouched`` for.
    """
    key, program, drawn = judged.key, judged.program, judged.drawn
    if inert(program.source):
        return judged
    if not made_by_triton(program.source, key.part.entry):
        return judgement.no_kernel(judged, "made")
    bare = replace(program, source=core(program.source))
    trial = attempt([bare], key.part, drawn.packed, drawn.mode, drawn.own_s)[0]
    found = judgement.judge(key, program, drawn, trial, expected)
    if trial.load_error or any(record.get("raised", {}).get("type") == "NameError" for record in trial.records.values()):
        return replace(judged, vouched=False)
    if found.why != "passed":
        return judgement.no_kernel(judged, "other")
    return judgement.compiled(judged, *_compiled(bare, key.part, drawn)) if drawn.mode == "cpu" else judged


def _alone(own: Judgement, reference: Reference, note: Note | None) -> Judgement:
    """Judge an answer that did not pass once more, with the course's functions in place of the learner's own of other
    parts. A part is worth its points whatever the parts are that it stands on."""
    if own.why not in ("failed", "waits", "does_not_load"):
        return own
    program, beside = reference.key.beside(own.program)
    return judgement.alone(_verdict(program, reference, note, None), own, beside) if beside else own


def _named(judged: Judgement, reference: Reference) -> Judgement:
    # If the interpreter could not judge most cases, the reason may be what no compiler accepts, and not the few cases that
    # it ran far enough to be wrong.
    if judged.mode == "cpu" and judged.drawn.launches and judged.many is not None and judged.many.outcome == "unjudged":
        refusal = _compiled(judged.program, judged.part, judged.drawn)[1]
        if refusal:
            return judgement.compiled(judged, False, refusal)
    wrong = _misconception(judged, reference)
    if wrong and diagnose.two_valued(judged) and not _agree_again(judged, reference.program(wrong)):
        wrong = None
    return judgement.named(judged, wrong, None if wrong else _fact(judged))


def _fact(judged: Judgement) -> tuple[str, Any] | None:
    """Return what is true of every case; else what is true of every case that fails, on other seeds too: what the cases of one
    seed have in common may be chance."""
    key, seed, mode = judged.key, judged.seed, judged.mode
    fact, kernel = observed(judged), bool(judged.drawn.launches)
    if judged.outcome == "timeout":
        return fact  # on each further seed the learner would wait as long again
    if fact or key.part.compare or (kernel and (mode == "gpu" or not related([judged]))):  # a kernel takes long to run again
        return fact
    others = [Reference(key, draw(key.part, other, mode)) for other in range(seed + 1, seed + 1 + OTHER_SEEDS)]
    with ThreadPoolExecutor(OTHER_SEEDS) as beside:
        ran = [beside.submit(attempt, [judged.program], key.part, one.drawn.packed, mode, one.drawn.own_s) for one in others]
        right = [one.expected() for one in others]
        trials = [one.result()[0] for one in ran]
    again = zip(others, trials, right, strict=True)
    found = related([judged, *(judgement.judge(key, judged.program, one.drawn, did, of) for one, did, of in again)])
    return ("related", found) if found else None


def _misconception(here: Judgement, reference: Reference) -> Wrong | None:
    if here.mode == "cpu" or not here.key.wrong:
        return diagnose.find(here, reference.bank)
    drawn = replace(here.drawn, mode="cpu")
    own_s = ENDLESS_S if here.outcome == "timeout" else drawn.own_s
    second = here.trial.watched or attempt([here.program], here.part, drawn.packed, "cpu", own_s)[0]
    there = judgement.judge(here.key, here.program, drawn, second, here.expected)
    return diagnose.find_on_gpu(here, there, reference.bank)


def _compiled(program: Program, part: Part, drawn: Drawn) -> tuple[bool, Any]:
    return compiles(program, part, _unlike(drawn.launches), drawn.own_s)


def _agree_again(judged: Judgement, theirs: Program) -> bool:
    """Return True if an answer and the bank answer that it agrees with agree on the cases of another seed too. If only two
    values are possible, they may agree on some twenty cases by chance."""
    key, mode = judged.key, judged.mode
    if theirs.source == judged.program.source:
        return True
    if judged.outcome == "timeout" and judged.own:
        return False  # it ran twice already, and nobody waits for a third time
    drawn = draw(key.part, judged.seed + 1, mode)
    own_s = ENDLESS_S if judged.outcome == "timeout" else drawn.own_s
    mine, other = attempt([judged.program, theirs], key.part, drawn.packed, mode, own_s)
    return agree(deeds(mine, key.part.close), deeds(other, key.part.close), key.part.close)


def own_case(part: Part, args: tuple[Any, ...], kwargs: dict[Any, Any], function: str = "") -> Case | Launch:
    """Make a case from a person's own arguments: a call of ``function`` (one of the part's names; empty: its entry), or the
    launch that ``Part.launch`` makes of them."""
    if function and function not in part.names:
        raise CourseError(f"Part {part.id} has no function {function!r}; it has {', '.join(part.names)}.")
    try:
        if part.launch:
            return part.launch(*args, **kwargs)
        return Case(args, kwargs, call=function, compiles=part.compiles(*args, **kwargs))
    except (TypeError, ValueError) as e:  # bad arguments of a person's own
        takes = ", ".join(inspect.signature(part.launch).parameters) if part.launch else "other arguments"
        raise CourseError(f'lab.run("{part.id}", ...) takes {takes}. ({e})') from None


def call(part: Part, program: Program, case: Case | Launch, mode: str, note: Note | None = None) -> tuple[Any, str]:
    """Run one answer on one case. Returns its result and its output. Raises CourseError if the answer did not return.

    A kernel's result is the buffer that it wrote (a dict if several).
    """
    trial = attempt([program], part, [pack(case)], mode, patience(part, mode), note)[0]
    if trial.load_error:
        raise CourseError(printable(sentences.of_load(trial.load_error, program)))
    record = trial.records.get(0)
    if record is None:
        raise CourseError(sentences.of_end(trial))
    if raised := record.get("raised"):
        where = sentences.place(raised["line"], program)
        raise CourseError(printable(f"It raised {raised['type']}: {raised['message']}{where}"))
    outside = [sentences.of_event(event, ()) for event in record["events"] if event["kind"] == "outside"]
    said = printable("\n".join([*outside, *sentences.of_notes(trial), *filter(None, [trial.stdout.rstrip()])]))
    if not isinstance(case, Launch):
        return record["returned"], said
    written = record["written"]
    return next(iter(written.values())) if len(written) == 1 else written, said


def _unlike(launches: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Select the launches that are compiled separately: one of each set of constants, at most three."""
    return list({repr(sorted(launch["constexprs"].items())): launch for launch in launches}.values())[-3:]
