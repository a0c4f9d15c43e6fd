"""Closes the walls around a child: after this its process reaches its own folder, libraries, and little else."""

from __future__ import annotations

import functools
import os
import shutil
import site
import sys
from collections.abc import Sequence
from pathlib import Path

from dcplab import paths
from dcplab.sandbox.walls import capabilities, landlock, seccomp
from dcplab.sandbox.walls.allowances import BY_MODE, Allowances, changed, there

_MODULES = 500  # of a notebook's folder, at most


def allowances(mode: str, asked: str) -> Allowances:
    """Return what a child of this mode may reach, with what a diagnosis asks for (``DCPLAB_SANDBOX``). Raises CourseError."""
    return changed(BY_MODE[mode], asked)


def lacks(allowed: Allowances) -> list[str]:
    """Return the pieces of the walls that this kernel has not, or that are left out, each in a few words. Namespaces aside."""
    missing = [f"{piece} (left out)" for piece in allowed.without if piece != "namespaces"]
    if "landlock" not in allowed.without:
        if not landlock.abi():
            missing.append("Landlock")
        elif gone := [what for version, what in landlock.LATER.items() if landlock.abi() < version]:
            missing.append(f"Landlock for {' and '.join(gone)}")
    if "seccomp" not in allowed.without and not seccomp.possible():
        missing.append("seccomp")
    return missing


def prepare(mode: str, asked: str) -> None:
    """Look up what does not depend on a child, once in the process that children are forked from."""
    allowed = allowances(mode, asked)
    _libraries()
    _compilers()
    _open_to_all(allowed.read)
    landlock.abi()
    if seccomp.possible():
        seccomp.program(allowed.processes, allowed.calls)


def enclose(allowed: Allowances, own: Sequence[str], folders: Sequence[str], kernels: Sequence[str] = ()) -> None:
    """Confine this process for good. ``own``: folders that it may change. ``folders``: of notebooks, whose modules it may
    import. ``kernels``: of compiled kernels, to read. Raises OSError if the kernel has a piece and refuses it."""
    if seccomp.possible():
        capabilities.give_up()
    if landlock.abi() and "landlock" not in allowed.without:
        files = landlock.Ruleset(allowed.processes)
        files.read([*_libraries(), *_open_to_all(allowed.read), *kernels])
        files.read(_compilers() if allowed.processes else ())
        files.read(module for folder in folders for module in _modules(folder))
        files.listing(folders)
        files.device(there(allowed.devices))
        files.write([*own, *there(allowed.write)])
        files.enter()
    if seccomp.possible() and "seccomp" not in allowed.without:
        seccomp.enter(allowed.processes, allowed.calls)


@functools.cache
def _closed() -> tuple[str, ...]:
    """Return folders that no wider allowance opens: the course, the progress, homes."""
    return tuple(os.path.realpath(path) for path in (_root(), paths.state_dir(), Path.home()))


def _root() -> Path:
    return Path(__file__).resolve().parents[4]


@functools.cache
def _libraries() -> tuple[str, ...]:
    """Return the folders from which Python imports here, those that hold the course left out."""
    found = dict.fromkeys([sys.prefix, sys.base_prefix, sys.exec_prefix, *site.getsitepackages(), *sys.path])
    real = dict.fromkeys(os.path.realpath(path) for path in found if path)
    return tuple(inner for path in real if os.path.isdir(path) and not _of_the_course(path) for inner in _around(path))


def _of_the_course(path: str) -> bool:
    return path == "/" or ("-packages" not in path and any(os.path.isdir(f"{path}/{name}") for name in paths.PACKAGES))


@functools.cache
def _compilers() -> tuple[str, ...]:
    """Return the folders of the compilers that Triton and TileLang start, where they lie outside the system's own: ``CC``,
    ``CXX``, or the first of a name on the path."""
    names = (os.environ.get("CC"), os.environ.get("CXX"), "gcc", "g++", "cc", "clang", "nvcc")
    found = [shutil.which(name) for name in names if name]
    homes = dict.fromkeys(os.path.dirname(os.path.dirname(os.path.realpath(path))) for path in found if path)
    return tuple(inner for home in homes if not _of_the_course(home) for inner in _around(home))


@functools.cache
def _open_to_all(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(inner for path in there(patterns) for inner in _around(path))


def _around(path: str, depth: int = 0) -> list[str]:
    """Return a folder, or what is in it beside the closed folders, where one lies inside."""
    real = os.path.realpath(path) if not path.startswith("/proc/self") else path
    if real in _closed() or depth > 8:
        return []
    if not any(folder.startswith(real.rstrip("/") + "/") for folder in _closed()):
        return [path]
    return [inner for entry in os.scandir(path) for inner in _around(entry.path, depth + 1)]


def _modules(folder: str) -> list[str]:
    """Return the modules and packages of a folder, not links: it may hold several people's notebooks."""
    try:
        entries = [entry for entry in os.scandir(folder) if not entry.is_symlink()]
    except OSError:
        return []
    files = [e.path for e in entries if e.name.endswith(".py") and e.is_file(follow_symlinks=False)]
    packages = [e.path for e in entries if e.is_dir(follow_symlinks=False) and os.path.isfile(f"{e.path}/__init__.py")]
    return sorted([*files, *packages])[:_MODULES]
