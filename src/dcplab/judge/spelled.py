"""Finds an arithmetic expression in the source of an answer, however it is spelled there: told as a finding, it would read the
learner's own line back."""

from __future__ import annotations

import ast

from dcplab import syntax
from dcplab.judge.numbers import OPERATORS

_PROBES = tuple(tuple(7 + 13 * i + 5 * k * (k + i) for k in range(1, 9)) for i in range(5))  # values for up to eight names
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_MOST = 400  # expressions of a source that are tried


def spells(source: str, formula: str) -> bool:
    """Return True if a function of ``source`` has an expression that equals ``formula`` for all values of its names. Names that
    the function sets once, before, stand for what they are set to."""
    wanted = syntax.parse(formula).body[0]
    names = sorted({node.id for node in ast.walk(wanted) if isinstance(node, ast.Name)})
    if not isinstance(wanted, ast.Expr):
        return False
    probes = [dict(zip(names, row, strict=False)) for row in _PROBES]
    right = [_value(wanted.value, probe, {}, 0) for probe in probes]
    for function in (node for node in syntax.parse(source).body if isinstance(node, ast.FunctionDef)):
        stands: dict[str, ast.expr] = {}
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in stands and name not in names:
                    stands[name] = value
        found = [node for node in ast.walk(function) if isinstance(node, ast.BinOp | ast.Name)][:_MOST]
        if any(isinstance(n, ast.BinOp) and [_value(n, p, stands, 0) for p in probes] == right for n in found):
            return True
    return False


def _value(node: ast.expr, names: dict[str, int], stands: dict[str, ast.expr], depth: int) -> int | None:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name) if name in stands and depth < 8:
            return _value(stands[name], names, stands, depth + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            a, b = (_value(side, names, stands, depth) for side in (left, right))
            return None if a is None or b is None else OPERATORS[_SIGNS[type(op)]](a, b)
    return None
