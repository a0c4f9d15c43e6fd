"""The lint finds what it is there for, and nothing in a clean lab."""

from dataclasses import replace

import nbformat
import pytest
from tinycourse import SOURCE

from dcplab.author import lint, notebook
from dcplab.course import catalog, lab_source


@pytest.fixture
def lab(course):
    found = catalog.lab("01")
    cells = lab_source.parse(SOURCE)
    learner = notebook.learner_notebook(notebook.source_notebook("01_tiny", cells, {p.id: p.points for p in found.parts}))
    return dict(cells=cells, parts=found.parts, wrong=found.wrong, right=found.right, learner=learner)


def test_a_clean_lab_has_no_faults(lab):
    assert lint.lint(**lab) == []


def faults(lab, **changed) -> str:
    return "\n".join(lint.lint(**(lab | changed)))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('lab.check("1a")', 'lab.check("1b")', 'ends in lab.check("1a")'),
        ('lab.check("1a")', 'lab.check("1a"); 1.0', 'ends in lab.check("1a")'),
        ('part="1b" role="check"', "", "check cells are ['1a']"),
        ("    ### BEGIN SOLUTION\n    return loc % dcp_size\n    ### END SOLUTION", "    return 0", "has no solution region"),
        ("    ### BEGIN", f'    """{"Owners. " * 11}"""\n    ### BEGIN', '98 characters in \'"""Owners.'),
        ("# The end.", "# The end.\n\n# %%\n%matplotlib inline", "a magic or shell line"),
        ("from dcplab import lab", "### BEGIN SOLUTION\n### END SOLUTION", "outside an answer cell"),
    ],
)
def test_cells(lab, old, new, says):
    assert old in SOURCE
    assert says in faults(lab, cells=lab_source.parse(SOURCE.replace(old, new)))


def test_a_heading_says_what_the_part_is_worth(lab):
    first = lab["parts"][0]
    cells = lab_source.parse(f"# %% [markdown]\n# ## 1a · Owners\n#\n# *{lint.worth(first)}*\n\n{SOURCE}")
    assert faults(lab, cells=cells) == ""
    waits = replace(first, can_wait=True, minutes=6)
    assert "'60 points, 6 minutes. It can wait.' is in parts/" in faults(lab, cells=cells, parts=[waits, *lab["parts"][1:]])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"points": 59}, "points sum to 99"),
        ({"hints": ("one", "two", " ")}, "1a: three hints are asked for, and there are 2"),
        ({"minutes": 21}, "21 minutes"),
        ({"question": "Look again."}, "question mark"),
        ({"id": "1b"}, "1b: 2 parts have this id"),
    ],
)
def test_parts(lab, change, says):
    assert says in faults(lab, parts=[replace(lab["parts"][0], **change), *lab["parts"][1:]])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"says": "x" * 81}, "says 81 characters"),
        ({"says": "two\nlines"}, "one line"),
        ({"asks": "Look."}, "asks no question"),
        ({"part": "1z"}, "there is no part '1z'"),
    ],
)
def test_banks(lab, change, says):
    assert says in faults(lab, wrong=[replace(lab["wrong"][0], **change)])


def test_ids_of_a_bank_are_its_own(lab):
    assert "1a-row: 2 answers of a bank have this id" in faults(lab, wrong=lab["wrong"] * 2)


def leaked(nb):
    nb.cells[0].source += "\n\nTry `return loc%dcp_size`."


def in_metadata(nb):
    nb.cells[1].metadata["note"] = {"deep": ["whole, rest = divmod(loc, dcp_size)"]}


def in_output(nb):
    nb.cells[1].outputs = [nbformat.v4.new_output("stream", text="return loc % dcp_size\n")]


def in_attachment(nb):
    nb.cells[0]["attachments"] = {"a.txt": {"text/plain": "return divmod(loc, dcp_size)[1]"}}


def marker(nb):
    nb.cells[0].source += "\n### END SOLUTION"


def widgets(nb):
    nb.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (leaked, "cells[intro-1].source: a line of an answer"),
        (in_metadata, "cells[intro-2].metadata.note.deep[0]: a line of an answer"),
        (in_output, "Cell intro-2 has outputs."),
        (in_attachment, "Cell intro-1 has attachments."),
        (in_attachment, "a line of an answer, 'returndivmod(loc,dcp_size)[1]'"),
        (marker, "a marker of a hidden region"),
        (widgets, "widget state"),
    ],
)
def test_leaks(lab, spoil, says):
    spoil(lab["learner"])
    assert says in faults(lab)


def test_prose_may_speak_of_the_remainder(lab):
    lab["learner"].cells[0].source += "\n\nThe owner of loc 11 is `11 % 4`, the rest of a division."
    assert faults(lab) == ""
