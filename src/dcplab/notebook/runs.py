"""Finds out which run of which cell gives a name its present meaning, and what a learner should know about it.

A live notebook gives the runs of this kernel and, if it was saved, its cells. Cells are told apart by their ids. Where a run's
cell is not known, as before anybody listened, it is recognised by its text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dcplab.notebook.extract import defines


@dataclass(frozen=True)
class CellRun:
    """One execution of a cell: its number, as in ``[7]``, the cell's text then, the cell's id ("" if unknown), and when it
    ended (seconds since the epoch; 0 if unknown)."""

    count: int
    text: str
    cell: str = ""
    ended: float = 0.0


@dataclass(frozen=True)
class SavedCell:
    """A code cell of a notebook file. ``part``: the part whose answer cell it is, or "". ``written``: when the file was."""

    text: str
    cell: str = ""
    part: str = ""
    written: float = math.inf


@dataclass(frozen=True)
class Judged:
    """What was judged: the run ``count`` (0: a cell of a file). The rest is what may surprise the learner.

    ``changed``: the saved cell, in a file that is no older than the run, is another text that never ran. ``renamed``: a later
    run of the cell, which does not define the name any more. ``cells``: more than one cell of the notebook defines the name;
    their number.
    """

    count: int
    changed: bool = False
    renamed: int = 0
    cells: int = 1


def judged(part: str, name: str, runs: Sequence[CellRun], saved: Sequence[SavedCell]) -> Judged | None:
    """Return what defines ``name``, the entry of ``part``, now: by the runs of a kernel, in order, or by a file alone if there
    are none. None if nothing does."""
    here = [cell for cell in saved if defines(cell.text, name)]
    if not runs:
        return Judged(0, cells=len(here)) if here else None
    run = next((run for run in reversed(runs) if defines(run.text, name)), None)
    if run is None:
        return None
    cell = run.cell or next((s.cell for s in saved if s.text.rstrip() == run.text.rstrip()), "")
    cell = cell or next((s.cell for s in saved if s.part == part), "")
    now = next((s for s in saved if s.cell == cell), None) if cell else None
    ran = {r.text.rstrip() for r in runs}  # IPython keeps no line ends at the end of what ran
    renamed = next((r.count for r in reversed(runs) if run.cell and r.cell == run.cell and r.count > run.count), 0)
    return Judged(
        run.count,
        changed=now is not None and now.text.rstrip() not in ran and now.written >= run.ended,
        renamed=renamed,
        cells=max(1, len(here)),
    )
