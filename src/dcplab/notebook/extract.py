"""The part of a notebook that one answer needs: its own definition, and the helpers, constants and imports it uses.

A live notebook gives its cells in order of execution, a file in document order. Both become one Program, which is what runs in
a child: nothing else of the notebook does.
"""

from __future__ import annotations

import ast
import functools
import re
import symtable
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")  # their body is ordinary Python; other cell magics' is not
_UNREADABLE = (SyntaxError, RecursionError, MemoryError, ValueError)  # the parser's answers to what is no Python, or too deep
# What a call on an imported module must be named to count as a change of it: `torch.set_default_dtype`, `sys.path.append`.
_SETS = re.compile(r"set_|use_|register|(manual_)?seed|append|extend|insert|update")
_MAGIC = re.compile(r"^\s*[%!?]|\?\s*$|=\s*[%!]|\A\s*(?:>>>|In \[|[ \t])", re.MULTILINE)  # where IPython is asked
_PATIENCE = 1_000_000  # magics times characters: IPython reads a cell anew for each of its magics
_BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.TryStar, ast.With, ast.Match)


@dataclass(frozen=True)
class Program:
    """``source`` defines ``entry``. ``lines[i]`` is where its line i + 1 came from: (cell, line), both from 1; (0, 0) for none.

    ``problem`` is a sentence where the notebook gives no such program: nothing defines the entry, or its cell cannot be read.
    ``folder`` is where the notebook lies; modules beside it can be imported.
    """

    source: str
    entry: str
    lines: tuple[tuple[int, int], ...] = ()
    problem: str | None = None
    unreadable: bool = False  # the problem is a syntax error in the cell that holds the entry
    folder: str | None = None


@dataclass(frozen=True)
class _Statement:
    node: ast.stmt
    text: str
    cell: int
    line: int
    binds: frozenset[str]
    changes: frozenset[str]
    uses: frozenset[str]
    calls: frozenset[str]  # names whose methods it calls for their effect: a change, unless the name is a module's
    hands: frozenset[
        tuple[str, str]
    ]  # (function, argument) of what it calls for its effect: `fill(TABLE)`, `setattr(C, "n", 1)`
    declares: frozenset[str]  # globals that its functions assign

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)


def extract(cells: Sequence[str], names: str | Sequence[str], folder: str | None = None) -> Program:
    """The Program of ``names``, the entry first, in these code cells. One that cannot be read is skipped, if not the last."""
    names = (names,) if isinstance(names, str) else tuple(names)
    entry = names[0]
    statements: list[_Statement] = []
    unreadable: str | None = None
    for number, text in enumerate(cells, 1):
        try:
            text = plain_python(text)
            found = _statements(text, number)
        except _UNREADABLE as e:
            if here := next((name for name in names if _mentions(text, name)), None):
                line, why = getattr(e, "lineno", 1), getattr(e, "msg", "it is nested too deeply")
                unreadable = f"Line {line} of the cell with `{here}` cannot be read: {why}."
            continue
        if any(s.binds & set(names) for s in found):
            unreadable = None
        statements += found
    if unreadable:
        return Program("", entry, problem=unreadable, unreadable=True, folder=folder)
    for name in names:
        if not any(name in s.binds for s in statements):
            return Program("", entry, problem=f"No cell defines `{name}`, the name that the check looks for.", folder=folder)
    return _assemble(_needed(statements, names), entry, folder)


@functools.lru_cache(512)  # every part of a lab reads the same cells
def plain_python(text: str) -> str:
    """A cell without its magics and shell lines, line numbers kept. Raises SyntaxError if what remains is no Python."""
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))  # lines are counted as the parser counts them
    try:
        ast.parse(text)
        return text
    except SyntaxError as error:
        # IPython knows which '%' begins a magic and which stands in a string; it is only asked when it must be.
        magics = len(_MAGIC.findall(text))
        if not magics or magics * len(text) > _PATIENCE:
            raise error
    from IPython.core.inputtransformer2 import TransformerManager

    if text.lstrip().startswith("%%"):
        before, rest = re.match(r"(\s*)(.*)", text, re.DOTALL).groups()
        first, _, body = rest.partition("\n")
        known = first[2:].split(maxsplit=1)[0] if first[2:].strip() else ""
        return "\n" * (before.count("\n") + 1) + plain_python(body) if known in _PYTHON_CELL_MAGICS else ""
    text = re.sub(
        r"^(\s*)%(?:time|prun)[ \t]+(?=\S)", r"\1", text, flags=re.MULTILINE
    )  # what they time is Python, and may bind
    try:
        text = TransformerManager().transform_cell(text)
    except Exception as error:  # it gives up on hundreds of magics, and trips over what is no Python at all
        raise SyntaxError(f"IPython cannot read it ({error})") from error
    tree = ast.parse(text)
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, _BLOCKS) and _calls_ipython(node):
            for i in range(node.lineno - 1, node.end_lineno):
                lines[i] = ""
            lines[node.lineno - 1] = " " * node.col_offset + "pass"
    return "\n".join(lines)


def same_code(a: str, b: str, names: str | Sequence[str]) -> bool:
    """Whether two sources bind ``names`` by the same code, docstrings, comments and layout aside."""
    names = (names,) if isinstance(names, str) else names
    first, second = ([_bindings(source, name) for name in names] for source in (a, b))
    return None not in first and first == second


def unfinished(source: str, names: str | Sequence[str]) -> bool:
    """Whether a name's last definition still ends in ``raise NotImplementedError`` (for a class: any of its methods).

    One that returns before that is run: the raise may only be left over, or for arguments that it never gets.
    """
    if not isinstance(names, str):
        return any(unfinished(source, name) for name in names)
    entry = names
    try:
        nodes = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == entry]
    except _UNREADABLE:
        return False
    if not nodes:
        return False
    body = nodes[-1].body
    functions = [nodes[-1]] if isinstance(nodes[-1], ast.FunctionDef) else [n for n in body if isinstance(n, ast.FunctionDef)]
    return any(_is_not_implemented(f.body[-1]) and not _returns(f) for f in functions)


def _statements(text: str, cell: int) -> list[_Statement]:
    lines = text.split("\n")
    found = []
    for node in ast.parse(text).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        column = min([node.col_offset, *(d.col_offset - 1 for d in getattr(node, "decorator_list", []))])
        piece = lines[first - 1 : node.end_lineno]
        # Two statements on one line ("a = 1; b = 2"): take each by its columns (which count UTF-8 bytes).
        piece[-1] = piece[-1].encode()[: node.end_col_offset].decode()
        piece[0] = piece[0].encode()[column:].decode()
        source = "\n".join(piece)
        found.append(_Statement(node, source, cell, first, *_effects(node, source)))
    return found


def _effects(node: ast.stmt, text: str) -> tuple[frozenset, ...]:
    """What the fields of a _Statement from ``binds`` on say of a top-level statement, whose functions' bodies are read too."""
    top = symtable.symtable(text, "cell", "exec")
    binds = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
        binds.add("*")
    changes, calls, hands, uses = set(), set(), set(), _globals_used(top)
    for n in _outer(node):
        if isinstance(n, ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load):
            changes.update(_root(n))
        elif isinstance(n, ast.AugAssign):
            uses.update(_root(n.target))
        # A call on a method ("TABLE.append(1)") changes the object. `lab.check(...)` is one on `lab`, which no answer needs.
        elif isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Attribute):
            (changes if _SETS.match(n.value.func.attr) else calls).update(_root(n.value.func))
        elif isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Name):
            hands.update((n.value.func.id, name) for a in n.value.args for name in _root(a))
            hands.add((n.value.func.id, ""))
    found = (binds, changes - binds, uses, calls - binds, hands, _globals_assigned(top))
    return tuple(map(frozenset, found))


def _globals_assigned(table: symtable.SymbolTable) -> set[str]:
    mine = {s.get_name() for s in table.get_symbols() if s.is_declared_global() and s.is_assigned()}
    return mine.union(*(_globals_assigned(child) for child in table.get_children()))


def _globals_used(table: symtable.SymbolTable) -> set[str]:
    top = table.get_type() == "module"
    found = {s.get_name() for s in table.get_symbols() if (s.is_referenced() if top else s.is_global())}
    return found.union(*(_globals_used(child) for child in table.get_children()))


def _outer(node: ast.AST) -> Iterable[ast.AST]:
    """Every node that runs when the statement runs: not the bodies of functions."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield from _outer(child)


def _root(node: ast.AST) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _needed(statements: list[_Statement], names: Sequence[str]) -> list[_Statement]:
    """The statements to keep, in order: everything that binds or changes a needed name, until nothing new is needed."""
    makers: dict[str, list[int]] = {}
    # `torch.testing.assert_close(...)` and `torch.cuda.synchronize()` change nothing of torch, and may fail: a learner's own
    # try-out of another part must not cost this one.
    modules = {
        a.asname or a.name.split(".")[0]
        for s in statements
        for n in _outer(s.node)
        if isinstance(n, ast.Import)
        for a in n.names
    }
    functions = {name: s.declares for s in statements if s.is_definition for name in s.binds}
    for i, s in enumerate(statements):
        for name in s.binds | s.changes | (s.calls - modules) | _by_hand(s, functions):
            makers.setdefault(name, []).append(i)
    kept = {i for i, s in enumerate(statements) if "*" in s.binds or _is_future(s.node)}
    needed = set(names).union(*(statements[i].uses for i in kept))
    waiting = list(needed)
    while waiting:  # each name once, so that a long chain of definitions stays cheap
        for i in makers.get(waiting.pop(), ()):
            if i not in kept:
                kept.add(i)
                waiting += statements[i].uses - needed
                needed |= statements[i].uses
    chosen = [statements[i] for i in sorted(kept)]
    return [s for i, s in enumerate(chosen) if not _overridden(s, chosen[i + 1 :])]


def _by_hand(statement: _Statement, functions: dict[str, frozenset[str]]) -> set[str]:
    """Names that a bare call of a notebook's own function may change: its arguments, other than functions, and its globals."""
    found = set()
    for function, argument in statement.hands:
        if function == "setattr":
            found.add(argument)
        elif function in functions:
            found |= ({argument} - functions.keys()) | functions[function]
    return found - {""}


def _overridden(statement: _Statement, later: list[_Statement]) -> bool:
    """An earlier version of a function or class. It stays where something runs in between that might use it."""
    if not isinstance(statement.node, ast.FunctionDef | ast.ClassDef):
        return False
    for s in later:
        if isinstance(s.node, ast.FunctionDef | ast.ClassDef) and s.node.name == statement.node.name:
            return statement.node.name not in s.uses or (isinstance(s.node, ast.FunctionDef) and not s.node.decorator_list)
        if not s.is_definition:
            return False
    return False


def _assemble(chosen: list[_Statement], entry: str, folder: str | None) -> Program:
    chosen = sorted(chosen, key=lambda s: not _is_future(s.node))  # stable: only __future__ imports move to the front
    text, lines = [], []
    for s in chosen:
        piece = s.text.split("\n")
        text += piece
        lines += [(s.cell, s.line + i) for i in range(len(piece))]
    return Program("\n".join(text) + "\n", entry, tuple(lines), folder=folder)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _calls_ipython(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "get_ipython" for n in ast.walk(node))


def _mentions(text: str, entry: str) -> bool:
    return bool(
        re.search(rf"^\s*(?:async\s+)?(?:def|class)\s+{re.escape(entry)}\b|^{re.escape(entry)}\s*=", text, re.MULTILINE)
    )


def _is_not_implemented(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _returns(function: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Return | ast.Yield | ast.YieldFrom) for s in function.body for n in _outer(s))


def _bindings(source: str, entry: str) -> list[str] | None:
    try:
        found = [s.node for s in _statements(plain_python(source), 1) if entry in s.binds]
        return [ast.dump(_without_docstrings(n)) for n in found] or None
    except _UNREADABLE:
        return None


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for n in ast.walk(tree):
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(n) is not None:
            n.body = n.body[1:] or [ast.Pass()]
    return tree
