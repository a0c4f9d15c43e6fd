"""Which run of which cell is judged, and what a learner is told about it."""

import json
import threading

import pytest

from dcplab.notebook.runs import CellRun, Judged, SavedCell, judged
from dcplab.present import sentences

ONE, TWO = "def owner(loc):\n    return 1", "def owner(loc):\n    return 2"
RENAMED, OTHER, BROKEN = "def own(loc):\n    return 2", "x = 1", "def owner(loc:\n    pass"
ANSWER = "answer-1a"


def of(runs, saved=()):
    return judged("1a", "owner", runs, saved)


@pytest.mark.parametrize(
    "runs, saved, expected",
    [
        ([], [], None),
        ([CellRun(1, OTHER)], [], None),
        ([CellRun(3, ONE, ANSWER)], [], Judged(3)),
        ([CellRun(3, ONE, ANSWER), CellRun(4, OTHER, "b")], [SavedCell(ONE, ANSWER, "1a")], Judged(3)),
        # edited, and not run
        ([CellRun(3, ONE, ANSWER)], [SavedCell(TWO, ANSWER, "1a")], Judged(3, changed=True)),
        ([CellRun(3, ONE, ANSWER, 20.0)], [SavedCell(TWO, ANSWER, "1a", written=20.5)], Judged(3, changed=True)),
        ([CellRun(3, ONE, ANSWER, 20.0)], [SavedCell(TWO, ANSWER, "1a", written=19.5)], Judged(3)),
        ([CellRun(3, ONE)], [SavedCell(TWO, ANSWER, "1a")], Judged(3, changed=True)),
        ([CellRun(3, ONE, ANSWER)], [SavedCell(BROKEN, ANSWER, "1a")], Judged(3, changed=True)),
        # line ends at the end are not kept of what ran
        ([CellRun(3, ONE.rstrip(), ANSWER)], [SavedCell(ONE.rstrip() + "\n\n", ANSWER, "1a")], Judged(3)),
        # the file is older than the run, or the cell is back at what once ran
        ([CellRun(3, ONE, ANSWER), CellRun(5, TWO, ANSWER)], [SavedCell(ONE, ANSWER, "1a")], Judged(5)),
        # the function has another name now
        ([CellRun(3, ONE, ANSWER), CellRun(5, RENAMED, ANSWER)], [SavedCell(RENAMED, ANSWER, "1a")], Judged(3, renamed=5)),
        # a second cell
        (
            [CellRun(3, ONE, ANSWER), CellRun(5, TWO, "b")],
            [SavedCell(ONE, ANSWER, "1a"), SavedCell(TWO, "b")],
            Judged(5, cells=2),
        ),
        ([CellRun(3, TWO), CellRun(5, ONE)], [SavedCell(ONE, ANSWER, "1a"), SavedCell(TWO, "b")], Judged(5, cells=2)),
        # a file alone
        ([], [SavedCell(OTHER), SavedCell(ONE, ANSWER, "1a")], Judged(0)),
        ([], [SavedCell(ONE, ANSWER, "1a"), SavedCell(TWO, "b")], Judged(0, cells=2)),
    ],
)
def test_what_is_judged(runs, saved, expected):
    assert of(runs, saved) == expected


@pytest.mark.parametrize(
    "found, says",
    [
        (Judged(3), ""),
        (Judged(0), ""),
        (Judged(3, changed=True, cells=2), "The cell has changed since it ran as [3]: run it, then check again."),
        (Judged(3, renamed=5), "[3] was judged. The same cell ran again as [5], without the name that is asked for."),
        (Judged(5, cells=2), "2 cells of the notebook define it; judged was the one that ran last, as [5]."),
        (Judged(0, cells=2), "2 cells of the notebook define it; judged was the last of them."),
    ],
)
def test_what_is_said_of_it(found, says):
    assert sentences.of_judged(found) == says


def test_a_notebook_that_is_being_written_is_read_once_it_is_whole(tmp_path, monkeypatch):
    """Jupyter writes in place: between its first byte and its last there is no notebook to read."""
    from dcplab import lab
    from dcplab.course import catalog

    path = tmp_path / "a.ipynb"
    path.write_text('{"cells": [')
    read = []
    monkeypatch.setattr(lab, "judged", lambda part, entry, runs, saved: read.append(saved))
    cell = {"cell_type": "code", "id": "answer-1a", "metadata": {}, "source": "x = 1", "outputs": [], "execution_count": None}
    whole = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    later = threading.Timer(0.2, lambda: path.write_text(whole))
    later.start()
    lab._judged(path, catalog.of_part("1a").part("1a"))
    later.join()
    lab._judged(tmp_path / "none.ipynb", catalog.of_part("1a").part("1a"))
    assert [len(saved) for saved in read] == [1, 0]
