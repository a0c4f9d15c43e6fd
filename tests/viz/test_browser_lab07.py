"""Lab 07's live picture in real JupyterLab, in its light and its dark theme: by keyboard alone, clicked, narrow, saved."""

import json
import os
from pathlib import Path

import desk
import pytest

from dcplab.viz.views.layouts import scene as layouts_scene
from dcplab.viz.views.layouts import state as layouts_state

from .test_browser_lab02 import Live

pytestmark = desk.NEEDED


@pytest.fixture(scope="module")
def shots(tmp_path_factory) -> Path:
    """Where screenshots go: DCPLAB_SHOTS, else a folder of pytest's."""
    return Path(os.environ.get("DCPLAB_SHOTS") or tmp_path_factory.mktemp("shots"))


def test_layouts_in_jupyterlab(house, shots):
    with house.cells("layouts", ["from dcplab import viz\nviz.layouts()"], height=1400) as book:
        book.run_all()
        book.page.locator(f".dcplab-live {desk.DRAWING}").first.wait_for(timeout=120 * desk.SECOND)
        assert not book.page.locator(".dcplab-static").is_visible()
        go_through(Live(book), shots)
        book.page.keyboard.press("Escape")
        saved = book.save()
        assert book.faults == []
    outputs = json.dumps(saved["cells"][0]["outputs"])
    assert len(outputs) < 150_000 and "image/svg+xml" in outputs and "widgets" not in saved["metadata"]


def go_through(live: Live, shots: Path) -> None:
    assert live.says().startswith("Token 9: source loc 11: rank 1 (11 // 1 % 2), row 5")
    live.in_theme("light", shots / "layouts-light.png")
    live.in_theme("dark", shots / "layouts-dark.png")

    # By keyboard alone: the next token, a run of another length, another number of ranks.
    assert live.press("token + 1").startswith("Token 10:")
    assert live.press("token - 1").startswith("Token 9:")
    sliders = live.box.locator("[role=slider]")
    target_i = sliders.nth(4)
    target_i.focus()
    assert "target loc 49: rank 1 (49 // 5 % 4)" in live.after(lambda: live.page.keyboard.press("ArrowRight"))
    sliders.nth(3).focus()
    assert "(59 // 5 % 5)" in live.after(lambda: live.page.keyboard.press("ArrowRight"))
    live.in_theme("light", shots / "layouts-five-ranks.png")

    # A click on a cell follows its token.
    state = layouts_state.make(target=(5, 5))
    x, y = [b for b in layouts_scene.scene(state).boxes if b.loc == 17][-1].middle
    place = live.box.locator(desk.DRAWING).first.bounding_box()
    assert live.after(lambda: live.page.mouse.click(place["x"] + x, place["y"] + y)).startswith("Token 17:")

    # In a narrow window the picture stays within the notebook.
    live.page.set_viewport_size({"width": 820, "height": 1200})
    live.in_theme("dark", shots / "layouts-narrow-dark.png")
