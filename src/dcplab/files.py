"""Replaces a file whole or not at all, and keeps a folder no longer than the process that made it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
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


@contextlib.contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """Make a temporary folder ``dcplab-KIND-...`` and remove it at the end. Who is killed removes nothing, so each process
    first removes what such processes of its user have left: a lock, which dies with its process, tells whose is alive."""
    place = Path(tempfile.gettempdir())
    if (place, kind) not in _swept:
        _swept.add((place, kind))
        for old in place.glob(f"dcplab-{kind}-*"):
            _remove_abandoned(old)
        for old in place.glob("dcplab-*"):
            if _FORMER.fullmatch(old.name) and _forgotten(old):
                _remove_abandoned(old)
    made = Path(tempfile.mkdtemp(prefix=f".dcplab-{kind}-"))
    folder = made.with_name(made.name[1:])
    lock = os.open(made, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made.rename(folder)  # under this name others look at it, and it is locked by now
        yield folder
    finally:
        for one in (made, folder):
            shutil.rmtree(one, ignore_errors=True)
        os.close(lock)


_swept: set[tuple[Path, str]] = set()
# Their names before they were locked: eight characters of mkdtemp's. A user's id is no such name: that folder is a queue's.
_FORMER = re.compile(r"dcplab-(?!\d+$)[a-z0-9_]{8}")
_OLD_S = 24 * 3600


def _forgotten(folder: Path) -> bool:
    """Return True if a folder without a lock is a day old and no process that we may look at works in it."""
    with contextlib.suppress(OSError):
        if time.time() - folder.lstat().st_mtime < _OLD_S:
            return False
        for place in Path("/proc").glob("[0-9]*/cwd"):
            with contextlib.suppress(OSError):
                if folder in (at := Path(os.readlink(place)), *at.parents):
                    return False
        return True
    return False


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder of ours that nobody holds; leave one of another user, a link, and what is no folder."""
    with contextlib.suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def _umask() -> int:
    """Return this process's mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
