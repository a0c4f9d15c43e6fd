"""Excludes wrong answers that did otherwise than an answer, with few runs: on one case most fall out, and only the rest run on
all cases."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from dcplab import syntax
from dcplab.course.model import Case, Launch, Wrong
from dcplab.judge.deeds import Deeds, agree_on
from dcplab.judge.judgement import Judgement
from dcplab.notebook.extract import extract

# Returns the deeds of wrong answers in a mode, on some cases (their numbers) or on all (None). Called only when needed.
Bank = Callable[[Sequence[Wrong], str, tuple[int, ...] | None], Sequence[Deeds]]

FEW = 2  # so many run on all cases at once


def on_shown(judgement: Judgement, wrong: Sequence[Wrong], bank: Bank, aliases: bool = True) -> list[Wrong]:
    """Return those that did the same on the shown case, which is small. ``aliases`` as in `agree_on`."""
    return on([judgement.shown.number], judgement, wrong, bank, aliases)


def on_failing(judgement: Judgement, wrong: Sequence[Wrong], bank: Bank, aliases: bool = True) -> list[Wrong]:
    """Return, of those that did the same on the shown case, the ones that did so on the other failing cases too: one case after
    another, small ones first, as long as many are left and some fall out. Nobody falls out who did the same on all."""
    left, cases = list(wrong), judgement.drawn.cases
    others = failing(judgement) - {judgement.shown.number}
    for number in sorted(others, key=lambda n: (cases[n].size, n)):
        if len(left) <= FEW:
            break
        kept = on([number], judgement, left, bank, aliases)
        if len(kept) == len(left):
            break
        left = kept
    return left


def failing(judgement: Judgement) -> set[int]:
    """Return the failing cases of the failing function that the answer reached; it may have ended before the last case."""
    return {n for n in judgement.failing if n in judgement.alongside and n in judgement.trial.records}


def groups(judgement: Judgement) -> Iterator[tuple[int, ...]]:
    """Yield the cases that the answer reached, failing ones first and cheap ones first: one, then twice as many each time. A
    child's start costs what a few small cases do, and most of who did otherwise fall out on the first."""
    first = failing(judgement)
    order = sorted(judgement.trial.records, key=lambda n: (n not in first, _programs(judgement.drawn.cases[n]), n))
    many = 1
    while order:
        yield tuple(order[:many])
        order, many = order[many:], 2 * many


def _programs(case: Case | Launch) -> tuple[int, int]:
    """Return what a case costs, by its kind: a launch in the interpreter by its programs."""
    return math.prod(case.grid) if isinstance(case, Launch) else 0, case.size


def on(numbers: Sequence[int], judgement: Judgement, wrong: Sequence[Wrong], bank: Bank, aliases: bool = True) -> list[Wrong]:
    """Return those that did the same on these cases."""
    for number in failing(judgement).intersection(numbers):
        wrong = _unlike_the_solution(number, judgement, wrong)
    if not wrong:
        return []
    did = bank(wrong, judgement.drawn.mode, tuple(numbers))
    return [
        w
        for w, other in zip(wrong, did, strict=True)
        if agree_on(numbers, judgement.deeds, other, judgement.part.close, aliases)
    ]


def _unlike_the_solution(number: int, judgement: Judgement, wrong: Sequence[Wrong]) -> list[Wrong]:
    """Leave out, of a part that asks for several functions, those whose function that this failing case calls is the
    solution's: they surely do what is right there."""
    part, call = judgement.part, getattr(judgement.drawn.cases[number], "call", "")
    name = call or ("" if part.drive else part.entry)  # a driver may call all of them
    if not part.also or not name:
        return list(wrong)
    sources = {w.id: program.source for w, program in judgement.key.wrong}
    right = _reached(judgement.key.solution.source, name)
    return [w for w in wrong if right is None or _reached(sources.get(w.id, w.source), name) != right]


def by_likeness(judgement: Judgement, wrong: Sequence[Wrong]) -> list[Wrong]:
    """Return wrong answers, those first whose code is most like the answer's. Names that an answer makes up do not count."""
    sources, mine = {w.id: program.source for w, program in judgement.key.wrong}, _steps(judgement.program.source)
    like = {w.id: SequenceMatcher(None, _steps(sources.get(w.id, w.source)), mine, autojunk=False).ratio() for w in wrong}
    return sorted(wrong, key=lambda w: -like[w.id])


@lru_cache(maxsize=256)
def _steps(source: str) -> tuple[str, ...]:
    """Return a program as its operations in the order in which they stand: operators, attributes, numbers, statements."""
    found: list[str] = []

    def follow(node: ast.AST) -> None:
        match node:
            case ast.Constant(value=value):
                found.append("" if isinstance(value, str) else repr(value))
            case ast.Attribute(attr=name):
                found.append(name)
            case ast.Name() | ast.Load() | ast.Store() | ast.arguments() | ast.arg():
                pass
            case _:
                found.append(type(node).__name__)
        for below in ast.iter_child_nodes(node):
            follow(below)

    follow(syntax.parse(source))
    return tuple(found)


@lru_cache(maxsize=2048)
def _reached(source: str, name: str) -> str | None:
    """Return the code that a function of a source reaches, without docstrings; None if it cannot be told."""
    program = extract([source], name)
    if program.problem:
        return None
    tree = syntax.parse(program.source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
