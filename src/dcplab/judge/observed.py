"""Finds facts that hold for every case of a wrong answer, whatever its reason: it stores nothing, it always returns the same
value, it returns an argument unchanged, or it has nothing for some word that it is called with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from dcplab import syntax
from dcplab.course.model import Case, Launch
from dcplab.judge.compare import identical
from dcplab.judge.judgement import Judgement
from dcplab.judge.related import inputs
from dcplab.judge.verdict import in_order, outcome_of

FEWEST = 3  # cases, for "always"


def observed(judgement: Judgement) -> tuple[str, Any] | None:
    """Return what is true of every case, or None; None too if a case did not end or raised.

    ("nothing", the buffers or arguments to write), ("always", the value), ("silent", None) if None comes back in every case,
    ("argument", its position), or ("missing", (an argument's name, its words for which nothing comes back, such a case)).
    """
    numbers = judgement.alongside
    cases = [judgement.drawn.cases[n] for n in numbers]
    records = [judgement.trial.records.get(n, {}) for n in numbers]
    right = [judgement.expected[n] for n in numbers]
    done = all("raised" not in r and ("returned" in r or "written" in r) for r in records)
    if judgement.outcome not in ("wrong", "unsafe") or not done:
        return None
    got = [outcome_of(case, record) for case, record in zip(cases, records, strict=True)]
    if any(isinstance(case, Launch) or case.writes for case in cases):
        before = [_before(case) for case in cases]
        kept = all(identical(g, b) for g, b in zip(got, before, strict=True))
        elsewhere = any(record.get("events") for record in records)  # it may have stored where it must not
        return ("nothing", tuple(before[0])) if kept and not elsewhere else None
    if len(numbers) < FEWEST or all(identical(value, right[0]) for value in right):
        return None
    if isinstance(got[0], bool | int | float | str) and all(identical(value, got[0]) for value in got):
        return "always", got[0]
    if all(value is None for value in got):
        return "silent", None
    for position in range(min(len(case.args) for case in cases)):
        if all(identical(value, case.args[position]) for value, case in zip(got, cases, strict=True)):
            return "argument", position
    return _missing(judgement, numbers, got)


def _missing(judgement: Judgement, numbers: Sequence[int], got: Sequence[Any]) -> tuple[str, Any] | None:
    """Return the argument, and its words or flags, for which None alone comes back though a value is due. Something else comes
    back for another word: it is a branch that is missing."""
    if judgement.part.by_case:
        return None  # a question that is not answered yet, and each is told
    value, empty = dict(zip(numbers, got, strict=True)), returned_none(judgement)
    given = {n: inputs(judgement, n) for n in numbers}
    for name in given[numbers[0]]:
        words = dict.fromkeys(given[n].get(name) for n in numbers if isinstance(given[n].get(name), str | bool))
        nothing = [w for w in words if all(value[n] is None for n in numbers if given[n].get(name) == w)]
        due = [w for w in nothing if any(given[n].get(name) == w for n in empty)]
        if due and len(nothing) < len(words):
            here = [judgement.verdicts[n] for n in empty if given[n].get(name) in due]
            return "missing", (name, tuple(due), in_order(here, judgement.drawn.cases)[0].number)
    return None


def forgotten(judgement: Judgement) -> bool:
    """Return True if a branch is missing (`observed`), in the source too."""
    fact = observed(judgement)
    return fact is not None and fact[0] == "missing" and forgets(judgement, judgement.program.source)


def forgets(judgement: Judgement, source: str) -> bool:
    """Return True if the function that failed can end without a return in this source, or takes a value out of a dict that need
    not have it. An answer that writes None for a word means it."""
    called = getattr(judgement.drawn.cases[judgement.shown.number], "call", "") or judgement.part.entry
    tree = syntax.parse(source)
    function = next((n for n in reversed(tree.body) if isinstance(n, ast.FunctionDef) and n.name == called), None)
    return function is not None and (not _returns(function.body) or any(map(_gets, ast.walk(function))))


def _gets(node: ast.AST) -> bool:
    """Return True for ``table.get(word)``."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and len(node.args) == 1
    )


def _returns(body: Sequence[ast.stmt]) -> bool:
    """Return True if every way through these statements surely ends in a return or an exception."""
    match body[-1] if body else None:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=one, orelse=other):
            return _returns(one) and _returns(other)
        case ast.With(body=inner):
            return _returns(inner)
        case ast.Match(cases=cases):
            sure = any(isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None and c.guard is None for c in cases)
            return sure and all(_returns(c.body) for c in cases)
        case ast.For() | ast.While() | ast.Try():
            return True  # not known: it is not accused
    return False


def returned_none(judgement: Judgement) -> list[int]:
    """Return the failing cases in which None came back though a value is due."""
    found = []
    for n in judgement.failing:
        case, record = judgement.drawn.cases[n], judgement.trial.records.get(n, {})
        if "returned" in record and "raised" not in record and isinstance(case, Case) and not case.writes:
            if record["returned"] is None and judgement.expected[n] is not None:
                found.append(n)
    return found


def _before(case: Case | Launch) -> dict[Any, Any]:
    """Return the initial contents of the memory that a case asks to be written."""
    if isinstance(case, Launch):
        return {name: case.buffers[name] for name in case.writes}
    return {position: case.args[position] for position in case.writes}
