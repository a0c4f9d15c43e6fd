"""Lab 04's pictures in real JupyterLab, in its light and its dark theme: seen, moved by keyboard alone, clicked, saved."""

import json
import os
from pathlib import Path

import desk
import pytest

from dcplab.viz.views.workspace import scene as workspace_scene
from dcplab.viz.views.workspace import state as workspace_state

from .test_browser_lab02 import Live

pytestmark = desk.NEEDED

CELLS = [
    "from dcplab import viz",
    "viz.shards_picture([5, 0, 3], [0, 0, 2])",
    "viz.workspace_picture([5, 3], [3, 2])",
    "viz.workspace()",
]


@pytest.fixture(scope="module")
def shots(tmp_path_factory) -> Path:
    """Where screenshots go: DCPLAB_SHOTS, else a folder of pytest's."""
    return Path(os.environ.get("DCPLAB_SHOTS") or tmp_path_factory.mktemp("shots"))


def test_workspace_in_jupyterlab(house, shots):
    with house.cells("workspace", CELLS, height=1700) as book:
        book.run_all()
        book.page.locator(f".dcplab-live {desk.DRAWING}").first.wait_for(timeout=120 * desk.SECOND)
        assert not book.page.locator(".dcplab-static").is_visible()
        go_through(Live(book), shots)
        book.page.keyboard.press("Escape")
        saved = book.save()
        assert book.faults == []
    sizes = [sum(len(json.dumps(o)) for o in cell["outputs"]) for cell in saved["cells"]]
    assert max(sizes) < 150_000 and "image/svg+xml" in json.dumps(saved) and "widgets" not in saved["metadata"]


def go_through(live: Live, shots: Path) -> None:
    assert live.says().startswith("B1 'cat'. PAGED: req_to_token[B][1] = loc 5; owner 5 % 2 = rank 1, row 5 // 2 = 2.")
    live.in_theme("light", shots / "workspace-light.png")
    live.in_theme("dark", shots / "workspace-dark.png")

    # The id is used in another way, and then in a wrong one.
    live.press("next use")
    said = live.press("next use")
    assert "Used as position in the workspace: row 1 holds A1 'red', another request's token" in said
    live.in_theme("dark", shots / "workspace-wrong-dark.png")
    live.in_theme("light", shots / "workspace-wrong-light.png")
    assert "row 2 holds A2 'fox'" in live.slide("ArrowRight")
    assert "row 3 holds A3 'hides'" in live.press("position + 1")
    assert "B2 'sat'" in live.press("position - 1")
    assert live.press("A").startswith("A0 'the'")
    assert live.press("B").startswith("B0 'a'")
    live.press("position + 1")
    live.press("position + 1")

    # The border between what is cached and what is new, and another D.
    border = live.box.locator("input[type=number]").first
    border.fill("0")
    live.page.keyboard.press("Tab")
    live.box.locator(".jupyter-widget-Collapse-header, .lm-Widget >> text=The same as a table").last.click()
    live.page.wait_for_function(
        "() => document.querySelector('.dcplab-live').innerText.includes(\"B2 'sat'\\t6\\tr0\\t3\\tnew\")"
    )
    border.fill("9")
    live.page.keyboard.press("Tab")
    alert = live.box.locator("[role=alert]")
    alert.wait_for(timeout=30 * desk.SECOND)
    assert "Request B has 5 tokens, so 9 of them cannot be cached." in alert.inner_text()
    live.box.locator("[role=slider]").nth(1).focus()
    assert "% 3 = rank" in live.after(lambda: live.page.keyboard.press("ArrowRight"))
    assert alert.count() == 0
    live.in_theme("light", shots / "workspace-three-ranks.png")

    # A click on a cell follows its token.
    state = workspace_state.make(dcp_size=3)
    state = workspace_state.with_use(workspace_state.with_cached(workspace_state.with_token(state, 1, 2), 0), "position")
    loc = state.requests[0].locs[3]
    x, y = next(b.middle for b in workspace_scene.scene(state).boxes if b.loc == loc)
    place = live.box.locator(desk.DRAWING).first.bounding_box()
    assert live.after(lambda: live.page.mouse.click(place["x"] + x, place["y"] + y)).startswith("A3 'hides'.")
