"""Whose notebooks these are, in the layouts that people have, and what a roster says of who is missing."""

import csv
import io
import json
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path, PurePath

import pytest

from dcplab import cli
from dcplab.errors import CourseError
from dcplab.grade import layout, marks, results, roster, zips

LABS = {"01_tiny", "02_other"}


def made(folder: Path, *names: str, text: str = "{}") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("ann/01_tiny.ipynb", "ann"),
        ("ann/labs/01_tiny/01_tiny.ipynb", "ann"),
        ("ann/course/labs/01_tiny/01_tiny.ipynb", "ann"),  # a hub's home
        ("01_tiny/01_tiny.ipynb", None),  # a checkout's labs
        ("labs/01_tiny/01_tiny.ipynb", None),
        ("half, renamed (2).ipynb", None),
        ("Doe Jane_12345_assignsubmission_file_/01_tiny.ipynb", "Doe Jane"),  # Moodle
        ("mal/Doe Jane_1_assignsubmission_file_/x.ipynb", "mal"),  # nobody hands in as another by names of their own
        ("mal/submitted/ann/01_tiny/x.ipynb", "mal"),
        ("mal.zip/caylee_1_2_x.ipynb", "mal"),
        ("submitted/ann/01_tiny/x.ipynb", "ann"),
        ("b\u00f6bm\u00fcller_8812_99121_x.ipynb", "b\u00f6bm\u00fcller"),
        ("de_la_cruzana_LATE_8812_99121_x.ipynb", "de_la_cruzana"),
        ("doejane_LATE_8812_99121_01_tiny.ipynb", "doejane"),  # Canvas
        ("doejane_8812_99121_01_tiny-1.ipynb", "doejane"),
        ("doejane_8812_99121_mine.zip/01_tiny.ipynb", "doejane"),
        ("ann.zip/01_tiny/01_tiny.ipynb", "ann"),
    ],
)
def test_a_student_by_the_layout(path, student):
    assert layout.student_of(PurePath("/class", path), Path("/class"), LABS)[0] == student


def test_one_students_folder_alone_is_known_by_its_form_or_by_the_roster(tmp_path):
    moodle = Path("/class/Doe Jane_12345_assignsubmission_file_")
    assert layout.student_of(moodle / "x.ipynb", moodle, LABS) == ("Doe Jane", "Doe Jane")
    dated = Path("/class_2026_11_30_evening")  # no student of Canvas'
    assert layout.student_of(dated / "ann/x.ipynb", dated, LABS) == ("ann", "ann")
    assert layout.student_of(Path("/class/ann_2026_11_30/x.ipynb"), Path("/class"), LABS)[0] == "ann_2026_11_30"
    known = read(tmp_path, MOODLE)
    assert layout.student_of(moodle / "x.ipynb", moodle, LABS, known.who) == ("u1", "Doe Jane")
    assert layout.student_of(Path("/class/ann/x.ipynb"), Path("/class/ann"), LABS) == (None, None)
    assert layout.student_of(Path("/class/jdoe/x.ipynb"), Path("/class/jdoe"), LABS, known.who) == ("u1", "jdoe")
    assert layout.student_of(Path("/class/mal/jdoe/x.ipynb"), Path("/class"), LABS, known.who) == ("mal", "mal")


def test_what_a_checkout_holds_besides_its_labs_is_nobodys_work(tmp_path):
    names = ("labs/01_tiny/01_tiny.ipynb", "solutions/01_tiny/01_tiny.ipynb", "docs/x.ipynb", ".dcplab/backups/y.ipynb")
    made(tmp_path / "ann/course", *names, "course")
    made(tmp_path / "ann", ".cache/uv/z.ipynb", "__MACOSX/._x.ipynb")
    found = layout.find([tmp_path], LABS)
    assert [(one.path.relative_to(tmp_path).as_posix(), one.student) for one in found] == [
        ("ann/course/labs/01_tiny/01_tiny.ipynb", "ann")
    ]


def test_what_should_hold_a_notebook_and_does_not_has_a_row(tmp_path):
    made(tmp_path, "ann/01_tiny/01_tiny.ipynb", "ann/02_other/notes.txt", "bob/homework.html", "cay/homework.ipynb.txt")
    made(tmp_path, "eve/.ipynb_checkpoints/homework.ipynb", "flo/__MACOSX/._homework.ipynb")
    (tmp_path / "dan").mkdir()
    found = {one.student: one for one in layout.find([tmp_path], LABS) if one.path.name != "01_tiny.ipynb"}
    assert {student: (one.path.name, one.status) for student, one in found.items()} == {
        "ann": ("02_other", "no_notebooks"),
        "bob": ("bob", "no_notebooks"),
        "cay": ("homework.ipynb.txt", ""),
        "dan": ("dan", "no_notebooks"),
        "eve": ("eve", "no_notebooks"),
        "flo": ("flo", "no_notebooks"),
    }
    assert found["ann"].note == "This folder holds no notebook, but notes.txt."
    assert found["dan"].note == "This folder holds nothing."
    assert found["cay"].note == "Its name is not a notebook's; it was taken for one."


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return path


def test_a_zip_is_a_folder_and_its_names_become_no_paths(tmp_path):
    outside, held = tmp_path / "outside.ipynb", tmp_path / "held"
    held.mkdir()
    names = [
        "ann/01_tiny.ipynb",
        "b\u00f6b/x.ipynb",
        "dan/hw.zip",
        "../outside.ipynb",
        "/bob/x.ipynb",
        "__MACOSX/ann/._01_tiny.ipynb",
        "cay\\y.ipynb",
        "z.txt",
    ]
    packed = zipped(tmp_path / "class.zip", {name: name.encode() for name in names})
    found = layout.find([packed], LABS, zips.unpacker(held))
    assert [(one.name, one.student) for one in found] == [
        (f"{packed}/ann/01_tiny.ipynb", "ann"),
        (f"{packed}/b\u00f6b/x.ipynb", "b\u00f6b"),
        (f"{packed}/dan/hw.zip", "dan"),
        (f"{packed}/bob/x.ipynb", "bob"),
        (f"{packed}/cay/y.ipynb", "cay"),
    ]
    assert [one.path.read_bytes() for one in found if not one.status] == [names[i].encode() for i in (0, 1, 4, 6)]
    assert [(one.student, one.note) for one in found if one.status] == [("dan", zips.INSIDE)]
    assert all(one.path.is_relative_to(held) for one in found) and not outside.exists()


def test_a_zip_that_promises_little_and_holds_much(tmp_path, monkeypatch):
    monkeypatch.setattr(zips.resource, "setrlimit", lambda *limit: None)  # it runs here and not in a process of its own
    monkeypatch.setattr(zips, "UNPACKED_BYTES", 5_000_000)
    monkeypatch.setattr(zips, "MEMBERS", 3)
    big = zipped(tmp_path / "big.zip", {f"{name}.ipynb": b"0" * 4_000_000 for name in "abcd"})
    (tmp_path / "held").mkdir()
    done = zips.contents(str(big), str(tmp_path / "held"))
    assert sum(Path(member["file"]).stat().st_size for member in done["members"]) == 5_000_000
    assert done["says"]["status"] == "too_big"


@pytest.mark.parametrize(
    ("data", "status"), [(b"PK nonsense", "unreadable"), (None, "no_notebooks")], ids=["damaged", "without a notebook"]
)
def test_a_zip_of_nothing_has_a_row(tmp_path, data, status):
    packed = tmp_path / "x.zip"
    zipped(packed, {"notes.txt": b"x"}) if data is None else packed.write_bytes(data)
    (tmp_path / "held").mkdir()
    (one,) = layout.find([packed], LABS, zips.unpacker(tmp_path / "held"))
    assert one.status == status and one.note


def read(tmp_path, text: str) -> roster.Roster:
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
    return roster.read(tmp_path / "roster.csv")


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n"
    "    Points Possible,,,,\n"
    '"Doe, Jane",8812,u1,jdoe@example.org,A\n'
    '"Li, Ann",8813,u2,ali@example.org,A\n'
)
MOODLE = "First name,Last name,ID number,Email address\nJane,Doe,u1,jdoe@example.org\nAnn,Li,u2,ali@example.org\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (CANVAS, {"doejane": "jdoe@example.org", "jdoe": "jdoe@example.org", "8813": "ali@example.org", "A": None}),
        (MOODLE, {"Doe Jane": "u1", "Jane Doe": "u1", "ali": "u2", "bob": None}),
        ("student\nann\nZoe\u0308\n", {"ann": "ann", "zo\u00eb": "Zoe\u0308"}),
        ("name;username\nAnn;ann1\nAnn;ann2\n", {"ann": None, "ann2": "ann2"}),
    ],
)
def test_a_roster_knows_a_student_by_each_name_that_is_theirs_alone(tmp_path, text, names):
    known = read(tmp_path, text)
    assert {name: known.who([name]) for name in names} == names


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("student\n", "a line a student"),
        ("student,x\nann,1\nann,2\n", "twice"),
        ("student,x\n,1\n", "has nothing in the column student"),
        ("a,a\n1,2\n", "two columns"),
    ],
)
def test_a_roster_that_is_none_is_refused(tmp_path, text, says):
    with pytest.raises(CourseError, match=says):
        read(tmp_path, text)


def row(student, lab, points, path=None, status="graded"):
    path = path or f"{student}/{lab}.ipynb"
    return dict(
        student=student, lab=lab, points=points, path=path, status=status, max_points=100.0, parts=[], message="", digest=""
    )


def test_of_several_notebooks_of_a_student_the_best_counts():
    again, broken = row("ann", "01", 90.0, "ann/again.ipynb"), row("ann", "01", 0.0, "b", "unreadable")
    found = marks.counted([row("ann", "01", 40.0), again, broken, row(None, "01", 5.0)])
    assert [(one["counts"], one["instead"]) for one in found] == [
        (False, "ann/again.ipynb"),
        (True, ""),
        (False, "ann/again.ipynb"),
        (True, ""),
    ]


def marked(tmp_path, text: str, of: dict[str, float]):
    """The marks of a class of whom one handed in 01 and a broken 02, and one nothing; eve is on no roster."""
    known = read(tmp_path, text)
    rows = [row(known.ids[0], "01", 90.0), row("eve", "01", 10.0), row(known.ids[0], "02", 0.0, status="unreadable")]
    whole = marks.counted([*rows, *marks.expected(rows, known, {})])
    return [*csv.reader(io.StringIO(marks.to_csv(whole, of, known)))]


def test_a_narrower_call_keeps_the_rows_of_who_handed_in_nothing_until_they_do(tmp_path):
    known = read(tmp_path, MOODLE)
    first = [row("u1", "01", 90.0) | {"seed": 1}]
    file = tmp_path / "rows.json"
    results.save(file, {}, [*first, *marks.expected(first, known, WORTH)])
    assert [(one["student"], one["lab"]) for one in json.loads(file.read_text())][1:] == [
        ("u1", "02"), ("u1", "03"), ("u2", "01"), ("u2", "02"), ("u2", "03"),
    ]  # fmt: skip
    found = results.together(results.load(file), [row("u2", "01", 10.0)])
    assert len(found) == 6 and [one["path"] != "" for one in found] == [True, *[False] * 4, True]


WORTH = {"01": 100.0, "02": 50.0, "03": 70.0}


def test_marks_keep_the_rosters_columns_and_name_what_is_missing(tmp_path):
    """Moodle's importer matches one column of a user, and reads those that one maps to grade items: none must be text."""
    head, *lines = marked(tmp_path, MOODLE, WORTH)
    assert head == ["First name", "Last name", "ID number", "Email address", "01", "02", "total", "of", "missing"]
    assert lines == [
        ["Jane", "Doe", "u1", "jdoe@example.org", "90.0", "", "90.0", "150.0", "02 (unreadable)"],
        ["Ann", "Li", "u2", "ali@example.org", "", "", "0", "150.0", "01 02"],
        ["eve", "", "", "", "10.0", "", "10.0", "150.0", "02"],
    ]


@pytest.mark.parametrize(
    ("more", "title"), [("", "01"), (",01 (4711)", "01 (4711)"), (",01x (5),Final Score", "01"), (",homework (12)", "01")]
)
def test_marks_for_canvas_are_what_its_importer_reads(tmp_path, more, title):
    """Whatever follows `Section` is an assignment to Canvas, by its id or its title, or a new one; `total` would be one."""
    text = "\n".join(line + (more if n == 0 else "," * more.count(",")) for n, line in enumerate(CANVAS.splitlines())) + "\n"
    assert marked(tmp_path, text, WORTH) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title, "02"],
        ["Points Possible", "", "", "", "", "100.0", "50.0"],
        ["Doe, Jane", "8812", "u1", "jdoe@example.org", "A", "90.0", ""],
        ["Li, Ann", "8813", "u2", "ali@example.org", "A", "", ""],
    ]


def test_a_table_that_only_looks_like_canvas_has_all_columns(tmp_path):
    text = "Student,Section,ID\nann,A,1\nbob,A,2\n"
    assert marked(tmp_path, text, WORTH)[0] == ["Student", "Section", "ID", "01", "02", "total", "of", "missing"]


@pytest.mark.slow
def test_a_class_with_its_roster_from_a_zip_to_marks(course, solved, tmp_path, capsys):
    from dcplab.author import notebook

    text = notebook.to_text(solved)
    made(tmp_path / "class", "ann/01_tiny.ipynb", "ann/old/01_tiny.ipynb", text=text)
    (tmp_path / "class/ann/old/01_tiny.ipynb").write_text(text.replace("return loc % dcp_size", "return 0"))
    zipped(tmp_path / "class/bob.zip", {"x.ipynb": text.encode()})
    (tmp_path / "roster.csv").write_text("student,name\nann,Ann Li\nbob,Bob\ncay,Cay\n")
    out = {name: tmp_path / name for name in ("rows.json", "points.csv", "marks.csv", "junit.xml", "pages")}
    words = ["--roster", str(tmp_path / "roster.csv"), "--json", str(out["rows.json"]), "--csv", str(out["points.csv"])]
    words += ["--marks", str(out["marks.csv"]), "--junit", str(out["junit.xml"]), "--feedback", str(out["pages"])]
    assert cli.main(["grade", str(tmp_path / "class"), "--seed", "1", *words]) == 0
    said = capsys.readouterr().out
    assert "1 expected notebook was not handed in; each has a row." in said
    assert "ann/old/01_tiny.ipynb does not count: " in said

    rows = json.loads(out["rows.json"].read_text())
    assert {(one["student"], one["status"], one["points"], one["counts"]) for one in rows} == {
        ("ann", "graded", 100, True),
        ("ann", "graded", 40, False),
        ("bob", "graded", 100, True),
        ("cay", "missing", 0, True),
    }
    assert out["marks.csv"].read_bytes().startswith(b"\xef\xbb\xbf")
    lines = {line["student"]: line for line in csv.DictReader(out["marks.csv"].open(newline="", encoding="utf-8-sig"))}
    assert {name: (line["name"], line["01_tiny"], line["missing"]) for name, line in lines.items()} == {
        "ann": ("Ann Li", "100.0", ""),
        "bob": ("Bob", "100.0", ""),
        "cay": ("Cay", "", "01_tiny"),
    }
    suites = {suite.get("name"): suite for suite in ET.parse(out["junit.xml"]).getroot()}
    assert suites["cay 01_tiny"].get("errors") == "1" and suites["bob 01_tiny"].get("failures") == "0"
    index = (out["pages"] / "index.html").read_text()
    assert "01_tiny: 2 graded, 100 to 100 points, median 100" in index and "does not count" in index

    # A narrower call loses nothing, and neither does one with the path spelled otherwise.
    assert cli.main(["grade", str(tmp_path / "class/../class/ann"), "--seed", "1", *words, "--resume"]) == 0
    assert "2 of them are unchanged" in capsys.readouterr().out
    again = json.loads(out["rows.json"].read_text())
    assert {(one["student"], one["points"], one["counts"]) for one in again} == {
        (one["student"], one["points"], one["counts"]) for one in rows
    }


def test_a_call_on_one_students_folder_makes_nobody_of_its_names(course, tmp_path):
    """`ann` hands in a folder `bob`. Whoever grades her folder again, with the same rows, grades ann, by her seed."""
    from dcplab.author import build, notebook
    from dcplab.course import catalog
    from dcplab.grade.seeds import made_of

    untouched = notebook.to_text(build.make(catalog.lab("01")).learner)  # of which nothing is run
    made(tmp_path / "class", "ann/bob/01_tiny.ipynb", "cay/01_tiny.ipynb", text=untouched)
    (tmp_path / "key").write_text("k" * 32)
    (tmp_path / "roster.csv").write_text("id,username,name\n7,ann,Ann Li\n8,bob,Bob\n9,cay,Cay\n")

    def graded(folder, name, *words):
        words = ["--json", str(tmp_path / name), "--seed-key", str(tmp_path / "key"), "--seed", "1", *words]
        assert cli.main(["grade", str(tmp_path / folder), *words]) == 0
        rows = json.loads((tmp_path / name).read_text())
        return [(row["student"], row["own_seed"]) for row in rows if row["path"]]

    ann, bob, cay = [(name, made_of(b"k" * 32, name)) for name in ("ann", "bob", "cay")]
    assert sorted(graded("class", "rows.json")) == [ann, cay]
    for words in ((), ("--resume",), ()):
        assert sorted(graded("class/ann", "rows.json", *words)) == [ann, cay], "a narrower call, and again"
        assert sorted(graded("class/cay", "rows.json", *words)) == [ann, cay]
        assert sorted(graded("class/ann/bob/01_tiny.ipynb", "rows.json", *words)) == [ann, cay]
    assert graded("class/ann", "other.json") == [bob], "nobody has said that it is ann's"
    assert sorted(graded("class", "other.json")) == [ann, cay], "a wider call knows"
    roster = ("--roster", str(tmp_path / "roster.csv"))
    assert {name for name, _ in graded("class/ann", "rows.json", *roster)} <= {"ann", "cay"}
