"""Makes mutants of a solution: the same program with one small edit, as a slip of the hand would make it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_OTHER = {
    ast.Lt: (ast.LtE,),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE,),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.FloorDiv,),
    ast.FloorDiv: (ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Div: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Div: "/",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.And: "and",
    ast.Or: "or",
}


@dataclass(frozen=True)
class Mutant:
    """``edit``: what was edited, in words, without its place ("`<=` for `<`"). ``at``: the edited line as it stands now."""

    edit: str
    at: str
    source: str


def mutants(source: str, names: Sequence[str]) -> list[Mutant]:
    """Return all mutants by one edit inside the functions and classes ``names``. No two have the same source."""
    tree = ast.parse(source)
    for node in ast.walk(tree):  # a docstring and an annotation are no place for a slip
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    seen, made = {ast.unparse(tree)}, []
    for place, _ in enumerate(ast.walk(tree)):
        for which in range(_count(tree, place, names)):
            changed = copy.deepcopy(tree)
            node = _nth(changed, place)
            edit, new = list(_edits(node))[which]
            text = ast.unparse(ast.fix_missing_locations(_Replace(node, new).visit(changed)))
            if text not in seen:
                seen.add(text)
                made.append(Mutant(edit, _line(tree, text), text))
    return made


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST):
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _nth(tree: ast.AST, place: int) -> ast.AST:
    return next(node for i, node in enumerate(ast.walk(tree)) if i == place)


def _count(tree: ast.Module, place: int, names: Sequence[str]) -> int:
    node = _nth(tree, place)
    bodies = [inner for top in tree.body if getattr(top, "name", "") in names for part in top.body for inner in ast.walk(part)]
    return sum(1 for _ in _edits(node)) if any(node is inner for inner in bodies) else 0


def _line(tree: ast.AST, text: str) -> str:
    before = ast.unparse(tree).split("\n")
    return next((line.strip() for line, old in zip(text.split("\n"), before, strict=False) if line != old), "")


def _edits(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may be typed for a node, each with its name."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _OTHER:
            for other in _OTHER[type(op)]:
                yield _named(other, op), ast.Compare(node.left, [other()], node.comparators)
        case ast.BoolOp(op=op):
            yield _named(_OTHER[type(op)][0], op), ast.BoolOp(_OTHER[type(op)][0](), node.values)
            for i in range(len(node.values)):
                kept = [v for j, v in enumerate(node.values) if j != i]
                yield "a condition left out", kept[0] if len(kept) == 1 else ast.BoolOp(op, kept)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OTHER:
            for other in _OTHER[type(op)]:
                yield _named(other, op), ast.BinOp(left, other(), right)
            yield from (_left_out(op, side) for side in (left, right))
            if isinstance(op, ast.Sub | ast.FloorDiv | ast.Mod | ast.Div):
                yield "two operands swapped", ast.BinOp(right, op, left)
            if isinstance(op, ast.FloorDiv):
                up = ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), left), op, right))
                yield "rounding up for rounding down", up
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield f"`{value + 1}` for `{value}`", ast.Constant(value + 1)
            yield f"`{value - 1}` for `{value}`", ast.Constant(value - 1)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "two branches swapped", ast.IfExp(test, orelse, body)
        case ast.Call(func=func, args=args, keywords=keywords):
            for i in range(len(args) - 1):
                swapped = [*args[:i], args[i + 1], args[i], *args[i + 2 :]]
                yield "two arguments swapped", ast.Call(func, swapped, keywords)
            for keyword in keywords:
                if keyword.arg:
                    yield f"`{keyword.arg}=` left out", ast.Call(func, args, [k for k in keywords if k is not keyword])


def _left_out(op: ast.AST, kept: ast.AST) -> tuple[str, ast.AST]:
    what = {ast.BitAnd: "a condition", ast.Mult: "a factor", ast.Add: "a term", ast.Sub: "a term"}.get(type(op), "an operation")
    return f"{what} left out", kept


def _named(new: type, old: ast.AST) -> str:
    return f"`{_SIGNS[new]}` for `{_SIGNS[type(old)]}`"
