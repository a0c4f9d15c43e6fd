"""Tells programs that run nothing of their own while they load: imports, definitions, constants. Pure: reads the source alone.

A process that loads such a program, and compiles or interprets its kernels, has run no code of its author but the language of
kernels. So what it says, of the compiler and of the launch, is true.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from dcplab import syntax

_MODULES = ("triton", "torch", "math", "numpy", "typing", "__future__")
_DECORATORS = ("triton.jit", "triton.autotune", "triton.heuristics")
_CALLED = (*_DECORATORS, "triton.Config", "tl.constexpr", "triton.cdiv", "triton.next_power_of_2", "torch.iinfo", "torch.finfo")
_BUILTINS = ("int", "float", "bool", "min", "max", "len", "abs", "range")
_STATIC = ("isinstance", "tuple", "list", "round", "sum", "print")  # a kernel may ask these too
_NOTES = (*_BUILTINS, "str", "tuple", "list", "dict", "object")  # builtins that an annotation may name
# Modules, through which a name would reach others (`tl.core.os`). `tl.math` and `tl.extra` have functions of the language.
_INNER = {"core", "semantic", "standard", "random", "target_info", "runtime", "os", "sys", "inspect", "builtins", "importlib"}
# What a kernel may ask of a value. In the interpreter a value has more: its numpy array, and behind that everything.
_ASKED = frozenset(
    "T abs advance argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg "
    "atomic_xor broadcast_to cast cdiv ceil cos cumprod cumsum erf exp exp2 expand_dims flip floor gather histogram item log "
    "log2 logical_and logical_or max min permute ravel reduce reduce_or reshape rsqrt sigmoid sin softmax sort split sqrt "
    "sqrt_rn store sum to trans view xor_sum load scatter dtype shape type scalar element_ty numel value primitive_bitwidth "
    "itemsize block_shape is_bf16 is_block is_bool is_const is_floating is_fp16 is_fp32 is_fp64 is_fp8 is_int is_int1 is_int16 "
    "is_int32 is_int64 is_int8 is_int_signed is_int_unsigned is_ptr is_uint16 is_uint32 is_uint64 is_uint8 bits max eps tiny "
    "smallest_normal".split()
)
_NUMBERS = re.compile(r"(u?int|b?float)\d+\w*|int|float|double|half|long|short|bool_?|inf|nan|pi|e|Tensor")  # torch's, numpy's
_PLAIN = (
    *(ast.Constant, ast.Name, ast.Load, ast.Tuple, ast.List, ast.Dict, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare),
    *(ast.IfExp, ast.Subscript, ast.Slice, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.keyword, ast.Attribute),
    *(ast.Lambda, ast.arguments, ast.arg, ast.Call, ast.Starred),
)
_NEVER = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal),
    *(ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.AsyncFor, ast.Match, ast.Yield, ast.YieldFrom, ast.Await),
)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def inert(source: str) -> bool:
    """Return True if loading the source, and running its kernels, calls nothing but Triton."""
    try:
        body = syntax.parse(source).body
    except _UNREADABLE:
        return False
    return all(_kept(body))


def core(source: str) -> str:
    """Return the source with only those statements that run nothing of their own, line numbers kept. A source that cannot be
    read gives an empty one."""
    try:
        body = syntax.parse(source).body
    except _UNREADABLE:
        return ""
    kept, lines = _kept(body), source.split("\n")
    left = [""] * len(lines)
    spans = [(min([n.lineno, *(d.lineno for d in getattr(n, "decorator_list", []))]), n.end_lineno or n.lineno) for n in body]
    for (first, last), keep in zip(spans, kept, strict=True):
        if keep and all(k for k, (low, high) in zip(kept, spans, strict=True) if low <= last and first <= high):
            left[first - 1 : last] = lines[first - 1 : last]
    return "\n".join(left)


def made_by_triton(source: str, name: str) -> bool:
    """Return True if ``name`` is, as its last binding in the source reads, a function with one of Triton's decorators."""
    try:
        body = syntax.parse(source).body
    except _UNREADABLE:
        return False
    names = _imported(body)
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return _is_kernel(node, names)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return isinstance(node.value, ast.Call) and _path(_called(node.value), names) in _DECORATORS
    return False


def _kept(body: Sequence[ast.stmt]) -> list[bool]:
    """Return for each statement whether it runs nothing, given that those which may are left out."""
    names = _imported(body)
    kept = [_statement(node, names) for node in body]
    while True:  # a function that something mentions may be called by it, and must be as harmless as a kernel
        mentioned = {n.id for node, keep in zip(body, kept, strict=True) if keep for n in _read(node, names)}
        mentioned |= {node.name for node in body if isinstance(node, ast.FunctionDef) and _is_kernel(node, names)}
        kernels = {node.name for node in body if isinstance(node, ast.FunctionDef) and node.name in mentioned}
        new = [
            keep and (not isinstance(node, ast.FunctionDef) or node.name not in mentioned or _kernel(node, names, kernels))
            for node, keep in zip(body, kept, strict=True)
        ]
        if new == kept:
            return kept
        kept = new


def _read(node: ast.stmt, names: dict[str, str]) -> list[ast.Name]:
    """Return the names that a statement may use when it runs, or when its kernel does."""
    if isinstance(node, ast.FunctionDef) and not _is_kernel(node, names):
        inside: list[ast.AST] = [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.decorator_list]
    else:
        inside = [node]
    return [n for root in inside for n in ast.walk(root) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]


def _is_kernel(node: ast.FunctionDef, names: dict[str, str]) -> bool:
    return any(_path(_called(d), names) in _DECORATORS for d in node.decorator_list)


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _imported(body: Iterable[ast.stmt]) -> dict[str, str]:
    """Return what each imported name stands for ("tl" -> "tl"); "" for one that stands for several things."""
    names: dict[str, str] = {}
    for node in body:
        for name, path in _imports(node):
            path = "tl" if path == "triton.language" else path
            names[name] = path if names.get(name, path) == path else ""
    return names


def _imports(node: ast.stmt) -> list[tuple[str, str]]:
    if isinstance(node, ast.Import):
        whole = [(a.asname, a.name) for a in node.names]
        return [(name or path.partition(".")[0], path if name else path.partition(".")[0]) for name, path in whole]
    if isinstance(node, ast.ImportFrom):
        return [(a.asname or a.name, f"{'.' * node.level}{node.module}.{a.name}") for a in node.names]
    return []


def _statement(node: ast.stmt, names: dict[str, str]) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = [path for _, path in _imports(node)] + [a.name for a in node.names if isinstance(node, ast.Import)]
        clear = all(name != "*" and names.get(name) and name not in _BUILTINS for name, _ in _imports(node))
        return clear and all(path.partition(".")[0] in _MODULES for path in modules)
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)  # a docstring
    taken = (*names, *_BUILTINS, *_STATIC)
    if isinstance(node, ast.Assign):
        plain = all(isinstance(t, ast.Name) and t.id not in taken for t in node.targets)
        return plain and _expression(node.value, names)
    if isinstance(node, ast.AnnAssign):
        plain = isinstance(node.target, ast.Name) and node.target.id not in taken
        return plain and _annotation(node.annotation, names) and (node.value is None or _expression(node.value, names))
    if not isinstance(node, ast.FunctionDef) or node.name in taken:
        return False
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    noted = [*(a.annotation for a in every), node.returns]
    if not all(_annotation(e, names) for e in noted if e is not None):
        return False
    read = [*node.decorator_list, *given.defaults, *filter(None, given.kw_defaults)]
    # A decorator is called with the function, whatever it is: Triton's alone are known.
    known = all(_path(_called(d), names) in _DECORATORS for d in node.decorator_list)
    return known and all(_expression(e, names) for e in read)


def _annotation(node: ast.expr, names: dict[str, str]) -> bool:
    """Return True for an annotation that calls nothing, evaluated as a text too: the checker reads "tl.constexpr" so."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            (statement,) = syntax.parse(node.value).body
        except _UNREADABLE:
            return False
        return isinstance(statement, ast.Expr) and _annotation(statement.value, names)
    every = list(ast.walk(node))
    if any(isinstance(n, ast.Call) or (isinstance(n, ast.Constant) and isinstance(n.value, str)) for n in every):
        return False
    # A name of the answer's own may stand for a text.
    clear = all(n.id in names or n.id in _NOTES for n in every if isinstance(n, ast.Name))
    return clear and all(isinstance(n, _PLAIN) for n in every) and _reaches_nothing(every, names)


def _expression(node: ast.expr, names: dict[str, str]) -> bool:
    every = list(ast.walk(node))
    calls = [_path(n.func, names) for n in every if isinstance(n, ast.Call)]
    allowed = (*_CALLED, *_BUILTINS)
    plain = all(isinstance(n, _PLAIN) for n in every) and all(c in allowed or c.startswith("math.") for c in calls)
    return plain and not _of_types(every, names) and _reaches_nothing(every, names)


def _of_types(nodes: Sequence[ast.AST], names: dict[str, str]) -> bool:
    """Return True if something of `typing` is a value here: some of it evaluates texts, and only annotations need it."""
    return any(isinstance(n, ast.Name) and names.get(n.id, "").partition(".")[0] == "typing" for n in nodes)


def _kernel(node: ast.FunctionDef, names: dict[str, str], kernels: set[str]) -> bool:
    """Return True for a kernel's body that calls the language, other kernels and nothing else: the compiler and the interpreter
    call whatever they meet, in their own process."""
    inner = [n for s in node.body for n in ast.walk(s)]
    if any(isinstance(n, _NEVER) for n in inner):
        return False
    given = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    bound = given | {n.id for n in inner if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    changed = any(isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load) for n in inner)
    if changed or bound & names.keys() or _of_types(inner, names):  # an imported name must be what it reads as
        return False
    language = {name for name, path in names.items() if path.startswith(("tl.", "triton.", "math."))}
    for call in (n for n in inner if isinstance(n, ast.Call)):
        match call.func:
            case ast.Name("print"):
                fine = not call.keywords
            case ast.Name("isinstance"):  # asked for constexpr, it tells the interpreter from the compiler
                fine = not any(_path(n, names).endswith("constexpr") for n in ast.walk(call) if isinstance(n, ast.expr))
            case ast.Name(name):
                fine = name in {*kernels, *_BUILTINS, *_STATIC, *language} - bound
            case ast.Attribute(attr=attr):
                path = _path(call.func, names)
                fine = path.startswith(("tl.", "triton.", "math.")) if path else attr in _ASKED
            case _:
                fine = False
        if not fine:
            return False
    asked = [n for n in inner if isinstance(n, ast.Attribute) and not _path(n, names)]
    return all(n.attr in _ASKED for n in asked) and _reaches_nothing(inner, names)


def _reaches_nothing(nodes: Sequence[ast.AST], names: dict[str, str]) -> bool:
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
        return path in _CALLED or (len(rest) == 1 and _NUMBERS.fullmatch(rest[0]) is not None)
    if root == "numpy":
        return len(rest) == 1 and _NUMBERS.fullmatch(rest[0]) is not None
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
