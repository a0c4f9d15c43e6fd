"""Reads in the source of a passing answer what no case can show: that it is right for a reason which holds only here.

A reader says nothing unless it knows every call and operator of the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dcplab import syntax

_KNOWN = frozenset(
    "arange cdiv clone div empty_like eq floor_divide full full_like load new_full ones_like program_id remainder store tensor "
    "to where zeros_like".split()
)


def asks_no_sign(source: str) -> bool:
    """Return True if the functions of a source surely never ask whether a number is negative: they ask for equality or an
    upper bound alone, and compare with no constant."""
    nodes = list(_inside(source))
    if any(_name(n.func) not in _KNOWN for n in nodes if isinstance(n, ast.Call)):
        return False
    if any(isinstance(n, ast.BinOp) and not isinstance(n.op, _ARITHMETIC) for n in nodes):
        return False
    compares = [n for n in nodes if isinstance(n, ast.Compare)]
    return (
        bool(compares)
        and all(isinstance(op, ast.Eq | ast.Lt) for n in compares for op in n.ops)
        and not any(map(_is_sign, compares))
    )


def masks_nothing(source: str) -> bool:
    """Return True if a kernel loads and stores blocks, always, and none of it has a mask: lanes past the end, if there are any,
    do what another does. Where an `if` or a loop decides, or one address after another is touched, nothing is done twice."""
    nodes = list(_inside(source))
    calls = [n for n in nodes if isinstance(n, ast.Call) and _name(n.func) in ("load", "store")]
    blocks = any(isinstance(n, ast.Call) and _name(n.func) == "arange" for n in nodes)
    if not blocks or any(isinstance(n, ast.If | ast.For | ast.While | ast.IfExp) for n in nodes):
        return False
    plain = [len(n.args) <= ("load", "store").index(_name(n.func)) + 1 and not n.keywords for n in calls]
    return bool(plain) and all(plain)


def calls(source: str, function: str, method: str) -> bool:
    """Return True if ``function`` calls a method of this name itself."""
    for node in syntax.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return any(isinstance(n, ast.Call) and _name(n.func) == method for n in ast.walk(node))
    return False


_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr)


def _inside(source: str) -> Iterator[ast.AST]:
    for node in syntax.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                yield from ast.walk(statement)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_sign(compare: ast.Compare) -> bool:
    """Return True for a comparison with a constant, as ``locs == -1``."""
    return any(isinstance(n, ast.Constant | ast.UnaryOp) for n in (compare.left, *compare.comparators))
