"""Makes mutants of a solution: the same program with one small edit, as a slip of the hand would make it."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dcplab import syntax

_OTHER: dict[type, tuple[Any, ...]] = {
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
_SIGNS: dict[type, str] = {
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
_ELSE: dict[type, tuple[Any, ...]] = {
    ast.Mult: (ast.Add,),
    ast.Add: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.BitAnd: (ast.And,),
}
_TURNED: dict[type, Any] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_NAMES = {"any": "all", "all": "any", "min": "max", "max": "min", "exp2": "exp", "log2": "log", "cumsum": "sum", "sum": "max"}
_BINDS: dict[type, int] = {  # how tightly an operator binds
    ast.BitOr: 1,
    ast.BitAnd: 3,
    ast.Add: 5,
    ast.Sub: 5,
    ast.Mult: 6,
    ast.FloorDiv: 6,
    ast.Mod: 6,
    ast.Div: 6,
}
_NUMBERS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_CONVERSIONS = ("to", "int", "long", "float", "clone", "clamp")

_Edits = Callable[[ast.AST, tuple[str, ...], ast.AST], Iterable[tuple[str, ast.AST]]]  # node, parameters, the node around it
_DIVIDES: dict[type, str] = {ast.FloorDiv: "a division", ast.Div: "a division", ast.Mod: "a remainder"}
_LEFT_OUT = {ast.BitAnd: "a condition", ast.Mult: "a factor", ast.Add: "a term", ast.Sub: "a term", **_DIVIDES}
_THINGS: dict[type, str] = {
    ast.Add: "a sum",
    ast.Sub: "a difference",
    ast.Mult: "a product",
    ast.FloorDiv: "a quotient",
    ast.Div: "a quotient",
    ast.Mod: "a remainder",
}


@dataclass(frozen=True)
class Mutant:
    """``edit``: what was edited, in words, without its place ("`<=` for `<`"). ``at``: the edited line as it stands now."""

    edit: str
    at: str
    source: str


def mutants(source: str, names: Sequence[str]) -> list[Mutant]:
    """Return all mutants by one edit inside the functions and classes ``names``. No two have the same source."""
    return list(_mutants(source, names, _edits))


@lru_cache(maxsize=64)
def slips(source: str, names: tuple[str, ...]) -> tuple[Mutant, ...]:
    """Return the mutants of `mutants`, then those by what else people get wrong: another argument, one more or less, a
    conversion or a line left out, `any` for `all`. A kernel has fewer: each takes long to run."""
    made = mutants(source, names)
    known = {mutant.source for mutant in made}
    return (*made, *(more for more in _mutants(source, names, _slips) if more.source not in known))


def _mutants(source: str, names: Sequence[str], edits: _Edits) -> Iterator[Mutant]:
    tree = syntax.parse(source)
    for node in ast.walk(tree):  # a docstring and an annotation are no place for a slip
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    text = ast.unparse(tree)
    seen, before = {text}, text.split("\n")
    for place, params in list(_places(tree, names)):
        old = place.get()
        for edit, new in list(edits(old, params, place.owner)):
            place.put(ast.copy_location(new, old))
            made = ast.unparse(ast.fix_missing_locations(tree))
            if made not in seen:
                seen.add(made)
                yield Mutant(edit, _line(before, made), made)
        place.put(old)


@dataclass(frozen=True)
class _Place:
    """A field of a node, or an entry of such a field (``index``)."""

    owner: ast.AST
    field: str
    index: int | None

    def get(self) -> ast.AST:
        value = getattr(self.owner, self.field)
        return value if self.index is None else value[self.index]

    def put(self, new: ast.AST) -> None:
        if self.index is None:
            setattr(self.owner, self.field, new)
        else:
            getattr(self.owner, self.field)[self.index] = new


def _places(tree: ast.Module, names: Sequence[str]) -> Iterator[tuple[_Place, tuple[str, ...]]]:
    """Yield each place inside these functions and classes, outer ones first, with the parameters of its function."""
    waiting = deque((_Place(top, "body", i), _params(top)) for top in tree.body
                    if isinstance(top, ast.FunctionDef | ast.ClassDef) and top.name in names
                    for i in range(len(top.body)))  # fmt: skip
    while waiting:
        place, params = waiting.popleft()
        yield place, params
        node = place.get()
        params = _params(node) or params
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                waiting.append((_Place(node, name, None), params))
            elif isinstance(value, list):
                waiting.extend((_Place(node, name, i), params) for i, entry in enumerate(value) if isinstance(entry, ast.AST))


def _params(node: ast.AST) -> tuple[str, ...]:
    return tuple(arg.arg for arg in node.args.args) if isinstance(node, ast.FunctionDef) else ()


def _line(before: Sequence[str], text: str) -> str:
    return next((line.strip() for line, old in zip(text.split("\n"), before, strict=False) if line != old), "")


def _edits(node: ast.AST, params: tuple[str, ...], around: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may be typed for a node, each with its name."""
    match node:
        case ast.Compare(ops=[op], comparators=[right]) if type(op) in _OTHER:
            for other in _OTHER[type(op)]:
                yield _named(other, op, right, params), ast.Compare(node.left, [other()], node.comparators)
        case ast.BoolOp(op=op):
            yield _named(_OTHER[type(op)][0], op), ast.BoolOp(_OTHER[type(op)][0](), node.values)
            for i in range(len(node.values)):
                kept = [v for j, v in enumerate(node.values) if j != i]
                yield "a condition left out", kept[0] if len(kept) == 1 else ast.BoolOp(op, kept)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OTHER:
            for other in _OTHER[type(op)]:
                yield _named(other, op, right, params), ast.BinOp(left, other(), right)
            yield _left_out(op, right, params), left
            yield "what is divided left out" if type(op) in _DIVIDES else _left_out(op, left, params), right
            if isinstance(op, ast.Sub | ast.FloorDiv | ast.Mod | ast.Div):
                yield f"the two sides of {_THINGS[type(op)]} swapped", ast.BinOp(right, op, left)
            if isinstance(op, ast.FloorDiv):
                up = ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), left), op, right))
                by = _quoted(right, params)
                yield f"rounding up for rounding down{f' in a division by {by}' if by else ''}", up
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            for other in (value + 1, value - 1):
                yield _constant(other, value, around), ast.Constant(other)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "two branches swapped", ast.IfExp(test, orelse, body)
        case ast.Call(func=func, args=args, keywords=keywords):
            for i in range(len(args) - 1):
                swapped = [*args[:i], args[i + 1], args[i], *args[i + 2 :]]
                yield f"two arguments of `{_called(func)}` swapped", ast.Call(func, swapped, keywords)
            for keyword in keywords:
                if keyword.arg:
                    yield f"`{keyword.arg}=` left out", ast.Call(func, args, [k for k in keywords if k is not keyword])
            if isinstance(func, ast.Attribute) and func.attr in _CONVERSIONS:
                yield f"`.{func.attr}()` left out", func.value


def _left_out(op: ast.AST, gone: ast.expr, params: tuple[str, ...]) -> str:
    what, name = _LEFT_OUT.get(type(op), "an operation"), _quoted(gone, params)
    if type(op) in _DIVIDES:
        return f"{what} by {name} left out" if name else f"{what} left out"
    return f"the {what.split()[1]} {name} left out" if name else f"{what} left out"


def _named(new: type, old: ast.AST, right: ast.expr | None = None, params: tuple[str, ...] = ()) -> str:
    before = _quoted(right, params) if right is not None else ""
    return f"`{_SIGNS[new]}` for `{_SIGNS[type(old)]}`{f' before {before}' if before else ''}"


def _constant(new: int, old: int, around: ast.AST) -> str:
    """Name a constant by what it is for."""
    match around:
        case ast.keyword(arg=str(arg)):
            return f"`{arg}={new}` for `{arg}={old}`"
        case ast.BinOp(op=ast.Mult()):
            return f"the factor `{new}` for `{old}`"
        case ast.BinOp(op=op) if type(op) in _THINGS:
            return f"`{new}` for the `{old}` of {_THINGS[type(op)]}"
        case ast.Compare():
            return f"`{new}` for `{old}` in a comparison"
        case ast.Subscript() | ast.Slice() | ast.Tuple():
            return f"`{new}` for `{old}` as an index"
        case ast.Call(func=func):
            return f"`{new}` for `{old}` in a call of `{_called(func)}`"
        case ast.UnaryOp(op=ast.USub()):
            return f"`{f'-{new}' if new else new}` for `-{old}`"
    return f"`{new}` for `{old}`"


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)


def _quoted(node: ast.expr, params: tuple[str, ...]) -> str:
    """Quote a parameter or a number. Other names are the solution's own."""
    known = isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in params)
    return f"`{ast.unparse(node)}`" if known else ""


def _thing(node: ast.expr) -> str:
    return _THINGS[type(node.op)] if isinstance(node, ast.BinOp) else f"`{ast.unparse(node)}`"


def _slips(node: ast.AST, params: tuple[str, ...], around: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what else may be typed for a node of a function with these parameters."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in _TURNED:
            other = _TURNED[type(op)]
            yield _named(other, op, right[0], params), ast.Compare(left, [other()], right)
        case ast.BinOp(left=left, op=op, right=right):
            for other in _ELSE.get(type(op), ()):
                yield _named(other, op, right, params), _joined(left, other, right)
            if isinstance(op, _NUMBERS):
                yield from _by_one(node)
                if isinstance(op, ast.Mod | ast.FloorDiv):
                    inside = {ast.Add: "1 added to what is divided", ast.Sub: "1 taken from what is divided"}
                    for sign, edit in inside.items():
                        yield edit, ast.BinOp(ast.BinOp(left, sign(), ast.Constant(1)), op, right)
                yield from _once_more(node, params)
            yield from _without_parentheses(node)
        case ast.Name(id=name, ctx=ast.Load()) if name in params:
            alike = [other for other in params if other != name and other.endswith("_ptr") == name.endswith("_ptr")]
            yield from ((f"`{other}` for `{name}`", ast.Name(other, ast.Load())) for other in alike)
            if name.endswith("_ptr"):
                return
            yield f"`-{name}` for `{name}`", ast.UnaryOp(ast.USub(), node)
            yield from _by_one(node)
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield f"`{_NAMES[name]}` for `{name}`", ast.Name(_NAMES[name], ast.Load())
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            yield f"`0` for `-{value}`", ast.Constant(0)
            yield f"`{value}` for `-{value}`", ast.Constant(value)
        case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=inner):
            yield "a condition turned round", inner
        case ast.Attribute(value=inner, attr=name, ctx=ctx) if name in _NAMES:
            yield f"`{_NAMES[name]}` for `{name}`", ast.Attribute(inner, _NAMES[name], ctx)
        case ast.Subscript(value=inner, slice=ast.Tuple(elts=elts)) if any(_is_none(e) for e in elts):
            yield f"`[{', '.join(ast.unparse(e) for e in elts)}]` left out", inner
        case ast.Expr() | ast.AugAssign():
            yield "a line left out", ast.Pass()
        case ast.For(body=body):
            for i in range(len(body) - 1):
                turned = [*body[:i], body[i + 1], body[i], *body[i + 2 :]]
                if _apart(body[i], body[i + 1]):
                    yield "two lines in another order", ast.For(node.target, node.iter, turned, node.orelse, node.type_comment)


def _without_parentheses(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    """Yield what a sum of two operators means without its parentheses, or with others."""
    says, op, left, right = "parentheses left out", node.op, node.left, node.right
    if isinstance(op, ast.BitAnd | ast.BitOr):  # they bind more tightly than a comparison, which may stand on either side
        for one, other in ((left, right), (right, left)):
            match one:
                case ast.Compare(first, [sign], [second]):
                    yield says, ast.Compare(first, [sign], [ast.BinOp(second, op, other)])
                    yield says, ast.Compare(ast.BinOp(other, op, first), [sign], [second])
    elsewhere = "other parentheses"
    if type(op) not in _BINDS or any(isinstance(n, ast.Name) and n.id.endswith("_ptr") for n in ast.walk(node)):
        return
    if isinstance(left, ast.BinOp) and type(left.op) in _BINDS:  # (a - b) * c: a - b * c
        told = says if _BINDS[type(left.op)] < _BINDS[type(op)] else elsewhere
        if told == says or not isinstance(op, type(left.op)):
            yield told, ast.BinOp(left.left, left.op, ast.BinOp(left.right, op, right))
    if isinstance(right, ast.BinOp) and type(right.op) in _BINDS:  # a * (b + c): a * b + c
        told = says if _BINDS[type(right.op)] <= _BINDS[type(op)] else elsewhere
        yield told, ast.BinOp(ast.BinOp(left, op, right.left), right.op, right.right)


def _apart(one: ast.stmt, other: ast.stmt) -> bool:
    """Return True if two neighbouring statements run in either order: neither uses a name that the other binds."""
    bound = [{n.id for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} for s in (one, other)]
    used = [{n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in (one, other)]
    return not bound[0] & used[1] and not bound[1] & used[0]


def _once_more(node: ast.BinOp, params: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    """Yield a result with its sign turned, and one that a parameter is added to or that it multiplies or divides."""
    if any(name.endswith("_ptr") for name in params):
        return
    yield f"the sign of {_thing(node)} turned", ast.UnaryOp(ast.USub(), node)
    for name in params:
        yield f"`{name}` added to {_thing(node)}", ast.BinOp(node, ast.Add(), ast.Name(name, ast.Load()))
        yield f"{_thing(node)} multiplied by `{name}`", ast.BinOp(node, ast.Mult(), ast.Name(name, ast.Load()))
        yield f"{_thing(node)} divided by `{name}`", ast.BinOp(node, ast.FloorDiv(), ast.Name(name, ast.Load()))


def _by_one(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    yield f"1 added to {_thing(node)}", ast.BinOp(node, ast.Add(), ast.Constant(1))
    yield f"1 taken from {_thing(node)}", ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _joined(left: ast.expr, op: type[ast.boolop | ast.operator], right: ast.expr) -> ast.expr:
    return ast.BoolOp(op(), [left, right]) if issubclass(op, ast.boolop) else ast.BinOp(left, op(), right)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
