"""`./course lab`: which lab, whose notebook, which port, and a server that really answers and really ends."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest

from dcplab import jupyterlab, paths, progress
from dcplab.course import catalog
from dcplab.course.model import CheckResult
from dcplab.errors import CourseError

ROOT = Path(__file__).parents[1]
FIRST = "01_index_spaces"


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """The labs' sources in a checkout of their own; no notebook is made yet."""
    shutil.copytree(ROOT / "solutions", tmp_path / "course/solutions", ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"))
    monkeypatch.setenv("DCPLAB_ROOT", str(tmp_path / "course"))
    monkeypatch.setenv("DCPLAB_STATE", str(tmp_path / "state"))
    return tmp_path / "course"


@pytest.fixture
def notebook(course) -> Path:
    path = course / "labs" / FIRST / f"{FIRST}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    return path


def pass_all(lab: catalog.Lab) -> None:
    for part in lab.parts:
        progress.record(CheckResult(lab.name, part.id, "passed", part.points, part.points, "", 1, "cpu", {}))


@pytest.mark.parametrize("word", ["1", "01", FIRST, f"labs/{FIRST}", f"labs/{FIRST}/{FIRST}.ipynb"])
def test_a_lab_has_several_names(course, word):
    assert jupyterlab.choose(word).name == FIRST


def test_the_first_unfinished_lab_is_the_default(course):
    labs = catalog.labs()
    assert jupyterlab.choose(None).name == FIRST
    pass_all(labs[0])
    assert jupyterlab.choose(None).name == (labs[1].name if len(labs) > 1 else FIRST)


def test_an_unknown_lab_is_answered_with_those_there_are(course):
    with pytest.raises(CourseError, match=FIRST):
        jupyterlab.choose("99")


def test_a_missing_notebook_is_made_and_one_that_is_there_is_left_alone(course):
    said = []
    path = jupyterlab.notebook_ready(jupyterlab.choose("1"), said.append)
    made = json.loads(path.read_text())
    assert made["cells"] and said == [f"labs/{FIRST}/{FIRST}.ipynb was missing and has been made anew."]
    made["cells"][0]["source"] = "mine"
    path.write_text(json.dumps(made))
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert jupyterlab.notebook_ready(jupyterlab.choose("1"), said.append) == path and len(said) == 1
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_notebook_of_another_version_is_kept_and_said(course):
    lab = jupyterlab.choose("1")
    path = jupyterlab.notebook_ready(lab, lambda line: None)
    assert jupyterlab.newer_version(lab, path) is None
    source = course / "solutions" / FIRST / f"{FIRST}.py"
    source.write_text(source.read_text() + "\n# %% [markdown]\n# A word more.\n")
    before = path.read_bytes()
    assert "`./course reset 01` gives this one and keeps yours" in jupyterlab.newer_version(jupyterlab.choose("1"), path)
    assert path.read_bytes() == before


def test_what_cannot_be_saved_is_said(course, monkeypatch):
    path = jupyterlab.notebook_ready(jupyterlab.choose("1"), lambda line: None)
    assert jupyterlab.read_only(path) is None
    monkeypatch.setattr(jupyterlab.os, "access", lambda *_: False)  # root may write everywhere
    assert "nothing you do in it is saved" in jupyterlab.read_only(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "is empty"),
        (b'{"cells": [{"cell_type": "code", "sou', "Not JSON from line 1 on .* is the file complete?"),
        (b'{"metadata": {}}', "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b"[]", "no list of cells"),
        (b'{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> theirs\n]}', "git's conflict marks"),
        (b"\x00\xff\xfe", "A null byte at byte 0: the file is damaged"),
        (b"\xff", "Not UTF-8 text"),
    ],
)
def test_a_broken_notebook_is_said_with_the_way_out_and_stays(notebook, text, words):
    notebook.write_bytes(text)
    with pytest.raises(CourseError, match=words) as error:
        jupyterlab.notebook_ready(jupyterlab.choose("1"))
    assert "`./course reset 01` keeps your file" in str(error.value) and notebook.read_bytes() == text


def test_a_busy_port_is_passed_over_unless_it_was_asked_for(monkeypatch):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(CourseError, match=f"port {port} on 127.0.0.1 cannot be used"):
            jupyterlab.free_port("127.0.0.1", port)
        monkeypatch.setattr(jupyterlab, "FIRST_PORT", port)  # other tests serve at the real one
        assert jupyterlab.free_port("127.0.0.1", None) > port
    assert jupyterlab.free_port("127.0.0.1", port) == port


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_that_is_none_is_said(port):
    with pytest.raises(CourseError, match="is not a port"):
        jupyterlab.free_port("127.0.0.1", port)


def test_an_address_of_another_machine_is_said():
    with pytest.raises(CourseError, match="cannot be used"):
        jupyterlab.free_port("203.0.113.7", 8888)


def test_the_address_to_open_is_one_that_a_browser_can_reach(notebook):
    here = jupyterlab.server(notebook)
    assert here.url.startswith("http://127.0.0.1:") and f"/lab/tree/labs/{FIRST}/{FIRST}.ipynb?token=" in here.url
    shared = jupyterlab.server(notebook, ip="0.0.0.0")
    assert shared.url.startswith(f"http://{socket.gethostname()}:") and shared.probe.startswith("http://127.0.0.1:")
    assert "--ip=0.0.0.0" in shared.argv


def test_the_token_is_a_secret_of_the_environment(notebook, monkeypatch):
    monkeypatch.delenv("JUPYTER_TOKEN", raising=False)
    one, other = jupyterlab.server(notebook), jupyterlab.server(notebook)
    assert one.env["JUPYTER_TOKEN"] != other.env["JUPYTER_TOKEN"]
    assert not any(one.env["JUPYTER_TOKEN"] in word for word in one.argv)
    monkeypatch.setenv("JUPYTER_TOKEN", "chosen")
    assert jupyterlab.server(notebook).url.endswith("?token=chosen")


def test_a_text_browser_is_no_browser(monkeypatch):
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    assert jupyterlab.browser_here() is None


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 0), (signal.SIGHUP, 129)])
def test_it_serves_until_it_is_stopped_and_leaves_nothing_behind(notebook, sent, status):
    before = notebook.read_bytes()
    process = subprocess.Popen(
        [sys.executable, "-m", "dcplab", "lab", "1", "--no-browser"],
        env=os.environ | {"JUPYTER_TOKEN": "t"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    said = []
    for line in process.stdout:
        said.append(line.strip())
        if line.startswith("Ctrl-C"):
            break
    url = next((line for line in said if line.startswith("http://")), None)
    assert url is not None, said
    with urllib.request.urlopen(url) as page:
        assert page.status == 200
    with urllib.request.urlopen(url.replace(f"lab/tree/labs/{FIRST}", f"api/contents/labs/{FIRST}")) as answer:
        assert json.load(answer)["name"] == notebook.name, "the checkout is what it serves"
    servers = psutil.Process(process.pid).children(recursive=True)
    assert servers
    os.kill(process.pid, sent)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == status and "Traceback" not in out
    assert not any(server.is_running() for server in servers) and notebook.read_bytes() == before
    assert "nbgrader" not in (paths.state_dir() / "jupyter/server.log").read_text()


def test_a_server_that_cannot_start_is_one_sentence(notebook):
    command = jupyterlab.server(notebook)
    process = jupyterlab.start(
        jupyterlab.Server(
            [sys.executable, "-c", "import sys; sys.exit('no room')"], command.env, "", command.probe, command.log
        )
    )
    with pytest.raises(CourseError, match="JupyterLab ended at once: no room"):
        jupyterlab.wait(process, command)


@pytest.mark.slow
def test_two_who_start_in_the_same_second_get_a_port_each(notebook, monkeypatch):
    """The port was free when it was chosen, and somebody else's by the time the server took it."""
    chosen = iter([8888, 8888])
    free_port = jupyterlab.free_port
    with jupyterlab.serving(notebook) as (_, first):
        taken = int(first.url.split(":")[2].split("/")[0])
        monkeypatch.setattr(jupyterlab, "free_port", lambda ip, asked: taken if next(chosen, None) else free_port(ip, asked))
        with jupyterlab.serving(notebook) as (process, second):
            assert process.poll() is None and f":{taken}/" not in second.url
            with urllib.request.urlopen(second.probe) as answer:
                assert "kernels" in json.load(answer)


@pytest.mark.slow
def test_another_ones_server_is_not_taken_for_ones_own(notebook, monkeypatch):
    with jupyterlab.serving(notebook) as (_, theirs):
        mine = jupyterlab.Server(
            [sys.executable, "-c", "import time; time.sleep(60)"],
            theirs.env,
            "",
            theirs.probe.split("?")[0] + "?token=mine",
            theirs.log.with_name("mine.log"),
        )
        process = jupyterlab.start(mine)
        try:
            with pytest.raises(CourseError, match="did not answer in 1 s"):
                jupyterlab.wait(process, mine, patience=1)
        finally:
            jupyterlab.stop(process)
