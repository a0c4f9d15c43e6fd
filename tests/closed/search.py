"""Searches a released checkout for what it must not hold, by content: in files, notebooks' strings, git's objects, and what is
packed or encoded in them. Names of files count for nothing."""

from __future__ import annotations

import ast
import base64
import binascii
import gzip
import json
import re
import subprocess
import textwrap
import zlib
from collections.abc import Iterator
from pathlib import Path

from dcplab.course.catalog import Lab
from dcplab.course.lab_source import BEGIN, END

TOKEN = re.compile(r"\w+|[^\w\s]")
BASE64 = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}")
LEAST_NODES = 12  # a body of fewer, with its names taken away, is anybody's


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (where, text) of everything that a checkout holds."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".git" not in path.relative_to(folder).parts[:1]:
            yield from within(str(path.relative_to(folder)), path.read_bytes())
    listed = _git(folder, "cat-file", "--batch-all-objects", "--batch-check").decode().split("\n")
    for identity, kind, _ in (line.split() for line in listed if line):
        if kind != "tree":
            yield from within(f"git {kind} {identity[:8]}", _git(folder, "cat-file", kind, identity))


def _git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True).stdout


def within(where: str, data: bytes, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts in some bytes: themselves, JSON's strings, what is compressed or in base64."""
    for unpack in (gzip.decompress, zlib.decompress) if data and depth < 4 else ():
        try:
            yield from within(f"{where}, unpacked", unpack(data), depth + 1)
        except (OSError, zlib.error, EOFError):
            continue
    text = data.decode("utf-8", "replace")
    strings = [text]
    try:
        strings = list(_strings(json.loads(text)))
    except ValueError:
        pass
    yield where, "\n".join(strings)
    for found in BASE64.findall("\n".join(strings)) if depth < 3 else ():
        try:
            yield from within(f"{where}, base64", base64.b64decode(found + "=" * (-len(found) % 4)), depth + 1)
        except binascii.Error:
            continue


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(one, str) for one in value):
            yield "".join(value)  # a notebook's source, line by line
        else:
            for one in value:
                yield from _strings(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _strings(one)


def tokens(text: str) -> str:
    """Return a text as its words and signs, one space between two: layout does not count."""
    return f" {' '.join(TOKEN.findall(text))} "


def code(text: str) -> str:
    """Return Python source without comments and docstrings, where it parses, as tokens."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return tokens("\n".join(line.partition("#")[0] for line in text.split("\n")))
    return tokens(ast.unparse(_bare(tree)))


def _bare(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and len(node.body) > 1 and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree


def shapes(text: str) -> dict[str, str]:
    """Return the bodies of the functions of a text that is Python, each without names, docstring and layout, and the name."""
    try:
        tree = _bare(ast.parse(text))
    except (SyntaxError, ValueError):
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and len(list(ast.walk(node))) >= LEAST_NODES + len(node.args.args):
            found[_shape(node)] = node.name
    return found


def _shape(node: ast.FunctionDef) -> str:
    numbers: dict[str, str] = {}
    dumped = ast.dump(ast.Module(body=node.body, type_ignores=[]), annotate_fields=False)
    return re.sub(r"'(\w+)'", lambda m: numbers.setdefault(m[1], f"'n{len(numbers)}'"), dumped)


def solutions(lab: Lab) -> Iterator[tuple[str, str]]:
    """Yield (which, source) of the solution regions of a lab."""
    for cell in lab.cells:
        if cell.role != "answer":
            continue
        kept: list[str] = []
        inside = False
        for line in cell.source.split("\n"):
            if END in line:
                yield f"solution of {cell.part}", textwrap.dedent("\n".join(kept))
                kept, inside = [], False
            elif BEGIN in line:
                inside = True
            elif inside:
                kept.append(line)
