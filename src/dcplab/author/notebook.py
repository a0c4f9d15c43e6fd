"""Turns a lab's cells into notebooks: nbgrader's source notebook, and the learner's notebook that nbgrader makes of it.

The learner's notebook comes from nbgrader's own preprocessors in nbgrader's own order. So ``labs/`` holds byte for byte what
``nbgrader generate_assignment`` writes.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from dcplab.course.lab_source import Cell
from dcplab.errors import CourseError

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def source_notebook(lab: str, cells: Sequence[Cell], points: Mapping[str, float]) -> NotebookNode:
    """Make nbgrader's source notebook of ``lab`` ("01_index_spaces"), solutions included. ``points``: of each part by its
    id."""
    nb = solved_notebook(lab, cells, points)
    nb.metadata["dcplab"]["digest"] = digest(learner_notebook(nb))
    return nb


def solved_notebook(lab: str, cells: Sequence[Cell], points: Mapping[str, float]) -> NotebookNode:
    """Make the lab with its solutions. Uses no nbgrader, so that a GPU machine without it can execute the notebook."""
    made, after, count = [], "intro", 0
    for cell in cells:
        if cell.role is None:
            count += 1
            identity, nbgrader = f"{after}-{count}", None
        else:
            nbgrader = _nbgrader(cell, points)
            identity = after = f"{cell.role}-{cell.part}"
            count = 0
        metadata: dict[str, Any] = {k: v for k, v in cell.meta.items() if k not in ("part", "role")}
        if nbgrader:
            metadata["nbgrader"] = nbgrader
        new_cell = new_code_cell if cell.kind == "code" else new_markdown_cell
        made.append(new_cell(cell.source, id=identity, metadata=metadata))
    metadata = {"kernelspec": dict(KERNELSPEC), "language_info": {"name": "python"}, "dcplab": {"lab": lab}}
    return new_notebook(cells=made, metadata=metadata)


def learner_notebook(source: NotebookNode) -> NotebookNode:
    """Return the notebook that ``nbgrader generate_assignment`` makes of a source notebook. The argument stays unchanged."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import SaveCells

    nb, resources = copy.deepcopy(source), dict[str, Any]()
    for preprocessor in GenerateAssignment.preprocessors.default_args[0]:
        if preprocessor is not SaveCells:  # it only fills a gradebook, which does not exist here
            nb, resources = preprocessor().preprocess(nb, resources)
    return nb


def digest(nb: NotebookNode) -> str:
    """Hash everything that a learner can edit, shortly: the kind and text of every cell, no outputs and no metadata."""
    text = json.dumps([[cell.cell_type, cell.source] for cell in nb.cells], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def is_edited(nb: NotebookNode) -> bool:
    """Return True if a learner's notebook differs from the generated one in a cell's text or in the number of cells."""
    return digest(nb) != nb.metadata.get("dcplab", {}).get("digest")


def to_text(nb: NotebookNode) -> str:
    """Return the notebook as nbgrader writes it: sorted keys, one space of indent, one newline at the end."""
    return nbformat.writes(nb, version=4).rstrip("\n") + "\n"


def _nbgrader(cell: Cell, points: Mapping[str, float]) -> dict[str, Any]:
    """Return nbgrader's metadata of an answer cell or a check cell (schema 3)."""
    if cell.kind != "code" or cell.part is None:
        raise CourseError(f"Line {cell.line}: role={cell.role!r} needs a code cell with a part.")
    if cell.part not in points:
        raise CourseError(f"Line {cell.line}: part {cell.part!r} has no file in parts/.")
    common = {"cell_type": "code", "schema_version": 3, "task": False}
    if cell.role == "answer":
        return common | {"grade": False, "grade_id": cell.part, "locked": False, "solution": True}
    if cell.role == "check":
        worth = points[cell.part]
        worth = int(worth) if worth == int(worth) else float(worth)
        return common | {"grade": True, "grade_id": f"{cell.part}-check", "locked": True, "solution": False, "points": worth}
    raise CourseError(f"Line {cell.line}: a role is 'answer' or 'check', not {cell.role!r}.")
