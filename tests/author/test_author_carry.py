"""What a learner wrote survives into a new notebook."""

import copy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from tinycourse import SOURCE

from dcplab.author import notebook
from dcplab.author.carry import carry
from dcplab.course import lab_source

ANSWER = "def owner_rank(loc, dcp_size):\n    return loc % dcp_size"


def learner(text=SOURCE):
    cells = lab_source.parse(text)
    points = {cell.part: 10 for cell in cells if cell.part}
    return notebook.learner_notebook(notebook.source_notebook("01_tiny", cells, points))


def cell(nb, identity):
    return next(c for c in nb.cells if c.id == identity)


@pytest.fixture
def old():
    return learner()


@pytest.fixture
def new():
    return learner(
        SOURCE.replace("has an *owner*", "is stored once").replace('"""The rank that stores it."""', '"""The owner."""')
    )


def test_an_answer_takes_the_place_of_the_new_starter(old, new):
    mine = copy.deepcopy(old)
    cell(mine, "answer-1a").source = ANSWER
    merged, carried = carry(mine, old, new)
    assert carried == ["1a"]
    assert cell(merged, "answer-1a").source == ANSWER
    assert cell(merged, "answer-1b").source == cell(new, "answer-1b").source
    assert "is stored once" in merged.cells[0].source
    assert [c.id for c in merged.cells] == [c.id for c in new.cells]


def test_an_untouched_answer_becomes_the_new_starter(old, new):
    merged, carried = carry(copy.deepcopy(old), old, new)
    assert carried == []
    assert notebook.to_text(merged) == notebook.to_text(new)


def test_notes_and_trials_stay_where_they_were(old, new):
    mine = copy.deepcopy(old)
    mine.cells.insert(4, new_code_cell("owner_rank(11, 4)"))
    mine.cells.append(new_markdown_cell("My note."))
    mine.cells.insert(0, new_markdown_cell("On top."))
    merged, _ = carry(mine, old, new)
    at = [c.source for c in merged.cells]
    assert at[0] == "On top."
    assert at[-1] == "My note."
    assert at.index("owner_rank(11, 4)") == at.index(cell(new, "answer-1a").source) + 1


def test_changed_prose_is_kept_below_the_new_prose(old, new):
    mine = copy.deepcopy(old)
    mine.cells[0].source = "# A tiny lab\n\nOwner = rest."
    merged, _ = carry(mine, old, new)
    assert [merged.cells[0].source, merged.cells[1].source] == [new.cells[0].source, "# A tiny lab\n\nOwner = rest."]


def test_an_answer_whose_part_is_gone_is_kept(old):
    mine = copy.deepcopy(old)
    cell(mine, "answer-1b").source = "def local_row(loc, dcp_size):\n    return loc // dcp_size"
    new = learner(SOURCE[: SOURCE.index("# %% [markdown]\n# ## 1b")])
    merged, carried = carry(mine, old, new)
    assert carried == []
    assert merged.cells[-1].source == cell(mine, "answer-1b").source
    assert "nbgrader" not in merged.cells[-1].metadata


def test_an_answer_typed_into_a_cell_of_its_own_comes_after_the_starter(old, new):
    mine = copy.deepcopy(old)
    at = [c.id for c in mine.cells].index("answer-1a")
    mine.cells[at] = new_code_cell(ANSWER)
    merged, _ = carry(mine, old, new)
    sources = [c.source for c in merged.cells]
    assert sources.index(ANSWER) > sources.index(cell(new, "answer-1a").source)


def test_a_doubled_answer_is_kept_twice_in_its_order(old, new):
    mine = copy.deepcopy(old)
    first = cell(mine, "answer-1a")
    second = copy.deepcopy(first)
    first.source, second.source = "def owner_rank(loc, dcp_size):\n    return 0", ANSWER
    mine.cells.insert(mine.cells.index(first) + 1, second)
    merged, carried = carry(mine, old, new)
    sources = [c.source for c in merged.cells]
    assert carried == ["1a"]
    assert sources.index(first.source) + 1 == sources.index(ANSWER)


def test_answers_are_known_without_nbgraders_metadata(old, new):
    mine = copy.deepcopy(old)
    for c in mine.cells:
        c.metadata.pop("nbgrader", None)
    cell(mine, "answer-1a").source = ANSWER
    merged, carried = carry(mine, old, new)
    assert carried == ["1a"]
    assert cell(merged, "answer-1a").source == ANSWER
