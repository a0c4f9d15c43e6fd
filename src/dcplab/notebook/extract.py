"""Extracts the part of a notebook that one answer needs: its definition, and the helpers, constants and imports that it uses.

A live notebook gives its cells in order of execution, a file in document order. Both become one Program, the only part of the
notebook that runs in a child.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dcplab import syntax
from dcplab.notebook.statements import Borrowed, Statement, borrowed, is_future, needed, outer, statements_of
from dcplab.paths import PACKAGES

_PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")  # the body of these cell magics is ordinary Python
_UNREADABLE = (SyntaxError, RecursionError, MemoryError, ValueError)  # errors of the parser
_MAGIC = re.compile(
    r"^[ \t]*[%!?]|\?[ \t]*$|=[ \t]*[%!]|\A\s*(?:>>>|In \[|[ \t])", re.MULTILINE
)  # IPython must translate such a cell
CELL_SIZE = 60_000  # characters of a cell that is read
_PATIENCE = 1_000_000  # magics times characters: IPython reads a cell anew for each of its magics
_BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.TryStar, ast.With, ast.Match)


@dataclass(frozen=True)
class Program:
    """Source code to run in a child: ``source`` defines ``entry``.

    ``lines[i]``: the origin of line i + 1 as (cell, line), both from 1; (0, 0) for none.
    ``problem``: a sentence if the notebook gives no such program: no cell defines the entry, or its cell cannot be parsed.
    ``folder``: the notebook's folder; modules in it can be imported. ``borrowed``: names that were made by the course.
    ``ran``: the cells are runs of a kernel, so that cell N is the one that ran as [N].
    """

    source: str
    entry: str
    lines: tuple[tuple[int, int], ...] = ()
    problem: str | None = None
    unreadable: bool = False  # the problem is a syntax error in the cell that holds the entry
    folder: str | None = None
    borrowed: tuple[Borrowed, ...] = ()
    ran: bool = False


def extract(cells: Sequence[str], names: str | Sequence[str], folder: str | None = None) -> Program:
    """Return the Program of ``names``, the entry first, from these code cells. Skips cells that do not parse, unless the broken
    cell is the last one that defines the entry."""
    names = (names,) if isinstance(names, str) else tuple(names)
    entry, folder = names[0], os.path.abspath(folder) if folder else None  # a child works elsewhere
    statements: list[Statement] = []
    unreadable: str | None = None
    for number, text in enumerate(cells, 1):
        found, error = _read(text, number)
        if error is not None:
            text = text[:CELL_SIZE]
            if here := next((name for name in names if _mentions(text, name)), None):
                line, why = getattr(error, "lineno", 1), getattr(error, "msg", None) or str(error) or "it is nested too deeply"
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
    return _assemble(needed(statements, names), entry, folder)


@functools.lru_cache(512)  # every part of a lab reads the same cells, and a failure is as dear as a success
def _read(text: str, number: int) -> tuple[Sequence[Statement], Exception | None]:
    """Return a cell's statements, or the error that the parser raises."""
    if len(text) > CELL_SIZE:
        return (), ValueError(f"a cell may have {CELL_SIZE:,} characters, this one has {len(text):,}")
    try:
        return statements_of(plain_python(text), number), None
    except _UNREADABLE as e:
        return (), e.with_traceback(None)


def forget() -> None:
    """Forget the cells that were read: a process that reads many notebooks has room for the next."""
    _read.cache_clear()


def plain_python(text: str) -> str:
    """Return a cell without its magics and shell lines, line numbers kept. Raises SyntaxError if the rest is no Python."""
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))  # count lines as the parser does
    try:
        syntax.parse(text)
        return text
    except SyntaxError as error:
        # IPython knows which '%' begins a magic and which stands in a string. It is slow, so it is asked only when needed.
        magics = len(_MAGIC.findall(text))
        if not magics or magics * len(text) > _PATIENCE:
            raise error
    from IPython.core.inputtransformer2 import TransformerManager

    if text.lstrip().startswith("%%"):
        rest = text.lstrip()
        before = text[: len(text) - len(rest)]
        first, _, body = rest.partition("\n")
        known = first[2:].split(maxsplit=1)[0] if first[2:].strip() else ""
        return "\n" * (before.count("\n") + 1) + plain_python(body) if known in _PYTHON_CELL_MAGICS else ""
    text = re.sub(
        r"^([ \t]*)%(?:time|prun)[ \t]+(?=\S)", r"\1", text, flags=re.MULTILINE
    )  # what they time is Python, and may bind
    try:
        text = TransformerManager().transform_cell(text)
    except Exception as error:  # IPython gives up on hundreds of magics, and fails on text that is no Python
        raise SyntaxError(f"IPython cannot read it ({error})") from error
    tree = syntax.parse(text)
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, _BLOCKS) and _calls_ipython(node):
            for i in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[i] = ""
            lines[node.lineno - 1] = " " * node.col_offset + "pass"
    return "\n".join(lines)


def same_code(a: str, b: str, names: str | Sequence[str]) -> bool:
    """Return True if two sources bind ``names`` by the same code. Docstrings, comments and layout do not count."""
    names = (names,) if isinstance(names, str) else names
    first, second = ([_bindings(source, name) for name in names] for source in (a, b))
    return None not in first and first == second


def defines(text: str, name: str) -> bool:
    """Return True if a cell binds ``name``, or would if it could be read."""
    try:
        return any(name in s.binds for s in statements_of(plain_python(text), 1))
    except _UNREADABLE:
        return _mentions(text, name)


def defined(source: str) -> list[str]:
    """Return the names of the functions and classes that a source defines at its top level, in order."""
    nodes = [n for n in syntax.parse(source).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return list(dict.fromkeys(n.name for n in nodes))


def unfinished(source: str, names: str | Sequence[str]) -> bool:
    """Return True if a name's last definition still ends in ``raise NotImplementedError`` (for a class: any of its methods).

    A function that can return earlier counts as finished: its raise may be a leftover, or meant for other arguments.
    """
    if not isinstance(names, str):
        return any(unfinished(source, name) for name in names)
    entry = names
    try:
        nodes = [n for n in syntax.parse(source).body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == entry]
    except _UNREADABLE:
        return False
    if not nodes:
        return False
    body = nodes[-1].body
    functions = [nodes[-1]] if isinstance(nodes[-1], ast.FunctionDef) else [n for n in body if isinstance(n, ast.FunctionDef)]
    return any(_is_not_implemented(f.body[-1]) and not _returns(f) for f in functions)


def _assemble(chosen: list[Statement], entry: str, folder: str | None) -> Program:
    chosen = sorted(chosen, key=lambda s: not is_future(s.node))  # stable: only __future__ imports move to the front
    text, lines = [], []
    for s in chosen:
        piece = s.text.split("\n")
        text += piece
        lines += [(s.cell, s.line + i) for i in range(len(piece))]
    return Program("\n".join(text) + "\n", entry, tuple(lines), folder=folder, borrowed=borrowed(chosen, PACKAGES))


def _calls_ipython(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Name) and n.id == "get_ipython" for n in ast.walk(node))


def _mentions(text: str, entry: str) -> bool:
    return bool(
        re.search(
            rf"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+{re.escape(entry)}\b|^{re.escape(entry)}[ \t]*=", text, re.MULTILINE
        )
    )


def _is_not_implemented(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _returns(function: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Return | ast.Yield | ast.YieldFrom) for s in function.body for n in outer(s))


@functools.lru_cache(256)  # a part's starter is held against every answer
def _bindings(source: str, entry: str) -> list[str] | None:
    try:
        found = [s.node for s in statements_of(plain_python(source), 1) if entry in s.binds]
        return [ast.dump(_without_docstrings(n)) for n in found] or None
    except _UNREADABLE:
        return None


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for n in ast.walk(tree):
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(n) is not None:
            n.body = n.body[1:] or [ast.Pass()]
    return tree
