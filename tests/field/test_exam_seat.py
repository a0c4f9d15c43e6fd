"""Lab 08's seat: what its notebook calls, what a board and a table of marks get of it."""

import json

import pytest

from dcplab import exam, lab, paths, progress
from dcplab.course import catalog
from dcplab.errors import CourseError
from dcplab.exam import in_class, marking, results, sittings, taking, tickets
from dcplab.exam.marking import Mark

DIAGNOSIS = {"file": "quay/layout.py", "line": 16, "index": "positions", "was": "position", "expected": "rank"}
LINE = "    return positions % cfg.cp_size"
MENDED = "    return positions // cfg.cp_interleave % cfg.cp_size"


@pytest.fixture
def seat(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("DCPLAB_CASES", str(tmp_path / "cases"))
    return tmp_path / "cases"


def test_the_parts_are_worth_what_the_marks_give():
    found = catalog.lab("08")
    assert [part.id for part in found.examined] == results.part_ids()
    assert [part.points for part in found.examined] == [*marking.POINTS.values()] * 2
    assert sum(part.minutes for part in found.examined) == sittings.MINUTES
    assert found.points == 100 and found.name == results.LAB and found not in catalog.checked()


def test_a_part_of_it_is_not_checked_and_says_how_it_is_marked():
    with pytest.raises(CourseError, match="handed in and marked, not checked"):
        lab.check("8a")
    assert "with either" in lab.predict("8a").text


@pytest.mark.slow
def test_a_case_is_solved_with_the_notebooks_words_and_found_again(seat):
    def no_answer():
        raise NotImplementedError

    case = exam.guided()
    assert (
        not case.complete()
        and "still ends in" in case.diagnose(no_answer).text
        and "still ends in" in case.patch(no_answer).text
    )
    assert "0 of" not in case.reproduce().text and "\n0 of" in f"\n{case.reproduce(cp_interleave=1).text}"
    assert "quay/layout.py:21" in case.find("cp_interleave * cfg.cp_size").text
    assert case.read("quay/layout.py", 16, 16).text == f"  16  {LINE}"
    assert "no space" in case.diagnose(DIAGNOSIS | {"was": "nonsense"}).text
    assert "line = 16" in case.diagnose(lambda: DIAGNOSIS).text
    with pytest.raises(CourseError, match="0 times"):
        case.patch(("quay/layout.py", "nothing of this", "nor of this"))
    assert f"+{MENDED}" in case.patch(("quay/layout.py", LINE, MENDED)).text
    assert case.patch(("quay/layout.py", LINE, MENDED)).text == case.changes().text, "a cell may run twice"

    def test_owner():
        import torch
        from quay import config, layout

        cfg = config.QuayConfig(cp_size=2, cp_interleave=2)
        assert layout.owner_of(torch.arange(4), cfg).tolist() == [0, 0, 1, 1]

    said = case.test(test_owner).text.splitlines()
    assert "1 failed" in said[0] and "1 passed" in said[1]
    assert case.complete() and exam.guided().complete(), "another kernel finds it"
    assert "Not handed in" in case.hand_in().text and "0 of 3" in case.status().text
    said = case.hand_in(sure=True).text
    assert "(a)  diagnosis        right" in said and "it holds" in said and "not on all of its kind" in said
    assert "handed in already" in case.hand_in(sure=True).text, "a cell that runs twice hands in once"
    assert progress.read()["labs"] == {}, "it counts for nothing"


@pytest.mark.slow
def test_an_examination_begins_once_and_enters_the_board_when_a_case_is_closed(seat):
    assert "Not begun" in repr(exam.examination()) and not seat.exists()
    sitting = exam.examination(begin=True)
    begun = (seat / "examination" / tickets.FILE).read_text()
    assert "89 minutes left" in repr(exam.examination(begin=True)) and "<table" in sitting._repr_html_()
    assert (seat / "examination" / tickets.FILE).read_text() == begun
    assert sitting.case(2).number == 2
    with pytest.raises(CourseError, match="has 1 and 2"):
        sitting.case(3)
    ticket, board = tickets.read(seat / "examination"), lambda: progress.points(catalog.lab("08"))
    sittings.next_hint(ticket, 0, 3)
    marks = [Mark("a", 16, "failed", ""), Mark("b", 18, "passed", ""), Mark("c", 6, "failed", "")]
    for number in range(sittings.HAND_INS):
        assert board() == 0, "points would tell which field is right"
        sittings.count(ticket, 0, f"{number}")
        sittings.note(ticket, 0, f"{number}", marks)
        results.on_the_board(ticket)
    assert board() == 16 + 18 + 6 - sittings.HINT_POINTS == sittings.points(ticket, sittings.find(ticket), 0)
    assert progress.part(results.LAB, "8a")["best"] == 13 and progress.part(results.LAB, "8d") == {}
    assert "8b    The patch, case 1" in lab.progress().text


@pytest.mark.parametrize(("hints", "points"), [(0, [2, 18, 6]), (1, [0, 17, 6]), (3, [0, 11, 6])])
def test_hints_are_taken_off_the_parts_of_their_case(hints, points):
    marks = [Mark("a", 2, "failed", ""), Mark("b", 18, "passed", ""), Mark("c", 6, "failed", "")]
    made = results.of_case(7, 1, marks, hints)
    assert [part.points for part in made] == points
    assert [(part.part, part.outcome) for part in made] == [("8d", "wrong"), ("8e", "passed"), ("8f", "wrong")]


@pytest.mark.slow
def test_a_class_has_lab_08_beside_its_notebooks(seat, tmp_path, capsys):
    from dcplab.cli import main

    key, room, rows = tmp_path / "KEY", tmp_path / "class", tmp_path / "rows.json"
    key.write_text("k" * 40)
    notebook = (paths.labs() / results.LAB / f"{results.LAB}.ipynb").read_bytes()
    for name in ("ann", "bob"):
        (room / name / results.LAB).mkdir(parents=True)
        (room / name / results.LAB / f"{results.LAB}.ipynb").write_bytes(notebook)
    cases = room / "ann" / results.LAB / "cases"
    taking.start(cases / "examination", "examination", 3, key)
    taking.start(cases / "practice_1", "practice", 1, key)
    assert list(in_class.folders(room)) == [cases / "examination"], "practice is none"
    words = ["grade", str(room), "--exam-key", str(key), "--json", str(rows), "--marks", str(tmp_path / "marks.csv")]
    for more in ([], ["--resume"]):
        assert main([*words, *more]) == 0
        found = {row["student"]: row for row in json.loads(rows.read_text())}
        assert (found["ann"]["status"], found["ann"]["lab"], found["ann"]["max_points"]) == ("graded", results.LAB, 100)
        assert [part["part"] for part in found["ann"]["parts"]] == results.part_ids()
        assert (found["bob"]["status"], found["bob"]["lab"]) == ("missing", results.LAB) and len(found) == 2
    assert (tmp_path / "marks.csv").read_text("utf-8-sig").splitlines()[0] == "student,08_field,total,of,missing"
