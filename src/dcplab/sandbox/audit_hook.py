"""Puts friendly guard rails into a child: an answer that reaches for the solutions, the network or a process is refused.

They explain, and the kernel refuses (`sandbox.walls`): Python cannot confine code in its own process, and a hostile answer gets
round an audit hook. The rails keep an honest answer, or one written by an assistant, from passing without learning.
"""

from __future__ import annotations

import bdb
import builtins
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from dcplab.paths import PACKAGES

DRIVE = "<drive>"  # file name under which a part's driver (Part.drive) is compiled
_STDLIB = (sysconfig.get_paths()["stdlib"], "<frozen")
_LIBRARY = ("site-packages", "dist-packages")
_PROCESSES = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"}
_FILES = {"open", "os.listdir", "os.scandir", "os.chdir", "shutil.copyfile", "os.rename", "os.link", "os.symlink"}


NOBODY = "Nobody can answer a question in a check: print instead, or call it with lab.run."


class Refused(PermissionError):
    """Raised for an answer that steps over a rail. Its message is a sentence."""


def nobody_answers(*_: object, **__: object) -> None:
    """Refuse in place of `input`, `breakpoint` and a debugger's `set_trace`."""
    raise Refused(NOBODY)


def install(scratch: Path, forbidden: Sequence[str], may_import: Sequence[str]) -> None:
    """Turn the rails on, for good, in this process. ``forbidden``: folders. ``may_import``: modules that are allowed."""
    global _ME
    _ME = os.readlink("/proc/self")
    closed = tuple(os.path.realpath(folder) for folder in forbidden)
    here, mine = os.getpid(), str(scratch)
    busy = False

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal busy
        # Cheap tests come first: reading an attribute of a frame may itself be audited.
        if busy or not (event in _FILES or event in _PROCESSES or event == "import" or event.startswith(_WATCHED)):
            return
        busy = True
        try:
            refusal = _refusal(event, args, closed, may_import, here, mine)
            if refusal and (event in _FILES or _by_answer(mine)):
                raise Refused(refusal)
        finally:
            busy = False

    class Finder:
        """Refuses modules to ``importlib.import_module``, which raises no audit event."""

        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            if (refusal := _import(name, may_import)) and _by_answer(mine):
                raise Refused(refusal)

    for place, name in ((builtins, "input"), (sys, "breakpointhook"), (bdb.Bdb, "set_trace")):
        setattr(place, name, nobody_answers)
    sys.addaudithook(hook)
    sys.meta_path.insert(0, Finder)
    for name in list(sys.modules):  # a loaded module is not looked up again, and is an attribute of its package
        if _import(name, may_import):
            del sys.modules[name]


_PROGRAM = re.compile(r"^(.*/dcplab-[^/]+)/answer\d+\.py$")
_ME = ""  # what /proc calls this process: outside its namespace its id is another
_PROCESS = re.compile(r"/proc/(\d+)(?:/|$)")
_WATCHED = ("socket.", "ctypes.", "os.kill", "gc.get_", "signal.pthread_kill")


def within(path: str | bytes | os.PathLike[str], folders: Sequence[str]) -> bool:
    """Return True if a path is, or lies in, one of the folders (real paths)."""
    real = os.path.realpath(os.fsdecode(path))
    return any(real == folder or real.startswith(folder + os.sep) for folder in folders)


def _of_another(real: str, mine: str) -> bool:
    """Return True if a real path belongs to another child: its program, which may be the solution, or its entry in /proc."""
    if program := _PROGRAM.search(real):
        return program[1] != os.path.realpath(mine)
    process = _PROCESS.match(real)
    return process is not None and process[1] != _ME


def _refusal(
    event: str, args: tuple[Any, ...], closed: tuple[str, ...], may_import: Sequence[str], here: int, mine: str
) -> str | None:
    if event in _FILES:
        for path in args[:2]:
            if isinstance(path, str | bytes | os.PathLike):
                if within(path, closed):
                    return "An answer may not open the solutions, the tests or the progress file."
                if _of_another(os.path.realpath(os.fsdecode(path)), mine):
                    return "An answer may not look into other processes."
        return None
    if event == "import":
        return _import(args[0], may_import)
    if event in _PROCESSES:
        return "An answer may not start processes."
    if event.startswith("socket."):
        return "An answer may not use the network."
    if event.startswith("ctypes."):
        return "An answer may not use ctypes."
    if event.startswith("gc."):
        return "An answer may not search the memory of its process."
    if event in ("os.kill", "os.killpg") and args[0] not in (0, here):
        return "An answer may not signal other processes."
    return None


def _import(name: str, may_import: Sequence[str]) -> str | None:
    """Return the reason why an answer may not import a module, or None."""
    open_ = any(name == m or m.startswith(name + ".") or name.startswith(m + ".") for m in may_import)
    if open_ or name.split(".")[0] not in PACKAGES:
        return None
    return f"An answer may not import {name}: it is what the answer is held against."


def _by_answer(scratch: str) -> bool:
    """Return True if the nearest caller outside the standard library is the answer. Triton may start ptxas, an answer may
    not."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if not (name.startswith(_STDLIB) and not any(part in name for part in _LIBRARY)) and name != __file__:
            # Code from exec() has no file of its own ("<string>"). Only an answer makes such code, or it is a part's driver.
            return name != DRIVE and name.startswith((scratch, "<"))
        frame = frame.f_back
    return False
