"""Frames between a learner's side, the grading service and its workers: a kind, a length, a body.

``VALUE`` bodies are `codec` values, tensors among them, and never pickles; ``WORDS`` bodies are JSON, for who need not know
torch. Both sides read a stranger's frames: a length beyond its limit ends the conversation before anything is kept.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

VALUE, WORDS = b"v", b"w"
HEAD = struct.Struct("<cQ")
ASKED_BYTES = 8 << 20  # of what a learner's side asks: a session's cells and a notebook's are far fewer
TOLD_BYTES = 96 << 20  # of an answer: a picture's film; the 3.6 million locs of lab 02 are 29 MB
BEAT_S = 5.0  # the service says something at least so often
SOCKET = Path("/run/dcplab-checks/checks.sock")


class Broken(Exception):
    """The other side ended, or does not speak like this."""


def socket_path() -> Path:
    """Return the service's socket: ``DCPLAB_SERVICE``, or the class's usual place."""
    return Path(os.environ.get("DCPLAB_SERVICE") or SOCKET)


def frame(kind: bytes, body: bytes) -> bytes:
    return HEAD.pack(kind, len(body)) + body


def words(what: dict[str, Any]) -> bytes:
    return frame(WORDS, json.dumps(what).encode())


def value(what: Any, limit: int = TOLD_BYTES) -> bytes:
    """Return a frame of a value. Raises `codec.CodecError` for one that is too large."""
    from dcplab import codec

    return frame(VALUE, codec.encode(what, limit=limit))


def head(data: bytes, limit: int) -> tuple[bytes, int]:
    """Return kind and length. Raises Broken."""
    kind, length = HEAD.unpack(data)
    if kind not in (VALUE, WORDS) or length > limit:
        raise Broken(f"a frame of kind {kind!r} with {length} bytes")
    return kind, length


def read(exactly: Callable[[int], bytes], limit: int) -> Any:
    """Read a frame with a function that returns so many bytes. Raises Broken."""
    kind, length = head(exactly(HEAD.size), limit)
    return body(kind, exactly(length))


def body(kind: bytes, data: bytes) -> Any:
    """Return what a frame's body says. Raises Broken."""
    try:
        if kind == WORDS:
            return json.loads(data)
        from dcplab import codec

        return codec.decode(data)
    except (ValueError, RecursionError) as error:  # CodecError is one
        raise Broken(str(error)) from error
