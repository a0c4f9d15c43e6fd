"""Names a beginner's slip in a Triton kernel by what raised, or by what never ended. Triton words it for somebody else."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from dcplab import syntax

_MAKES = ("arange", "full", "zeros", "zeros_like", "broadcast_to", "expand_dims")  # give blocks
_LESSENS = ("sum", "max", "min", "argmax", "argmin", "reduce", "xor_sum")  # may give one number of a block
_ONE_BOOL = ("Boolean value of Tensor", "truth value of an array", "Ternary expression with dynamic condition")
_WORDS: dict[type, str] = {ast.If: "an `if`", ast.IfExp: "an `if`", ast.While: "a `while`"}
_CONDITION = "The condition of {} is a block here, one bool a lane: a mask, or `tl.where`, decides lane by lane."
_CHAINED = "`a <= x < b` asks for one bool, and blocks have one a lane: `(a <= x) & (x < b)`."
_JOINED = "`and`, `or` and `not` ask for one bool, and blocks have one a lane: `&`, `|` and `~` do, with parentheses."
_WALKED = "A block is not walked by `for`: what is written once is done for every lane."
_CONSTANT = "The ends of `tl.arange` must be constants, of the type tl.constexpr: a mask leaves out the lanes past the end."


def of_raised(source: str, raised: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the id and the meaning of what a kernel does that no kernel can, or None."""
    return _of_line(source, raised.get("line")) or _of_message(source, raised.get("message", ""))


def of_endless(source: str) -> tuple[str, str] | None:
    """Return the id and the meaning of a `while` over a block: the interpreter may run it for ever, no compiler takes it."""
    return next((_condition(n) for _, n in _conditions(source) if isinstance(n, ast.While)), None)


def _of_line(source: str, line: int | None) -> tuple[str, str] | None:
    if not line:
        return None
    for kernel in _kernels(source):
        given = {a.arg for a in kernel.args.args if a.annotation is None}  # no constexpr
        for node in ast.walk(kernel):
            if isinstance(node, ast.For) and node.lineno == line and _is_block(node.iter, _blocks(kernel)):
                return "walked-block", _WALKED
            if not isinstance(node, ast.expr) or not node.lineno <= line <= (node.end_lineno or node.lineno):
                continue
            match node:
                case ast.Subscript(value=ast.Name(id=name)) if name in given:
                    return "indexed-pointer", _indexed(node, name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name)):
                    return "torch-in-kernel", f"torch's functions do not exist in a kernel: `torch.{name}` {_instead(name)}."
    return None


def _of_message(source: str, message: str) -> tuple[str, str] | None:
    if "arguments must be of type tl.constexpr" in message:
        return "arange-constant", _CONSTANT
    chained = [n for kernel in _kernels(source) for n in ast.walk(kernel) if isinstance(n, ast.Compare) and len(n.ops) > 1]
    if "simultaneous multiple comparison" in message and not any(map(_joins, chained)):
        return "chained", _CHAINED
    if any(part in message for part in _ONE_BOOL):
        for _, node in _conditions(source):
            return _condition(node)
        if chained and not any(map(_joins, chained)):
            return "chained", _CHAINED
        if any(isinstance(n, ast.BoolOp | ast.Not) for kernel in _kernels(source) for n in ast.walk(kernel)):
            return "joined", _JOINED
    return None


def _condition(node: ast.AST) -> tuple[str, str]:
    return "block-condition", _CONDITION.format(_WORDS[type(node)])


def _joins(compare: ast.Compare) -> bool:
    """Return True for ``a >= 0 & b == c``, which Python reads as a chain around ``0 & b``."""
    operands = (compare.left, *compare.comparators)
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.BitAnd | ast.BitOr) for n in operands)


def _conditions(source: str) -> Iterator[tuple[ast.FunctionDef, ast.If | ast.IfExp | ast.While]]:
    """Yield what is decided by a block, with its kernel."""
    for kernel in _kernels(source):
        blocks = _blocks(kernel)
        for node in ast.walk(kernel):
            if isinstance(node, ast.If | ast.IfExp | ast.While) and _is_block(node.test, blocks):
                yield kernel, node


def _kernels(source: str) -> list[ast.FunctionDef]:
    functions = [node for node in syntax.parse(source).body if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if any("jit" in ast.unparse(d) for d in f.decorator_list)]


def _blocks(kernel: ast.FunctionDef) -> set[str]:
    """Return the names that surely hold blocks: what `tl.arange` gives, and what is computed from it."""
    names: set[str] = set()
    assigned = [n for n in ast.walk(kernel) if isinstance(n, ast.Assign | ast.AugAssign)]
    for _ in assigned:
        for node in assigned:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names |= _bound(target, node.value, names)
    return names


def _bound(target: ast.expr, value: ast.expr, names: set[str]) -> set[str]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return set().union(*(_bound(t, v, names) for t, v in zip(target.elts, value.elts, strict=True)))
    return {target.id} if isinstance(target, ast.Name) and _is_block(value, names) else set()


def _is_block(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Call(func=ast.Attribute(value=of, attr=name), args=args):
            if name in _LESSENS:
                return False
            return name in _MAKES or _is_block(of, names) or any(_is_block(a, names) for a in args)
        case ast.BinOp(left=left, right=right):
            return _is_block(left, names) or _is_block(right, names)
        case ast.UnaryOp(operand=of) | ast.Subscript(value=of):
            return _is_block(of, names)
        case ast.Compare(left=left, comparators=others):
            return any(_is_block(n, names) for n in (left, *others))
        case ast.BoolOp(values=values):
            return any(_is_block(n, names) for n in values)
    return False  # not known


def _indexed(node: ast.Subscript, name: str) -> str:
    at = f"{name} + {ast.unparse(node.slice)}"
    does = f"`tl.store({at}, ...)` writes" if isinstance(node.ctx, ast.Store) else f"`tl.load({at})` reads"
    return f"A pointer is an address and is not indexed: {does} there."


def _instead(name: str) -> str:
    import triton.language as tl

    return f"is `tl.{name}` there" if hasattr(tl, name) else "has no namesake there"
