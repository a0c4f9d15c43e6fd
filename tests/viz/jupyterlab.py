"""A real JupyterLab server and a headless Chromium page on one of its notebooks, for tests that must see what a person sees."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync"


@dataclass
class Server:
    """A running JupyterLab over ``folder``. ``home`` holds its settings, of which nothing is the user's."""

    url: str
    token: str
    folder: Path
    home: Path

    def use_theme(self, name: str) -> None:
        """JupyterLab's theme ("JupyterLab Light", "JupyterLab Dark") for pages opened from now on; no news pop-up either."""
        settings = self.home / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": name}))
        (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')


@contextlib.contextmanager
def server(folder: Path, home: Path, seconds: float = 120) -> Iterator[Server]:
    """JupyterLab on a free port of this machine, ended with everything it started."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    running = Server(f"http://127.0.0.1:{port}", secrets.token_hex(16), folder, home)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--IdentityProvider.token={running.token}", f"--ServerApp.root_dir={folder}", "--ServerApp.port_retries=0"]
    environment = os.environ | {name: str(home / place) for name, place in places.items()}
    home.mkdir(parents=True, exist_ok=True)
    with (home / "jupyterlab.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait(running, process, seconds)
            yield running
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _wait(running: Server, process: subprocess.Popen, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{running.url}/api?token={running.token}", timeout=2)
            return
        log = running.home / "jupyterlab.log"
        assert process.poll() is None and time.monotonic() < end, f"JupyterLab did not start:\n{log.read_text()[-2000:]}"
        time.sleep(0.2)


@dataclass
class Notebook:
    """A notebook open in a browser. ``complaints`` are the console's errors and the requests that failed, so far."""

    page: object
    complaints: list[str] = field(default_factory=list)

    def run_all(self) -> None:
        """Run > Run All Cells. The kernel must be idle: before that the command is dropped without a word."""
        idle = "/\\| Idle/.test((document.querySelector('#jp-main-statusbar') || {}).innerText || '')"
        self.page.wait_for_function(idle, timeout=120_000)
        self.page.click('li.lm-MenuBar-item:has-text("Run")')
        self.page.click('li.lm-Menu-item[data-command="runmenu:run-all"]')


@contextlib.contextmanager
def notebook(running: Server, name: str, width: int = 1300, height: int = 1250) -> Iterator[Notebook]:
    """The server's notebook ``name`` in a page of its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS.split())
        page = browser.new_page(viewport={"width": width, "height": height})
        found = Notebook(page)
        page.on("console", lambda m: found.complaints.append(m.text[:300]) if m.type == "error" else None)
        page.on("pageerror", lambda e: found.complaints.append(str(e)[:300]))
        page.on("requestfailed", lambda r: found.complaints.append(f"request failed: {r.url[:200]}"))
        page.goto(f"{running.url}/lab/tree/{name}?token={running.token}&reset", wait_until="domcontentloaded")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=120_000)
        yield found
        browser.close()
