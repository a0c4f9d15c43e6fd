"""Notebooks gathered from homes, some of whose owners would like to hand in, or to see, what is not theirs."""

import os
import stat

import pytest

from dcplab import cli
from dcplab.errors import CourseError
from dcplab.grade import collect, layout

LAB = "01_tiny"


@pytest.fixture
def homes(tmp_path):
    for student in ("ann", "bob"):
        write(tmp_path / "home" / student, "course/labs", student)
    return tmp_path / "home"


def write(home, place, text):
    folder = home / place / LAB
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_text(text)
    return folder / f"{LAB}.ipynb"


def taken(homes, target, *only):
    return {one.student: one.how for one in collect.collect(homes, target, {LAB}, only)}


def test_each_learners_notebook_is_taken_once_and_again_when_it_changed(homes, tmp_path):
    (homes / "ann/course/solutions" / LAB).mkdir(parents=True)
    (homes / "ann/course/solutions" / LAB / f"{LAB}.ipynb").write_text("the solution")
    (homes / "dan").mkdir()
    target = tmp_path / "all"
    assert taken(homes, target) == {"ann": "new", "bob": "new", "dan": "no notebook"}
    (homes / "bob/course/labs" / LAB / f"{LAB}.ipynb").write_text("bob, later")
    assert taken(homes, target) == {"ann": "as before", "bob": "changed", "dan": "no notebook"}
    found = {one.student: one.path.read_text() for one in layout.find([target], {LAB})}
    assert found == {"ann": "ann", "bob": "bob, later"}
    assert stat.S_IMODE(target.stat().st_mode) == 0o700
    assert all(one.path.stat().st_mode & 0o077 == 0 for one in layout.find([target], {LAB}))
    assert taken(homes, target, "bob") == {"bob": "as before"}
    with pytest.raises(CourseError, match="no home of eve"):
        taken(homes, target, "eve")


def test_a_notebook_of_another_name_is_taken_too(homes, tmp_path):
    (homes / "ann/course/labs" / LAB / "mine (1).ipynb").write_text("ann's other")
    found = list(collect.collect(homes, tmp_path / "all", {LAB}, ["ann"]))
    assert [(one.lab, one.how) for one in found] == [(LAB, "new"), (f"{LAB}/mine (1).ipynb", "new")]
    assert (tmp_path / "all/submitted/ann" / LAB / "mine (1).ipynb").read_text() == "ann's other"


@pytest.mark.parametrize("at", ["file", "lab", "labs", "course"])
def test_no_link_is_followed(homes, tmp_path, at):
    home = homes / "cay"
    own = write(home, "course/labs", "cay")
    place = {"file": own, "lab": own.parent, "labs": own.parents[1], "course": own.parents[2]}[at]
    place.rename(home / "away")
    place.symlink_to(homes / "bob" / place.relative_to(home))
    assert taken(homes, tmp_path / "all")["cay"] == f"not taken: {place.name} is a link"
    assert not (tmp_path / "all/submitted/cay").exists()


def test_a_pipe_is_not_waited_for_and_a_great_file_is_left(homes, tmp_path, monkeypatch):
    path = homes / "bob/course/labs" / LAB / f"{LAB}.ipynb"
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(collect, "LIMIT_BYTES", 2)
    assert taken(homes, tmp_path / "all") == {
        "ann": "not taken: it has 3 bytes; at most 2 are taken",
        "bob": "not taken: it is no file",
    }


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file another owner")
def test_another_users_file_is_not_taken_as_ones_own(homes, tmp_path):
    """A hard link is no link to see: the file's owner tells."""
    os.chown(homes / "ann/course/labs" / LAB / f"{LAB}.ipynb", 12345, 12345)
    assert taken(homes, tmp_path / "all")["ann"] == "not taken: it belongs to another user"


def test_the_command_says_what_it_took_and_what_comes_next(course, homes, tmp_path, capsys):
    assert cli.main(["workshop", "collect", str(tmp_path / "all"), "--homes", str(homes)]) == 0
    said = capsys.readouterr().out
    assert "2 notebooks of 2 learners are in" in said and "./course grade" in said
    assert cli.main(["workshop", "collect", str(tmp_path / "all"), "--homes", str(tmp_path / "none")]) == 2
    assert "is no folder" in capsys.readouterr().err
