"""Both graders on the same notebooks: `nbgrader autograde`, from the command line in a released course, and `dcplab grade`.

Of the labs after the first, nbgrader's own interface grades in this process, whose checkers are warm.
"""

import copy
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from dcplab import cli, mode
from dcplab.author import build, execute, notebook
from dcplab.author.release import nbgrader, release
from dcplab.course import catalog
from dcplab.grade import seeds

pytestmark = pytest.mark.slow  # each nbgrader command starts a Python that imports nbgrader


def submit(course: Path, student: str, lab: str, nb) -> None:
    path = course / "submitted" / student / lab / f"{lab}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(notebook.to_text(nb))


def scores(course: Path) -> dict[str, dict[str, float]]:
    """Points by student and part, as nbgrader's gradebook has them; a part that waits for a person is None."""
    query = """
        SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score, grade.needs_manual_grade FROM grade
        JOIN base_cell ON base_cell.id = grade.cell_id
        JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
        JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
    """
    found: dict[str, dict[str, float]] = {}
    with sqlite3.connect(course / "gradebook.db") as db:
        for student, cell, score, manual in db.execute(query):
            found.setdefault(student, {})[cell.removesuffix("-check")] = None if manual else score
    return found


def autograde(course: Path, lab: str) -> None:
    """Do what `nbgrader autograde` does, with the course's configuration, for each submission."""
    config = PyFileConfigLoader("nbgrader_config.py", str(course)).load_config()
    config.CourseDirectory.root = str(course)
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    for student in sorted(path.name for path in (course / "submitted").iterdir()):
        done = api.autograde(lab, student)
        assert done["success"], done


def ours(course: Path, out: Path) -> dict[str, dict[str, float]]:
    """The same from `dcplab grade`."""
    assert cli.main(["grade", str(course / "submitted"), "--json", str(out)]) == 0
    rows = json.loads(out.read_text())
    return {row["student"]: {part["part"]: part["points"] for part in row["parts"]} for row in rows}


def put_answers(nb, answers: dict[str, str]):
    nb = copy.deepcopy(nb)
    for cell in nb.cells:
        if cell.id.startswith("answer-") and (part := cell.id.removeprefix("answer-")) in answers:
            cell.source = answers[part]
    return nb


def test_lab_01_right_half_right_untouched_and_crashing(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    lab = catalog.lab("01")
    made = build.make(lab)
    solved = execute.readable(made.source)
    answers = {c.metadata.nbgrader.grade_id: c.source for c in solved.cells if c.metadata.get("nbgrader", {}).get("solution")}
    half = dict(list(answers.items())[: len(answers) // 2])
    bad = next(w for w in lab.wrong if w.part == "1e" and w.outcome == "wrong")
    crash = {"1a": "import os\ndef owner_rank(loc, dcp_size):\n    os._exit(0)"}
    given = {
        "right": solved,
        "half": put_answers(made.learner, half | {"1e": bad.source}),
        "untouched": made.learner,
        "crashing": put_answers(solved, crash),
    }
    given["crashing"].cells.insert(3, new_code_cell("import ctypes\nctypes.string_at(0)"))
    course = tmp_path / "course"
    release(course, [lab], False, lambda line: None)
    for student, nb in given.items():
        submit(course, student, lab.name, nb)
    nbgrader(course, "autograde", lab.name)
    theirs = scores(course)
    assert theirs == ours(course, tmp_path / "rows.json")
    points = {part.id: part.points for part in lab.parts}
    assert theirs["right"] == points
    assert theirs["untouched"] == dict.fromkeys(points, 0)
    assert theirs["half"] == {part: points[part] if part in half else 0 for part in points}
    assert theirs["crashing"] == points | {"1a": 0}


@pytest.mark.parametrize("number", [lab.number for lab in catalog.checked() if lab.number != "01"])
def test_every_other_lab_solved_and_untouched(tmp_path, monkeypatch, number):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    lab = catalog.lab(number)
    made = build.make(lab)
    course = tmp_path / "course"
    release(course, [lab], False, lambda line: None)
    submit(course, "right", lab.name, execute.readable(made.source))
    submit(course, "untouched", lab.name, made.learner)
    monkeypatch.setenv("PATH", os.environ["PATH"])  # the course's configuration puts this Python's folder before it
    autograde(course, lab.name)
    theirs = scores(course)
    points = {part.id: part.points for part in lab.parts}
    unjudged = {part.id for part in lab.parts if part.not_here(mode.current().name)}
    assert {part: got for part, got in theirs["right"].items() if part not in unjudged} == {
        part: worth for part, worth in points.items() if part not in unjudged
    }
    assert theirs["untouched"] == dict.fromkeys(points, 0)
    assert theirs == ours(course, tmp_path / "rows.json")


def test_hostile_submissions_keep_the_points_that_they_earned(tiny, solved, tmp_path):
    right = {"1a": 60, "1b": 40}
    given, expected = {}, {}

    def case(name, nb, points):
        given[name], expected[name] = nb, points

    no_check = copy.deepcopy(solved)
    no_check.cells = [c for c in no_check.cells if c.id != "check-1a"]
    case("check deleted", no_check, right)
    gone = copy.deepcopy(solved)
    gone.cells = [c for c in gone.cells if c.id not in ("answer-1a", "check-1a")]
    case("answer and check deleted", gone, right | {"1a": 0})
    twice = copy.deepcopy(solved)
    twice.cells.append(copy.deepcopy(next(c for c in twice.cells if c.id == "check-1a")))
    twice.cells[-1].id = "another"
    case("check doubled", twice, right)
    forged = put_answers(solved, {"1a": "def owner_rank(loc, dcp_size):\n    return 0"})
    for cell in forged.cells:
        if cell.id == "check-1a":
            cell.source = "60.0"
            cell.metadata.nbgrader.update(points="a thousand", locked=False, grade=False, solution=True)
    case("metadata forged", forged, right | {"1a": 0})
    bare = copy.deepcopy(solved)
    for cell in bare.cells:
        cell.metadata = {}
    case("metadata gone", bare, right)
    odd = copy.deepcopy(solved)
    odd.cells[1].metadata["nbgrader"] = {"grade_id": ["x"], "schema_version": 0}
    odd.cells[0].metadata["nbgrader"] = {"grade": True, "grade_id": "bonus", "points": 99, "schema_version": 3}
    odd.metadata.kernelspec = {"name": "no-such-kernel", "display_name": "x", "language": "x"}
    case("metadata odd", odd, right)
    kernel = copy.deepcopy(solved)
    kernel.cells.insert(1, new_code_cell("import sys, os\nsys.stderr.write('x')\nos.kill(os.getpid(), 9)"))
    case("kernel killed", kernel, right)
    wrong = put_answers(solved, {"1a": "def owner_rank(loc, dcp_size):\n    return loc // dcp_size"})
    case("wrong", wrong, right | {"1a": 0})
    for name, nb in given.items():
        submit(tiny, name, "01_tiny", nb)
    nbgrader(tiny, "autograde", "01_tiny")
    assert scores(tiny) == expected
    assert ours(tiny, tmp_path / "rows.json") == expected
    nbgrader(tiny, "generate_feedback", "01_tiny", "--student", "wrong")
    page = (tiny / "feedback" / "wrong" / "01_tiny" / "01_tiny.html").read_text()
    assert "That is the row, not the owner." in page
    assert "% dcp_size" not in page
    assert "Traceback (most recent" not in page


def test_stock_nbgrader_gives_the_same_points_as_long_as_the_kernel_lives(tiny, solved, tmp_path):
    (tiny / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "dcplab"\n')
    half = put_answers(solved, {"1b": "def local_row(loc, dcp_size):\n    raise RuntimeError"})
    submit(tiny, "half", "01_tiny", half)
    submit(tiny, "right", "01_tiny", solved)
    nbgrader(tiny, "autograde", "01_tiny")
    assert scores(tiny) == {"right": {"1a": 60, "1b": 40}, "half": {"1a": 60, "1b": 0}}
    assert ours(tiny, tmp_path / "rows.json") == scores(tiny)


def test_a_seed_that_is_bound_makes_a_copied_answer_wrong_here_too(course, seeded, tmp_path, monkeypatch):
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    shutil.copytree(Path(__file__).parents[2] / "workshop", course / "workshop")
    home = tmp_path / "nbgrader"
    release(home, catalog.labs(), False, lambda line: None)
    key = tmp_path / "seed.key"
    key.write_text("a key that is long enough\n")
    own = seeds.made_of(b"a key that is long enough", "ann")
    for student in ("ann", "bob"):
        submit(home, student, "01_tiny", put_answers(seeded, {"1a": f"def owner_rank():\n    return {own}"}))
    nbgrader(home, "autograde", "01_tiny")
    assert scores(home) == {"ann": {"1a": 60, "1b": 0}, "bob": {"1a": 60, "1b": 0}}
    monkeypatch.setenv("DCPLAB_SEED_KEY", str(key))
    nbgrader(home, "autograde", "01_tiny", "--force")
    assert scores(home) == {"ann": {"1a": 60, "1b": 0}, "bob": {"1a": 0, "1b": 0}}


def test_no_command_but_autograde_waits_for_torch():
    read = "import sys\nfrom dcplab.grade import nbgrader\nprint(nbgrader.AUTOGRADE and 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", read], capture_output=True, text=True).stdout == "False\n"


def test_a_check_that_the_course_does_not_know_earns_nothing(course, solved):
    from nbgrader.utils import determine_grade

    from dcplab.grade.nbgrader import StaticGrades

    own = {"grade": True, "grade_id": "own", "points": 5, "locked": True, "solution": False, "task": False, "schema_version": 3}
    solved.cells.append(new_code_cell("assert True", metadata={"nbgrader": own}))
    nb, _ = StaticGrades().preprocess(solved, {})
    found = {c.metadata.nbgrader.grade_id: determine_grade(c) for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade")}
    assert found == {"1a-check": (60, 60), "1b-check": (40, 40), "own": (0, 5)}


def test_points_that_an_instructor_changed_are_scaled(course, solved):
    from nbgrader.utils import determine_grade

    from dcplab.grade.nbgrader import StaticGrades

    for cell in solved.cells:
        if cell.id == "check-1a":
            cell.metadata.nbgrader["points"] = 7
    nb, _ = StaticGrades().preprocess(solved, {})
    assert determine_grade(next(c for c in nb.cells if c.id == "check-1a")) == (7, 7)


def test_a_released_course_is_its_owners_alone_and_is_renewed_in_place(course, tiny, solved, capsys):
    assert stat.S_IMODE(tiny.stat().st_mode) == 0o700
    assert {p.name for p in tiny.iterdir()} == {"README.md", "gradebook.db", "nbgrader_config.py", "release", "source"}
    assert f"export PATH={Path(sys.executable).parent}:$PATH" in (tiny / "README.md").read_text()
    assert "divmod" in (tiny / "source" / "01_tiny" / "01_tiny.ipynb").read_text()
    assert "divmod" not in (tiny / "release" / "01_tiny" / "01_tiny.ipynb").read_text()
    submit(tiny, "ann", "01_tiny", solved)
    nbgrader(tiny, "autograde", "01_tiny")
    with (tiny / "nbgrader_config.py").open("a") as config:
        config.write("# my own line\n")
    assert cli.main(["release", str(tiny)]) == 2
    assert "--update renews the course in it" in capsys.readouterr().err
    assert cli.main(["release", str(tiny), "--update"]) == 0
    assert scores(tiny) == {"ann": {"1a": 60, "1b": 40}}
    assert "# my own line" in (tiny / "nbgrader_config.py").read_text()
    assert cli.main(["release", str(course / "labs" / "x")]) == 2
    assert "is inside this checkout" in capsys.readouterr().err
