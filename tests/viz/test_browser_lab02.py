"""Lab 02's two live pictures in real JupyterLab, in its light and its dark theme: seen, moved by keyboard alone, saved."""

import contextlib
import json

import desk

from dcplab.viz.core import palette

pytestmark = desk.NEEDED

CHANGED = "old => document.querySelector('.dcplab-live [role=status]').innerText !== old"


class Live:
    """The live picture of an open notebook whose cells have run."""

    def __init__(self, book: desk.Desk):
        self.book, self.page = book, book.page
        self.box = book.page.locator(".dcplab-live")
        self.status = self.box.locator("[role=status]")

    def says(self) -> str:
        return desk.plain(self.status.inner_text())

    def after(self, act) -> str:
        old = self.status.inner_text()
        act()
        self.page.wait_for_function(CHANGED, arg=old, timeout=30 * desk.SECOND)
        return self.says()

    def press(self, button: str) -> str:
        """A button by keyboard: focused, then the space bar."""
        self.box.locator(f"button:has-text('{button}')").focus()
        return self.after(lambda: self.page.keyboard.press("Space"))

    def slide(self, key: str) -> str:
        self.box.locator("[role=slider]").first.focus()
        return self.after(lambda: self.page.keyboard.press(key))

    def in_theme(self, name: str, shot) -> None:
        """The words stand out from the page, and the picture fits it."""
        self.book.theme(f"JupyterLab {name.title()}")
        behind, colour = desk.colour(self.page.locator(".jp-Notebook"), "backgroundColor"), desk.colour(self.status)
        assert palette.contrast(colour, behind) >= 4.5, (colour, behind)
        assert (palette.luminance(behind) < 0.1) == (name == "dark")
        picture = self.box.locator(desk.DRAWING).first.bounding_box()
        panel = self.page.locator(".jp-NotebookPanel").first.bounding_box()
        assert picture["x"] + picture["width"] <= panel["x"] + panel["width"], "the picture is wider than the notebook"
        self.book.shot(shot)


@contextlib.contextmanager
def opened(house, name: str, cells: list[str]):
    """The live picture of a notebook; when it is left, the notebook is saved, and must be small and without complaint."""
    with house.cells(name, cells, height=1500) as book:
        book.run_all()
        book.page.locator(f".dcplab-live {desk.DRAWING}").first.wait_for(timeout=120 * desk.SECOND)
        assert not book.page.locator(".dcplab-static").is_visible()
        yield Live(book)
        book.page.keyboard.press("Escape")
        saved = json.dumps(book.save())
        assert book.faults == []
    assert "image/svg+xml" in saved and len(saved) < 300_000
    assert "widgets" not in json.loads(saved)["metadata"]


def test_watermark_in_jupyterlab(house, tmp_path):
    with opened(house, "watermark", ["from dcplab import viz", "viz.watermark()"]) as live:
        assert live.says().startswith("Step 9: request E of 8 tokens arrives. 40 tokens served so far.")
        live.in_theme("light", tmp_path / "toy-light.png")
        live.in_theme("dark", tmp_path / "toy-dark.png")
        assert "Step 8" in live.slide("ArrowLeft")
        assert "The largest live loc is 3,646,463" in live.press("real: 455,744, 64, 8")
        assert "Step 8" in live.slide("ArrowLeft")
        assert "The largest live loc is 600,031, beyond 455,808" in live.slide("ArrowLeft")
        live.in_theme("light", tmp_path / "real-light.png")
        assert "900,000 tokens served so far. The largest live loc is 300,031, below every line" in live.slide("ArrowLeft")

        assert "the server is empty" in live.press("start over")
        assert "request A of 300,000 tokens arrives" in live.press("new request")
        assert "its whole pages stay" in live.press("finish, keep")
        assert "beyond 455,808" in live.press("new request")
        assert "the prefix cache lets go of A" in live.press("evict")
        assert "its pages are freed" in live.press("finish, free")

        # A bad value is a sentence, and the picture stays.
        live.box.locator("input[type=number]").nth(1).fill("0")
        live.page.keyboard.press("Tab")
        alert = live.box.locator("[role=alert]")
        alert.wait_for(timeout=30 * desk.SECOND)
        assert "P (page_size) must be at least 1, not 0" in alert.inner_text()
        assert "beyond 12 and 20" in live.press("toy: 8, 4, 2")
        assert alert.count() == 0


def test_arena_map_in_jupyterlab(house, tmp_path):
    cells = ["from dcplab import viz\nfrom dcplab.demos.server import replay", "viz.arena_map(replay('above'))"]
    with opened(house, "arena", cells) as live:
        assert live.says().startswith("Rank 0, access 36 of 36 wrong writes.")
        live.in_theme("light", tmp_path / "light.png")
        live.in_theme("dark", tmp_path / "dark.png")
        said = live.press("where strict stops")
        assert "access 1 of 36" in said and "write_index_k writes index_k.0 at loc 772" in said
        assert "Stops the server here, before a byte is changed" in said
        assert "access 2 of 36" in live.slide("ArrowRight") and "conv_state" in live.says()
        live.in_theme("light", tmp_path / "second.png")
        live.box.locator("input[type=checkbox]").focus()
        assert "wrong reads and writes" in live.after(lambda: live.page.keyboard.press("Space"))
