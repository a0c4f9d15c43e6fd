"""`dcplab update` against real git repositories: nothing that a learner wrote is ever lost."""

import os
import subprocess

import nbformat
import pytest
from tinycourse import SOURCE, write_course

from dcplab import update
from dcplab.author import notebook
from dcplab.course import lab_source
from dcplab.errors import CourseError

NAME = "labs/01_tiny/01_tiny.ipynb"
ANSWER = "def owner_rank(loc, dcp_size):\n    return loc % dcp_size"
NEWER = SOURCE.replace("has an *owner*", "is stored once")


def git(root, *words):
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    return subprocess.run(
        ["git", "-C", str(root), *words], check=True, capture_output=True, text=True, env=os.environ | who
    ).stdout


def build(root, text):
    nb = notebook.learner_notebook(notebook.source_notebook("01_tiny", lab_source.parse(text), {"1a": 60, "1b": 40}))
    (root / NAME).parent.mkdir(parents=True, exist_ok=True)
    (root / NAME).write_text(notebook.to_text(nb))


def commit(root, message):
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


@pytest.fixture
def theirs(tmp_path):
    root = write_course(tmp_path / "theirs")
    build(root, SOURCE)
    (root / "helper.txt").write_text("one\n")
    git(root, "init", "-q", "-b", "main")
    commit(root, "first")
    return root


@pytest.fixture
def mine(tmp_path, theirs, monkeypatch):
    git(tmp_path, "clone", "-q", str(theirs), "mine")
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    return tmp_path / "mine"


def answer(root, source=ANSWER):
    nb = nbformat.read(root / NAME, as_version=4)
    next(c for c in nb.cells if c.id == "answer-1a").source = source
    (root / NAME).write_text(notebook.to_text(nb))
    return (root / NAME).read_bytes()


def run(root):
    said = []
    update.update(root, said.append)
    return "\n".join(said)


def backups(tmp_path):
    folder = tmp_path / "state" / "backups"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_answers_go_into_the_new_notebook_and_the_old_file_is_kept(theirs, mine, tmp_path):
    before = answer(mine)
    build(theirs, NEWER)
    commit(theirs, "newer")
    said = run(mine)
    nb = nbformat.read(mine / NAME, as_version=4)
    assert next(c for c in nb.cells if c.id == "answer-1a").source == ANSWER
    assert "is stored once" in nb.cells[0].source
    assert "your answers to 1a are in the new notebook" in said
    assert [copy.read_bytes() for copy in backups(tmp_path)] == [before]
    assert git(mine, "rev-parse", "HEAD") == git(theirs, "rev-parse", "HEAD")


def test_a_notebook_that_the_update_leaves_alone_is_left_alone(theirs, mine, tmp_path):
    before = answer(mine)
    (theirs / "helper.txt").write_text("two\n")
    commit(theirs, "newer")
    run(mine)
    assert (mine / NAME).read_bytes() == before
    assert (mine / "helper.txt").read_text() == "two\n"
    assert backups(tmp_path) == []


def test_nothing_new(mine):
    assert "Already up to date." in run(mine)


def test_a_second_update_carries_from_the_first(theirs, mine):
    answer(mine)
    for text in (NEWER, NEWER.replace("The end.", "The very end.")):
        build(theirs, text)
        commit(theirs, "newer")
        run(mine)
    nb = nbformat.read(mine / NAME, as_version=4)
    assert next(c for c in nb.cells if c.id == "answer-1a").source == ANSWER
    assert nb.cells[-1].source == "The very end."
    assert len(nb.cells) == 9


def test_an_unreadable_notebook_is_kept_and_replaced(theirs, mine, tmp_path):
    (mine / NAME).write_bytes(b'{"cells": [\0')
    build(theirs, NEWER)
    commit(theirs, "newer")
    assert "could not be read" in run(mine)
    assert (mine / NAME).read_bytes() == (theirs / NAME).read_bytes()
    assert [copy.read_bytes() for copy in backups(tmp_path)] == [b'{"cells": [\0']


def test_a_notebook_that_the_course_dropped_stays(theirs, mine):
    before = answer(mine)
    (theirs / NAME).unlink()
    commit(theirs, "dropped")
    assert "no longer has this notebook" in run(mine)
    assert (mine / NAME).read_bytes() == before


def refused(root, says):
    """The update refuses with this sentence, and nothing in the folder has changed."""
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file() and ".git/" not in f"{p}"}
    with pytest.raises(CourseError, match=says):
        run(root)
    assert before == {p: p.read_bytes() for p in root.rglob("*") if p.is_file() and ".git/" not in f"{p}"}


def test_diverged(theirs, mine):
    answer(mine)
    commit(mine, "my own")
    build(theirs, NEWER)
    commit(theirs, "newer")
    refused(mine, "has 1 commits? that origin/main has not")


def test_another_file_changed_on_both_sides(theirs, mine):
    answer(mine)
    (mine / "helper.txt").write_text("mine\n")
    (theirs / "helper.txt").write_text("theirs\n")
    build(theirs, NEWER)
    commit(theirs, "newer")
    refused(mine, "you changed helper.txt")


def test_an_untracked_file_in_the_way(theirs, mine):
    answer(mine)
    (mine / "new.txt").write_text("mine\n")
    (theirs / "new.txt").write_text("theirs\n")
    build(theirs, NEWER)
    commit(theirs, "newer")
    refused(mine, "git could not do it")


def test_no_remote(theirs):
    refused(theirs, "no git remote")


def test_no_upstream(theirs, mine):
    git(mine, "checkout", "-qb", "own")
    refused(mine, "follows no branch")


def test_no_checkout(tmp_path):
    write_course(tmp_path / "plain")
    refused(tmp_path / "plain", "not a git checkout")


def test_somebody_elses_checkout(theirs, mine, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own switch: no second user is needed
    refused(mine, "belongs to another user")


def test_remote_gone(theirs, mine):
    theirs.rename(theirs.with_name("gone"))
    refused(mine, "cannot be reached")
