"""One answer, judged: its outcomes on the cases of a seed, held against what is right, and put into words."""

from __future__ import annotations

import ast
import inspect
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcplab import mode as modes
from dcplab.check import codec, diagnose, inexact, report, tables
from dcplab.check.compare import difference
from dcplab.check.draw import Draw, fresh_seed
from dcplab.check.extract import Program, same_code, unfinished
from dcplab.check.guard import sentence
from dcplab.check.model import Buf, Case, CheckResult, Launch, Part, Table, Wrong
from dcplab.check.trial import Trial, attempt
from dcplab.errors import CourseError

Note = Callable[[str], None]
GPU_PATIENCE = 2.0  # a first run there compiles and makes a context


@dataclass(frozen=True)
class Verdict:
    """What is to be said of one case. ``outcome`` is "passed", "wrong", "unsafe", "crashed", "timeout", or "unjudged"."""

    number: int
    outcome: str
    says: str = ""
    table: Table | None = None
    traceback: str = ""


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
        return report.result(
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
        return result("error", f"Not judged here:{_elsewhere(elsewhere, mode)}")
    wall = part.timeout_s * (GPU_PATIENCE if mode == "gpu" else 1.0)
    packed = [pack(case) for case in cases]
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
    verdicts = [_verdict(part, i, case, trial, expected[0][i], names[i]) for i, case in enumerate(cases)]
    if trial.load_error:
        return result("crashed", _load_sentence(trial, program), detail=_traceback(trial.load_error, program) + _output(trial))
    outcome, shown = _overall(verdicts, cases)
    if outcome == "passed":
        says = f"Right on all {len(cases)} cases.{_elsewhere(elsewhere, mode)}"
        return result("passed", says, detail=_detail(verdicts, cases, names, None, program, trial))
    if outcome == "unjudged":
        return result("error", f"Not judged here: {shown.says}", detail=_detail(verdicts, cases, names, shown, program, trial))
    if outcome == "not_attempted":
        helper = next((name for name in _functions(program.source) if unfinished(program.source, name)), None)
        which = f"`{helper}`, which it needs," if helper else "it"
        return result("not_attempted", f"Not finished yet: {which} raises NotImplementedError.")
    failing = [i for i, v in enumerate(verdicts) if v.outcome not in ("passed", "unjudged")]
    found = diagnose.find(key.wrong, part, outcome, shown.number, failing, trial, packed, mode, wall)
    return result(
        outcome,
        found.says if found else shown.says,
        diagnosis=found.id if found else None,
        question=found.asks if found else part.question if outcome in ("wrong", "unsafe") else "",  # a crash asks its own
        second=shown.says if found and found.says != shown.says else "",
        count=f"{len(failing)} of {len(cases)} cases fail; the smallest: " if len(cases) > 1 else "",
        table=shown.table,
        case=tables.describe(cases[shown.number], names[shown.number]),
        label=cases[shown.number].label,
        detail=_detail(verdicts, cases, names, shown, program, trial),
    )


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
        raise CourseError(_missing(part, 0, case, trial, None).says)
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
        found.append(_outcome(case, record))
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


def _outcome(case: Case | Launch, record: Mapping[str, Any]) -> Any:
    return record.get("written") if isinstance(case, Launch) or case.writes else record.get("returned")


def _verdict(part: Part, number: int, case: Case | Launch, trial: Trial, expected: Any, names: Sequence[str]) -> Verdict:
    record = trial.records.get(number)
    if record is None:
        return _missing(part, number, case, trial, expected)
    if "too_large" in record:
        return Verdict(
            number, "wrong", "The result is far larger than what is asked for.", tables.raised("too large", expected)
        )
    asked = getattr(case, "raises", None)
    raised = record.get("raised")
    if raised:
        if asked and asked in raised["is_a"]:
            return _events(part, number, case, record, None, None, names) or Verdict(number, "passed")
        return _raised(number, raised, asked, expected)
    got = _outcome(case, record)
    if asked:
        says = f"It returns where a {asked} is asked for."
        return Verdict(number, "wrong", says, tables.raised(tables.short(got), f"a {asked}"))
    unsafe = _events(part, number, case, record, got, expected, names)
    if unsafe and any(event["kind"] != "shares" for event in record["events"]):
        return unsafe
    says = part.compare(case, got, expected) if part.compare else _difference(case, got, expected, part.close, names)
    if says is None:
        return unsafe or Verdict(number, "passed")  # a result that is somebody's memory is worth a word once it is right
    if record.get("doubts"):
        return Verdict(number, "unjudged", record["doubts"][0])
    return Verdict(number, "wrong", says, _table(part, case, got, expected, names))


def _difference(case: Case | Launch, got: Any, expected: Any, close: float | None, names: Sequence[str]) -> str | None:
    if isinstance(case, Case) and not case.writes:
        return difference(got, expected, close)
    for which, right in expected.items():  # what was written, argument by argument
        says = difference(got.get(which), right, close, f"`{_name(which, names)}`")
        if says:
            return says
    return None


def _raised(number: int, raised: Mapping[str, Any], asked: str | None, expected: Any) -> Verdict:
    first = raised["message"].strip().splitlines()[0] if raised["message"].strip() else ""
    what = f"{raised['type']}: {first}" if first else raised["type"]
    if raised["type"] == "NotImplementedError":
        return Verdict(number, "not_attempted", "It raises NotImplementedError.")
    if limit := inexact.loop_limit(raised["message"], modes.versions()["triton"]):
        return Verdict(number, "unjudged", limit)
    if asked:
        return Verdict(
            number, "wrong", f"It raises {raised['type']} where a {asked} is asked for.", tables.raised(what, f"a {asked}")
        )
    if raised["fault"]:
        says = "It touched memory far outside its buffers: the GPU stopped it."
        return Verdict(number, "unsafe", says, tables.raised(what, expected), raised["traceback"])
    if raised["refused"]:
        return Verdict(number, "crashed", first, tables.raised("refused", expected), raised["traceback"])
    if "allocate memory" in raised["message"] or raised["type"] in ("MemoryError", "OutOfMemoryError"):
        return Verdict(
            number, "crashed", "It asked for more memory than it may have.", tables.raised(what, expected), raised["traceback"]
        )
    if raised["type"] == "NameError":
        what = f"{first.rstrip('.')}: if a cell of yours defines it, run and save that cell first."
        return Verdict(number, "crashed", what, tables.raised("NameError", expected), raised["traceback"])
    return Verdict(number, "crashed", f"It raised {what}", tables.raised(what[:60], expected), raised["traceback"])


def _missing(part: Part, number: int, case: Case | Launch, trial: Trial, expected: Any) -> Verdict:
    """The child ended before this case had an outcome. The first such case is the one that ended it."""
    if number != len(trial.records):
        return Verdict(number, "not_run", "not run")
    if trial.status == "timeout":
        return Verdict(
            number,
            "timeout",
            f"Stopped after {trial.wall_s:g} s: it did not end.",
            tables.raised("no end", expected),
            trial.stuck,
        )
    says = {
        "memory": "It used more memory than it may have and was stopped.",
        "flood": "It printed without end and was stopped.",
        "broken": "It wrote into the checker's own channel; the run does not count.",
    }.get(trial.status, f"It ended the whole process ({trial.end}).")
    return Verdict(number, "crashed", says, tables.raised("no result", expected))


def _events(part, number, case, record, got, expected, names) -> Verdict | None:
    if not record["events"]:
        return None
    event = record["events"][0]
    table = _table(part, case, got, expected, names) if got is not None and expected is not None else None
    if event["kind"] == "outside":
        element = str(event["element"])
        outside = Table(
            ("buffer", "element touched", "elements there are"), ((event["buffer"], element, f"0 to {event['size'] - 1}"),)
        )
        return Verdict(number, "unsafe", sentence(event), outside)
    name = f"`{_name(event['argument'], names)}`"
    says = {
        "changed": f"It changes {name}, which it may only read.",
        "shares": f"Its result shares memory with {name}: it must be a tensor of its own.",
        "between": f"It writes between the elements of {name}: that memory is somebody else's.",
    }[event["kind"]]
    if table is None or not table.rows:
        table = Table(("argument", "yours", "expected"), ((name.strip("`"), event["kind"], "left alone"),))
    return Verdict(number, "unsafe", says, table)


def _table(part: Part, case: Case | Launch, got: Any, expected: Any, names: Sequence[str]) -> Table | None:
    if part.rows is not None:
        try:
            return part.rows(case, got, expected)
        except Exception:  # an answer may return what its author did not think of; the general table takes anything
            pass
    return tables.general(case, got, expected, names, part.close)


def _overall(verdicts: Sequence[Verdict], cases: Sequence) -> tuple[str, Verdict | None]:
    """The outcome of the whole, and the case to show: the smallest with that outcome. Unsafe goes before wrong."""
    ran = sorted((v for v in verdicts if v.outcome != "not_run"), key=lambda v: (cases[v.number].size, v.number))
    failed = [v for v in ran if v.outcome not in ("passed", "unjudged")]
    if not failed:
        doubtful = next((v for v in ran if v.outcome == "unjudged"), None)
        return ("unjudged", doubtful) if doubtful else ("passed", None)
    if failed[0].outcome == "not_attempted":
        return "not_attempted", failed[0]
    failed = [v for v in failed if v.outcome != "not_attempted"]
    shown = next((v for v in failed if v.outcome == "unsafe"), failed[0])
    return shown.outcome, shown


def _elsewhere(count: int, mode: str) -> str:
    """What is to be said where cases were left out for want of the other mode."""
    if not count:
        return ""
    where = "on a GPU" if mode == "cpu" else "in the interpreter"
    return f" {count} more can only be judged {where}."


def _functions(source: str) -> list[str]:
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def _load_sentence(trial: Trial, program: Program) -> str:
    error = trial.load_error
    where = _place(error["line"], program)
    if error["type"] == "NameError":
        return f"{error['message'].rstrip('.')}: if a cell of yours defines it, run and save that cell first."
    return f"It does not load: {error['type']}: {error['message'].splitlines()[0] if error['message'] else ''}{where}"


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
    lines = [f"{v.number:3d}  {v.outcome:<13} {tables.describe(cases[v.number], names[v.number])[:150]}" for v in verdicts]
    pieces = ["\n".join(lines)]
    if shown is not None and shown.traceback:
        record = trial.records.get(shown.number, {})
        pieces.append(shown.traceback + _place(record.get("raised", {}).get("line"), program))
    if output := _output(trial):
        pieces.append(output)
    return "\n\n".join(pieces)


def _name(which: Any, names: Sequence[str]) -> str:
    if isinstance(which, str):
        return which
    return names[which] if which < len(names) else f"argument {which}"
