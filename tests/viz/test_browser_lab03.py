"""Lab 03's live picture in real JupyterLab, in its light and its dark theme: seen, moved by keyboard alone, saved."""

import desk

from .test_browser_lab02 import opened

pytestmark = desk.NEEDED


def test_the_journey_in_jupyterlab(house, tmp_path):
    with opened(house, "journey", ["from dcplab import viz", "viz.token_journey()"]) as live:
        keyboard = live.page.keyboard

        def choose(what: str, key: str) -> str:
            """A list of choices by keyboard: focused, then a letter or digit of the entry."""
            live.box.locator(f".widget-dropdown:has-text('{what}') select").focus()
            return live.after(lambda: keyboard.press(key))

        def switch(number: int) -> str:
            live.box.locator("input[type=checkbox]").nth(number).focus()
            return live.after(lambda: keyboard.press("Space"))

        assert live.says().startswith("Write as it was, read as it was, low watermark.")
        assert "every rank reads row 16, bring; merged: bring, right, 4 keys for 1, LSE + 2.00" in live.says()
        live.in_theme("light", tmp_path / "replicated-light.png")

        # Each half of the fix alone is wrong at once, below the watermark too.
        assert "0 in layer 0 and 0 in layer 1" in switch(1) and "rank 0 reads row 4, one; merged: one, wrong" in live.says()
        live.in_theme("dark", tmp_path / "read-only-dark.png")
        assert (
            "16 in layer 0 and 16 in layer 1" in switch(0) and "rank 0 reads row 4, bring; merged: bring, right" in live.says()
        )
        assert "0 in layer 0 and 0 in layer 1" in switch(1)
        live.box.locator("[role=slider]").first.focus()
        assert "one, position 0 of request A" in live.after(lambda: keyboard.press("Home"))
        assert "rank 1 reads row 4, us" in live.says() and "merged: mix, wrong" in live.says()
        live.in_theme("light", tmp_path / "write-only-light.png")

        # Above the watermark, without any fix, the older request is wrong, in the next layer.
        switch(0)
        assert "16 in layer 0 and 12 in layer 1" in choose("watermark", "h")
        assert "Layer 1: every rank reads row 4, bring; merged: bring, wrong" in live.says()
        live.in_theme("dark", tmp_path / "high-dark.png")
        assert "loc 3, owner rank 0, row 1" in choose("D", "3")
        assert "old, position 1 of request A" in live.press("token + 1")

        # A step too far is a sentence, and the picture stays.
        live.press("token - 1")
        live.box.locator("button:has-text('token - 1')").focus()
        keyboard.press("Space")
        alert = live.box.locator("[role=alert]")
        alert.wait_for(timeout=30 * desk.SECOND)
        assert "The token must be at least 0, not -1." in alert.inner_text()
        assert "old, position 1" in live.press("token + 1") and alert.count() == 0
        live.in_theme("light", tmp_path / "three-ranks-light.png")
