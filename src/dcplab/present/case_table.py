"""Makes the table of the displayed case: the part's own, or a general one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from dcplab.course.model import Buf, Case, Launch, Part, Table
from dcplab.judge.compare import wrong_places
from dcplab.judge.judgement import Judgement
from dcplab.judge.verdict import outcome_of
from dcplab.present import sentences
from dcplab.present.values import short

SHOWN = 4


def of_shown(judgement: Judgement, names: Sequence[str]) -> Table | None:
    """Return the table of the case that a judgement displays."""
    verdict, part = judgement.shown, judgement.part
    case, expected = judgement.drawn.cases[verdict.number], judgement.expected[verdict.number]
    record = judgement.trial.records.get(verdict.number, {})
    raised, called = record.get("raised") or {}, call(part, case, names)
    match verdict.what:
        case "too_large":
            return raised_row("too large", expected, called)
        case "returned":
            return raised_row(short(outcome_of(case, record)), f"a {verdict.fact}", called)
        case "raised_other":
            return raised_row(raised["type"], f"a {verdict.fact}", called)
        case "ended":
            return raised_row("no end" if verdict.fact == "timeout" else "no result", expected, called)
        case "refused":
            return raised_row("refused", expected, called)
        case "fault" | "memory" | "name" | "raised":  # its words stand in the sentence
            return raised_row(raised["type"], expected, called)
        case "touched" if verdict.fact["kind"] == "outside":
            touched, last = verdict.fact.get("run") or [verdict.fact["element"]], verdict.fact["size"] - 1
            header = ("buffer", "elements touched", "elements there are")
            return Table(header, ((verdict.fact["buffer"], " to ".join(map(str, touched)), f"0 to {last}"),))
        case "touched" if verdict.fact["kind"] in ("again", "needless"):
            times, asked = verdict.fact["times"], "read once" if verdict.fact["kind"] == "again" else "not read"
            mine = "read once" if times == 1 else f"read {times} times"
            fact = (verdict.fact["argument"], str(verdict.fact["element"]), mine, asked)
            return Table(("buffer", "element", "yours", "expected"), (fact,))
        case "touched":
            got = None if raised else outcome_of(case, record)
            table = _of_values(part, case, got, expected, names) if got is not None and expected is not None else None
            if table is not None and table.rows:
                return table
            row = (sentences.argument(verdict.fact["argument"], names), verdict.fact["kind"], "left alone")
            return Table(("argument", "yours", "expected"), (row,))
        case "differs" | "compared":
            return _of_values(part, case, outcome_of(case, record), expected, names)
    return None


def _of_values(part: Part, case: Case | Launch, got: Any, expected: Any, names: Sequence[str]) -> Table | None:
    if part.rows is not None:
        try:
            return part.rows(case, got, expected)
        except Exception:  # a part's table may not expect every value; the general one takes any
            pass
    return general(case, got, expected, names, part.close)


def general(case: Case | Launch, got: Any, expected: Any, names: Sequence[str] = (), close: float | None = None) -> Table:
    """Compare element by element, with a loc's owner and row, if the result has the first argument's shape; else whole
    values."""
    if isinstance(case, Launch):
        return _buffers(case, got, expected, close)
    given = arguments(case, names)
    pairs = _pairs(got, expected, close)
    first_name, first = next(iter(given.items()), ("", None))
    if pairs is None or not _matches(first, expected):
        return Table(("yours", "expected"), ((short(got), short(expected)),), _others(given, ""))
    ids: list[Any] = first.reshape(-1).tolist() if isinstance(first, torch.Tensor) else [first]
    size = given.get("dcp_size")
    rows = []
    for i, mine, right in pairs[:SHOWN]:
        where = _owner_row(ids[i], size) if "loc" in first_name and isinstance(size, int) and size > 0 else ()
        rows.append((str(ids[i]), *where, mine, right))
    one = first_name.rstrip("s") if isinstance(first, torch.Tensor) else first_name  # "layers" is a number of them
    header = (one or "input", *(("owner", "row") if rows and len(rows[0]) == 5 else ()), "yours", "expected")
    more = f" The first {SHOWN} that differ:" if len(pairs) > SHOWN else ""
    return Table(header, tuple(rows), (_others(given, first_name) + more).strip())


def raised_row(what: str, expected: Any, called: str) -> Table:
    """Make the row of a call that ended in an exception, or that returned where an exception is asked for, under the call."""
    if expected is None:  # the part judges by rule and has no single right result
        return Table(("yours",), ((what,),), called)
    return Table(("yours", "expected"), ((what, expected if isinstance(expected, str) else short(expected)),), called)


def arguments(case: Case, names: Sequence[str]) -> dict[str, Any]:
    """Map names to a case's arguments. Arguments without a name in the entry get numbers."""
    named = {names[i] if i < len(names) else f"argument {i}": value for i, value in enumerate(case.args)}
    return named | dict(case.kwargs)


def describe(case: Case | Launch, names: Sequence[str] = ()) -> str:
    """Describe a case in a line: its label and its inputs."""
    if isinstance(case, Launch):
        given: Mapping[str, Any] = {**case.buffers, "grid": case.grid, **case.constexprs}
    else:
        given = arguments(case, names)
    inputs = ", ".join(f"{k} = {short(v)}" for k, v in given.items())
    return f"{case.label}: {inputs}" if case.label else inputs


def of_part(part: Part, case: Case | Launch, names: Sequence[str] = ()) -> str:
    """Describe a case of a part in a line. One that is a question of its own has a label that says all."""
    return case.label if part.by_case else describe(case, names)


def call(part: Part, case: Case | Launch, names: Sequence[str] = ()) -> str:
    """Write a case as the call that a learner could type: ``owner_rank(7, 4)``. Large tensors are described."""
    if isinstance(case, Launch):
        grid = ", ".join(map(str, case.grid)) + ("," if len(case.grid) == 1 else "")
        passed = [value.name if isinstance(value, Buf) else short(value) for value in case.args]
        return f"{part.entry}[({grid})](" + ", ".join([*passed, *(f"{k}={v}" for k, v in case.constexprs.items())]) + ")"
    if part.drive:
        return of_part(part, case, names)
    given = [short(value) for value in case.args] + [f"{k}={short(value)}" for k, value in case.kwargs.items()]
    return f"{case.call or part.entry}({', '.join(given)})"


def _owner_row(loc: int, size: int) -> tuple[str, str]:
    return (str(loc % size), str(loc // size)) if loc >= 0 else ("none", "none")


def _matches(first: Any, expected: Any) -> bool:
    if isinstance(first, torch.Tensor):
        return isinstance(expected, torch.Tensor) and first.shape == expected.shape
    return type(first) is int and type(expected) in (int, bool)


def _pairs(got: Any, expected: Any, close: float | None) -> list[tuple[int, str, str]] | None:
    """Return (flat index, yours, expected) where two values differ; None if they cannot be compared element by element."""
    if type(got) is type(expected) and type(expected) in (int, bool):
        return [(0, str(got), str(expected))] if got != expected else None
    if not (isinstance(got, torch.Tensor) and isinstance(expected, torch.Tensor)):
        return None
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return None
    mine, right = got.reshape(-1).tolist(), expected.reshape(-1).tolist()
    return [(i, str(mine[i]), str(right[i])) for i in wrong_places(got, expected, close)] or None


def _buffers(case: Launch, got: Any, expected: Any, close: float | None) -> Table:
    rows = []
    for name in case.writes:
        pairs = _pairs(got[name], expected[name], close) if isinstance(got, dict) and name in got else None
        if pairs is None and (not isinstance(got, dict) or name not in got):
            rows.append((name, "", "nothing", short(expected[name])))
        for i, mine, right in (pairs or [])[:SHOWN]:
            rows.append((name, str(i), mine, right))
    values = ", ".join(f"{k} = {v}" for k, v in case.constexprs.items())
    return Table(
        ("buffer", "element", "yours", "expected"), tuple(rows[:SHOWN]), f"grid {tuple(case.grid)}, {values}".rstrip(", ")
    )


def _others(given: Mapping[str, Any], first: str) -> str:
    text = ", ".join(f"{k} = {short(v)}" for k, v in given.items() if k != first)
    return f"{text}." if text else ""
