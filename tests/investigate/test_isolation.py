"""The small isolation matrix: what its servers do, how predictions are scored, and the table while it runs."""

import re
import threading

import pytest
from waiting import until

from dcplab import investigate
from dcplab.engine.defects import PATCHES
from dcplab.errors import CourseError
from dcplab.investigate import isolation
from dcplab.investigate.isolation import VERDICTS
from dcplab.investigate.isolation_explained import because

# The verdicts of docs/isolation.md for these subsets; that table was run at D=4, this one at D=2.
EXPECTED = {
    "none, below": "right",
    "none, above": "silent",
    "size, below": "right",
    "size, above": "silent",
    "write, below": "silent",
    "write, above": "silent",
    "extend, below": "silent",
    "extend, above": "alarm",
    "write+read, below": "silent",
    "write+read, above": "silent",
    "all but size, below": "right",
    "all but size, above": "silent",
    "all but size, full": "crash",
    "all but assert, below": "right",
    "all but assert, above": "alarm",
    "all but assert, full": "alarm",
    "all, below": "right",
    "all, above": "right",
}


@pytest.fixture(scope="module")
def results():
    return investigate.run_matrix()


@pytest.mark.slow
def test_every_server_does_what_the_large_matrix_says(results):
    assert {r.row.id: r.verdict for r in results} == EXPECTED
    assert set(EXPECTED.values()) == set(VERDICTS)
    for r in results:
        # Keys read for each selected: D where every rank holds everything, 1 where they are shared out.
        read = "read" in r.row.patches
        assert r.keys == ("1.00" if read else "2.00"), r.row.id


@pytest.mark.slow
def test_what_is_predicted_is_scored_and_each_surprise_explained(results):
    assert investigate.score(EXPECTED, results).fraction == 1.0
    long_words = {row: "Silent corruption" if verdict == "silent" else verdict for row, verdict in EXPECTED.items()}
    assert investigate.score(long_words, results).fraction == 1.0, "the reports' word for it is taken too"
    naive = {row.id: "right" if row.patches else "silent" for row in investigate.matrix_rows()}
    score = investigate.score(naive, results)
    assert score.agreed == sum(naive[i] == v for i, v in EXPECTED.items()) and score.of == len(EXPECTED)
    why = {result.row.id: result.because for _, result in score.surprises}
    assert (
        "needs no watermark" in why["write+read, below"]
        and "extend looks at row = loc on every rank" in why["write+read, below"]
    )
    assert (
        "index-K has 720 slots" in why["all but size, above"] and "written over the next layer's" in why["all but size, above"]
    )
    assert "runs out of mapped memory" in why["all but size, full"]
    assert "the loc was legal" in why["all but assert, above"]
    assert "Every rank holds every token" in why["none, below"]
    assert investigate.score({}, results).agreed == 0


def test_a_half_fix_is_explained_for_every_subset():
    for mask in range(32):
        patches = {p for i, p in enumerate(PATCHES) if mask >> i & 1}
        for verdict in VERDICTS if not patches >= set(PATCHES) - {"assert"} else VERDICTS[:3]:  # no crash then
            text = because(patches, verdict, 975, 720, "3/3")
            assert text.endswith(".") and "  " not in text and "()" not in text
            half = len({p in patches for p in ("ckv_write", "read", "extend")}) == 2
            assert ("keep to one rule" in text) != half


@pytest.mark.parametrize(
    "said, why",
    [
        ({"nun, below": "right"}, "has no row 'nun, below'"),
        ({"none, below": "fine"}, "'fine' .* is no verdict"),
        (["right"], "are a dict"),
    ],
)
def test_a_prediction_that_cannot_be_is_said(said, why):
    with pytest.raises(CourseError, match=why):
        investigate.score(said, [])
    assert re.search(why, investigate.matrix(said).text), "a cell of a notebook goes on"


def test_a_run_that_is_stopped_has_what_it_had(monkeypatch):
    monkeypatch.setattr(isolation, "_ran", {})
    monkeypatch.setattr(isolation, "_run", lambda row: isolation.Result(row, "right", "-", "-", "-", 1, "-", "Because."))
    told = []
    found = investigate.run_matrix(progress=lambda done, of, r: told.append((done, of)), stop=lambda: len(told) > 2)
    assert len(found) == 2 and told == [(0, 18), (1, 18), (2, 18)]
    assert [r.row for r in isolation.known(investigate.matrix_rows())] == [r.row for r in found]


# The table.


@pytest.fixture
def slow_servers(monkeypatch):
    """Servers that take their time, and go on when they are told to."""
    go = threading.Semaphore(0)

    def run(row):
        assert go.acquire(timeout=120)
        return isolation.Result(row, EXPECTED[row.id], "3/3", "2/2", "3/3", 7, "1.00", f"Because of {row.subset}.")

    monkeypatch.setattr(isolation, "_ran", {})
    monkeypatch.setattr(isolation, "_run", run)
    return go


def parts(table):
    found = {}

    def walk(box):
        for child in getattr(box, "children", ()):
            found[getattr(child, "description", "") or type(child).__name__] = child
            walk(child)

    walk(table.widget)
    return found


def words(table):
    return " ".join(child.value for child in table.widget.children if type(child).__name__ == "HTML")


def test_the_table_runs_stops_and_goes_on(slow_servers):
    table = investigate.matrix(EXPECTED | {"none, above": "crash"})
    control = parts(table)
    assert control["stop"].disabled and not control["run"].disabled
    assert "18 servers, none of which has run yet" in words(table)

    control["run"].click()
    until(lambda: table.state.running == 0)
    until(lambda: "now none, below" in words(table))  # the words follow the state
    assert control["run"].disabled and not control["stop"].disabled
    slow_servers.release(2)
    until(lambda: table.state.running == 2)
    assert table.state.done == 2
    until(lambda: control["IntProgress"].value == 2)
    control["stop"].click()
    until(lambda: "Stops after the server that runs now" in words(table))
    slow_servers.release()
    until(lambda: table.state.running is None)
    assert table.state.done == 3
    until(lambda: "Stopped; run goes on from here" in words(table))
    assert "you said crash, and it is silent" in words(table) and "Because of none" in words(table)

    slow_servers.release(99)
    control["run"].click()
    until(lambda: table.state.done == 18 and table.state.running is None)
    until(lambda: "18 of 18 servers have run; 17 of them did what you said" in words(table))
    assert control["run"].disabled and control["stop"].disabled
    control["look at"].value = 17
    assert "all, above: right, as you said" in words(table)
    control["next surprise"].click()
    assert table.state.at == 1 and control["look at"].value == 1

    again = investigate.matrix(EXPECTED)
    assert again.state.done == again.state.agreed == 18, "what has run is there"


def test_a_server_that_cannot_run_leaves_the_table_alive(monkeypatch):
    def run(row):
        raise MemoryError("no room")

    monkeypatch.setattr(isolation, "_ran", {})
    monkeypatch.setattr(isolation, "_run", run)
    table = investigate.matrix()
    control = parts(table)
    control["run"].click()
    until(lambda: "MemoryError: no room" in words(table))
    until(lambda: not control["run"].disabled)
    control["next surprise"].click()
    assert "There is no surprise so far" in words(table)


def test_the_picture_says_everything_in_words(slow_servers):
    slow_servers.release(99)
    investigate.run_matrix()
    picture = investigate.matrix({"none, below": "silent"}).picture
    shown = {(b.text, b.sub) for b in picture.scene.boxes}
    assert ("right", "you: silent ✗") in shown and ("alarm", "you: - ✗") in shown
    assert picture.scene.width <= 720, "it fits a notebook beside its file browser"
    for form in (picture.html, picture.text):
        assert form.count("Because of ") >= 18
    assert len(picture.table.rows) == 18 and picture.table.rows[0][-3:] == ("silent", "right", "3/3, 2/2, 3/3")
