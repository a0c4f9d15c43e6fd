"""Words a judgement's facts in sentences: the mistake in one case, and the end of the whole answer."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcplab.codec import Other
from dcplab.course.trial import Trial
from dcplab.judge.compare import Difference, kind
from dcplab.judge.judgement import Judgement
from dcplab.judge.verdict import Verdict
from dcplab.notebook.extract import Program
from dcplab.notebook.runs import Judged
from dcplab.present.values import article, short
from dcplab.sandbox.kernels.bounds_guard import sentence as outside

RIGHT_VALUES = " (the values are right)."  # end of the sentence if only the dtype is wrong
DOUBTS = {
    "arithmetic": "Triton's CPU interpreter computes {} wrongly: convert to fp32 before every operation, or run on a GPU.",
    "cast": "Triton's CPU interpreter truncates a cast to {}; a GPU rounds. This can only be judged on a GPU.",
    "logic": "Triton's CPU interpreter keeps one side of `and` or `or` between blocks: join masks with & and |.",
    "logic not": "Triton's CPU interpreter gives one bool for `not` of a whole block: `~` turns a mask over, lane by lane.",
}
_PASSED_OVER = {
    "compile": "torch.compile was passed over: the function ran as it is.",
    "configurations": "Of its {} configurations the first was run: a GPU chooses.",
}
_TOUCHED = {
    "changed": "It changes `{}`, which it may only read.",
    "shares": "Its result shares memory with `{}`: it must be a tensor of its own.",
    "between": "It writes between the elements of `{}`: that memory is somebody else's.",
    "again": "What is stored is right, but an element of `{}` is read more than once.",
    "needless": "What is stored is right, but it reads elements of `{}` that this launch does not need.",
}
_ENDED = {
    "memory": "It used more memory than it may have and was stopped.",
    "threads": "It started more threads or processes than it may have and was stopped.",
    "files": "It wrote more into files than it may and was stopped.",
    "flood": "It printed without end and was stopped.",
    "broken": "It wrote into the checker's own channel; the run does not count.",
}
_PLAIN = {
    "": "",
    "too_large": "The result is far larger than what is asked for.",
    "unfinished": "It raises NotImplementedError.",
    "fault": "It touched memory far outside its buffers: the GPU stopped it.",
    "memory": "It asked for more memory than it may have.",
}
SEED = {
    "other_seed": "It is about the cases of another seed: your own cases are those of seed {}.",
    "several_seeds": "It names another seed from case to case ({}): all cases are those of one.",
}
NO_KERNEL = {
    "made": "No kernel was launched: `{}` is no function with @triton.jit above it where it is defined last.",
    "other": "The kernel does something else where the code around it does not run: `{}` alone fails.",
}
KERNEL_ALONE = (
    "A kernel is launched once more with imports of Triton and torch, constants, and @triton.jit functions alone. Take out of "
    "the notebook what changes anything else."
)
NOT_VOUCHED = "It needs code of its own around it (an import, a call), so that it was launched is its own word."


def of_verdict(
    verdict: Verdict, trial: Trial, names: Sequence[str], results: Sequence[str] = (), entries: Sequence[str] = ()
) -> str:
    """Return one sentence on one case. ``names``: the parameters of the called function. ``results``: the names that its
    docstring gives to the entries of a tuple that it returns. ``entries`` as in `Part`."""
    if verdict.outcome == "not_run":
        return "not run"
    raised = trial.records.get(verdict.number, {}).get("raised") or {}
    match verdict.what:
        case "differs":
            return of_difference(verdict.fact, names, results, entries)
        case "compared":
            return verdict.fact
        case "returned":
            return f"It returns where a {verdict.fact} is asked for."
        case "raised_other":
            return f"It raises {raised['type']} where a {verdict.fact} is asked for."
        case "touched":
            if raised and verdict.fact["kind"] == "changed":
                return f"It has changed `{argument(verdict.fact['argument'], names)}` by the time that it raises."
            return of_event(verdict.fact, names)
        case "doubt":
            kind, of = verdict.fact
            return DOUBTS.get(f"{kind} {of}", DOUBTS[kind]).format(of)
        case "ended":
            return of_end(trial)
        case "refused":
            return first_line(raised)
        case "name":
            return of_missing_name(raised)
        case "raised":
            return f"It raised {of_exception(raised)}"
    return _PLAIN[verdict.what]


def of_case(judgement: Judgement, verdict: Verdict, names: Sequence[Sequence[str]]) -> str:
    """Return one sentence on one case of an answer. ``names``: the parameters of the function that each case calls."""
    key, cases = judgement.key, judgement.drawn.cases
    results = key.result_names(cases[verdict.number]) if verdict.number < len(cases) else ()
    return of_verdict(verdict, judgement.trial, names[verdict.number], results, key.part.entries)


def of_difference(
    found: Difference, names: Sequence[str] = (), results: Sequence[str] = (), entries: Sequence[str] = ()
) -> str:
    """Return one sentence on the first difference between a value and the right one. Names as in `of_verdict`."""
    got, expected, where = found.got, found.expected, _where(found.path, names, results, entries)
    what = _capital(where or "the result")
    match found.what:
        case "kind":
            if expected is None:
                return f"{what} is {short(got)}; None is expected."
            if got is None:
                return f"{what} is None; {_value_or_kind(expected)} is expected."
            more = f" ({got.text})" if isinstance(got, Other) and got.text else ""
            return f"{what} is {article(kind(got))}{more}; {article(kind(expected))} is expected."
        case "length":
            of = entries[0] if entries and not found.path else "entry"
            are = "is" if len(expected) == 1 else "are"
            return f"{what} has {_many(len(got), of)}; {len(expected)} {are} expected."
        case "keys":
            return f"{what} has the keys {sorted(map(str, got))}; {sorted(map(str, expected))} are expected."
        case "shape":
            return f"{what} has shape {list(got.shape)}; {list(expected.shape)} is expected."
        case "dtype":
            mine, right = (str(t.dtype).removeprefix("torch.") for t in (got, expected))
            if found.same:
                return f"{what} has dtype {mine}; {right} is expected{RIGHT_VALUES}"
            return f"{what} differs in {_of(found)}, and has dtype {mine}; {right} is expected."
    if found.places:
        return f"{what} differs in {_of(found)}."
    if isinstance(expected, float):
        return f"{what} is {got!r}; {expected!r} is expected."
    return f"{what} is {short(got)}; {short(expected)} is expected."


def of_event(event: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return one sentence on an access to forbidden memory."""
    return outside(event) if event["kind"] == "outside" else _TOUCHED[event["kind"]].format(argument(event["argument"], names))


def of_end(trial: Trial) -> str:
    """Word the way in which an answer ended its child."""
    if trial.status == "timeout":
        return f"Stopped after {trial.own_s:g} s: it did not end."
    if trial.exit is not None and trial.exit < 0:
        end = signal.Signals(-trial.exit).name
    else:
        end = f"exit status {trial.exit}" if trial.exit is not None else "no exit status"
    return _ENDED.get(trial.status, f"It ended the whole process ({end}).")


def of_notes(trial: Trial) -> list[str]:
    """Return a sentence for each request that the child passed over."""
    return list(dict.fromkeys(text for record in trial.records.values() for text in _passed_over(record.get("notes"))))


def of_unwatched(judgement: Judgement) -> list[str]:
    """Return a sentence where a kernel passed on a GPU and the interpreter could not watch what it reads."""
    if not (cases := judgement.unwatched):
        return []
    watched = judgement.trial.watched
    record = watched.records.get(cases[0], {}) if watched else {}
    asked = [case.get("reads") for case in judgement.drawn.packed]
    reads = "which elements it reads, and how often" if any(asked[n] for n in cases) else "which elements it reads"
    why = f"stopped with {record['raised']['type']}" if "raised" in record else "ran otherwise than a GPU does"
    ends = why if record else "did not come"
    return [f"In {len(cases)} of them nobody watched {reads}: Triton's interpreter, which watches, {ends} there."]


def _passed_over(notes: object) -> Iterator[str]:
    """Word a child's notes. An answer can write them itself, so what is none of ours is left out."""
    for note in notes if isinstance(notes, list | tuple) else ():
        if isinstance(note, list | tuple) and len(note) == 2:
            what, count = note
            if isinstance(what, str) and what in _PASSED_OVER and type(count) is int and 0 <= count < 1000:
                yield _PASSED_OVER[what].format(count)


def of_judged(judged: Judged) -> str:
    """Say what about the judged cell may surprise, or nothing."""
    if judged.changed:
        return f"The cell has changed since it ran as [{judged.count}]: run it, then check again."
    if judged.renamed:
        return (
            f"[{judged.count}] was judged. The same cell ran again as [{judged.renamed}], without the name that is asked for."
        )
    if judged.cells > 1:
        which = f"the one that ran last, as [{judged.count}]" if judged.count else "the last of them"
        return f"{judged.cells} cells of the notebook define it; judged was {which}."
    return ""


def of_load(error: Mapping[str, Any], program: Program) -> str:
    """Word the reason why an answer does not load."""
    if error["type"] == "NameError":
        return of_missing_name(error)
    if error["refused"] and program.borrowed:
        return of_borrowed(program)
    return f"It does not load: {error['type']}: {error['message'].splitlines()[0] if error['message'] else ''}" + place(
        error["line"], program
    )


def of_borrowed(program: Program) -> str:
    """Name the course's object that an answer depends on, where the course's import was refused. That import is
    seldom the learner's own: the notebook's other cells bring it in."""
    first = program.borrowed[0]
    if not first.maker:
        return f"Your answer uses `{first.name}`, which is the course's own: an answer does without."
    made = f"which {_cell(first.cell, program)} made with {first.maker}"
    return f"Your answer uses `{first.name}`, {made}: an answer runs without the course. Did you mean an argument?"


def of_missing_name(raised: Mapping[str, Any]) -> str:
    message = first_line(raised)
    name = message.partition("'")[2].partition("'")[0]
    if name in sys.stdlib_module_names:
        return f"`{name}` is a module that no cell of yours imports."
    if meant := raised.get("meant"):
        return f"{message.rstrip('.')}. Did you mean `{str(meant)[:40]}`?"
    return f"{message.rstrip('.')}: if a cell of yours defines it, run and save that cell first."


def of_exception(raised: Mapping[str, Any]) -> str:
    """Return an exception's type and the first line of its message."""
    first = first_line(raised).removesuffix(", but expected one of:")  # torch's list of them follows
    return f"{raised['type']}: {first}" if first else raised["type"]


def of_refusal(raised: Mapping[str, Any], program: Program) -> str:
    """Return in one line why Triton refused to compile. Triton's own message begins with the place and the source line."""
    lines = [line.strip() for line in raised["message"].splitlines() if line.strip(" ^")]
    said, at = (lines or ["no reason given"])[-1], place(raised["line"], program)
    if not at and len(lines) > 2:
        at = f" (in `{lines[-2]}`)"
    return f"{raised['type']}: {said}{at}"


def first_line(raised: Mapping[str, Any]) -> str:
    return raised["message"].strip().splitlines()[0] if raised["message"].strip() else ""


def place(line: int | None, program: Program) -> str:
    """Name the cell and line of a line of the program that ran, or return nothing."""
    if not line or line > len(program.lines):
        return ""
    cell, inner = program.lines[line - 1]
    return f" (line {inner} of {_cell(cell, program)})"


def _cell(number: int, program: Program) -> str:
    return f"[{number}]" if program.ran else f"code cell {number}"


def argument(which: int | str, names: Sequence[str]) -> str:
    """Name an argument; number it if the entry has no name for it. A buffer has its own name."""
    if isinstance(which, str):
        return which
    return names[which] if which < len(names) else f"argument {which}"


def _where(path: Sequence, names: Sequence[str], results: Sequence[str] = (), entries: Sequence[str] = ()) -> str:
    where = ""
    for depth, step in enumerate(path):
        match step:
            case ("entry", i) if entries and depth == 0:
                where = f"{entries[0]} {i}"
            case ("entry", i) if depth == 1 and i + 1 < len(entries):
                where = f"the {entries[1 + i]} of {where}"
            case ("entry", i) if not where and i < len(results):
                where = f"`{results[i]}`"
            case ("entry", i):
                where = f"entry {i}" + (f" of {where}" if where else "")
            case ("key", key):
                where = f"`{key}`"
            case _:
                where = f"`{argument(step, names)}`"
    return where


def _value_or_kind(value: Any) -> str:
    return repr(value) if isinstance(value, bool | int | float | str) else article(kind(value))


def _many(n: int, of: str) -> str:
    return f"{n} {of}" if n == 1 else f"{n} {of.removesuffix('y')}ies" if of.endswith("y") else f"{n} {of}s"


def _of(found: Difference) -> str:
    return f"{len(found.places)} of {found.expected.numel()} values"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
