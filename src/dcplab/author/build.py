"""Builds one lab: reads its source, makes its notebooks, and writes them without losing a learner's work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from dcplab import paths
from dcplab.author import execute as executing
from dcplab.author import lint
from dcplab.author.notebook import is_edited, learner_notebook, solved_notebook, source_notebook, to_text
from dcplab.course import lab_source
from dcplab.errors import CourseError
from dcplab.notebook import backup

SAYS = {
    "equal": "up to date",
    "missing": "not built yet",
    "stale": "older than its source; `python -m dcplab build` makes it anew",
    "run": "up to date, but it was run: outputs are no part of a lab",
    "edited": "holds edits that did not come from its source",
    "unreadable": "is no readable notebook",
}


@dataclass(frozen=True)
class Made:
    """A lab's notebooks as its source gives them, and the place of the learner's notebook."""

    path: Path
    source: NotebookNode
    learner: NotebookNode


def make(lab) -> Made:
    """Make the notebooks of ``lab``, one of ``catalog.labs()``."""
    source = source_notebook(*_ingredients(lab))
    return Made(paths.labs() / lab.name / f"{lab.name}.ipynb", source, learner_notebook(source))


def _ingredients(lab) -> tuple[str, list[lab_source.Cell], dict[str, float]]:
    """Read the ingredients of a lab's notebooks: its name, the cells of its source, and the points of each part."""
    cells = lab_source.read(paths.solutions() / lab.name / f"{lab.name}.py")
    return lab.name, cells, {part.id: part.points for part in lab.listed}


def faults(lab, made: Made) -> list[str]:
    """Return the lint's sentences about a lab."""
    _, cells, _ = _ingredients(lab)
    return lint.lint(cells, lab.parts, lab.wrong, lab.right, made.learner, lab.examined)


def compare(made: Made) -> str:
    """Compare the notebook on disk with the one that its source gives. Returns a key of ``SAYS``."""
    try:
        text = made.path.read_text(encoding="utf-8")
        if text == to_text(made.learner):
            return "equal"
        found = nbformat.reads(text, as_version=4)
        if is_edited(found):
            return "edited"
    except FileNotFoundError:
        return "missing"
    except Exception:  # nbformat raises many kinds; the file may hold somebody's work
        return "unreadable"
    return "run" if found.metadata["dcplab"]["digest"] == made.learner.metadata["dcplab"]["digest"] else "stale"


def write(made: Made, force: bool = False) -> str:
    """Write the learner's notebook and return a sentence about it. Edits are replaced only with ``force``, and copied first."""
    found = compare(made)
    if found == "equal":
        return SAYS[found]
    if found in ("edited", "unreadable") and not force:
        raise CourseError(f"{made.path.name} {SAYS[found]}; --force replaces it and keeps a dated copy.")
    kept = f"; the one before is kept as {backup.keep(made.path)}" if found != "missing" else ""
    made.path.parent.mkdir(parents=True, exist_ok=True)
    made.path.write_text(to_text(made.learner), encoding="utf-8")
    return f"built{kept}"


def execute(lab, progress: Callable[[int, int], None]) -> Path:
    """Run the solved notebook and write it beside its source. Raises ``CourseError`` unless every check passed in it,
    and nothing else failed."""
    nb, outcomes = executing.execute(solved_notebook(*_ingredients(lab)), progress)
    failed = [
        f"{part.id} {outcomes.get(part.id, 'was not checked')}" for part in lab.parts if outcomes.get(part.id) != "passed"
    ]
    if failed:
        raise CourseError(f"In the solved notebook of {lab.name} not every check passed: {', '.join(failed)}.")
    if shown := executing.failures(nb):
        raise CourseError(f"The solved notebook of {lab.name} shows what failed: {'; '.join(shown)}.")
    path = paths.solutions() / lab.name / f"{lab.name}.ipynb"
    executing.save(nb, path)
    return path
