"""Replaces a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(path: Path, text: str | bytes, private: bool = False) -> None:
    """Write ``text``, or bytes, as ``path``. A reader sees the old file or the new one, and a killed writer leaves the old one.

    ``private``: readable by its owner alone. Otherwise the old file's mode stays, or a new file's default is used.
    Text that UTF-8 cannot hold is written as "?". A pipe or a device (``/dev/stdout``) is written to directly. Raises OSError
    as `open` does.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if not private:
            os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """Return this process's mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
