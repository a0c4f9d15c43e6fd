"""Reads a learner's answer from the notebook on disk, and puts starters back, with a dated copy of what they replace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dcplab import files, paths, progress
from dcplab.course.catalog import Lab
from dcplab.course.model import Part
from dcplab.errors import CourseError
from dcplab.notebook import backup
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
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise CourseError(f"{path} cannot be read as text ({e}).") from e
    folder = str(path.resolve().parent)
    if path.suffix == ".ipynb":
        return extract(code_cells(text, path, "" if answer else _way_out(lab)), part.names, folder)
    # An answer that comes alone gets the lab's own imports in front.
    found = extract([*lab.setup(), text], part.names, folder)
    return found


def code_cells(text: str, path: Path, way_out: str = "") -> list[str]:
    """Return the sources of a notebook's code cells, in document order. ``way_out`` ends the error message for a file that is
    no notebook."""
    cells = _notebook(text, path, way_out).get("cells", [])
    return [_source(c) for c in cells if isinstance(c, dict) and c.get("cell_type") == "code"]


def saved_cells(path: Path) -> list[SavedCell]:
    """Return the code cells of a notebook file, with their ids and parts. Raises CourseError if there is none to read."""
    try:
        cells = _notebook(path.read_text(encoding="utf-8-sig"), path)["cells"]
    except (OSError, UnicodeDecodeError) as e:
        raise CourseError(f"{path} cannot be read ({e}).") from e
    code = [c for c in cells if isinstance(c, dict) and c.get("cell_type") == "code"]
    return [SavedCell(_source(c), str(c.get("id", "")), _answers(c)) for c in code]


def cell(lab: Lab, identity: str) -> str:
    """Put one part's starter back into the notebook on disk. Returns a sentence that names the copy."""
    part = lab.part(identity)
    path = path_of(lab)
    if not path.exists():
        raise CourseError(f"There is no {path}; `./course lab {lab.number}` makes it.")
    nb = _notebook(path.read_text(encoding="utf-8-sig"), path, _way_out(lab))
    at = _answer_cell(nb, part)
    if at is None:
        raise CourseError(
            f"No cell of {path.name} holds {part.id} or defines `{part.entry}`; `reset {lab.number}` restores the lab."
        )
    starter = lab.starter_cell(part.id)
    if _source(nb["cells"][at]) == starter:
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
        if isinstance(c, dict) and _answers(c) == part.id:
            return i
    code = [i for i, c in enumerate(cells) if isinstance(c, dict) and c.get("cell_type") == "code"]
    return next((i for i in reversed(code) if extract([_source(cells[i])], part.entry).problem is None), None)


def _answers(cell: dict[str, Any]) -> str:
    """Return the part whose answer cell this is marked to be, or ""."""
    return str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", ""))


def _way_out(lab: Lab) -> str:
    return f" `./course reset {lab.number}` keeps a copy of it and makes it anew."


def _notebook(text: str, path: Path, way_out: str = "") -> dict[str, Any]:
    try:
        nb = json.loads(text)
    except ValueError as e:
        why = "git's conflict marks are in it" if "\n<<<<<<< " in text else e
        raise CourseError(f"{path} is no readable notebook ({why}).{way_out}") from e
    if not isinstance(nb, dict) or not isinstance(nb.get("cells"), list):
        raise CourseError(f"{path} is no notebook: it has no list of cells.{way_out}")
    return nb


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _write(path: Path, text: str) -> None:
    files.replace(path, text)
