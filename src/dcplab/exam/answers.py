"""What a learner hands in for a case: a diagnosis, a patched server, a regression test. Data, read from their folder."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dcplab.exam import strangers_files
from dcplab.field import checkout, faults
from dcplab.field.faults import PlantedFault

ANSWER, TEST, CHECKOUT = "answer.toml", "tests/test_regression.py", "checkout"
FIELDS = ("file", "line", "index", "was", "expected")
TEST_STARTER = '''"""Fails while the bug is there, and while one of its kind is. Passes on a right server."""
'''
ANSWER_STARTER = """# The first operation that was wrong, in the checkout as you got it.
file = ""      # as quay/layout.py
line = 0
index = ""     # which index was wrong: its name, as it stands in that line
was = ""       # the space that it was in, a word of README.md
expected = ""  # the space that is read there
"""


@dataclass(frozen=True)
class HandedIn:
    """``diagnosis``: of `FIELDS`, the line as an int; None if it cannot be read. ``server``: the files of the packages, by
    path. ``test``: the source of the regression test."""

    diagnosis: Mapping[str, str | int] | None
    server: Mapping[str, str]
    test: str

    @property
    def digest(self) -> str:
        said = [self.diagnosis, sorted(self.server.items()), self.test]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def read(folder: Path, house: str) -> HandedIn:
    """Read a case's folder."""
    found = {f"{CHECKOUT}/{name}": text for name, text in strangers_files.sources(folder / CHECKOUT).items()}
    return of(found | {ANSWER: strangers_files.text(folder / ANSWER) or ""}, house)


def of(files: Mapping[str, str], house: str) -> HandedIn:
    """Take what was handed in from a case's files, by their paths in its folder. A path that is none of a package's is left
    out: it could lead elsewhere."""
    packages = "|".join({name.partition("/")[0] for name in checkout.files(house)} - {"tests"})
    ours = re.compile(rf"{CHECKOUT}/((?:{packages})/(?:\w+/){{0,3}}\w+\.py)", re.ASCII)
    server = {at[1]: text for name, text in files.items() if (at := ours.fullmatch(name))}
    return HandedIn(_diagnosis(files.get(ANSWER, "")), server, files.get(f"{CHECKOUT}/{TEST}", ""))


def unfinished(handed: HandedIn, fault: PlantedFault) -> str:
    """Say what keeps a diagnosis from being one, so that no slip of the pen costs a hand-in; "" if nothing does."""
    said = handed.diagnosis
    if said is None:
        return f"{ANSWER} cannot be read: it needs {', '.join(FIELDS)}, the line as a whole number, the others in quotes."
    if not any(said.values()):
        return ""  # no diagnosis is handed in
    if empty := [name for name in FIELDS if not said[name]]:
        return f"{ANSWER} does not say {', '.join(empty)} yet."
    if said["file"] not in checkout.files(fault.house):
        return f"There is no file {said['file']} in the checkout; one is called as {fault.house}/__init__.py is."
    if other := [str(said[name]) for name in ("was", "expected") if said[name] not in faults.spaces()]:
        return f"{' and '.join(other)}: no space that README.md lists."
    return ""


def untouched(handed: HandedIn, fault: PlantedFault) -> bool:
    """Return True if a case is as it was handed out."""
    said = handed.diagnosis is not None and not any(handed.diagnosis.values())
    return said and handed.server == given(fault) and not tested(handed.test)


def given(fault: PlantedFault) -> dict[str, str]:
    """Return the server that was handed out, without its tests."""
    planted = fault.edit.made(checkout.files(fault.house))
    return {name: text for name, text in planted.items() if not name.startswith("tests/")}


def tested(source: str) -> bool:
    """Return True if a source holds a test at all."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return bool(source.strip())
    return any(isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in ast.walk(tree))


def _diagnosis(text: str) -> dict[str, str | int] | None:
    try:
        said = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    if any(type(said.get(name)) is not (int if name == "line" else str) for name in FIELDS):
        return None
    return {name: said[name] if name == "line" else said[name].strip() for name in FIELDS}
