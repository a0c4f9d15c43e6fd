"""Which run of which cell is judged, and what a learner is told about it."""

import pytest

from dcplab.notebook.runs import Judged, Run, Saved, judged
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
        ([Run(1, OTHER)], [], None),
        ([Run(3, ONE, ANSWER)], [], Judged(3)),
        ([Run(3, ONE, ANSWER), Run(4, OTHER, "b")], [Saved(ONE, ANSWER, "1a")], Judged(3)),
        # edited, and not run
        ([Run(3, ONE, ANSWER)], [Saved(TWO, ANSWER, "1a")], Judged(3, changed=True)),
        ([Run(3, ONE)], [Saved(TWO, ANSWER, "1a")], Judged(3, changed=True)),
        ([Run(3, ONE, ANSWER)], [Saved(BROKEN, ANSWER, "1a")], Judged(3, changed=True)),
        # the file is older than the run, or the cell is back at what once ran
        ([Run(3, ONE, ANSWER), Run(5, TWO, ANSWER)], [Saved(ONE, ANSWER, "1a")], Judged(5)),
        # the function has another name now
        ([Run(3, ONE, ANSWER), Run(5, RENAMED, ANSWER)], [Saved(RENAMED, ANSWER, "1a")], Judged(3, renamed=5)),
        # a second cell
        ([Run(3, ONE, ANSWER), Run(5, TWO, "b")], [Saved(ONE, ANSWER, "1a"), Saved(TWO, "b")], Judged(5, cells=2)),
        ([Run(3, TWO), Run(5, ONE)], [Saved(ONE, ANSWER, "1a"), Saved(TWO, "b")], Judged(5, cells=2)),
        # a file alone
        ([], [Saved(OTHER), Saved(ONE, ANSWER, "1a")], Judged(0)),
        ([], [Saved(ONE, ANSWER, "1a"), Saved(TWO, "b")], Judged(0, cells=2)),
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
