"""Runs nbgrader's autograde without running a notebook: each check cell gets the points of its part as its output.

``SANITIZE`` and ``AUTOGRADE`` are the lists of preprocessors that ``workshop/nbgrader_config.py`` sets. nbgrader then works as
usual: it reads the points from the outputs, writes the gradebook, and makes feedback. Every nbgrader command reads that file,
and autograde alone judges: `check_cells`, and torch with it, is imported there.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import DeduplicateIds, Execute, NbGraderPreprocessor


class CourseCells(NbGraderPreprocessor):
    """Gives every graded cell the metadata that the gradebook has for it, adds missing cells, and removes the metadata from all
    others.

    Stock nbgrader gives up on a whole submission for a doubled check cell, for points that are no number, or for a check cell
    that was deleted with its answer. A learner's own metadata decides nothing here.
    """

    def preprocess(self, nb: NotebookNode, resources: Mapping) -> tuple[NotebookNode, Mapping]:
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            notebook = gradebook.find_notebook(about["notebook"], about["assignment"])
            worth = {cell.name: cell.max_score for cell in notebook.grade_cells}
            solutions = {cell.name for cell in notebook.solution_cells}
            sources = {cell.name: (cell.cell_type, cell.source, cell.locked, cell.checksum) for cell in notebook.source_cells}
        present: set[str] = set()
        for cell in reversed(nb.cells):  # of two cells with one id the last counts, as in Python
            found = cell.metadata.pop("nbgrader", None)
            name = found.get("grade_id") if isinstance(found, Mapping) else None
            if isinstance(name, str) and name in sources and name not in present:
                present.add(name)
                cell.metadata["nbgrader"] = _metadata(name, worth, solutions, sources[name])
        for name, (kind, source, _, _) in sources.items():
            if name not in present and kind == "code" and name in worth:
                metadata = {"nbgrader": _metadata(name, worth, solutions, sources[name])}
                nb.cells.append(new_code_cell(source, id=f"added-{secrets.token_hex(4)}", metadata=metadata))
        return nb, resources


class StaticGrades(NbGraderPreprocessor):
    """Replaces nbgrader's ``Execute``: judges each part in a disposable child and writes its check cell's output."""

    def preprocess(self, nb: NotebookNode, resources: Mapping) -> tuple[NotebookNode, Mapping]:
        from dcplab.grade import check_cells

        student = resources.get("nbgrader", {}).get("student")
        check_cells.fill(nb, resources.get("metadata", {}).get("path"), student)
        return nb, resources


SANITIZE = [CourseCells, *(step for step in Autograde.sanitize_preprocessors.default_args[0] if step is not DeduplicateIds)]
AUTOGRADE = [StaticGrades if step is Execute else step for step in Autograde.autograde_preprocessors.default_args[0]]


def _metadata(name: str, worth: Mapping, solutions: set, source: tuple) -> dict:
    kind, _, locked, checksum = source
    metadata = {"schema_version": 3, "grade_id": name, "cell_type": kind, "locked": locked, "checksum": checksum, "task": False}
    metadata |= {"grade": name in worth, "solution": name in solutions}
    return metadata | ({"points": worth[name]} if name in worth else {})
