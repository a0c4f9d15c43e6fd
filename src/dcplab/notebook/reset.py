"""Reads a learner's answer from the notebook on disk, and puts starters back, with a dated copy of what they replace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dcplab import files, paths, progress
from dcplab.course.catalog import Lab
from dcplab.course.model import Part
from dcplab.errors import CourseError
from dcplab.notebook import backup, file
from dcplab.notebook.extract import Program, extract
from dcplab.notebook.runs import SavedCell

ANEW = "Its points, hints and prediction start anew."


def path_of(lab: Lab) -> Path:
    """Return the path of the learner's notebook of a lab."""
    return paths.labs() / lab.name / f"{lab.name}.ipynb"


def program(lab: Lab, part: Part, answer: Path | None = None) -> Program:
    """Read the answer from the learner's notebook, or from ``answer``: a notebook, or a .py file that holds the answer cell
    alone."""
    path = answer or path_of(lab)
    if not path.exists():
        made = "" if answer else f"; `./course lab {lab.number}` makes it"
        raise CourseError(f"There is no {path}{made}.")
    folder = str(path.resolve().parent)
    if path.suffix == ".ipynb":
        nb = _notebook(path, "" if answer else _way_out(lab))
        return extract(list(map(file.source, file.code(nb))), part.names, folder)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise CourseError(f"{path} cannot be read as text ({e}).") from e
    # An answer that comes alone gets the lab's own imports in front.
    found = extract([*lab.setup(), text], part.names, folder)
    return found


def saved_cells(path: Path) -> list[SavedCell]:
    """Return the code cells of a notebook file, with their ids and parts. Raises CourseError if there is none to read."""
    cells = file.code(_notebook(path))
    written = path.stat().st_mtime
    return [SavedCell(file.source(c), str(c.get("id", "")), file.grade_id(c), written) for c in cells]


def cell(lab: Lab, identity: str) -> str:
    """Put one part's starter back into the notebook on disk. Returns a sentence that names the copy."""
    part = lab.part(identity)
    path = path_of(lab)
    if not path.exists():
        raise CourseError(f"There is no {path}; `./course lab {lab.number}` makes it.")
    nb = _notebook(path, _way_out(lab))
    at = _answer_cell(nb, part)
    if at is None:
        raise CourseError(
            f"No cell of {path.name} holds {part.id} or defines `{part.entry}`; `reset {lab.number}` restores the lab."
        )
    starter = lab.starter_cell(part.id)
    if file.source(nb["cells"][at]) == starter:
        progress.forget(lab.name, part.id)
        return f"{part.id} in {path.name} already is its starter. {ANEW}"
    kept = backup.keep(path)
    nb["cells"][at] |= {"source": starter.splitlines(keepends=True), "outputs": [], "execution_count": None}
    _write(path, json.dumps(nb, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    progress.forget(lab.name, part.id)
    return f"{part.id} in {path.name} is its starter again. {ANEW} Your notebook as it was: {kept}"


def notebook(lab: Lab) -> str:
    """Write a whole lab's notebook anew. Returns a sentence that names the copy of the old one."""
    from dcplab.author import build

    path = path_of(lab)
    kept = backup.keep(path) if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, build.to_text(build.make(lab).learner))
    progress.forget(lab.name)
    return f"{path.name} is as it was at the start." + (f" Your notebook as it was: {kept}" if kept else "")


def _answer_cell(nb: dict[str, Any], part: Part) -> int | None:
    """Return the index of the cell that is marked as the part's answer, else of the last cell that binds its entry."""
    cells = nb.get("cells", [])
    for i, c in enumerate(cells):
        if isinstance(c, dict) and file.grade_id(c) == part.id:
            return i
    code = [i for i, c in enumerate(cells) if isinstance(c, dict) and c.get("cell_type") == "code"]
    return next((i for i in reversed(code) if extract([file.source(cells[i])], part.entry).problem is None), None)


def _way_out(lab: Lab) -> str:
    return f" `./course reset {lab.number}` keeps a copy of it and makes it anew."


def _notebook(path: Path, way_out: str = "") -> dict[str, Any]:
    """Read a notebook. ``way_out`` ends the error's sentence for a file that is none."""
    try:
        return file.parse(path.read_bytes())
    except OSError as e:
        raise CourseError(f"{path} cannot be read ({e}).") from e
    except file.Unreadable as e:
        raise CourseError(f"{path} is no readable notebook. {e}{way_out}") from e


def _write(path: Path, text: str) -> None:
    files.replace(path, text)
