"""Unpacks the notebooks in a zip, in a process with limits of its own: a zip can promise little and hold much.

What a zip says of its sizes is not believed, and its names become no paths: a notebook is unpacked under a number.
"""

from __future__ import annotations

import contextlib
import resource
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import Any

from dcplab.grade.layout import SKIPPED, Found, is_notebook
from dcplab.grade.read import LIMIT_BYTES
from dcplab.subprocess_call import call

MEMBERS, UNPACKED_BYTES = 2_000, 2 << 30  # of one zip: notebooks, and the bytes of them all
PROCESSOR_S, MEMORY_BYTES = 120, 2 << 30
TOO_MUCH = f"It holds more than {MEMBERS:,} notebooks or {UNPACKED_BYTES >> 30} GiB of them: the rest was left out."
ENCRYPTED, UTF8 = 1, 0x800  # bits of a member's flags
INSIDE = "A zip within a zip is not opened: unpack the outer one."
_DAMAGED = (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError, EOFError)


def unpacker(folder: Path) -> Callable[[Path], Iterator[Found]]:
    """Return what unpacks a zip into an empty folder of ours, for `grade.layout.find`."""

    def unpack(path: Path) -> Iterator[Found]:
        place = folder / str(sum(1 for _ in folder.iterdir()))
        place.mkdir()
        done = call(__name__, "contents", {"path": str(path.absolute()), "folder": str(place)}, timeout_s=10 * PROCESSOR_S)
        if done["how"] != "done" or done["value"] is None:
            yield Found(path, status="unreadable", note=f"Unpacking it ended the process that did ({done['how']}).")
            return
        for member in done["value"]["members"]:
            known = {"status": "unreadable", "note": INSIDE} if member["packed"] else {}
            yield Found(Path(member["file"]), shown=str(path / member["name"]), **known)
        if said := done["value"]["says"]:
            yield Found(path, status=said["status"], note=said["note"])

    return unpack


def contents(path: str, folder: str) -> dict[str, Any]:
    """Unpack the notebooks of a zip. Returns their files and their names in it, and what is to be said of the zip itself."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.RLIM_INFINITY))
    members: list[dict[str, Any]] = []
    left = UNPACKED_BYTES
    try:
        with zipfile.ZipFile(path) as packed:
            for member in packed.infolist():
                inner = PurePath(_written(member).replace("\\", "/"))
                inner = inner.relative_to(inner.anchor)
                hidden = any(part.startswith(".") or part in SKIPPED for part in inner.parts)  # "..", "._x.ipynb", "__MACOSX"
                inside = inner.suffix.lower() == ".zip"
                if member.is_dir() or hidden or not (is_notebook(inner.name) or inside):
                    continue
                if len(members) == MEMBERS or left <= 0:
                    return {"members": members, "says": {"status": "too_big", "note": TOO_MUCH}}
                target = Path(folder, f"{len(members)}.ipynb")
                if inside:
                    members.append({"file": str(target), "name": str(inner), "packed": True})
                    continue
                if member.flag_bits & ENCRYPTED:
                    raise zipfile.BadZipFile("it is encrypted")
                with packed.open(member) as source, target.open("wb") as out:
                    most = min(left, LIMIT_BYTES + 1)  # one more than is read: the reader says that it is too big
                    while most > 0 and (piece := source.read(min(most, 1 << 20))):
                        out.write(piece)
                        most, left = most - len(piece), left - len(piece)
                same = sum(one["name"] == str(inner) for one in members)
                name = inner.with_stem(f"{inner.stem} ({same + 1})") if same else inner
                members.append({"file": str(target), "name": str(name), "packed": False})
    except _DAMAGED as error:
        return {"members": members, "says": {"status": "unreadable", "note": f"It cannot be unpacked whole ({error})."}}
    nothing = {"status": "no_notebooks", "note": "This zip holds no notebook."}
    return {"members": members, "says": None if members else nothing}


def _written(member: zipfile.ZipInfo) -> str:
    """Return a member's name as it was written: many programs write UTF-8 and do not say so."""
    if not member.flag_bits & UTF8:
        with contextlib.suppress(UnicodeError):
            return member.filename.encode("cp437").decode("utf-8")
    return member.filename
