"""A page of feedback as a browser lays it out."""

import desk
import pytest
from playwright.sync_api import sync_playwright

from dcplab.course.model import CheckResult, Table
from dcplab.grade import feedback

pytestmark = desk.NEEDED


@pytest.mark.parametrize("width", [390, 1000])
def test_a_page_is_no_wider_than_its_window(tmp_path, width):
    """Long paths break; a table with a long value keeps its short words whole."""
    table = Table(["place in the page", "yours", "expected"], [["0", "nothing", "x" * 200]], "page 2")
    common = dict(lab="01_a", part="1e", points=0.0, max_points=10.0, seed=1, mode="cpu", versions={})
    part = CheckResult(outcome="wrong", message="m", table=table, **common).to_json()
    row = dict(path="/a/" + "long_folder_name/" * 9 + "01_a.ipynb", student="ann", lab="01_a", message="", parts=[part])
    file = tmp_path / "page.html"
    file.write_text(feedback.page(row | dict(points=0.0, max_points=10.0)), encoding="utf-8")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=desk.CHROMIUM, args=list(desk.BROWSER_ARGS))
        page = browser.new_page(viewport={"width": width, "height": 700})
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.locator("td", has_text="nothing").evaluate("e => e.clientHeight") < 40  # one line of 24 pixels
        browser.close()
