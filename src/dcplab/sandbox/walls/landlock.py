"""Confines this process and its descendants to paths: Landlock, by system calls. No root is needed."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import stat
import struct
from collections.abc import Iterable

from dcplab.sandbox.walls import libc

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same on every machine
_VERSION = 1  # a flag: ask for the ABI
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_SOCK, _MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
_TRUNCATE, _CONTROL = 1 << 14, 1 << 15  # ABI 3, ABI 5
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _CONTROL
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}  # from 5 on: 16 bits
_TCP, _SCOPES = 3, 3  # ABI 4: bind and connect; ABI 6: abstract sockets and signals of others
# What an ABI lacks that a later one has, in words for a person.
LATER = {3: "truncating files", 4: "TCP", 6: "signals"}


@functools.cache
def abi() -> int:
    """Return the kernel's version of Landlock; 0 for none."""
    try:
        return libc.call(_CREATE, None, 0, _VERSION)
    except OSError:
        return 0


class Ruleset:
    """Paths that stay open once `enter` is called; nothing else of the file system does."""

    def __init__(self, execute: bool):
        version = abi()
        self._handled = _FILES.get(version, (1 << 16) - 1)
        self._read = _READ | _LIST | (_EXECUTE if execute else 0)
        self._write = self._handled & ~(_MAKE_CHAR | _MAKE_BLOCK | _MAKE_SOCK | (0 if execute else _EXECUTE))
        words = (self._handled, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
        given = struct.pack("=3Q", *words)[: 8 if version < 4 else 16 if version < 6 else 24]
        self._fd = libc.call(_CREATE, ctypes.create_string_buffer(given, len(given)), len(given), 0)

    def read(self, paths: Iterable[str]) -> None:
        self._add(paths, self._read)

    def listing(self, paths: Iterable[str]) -> None:
        self._add(paths, _LIST)

    def write(self, paths: Iterable[str]) -> None:
        self._add(paths, self._write)

    def device(self, paths: Iterable[str]) -> None:
        self._add(paths, _READ | _WRITE | _CONTROL | _LIST)

    def enter(self) -> None:
        """Confine this process for good."""
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        libc.call(_RESTRICT, self._fd, 0)
        os.close(self._fd)

    def _add(self, paths: Iterable[str], rights: int) -> None:
        for path in paths:
            with contextlib.suppress(OSError):  # absent here
                at = os.open(path, os.O_PATH | os.O_CLOEXEC)
                rights_here = rights & self._handled & (-1 if stat.S_ISDIR(os.fstat(at).st_mode) else _OF_A_FILE)
                rule = ctypes.create_string_buffer(struct.pack("=Qi", rights_here, at))
                libc.call(_ADD_RULE, self._fd, 1, rule, 0)
                if not path.startswith("/proc/self"):  # an entry of /proc is forgotten, and its rule with it, unless it is open
                    os.close(at)
