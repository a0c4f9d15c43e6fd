"""A person at JupyterLab: `./course lab` on a copy of the labs, and a headless Chromium driven by mouse and keyboard.

Cells are named by their ids in the notebook file, and found by scrolling: JupyterLab draws only what is near the window.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, Page, sync_playwright
from waiting import until

from dcplab import doctor, jupyterlab

ROOT = Path(__file__).parents[1]
SECOND = 1000
BROWSER_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)
# What playwright gives a browser that it starts itself, as far as a page could tell.
STAYING_ARGS = (
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--password-store=basic",
    "--use-mock-keychain",
)

CHROMIUM = next(filter(None, map(shutil.which, doctor.CHROMIUM)), None)  # the system's: playwright's own download is not used
DRAWING = ":is(.dcplab-drawn > svg, .js-plotly-plot .main-svg)"  # of a live view: our own SVG, or a plot
# The counts of the code cells of the open notebook, 0 for one that has not run. Those out of sight have no element on the page.
COUNTS = """() => jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === "code" && cell.model.sharedModel.source.trim())
    .map(cell => cell.model.executionCount || 0)"""
NEEDED = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium (./course test does it as root)"),
]  # the marks of a module that needs a browser


@contextlib.contextmanager
def course(folder: Path) -> Iterator[Path]:
    """A checkout of its own in ``folder``: sources, no notebooks yet, nobody's progress, no Jupyter settings."""
    root = _copied(folder)
    with _inside(folder):
        yield root


def _copied(folder: Path) -> Path:
    ignored = shutil.ignore_patterns("*.ipynb", "__pycache__")
    shutil.copytree(ROOT / "solutions", folder / "course/solutions", ignore=ignored)
    return folder / "course"


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """This process is one of the checkout there."""
    mine = {
        "DCPLAB_ROOT": folder / "course",
        "DCPLAB_STATE": folder / "state",
        "JUPYTER_CONFIG_DIR": folder / "jupyter/config",
        "JUPYTER_DATA_DIR": folder / "jupyter/data",
        "JUPYTER_RUNTIME_DIR": folder / "jupyter/runtime",
        "IPYTHONDIR": folder / "ipython",
        "TRITON_INTERPRET": None,  # the notebook's own process is a learner's: it does not interpret
    }
    before = {name: os.environ.get(name) for name in mine}
    _setenv({name: value and str(value) for name, value in mine.items()})
    try:
        yield
    finally:
        _setenv(before)


def _setenv(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextlib.contextmanager
def served(notebook: Path) -> Iterator[str]:
    """The address of a notebook of this checkout, served as `./course lab --no-browser` does."""
    with jupyterlab.serving(notebook) as (_, command):
        yield command.url


class Desk:
    """One open notebook. ``faults`` holds every console error, page error and failed request so far."""

    def __init__(self, page: Page, notebook: Path):
        self.page, self.notebook = page, notebook
        self.order = [cell["id"] for cell in self.saved()["cells"]]
        self.faults: list[str] = []
        page.on("console", lambda m: self.faults.append(f"console: {m.text[:300]}") if m.type == "error" else None)
        page.on("pageerror", lambda e: self.faults.append(f"page: {str(e)[:300]}"))
        page.on("requestfailed", self._failed)
        page.set_default_timeout(90 * SECOND)

    def _failed(self, request) -> None:
        if "ERR_ABORTED" not in (request.failure or ""):  # a page that moves on drops its own long polls
            self.faults.append(f"request: {request.failure} {request.url[:200]}")

    def saved(self) -> dict:
        """The notebook as it lies on disk."""
        return json.loads(self.notebook.read_text(encoding="utf-8"))

    def find(self, text: str) -> str:
        """The id of the first code cell on disk that holds ``text``."""
        return next(c["id"] for c in self.saved()["cells"] if c["cell_type"] == "code" and text in "".join(c["source"]))

    def save(self) -> dict:
        before = self.notebook.stat().st_mtime_ns
        self.menu("File", "docmanager:save")

        def written() -> dict | None:
            with contextlib.suppress(ValueError):  # it is being written
                return self.saved() if self.notebook.stat().st_mtime_ns != before else None

        return self.until(written)

    def menu(self, name: str, command: str) -> None:
        self.page.click(f'li.lm-MenuBar-item:has-text("{name}")')
        self.page.click(f'li.lm-Menu-item[data-command="{command}"] >> nth=0')

    def until_idle(self, quiet: float = 1.0) -> None:
        """Until the kernel has been idle for a while. (The toolbar says idle before there is a kernel, the status bar not.)"""
        idle = "/\\| Idle/.test((document.querySelector('#jp-main-statusbar')||{}).innerText||'')"
        self.page.wait_for_function(
            f"() => {{ if (!{idle}) window.__since = undefined; else window.__since ??= performance.now();"
            f" return window.__since !== undefined && performance.now() - window.__since > {quiet * SECOND}; }}",
            timeout=240 * SECOND,
        )

    def until(self, condition: Callable[[], object], patience: float = 60.0):
        """What ``condition`` gives, once it gives something."""
        for _ in range(int(patience * 10)):
            if found := condition():
                return found
            self.page.wait_for_timeout(100)
        raise AssertionError(f"it did not come in {patience:.0f} s")

    def settled(self, found: Locator) -> str:
        """The HTML inside ``found`` once it has not changed for a second: a figure follows its sentence by some messages."""
        seen = [""]

        def same() -> str | None:
            seen.append(found.inner_html())
            return seen[-1] if len(set(seen[-10:])) == 1 else None

        return self.until(same)

    def run_all(self) -> None:
        """Runs every cell, until each of them has a later count than any had before: a busy machine is slow to begin."""
        before = max(self.page.evaluate(COUNTS), default=0)
        self.menu("Run", "runmenu:run-all")
        self.until(lambda: min(self.page.evaluate(COUNTS)) > before, 240)
        self.until_idle()

    def cell(self, identity: str) -> Locator:
        """The cell with this id, scrolled into view."""
        index = self.order.index(identity)
        found = self.page.locator(f'.jp-NotebookPanel .jp-Cell[data-windowed-list-index="{index}"]')
        for _ in range(200):
            if found.count() and found.is_visible():
                found.scroll_into_view_if_needed()
                self.page.wait_for_timeout(100)
                return found
            near = self.page.locator(".jp-NotebookPanel .jp-Cell[data-windowed-list-index]").evaluate_all(
                "cells => cells.filter(c => c.getBoundingClientRect().height > 0).map(c => +c.dataset.windowedListIndex)"
            )
            down = not near or max(near) < index
            scroller = self.page.locator(".jp-NotebookPanel .jp-WindowedPanel-outer")
            scroller.evaluate("(e, by) => e.scrollBy(0, by)", 500 if down else -500)
            self.page.wait_for_timeout(60)
        raise AssertionError(f"cell {identity} (number {index}) did not come into view")

    def write(self, identity: str, source: str) -> None:
        """Replaces a cell's text as a person does: click, select all, paste."""
        editor = self.cell(identity).locator(".cm-content")
        editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self, identity: str) -> str:
        """Runs one cell by keyboard, until its count is another one, and gives the text of its output."""
        cell = self.cell(identity)
        prompt = cell.locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.until(lambda: (now := prompt.inner_text()) != before and re.search(r"\d", now), 240)
        self.until_idle()
        return self.output(identity)

    def output(self, identity: str) -> str:
        return self.cell(identity).locator(".jp-OutputArea").first.inner_text()

    def theme(self, name: str) -> None:
        """ "JupyterLab Light" or "JupyterLab Dark", chosen in the Settings menu."""
        self.page.click('li.lm-MenuBar-item:has-text("Settings")')
        self.page.hover('li.lm-Menu-item:has-text("Theme") >> nth=0')
        self.page.click(f'li.lm-Menu-item:text-is("{name}"), li.lm-Menu-item:has(div:text-is("{name}"))')
        light = "true" if "Light" in name else "false"
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")
        self.page.wait_for_timeout(SECOND)

    def shot(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_timeout(400)
        self.page.screenshot(path=str(path))
        return path


@contextlib.contextmanager
def sitting(url: str, notebook: Path, width: int = 1300, height: int = 1000) -> Iterator[Desk]:
    """One with a browser of its own."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=list(BROWSER_ARGS))
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            it = Desk(page, notebook)
            page.goto(f"{url}&reset", wait_until="domcontentloaded")  # without the tabs of an earlier sitting
            page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
            it.until_idle()
            yield it
        finally:
            browser.close()


# Ends a sitting: its tabs, unsaved ones too, then their kernels. An input that loses the focus still tells its kernel.
CLOSE = """async () => {
    for (const tab of [...jupyterapp.shell.widgets("main")]) tab.dispose();
    await new Promise(done => setTimeout(done, 300));
    await jupyterapp.serviceManager.sessions.shutdownAll();
}"""
# Opens a notebook in a tab, until its kernel is there.
OPEN = """async path => {
    const tab = await jupyterapp.commands.execute("docmanager:open", {path});
    await tab.context.ready;
    await tab.sessionContext.ready;
    window.__since = undefined;
}"""


FIRST = "labs/first.ipynb"  # in a house's address; it is not there


class House:
    """A worker's checkout with one JupyterLab and one page of it, where each notebook has its turn in a tab: a page takes 6 to
    9 s of a processor to load, a tab half a second. Playwright comes and goes with a sitting: it leaves a running event loop
    while it is there."""

    def __init__(self, folder: Path, url: str, browser: str):
        self.folder, self.url, self.browser = folder, url, browser

    def address(self, notebook: Path) -> str:
        return self.url.replace(FIRST, notebook.relative_to(self.folder / "course").as_posix())

    @contextlib.contextmanager
    def course(self) -> Iterator[Path]:
        """The checkout, with nobody's progress."""
        for kept in (self.folder / "state").iterdir():
            if kept.name != "jupyter":
                shutil.rmtree(kept) if kept.is_dir() else kept.unlink()
        with _inside(self.folder):
            yield self.folder / "course"

    @contextlib.contextmanager
    def sitting(self, notebook: Path, width: int = 1300, height: int = 1000) -> Iterator[Desk]:
        with sync_playwright() as driver:
            browser = driver.chromium.connect_over_cdp(self.browser)
            page = browser.contexts[0].pages[0]
            page.set_viewport_size({"width": width, "height": height})
            if not page.url.startswith("http"):
                page.goto(self.url.replace(f"/tree/{FIRST}", "") + "&reset", wait_until="domcontentloaded")
                page.wait_for_function("() => window.jupyterapp && jupyterapp.restored.then(() => true)")
                page.evaluate(CLOSE)  # the launcher
            it = Desk(page, notebook)
            try:
                page.evaluate(OPEN, notebook.relative_to(self.folder / "course").as_posix())
                page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
                if page.locator('body[data-jp-theme-light="false"]').count():
                    it.theme("JupyterLab Light")
                it.until_idle()
                yield it
            finally:
                page.evaluate(CLOSE)

    @contextlib.contextmanager
    def cells(self, name: str, sources: Iterable[str], width: int = 1300, height: int = 1000) -> Iterator[Desk]:
        """A sitting at a new notebook of these code cells."""
        with self.course() as root:
            notebook = root / f"labs/{name}.ipynb"
            write(notebook, sources)
            with self.sitting(notebook, width, height) as it:
                yield it

    @contextlib.contextmanager
    def lab(self, number: str) -> Iterator[Desk]:
        """A sitting at a lab's notebook."""
        with self.course(), self.sitting(jupyterlab.notebook_ready(jupyterlab.choose(number))) as it:
            yield it


def write(notebook: Path, sources: Iterable[str]) -> None:
    """A new notebook of these code cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, notebook)


@contextlib.contextmanager
def house(folder: Path) -> Iterator[House]:
    """Between the tests that sit there this process is one of its own checkout: others look at that."""
    root, running = _copied(folder), contextlib.ExitStack()
    (root / "labs").mkdir()
    with _inside(folder):
        url, browser = running.enter_context(served(root / FIRST)), running.enter_context(_chromium(folder / "chromium"))
    try:
        yield House(folder, url, browser)
    finally:
        with _inside(folder):
            running.close()


@contextlib.contextmanager
def _chromium(profile: Path) -> Iterator[str]:
    """The address of a browser that stays while pages come and go."""
    words = [CHROMIUM, "--headless", *BROWSER_ARGS, *STAYING_ARGS, f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    process = subprocess.Popen([*words, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = profile / "DevToolsActivePort"
        until(lambda: port.exists() and port.read_text().count("\n"), 60)
        yield f"http://127.0.0.1:{port.read_text().split()[0]}"
    finally:
        process.terminate()
        process.wait()


def plain(text: str) -> str:
    """Text with every run of white space as one space: a browser breaks lines where it likes."""
    return re.sub(r"\s+", " ", text).strip()


def colour(found: Locator, of: str = "color") -> str:
    """The colour on the screen, as ``#rrggbb``. An element that a redraw has just taken out has none: its follower is asked."""
    for _ in range(50):
        if values := re.findall(r"\d+", found.first.evaluate("(e, of) => getComputedStyle(e)[of]", of)):
            return "#" + "".join(f"{int(v):02x}" for v in values[:3])
        found.page.wait_for_timeout(100)
    raise AssertionError(f"{found} has no {of}")
