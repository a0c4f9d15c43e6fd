"""The notebooks of a lab: read as jupytext reads them, and made as nbgrader makes them."""

import json

import pytest
from tinycourse import SOURCE

from dcplab import paths
from dcplab.author import notebook
from dcplab.author.release import nbgrader
from dcplab.course import lab_source
from dcplab.errors import CourseError

POINTS = {"1a": 60, "1b": 40}


def source():
    return notebook.source_notebook("01_tiny", lab_source.parse(SOURCE), POINTS)


@pytest.mark.parametrize("text", [SOURCE, *(p.read_text() for p in sorted(paths.solutions().glob("*/[0-9][0-9]_*.py")))])
def test_percent_cells_are_those_that_jupytext_reads(text):
    import jupytext  # slow to import, as nbgrader and TileLang are elsewhere: who collects all tests need not wait for them

    ours = [(c.kind, c.source, dict(c.meta)) for c in lab_source.parse(text)]
    theirs = []
    for cell in jupytext.reads(text, fmt="py:percent").cells:
        cell.metadata.pop("lines_to_next_cell", None)
        theirs.append((cell.cell_type, cell.source, dict(cell.metadata)))
    if text.startswith("# ") and not text.startswith("# %%"):
        theirs = theirs[1:]  # a comment about the file is no cell of ours
    assert ours == theirs


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n# %%\n", "line 1: code before the first"),
        ("# %% [raw]\n", "line 1: a cell is code or"),
        ("# %%\n\n# %% part=1a\n", "line 3: cannot read 'part=1a'"),
    ],
)
def test_a_source_that_cannot_be_read_says_where(text, says):
    with pytest.raises(CourseError, match=says.replace("(", r"\(")):
        lab_source.parse(text)


def test_starter_replaces_each_region_at_its_indent():
    text = "a = 1\n### BEGIN SOLUTION\nb = 2\n### END SOLUTION\nif a:\n    # BEGIN SOLUTION\n    pass\n    # END SOLUTION\n"
    stub = "# YOUR CODE HERE\nraise NotImplementedError()"
    assert lab_source.starter(text) == f"a = 1\n{stub}\nif a:\n    " + stub.replace("\n", "\n    ") + "\n"


@pytest.mark.parametrize("text", ["### BEGIN SOLUTION\nx = 1", "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION"])
def test_an_open_or_nested_region_is_an_error(text):
    with pytest.raises(CourseError):
        lab_source.starter(text)


@pytest.mark.slow
def test_the_learners_notebook_is_what_nbgrader_generates(tmp_path):
    made = source()
    folder = tmp_path / "source" / "01_tiny"
    folder.mkdir(parents=True)
    (folder / "01_tiny.ipynb").write_text(notebook.to_text(made))
    nbgrader(tmp_path, "generate_assignment", "01_tiny", "--create")
    released = (tmp_path / "release" / "01_tiny" / "01_tiny.ipynb").read_text()
    assert released == notebook.to_text(notebook.learner_notebook(made))
    assert "divmod" not in released


def test_starters_are_those_that_nbgrader_leaves():
    learner = notebook.learner_notebook(source())
    left = {c.metadata.nbgrader.grade_id: c.source for c in learner.cells if c.metadata.get("nbgrader", {}).get("solution")}
    assert left == {c.part: lab_source.starter(c.source) for c in lab_source.parse(SOURCE) if c.role == "answer"}


def test_ids_name_their_part_and_points_are_those_of_the_parts():
    learner = notebook.learner_notebook(source())
    ids = [cell.id for cell in learner.cells]
    assert ids == [
        "intro-1",
        "intro-2",
        "intro-3",
        "answer-1a",
        "check-1a",
        "check-1a-1",
        "answer-1b",
        "check-1b",
        "check-1b-1",
    ]
    points = {
        c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points
        for c in learner.cells
        if "check-1" in c.id and c.cell_type == "code"
    }
    assert points == {"1a-check": 60, "1b-check": 40}
    assert all(c.metadata.editable is False for c in learner.cells if c.id in ("check-1a", "check-1b"))


def test_building_twice_gives_the_same_bytes():
    assert notebook.to_text(source()) == notebook.to_text(source())
    assert json.loads(notebook.to_text(source()))["nbformat_minor"] == 5


def test_edits_are_seen_and_outputs_are_not_edits():
    learner = notebook.learner_notebook(source())
    assert not notebook.is_edited(learner)
    learner.cells[1].execution_count = 3
    assert not notebook.is_edited(learner)
    learner.cells[0].source += " "
    assert notebook.is_edited(learner)


def test_a_part_that_has_no_file_in_parts_is_an_error():
    with pytest.raises(CourseError, match=r"part '1b' has no file in parts"):
        notebook.source_notebook("01_tiny", lab_source.parse(SOURCE), {"1a": 60})
