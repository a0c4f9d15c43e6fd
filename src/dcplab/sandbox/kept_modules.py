"""Loads what a part's driver needs of the course while the files can still be read, and hands it to the driver later.

Once the walls are closed no file of the course can be opened. The rails take the course's modules away from an answer; a
driver that imports one gets the module that was loaded before.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import linecache
import sys
import types
from collections.abc import Mapping, Sequence

from dcplab.paths import PACKAGES

_WIRINGS = "dcplab.engine.backend"
_KERNELS = "dcplab.engine.ops"  # imports a real kernel when it first launches it


def keep(drive: Mapping[str, str] | None, may_import: Sequence[str], hides: Sequence[str], kernels: bool) -> None:
    """Load the modules that a driver imports, and those that an answer may, and find them again when they are asked for.
    ``hides``: as in `Case`. ``kernels``: the real ones will be launched."""
    names = [*may_import, *(imports(drive["source"]) if drive else ())]
    if not names:
        return
    for name in names:
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    if kernels and _KERNELS in sys.modules:
        for name in sorted(set(sys.modules[_KERNELS].HOMES.values())):
            importlib.import_module(f"dcp_kernels.{name}")
    if hides:
        importlib.import_module(_WIRINGS).take_out(hides)
    kept = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in PACKAGES}
    for module in kept.values():  # Triton reads a kernel's source when it is first launched
        if module.__name__.startswith("dcp_kernels") and (source := getattr(module, "__file__", None)):
            linecache.getlines(source)
    sys.meta_path.insert(0, _Kept(kept))


class _Kept(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, modules: Mapping[str, types.ModuleType]):
        self._modules = modules

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name in self._modules else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self._modules[spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        pass  # it has run


def imports(source: str) -> list[str]:
    """Return the names of the modules that a source imports, where it says so."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]  # a name may be a module
    return [name for name in found if name.partition(".")[0] in PACKAGES]
