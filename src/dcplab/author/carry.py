"""Carries a learner's writing from their copy of an old notebook into the new one."""

from __future__ import annotations

import copy

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell


def carry(mine: NotebookNode, old: NotebookNode, new: NotebookNode) -> tuple[NotebookNode, list[str]]:
    """Return ``new`` with the learner's writing in it, and the grade ids of the answers that were carried.

    ``mine`` is the learner's copy, ``old`` the notebook it began as, ``new`` the notebook that replaces it.

    * An answer that differs from its starter takes the place of the new starter.
    * An answer that equals its starter becomes the new starter.
    * Any other cell that the learner wrote or changed is added below the cell that it followed. So is an answer whose part is
      gone.
    """
    result = copy.deepcopy(new)
    was = {_key(cell): cell.source for cell in old.cells}
    at = {_key(cell): cell for cell in result.cells}
    present = {_key(cell) for cell in mine.cells}
    carried: list[str] = []
    added: dict[str | None, list[NotebookNode]] = {}
    anchor, seen = None, set()
    for cell in mine.cells:
        key = _key(cell)
        again, now = key in seen, at.get(key)
        seen.add(key)
        if now is not None and not again:
            anchor = key
        if cell.source == was.get(key) and not again:
            continue  # unchanged: the new version takes its place
        if now is not None and not again and _is_answer(now):
            now.source = cell.source
            carried.append(key)
        elif cell.source.strip() and (now is None or cell.source != now.source):
            added.setdefault(_settled(anchor, result, present, was), []).append(cell)
    cells = [_plain(cell) for cell in added.get(None, [])]
    for cell in result.cells:
        cells += [cell, *(_plain(extra) for extra in added.get(_key(cell), []))]
    result.cells = cells
    return result, carried


def _settled(anchor: str | None, result: NotebookNode, present: set[str], was: dict[str, str]) -> str | None:
    """Skip cells that the learner deleted, so that code written in place of an answer cell lands after the new starter and
    overrides it."""
    keys = [_key(cell) for cell in result.cells]
    at = keys.index(anchor) if anchor in keys else -1
    while at + 1 < len(keys) and keys[at + 1] not in present and keys[at + 1] in was:
        at += 1
    return keys[at] if at >= 0 else None


def _key(cell: NotebookNode) -> str:
    """Return the key of a cell, the same in both versions: its grade id (which our cell ids repeat), else its cell id."""
    if grade_id := cell.metadata.get("nbgrader", {}).get("grade_id"):
        return grade_id
    role, _, part = cell.get("id", "").partition("-")
    return part if role == "answer" else f"{part}-check" if role == "check" else f"id:{cell.get('id', '')}"


def _is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def _plain(cell: NotebookNode) -> NotebookNode:
    """Copy a learner's cell under an id of its own and without outputs: it belongs to no part."""
    return (new_code_cell if cell.cell_type == "code" else new_markdown_cell)(cell.source)
