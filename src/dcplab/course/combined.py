"""Combines two wrong answers that change the solution in different places: one answer that makes both mistakes."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from dcplab import syntax


@dataclass(frozen=True)
class _Change:
    """``at``: the way down to a node or list, as pairs of field and index (-1: no list). In a list, entries ``start`` to
    ``end`` become ``new``; else ``start`` is -1 and the field becomes ``new``."""

    at: tuple[tuple[int, int], ...]
    field: int
    start: int
    end: int
    new: Any

    def meets(self, other: _Change) -> bool:
        """Return True if one of the two changes lies within the other, or both touch one place."""
        short, long = sorted((self, other), key=lambda c: len(c.at))
        if long.at[: len(short.at)] != short.at:
            return False
        field, index = (long.field, None) if len(long.at) == len(short.at) else long.at[len(short.at)]
        if field != short.field:
            return False
        if short.start == -1:
            return True
        if index is not None:
            return short.start <= index < short.end
        return max(short.start, long.start) < min(short.end, long.end) or short.start == long.start


def combined(solution: str, one: str, other: str) -> str | None:
    """Return ``solution`` with what ``one`` changes in it and with what ``other`` changes, or None if they change one place."""
    mine, theirs = _changed(solution, one), _changed(solution, other)
    theirs = {key: change for key, change in theirs.items() if key not in mine}
    if not mine or not theirs or any(a.meets(b) for a in mine.values() for b in theirs.values()):
        return None
    made = _plain(solution)
    changes = [*mine.values(), *theirs.values()]
    for change in sorted(changes, key=lambda c: (*c.at, (c.field, c.start)), reverse=True):  # the last place first
        made = _applied(made, change.at, change)
    return ast.unparse(made)


@lru_cache(maxsize=2048)
def _changed(solution: str, source: str) -> dict[tuple[Any, ...], _Change]:
    """Return what a source changes in the solution, by what tells two changes apart."""
    return {_key(change): change for change in _changes(_plain(solution), _plain(source), ())}


@lru_cache(maxsize=64)
def _plain(source: str) -> ast.Module:
    """Parse a program without its docstrings, and with each name that is set once and used once, in the next statement,
    written out there: people name other steps than the solution does."""
    tree = syntax.parse(source)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            if ast.get_docstring(function) is not None:
                function.body = function.body[1:] or [ast.Pass()]
            function.body = _written_out(function)
    return tree


def _written_out(function: ast.FunctionDef) -> list[ast.stmt]:
    used = Counter(node.id for node in ast.walk(function) if isinstance(node, ast.Name))
    body = list(function.body)
    for i in range(len(body) - 2, -1, -1):
        match body[i]:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if used[name] == 2:
                uses = [n for n in ast.walk(body[i + 1]) if isinstance(n, ast.Name) and n.id == name]
                if len(uses) == 1 and not isinstance(body[i + 1], ast.For | ast.While | ast.With | ast.If):
                    body[i : i + 2] = [_Put(name, value).visit(body[i + 1])]
    return body


class _Put(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr):
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.value if node.id == self.name else node


def _key(change: _Change) -> tuple[Any, ...]:
    return change.at, change.field, change.start, change.end, _shape(change.new)


def _shape(value: Any) -> Any:
    """Return what is equal for equal trees, and for nothing else. A node keeps its own, so a tree is gone through once."""
    if isinstance(value, list):
        return tuple(map(_shape, value))
    if not isinstance(value, ast.AST):
        return type(value), repr(value)
    kept = vars(value)
    if "shape" not in kept:
        kept["shape"] = type(value), *(_shape(getattr(value, name, None)) for name in value._fields)
    return kept["shape"]


def _changes(a: ast.AST, b: ast.AST, at: tuple[Any, ...]) -> Iterator[_Change]:
    for number, name in enumerate(a._fields):
        left, right = getattr(a, name, None), getattr(b, name, None)
        if _shape(left) == _shape(right):
            continue
        if isinstance(left, list) and isinstance(right, list):
            yield from _in_list(left, right, at, number)
        elif type(left) is type(right) and isinstance(left, ast.AST) and isinstance(right, ast.AST):
            yield from _changes(left, right, (*at, (number, -1)))
        else:
            yield _Change(at, number, -1, -1, right)


def _in_list(left: list[Any], right: list[Any], at: tuple[Any, ...], number: int) -> Iterator[_Change]:
    old, new = [_shape(n) for n in left], [_shape(n) for n in right]
    for what, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        pairs = list(zip(left[i:j], right[k:m], strict=False))
        if j - i == m - k and all(type(x) is type(y) and isinstance(x, ast.AST) for x, y in pairs):
            for offset, (x, y) in enumerate(pairs):
                yield from _changes(x, y, (*at, (number, i + offset)))
        else:
            yield _Change(at, number, i, j, right[k:m])


def _applied(node: Any, at: Sequence[tuple[int, int]], change: _Change) -> Any:
    """Return a node with a change below it. What is not on the way there is shared with the old one."""
    made = copy.copy(node)
    vars(made).pop("shape", None)
    number, index = at[0] if at else (change.field, -1)
    name = node._fields[number]
    value = getattr(node, name)
    if at:
        below = _applied(value if index == -1 else value[index], at[1:], change)
        setattr(made, name, below if index == -1 else [*value[:index], below, *value[index + 1 :]])
    else:
        entries = change.start != -1
        setattr(made, name, [*value[: change.start], *change.new, *value[change.end :]] if entries else change.new)
    return made
