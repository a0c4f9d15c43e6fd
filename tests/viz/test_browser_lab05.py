"""Lab 05's live parts in real JupyterLab, light and dark, by keyboard: the matrix runs and is stopped, so is the server at
scale, and a case's progress goes away."""

import contextlib
import json

import desk
import pytest

from dcplab.viz.core import palette

pytestmark = desk.NEEDED

CELLS = [
    "from dcplab import investigate\nall_right = {row.id: 'right' for row in investigate.matrix_rows()}",
    "investigate.matrix(all_right)",
    "investigate.at_scale()",
    "case = investigate.case(1, seed=4)\ncase",
    "case.trace()",
    "case.layers()",
]


@pytest.fixture(scope="module")
def book(house):
    with house.cells("lab05", CELLS, height=1500) as sitting:
        sitting.run_all()
        yield sitting


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    return tmp_path_factory.mktemp("lab05")


class Part:
    """A cell of the notebook with buttons in it, pressed by keyboard."""

    def __init__(self, book, number: int):
        self.book, self.page = book, book.page
        self.cell = book.cell(book.order[number])
        self.box = self.cell.locator(".dcplab-live")

    def says(self) -> str:
        return desk.plain(" ".join(self.box.locator("[role=status]").all_inner_texts()))

    def button(self, name: str):
        return self.box.locator(f"button:text-is('{name}')")

    def press(self, name: str) -> None:
        self.button(name).focus()
        self.page.keyboard.press("Space")

    def until(self, what: str, patience: float = 180.0) -> str:
        return self.book.until(lambda: self.says() if what in self.says() else None, patience)

    def reads_in(self, theme: str, shot) -> None:
        self.book.theme(f"JupyterLab {theme.title()}")
        behind = desk.colour(self.page.locator(".jp-Notebook"), "backgroundColor")
        colour = desk.colour(self.box.locator("[role=status]").first)
        assert palette.contrast(colour, behind) >= 4.5, (theme, colour, behind)
        self.book.shot(shot)


def test_the_matrix_by_keyboard(book, shots):
    part = Part(book, 1)
    part.box.locator(desk.DRAWING).first.wait_for(timeout=120 * desk.SECOND)
    assert not part.cell.locator(".dcplab-static").is_visible()
    assert "18 servers, none of which has run yet" in part.says() and part.button("stop").is_disabled()
    part.press("run")
    part.until("2 of 18 servers have run; now size, below")
    part.reads_in("light", shots / "running-light.png")
    part.press("stop")
    said = part.until("Stopped; run goes on from here")
    assert "of 18 servers have run" in said and not part.button("run").is_disabled()
    part.press("run")
    part.until("18 of 18 servers have run; 6 of them did what you said", 300)
    part.box.locator("select").focus()
    part.page.keyboard.press("End")
    part.until("all, above: right, as you said")
    part.press("next surprise")
    part.until("none, above: you said right, and it is silent")
    assert part.box.locator("li").count() == 12
    picture = part.box.locator(desk.DRAWING).first.bounding_box()
    panel = part.page.locator(".jp-NotebookPanel").first.bounding_box()
    assert picture["x"] + picture["width"] <= panel["x"] + panel["width"], "the picture is wider than the notebook"
    part.reads_in("light", shots / "matrix-light.png")
    part.reads_in("dark", shots / "matrix-dark.png")


def test_the_server_at_scale_is_started_and_stopped_by_keyboard(book, shots):
    part = Part(book, 2)
    part.press("run")
    part.until("step")
    part.press("stop")
    part.until("Stopped; nothing is left running")
    part.press("run")
    part.until("The server has ended", 240)
    assert "Verdict: silent corruption" in part.box.inner_text()
    part.cell.scroll_into_view_if_needed()
    part.reads_in("dark", shots / "scale-dark.png")
    part.reads_in("light", shots / "scale-light.png")


def test_a_case_and_its_tools(book, shots):
    symptom = book.output(book.order[3])
    assert "[CPU, torch] Case 1, seed 4: D 3, P 5" in symptom
    assert "case 1:" not in symptom, "progress goes away when the run is over"
    trace = book.output(book.order[4])
    assert "[CPU, torch] trace, 1040 accesses" in trace and "write_ckv" in trace
    assert "Where do you want to look?" in trace, "it lists nothing unasked"
    book.shot(shots / "case-trace.png")
    assert "The first step with a difference" in book.output(book.order[5])
    book.shot(shots / "case-layers.png")


def test_the_notebook_saves_small_and_without_complaint(book):
    with contextlib.suppress(Exception):
        book.page.keyboard.press("Escape")
    saved = json.dumps(book.save())
    assert book.faults == []
    assert "image/svg+xml" in saved and len(saved) < 400_000 and "widgets" not in json.loads(saved)["metadata"]
