"""Fills the check cells of a submitted notebook with what nbgrader reads as their points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nbformat import NotebookNode
from nbformat.v4 import new_output
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


def fill(nb: NotebookNode, folder: str | None, student: str | None) -> None:
    """Judge each part of a notebook and write its check cell's outputs: a card, and the points.

    ``folder``: where the notebook lies; modules in it can be imported. ``student``: whose it is. Raises CourseError where the
    machine was too busy to judge.
    """
    grader.refuse_diagnosis()
    keys = {f"{key.part.id}-check": key for of in grader.keys_of(catalog.labs()).values() for key in of}
    cells = [cell.source for cell in nb.cells if cell.cell_type == "code"]
    own = seeds.bound(*settings.seeds_of_learners())(student)
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


def _cut(cells: Sequence[str], parts: Parts, folder: str | None) -> Mapping[str, Program]:
    try:
        with Reader() as reader:
            return reader.cut(cells, parts, folder)
    except Unread as error:
        return {part: Program("", names[0], problem=str(error), unreadable=True) for part, names in parts.items()}


def _stream(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text + "\n")  # never stderr: nbgrader takes it for a failure


def _shown(result: CheckResult) -> NotebookNode:
    page = card.as_html(result, answer.in_card(result.cells, result.outcome != "passed"))
    return new_output("display_data", data={"text/html": str(page), "text/plain": check_result.text(result)})


def _result(points: float) -> NotebookNode:
    return new_output("execute_result", data={"text/plain": repr(float(points))}, execution_count=None)
