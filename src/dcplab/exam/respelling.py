"""The same server in another spelling, and without its source: what a regression test is run on.

A test may know what a server does, and not how it is written. So local names are others each time, a result is named before it
is returned, docstrings are gone, and what lies in the folder is bytecode.
"""

from __future__ import annotations

import ast
import py_compile
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.Lambda)


def respelled(contents: Mapping[str, str]) -> dict[str, str]:
    """Return the same programs in another spelling; tests as they are."""
    salt = f"_{secrets.token_hex(4)}"
    return {name: text if name.startswith("tests/") else _respelled(text, salt) for name, text in contents.items()}


def without_source(folder: Path) -> Path:
    """Leave of the modules below ``folder`` their bytecode; tests as they are. Returns the folder. A package's own file stays:
    the sandbox knows a package by it."""
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith("tests/") and path.name != "__init__.py":
            py_compile.compile(str(path), cfile=str(path.with_suffix(".pyc")), dfile=name, doraise=True)
            path.unlink()
    return folder


def _respelled(text: str, salt: str) -> str:
    return ast.unparse(ast.fix_missing_locations(_OtherNames(salt).visit(ast.parse(text))))


class _OtherNames(ast.NodeTransformer):
    def __init__(self, salt: str):
        self.salt = salt

    def visit_Module(self, node: ast.Module) -> Any:
        return _without_docstring(self.generic_visit(node))

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return _without_docstring(self.generic_visit(node))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node = _without_docstring(self.generic_visit(node))
        names = _own_names(node)
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and one.id in names:
                one.id += self.salt
        return node

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is None:
            return node
        name = f"result{self.salt}"
        named = ast.Assign([ast.Name(name, ast.Store())], node.value)
        return [named, ast.Return(ast.Name(name, ast.Load()))]


def _own_names(function: ast.FunctionDef) -> set[str]:
    """Return the local names of a function that can be called otherwise without a look at anything else."""
    nodes = list(ast.walk(function))
    if any(isinstance(one, ast.Match) for one in nodes):
        return set()
    stored = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return stored - {name for one in nodes for name in _bound_otherwise(one)}


def _bound_otherwise(node: ast.AST) -> set[str]:
    """Return names that a node binds, or says, by other means than an assignment."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return set(node.names)
    if isinstance(node, _SCOPES):
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        return {arg.arg for arg in every if arg} | {getattr(node, "name", "")}
    if isinstance(node, ast.ExceptHandler):
        return {node.name or ""}
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).partition(".")[0]}
    if isinstance(node, _COMPREHENSIONS):
        targets = [name for made in node.generators for name in ast.walk(made.target)]
        return {name.id for name in targets if isinstance(name, ast.Name)}
    if isinstance(node, ast.ClassDef):
        return {node.name} | {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return set()


def _without_docstring(node: Any) -> Any:
    if ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:] or [ast.Pass()]
    return node
