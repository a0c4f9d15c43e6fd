"""The pictures in real JupyterLab, in its light and its dark theme: seen, moved by keyboard, clicked, saved."""

import json

import desk
import pytest

from dcplab.viz.core import palette

pytestmark = desk.NEEDED

CELLS = ["from dcplab import viz", "viz.localized([2, 5, 8, 10, -1], 4)", "viz.owner_table()"]
LIVE = ".dcplab-live"
CHANGED = "([where, old]) => document.querySelector(where).innerText !== old"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_in_jupyterlab(house, theme):
    with house.cells(theme, CELLS, height=1250) as book:
        page = book.page
        book.theme(f"JupyterLab {theme.title()}")
        book.run_all()
        page.locator(f"{LIVE} {desk.DRAWING}").wait_for(timeout=120_000)
        sentence = page.locator(f"{LIVE} [role=status]")
        assert sentence.inner_text().startswith("Loc 21: owner r1 (21 % 4), row 5")

        # The live view is there, so the static one is out of the way; the other picture is an image of its real size.
        assert not page.locator(".dcplab-static").is_visible()
        size = "e => [e.complete, e.naturalWidth]"
        assert page.locator(".dcplab-picture img").first.evaluate(size)[0]
        assert page.locator(".dcplab-picture img").first.evaluate(size)[1] > 200

        # Words stand out from the page in this theme.
        page_colour = desk.colour(page.locator(".jp-Notebook"), "backgroundColor")
        for words in (sentence, page.locator(".dcplab-picture figcaption").first):
            colour = desk.colour(words)
            assert palette.contrast(colour, page_colour) >= 4.5, (colour, page_colour)
        assert (palette.luminance(page_colour) < 0.1) == (theme == "dark")

        def after(act, where=f"{LIVE} [role=status]"):
            old = page.locator(where).inner_text()
            act()
            page.wait_for_function(CHANGED, arg=[where, old], timeout=30_000)
            return page.locator(where).inner_text()

        # Keyboard: Tab reaches the controls in order; arrows move the sliders.
        sliders = page.locator(f"{LIVE} [role=slider]")
        sliders.nth(2).focus()
        assert after(lambda: page.keyboard.press("ArrowRight")).startswith("Loc 22: owner r2")
        sliders.nth(0).focus()
        assert after(lambda: page.keyboard.press("ArrowRight")).startswith("Loc 22: owner r2 (22 % 5), row 4 (22 // 5)")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.dcplab-live') !== null")

        # The text table moves too.
        page.locator(f"{LIVE} .jupyter-widget-Collapse-header, {LIVE} .lm-Widget >> text=The same as a table").last.click()
        assert "> 22" in page.locator(f"{LIVE} table").inner_text()

        # A bad value is a sentence, and the picture stays.
        figure = page.locator(f"{LIVE} {desk.DRAWING}")
        outlined = book.settled(figure)
        page.locator(f"{LIVE} input[type=number]").first.fill("0")
        page.keyboard.press("Tab")
        alert = page.locator(f"{LIVE} [role=alert]")
        alert.wait_for(timeout=30_000)
        assert "P (page_size) must be at least 1, not 0" in alert.inner_text()
        assert figure.inner_html() == outlined
        page.locator(f"{LIVE} input[type=number]").first.fill("4")
        page.keyboard.press("Tab")
        alert.wait_for(state="detached", timeout=30_000)

        # A click on a cell selects it.
        place = page.locator(f"{LIVE} {desk.DRAWING}").first.bounding_box()
        cell = _middle_of_loc(34)
        assert after(lambda: page.mouse.click(place["x"] + cell[0], place["y"] + cell[1])).startswith("Loc 34:")

        # So does Enter on a cell that the arrows led to; the cell keeps the focus when the picture is drawn anew.
        page.wait_for_function("document.activeElement.dataset.loc === '34'", timeout=30_000)
        page.keyboard.press("ArrowLeft")
        reached = page.evaluate("document.activeElement.dataset.loc")
        assert reached != "34" and after(lambda: page.keyboard.press("Enter")).startswith(f"Loc {reached}:")
        page.wait_for_function("loc => document.activeElement.dataset.loc === loc", arg=reached, timeout=30_000)

        # A list keeps its arrows, and no letter deletes the cell.
        page.locator(f"{LIVE} select").first.focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_function("document.querySelector('.dcplab-live select').selectedIndex === 1", timeout=30_000)
        cells = page.locator(".jp-Notebook .jp-Cell").count()
        page.keyboard.press("d")
        page.keyboard.press("d")
        assert page.locator(".jp-Notebook .jp-Cell").count() == cells

        page.keyboard.press("Escape")
        saved = json.dumps(book.save())
        assert book.faults == []

    assert "image/svg+xml" in saved and len(saved) < 200_000
    assert "widgets" not in json.loads(saved)["metadata"]


def _middle_of_loc(loc: int) -> tuple[float, float]:
    """Where the strip's cell of a loc lies when D is 5 and loc 22 is selected."""
    from dcplab.viz.views.owner import scene as owner_scene
    from dcplab.viz.views.owner import state as owner_state

    state = owner_state.with_selected(owner_state.make(dcp_size=5), 22)
    return [b for b in owner_scene.scene(state).boxes if b.loc == loc and b.style.startswith("owner")][-1].middle
