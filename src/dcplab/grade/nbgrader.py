"""Runs nbgrader's autograde without running a notebook: each check cell gets the points of its part as its output.

``SANITIZE`` and ``AUTOGRADE`` are the lists of preprocessors that ``workshop/nbgrader_config.py`` sets. nbgrader then works as
usual: it reads the points from the outputs, writes the gradebook, and makes feedback.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import DeduplicateIds, Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade

from dcplab import settings
from dcplab.course import catalog
from dcplab.course.model import CheckResult
from dcplab.course.seeded import fresh_seed
from dcplab.errors import CourseError
from dcplab.grade import grader, seeds
from dcplab.grade.reader import Reader, Unread
from dcplab.grade.slices import Parts
from dcplab.notebook.extract import Program
from dcplab.present import card, check_result
from dcplab.reference import References
from dcplab.viz.figures import answer

SEED = fresh_seed()  # one for each run of `nbgrader autograde`, as in `dcplab grade`
KEPT = References()


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
        grader.refuse_diagnosis()
        keys = {f"{key.part.id}-check": key for of in grader.keys_of(catalog.labs()).values() for key in of}
        cells = [cell.source for cell in nb.cells if cell.cell_type == "code"]
        folder = resources.get("metadata", {}).get("path")
        own = seeds.bound(*settings.seeds_of_learners())(resources.get("nbgrader", {}).get("student"))
        programs = _cut(cells, {key.part.id: key.part.names for key in keys.values()}, folder)
        for cell in nb.cells:
            if cell.cell_type != "code":
                continue
            cell.outputs, cell.execution_count = [], None
            if not is_grade(cell):
                continue
            key = keys.get(cell.metadata.nbgrader["grade_id"])
            if key is None:  # an instructor's own cell: not judged here, and without an output it would get full points
                cell.outputs = [_stream("No part of the course has this check."), _result(0.0)]
                continue
            result = grader.grade_part(replace(key, own_seed=own), programs[key.part.id], SEED, KEPT)
            if result.busy and result.outcome == "error":  # no score at all, so that the next autograde takes it up again
                raise CourseError(f"{key.part.id} was not judged: the machine is busy. Run autograde again.")
            worth = float(cell.metadata.nbgrader["points"])
            share = result.points / result.max_points
            cell.outputs = [_shown(result), _result(worth if share == 1 else min(worth, worth * share))]
        return nb, resources


SANITIZE = [CourseCells, *(step for step in Autograde.sanitize_preprocessors.default_args[0] if step is not DeduplicateIds)]
AUTOGRADE = [StaticGrades if step is Execute else step for step in Autograde.autograde_preprocessors.default_args[0]]


def _cut(cells: Sequence[str], parts: Parts, folder: str | None) -> Mapping[str, Program]:
    try:
        with Reader() as reader:
            return reader.cut(cells, parts, folder)
    except Unread as error:
        return {part: Program("", names[0], problem=str(error), unreadable=True) for part, names in parts.items()}


def _metadata(name: str, worth: Mapping, solutions: set, source: tuple) -> dict:
    kind, _, locked, checksum = source
    metadata = {"schema_version": 3, "grade_id": name, "cell_type": kind, "locked": locked, "checksum": checksum, "task": False}
    metadata |= {"grade": name in worth, "solution": name in solutions}
    return metadata | ({"points": worth[name]} if name in worth else {})


def _stream(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text + "\n")  # never stderr: nbgrader takes it for a failure


def _shown(result: CheckResult) -> NotebookNode:
    page = card.as_html(result, answer.in_card(result.cells, result.outcome != "passed"))
    return new_output("display_data", data={"text/html": str(page), "text/plain": check_result.text(result)})


def _result(points: float) -> NotebookNode:
    return new_output("execute_result", data={"text/plain": repr(float(points))}, execution_count=None)
