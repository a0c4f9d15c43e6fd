"""The board reads what learners' machines and the grader wrote."""

import json

import pytest

from dcplab import cli, progress
from dcplab.course import catalog
from dcplab.course.model import CheckResult
from dcplab.grade import board


def check(part, outcome, points, diagnosis=None):
    kinds = dict(message="m", seed=1, mode="cpu", versions={})
    return CheckResult("01_tiny", part, outcome, points, 60.0, diagnosis=diagnosis, **kinds)


@pytest.fixture
def room(course, tmp_path, monkeypatch):
    """Three learners' state folders, written by the course itself."""
    folder = tmp_path / "room"
    deeds = {
        "ann/.dcplab": [check("1a", "passed", 60.0), check("1b", "passed", 40.0)],
        "bob/.dcplab": [check("1a", "wrong", 0.0, "1a-row")] * 3,
        "eve/.local/state/dcplab": [check("1a", "wrong", 0.0, "1a-row"), check("1a", "passed", 60.0)],
    }
    for name, checks in deeds.items():
        monkeypatch.setenv("DCPLAB_STATE", str(folder / name))
        for result in checks:
            progress.record(result)
    (folder / "junk.json").write_text("{")
    (folder / "other.json").write_text('{"labs": 5}')
    return folder


def test_who_is_where(room):
    text = board.board(board.find(room), catalog.labs())
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["01_tiny:", "3", "of", "3", "learners"]
    assert lines[2] == ["ann", "2", "of", "2", "100", "finished"]
    assert lines[3] == ["bob", "0", "of", "2", "0", "1a", "3", "STUCK,", "wrong"]
    assert lines[4] == ["eve", "1", "of", "2", "60", "1b", "not", "begun"]
    assert "Stuck: 1 at 1a" in text
    assert "1  1a-row  That is the row, not the owner." in text


def test_who_has_not_begun_a_lab_is_named_in_one_line(room):
    """With several labs and ten learners a line for each of them in each lab would fill two screens."""
    for name, known in (("kim", {"02_other": {"2a": {"best": 1}}}), ("lee", {})):
        (room / name / "course" / ".dcplab").mkdir(parents=True)  # as on a hub, whose checkouts are called `course`
        (room / name / "course" / ".dcplab" / "progress.json").write_text(json.dumps({"version": 1, "labs": known}))
    learners = board.find(room)
    assert [learner.name for learner in learners] == ["ann", "bob", "eve", "kim", "lee"]
    lines = board.board(learners, catalog.labs()).splitlines()
    assert lines[0] == "01_tiny: 3 of 5 learners" and lines[5] == "Not begun: kim, lee"
    assert "Not begun: 2" in board.board(learners, catalog.labs(), anonymous=True).splitlines()


def test_a_lone_checkout_that_is_called_course(course, tmp_path):
    state_folder = tmp_path / "course" / ".dcplab"
    state_folder.mkdir()
    (state_folder / "progress.json").write_text('{"version": 1, "labs": {"01_tiny": {}}}')
    assert [learner.name for learner in board.find(tmp_path / "course")] == ["course"]
    assert [learner.name for learner in board.find(state_folder)] == ["course"]
    assert [learner.name for learner in board.find(tmp_path)] == ["course"]


def test_no_names_on_the_projector(room):
    text = board.board(board.find(room), catalog.labs(), anonymous=True)
    assert not any(name in text for name in ("ann", "bob", "eve"))
    assert "learner 2" in text


def test_a_file_that_a_learner_spoiled_shows_nothing_of_its_own(room):
    evil = {"outcome": "\x1b[31m", "diagnosis": ["x"], "attempts": 1e400, "best": "9"}
    text = json.dumps({"labs": {"01_tiny": {"1a": evil, "1b": evil | {"diagnosis": "\x1b]0;x"}, "1z": 5}, "02": 7}})
    (room / "bob" / ".dcplab" / "progress.json").write_text(text)
    shown = board.board(board.find(room), catalog.labs())
    assert "\x1b" not in shown
    assert ["bob", "0", "of", "2", "0", "1a", "not", "begun"] in [line.split() for line in shown.splitlines()]


def test_graded_rows_make_a_board_too(course, tmp_path):
    part = dict(lab="01_tiny", part="1a", outcome="wrong", points=0.0, max_points=60.0, diagnosis="1a-row")
    rows = [
        dict(path="submitted/Li/01_tiny/01_tiny.ipynb", student="Li", lab="01_tiny", parts=[part]),
        dict(
            path="x/kim.ipynb", student=None, lab="01_tiny", parts=[part | dict(outcome="passed", points=60.0, diagnosis=None)]
        ),
        dict(path="x/bad.ipynb", student=None, lab=None, parts=[]),
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    found = board.find(tmp_path)
    assert [learner.name for learner in found] == ["Li", "kim"]
    text = board.board(found, catalog.labs())
    assert ["kim", "1", "of", "2", "60", "1b", "not", "begun"] in [line.split() for line in text.splitlines()]


def test_two_learners_whose_notebooks_are_called_alike_stay_two(course, tmp_path):
    """Everybody's notebook is called like the lab; only the folder tells whose it is."""
    part = dict(lab="01_tiny", part="1a", outcome="passed", points=60.0, max_points=60.0, diagnosis=None)
    other = part | dict(outcome="wrong", points=0.0)

    def names(*paths):
        rows = [dict(path=p, student=None, lab="01_tiny", parts=[part if i else other]) for i, p in enumerate(paths)]
        (tmp_path / "rows.json").write_text(json.dumps(rows))
        return [learner.name for learner in board.find(tmp_path)]

    assert names("../mail/ana/01_tiny.ipynb", "../mail/bo/01_tiny.ipynb") == ["ana/01_tiny", "bo/01_tiny"]
    assert names("mail/ana.ipynb", "mail/bo.ipynb") == ["ana", "bo"]
    assert names("mail/ana.ipynb") == names("../ana.ipynb") == ["ana"]
    assert names("mail/ana/01_tiny.ipynb") == ["ana/01_tiny"]  # bo's lies in another file of rows
    assert names("01_tiny.ipynb", "bo/01_tiny.ipynb") == ["01_tiny", "bo/01_tiny"]
    assert names("/mail/ana/01_tiny.ipynb", "mail/ana/01_tiny.ipynb") == ["/mail/ana/01_tiny", "mail/ana/01_tiny"]
    assert names("a\x1b[31m.ipynb", "b.ipynb") == ["a\\x1b[31m", "b"]
    text = board.board(board.find(tmp_path), catalog.labs())
    assert "\x1b" not in text


def test_the_command(room, tmp_path, capsys):
    assert cli.main(["workshop", "board", str(room), "--anonymous"]) == 0
    assert "learner 3" in capsys.readouterr().out
    assert cli.main(["workshop", "board", str(room), "--lab", "01"]) == 0
    assert "01_tiny: 3 of 3" in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    for words, says in [
        ([str(tmp_path / "no")], "is no folder"),
        ([str(tmp_path / "empty")], "no progress.json"),
        ([str(room), "--watch", "0"], "--watch 0"),
        ([str(room), "--lab", "9"], "There is no lab '9'"),
    ]:
        assert cli.main(["workshop", "board", *words]) == 2
        assert says in capsys.readouterr().err


def test_a_notebook_that_could_not_be_graded_says_so(course, tmp_path):
    (tmp_path / "submitted/kim/01_tiny").mkdir(parents=True)
    (tmp_path / "submitted/kim/01_tiny/01_tiny.ipynb").write_text('{"cells": [')
    assert cli.main(["grade", str(tmp_path / "submitted"), "--json", str(tmp_path / "rows.json")]) == 0
    lines = [line.split() for line in board.board(board.find(tmp_path), catalog.labs()).splitlines()]
    assert ["kim", "0", "of", "2", "0", "1a", "unreadable"] in lines
