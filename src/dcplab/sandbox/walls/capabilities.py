"""Gives up what root may do beyond its own files, except reading: a notebook's folder may be another user's."""

from __future__ import annotations

import ctypes
import struct

from dcplab.sandbox.walls import libc
from dcplab.sandbox.walls.numbers import NUMBERS

_READ_SEARCH = 2  # CAP_DAC_READ_SEARCH
_VERSION_3 = 0x20080522


def give_up() -> None:
    """Drop every capability of this process but the one to read. Does nothing for who has none."""
    head = ctypes.create_string_buffer(struct.pack("=Ii", _VERSION_3, 0))
    data = ctypes.create_string_buffer(24)
    libc.call(NUMBERS["capget"], head, data)
    _, permitted, _, _, permitted_above, _ = struct.unpack("=6I", data.raw[:24])
    if not permitted and not permitted_above:
        return
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)  # a program that it starts gets none back
    kept = permitted & (1 << _READ_SEARCH)
    data.raw = struct.pack("=6I", kept, kept, 0, 0, 0, 0)
    libc.call(NUMBERS["capset"], head, data)
