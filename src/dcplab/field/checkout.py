"""A server as a folder of files, with nothing else of the course: what a learner gets, and what a child runs.

Each file is the repository's own, with the names of the course's packages replaced by the checkout's. So a checkout never falls
behind its server.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping
from pathlib import Path

import dcp_kernels

from dcplab import engine, errors, field
from dcplab.field import switches

HOUSES = ("quay", "engine")
_NAMES = (
    (r"\bdcplab\.field\.server\b", "quay"),
    (r"\bdcplab\.field\.engine_tests\b", "tests"),
    (r"\bdcplab\.engine\b", "engine"),
    (r"\bdcplab\.errors\b", "engine.errors"),
    (r"\bdcp_kernels\b", "kernels"),
)


@functools.cache
def files(house: str) -> Mapping[str, str]:
    """Return a house's files: path in the checkout -> text."""
    found = _quay() if house == "quay" else _engine()
    return {path: _renamed(text) for path, text in sorted(found.items())}


def write(contents: Mapping[str, str], folder: Path) -> Path:
    """Write files, by path, below ``folder``. Returns the folder."""
    for name, text in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def read(folder: Path) -> dict[str, str]:
    """Read the Python files of a checkout: path -> text."""
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.py"))}


def _quay() -> dict[str, str]:
    home = _home(field) / "server"
    found = {f"quay/{p.name}": p.read_text() for p in home.glob("*.py")}
    found |= {f"tests/{p.name}": p.read_text() for p in (home / "tests").glob("*.py")}
    found["quay/model.py"] = (_home(engine) / "model.py").read_text()  # in place of what imports it
    return found


def _engine() -> dict[str, str]:
    home, kernels = _home(engine), _home(dcp_kernels)
    needed = {f"{name}.py": (home / f"{name}.py").read_text() for name in ("__init__", *_needed(home, "scheduler"))}
    made = {name: switches.taken_out(name, text) for name, text in needed.items()}
    asked_for = set().union(*(_imports(text) for text in made.values())) | {"__init__", "scheduler"}
    found = {f"engine/{name}": text for name, text in made.items() if name.removesuffix(".py") in asked_for}
    found["engine/errors.py"] = Path(errors.__file__).read_text()
    found["kernels/__init__.py"] = (kernels / "__init__.py").read_text()
    found |= {f"kernels/reference/{p.name}": p.read_text() for p in (kernels / "reference").glob("*.py")}
    found |= {f"tests/{p.name}": p.read_text() for p in (_home(field) / "engine_tests").glob("*.py")}
    return found


def _needed(home: Path, name: str) -> set[str]:
    """Return the names of a module of the engine and of all that it imports there. Reports and lists of switches are not."""
    found, left = set[str](), {name}
    while left:
        found |= left
        named = {other for one in left for other in _imports((home / f"{one}.py").read_text())}
        left = {other for other in named if (home / f"{other}.py").exists()}
        left -= found
    return found


def _imports(source: str) -> set[str]:
    """Return the modules of the engine that a source imports."""
    froms = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in froms if node.module == "dcplab.engine" for alias in node.names}
    return names | {node.module.split(".")[2] for node in froms if node.module and node.module.startswith("dcplab.engine.")}


def _home(module: object) -> Path:
    return Path(str(getattr(module, "__file__", ""))).parent


def _renamed(text: str) -> str:
    for name, to in _NAMES:
        text = re.sub(name, to, text)
    return text
