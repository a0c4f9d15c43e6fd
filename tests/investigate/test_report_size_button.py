"""The report's size behind a button: what it runs where, and that a stop, or the notebook's end, leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch
from waiting import gone, until

from dcplab import investigate, mode
from dcplab.errors import CourseError
from dcplab.investigate import report_size_button
from dcplab.mode import Mode
from dcplab.sandbox.gpu_queue import client

pytestmark = pytest.mark.slow  # servers run

CPU = Mode("cpu", "No NVIDIA device is visible here.", "a laptop")
GPU = Mode("gpu", "A CUDA device is visible.", "NVIDIA H200")


def test_what_runs_where(monkeypatch):
    monkeypatch.setattr(mode, "current", lambda: GPU)
    words, what = report_size_button.command()
    assert words == "incident --defects unpatched --device cuda --dcp-size 8 --size 455744 --page-size 64 --stored".split()
    assert "455,744" in what and "NVIDIA H200" in what
    monkeypatch.setattr(mode, "current", lambda: CPU)
    words, what = report_size_button.command("none")
    assert words[:5] == ["incident", "--defects", "none", "--device", "cpu"]
    assert what.startswith("The report's size needs a GPU. No NVIDIA device is visible here.") and "CPU" in what
    with pytest.raises(CourseError, match="unpatched or none"):
        report_size_button.command("some")
    assert "./course incident --defects unpatched --device cpu" in repr(investigate.at_scale())


def test_several_processes_hold_its_ranks(monkeypatch):
    monkeypatch.setattr(mode, "current", lambda: CPU)
    words, what = report_size_button.command("none", 2)
    assert words[-4:] == ["--ranks", "gloo", "--processes", "2"] and what.endswith("CPU, 2 processes over gloo.")
    with pytest.raises(CourseError, match="4 DCP ranks cannot be dealt evenly to 3 processes"):
        investigate.at_scale("none", 3)
    monkeypatch.setattr(mode, "current", lambda: GPU)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    words, what = report_size_button.command("none", 2)
    assert words[-2:] == ["--gpus", "2"] and "2 processes, a GPU each" in what
    with pytest.raises(CourseError, match="4 were started here, and there are 2: give --gpus 2"):
        investigate.at_scale("none", 4)


def test_a_stop_ends_all_its_processes():
    lines = []
    words = ["incident", "--device", "cpu", "--dcp-size", "4", "--ranks", "gloo", "--processes", "2"]
    job = report_size_button.Job(words, lines.append)
    until(lambda: any("step" in line for line in lines))
    ranks = psutil.Process(job._process.pid).children(recursive=True)
    assert len(ranks) >= 2
    job.stop()
    assert job.wait() == "Stopped."
    until(lambda: all(gone(rank.pid) for rank in ranks))


def small(monkeypatch, *words):
    monkeypatch.setattr(report_size_button, "command", lambda *given: (["incident", *words], "What it is."))
    return investigate.at_scale()


SMALL = ("--device", "cpu", "--dcp-size", "2", "--page-size", "4", "--stored")


def test_it_runs_and_says_what_came_of_it(monkeypatch):
    table = small(monkeypatch, *SMALL)
    said = str(table.run())
    assert said.startswith("What it is.") and "CPU (torch)" in said and "Verdict: silent corruption" in said
    assert "Verdict" in repr(table)


def test_a_server_that_cannot_run_is_a_sentence(monkeypatch):
    said = str(small(monkeypatch, *SMALL, "--size", "8").run())
    assert "did not end well" in said and "too small for this story" in said


def buttons(table):
    box = table.widget.children[2]
    return box.children, lambda: " ".join(c.value for c in table.widget.children if type(c).__name__ == "HTML")


def test_the_buttons_run_stop_and_run_again(monkeypatch):
    table = small(monkeypatch, *SMALL)
    (go, halt), said = buttons(table)
    assert halt.disabled and not go.disabled
    go.click()
    assert go.disabled and not halt.disabled
    until(lambda: "step" in said())  # it is on its way
    halt.click()
    until(lambda: "Stopped; nothing is left running" in said() and not go.disabled)
    go.click()
    until(lambda: "Verdict: silent corruption" in said() and not go.disabled)
    assert halt.disabled


def test_on_a_gpu_one_server_of_this_size_at_a_time(monkeypatch, tmp_path):
    """What ten learners who press at once get: a turn each. The waiting is real; the server is not reached on a CPU."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a queue of its own
    monkeypatch.setattr(client.tempfile, "tempdir", str(tmp_path))
    said = []
    with client.turn("gpu", None, large=True):
        job = report_size_button.Job(["incident", "--device", "cuda", "--defects", "no such defect"], said.append)
        until(lambda: said)
        assert said[0].startswith("Another large server has the GPU; waiting for a turn ... You are next.")
        assert job._process.poll() is None
        with client.turn("gpu", said.append):  # a check does not wait for it
            pass
        stopped = report_size_button.Job(["incident", "--device", "cuda"], lambda line: None)
        stopped.stop()  # who waits can be stopped too
        assert stopped.wait() == "Stopped."
    assert "did not end well" in job.wait() and "no such defect" in said[-1]
    assert len(said) == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a child that ends with its parent is Linux's")
def test_a_kernel_that_is_killed_takes_its_server_along():
    code = (
        "from dcplab.investigate.report_size_button import Job\n"
        "job = Job(['incident', '--device', 'cpu', '--dcp-size', '8'], lambda line: None)\n"
        "print(job._process.pid, flush=True)\njob.wait()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=_env())
    child = int(parent.stdout.readline())
    # It has set its end once it has imported what runs the server.
    until(lambda: re.search(r"torch", Path(f"/proc/{child}/maps").read_text()))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    until(lambda: gone(child))


def _env():
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root / "kernels")])}
