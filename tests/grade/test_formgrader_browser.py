"""nbgrader's formgrader in a real browser, on a released course: an instructor presses autograde and reads the points."""

import os
import subprocess
import sys
import time
import urllib.request

import desk
import pytest
from playwright.sync_api import sync_playwright
from test_grade_nbgrader import put_answers, scores, submit

pytestmark = desk.NEEDED
TOKEN = "formgrader"


@pytest.fixture
def address(course, tiny, solved, tmp_path):
    """The address of a Jupyter server in the released course's folder, with ann's right and bob's wrong submission in it."""
    from dcplab import jupyterlab

    submit(tiny, "ann", "01_tiny", solved)
    submit(tiny, "bob", "01_tiny", put_answers(solved, {"1a": "def owner_rank(loc, dcp_size):\n    return loc // dcp_size"}))
    port = jupyterlab.free_port("127.0.0.1", None)
    env = os.environ | {"JUPYTER_TOKEN": TOKEN, "JUPYTER_DATA_DIR": str(tmp_path / "data"), "HOME": str(tmp_path)}
    words = [sys.executable, "-m", "jupyterlab", "--no-browser", "-y", "--allow-root", f"--port={port}"]
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(words, cwd=tiny, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{url}/api/status?token={TOKEN}", timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, (tmp_path / "server.log").read_text()
                time.sleep(0.1)
        yield url
    finally:
        jupyterlab.stop(process)


def test_an_instructor_autogrades_and_reads_the_points(address, tiny, tmp_path):
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=desk.CHROMIUM, args=list(desk.BROWSER_ARGS))
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.set_default_timeout(60 * desk.SECOND)
        page.goto(f"{address}/lab?token={TOKEN}", wait_until="commit")  # logs in, as the address that Jupyter prints does
        page.goto(f"{address}/formgrader/manage_submissions/01_tiny")
        for student in ("ann", "bob"):
            line = page.locator("tr", has=page.locator(f"td.student-id:has-text('{student}')"))
            line.locator(".autograde a").click()
            said = page.locator(".modal:visible")
            said.get_by_text(f"Successfully autograded '01_tiny' for student '{student}'.").wait_for()
            said.get_by_text("OK", exact=True).click()
            said.wait_for(state="hidden")
        assert page.locator("td.score").all_inner_texts() == ["100 / 100", "40 / 100"]
        assert scores(tiny) == {"ann": {"1a": 60, "1b": 40}, "bob": {"1a": 0, "1b": 40}}

        page.goto(f"{address}/formgrader/gradebook/01_tiny/01_tiny")
        page.locator("td a", has_text="Submission").first.wait_for()
        pages = page.locator("td a", has_text="Submission").evaluate_all("links => links.map(link => link.href)")
        read = []
        for link in pages:
            page.goto(link)
            read.append(page.locator(".output_text, .output_html, .jp-OutputArea-output").all_inner_texts())
        page.screenshot(path=str(tmp_path / "submission.png"))
        assert sum("That is the row, not the owner." in " ".join(texts) for texts in read) == 1  # bob's
        assert not any("Traceback" in text for texts in read for text in texts)
        browser.close()
