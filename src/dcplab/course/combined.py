"""Combines two wrong answers that change the solution in different places: one answer that makes both mistakes."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
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
    base = _plain(solution)
    mine, theirs = _changed(solution, one), _changed(solution, other)
    shared = {_key(change) for change in mine}
    theirs = [change for change in theirs if _key(change) not in shared]
    if not mine or not theirs or any(a.meets(b) for a in mine for b in theirs):
        return None
    made = copy.deepcopy(base)
    for change in sorted([*mine, *theirs], key=lambda c: (*c.at, (c.field, c.start)), reverse=True):  # the last place first
        _apply(made, change)
    return ast.unparse(ast.fix_missing_locations(made))


@lru_cache(maxsize=256)
def _changed(solution: str, source: str) -> list[_Change]:
    return list(_changes(_plain(solution), _plain(source), ()))


@lru_cache(maxsize=256)
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
    new = change.new if isinstance(change.new, list) else [change.new]
    told = tuple(ast.dump(n) if isinstance(n, ast.AST) else repr(n) for n in new)
    return change.at, change.field, change.start, change.end, told


def _changes(a: ast.AST, b: ast.AST, at: tuple[Any, ...]) -> Iterator[_Change]:
    for number, name in enumerate(a._fields):
        left, right = getattr(a, name, None), getattr(b, name, None)
        if _same(left, right):
            continue
        if isinstance(left, list) and isinstance(right, list):
            yield from _in_list(left, right, at, number)
        elif type(left) is type(right) and isinstance(left, ast.AST) and isinstance(right, ast.AST):
            yield from _changes(left, right, (*at, (number, -1)))
        else:
            yield _Change(at, number, -1, -1, right)


def _in_list(left: list[Any], right: list[Any], at: tuple[Any, ...], number: int) -> Iterator[_Change]:
    old, new = ([ast.dump(n) if isinstance(n, ast.AST) else repr(n) for n in side] for side in (left, right))
    for what, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        pairs = list(zip(left[i:j], right[k:m], strict=False))
        if j - i == m - k and all(type(x) is type(y) and isinstance(x, ast.AST) for x, y in pairs):
            for offset, (x, y) in enumerate(pairs):
                yield from _changes(x, y, (*at, (number, i + offset)))
        else:
            yield _Change(at, number, i, j, right[k:m])


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, ast.AST) and isinstance(right, ast.AST):
        return ast.dump(left) == ast.dump(right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_same(x, y) for x, y in zip(left, right, strict=True))
    return bool(left == right) and type(left) is type(right)


def _apply(tree: ast.AST, change: _Change) -> None:
    node: Any = tree
    for number, index in change.at:
        node = getattr(node, node._fields[number])
        node = node if index == -1 else node[index]
    name = node._fields[change.field]
    if change.start == -1:
        setattr(node, name, copy.deepcopy(change.new))
    else:
        getattr(node, name)[change.start : change.end] = copy.deepcopy(change.new)
