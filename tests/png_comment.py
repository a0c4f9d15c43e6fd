"""A comment inside a PNG: what a picture was drawn from, so that a test sees when it is out of date."""

import hashlib
import struct
import zlib

KEY = b"Comment\0"
HEAD = 8 + 25  # bytes of the signature and of the IHDR chunk, which comes first


def digest(figure) -> str:
    """A digest of all that a plotly figure draws."""
    return hashlib.sha256(figure.to_json().encode()).hexdigest()


def added(png: bytes, text: str) -> bytes:
    """The same picture with ``text`` as its first comment."""
    body = b"tEXt" + KEY + text.encode("ascii")
    return png[:HEAD] + struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body)) + png[HEAD:]


def comment(png: bytes) -> str:
    """The picture's first comment, "" where the chunk after its head is another one."""
    (length,) = struct.unpack_from(">I", png, HEAD)
    body = png[HEAD + 4 : HEAD + 8 + length]
    return body.removeprefix(b"tEXt" + KEY).decode("ascii") if body.startswith(b"tEXt" + KEY) else ""
