"""Finds the statements of a notebook that a name depends on: those that gave it its present value, and their own dependencies.

A replaced statement does not count: an old version of an answer may need things that the new one does not.
"""

from __future__ import annotations

import ast
import re
import symtable
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dcplab import syntax

# A call on an imported module counts as a change of it if its name matches: `torch.set_default_dtype`, `sys.path.append`.
_SETS = re.compile(r"set_|use_|register|(manual_)?seed|append|extend|insert|update")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")
_END = 1 << 60  # the answer is called after every statement


@dataclass(frozen=True)
class Statement:
    node: ast.stmt
    text: str
    cell: int
    line: int
    binds: frozenset[str]
    changes: frozenset[str]
    uses: frozenset[str]  # names read when the statement runs
    later: frozenset[str]  # names read when a function that it defines is called
    calls: frozenset[str]  # names whose methods it calls for a side effect: a change, unless the name is a module
    passed_to: frozenset[tuple[str, str]]  # arguments of calls made for their side effect, as ("fill", "TABLE") for fill(TABLE)
    declares: frozenset[str]  # globals that its functions assign
    settles: frozenset[str]  # names that it binds in every case, so that their earlier values are gone

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, (*_DEFINITIONS, ast.Import, ast.ImportFrom))


@dataclass(frozen=True)
class Borrowed:
    """A name that the answer uses and that depends on a module of the course. ``cell`` made it with ``maker`` ("lab.run")."""

    name: str
    cell: int
    maker: str


def statements_of(text: str, cell: int) -> list[Statement]:
    """Return the top-level statements of a cell that is plain Python. Raises the parser's errors."""
    lines = text.split("\n")
    found = []
    for node in syntax.parse(text).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        column = min([node.col_offset, *(d.col_offset - 1 for d in getattr(node, "decorator_list", []))])
        piece = lines[first - 1 : node.end_lineno]
        # With two statements on one line ("a = 1; b = 2"), cut each by its columns, which count UTF-8 bytes.
        piece[-1] = piece[-1].encode()[: node.end_col_offset].decode()
        piece[0] = piece[0].encode()[column:].decode()
        source = "\n".join(piece)
        found.append(Statement(node, source, cell, first, *_effects(node, source)))
    return found


def needed(statements: Sequence[Statement], names: Sequence[str]) -> list[Statement]:
    """Return the statements that ``names`` depend on once all have run, in order.

    A name that is read when a statement runs has its value of that time. A name in a function's body has its value at the call.
    The call comes at the end, or at a statement that calls the function.
    """
    makers = _makers(statements)
    lazy = {name for name, at in makers.items() if any(statements[i].later for i in at)}
    kept = {i for i, s in enumerate(statements) if "*" in s.binds or is_future(s.node)}
    walked: dict[str, set[int]] = {}
    waiting = [(name, _END) for name in names] + [(name, i) for i in kept for name in statements[i].uses]
    asked = set(waiting)

    def ask(names: Iterable[str], when: int) -> None:
        new = {(name, when) for name in names if name in makers} - asked
        asked.update(new)
        waiting.extend(new)

    while waiting:
        name, when = waiting.pop()
        at, seen = makers.get(name, []), walked.setdefault(name, set())
        for i in reversed(at[: bisect_left(at, when)]):
            s = statements[i]
            if i in seen and name not in lazy:
                break  # its dependencies were found when it was
            seen.add(i)
            kept.add(i)
            ask(s.uses, i)
            ask(s.later, when)
            if s.later and not (isinstance(s.node, _DEFINITIONS) and not s.node.decorator_list):
                ask(s.later, i)  # a decorator, or a function that gets a lambda, may call it at once
            if name in s.settles:
                break
    return [statements[i] for i in sorted(kept)]


def borrowed(statements: Sequence[Statement], course: Sequence[str]) -> tuple[Borrowed, ...]:
    """Return the names in needed statements that depend on modules of the course (top-level packages ``course``)."""
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for s in statements
        if isinstance(s.node, ast.Import | ast.ImportFrom)
        for alias in s.node.names
        if (getattr(s.node, "module", None) or alias.name).partition(".")[0] in course
    }
    used = {name for s in statements for name in s.later} or {name for s in statements for name in s.uses}
    made = {name: "" for name in modules}  # name -> its maker, through any number of statements
    found = []
    for s in statements:
        if isinstance(s.node, ast.Import | ast.ImportFrom):
            continue
        if isinstance(s.node, _DEFINITIONS):
            found += [Borrowed(name, s.cell, "") for name in sorted(s.later & modules)]
        elif by := _maker(s.node, made):
            names = sorted(s.binds | s.changes)
            made |= dict.fromkeys(names, by)
            found += [Borrowed(name, s.cell, by) for name in names if name in used]
    return tuple(found)


def outer(node: ast.AST) -> Iterable[ast.AST]:
    """Yield every node that runs when the statement runs. Leaves out the bodies of functions."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield from outer(child)


def is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _effects(node: ast.stmt, text: str) -> tuple[frozenset, ...]:
    """Return the fields of a Statement from ``binds`` on for a top-level statement. Reads the bodies of its functions too."""
    top = symtable.symtable(text, "cell", "exec")
    binds = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
        binds.add("*")
    changes, calls, passed_to, uses = set[str](), set[str](), set[tuple[str, str]](), _used(top, now=True)
    for n in outer(node):
        if isinstance(n, ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load):
            changes.update(_root(n))
        elif isinstance(n, ast.AugAssign):
            uses.update(_root(n.target))
        # A call on a method ("TABLE.append(1)") changes the object. `lab.check(...)` is one on `lab`, which no answer needs.
        elif isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Attribute):
            (changes if _SETS.match(n.value.func.attr) else calls).update(_root(n.value.func))
        elif isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Name):
            passed_to.update((n.value.func.id, name) for a in n.value.args for name in _root(a))
            passed_to.add((n.value.func.id, ""))
    later = _used(top, now=False)
    found = (binds, changes - binds, uses, later, calls - binds, passed_to, _globals_assigned(top), _settled(node))
    return tuple(frozenset(part) for part in found)


def _used(table: symtable.SymbolTable, now: bool, inside: bool = False) -> set[str]:
    """Return the globals that a statement reads: when it runs (``now``), or when a function that it defines is called."""
    top = table.get_type() == "module"
    inside = inside or (table.get_type() == "function" and table.get_name().strip("<>") not in _COMPREHENSIONS)
    found = {s.get_name() for s in table.get_symbols() if (s.is_referenced() if top else s.is_global())}
    mine = found if inside is not now else set()
    return mine.union(*(_used(child, now, inside) for child in table.get_children()))


def _globals_assigned(table: symtable.SymbolTable) -> set[str]:
    mine = {s.get_name() for s in table.get_symbols() if s.is_declared_global() and s.is_assigned()}
    return mine.union(*(_globals_assigned(child) for child in table.get_children()))


def _settled(node: ast.stmt) -> set[str]:
    """Return the names whose earlier values a statement replaces. An import replaces none: changes to a module survive its next
    import."""
    if isinstance(node, _DEFINITIONS):
        return {node.name}
    if isinstance(node, ast.Assign | ast.Delete):
        return {name for target in node.targets for name in _names(target)}
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value is not None):
        return _names(node.target)
    return set()


def _names(target: ast.expr) -> set[str]:
    if isinstance(target, ast.Tuple | ast.List):
        return {name for element in target.elts for name in _names(element)}
    target = target.value if isinstance(target, ast.Starred) else target
    return {target.id} if isinstance(target, ast.Name) else set()


def _root(node: ast.AST) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _makers(statements: Sequence[Statement]) -> dict[str, list[int]]:
    """Map each name to the statements, in order, that bind it or change its value."""
    # `torch.testing.assert_close(...)` and `torch.cuda.synchronize()` change nothing of torch, but may fail. A learner's trial
    # of another part must not break this one.
    modules = {
        a.asname or a.name.split(".")[0]
        for s in statements
        for n in outer(s.node)
        if isinstance(n, ast.Import)
        for a in n.names
    }
    functions = {name: s.declares for s in statements if s.is_definition for name in s.binds}
    found: dict[str, list[int]] = {}
    for i, s in enumerate(statements):
        for name in s.binds | s.changes | (s.calls - modules) | _by_hand(s, functions):
            found.setdefault(name, []).append(i)
    return found


def _by_hand(statement: Statement, functions: dict[str, frozenset[str]]) -> set[str]:
    """Return the names that a bare call of the notebook's own function may change: its non-function arguments, and its
    globals."""
    found = set()
    for function, argument in statement.passed_to:
        if function == "setattr":
            found.add(argument)
        elif function in functions:
            found |= ({argument} - functions.keys()) | functions[function]
    return found - {""}


def _maker(node: ast.stmt, made: Mapping[str, str]) -> str:
    """Return the maker of a name that a statement reads: the function of a module ("lab.run") or the module. Empty if there is
    none."""
    nodes = list(outer(node))
    calls = [n.func for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    if call := next((c for c in calls if any(made.get(name) == "" for name in _root(c))), None):
        return ast.unparse(call)
    return next((made[n.id] or n.id for n in nodes if isinstance(n, ast.Name) and n.id in made), "")
