"""Rows as spreadsheets and pages show them."""

import csv
import html.parser
import io

import pytest

from dcplab.course.model import CheckResult, Table
from dcplab.errors import CourseError
from dcplab.grade import feedback, rows


def part(identity, outcome="passed", points=60.0, **more):
    given = dict(lab="01_a", part=identity, outcome=outcome, points=points, max_points=60.0, message="Right on all 2 cases.")
    return CheckResult(**given | dict(seed=7, mode="cpu", versions={"torch": "2.13.0"}) | more)


def row(**more):
    given = dict(path="a.ipynb", status="graded", points=60.0, max_points=120.0, parts=(part("1a"), part("1b", "wrong", 0.0)))
    return rows.GradeRow(**given | dict(lab="01_a", seed=7) | more).to_json()


def test_csv_survives_names_that_quote_and_names_that_calculate():
    given = [
        row(student='Li, "Ann"', path="x\n\x1b[2Jy.ipynb"),
        row(student="=1+1", path="@SUM(A1)"),
        row(student="-2", message=" +cmd|' /C calc'!A0"),
    ]
    text = rows.to_csv(given, ["1a", "1b"])
    read = list(csv.DictReader(io.StringIO(text)))
    assert [r["student"] for r in read] == ['Li, "Ann"', "'=1+1", "'-2"]
    assert [r["path"] for r in read] == [r"x\n\x1b[2Jy.ipynb", "'@SUM(A1)", "a.ipynb"]
    assert read[2]["message"] == "' +cmd|' /C calc'!A0"
    assert [(r["points"], r["1a"], r["1b"], r["1a outcome"], r["1b outcome"]) for r in read] == [
        ("60.0", "60.0", "0.0", "passed", "wrong")
    ] * 3


def test_a_row_without_parts_has_empty_columns():
    read = list(csv.DictReader(io.StringIO(rows.to_csv([row(status="missing", points=0.0, parts=())], ["1a"]))))
    assert (read[0]["status"], read[0]["points"], read[0]["1a"], read[0]["1a outcome"]) == ("missing", "0.0", "", "")


def test_who_answers_about_the_same_cases_as_somebody_else():
    def of(path, *seeds, student=None):
        parts = tuple(part(f"1{c}", case_seed=s) for c, s in zip("ab", seeds, strict=True))
        return row(path=path, student=student, parts=parts)

    given = [
        of("ann", 7_000_001, 7_000_001, student="ann"),
        of("bob", 7_000_002, None, student="bob"),
        of("cay", None, None, student="cay"),
        of("dan", 7_000_003, 7_000_001, student="dan"),  # the second part is ann's
        of("eva", 36886, 36886),
        of("bob/again", 7_000_002, 7_000_002, student="bob"),  # one's own cases handed in twice are no matter
    ]
    assert rows.same_cases(given) == {"ann": ["dan"], "dan": ["ann"], "eva": ["the solved notebook"]}
    read = list(csv.DictReader(io.StringIO(rows.to_csv(given, ["1a", "1b"]))))
    assert [r["case_seed"] for r in read] == ["7000001", "7000002", "", "7000001 7000003", "36886", "7000002"]
    assert [r["same_cases_as"] for r in read] == ["dan", "", "", "ann", "the solved notebook", ""]


def test_rows_of_an_older_course_name_no_cases():
    old = row()
    for entry in old["parts"]:
        del entry["case_seed"]
    assert rows.same_cases([old]) == {} and "1a" in rows.to_csv([old], ["1a", "1b"])
    assert "Right on all 2 cases." in feedback.page(old)


def test_a_file_is_replaced_whole_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "new" / "rows.json"
    rows.write(path, "one")
    rows.write(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o077 == 0
    assert [p.name for p in path.parent.iterdir()] == ["rows.json"]


def test_a_target_that_cannot_be_written_is_said_before_grading(tmp_path):
    (tmp_path / "file").write_text("")
    for target in (tmp_path, tmp_path / "file" / "rows.json"):
        with pytest.raises(CourseError):
            rows.check_writable(target)


class Page(html.parser.HTMLParser):
    """Text and attributes of a page; anything that would load or run something is noted."""

    def __init__(self, text):
        super().__init__()
        self.text, self.active = "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        if tag in ("script", "img", "link", "iframe", "object") or {"src", "onload", "onclick", "onerror"} & names.keys():
            self.active.append((tag, names))

    def handle_data(self, data):
        self.text += data


def test_a_page_shows_the_diagnosis_first_and_runs_nothing():
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    table = Table(("loc", "yours", "expected"), (("11", evil, "3"),), "One loc.")
    wrong = part("1b", "wrong", 0.0, message=f"That is the row, not the owner. {evil}\nmore", table=table, detail="SECRET")
    page = feedback.page(row(parts=(part("1a"), wrong), student=evil, path=evil))
    shown = Page(page)
    assert shown.active == []
    assert evil in shown.text
    assert "SECRET" not in page
    assert shown.text.index("That is the row, not the owner.") < shown.text.index("expected")
    assert "01_a: 60 of 120 points" in shown.text
    assert "prefers-color-scheme: dark" in page


def test_a_page_names_the_file_and_not_the_graders_folders():
    page = feedback.page(row(path="/home/prof/secret/ann.ipynb"))
    assert "File ann.ipynb." in page and "secret" not in page


def test_pages_of_different_paths_have_different_names():
    names = {feedback.file_name(p) for p in ("a/b.ipynb", "a_b.ipynb", "a b.ipynb", "../../etc/passwd", "x" * 500, "\udcff")}
    assert len(names) == 6
    assert all("/" not in name and len(name) < 110 for name in names)


@pytest.mark.parametrize(
    ("message", "bold"),
    [
        ("It raised TypeError: this is a function, not a Triton kernel: is @triton.jit\nabove it?\n\nx\n3a: ...", "above it?"),
        ("It does not load: KeyError: 'named'\nMore: lab.hint\n\nx\n5d: ...", "'named'"),
        (f"{'A' * 70} named.\nIt is not, however.\n\nx\n5d: ...", "named."),
        ("Right on all 2 cases.\n\nx\n1a: ...", "cases."),
    ],
)
def test_a_page_shows_a_long_first_sentence_whole(message, bold):
    shown = html.unescape(feedback.page(row(parts=(part("1a", "crashed", 0.0, message=message),))))
    first = shown.partition('font-weight:600;margin:.3em 0">')[2].partition("</div>")[0]
    assert first.endswith(bold) and "\n" not in first and "More:" not in first
