"""How a bank's file is read: answers written out or as changes of another one, and what is said where one does not fit."""

import pytest

from dcplab.course import bank, catalog
from dcplab.errors import CourseError

SOLUTION = '''def rows(locs, size):
    """The rows."""
    ### BEGIN SOLUTION
    kept = []
    for loc in locs:
        if loc >= 0:
            kept.append(loc // size)
        else:
            kept.append(-1)
    return kept
    ### END SOLUTION'''
HEAD = "# %% 9a one\n# says: Divided by nothing.\n# asks: By what?\n"


def read(tmp_path, text):
    file = tmp_path / "9a.py"
    file.write_text(text)
    return bank.read(file, SOLUTION)


def run(answer, *args):
    names = {}
    exec(answer.source, names)
    return names["rows"](*args)


def test_a_change_keeps_the_rest_of_the_solution(tmp_path):
    [answer] = read(tmp_path, HEAD + "# family: M2\n# from: solution\n- kept.append(loc // size)\n+ kept.append(loc)\n").wrong
    assert (answer.id, answer.says, answer.asks, answer.outcome, answer.family) == (
        "9a-one",
        "Divided by nothing.",
        "By what?",
        "wrong",
        "M2",
    )
    assert "SOLUTION" not in answer.source and '"""The rows."""' in answer.source
    assert run(answer, [8, -1], 4) == [8, -1]


def test_several_changes_insertions_and_a_block_that_goes(tmp_path):
    body = "  kept = []\n+ size = 1\n\n- else:\n-     kept.append(-1)\n\n- return kept\n+ if kept:\n+     return kept\n"
    [answer] = read(tmp_path, HEAD + "# from: solution\n" + body).wrong
    assert run(answer, [8, -1], 4) == [8] and run(answer, [], 4) is None


def test_a_change_of_an_answer_that_is_written_out_and_a_preamble_of_its_own(tmp_path):
    text = (
        "# %% preamble\nSTEP = 2\n\n"
        + "# %% 9a plain\n# outcome: passed\ndef rows(locs, size):\n    return [x // size for x in locs]\n\n"
        + HEAD
        + "# from: plain\n# outcome: unsafe\n- return [x // size for x in locs]\n+ return [x // STEP for x in locs]\n"
    )
    found = read(tmp_path, text)
    assert [a.id for a in found.right] == ["9a-plain"] and found.preamble == ("STEP = 2\n",)
    assert found.wrong[0].outcome == "unsafe" and "x // STEP" in found.wrong[0].source


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# from: solution\n- kept.append(loc % size)\n+ kept\n", "line 5: 'kept.append(loc % size)': no place fits"),
        ("# from: solution\n- kept = []\n+ kept = [0]\n\n- gone\n", "line 8: 'gone': no place fits"),
        ("# from: solution\n- kept.append(loc // size)\n+ kept.append(loc // size)\n", "changes nothing of solution"),
        ("# from: solution\n+ kept = 1\n", "line 5: 'kept = 1' stands nowhere"),
        ("# from: solution\n* kept = 1\n", "line 5: '* kept = 1' begins neither with"),
        ("# from: two\n- x\n", "from 'two', which does not stand above it"),
        ("# outcome: strange\ndef rows(locs, size):\n    return 0\n", "an outcome that there is"),
    ],
)
def test_what_does_not_fit_is_an_error_with_file_answer_and_line(tmp_path, text, says):
    with pytest.raises(CourseError) as refused:
        read(tmp_path, HEAD + text)
    assert "bank/9a.py, '9a one'" in str(refused.value) and says in str(refused.value)


def test_a_line_that_stands_twice_needs_a_neighbour(tmp_path):
    base = "def f(x):\n    x = x + 1\n    if x:\n        x = x + 1\n    return x\n"
    with pytest.raises(CourseError, match="2 places fit; add a neighbouring line that stays"):
        bank.changed(base, ["- x = x + 1"], "here")
    assert bank.changed(base, ["  if x:", "-     x = x + 1", "+     x = 7"], "here").count("x = x + 1") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# %% 9b one\n# says: a\n# asks: b?\nx = 1\n", "must name part 9a and, after it, a short id"),
        ("# %% 9a\n# says: a\n# asks: b?\nx = 1\n", "must name part 9a"),
        ("# %% 9a one two\nx = 1\n", "cannot read"),
        ("# %% 9a one\nx = 1\n", "needs '# says:', '# asks:'"),
        (
            HEAD + "# from: solution\n- kept = []\n+ kept = [0]\n\n# %% 9a two\n# from: one\n- kept = [0]\n",
            "written as changes itself",
        ),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, text, says):
    with pytest.raises(CourseError, match=says):
        read(tmp_path, text)


def test_a_part_whose_file_has_another_name_is_an_error(course):
    file = course / "solutions" / "01_tiny" / "parts" / "1b.py"
    file.write_text(file.read_text().replace("id='1b'", "id='1c'"))
    with pytest.raises(CourseError, match="must define PART, a Part with the id '1b'"):
        catalog.labs()


def test_a_bank_is_read_again_after_a_change(course):
    file = course / "solutions" / "01_tiny" / "bank" / "1a.py"
    assert len(catalog.lab("01").wrong) == 1
    file.write_text(
        file.read_text() + "\n# %% 1a none\n# says: None.\n# asks: Why?\ndef owner_rank(loc, dcp_size):\n    return None\n"
    )
    assert len(catalog.lab("01").wrong) == 2
