"""`./course workshop slides`: fifteen slides from one source, with notes, pictures and runs, offline, and on paper."""

import re

import desk
import pytest
from playwright.sync_api import sync_playwright

from dcplab import cli, paths
from dcplab.errors import CourseError
from dcplab.site import slides

pytestmark = pytest.mark.slow  # Sphinx runs, and lab 02's story


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides") / "class"
    assert cli.main(["workshop", "slides", str(folder)]) == 0
    return folder


def test_every_slide_has_notes_and_what_the_source_asks_for(made):
    source = (paths.root() / "workshop" / "slides.md").read_text(encoding="utf-8")
    page = (made / "index.html").read_text(encoding="utf-8")
    count = len(re.findall(r"^##? ", source, re.MULTILINE))
    assert page.count('<aside class="notes">') == count == 15
    assert page.count('<figure class="film"') == 4 and page.count('<figure class="dcplab-picture"') == 2
    assert "0 of 3 right; WRONG" in page and "EXCEEDED" in page, "the story is run"
    assert "{viz}" not in page and "{replay}" not in page
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page), "nothing is fetched"


def test_a_block_that_is_no_picture_and_a_folder_that_is_somebodys_are_refused(tmp_path):
    with pytest.raises(CourseError, match="no picture"):
        slides.filled("```{viz} print(1)\n```")
    with pytest.raises(CourseError, match="none of fresh, again, table"):
        slides.filled("```{replay} end\n```")
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(CourseError, match="not empty"):
        slides.make(tmp_path, print)


@pytest.mark.browser
@pytest.mark.skipif(desk.CHROMIUM is None, reason="no Chromium here: apt-get install chromium (./course test does it as root)")
def test_a_keyboard_goes_through_them_offline_and_they_print(made):
    asked = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=desk.CHROMIUM, headless=True, args=list(desk.BROWSER_ARGS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.on("request", lambda request: asked.append(request.url))
        page.goto((made / "index.html").as_uri())
        page.wait_for_selector(".reveal.ready")
        heights = []
        for _ in range(page.evaluate("Reveal.getTotalSlides()")):
            heights.append(page.evaluate("Reveal.getCurrentSlide().scrollHeight"))
            page.keyboard.press("Space")
        assert page.evaluate("Reveal.isLastSlide()") and len(heights) == 15
        assert max(heights) <= 800, "each fits its slide"
        page.goto((made / "index.html").as_uri() + "?print-pdf")
        page.wait_for_selector(".pdf-page")
        assert page.locator(".pdf-page").count() == 15
        browser.close()
    assert asked and all(url.startswith(("file:", "data:", "blob:")) for url in asked)
