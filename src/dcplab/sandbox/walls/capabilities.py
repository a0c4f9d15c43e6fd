"""Gives up what root may do beyond its own files, except reading: a notebook's folder may be another user's."""

from __future__ import annotations

import contextlib
import ctypes
import struct

from dcplab.sandbox.walls import libc
from dcplab.sandbox.walls.numbers import NUMBERS

_READ_SEARCH = 2  # CAP_DAC_READ_SEARCH
_VERSION_3, _LAST = 0x20080522, 40


def give_up() -> None:
    """Drop every capability of this process but the one to read. Does nothing for who has none."""
    with open("/proc/self/status", encoding="ascii") as f:
        permitted = int(next(line.split()[1] for line in f if line.startswith("CapPrm:")), 16)
    if not permitted:
        return
    for number in range(_LAST + 1):
        with contextlib.suppress(OSError):  # unknown to this kernel, or not ours to drop
            libc.prctl(libc.PR_CAPBSET_DROP, number)
    kept = permitted & (1 << _READ_SEARCH)
    head = ctypes.create_string_buffer(struct.pack("=Ii", _VERSION_3, 0))
    data = ctypes.create_string_buffer(struct.pack("=6I", kept, kept, 0, 0, 0, 0))
    libc.call(NUMBERS["capset"], head, data)
