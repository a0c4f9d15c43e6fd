"""Opens JupyterLab at a lab: chooses the lab, the notebook, the port and the settings."""

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
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dcplab import front_end, paths, progress
from dcplab.course import catalog
from dcplab.errors import CourseError
from dcplab.notebook import file

# JupyterLab's defaults for a learner. A learner's own changes in the settings editor win.
OVERRIDES = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 10},  # seconds: what is on screen is soon on disk
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": False},  # a saved figure holds all of plotly.js: 5 MB
}
# Tools of instructors and authors, which would confuse a learner. nbgrader's alone takes seconds to import.
LAB_EXTENSIONS_OFF = ("@jupyter/nbgrader", "jupyterlab-jupytext")
SERVER_EXTENSIONS_OFF = (
    "nbgrader.server_extensions.formgrader",
    "nbgrader.server_extensions.validate_assignment",
    "nbgrader.server_extensions.assignment_list",
    "nbgrader.server_extensions.course_list",
    "jupyterlab_jupytext",
)
# JupyterLab reads `custom.css` of this server's own folder: no other server's notebooks look different for it. What is read is
# about 80 letters wide (a 0, which ch counts, is wider than most), and tables stand at the left, where the eye comes from.
STYLE = """\
.jp-NotebookPanel .jp-Notebook .jp-RenderedMarkdown > * { max-width: 70ch; }
.jp-NotebookPanel .jp-Notebook .jp-RenderedMarkdown > :is(table, pre, img) { max-width: 100%; }
.jp-NotebookPanel .jp-Notebook .jp-RenderedHTMLCommon table { margin-left: 0; margin-right: auto; }
.jp-NotebookPanel .jp-Notebook .jp-RenderedHTMLCommon :is(th, td) { text-align: left; }
"""
FIRST_PORT = 8888
TAKEN = ("is not available", "is already in use")  # as jupyter_server says it of a port, before it ends


@dataclass(frozen=True)
class Server:
    """A JupyterLab about to start: its command, its environment, and the address to open."""

    argv: list[str]
    env: dict[str, str]
    url: str
    probe: str
    log: Path


def choose(word: str | None) -> catalog.Lab:
    """Return the lab that ``word`` names ("1", "01_index_spaces", a path to its notebook). None: the first unfinished one."""
    if word is not None:
        return catalog.lab(Path(word).stem)
    labs = catalog.labs()
    if not labs:
        raise CourseError(f"there are no labs under {paths.solutions()}; is this a whole checkout?")
    return next((lab for lab in labs if not progress.finished(lab)), labs[0])


def notebook_ready(lab: catalog.Lab, say: Callable[[str], None] = print) -> Path:
    """Return the learner's notebook of ``lab``. A missing one is made anew; an existing one is never touched. CourseError if it
    is broken."""
    notebook = paths.labs() / lab.name / f"{lab.name}.ipynb"
    if not notebook.exists():
        from dcplab.author import build

        build.write(build.make(lab))
        say(f"{notebook.relative_to(paths.root())} was missing and has been made anew.")
    check_readable(notebook)
    return notebook


def newer_version(lab: catalog.Lab, notebook: Path) -> str | None:
    """Return a sentence if the learner's notebook was made from another version of the lab than the present one, else None."""
    from dcplab.author import build

    mine = check_readable(notebook).get("digest")
    if mine in (None, build.make(lab).learner.metadata["dcplab"]["digest"]):
        return None
    return (
        f"Your {notebook.name} is of another version of the lab; `./course reset {lab.number}` gives this one and keeps yours."
    )


def read_only(notebook: Path) -> str | None:
    """Return a sentence if work in the learner's notebook could not be saved, else None."""
    if os.access(notebook, os.W_OK):
        return None
    return f"{notebook} may not be written to by you, so nothing you do in it is saved: work in a checkout of your own."


def check_readable(notebook: Path) -> dict:
    """Return the ``dcplab`` metadata of ``notebook``. Raises CourseError, with a way out, if Jupyter could not open it."""
    number = notebook.name[:2]
    mend = f"`./course reset {number}` keeps your file as a dated backup and puts a fresh one in its place"
    try:
        return file.within(file.parse(notebook.read_bytes()), "metadata", "dcplab")
    except OSError as error:
        raise CourseError(f"{notebook} cannot be read ({error}); {mend}.") from error
    except file.Unreadable as error:
        raise CourseError(f"{notebook} is not a whole notebook. {error} {mend}.") from error


def free_port(ip: str, asked: int | None) -> int:
    """Return the port asked for, or else the first free one from 8888 on."""
    if asked is not None:
        if not 1 <= asked <= 65535:
            raise CourseError(f"--port {asked} is not a port: give one from 1 to 65535.")
        if (error := _cannot_bind(ip, asked)) is not None:
            raise CourseError(f"port {asked} on {ip} cannot be used ({error}); leave --port out, and a free one is taken.")
        return asked
    for port in range(FIRST_PORT, FIRST_PORT + 200):
        if (error := _cannot_bind(ip, port)) is None:
            return port
    raise CourseError(f"no port from {FIRST_PORT} to {FIRST_PORT + 199} on {ip} can be used ({error}); name one with --port.")


def _cannot_bind(ip: str, port: int) -> str | None:
    try:
        family, _, _, _, address = socket.getaddrinfo(ip or "0.0.0.0", port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as tornado binds
            probe.bind(address)
    except OSError as error:
        return error.strerror or str(error)
    return None


def server(notebook: Path, ip: str = "127.0.0.1", port: int | None = None) -> Server:
    """Return the JupyterLab of this checkout, opened at ``notebook``, with settings for learners kept under the state
    folder."""
    jupyter = paths.state_dir() / "jupyter"
    words, config = learners_settings(jupyter)
    port = free_port(ip, port)
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    argv = [sys.executable, "-m", "jupyterlab", "--no-browser", "-y", "--log-level=WARN"]
    argv += [f"--ip={ip}", f"--port={port}", "--ServerApp.port_retries=0"]
    argv += [f"--ServerApp.root_dir={paths.root()}", *words]
    if hasattr(os, "getuid") and os.getuid() == 0:
        argv.append("--allow-root")
    env = os.environ | {
        **learners_environment(config),
        "JUPYTER_TOKEN": token,  # in the environment: other users could read it on the command line
        "JUPYTERLAB_WORKSPACES_DIR": str(jupyter / "workspaces"),  # keeps tabs of other projects out
    }
    everywhere = ip in ("", "0.0.0.0", "::", "*")
    host = "127.0.0.1" if everywhere else f"[{ip}]" if ":" in ip else ip
    shown = socket.gethostname() if everywhere else host
    where = notebook.relative_to(paths.root()).as_posix()
    return Server(
        argv=argv,
        env=env,
        url=f"http://{shown}:{port}/lab/tree/{where}?token={token}",
        probe=f"http://{host}:{port}/api/status?token={token}",  # `/api` alone answers anybody: another's server would do
        log=jupyter / "server.log",
    )


def learners_settings(folder: Path) -> tuple[list[str], Path]:
    """Write JupyterLab's settings for learners below a folder. Returns the words that make a server use them, and the folder
    that its ``JUPYTER_CONFIG_PATH`` begins with."""
    settings, config = folder / "settings", folder / "config"
    _write_json(settings / "overrides.json", OVERRIDES)
    _write_json(settings / "page_config.json", {"disabledExtensions": dict.fromkeys(LAB_EXTENSIONS_OFF, True)})
    _write(folder / "custom" / "custom.css", STYLE)
    extensions = {"jpserver_extensions": dict.fromkeys(SERVER_EXTENSIONS_OFF, False)}
    look = {"tornado_settings": {"static_custom_path": [str(folder / "custom")]}}  # it is no setting of its own
    _write_json(config / "jupyter_server_config.json", {"ServerApp": extensions | look})
    words = [f"--LabApp.app_settings_dir={settings}"]
    words += ["--LabApp.expose_app_in_browser=True"]  # a check saves the notebook, a reset fills a cell: dcplab.front_end
    words += ["--LabApp.custom_css=True"]  # STYLE
    words += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    return words, config


def learners_environment(config: Path) -> dict[str, str]:
    """Return what a learner's server needs in its environment. ``config``: the folder of `learners_settings`."""
    return {
        front_end.EXPOSED: "jupyterlab",
        "JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, [str(config), os.environ.get("JUPYTER_CONFIG_PATH")])),
        "JUPYTER_PREFER_ENV_PATH": "1",  # prefer this environment's kernel to one of the same name in the home folder
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }


def _write_json(path: Path, what: dict) -> None:
    _write(path, json.dumps(what, indent=1) + "\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def start(command: Server) -> subprocess.Popen:
    """Start the server. Its log goes to a file. Ctrl-C reaches only this process, which stops the server in order."""
    with command.log.open("wb") as log:
        return subprocess.Popen(command.argv, env=command.env, stdout=log, stderr=log, start_new_session=True)


def wait(process: subprocess.Popen, command: Server, patience: float = 120.0) -> None:
    """Wait until the server answers. Raises CourseError, with the log's last line, if it does not."""
    deadline = time.monotonic() + patience
    while (ended := process.poll() is not None) or not _answers(command.probe):
        if ended or time.monotonic() > deadline:
            lines = [line for line in command.log.read_text(errors="replace").splitlines() if line.strip()]
            why = "ended at once" if ended else f"did not answer in {patience:.0f} s"
            said = lines[-1].strip() if lines else "it said nothing"
            raise CourseError(f"JupyterLab {why}: {said} (all of it: {command.log})")
        time.sleep(0.1)


@contextlib.contextmanager
def serving(notebook: Path, ip: str = "127.0.0.1", port: int | None = None) -> Iterator[tuple[subprocess.Popen, Server]]:
    """Give a server that answers, and stop it at the end. One that lost its port to somebody who started in the same second
    takes the next free one, unless ``port`` was asked for. Raises CourseError."""
    for chance in range(4, -1, -1):
        command = server(notebook, ip, port)
        process = start(command)
        try:
            try:
                wait(process, command)
            except CourseError:
                said = command.log.read_text(errors="replace")
                if chance and port is None and process.poll() is not None and any(map(said.__contains__, TAKEN)):
                    continue
                raise
            yield process, command
            return
        finally:
            stop(process)


def stop(process: subprocess.Popen) -> None:
    """End the server and its kernels: first by a request, then by force."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=1):
            return True
    except (urllib.error.URLError, OSError):
        return False


def browser_here() -> webbrowser.BaseBrowser | None:
    """Return a browser with a window, if there is one. A text browser in this terminal would only hide the address."""
    if not any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")):
        return None
    try:
        return webbrowser.get()
    except webbrowser.Error:
        return None


def run(lab: catalog.Lab, ip: str, port: int | None, browser: bool) -> int:
    """Run `./course lab`: serve until Ctrl-C."""
    notebook = notebook_ready(lab)
    print(f"Starting JupyterLab at {notebook.relative_to(paths.root())} ...", flush=True)
    for sent in (signal.SIGTERM, signal.SIGHUP):  # also when the terminal closes: no server is left behind
        signal.signal(sent, lambda number, _: sys.exit(128 + number))
    for note in filter(None, (read_only(notebook), newer_version(lab, notebook))):
        print(note)
    try:
        with serving(notebook, ip, port) as (process, command):
            opened = browser and (window := browser_here()) is not None and window.open(command.url)
            line = "-" * min(shutil.get_terminal_size().columns, 100)
            print(f"{line}\n{'Opened in your browser. Its address:' if opened else 'Open this address in a browser:'}\n")
            print(f"    {command.url}\n\nCtrl-C here stops it. Its log: {command.log}\n{line}", flush=True)
            process.wait()
            return 0 if process.returncode == 0 else 2
    except KeyboardInterrupt:
        print("\nStopping JupyterLab; your notebook stays as it was last saved.", flush=True)
        return 0
