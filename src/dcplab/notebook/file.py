"""Reads a notebook file as plain data: for a check, a reset, JupyterLab's start and the grader.

Our own and not nbformat's reader. That one wants a valid notebook, upgrades it and gives ids to cells that have none. A grader
says of any file what is wrong with it and where, and a reset leaves as it was what it does not change. Where a valid notebook
is merged or made (`author`, `update`), nbformat reads and writes it.
"""

from __future__ import annotations

import codecs
import json
from typing import Any


class Unreadable(Exception):
    """Raised for bytes that are no notebook. ``kind``: "empty", "text" (no UTF-8, or JSON that no parser takes), "json", or
    "cells" (JSON, but not of a notebook)."""

    def __init__(self, kind: str, says: str):
        super().__init__(says)
        self.kind = kind


def parse(data: bytes) -> dict[str, Any]:
    """Return the notebook in a file's bytes. Raises Unreadable. Nothing in it is what it should be but its list of cells."""
    if not data.strip():
        raise Unreadable("empty", "The file is empty.")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # some Windows programs call this "Unicode"
        raise Unreadable("text", "UTF-16 text, which no Jupyter opens: save it as UTF-8.")
    if b"\0" in data:
        raise Unreadable("text", f"A null byte at byte {data.index(0)}: the file is damaged.")
    try:
        nb = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Unreadable("text", f"Not UTF-8 text from byte {error.start} on.") from error
    except json.JSONDecodeError as error:
        what = "is the file complete?"
        if any(line.startswith(b"<<<<<<< ") for line in data.splitlines()):
            what = "git's conflict marks are in it."
        raise Unreadable("json", f"Not JSON from line {error.lineno} on ({error.msg}): {what}") from error
    except (RecursionError, ValueError) as error:
        raise Unreadable("text", f"JSON that cannot be read: {error}.") from error
    if not isinstance(nb, dict) or not isinstance(_listed(nb), list):
        raise Unreadable("cells", "JSON, but not of a notebook: it has no list of cells.")
    return nb


def cells(nb: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of a notebook, whatever their kind."""
    return [cell for cell in _listed(nb) if isinstance(cell, dict)]


def code(nb: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the code cells, in document order."""
    return [cell for cell in cells(nb) if cell.get("cell_type") == "code"]


def source(cell: dict[str, Any]) -> str:
    """Return a cell's text."""
    text = cell.get("source", cell.get("input", ""))
    if isinstance(text, list):
        text = "".join(line for line in text if isinstance(line, str))
    # A lone surrogate is legal JSON but no text: it could not be sent to a child or written to a file.
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""


def grade_id(cell: dict[str, Any]) -> str:
    """Return nbgrader's name of a cell, or ""."""
    found = within(cell, "metadata", "nbgrader").get("grade_id")
    return found if isinstance(found, str) else ""


def within(of: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return what lies in ``of`` under these names, one in another; an empty dict where it is none."""
    for name in names:
        found = of.get(name)
        of = found if isinstance(found, dict) else {}
    return of


def _listed(nb: dict[str, Any]) -> Any:
    """Return the list of cells. Notebooks of format 3 keep theirs in a worksheet."""
    sheets = nb.get("worksheets")
    if "cells" not in nb and isinstance(sheets, list) and sheets:
        return sheets[0].get("cells") if isinstance(sheets[0], dict) else None
    return nb.get("cells")
