"""Reads in the source of a passing answer what no case can show: that it is right for a reason which holds only here.

A reader says nothing unless it knows every call and operator of the answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dcplab import syntax

_KNOWN = frozenset(
    "append arange cdiv clone contiguous div divmod empty_like enumerate eq expand flatten floor_divide full full_like len "
    "list load logical_not long masked_fill masked_fill_ masked_select ne new_full nonzero numel ones_like program_id range "
    "ravel remainder reshape store sub tensor to tolist view where zeros_like zip".split()
)
_ASKED = ("eq", "ne", "equal", "not_equal")  # comparisons that are calls


def asks_no_sign(source: str) -> bool:
    """Return True if the functions of a source surely never ask whether a number is negative: they ask whether two are equal,
    or for an upper bound, alone, compare with no constant, and take no number for a condition."""
    nodes = list(_inside(source))
    called = [n for n in nodes if isinstance(n, ast.Call)]
    asked = [n for n in called if _name(n.func) in _ASKED]
    if any(_name(n.func) not in _KNOWN for n in called):
        return False
    if any(isinstance(n, ast.BinOp) and not isinstance(n.op, _ARITHMETIC) for n in nodes):
        return False
    compares = [n for n in nodes if isinstance(n, ast.Compare)]
    decides = [v for n in nodes for v in _decides(n)]
    return (
        bool(compares or asked)
        and all(isinstance(op, ast.Eq | ast.NotEq | ast.Lt) for n in compares for op in n.ops)
        and all(isinstance(v, ast.Compare | ast.BoolOp) for v in decides)
        and not any(_constant(v) for n in compares for v in (n.left, *n.comparators))
        and not any(_constant(v) for n in asked for v in n.args)
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


def _constant(node: ast.expr) -> bool:
    """Return True for what may ask for a sign when something is compared with it, as ``locs == -1``."""
    return isinstance(node, ast.Constant | ast.UnaryOp)


def _decides(node: ast.AST) -> list[ast.expr]:
    """Return the conditions of a node: a number among them is a question as well, as ``if loc + 1``."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
            return [test]
        case ast.BoolOp(values=values):
            return values
        case ast.comprehension(ifs=ifs):
            return ifs
    return []
