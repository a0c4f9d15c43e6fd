"""One answer, judged: its outcomes on the cases of a seed, held against what is right, and put into words."""

from __future__ import annotations

import ast
import inspect
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcplab import codec
from dcplab import mode as modes
from dcplab.course.model import Buf, Case, CheckResult, Launch, Part, Wrong
from dcplab.course.seeded import Draw, fresh_seed
from dcplab.errors import CourseError
from dcplab.judge import diagnose, verdict
from dcplab.judge.compare import RIGHT_VALUES
from dcplab.judge.verdict import Verdict
from dcplab.notebook.extract import Program, same_code, unfinished
from dcplab.present import case_table, check_result
from dcplab.sandbox import pool
from dcplab.sandbox.attempts import Trial, attempt, compiles
from dcplab.sandbox.kernels.bounds_guard import sentence
from dcplab.sandbox.kernels.compile_for_gpu import TARGET

Note = Callable[[str], None]
GPU_PATIENCE = 2.0  # a first run there compiles and makes a context


@dataclass(frozen=True)
class Key:
    """What a part is held against: the programs of its solution and its starter, and the bank of wrong answers."""

    lab: str
    part: Part
    solution: Program
    starter: Program
    wrong: Sequence[tuple[Wrong, Program]] = field(default=())


def check(
    key: Key, program: Program, seed: int | None = None, mode: str | None = None, note: Note | None = None
) -> CheckResult:
    """Judges one answer. ``seed`` draws the inputs (None: a fresh one); ``mode`` is "cpu" or "gpu" (None: what is here)."""
    started = time.perf_counter()
    part, mode = key.part, mode or modes.current().name
    seed = fresh_seed() if seed is None else seed

    def result(outcome: str, first: str, **more) -> CheckResult:
        return check_result.result(
            lab=key.lab, part=part, outcome=outcome, first=first, seed=seed, mode=mode, started=started, **more
        )

    if reason := part.not_here(mode):
        return result("error", f"Not judged here: {reason}")
    if program.problem:
        return result("crashed" if program.unreadable else "not_attempted", program.problem)
    if same_code(program.source, key.starter.source, part.names):
        return result("not_attempted", "Not attempted yet: the starter is as it was.")
    if unfinished(program.source, part.names):
        return result("not_attempted", "Not finished yet: it still ends in `raise NotImplementedError`.")

    drawn = list(part.cases(Draw(seed)))
    cases = [case for case in drawn if mode in case.modes]
    elsewhere = len(drawn) - len(cases)
    if not cases:
        return result("error", f"Not judged here: it can only be judged {_other(mode)}.")
    wall = part.timeout_s * (GPU_PATIENCE if mode == "gpu" else 1.0)
    packed = [pack(case) for case in cases]
    launches = [case for case in packed if case["kind"] == "launch"]
    if mode == "gpu" or launches:
        pool.warm("cpu" if mode == "gpu" else "compile")  # it starts while this one works
    # The solution runs beside the answer, in a child of its own: neither sees the other.
    expected: list[Any] = []
    beside = threading.Thread(target=lambda: expected.append(_expected(key, cases, packed, mode, wall)))
    if part.oracle is None:
        beside.start()
    trial = attempt([program], part, packed, mode, wall, note)[0]
    if part.oracle is None:
        beside.join()
    else:
        expected.append(_from_oracle(part, cases))
    if isinstance(expected[0], str):
        return result("error", f"The checker failed, not your answer: {expected[0]}", detail=expected[0])
    names = [argument_names(key, case) for case in cases]

    def verdicts_of(trial: Trial) -> list[Verdict]:
        return [verdict.of_case(part, i, case, trial, expected[0][i], names[i]) for i, case in enumerate(cases)]

    verdicts = verdicts_of(trial)
    if trial.load_error:
        return result("crashed", _load_sentence(trial, program), detail=_traceback(trial.load_error, program) + _output(trial))
    outcome, shown = verdict.overall(verdicts, cases)
    also = ""
    if mode == "cpu" and launches and outcome in ("passed", "unjudged"):
        compiled, refused = compiles(program, part, _unlike(launches), wall)
        if refused:
            detail = _traceback(refused, program) + _output(trial)
            return result("crashed", f"The interpreter runs it, a GPU could not: {_refusal(refused, program)}", detail=detail)
        also = f"; it compiles for {TARGET}" if compiled else ""
    whose = _seed_of(part, trial)
    if outcome == "passed":
        says = f"Right on all {len(cases)} cases{also}.{_elsewhere(elsewhere, mode)}"
        return result("passed", says, detail=_detail(verdicts, cases, names, None, program, trial), case_seed=whose)
    if outcome == "unjudged":
        return result("error", f"Not judged here: {shown.says}", detail=_detail(verdicts, cases, names, shown, program, trial))
    if outcome == "not_attempted":
        helper = next((name for name in _functions(program.source) if unfinished(program.source, name)), None)
        which = f"`{helper}`, which it needs," if helper else "it"
        return result("not_attempted", f"Not finished yet: {which} raises NotImplementedError.")
    here = _seen(trial, mode, verdicts, cases)
    failing = here.failing
    if mode == "cpu" or not key.wrong:
        found = diagnose.find(key.wrong, part, here, packed, wall)
    else:
        patience = diagnose.ENDLESS_S if outcome == "timeout" else wall
        second = trial.watched or attempt([program], part, packed, "cpu", patience)[0]
        there = _seen(second, "cpu", verdicts_of(second), cases)
        found = diagnose.find_on_gpu(key.wrong, part, here, there, packed, wall)
    if found:  # what a mistake does is seen best where little is going on, be it unsafe elsewhere
        ran = [i for i in failing if verdicts[i].outcome in ("wrong", "unsafe", shown.outcome)]
        shown = verdicts[min(ran, key=lambda i: (cases[i].size, i))]
    return result(
        outcome,
        found.says if found else shown.says,
        diagnosis=found.id if found else None,
        question=found.asks if found else _question(part, outcome, shown.says),
        second=shown.says if found and found.says != shown.says else "",
        count=f"{len(failing)} of {len(cases)} cases fail; the smallest: " if len(cases) > 1 else "",
        table=shown.table,
        case=case_table.describe(cases[shown.number], names[shown.number]),
        label=cases[shown.number].label,
        detail=_detail(verdicts, cases, names, shown, program, trial),
        share=1 - len(failing) / len(cases) if part.by_case and outcome == "wrong" else 0.0,
        case_seed=whose,
    )


def _seen(trial: Trial, mode: str, verdicts: Sequence[Verdict], cases: Sequence) -> diagnose.Seen:
    outcome, shown = verdict.overall(verdicts, cases)
    failing = [i for i, v in enumerate(verdicts) if v.outcome not in ("passed", "unjudged")]
    return diagnose.Seen(trial, mode, outcome, shown.number if shown else None, failing)


def _question(part: Part, outcome: str, says: str) -> str:
    """What a mistake without a name is asked: the part's question, unless the plain fact says all. A crash asks its own."""
    if says.endswith(RIGHT_VALUES):
        return "Which dtype does the docstring promise?"
    return part.question if outcome in ("wrong", "unsafe") else ""


def pack(case: Case | Launch) -> dict[str, Any]:
    """A case as data for a child. Arguments are encoded here, so that each program gets copies of its own."""
    if isinstance(case, Case):
        args, kwargs = codec.encode(tuple(case.args)), codec.encode(dict(case.kwargs))
        return {"kind": "case", "args": args, "kwargs": kwargs, "writes": list(case.writes), "call": case.call}
    for name, t in case.buffers.items():
        if not t.is_contiguous():
            raise CourseError(f"The buffer {name!r} of a launch is not contiguous.")
    args = [("buffer", a.name, a.dtype, a.before) if isinstance(a, Buf) else ("value", a, None, 0) for a in case.args]
    return {
        "kind": "launch",
        "buffers": codec.encode(dict(case.buffers)),
        "args": codec.encode(args),
        "grid": tuple(case.grid),
        "constexprs": dict(case.constexprs),
        "writes": list(case.writes),
        "exact": case.exact,
    }


def call(
    part: Part, program: Program, args: tuple, kwargs: dict, mode: str, note: Note | None = None, function: str = ""
) -> tuple[Any, str]:
    """One answer on arguments of one's own: what it returned, and what it printed. Raises CourseError if it did not return.

    A Triton kernel is launched as its part says (``Part.launch``) and gives the buffer that it wrote (a dict if several).
    ``function`` is one of the part's names; empty: its entry.
    """
    if function and function not in part.names:
        raise CourseError(f"Part {part.id} has no function {function!r}; it has {', '.join(part.names)}.")
    try:
        case = part.launch(*args, **kwargs) if part.launch else Case(args, kwargs, call=function)
    except (TypeError, ValueError) as e:  # the arguments are a person's
        takes = ", ".join(inspect.signature(part.launch).parameters) if part.launch else "other arguments"
        raise CourseError(f'lab.run("{part.id}", ...) takes {takes}. ({e})') from None
    wall = part.timeout_s * (GPU_PATIENCE if mode == "gpu" else 1.0)
    trial = attempt([program], part, [pack(case)], mode, wall, note)[0]
    if trial.load_error:
        raise CourseError(_load_sentence(trial, program))
    record = trial.records.get(0)
    if record is None:
        raise CourseError(verdict.missing(0, trial, None).says)
    if "raised" in record:
        place = _place(record["raised"]["line"], program)
        raise CourseError(f"It raised {record['raised']['type']}: {record['raised']['message']}{place}")
    outside = [sentence(event) for event in record["events"] if event["kind"] == "outside"]
    said = "\n".join([*outside, *filter(None, [trial.stdout.rstrip()])])
    if not isinstance(case, Launch):
        return record["returned"], said
    written = record["written"]
    return next(iter(written.values())) if len(written) == 1 else written, said


def argument_names(key: Key, case: Case | Launch) -> list[str]:
    """The names of the parameters of what a case calls, from the solution's source, or from the part's driver."""
    if key.part.drive:
        return list(inspect.signature(key.part.drive).parameters)[1:]
    solution, called = key.solution, getattr(case, "call", "") or key.part.entry
    for node in ast.parse(solution.source).body:
        if isinstance(node, ast.FunctionDef) and node.name == called:
            return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    return []


def _expected(key: Key, cases: Sequence, packed: Sequence[dict], mode: str, wall: float) -> list[Any] | str:
    """What the solution region gives for every case; a sentence if it fails."""
    trial = attempt([key.solution], key.part, packed, mode, wall, None)[0]
    found = []
    for number, case in enumerate(cases):
        record = trial.records.get(number)
        if record is None or trial.load_error:
            return f"its own solution ended ({trial.status}) on case {number}."
        if "raised" in record and case.raises not in record["raised"]["is_a"]:
            return f"its own solution raised {record['raised']['type']}: {record['raised']['message']}"
        if record["events"]:
            return f"its own solution is unsafe on case {number}: {record['events'][0]}"
        found.append(verdict.outcome_of(case, record))
    return found


def _from_oracle(part: Part, cases: Sequence) -> list[Any] | str:
    found = []
    for case in cases:
        if getattr(case, "raises", None):
            found.append(None)
            continue
        try:
            if isinstance(case, Launch):
                buffers = codec.decode(codec.encode(dict(case.buffers)))
                whole = part.oracle(buffers, case)
                found.append({name: whole[name] for name in case.writes})
            else:
                args, kwargs = codec.decode(codec.encode((tuple(case.args), dict(case.kwargs))))
                value = part.oracle(*args, **kwargs)
                found.append({i: args[i] for i in case.writes} if case.writes else value)
        except Exception as e:
            return f"its oracle raised {type(e).__name__}: {e}"
    return found


def _seed_of(part: Part, trial: Trial) -> int | None:
    """The learner's own seed that an answer names, where its part is about one; None where it names none."""
    if part.seed_of is None:
        return None
    named = (part.seed_of(r["returned"]) for r in trial.records.values() if "raised" not in r and "returned" in r)
    return next((n for n in named if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**63), None)


def _unlike(launches: Sequence[dict]) -> list[dict]:
    """Of launches those that are compiled apart: one of each set of constants, and not more than three."""
    return list({repr(sorted(launch["constexprs"].items())): launch for launch in launches}.values())[-3:]


def _refusal(raised: Mapping[str, Any], program: Program) -> str:
    """Why Triton would not compile it, in a line. Its own message begins with the place and the source line."""
    lines = [line.strip() for line in raised["message"].splitlines() if line.strip(" ^")]
    said, at = (lines or ["no reason given"])[-1], _place(raised["line"], program)
    if not at and len(lines) > 2:
        at = f" (in `{lines[-2]}`)"
    return f"{raised['type']}: {said}{at}"


def _elsewhere(count: int, mode: str) -> str:
    """What is to be said where cases were left out for want of the other mode."""
    return f" {count} more can only be judged {_other(mode)}." if count else ""


def _other(mode: str) -> str:
    return "on a GPU" if mode == "cpu" else "in the interpreter"


def _functions(source: str) -> list[str]:
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def _load_sentence(trial: Trial, program: Program) -> str:
    error = trial.load_error
    where = _place(error["line"], program)
    if error["type"] == "NameError":
        return f"{error['message'].rstrip('.')}: if a cell of yours defines it, run and save that cell first."
    if error["refused"] and program.borrowed:
        return _borrowed_sentence(program)
    return f"It does not load: {error['type']}: {error['message'].splitlines()[0] if error['message'] else ''}{where}"


def _borrowed_sentence(program: Program) -> str:
    """What an answer stands on that the course made, where that was refused: the import that fails is not the learner's."""
    first = program.borrowed[0]
    if not first.maker:
        return f"Your answer uses `{first.name}`, which is the course's own: an answer does without."
    made = f"which code cell {first.cell} made with {first.maker}"
    return f"Your answer uses `{first.name}`, {made}: an answer runs without the course. Did you mean an argument?"


def _place(line: int | None, program: Program) -> str:
    if not line or line > len(program.lines):
        return ""
    cell, inner = program.lines[line - 1]
    return f" (line {inner} of code cell {cell})"


def _traceback(error: Mapping[str, Any], program: Program) -> str:
    return f"{error['traceback']}{_place(error['line'], program)}\n"


def _output(trial: Trial) -> str:
    pieces = [
        f"--- {name} ---\n{text.rstrip()}"
        for name, text in (("printed", trial.stdout), ("stderr", trial.stderr))
        if text.strip()
    ]
    return "\n".join(pieces)


def _detail(verdicts, cases, names, shown: Verdict | None, program: Program, trial: Trial) -> str:
    """What explain() shows: every case, the traceback of the one shown, what the answer printed."""
    lines = [f"{v.number:3d}  {v.outcome:<13} {case_table.describe(cases[v.number], names[v.number])[:150]}" for v in verdicts]
    pieces = ["\n".join(lines)]
    if shown is not None and shown.traceback:
        record = trial.records.get(shown.number, {})
        pieces.append(shown.traceback + _place(record.get("raised", {}).get("line"), program))
    if output := _output(trial):
        pieces.append(output)
    return "\n\n".join(pieces)
