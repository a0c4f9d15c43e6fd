"""`dcplab grade` on notebooks as they are handed in, and on some that nobody should hand in."""

import copy
import csv
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

from dcplab import cli
from dcplab.author import build, execute, notebook
from dcplab.course import catalog
from dcplab.errors import CourseError
from dcplab.grade import grader, seeds
from dcplab.grade.layout import Found

OWNER = "def owner_rank(loc, dcp_size):\n    return loc % dcp_size"
ROW = "def local_row(loc, dcp_size):\n    return loc // dcp_size"


@pytest.fixture
def starter(course):
    made = build.make(catalog.lab("01"))
    build.write(made)
    return made.learner


@pytest.fixture
def solved(starter):
    return execute.readable(build.make(catalog.lab("01")).source)


def put(folder: Path, name: str, nb) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook.to_text(nb)) if hasattr(nb, "cells") else path.write_bytes(nb)
    return path


def answered(nb, **answers):
    """A copy of a notebook with other answers: ``_1a="..."``."""
    nb = copy.deepcopy(nb)
    for cell in nb.cells:
        if cell.id.removeprefix("answer-") in (name.strip("_") for name in answers):
            cell.source = answers["_" + cell.id.removeprefix("answer-")]
    return nb


def grade(*paths, tmp_path, words=()):
    """Rows by file name, as --json gives them."""
    out = tmp_path / "rows.json"
    assert cli.main(["grade", *map(str, paths), "--json", str(out), *words]) == 0
    return {Path(row["path"]).name: row for row in json.loads(out.read_text())}


def outcomes(row):
    return {part["part"]: part["outcome"] for part in row["parts"]}


def test_one_of_each(tmp_path, starter, solved, capsys):
    folder = tmp_path / "in"
    put(folder, "right.ipynb", solved)
    put(folder, "half, renamed (2).ipynb", answered(starter, _1a=OWNER, _1b="def local_row(loc, dcp_size):\n    return 0"))
    put(folder, "untouched.ipynb", starter)
    put(folder, "truncated.ipynb", notebook.to_text(solved).encode()[:-200])
    put(folder, "nulls.ipynb", b"\0" * 100)
    put(folder, "other.ipynb", nbformat.v4.new_notebook(cells=[new_code_cell("1")]))
    rows = grade(
        folder,
        tmp_path / "gone.ipynb",
        tmp_path=tmp_path,
        words=["--csv", str(tmp_path / "g.csv"), "--feedback", str(tmp_path / "fb")],
    )
    found = {name: (row["status"], row["points"], row["max_points"]) for name, row in rows.items()}
    assert found == {
        "right.ipynb": ("graded", 100, 100),
        "half, renamed (2).ipynb": ("graded", 60, 100),
        "untouched.ipynb": ("graded", 0, 100),
        "truncated.ipynb": ("unreadable", 0, 0),
        "nulls.ipynb": ("unreadable", 0, 0),
        "other.ipynb": ("unknown_lab", 0, 0),
        "gone.ipynb": ("missing", 0, 0),
    }
    assert outcomes(rows["untouched.ipynb"]) == {"1a": "not_attempted", "1b": "not_attempted"}
    seeds = {row["seed"] for row in rows.values()}
    assert len(seeds) == 1
    said = capsys.readouterr().out
    assert f"seed {seeds.pop()}." in said
    assert len(list(csv.DictReader((tmp_path / "g.csv").open(newline="")))) == 7
    pages = {p.name for p in (tmp_path / "fb").iterdir()}
    assert len(pages) == 8
    assert "index.html" in pages


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("import os\ndef owner_rank(loc, dcp_size):\n    os._exit(0)", "crashed"),
        ("import ctypes\ndef owner_rank(loc, dcp_size):\n    return ctypes.string_at(0)", "crashed"),
        ("def owner_rank(loc, dcp_size):\n    while True:\n        pass", "timeout"),
        # bytes of zeros are taken and not written, so that the limit on memory comes before the one on time on any machine
        ("x = []\ndef owner_rank(loc, dcp_size):\n    while True:\n        x.append(bytes(10**8))", "crashed"),
        ("def owner_rank(loc, dcp_size:\n    return 1", "crashed"),
        ("raise SystemExit(0)\ndef owner_rank(loc, dcp_size):\n    return loc % dcp_size", "passed"),
        ("def owner_rank(loc, dcp_size):\n    return None", "wrong"),
        ("def owner_rank(loc, dcp_size):\n    return True", "wrong"),
        ("def owner_rank(loc, dcp_size):\n    return float(loc % dcp_size)", "wrong"),
        ("class E(int):\n    def __eq__(self, other): return True\ndef owner_rank(loc, dcp_size):\n    return E(0)", "wrong"),
        (f"{OWNER}\nlab = None", "passed"),
    ],
)
def test_an_answer_costs_its_own_part_and_no_other(tmp_path, solved, source, outcome):
    rows = grade(put(tmp_path, "a.ipynb", answered(solved, _1a=source)), tmp_path=tmp_path)
    assert outcomes(rows["a.ipynb"]) == {"1a": outcome, "1b": "passed"}
    assert rows["a.ipynb"]["points"] == (100 if outcome == "passed" else 40)


FORGED = """
import os, sys
def owner_rank(loc, dcp_size):
    frame = sys._getframe(1)
    while "job" not in frame.f_locals:
        frame = frame.f_back
    encode, key = frame.f_globals["codec"].encode, frame.f_locals["job"]["key"]
    body = encode({"case": 0, "program": 0, "returned": 1})  # a record that is none
    for fd in range(3, 64):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith("pipe"):
                os.write(fd, key + len(body).to_bytes(8, "little") + body)
        except OSError:
            pass
    os._exit(0)
"""


def test_a_checker_that_fails_over_an_answer_costs_that_part_alone(tmp_path, solved):
    rows = grade(put(tmp_path, "a.ipynb", answered(solved, _1a=FORGED)), tmp_path=tmp_path)
    assert outcomes(rows["a.ipynb"]) == {"1a": "error", "1b": "passed"} and rows["a.ipynb"]["points"] == 40
    assert "The checker failed over this answer" in rows["a.ipynb"]["parts"][0]["message"]


CHEATS = {
    "another check": "class L:\n    def check(self, part): return 60.0\nlab = L()",
    "a patched checker": "import dcplab.checking as j, dcplab.lab as l\nj.check = l.check = lambda *a, **k: 60.0",
    "patched comparison": "import torch\ntorch.equal = torch.allclose = lambda *a, **k: True",
    "showtraceback": "get_ipython().showtraceback = lambda *a, **k: None",
    "progress": "import json, os, pathlib\npathlib.Path(os.environ['DCPLAB_STATE'], 'progress.json').write_text('{}')",
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_cheats_earn_nothing(tmp_path, starter, cheat):
    nb = answered(starter, _1a=f"{cheat}\ndef owner_rank(loc, dcp_size):\n    return 0")
    nb.cells.insert(0, new_code_cell(cheat))
    rows = grade(put(tmp_path, "a.ipynb", nb), tmp_path=tmp_path)
    assert (rows["a.ipynb"]["points"], outcomes(rows["a.ipynb"])) == (0, {"1a": "wrong", "1b": "not_attempted"})


def test_metadata_and_outputs_decide_nothing(tmp_path, starter):
    nb = copy.deepcopy(starter)
    for cell in nb.cells:
        if cell.id.startswith("check-1") and cell.cell_type == "code":
            cell.metadata.nbgrader["points"] = 1000
            cell.source = "60.0"
            cell.outputs = [new_output("execute_result", data={"text/plain": "60.0"}, execution_count=1)]
    rows = grade(put(tmp_path, "a.ipynb", nb), tmp_path=tmp_path)
    assert (rows["a.ipynb"]["points"], rows["a.ipynb"]["max_points"]) == (0, 100)


def test_nothing_of_a_notebook_runs_in_the_grader(tmp_path, solved):
    mark = tmp_path / "ran"
    nb = answered(solved, _1a=f"open({str(mark)!r}, 'w')\nimport os\nPID = os.getpid()\n{OWNER}\n")
    nb.cells.insert(0, new_code_cell(f"open({str(mark)!r}, 'w').write('x')"))
    assert grade(put(tmp_path, "a.ipynb", nb), tmp_path=tmp_path)["a.ipynb"]["points"] == 100
    assert not mark.exists()


def test_cells_that_were_deleted_doubled_or_typed_anew(tmp_path, solved, starter):
    no_check = copy.deepcopy(solved)
    no_check.cells = [c for c in no_check.cells if not c.id.startswith("check-1a")]
    no_answer = copy.deepcopy(solved)
    no_answer.cells = [c for c in no_answer.cells if c.id != "answer-1a"]
    typed = copy.deepcopy(no_answer)
    typed.cells.append(new_code_cell(OWNER))
    twice = answered(starter, _1a="def owner_rank(loc, dcp_size):\n    return 0", _1b=ROW)
    again = copy.deepcopy(next(c for c in twice.cells if c.id == "answer-1a"))
    again.source = OWNER
    twice.cells.append(again)
    given = {"no_check": no_check, "no_answer": no_answer, "typed": typed, "twice": twice}
    paths = [put(tmp_path, f"{name}.ipynb", nb) for name, nb in given.items()]
    rows = grade(*paths, tmp_path=tmp_path)
    assert {name: rows[f"{name}.ipynb"]["points"] for name in given} == {
        "no_check": 100,
        "no_answer": 40,
        "typed": 100,
        "twice": 100,
    }


@pytest.mark.parametrize("where, typed", [(".", "in/ann/a.ipynb"), ("in/ann", "a.ipynb"), ("in/below", "../ann/a.ipynb")])
def test_a_file_beside_a_notebook_is_found_however_its_path_is_typed(tmp_path, solved, monkeypatch, where, typed):
    path = put(tmp_path / "in" / "ann", "a.ipynb", answered(solved, _1a="from beside_it import owner_rank"))
    (path.parent / "beside_it.py").write_text("def owner_rank(loc, dcp_size):\n    return loc % dcp_size\n")
    (tmp_path / "in" / "below").mkdir()
    monkeypatch.chdir(tmp_path / where)
    (by_whole_path,) = grade(path, tmp_path=tmp_path).values()
    (row,) = grade(typed, tmp_path=tmp_path).values()
    assert row["points"] == by_whole_path["points"] == row["max_points"] > 0


@pytest.mark.slow
def test_outputs_of_any_size_are_no_matter(tmp_path, solved):
    solved.cells[1].outputs = [new_output("stream", text="x" * 30_000_000)]
    assert grade(put(tmp_path, "a.ipynb", solved), tmp_path=tmp_path)["a.ipynb"]["points"] == 100


@pytest.mark.parametrize(
    "scratch", ["-" * 200_000 + "1", "x" + ".a" * 200_000, "(" * 500, "if", "s = '\ud800'", "a\0b", "%%bash\nrm x"]
)
def test_a_cell_that_cannot_be_read_costs_nothing(tmp_path, solved, scratch):
    solved.cells.insert(2, new_code_cell("PLACE"))
    data = notebook.to_text(solved).replace('"PLACE"', json.dumps(scratch)).encode()
    assert grade(put(tmp_path, "a.ipynb", data), tmp_path=tmp_path)["a.ipynb"]["points"] == 100


def test_students_of_an_nbgrader_tree(tmp_path, solved, starter):
    put(tmp_path, 'submitted/Li, "Ann"/01_tiny/01_tiny.ipynb', solved)
    put(tmp_path, "submitted/=1+1/01_tiny/01_tiny.ipynb", starter)
    out = tmp_path / "g.csv"
    assert cli.main(["grade", str(tmp_path / "submitted"), "--csv", str(out)]) == 0
    read = list(csv.DictReader(out.open(newline="")))
    assert {(r["student"], r["1a"], r["1b"]) for r in read} == {('Li, "Ann"', "60.0", "40.0"), ("'=1+1", "0.0", "0.0")}


def test_a_seed_given_back_gives_the_same_cases(tmp_path, solved):
    path = put(tmp_path, "a.ipynb", answered(solved, _1a="def owner_rank(loc, dcp_size):\n    return loc // dcp_size"))
    tables = [grade(path, tmp_path=tmp_path, words=["--seed", "11"])["a.ipynb"]["parts"][0] for _ in range(2)]
    assert tables[0]["table"] == tables[1]["table"]
    assert (tables[0]["seed"], tables[0]["diagnosis"]) == (11, "1a-row")


def test_resume_keeps_rows_of_unchanged_files(tmp_path, solved, starter, capsys):
    first = put(tmp_path, "in/a.ipynb", solved)
    second = put(tmp_path, "in/b.ipynb", starter)
    before = grade(tmp_path / "in", tmp_path=tmp_path)
    put(tmp_path, "in/b.ipynb", solved)
    capsys.readouterr()
    after = grade(tmp_path / "in", tmp_path=tmp_path, words=["--resume"])
    said = capsys.readouterr().out
    assert "1 of them are unchanged" in said
    assert str(second) in said
    assert str(first) not in said
    assert after["a.ipynb"] == before["a.ipynb"]
    assert (after["b.ipynb"]["points"], after["b.ipynb"]["seed"]) == (100, before["b.ipynb"]["seed"])


@pytest.mark.slow
def test_ctrl_c_keeps_the_rows_that_there_are(tmp_path, solved):
    endless = answered(solved, _1a="def owner_rank(loc, dcp_size):\n    while True:\n        pass")
    put(tmp_path, "in/a.ipynb", solved)
    for name in "bcdefgh":
        put(tmp_path, f"in/{name}.ipynb", endless)
    out = tmp_path / "rows.json"
    words = [sys.executable, "-m", "dcplab", "grade", str(tmp_path / "in"), "--json", str(out), "-j", "1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any("a.ipynb" in line for line in process.stdout), process.stderr.read()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        assert process.wait() == 130
    rows = json.loads(out.read_text())
    assert [(Path(row["path"]).name, row["points"]) for row in rows][:1] == [("a.ipynb", 100)]
    assert len(rows) < 8
    assert "with --resume goes on from there" in said


@pytest.mark.parametrize("begun", [False, True])
def test_ctrl_c_while_a_row_is_about_to_be_saved_keeps_it(tmp_path, solved, monkeypatch, begun):
    start = threading.Thread.start

    def interrupted(thread):
        if isinstance(thread, threading.Timer):
            if begun:
                start(thread)
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    out = tmp_path / "rows.json"
    assert cli.main(["grade", str(put(tmp_path, "a.ipynb", solved)), "--json", str(out)]) == 130
    assert [row["points"] for row in json.loads(out.read_text())] == [100]


def test_json_on_stdout_is_nothing_but_json(tmp_path, solved, capsys):
    path = put(tmp_path, "a.ipynb", solved)
    assert cli.main(["grade", str(path), "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"path", "status", "points", "max_points", "parts"} <= rows[0].keys()
    keys = {"lab", "part", "outcome", "points", "max_points", "diagnosis", "message", "case", "seed", "mode", "versions"}
    assert keys <= rows[0]["parts"][0].keys()


def test_what_cannot_run_says_why(tmp_path, solved, capsys):
    path = put(tmp_path, "a.ipynb", solved)
    (tmp_path / "broken.json").write_text("[1")
    for words, says in [
        (["-j", "-1"], "-j -1 is no number"),
        (["--resume"], "--resume needs --json"),
        (["--json", str(tmp_path)], "is a folder"),
        (["--csv", os.devnull + "/x"], "cannot be written"),
        (["--feedback", str(path)], "cannot be written"),
        (["--resume", "--json", str(tmp_path / "broken.json")], "is not a list of rows"),
    ]:
        assert cli.main(["grade", str(path), *words]) == 2
        assert says in capsys.readouterr().err


def test_a_course_that_changes_while_it_grades_changes_no_grade(course, solved, tmp_path):
    """A driver is sent to the child as text: it is what was loaded, not what the file has in those lines by now."""
    parts = [course / "solutions" / "01_tiny" / "parts" / name for name in ("1a.py", "1b.py")]
    for part in parts:
        given = part.read_text().replace("timeout_s=10,", "timeout_s=10, drive=through,")
        part.write_text(
            given.replace("PART = ", "def through(entry, loc, dcp_size):\n    return entry(loc, dcp_size)\n\nPART = ")
        )
    labs = catalog.labs()
    keys = grader.keys_of(labs)
    for part in parts:
        part.write_text("# A line more.\n" * 5 + part.read_text())
    path = put(tmp_path, "right.ipynb", solved)
    (_, row), *_ = grader.grade_all([Found(path)], keys, 7)
    assert [(part.part, part.outcome, part.message.partition("\n")[0]) for part in row.parts] == [
        ("1a", "passed", "Right on all 2 cases."),
        ("1b", "passed", "Right on all 2 cases."),
    ]


def test_two_with_one_seed_are_told(seeded, tmp_path, capsys):
    given = {"ann": 7_000_001, "bob": 7_000_002, "cay": 7_000_001, "dan": 36886, "eva": "True", "fay": -1, "gil": "10**5000"}
    for name, seed in given.items():
        put(
            tmp_path / "submitted",
            f"{name}/01_tiny/01_tiny.ipynb",
            answered(seeded, _1a=f"def owner_rank():\n    return {seed}"),
        )
    out, table = tmp_path / "rows.json", tmp_path / "points.csv"
    assert cli.main(["grade", str(tmp_path / "submitted"), "--json", str(out), "--csv", str(table)]) == 0
    said = capsys.readouterr().out
    shared = [line for line in said.splitlines() if line.startswith("The same cases")]
    assert shared == [
        "The same cases, of seed 36886: the solved notebook, dan.",
        "The same cases, of seed 7000001: ann, cay.",
    ]
    found = {row["student"]: row["parts"][0] for row in json.loads(out.read_text())}
    assert {name: part["case_seed"] for name, part in found.items()} == given | dict.fromkeys(("eva", "fay", "gil"))
    assert "about the cases of seed 7000002, " in found["bob"]["message"]
    assert {part["outcome"] for part in found.values()} == {"passed"}
    read = {line["student"]: line for line in csv.DictReader(table.open(newline=""))}
    assert (read["cay"]["case_seed"], read["cay"]["same_cases_as"]) == ("7000001", "ann")
    assert (read["bob"]["case_seed"], read["bob"]["same_cases_as"], read["gil"]["case_seed"]) == ("7000002", "", "")


def test_a_seed_that_is_bound_to_its_learner_makes_a_copied_answer_wrong(seeded, tmp_path, capsys):
    def hand_in(name, answer):
        path = f"{name}/01_tiny/01_tiny.ipynb"
        put(tmp_path / "submitted", path, answered(seeded, _1a=f"def owner_rank():\n    {answer}"))

    key, table, out = tmp_path / "key", tmp_path / "seeds.csv", tmp_path / "rows.json"
    key.write_text("a key that is long enough\n")
    assert cli.main(["workshop", "seeds", str(key), "ann", "bob", "cay"]) == 0
    table.write_text(capsys.readouterr().out)
    own = {line["student"]: int(line["seed"]) for line in csv.DictReader(table.open(newline=""))}
    assert own["ann"] == seeds.made_of(b"a key that is long enough", "ann") and len(set(own.values())) == 3
    hand_in("ann", f"return {own['ann']}")
    hand_in("bob", f"return {own['ann']}  # copied")
    hand_in("cay", f"CALLS.append(1)\n    return {own['cay']} if len(CALLS) == 1 else {own['ann']}\nCALLS = []")
    hand_in("dan", "return 7000001")  # in no table

    def points(*options):
        if "--resume" not in options:
            out.unlink(missing_ok=True)  # or it would keep the rows of a folder of another name
        assert cli.main(["grade", str(tmp_path / "submitted"), "--seed", "1", "--json", str(out), *options]) == 0
        return {row["student"]: (row["parts"][0]["outcome"], row["parts"][0]["points"]) for row in json.loads(out.read_text())}

    right, wrong = ("passed", 60.0), ("wrong", 0.0)
    by_table = points("--seeds", str(table))
    assert by_table == {"ann": right, "bob": wrong, "cay": wrong, "dan": right}
    rows = {row["student"]: row for row in json.loads(out.read_text())}
    assert f"your own cases are those of seed {own['bob']}" in " ".join(rows["bob"]["parts"][0]["message"].split())
    assert "No seed is bound to its student" in rows["dan"]["message"] and rows["bob"]["own_seed"] == own["bob"]
    assert (tmp_path / "submitted/ann").rename(tmp_path / "submitted/ann ") and points("--seeds", str(table)) == {
        "ann ": right,
        "bob": wrong,
        "cay": wrong,
        "dan": right,
    }
    (tmp_path / "submitted/ann ").rename(tmp_path / "submitted/ann")
    assert points("--seeds", str(table)) == by_table
    assert points("--seed-key", str(key), "--resume") == {**by_table, "dan": wrong}  # dan's row is judged anew
    assert points() == {"ann": right, "bob": right, "cay": wrong, "dan": right}, "cay names another seed from case to case"


@pytest.mark.parametrize(
    "text, says",
    [
        ("name,seed\nann,1\n", "the columns student and seed"),
        ("student,seed\nann,x\n", "a whole number"),
        ("student,seed\nann,1\nann,2\n", "twice"),
        ("student,seed\nann,-1\n", "not in 0"),
    ],
)
def test_a_table_of_seeds_that_says_nothing_is_refused(tmp_path, text, says):
    (tmp_path / "seeds.csv").write_text(text)
    with pytest.raises(CourseError, match=says):
        seeds.bound(tmp_path / "seeds.csv")


def test_a_short_key_is_refused(tmp_path):
    (tmp_path / "key").write_text("secret\n")
    with pytest.raises(CourseError, match="has 6 bytes"):
        seeds.bound(key=tmp_path / "key")


def test_a_learner_who_was_given_a_seed_has_its_cases(monkeypatch, tmp_path):
    from dcplab import investigate

    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path))
    drawn = investigate.seed()
    monkeypatch.setenv("DCPLAB_SEED", "7000001")
    assert investigate.seed() == 7_000_001
    monkeypatch.delenv("DCPLAB_SEED")
    assert investigate.seed() == drawn != 7_000_001


def test_a_lab_handed_in_under_another_s_name_is_said(tmp_path, solved):
    place = put(tmp_path, "submitted/cat/92_other/92_other.ipynb", solved)
    keys = {**grader.keys_of(catalog.labs()), "92_other": ()}
    ((_, row),) = grader.grade_all([Found(place)], keys, seed=1)
    assert row.status == "graded" and "was handed in as 92_other" in row.message


def test_a_file_that_changes_while_the_run_goes_on_is_named(tmp_path, solved):
    first, second = put(tmp_path, "ann.ipynb", solved), put(tmp_path, "zoe.ipynb", solved)

    def change(path):
        second.write_text("{}")

    rows = {
        row.path: row
        for _, row in grader.grade_all([Found(first), Found(second)], grader.keys_of(catalog.labs()), 1, started=change)
    }
    one, other = rows[str(first)], rows[str(second)]
    assert one.points == other.points > 0, "what was handed in counts, whatever became of it"
    assert not one.message and grader.CHANGED in other.message


def test_it_does_not_grade_with_walls_opened_for_a_diagnosis(tmp_path, solved, monkeypatch, capsys):
    monkeypatch.setenv("DCPLAB_SANDBOX", "no-landlock")
    assert cli.main(["grade", str(put(tmp_path, "ann.ipynb", solved))]) == 2
    assert "opens the walls around answers" in capsys.readouterr().err
