"""Tells programs that run nothing of their own while they load: imports, definitions, constants. Pure: reads the source alone.

A process that loads and compiles such a program has run no code of its author, so what it says of the compiler is true.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from dcplab import syntax

_MODULES = ("triton", "torch", "math", "numpy", "typing", "__future__")
_DECORATORS = ("triton.jit", "triton.autotune", "triton.heuristics")
_CALLED = (*_DECORATORS, "triton.Config", "tl.constexpr", "triton.cdiv", "triton.next_power_of_2")
_BUILTINS = ("int", "float", "bool", "min", "max", "len", "abs", "range")
# Modules, through which a name would reach others (`tl.core.os`). `tl.math` and `tl.extra` have functions of the language.
_INNER = {"core", "semantic", "standard", "random", "target_info", "runtime", "os", "sys", "inspect", "builtins", "importlib"}
_PLAIN = (
    *(ast.Constant, ast.Name, ast.Load, ast.Tuple, ast.List, ast.Dict, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare),
    *(ast.IfExp, ast.Subscript, ast.Slice, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.keyword, ast.Attribute),
    *(ast.Lambda, ast.arguments, ast.arg, ast.Call, ast.Starred),
)


def inert(source: str) -> bool:
    """Return True if loading the source, and compiling its kernels, calls nothing but Triton."""
    try:
        tree = syntax.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = _imported(tree.body)
    return names is not None and all(_statement(node, names) for node in tree.body)


def _imported(body: Iterable[ast.stmt]) -> dict[str, str] | None:
    """Return what each imported name stands for ("tl" -> "tl"), or None if a module could be the author's own."""
    names: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.Import):
            given = [
                (a.asname or a.name.partition(".")[0], a.name if a.asname else a.name.partition(".")[0]) for a in node.names
            ]
        elif isinstance(node, ast.ImportFrom):
            given = [(a.asname or a.name, f"{node.module}.{a.name}") for a in node.names]
            if node.level or any(a.name == "*" for a in node.names):
                return None
        else:
            continue
        if any(path.partition(".")[0] not in _MODULES for _, path in given):
            return None
        names |= {name: "tl" if path == "triton.language" else path for name, path in given}
    return names


def _statement(node: ast.stmt, names: dict[str, str]) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)  # a docstring
    if isinstance(node, ast.Assign):
        plain = all(isinstance(t, ast.Name) and t.id not in names for t in node.targets)
        return plain and _expression(node.value, names)
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name) and all(_expression(e, names) for e in (node.annotation, node.value) if e)
    if not isinstance(node, ast.FunctionDef) or node.name in names:
        return False
    taken = node.args
    every = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *filter(None, (taken.vararg, taken.kwarg))]
    read = [*node.decorator_list, *taken.defaults, *taken.kw_defaults, *(a.annotation for a in every), node.returns]
    if not all(_expression(e, names) for e in read if e is not None):
        return False
    kernel = any(_path(d.func if isinstance(d, ast.Call) else d, names) in _DECORATORS for d in node.decorator_list)
    return _kernel(node, names) if kernel else not node.decorator_list


def _expression(node: ast.expr, names: dict[str, str]) -> bool:
    every = list(ast.walk(node))
    called = (*_CALLED, *_BUILTINS)
    plain = all(isinstance(n, _PLAIN) and (not isinstance(n, ast.Call) or _path(n.func, names) in called) for n in every)
    return plain and _reaches_nothing(every, names)


def _kernel(node: ast.FunctionDef, names: dict[str, str]) -> bool:
    """Return True for a kernel's body in which the compiler finds no module's function to call but Triton's own: it calls
    what it meets, in its own process."""
    inner = [n for s in node.body for n in ast.walk(s)]
    if any(isinstance(n, ast.FunctionDef | ast.Lambda | ast.Import | ast.ImportFrom) for n in inner):
        return False
    bare = {n.id for n in inner if isinstance(n, ast.Name)}
    if bare & {"getattr", "setattr", "eval", "exec", "compile", "open", "__import__", "vars", "globals", "print"}:
        return False
    return _reaches_nothing(inner, names)


def _reaches_nothing(nodes: list[ast.AST], names: dict[str, str]) -> bool:
    """Return True if no module is a value here, and no attribute leads further in than the language's own names."""
    bases = {id(n.value) for n in nodes if isinstance(n, ast.Attribute)}
    reached = [n for n in nodes if isinstance(n, ast.Attribute | ast.Name) and id(n) not in bases]
    hidden = any(isinstance(n, ast.Attribute) and n.attr.startswith("_") for n in nodes)
    return not hidden and all(_allowed(path) for n in reached if (path := _path(n, names)))


def _allowed(path: str) -> bool:
    root, *rest = path.removeprefix("triton.language.").split(".") if path.startswith("triton.language.") else path.split(".")
    if path.startswith("triton.language."):
        root, rest = "tl", [root, *rest]
    if _INNER.intersection(rest):
        return False
    if root == "tl":
        deep = {"math": (2,), "extra": (3, 4)}.get(rest[0] if rest else "", (1, 2))
        return len(rest) in deep
    if root == "triton":
        return path in _CALLED
    if root == "torch":
        return len(rest) == 1 and rest[0].startswith(("int", "float", "bfloat", "uint", "bool", "Tensor"))
    if root in _BUILTINS:
        return not rest
    return root in _MODULES and len(rest) == 1


def _path(node: ast.expr, names: dict[str, str]) -> str:
    """Return the dotted path that an expression names, through what was imported; "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    root = names.get(node.id, node.id if not parts and node.id in _BUILTINS else "")
    return ".".join([root, *reversed(parts)]) if root else ""
