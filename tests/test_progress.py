import json
import multiprocessing
import os
from types import SimpleNamespace

import pytest

from dcplab import progress
from dcplab.course import catalog
from dcplab.course.model import CheckResult
from dcplab.lab import board


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(progress, "_unsaved", None)
    return tmp_path / "state"


def result(part="1c", outcome="wrong", points=0.0, lab="01_x"):
    return CheckResult(lab, part, outcome, points, 10.0, "message", 7, "cpu", {"torch": "2"}, diagnosis="1c-x")


LAB = SimpleNamespace(
    name="01_x", listed=(SimpleNamespace(id="1c", points=10.0), SimpleNamespace(id="1d", points=5.0)), points=15.0
)


def test_nothing_is_known_and_nothing_is_written_at_first(folder):
    assert progress.part("01_x", "1c") == {} and not progress.finished(LAB)
    assert not folder.exists()


def test_attempts_best_points_and_the_last_outcome(folder):
    progress.record(result())
    progress.record(result(outcome="passed", points=10.0))
    progress.record(result(outcome="unsafe"))
    known = progress.part("01_x", "1c")
    assert (known["attempts"], known["best"], known["outcome"], known["seed"], known["mode"]) == (3, 10.0, "unsafe", 7, "cpu")
    assert progress.points(LAB) == 10 and not progress.finished(LAB)
    progress.record(result("1d", "passed", 5.0))
    assert progress.finished(LAB)
    assert json.loads((folder / "progress.json").read_text())["labs"]["01_x"]["1d"]["best"] == 5.0


def test_not_attempted_is_no_attempt():
    progress.record(result(outcome="not_attempted"))
    assert progress.part("01_x", "1c").get("attempts", 0) == 0


def test_hints_go_up_and_stay_at_the_last():
    assert [progress.use_hint("01_x", "1c", None, 3) for _ in range(5)] == [1, 2, 3, 3, 3]
    assert progress.use_hint("01_x", "1d", 2, 3) == 2
    assert progress.use_hint("01_x", "1d", None, 3) == 3


def test_the_first_prediction_counts():
    progress.predict("01_x", "1c", "3", False)
    progress.predict("01_x", "1c", "4", True)
    known = progress.part("01_x", "1c")
    assert (known["prediction"]["answer"], known["last_prediction"]["answer"]) == ("3", "4")


def test_forget():
    progress.record(result())
    progress.record(result("1d"))
    progress.forget("01_x", "1c")
    assert progress.part("01_x", "1c") == {} and progress.part("01_x", "1d")
    progress.forget("01_x")
    progress.forget("never", "9z")
    assert progress.part("01_x", "1d") == {}


DAMAGES = [b"", b"\0" * 500, b'{"version": 1, "labs": {', b"[]", b'{"labs": 3}', b"\xff\xfe", b"[" * 100_000]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_moved_aside_and_the_last_good_copy_goes_on(folder, damage, capsys):
    progress.record(result(outcome="passed", points=10.0))
    (folder / "progress.json").write_bytes(damage)
    assert progress.part("01_x", "1c")["best"] == 10.0
    said = capsys.readouterr()
    assert said.out.count("\n") == 1 and "damaged" in said.out and said.err == ""
    (aside,) = folder.glob("progress-damaged-*.json")
    assert aside.read_bytes() == damage
    progress.record(result("1d", "passed", 5.0))
    assert progress.finished(LAB) and capsys.readouterr().out == ""


def test_both_copies_damaged_begin_anew(folder, capsys):
    progress.record(result())
    for name in ("progress.json", "progress.last.json"):
        (folder / name).write_text("junk")
    progress.record(result("1d"))
    assert progress.part("01_x", "1d")["attempts"] == 1 and "a new one is begun" in capsys.readouterr().out


def test_a_lost_file_comes_back_from_its_copy(folder):
    progress.record(result(outcome="passed", points=10.0))
    (folder / "progress.json").unlink()
    assert progress.part("01_x", "1c")["best"] == 10.0


@pytest.mark.parametrize("value", [None, "much", True, float("nan"), [], {}])
def test_strange_values_inside_are_taken_for_nothing(folder, value):
    folder.mkdir(parents=True)
    part = {"best": value, "attempts": value, "hints": value}
    (folder / "progress.json").write_text(json.dumps({"labs": {"01_x": {"1c": part}}}))
    assert progress.points(LAB) == 0
    progress.record(result())
    progress.use_hint("01_x", "1c", None, 3)
    assert progress.part("01_x", "1c")["attempts"] == 1
    (folder / "progress.json").write_text(json.dumps({"labs": {"01_x": value}}))
    assert progress.part("01_x", "1c") == {}


def _attempts(n):
    for _ in range(n):
        progress.record(result())


def test_two_notebooks_at_once_lose_nothing():
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=_attempts, args=(40,)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert progress.part("01_x", "1c")["attempts"] == 80


def test_a_write_that_fails_halfway_leaves_the_old_file(folder, monkeypatch):
    progress.record(result(outcome="passed", points=10.0))
    with pytest.raises(TypeError), monkeypatch.context() as patch:
        patch.setattr(progress, "_now", lambda: object())  # cannot be written as JSON
        progress.record(result())
    assert progress.part("01_x", "1c")["best"] == 10.0
    assert sorted(p.name for p in folder.iterdir()) == ["progress.json", "progress.last.json", "progress.lock"]


def test_a_folder_that_cannot_be_written_keeps_progress_for_the_session(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "file" / "state"))
    progress.record(result(outcome="passed", points=10.0))
    progress.record(result("1d", "passed", 5.0))
    assert progress.finished(LAB)
    assert capsys.readouterr().out.count("cannot be saved") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_can_still_be_read(folder):
    progress.record(result(outcome="passed", points=10.0))
    folder.chmod(0o500)
    try:
        assert progress.part("01_x", "1c")["best"] == 10.0
    finally:
        folder.chmod(0o700)


# What the labs gave before 2i, 3h and 4h: these parts, with their points of then.
BEFORE = {
    "02": {"2a": 10, "2b": 10, "2c": 15, "2d": 15, "2e": 10, "2f": 15, "2g": 10, "2h": 15},
    "03": {"3a": 20, "3b": 15, "3c": 10, "3d": 15, "3e": 20, "3f": 15, "3g": 5},
    "04": {"4a": 15, "4b": 20, "4c": 10, "4d": 15, "4e": 10, "4f": 10, "4g": 20},
}


@pytest.mark.parametrize("number", BEFORE)
def test_what_was_passed_before_a_lab_got_a_part_more_stays_passed(number, folder):
    lab = catalog.lab(number)
    (new,) = (part for part in lab.listed if part.id not in BEFORE[number])
    for part, points in BEFORE[number].items():
        progress.record(result(part, "passed", float(points), lab.name))
    assert progress.points(lab) == lab.points - new.points == 90 and not progress.finished(lab)
    for line in repr(board([lab])).splitlines()[2:]:
        assert ("✓" in line) == (line.split()[0] != new.id), line
    progress.record(result(new.id, "passed", float(new.points), lab.name))
    assert progress.finished(lab)
