"""The part of a notebook that one answer needs: its own definition, and the helpers, constants and imports it uses.

A live notebook gives its cells in order of execution, a file in document order. Both become one Program, which is what runs in
a child: nothing else of the notebook does.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dcplab.notebook.statements import Borrowed, Statement, borrowed, is_future, needed, outer, statements_of
from dcplab.paths import PACKAGES

_PYTHON_CELL_MAGICS = ("time", "timeit", "capture", "prun")  # their body is ordinary Python; other cell magics' is not
_UNREADABLE = (SyntaxError, RecursionError, MemoryError, ValueError)  # the parser's answers to what is no Python, or too deep
_MAGIC = re.compile(r"^\s*[%!?]|\?\s*$|=\s*[%!]|\A\s*(?:>>>|In \[|[ \t])", re.MULTILINE)  # where IPython is asked
_PATIENCE = 1_000_000  # magics times characters: IPython reads a cell anew for each of its magics
_BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.TryStar, ast.With, ast.Match)


@dataclass(frozen=True)
class Program:
    """``source`` defines ``entry``. ``lines[i]`` is where its line i + 1 came from: (cell, line), both from 1; (0, 0) for none.

    ``problem`` is a sentence where the notebook gives no such program: nothing defines the entry, or its cell cannot be read.
    ``folder`` is where the notebook lies; modules beside it can be imported. ``borrowed``: names that the course made.
    """

    source: str
    entry: str
    lines: tuple[tuple[int, int], ...] = ()
    problem: str | None = None
    unreadable: bool = False  # the problem is a syntax error in the cell that holds the entry
    folder: str | None = None
    borrowed: tuple[Borrowed, ...] = ()


def extract(cells: Sequence[str], names: str | Sequence[str], folder: str | None = None) -> Program:
    """The Program of ``names``, the entry first, in these code cells. One that cannot be read is skipped, if not the last."""
    names = (names,) if isinstance(names, str) else tuple(names)
    entry = names[0]
    statements: list[Statement] = []
    unreadable: str | None = None
    for number, text in enumerate(cells, 1):
        try:
            text = plain_python(text)
            found = statements_of(text, number)
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
    return _assemble(needed(statements, names), entry, folder)


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
        re.search(rf"^\s*(?:async\s+)?(?:def|class)\s+{re.escape(entry)}\b|^{re.escape(entry)}\s*=", text, re.MULTILINE)
    )


def _is_not_implemented(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _returns(function: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Return | ast.Yield | ast.YieldFrom) for s in function.body for n in outer(s))


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
