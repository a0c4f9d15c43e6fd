import json
import multiprocessing
import os
from types import SimpleNamespace

import pytest

from dcplab import state
from dcplab.check.model import CheckResult


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(state, "_unsaved", None)
    return tmp_path / "state"


def result(part="1c", outcome="wrong", points=0.0, lab="01_x"):
    return CheckResult(lab, part, outcome, points, 10.0, "message", 7, "cpu", {"torch": "2"}, diagnosis="1c-x")


LAB = SimpleNamespace(
    name="01_x", parts=(SimpleNamespace(id="1c", points=10.0), SimpleNamespace(id="1d", points=5.0)), points=15.0
)


def test_nothing_is_known_and_nothing_is_written_at_first(folder):
    assert state.part("01_x", "1c") == {} and not state.finished(LAB)
    assert not folder.exists()


def test_attempts_best_points_and_the_last_outcome(folder):
    state.record(result())
    state.record(result(outcome="passed", points=10.0))
    state.record(result(outcome="unsafe"))
    known = state.part("01_x", "1c")
    assert (known["attempts"], known["best"], known["outcome"], known["seed"], known["mode"]) == (3, 10.0, "unsafe", 7, "cpu")
    assert state.points(LAB) == 10 and not state.finished(LAB)
    state.record(result("1d", "passed", 5.0))
    assert state.finished(LAB)
    assert json.loads((folder / "progress.json").read_text())["labs"]["01_x"]["1d"]["best"] == 5.0


def test_not_attempted_is_no_attempt():
    state.record(result(outcome="not_attempted"))
    assert state.part("01_x", "1c").get("attempts", 0) == 0


def test_hints_go_up_and_stay_at_the_last():
    assert [state.use_hint("01_x", "1c", None, 3) for _ in range(5)] == [1, 2, 3, 3, 3]
    assert state.use_hint("01_x", "1d", 2, 3) == 2
    assert state.use_hint("01_x", "1d", None, 3) == 3


def test_the_first_prediction_counts():
    state.predict("01_x", "1c", "3", False)
    state.predict("01_x", "1c", "4", True)
    known = state.part("01_x", "1c")
    assert (known["prediction"]["answer"], known["last_prediction"]["answer"]) == ("3", "4")


def test_forget():
    state.record(result())
    state.record(result("1d"))
    state.forget("01_x", "1c")
    assert state.part("01_x", "1c") == {} and state.part("01_x", "1d")
    state.forget("01_x")
    state.forget("never", "9z")
    assert state.part("01_x", "1d") == {}


DAMAGES = [b"", b"\0" * 500, b'{"version": 1, "labs": {', b"[]", b'{"labs": 3}', b"\xff\xfe", b"[" * 100_000]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_moved_aside_and_the_last_good_copy_goes_on(folder, damage, capsys):
    state.record(result(outcome="passed", points=10.0))
    (folder / "progress.json").write_bytes(damage)
    assert state.part("01_x", "1c")["best"] == 10.0
    said = capsys.readouterr()
    assert said.out.count("\n") == 1 and "damaged" in said.out and said.err == ""
    (aside,) = folder.glob("progress-damaged-*.json")
    assert aside.read_bytes() == damage
    state.record(result("1d", "passed", 5.0))
    assert state.finished(LAB) and capsys.readouterr().out == ""


def test_both_copies_damaged_begin_anew(folder, capsys):
    state.record(result())
    for name in ("progress.json", "progress.last.json"):
        (folder / name).write_text("junk")
    state.record(result("1d"))
    assert state.part("01_x", "1d")["attempts"] == 1 and "a new one is begun" in capsys.readouterr().out


def test_a_lost_file_comes_back_from_its_copy(folder):
    state.record(result(outcome="passed", points=10.0))
    (folder / "progress.json").unlink()
    assert state.part("01_x", "1c")["best"] == 10.0


@pytest.mark.parametrize("value", [None, "much", True, float("nan"), [], {}])
def test_strange_values_inside_are_taken_for_nothing(folder, value):
    folder.mkdir(parents=True)
    part = {"best": value, "attempts": value, "hints": value}
    (folder / "progress.json").write_text(json.dumps({"labs": {"01_x": {"1c": part}}}))
    assert state.points(LAB) == 0
    state.record(result())
    state.use_hint("01_x", "1c", None, 3)
    assert state.part("01_x", "1c")["attempts"] == 1
    (folder / "progress.json").write_text(json.dumps({"labs": {"01_x": value}}))
    assert state.part("01_x", "1c") == {}


def _attempts(n):
    for _ in range(n):
        state.record(result())


def test_two_notebooks_at_once_lose_nothing():
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=_attempts, args=(40,)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert state.part("01_x", "1c")["attempts"] == 80


def test_a_write_that_fails_halfway_leaves_the_old_file(folder, monkeypatch):
    state.record(result(outcome="passed", points=10.0))
    with pytest.raises(TypeError), monkeypatch.context() as patch:
        patch.setattr(state, "_now", lambda: object())  # cannot be written as JSON
        state.record(result())
    assert state.part("01_x", "1c")["best"] == 10.0
    assert sorted(p.name for p in folder.iterdir()) == ["progress.json", "progress.last.json", "progress.lock"]


def test_a_folder_that_cannot_be_written_keeps_progress_for_the_session(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "file" / "state"))
    state.record(result(outcome="passed", points=10.0))
    state.record(result("1d", "passed", 5.0))
    assert state.finished(LAB)
    assert capsys.readouterr().out.count("cannot be saved") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_can_still_be_read(folder):
    state.record(result(outcome="passed", points=10.0))
    folder.chmod(0o500)
    try:
        assert state.part("01_x", "1c")["best"] == 10.0
    finally:
        folder.chmod(0o700)
