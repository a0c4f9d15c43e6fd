"""Runs the incident at the report's own size on a GPU, with a button to start and a button to stop. A CPU runs the same story
small.

The server runs in its own process. The notebook's process never touches the GPU, and to stop the server is to end its process.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from dcplab import ended, mode, subprocess_call
from dcplab.engine import world
from dcplab.errors import CourseError
from dcplab.present.page import PRE, STATUS, html
from dcplab.present.text_with_table import Words

REPORT = ("--device", "cuda", "--dcp-size", "8", "--size", "455744", "--page-size", "64", "--stored")
TOY = ("--device", "cpu", "--dcp-size", "4", "--stored")
GRACE_S = 5.0
DEFECTS = {"unpatched": "as it was reported", "none": "with every patch"}


def command(
    defects: str = "unpatched", processes: int | None = None, ranks: str | None = None, gpus: int | None = None
) -> tuple[list[str], str]:
    """Return the words for ``./course`` that run the incident on this machine, and a sentence that describes the run."""
    if defects not in DEFECTS:
        raise CourseError(f"The server can run {' or '.join(DEFECTS)}, not {defects!r}.")
    here = mode.current()
    gpu = here.name == "gpu" and ranks != "gloo"
    if ranks is None and gpus is None:
        ranks = "local" if processes in (None, 1) else "nccl" if gpu else "gloo"
    kind, count = world.asked(ranks or "local", processes, gpus)
    if (kind, count) == ("local", 1):
        count = None
    held_by = world.check(kind, 8 if gpu else 4, count)
    held = f"{held_by} processes{', a GPU each' if gpu else ' over gloo'}" if held_by else "one process"
    why = here.reason if here.name == "cpu" else "Over gloo ranks are on the CPU."
    what = (
        f"The report's own size on {here.device}: C = 455,744 rows a rank, P = 64, D = 8 ranks, {held}; three DSA layers, "
        "where the report's server has eleven."
        if gpu
        else f"The report's size needs a GPU. {why} Here the same story runs on a small server: D = 4, P = 8, CPU"
        f"{', ' + held if held_by else ''}."
    )
    dealt = ("--gpus", str(held_by)) if gpu else ("--ranks", "gloo", "--processes", str(held_by))
    return ["incident", "--defects", defects, *(REPORT if gpu else TOY), *(dealt if held_by else ())], what


_LAUNCH = "import sys; from dcplab.investigate import report_size_button; report_size_button.launched(sys.argv[1:])"


def launched(words: Sequence[str]) -> None:
    """Run the course's command line in the server's own process.

    Only one such server runs on a GPU at a time, whoever starts it: a class that shares a GPU would start all at once, and no
    GPU holds ten.
    """
    from dcplab.sandbox.gpu_queue import client

    sys.argv[1:] = words
    mode = "gpu" if "cuda" in words else "cpu"
    with client.turn(mode, lambda text: print(text, file=sys.stderr, flush=True), large=True, what="incident"):
        runpy.run_module("dcplab", run_name="__main__")  # as `python -m dcplab` does; ends by SystemExit


class Job:
    """``./course`` with some words, until it ends or is stopped. ``says(line)`` gets each progress line as it comes."""

    def __init__(self, words: Sequence[str], says: Callable[[str], None]):
        self.stopped = False
        pipes: dict[str, Any] = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._process = subprocess_call.python(_LAUNCH, words, text=True, errors="replace", **pipes)
        self._says, self._errors = says, list[str]()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stderr or ():
            self._errors.append(line.rstrip())
            del self._errors[:-20]
            self._says(line.strip())

    def wait(self) -> str:
        """Wait for the end and return the output. After a failure, return the last lines of stderr."""
        out = self._process.stdout.read() if self._process.stdout else ""
        self._process.wait()
        self._reader.join(GRACE_S)
        if self.stopped:
            return "Stopped."
        if self._process.returncode:
            return f"It did not end well: {ended.why(self._process.returncode, chr(10).join(self._errors))}"
        return out.rstrip()

    def stop(self) -> None:
        """End the process. Its memory is free when this returns."""
        self.stopped = True
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        """Signal the server, and the processes that hold its ranks: they are a process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


class AtScale:
    """Two buttons and the server's output. As text: how to run it from a terminal. ``run()`` runs it at once."""

    def __init__(self, defects: str, *dealt: Any):
        self.words, self.what = command(defects, *dealt)
        self.result: str | None = None

    def __repr__(self) -> str:
        return f"{self.what}\n" + (self.result or f"Not run here. In a terminal: ./course {' '.join(self.words)}")

    def run(self) -> Words:
        """Run it and wait, where there are no buttons."""
        job = Job(self.words, lambda line: None)
        try:
            self.result = job.wait()
        except BaseException:  # an interrupted cell must leave no server behind
            job.stop()
            raise
        return Words(f"{self.what}\n\n{self.result}")

    @functools.cached_property
    def widget(self):
        """Return the live view, an ipywidgets ``VBox``."""
        return _buttons(self)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        page = str(html('<div class="dcplab-static">{}</div>', html(PRE, repr(self))))
        display({"text/html": page, "text/plain": repr(self)}, raw=True)
        try:
            view = self.widget._repr_mimebundle_()
        except Exception as error:  # no ipywidgets, or no front end: the text is displayed already
            display({"text/plain": f"There are no buttons here ({type(error).__name__}: {error})."}, raw=True)
            return
        bundle, metadata = view if isinstance(view, tuple) else (view, {})
        display({**bundle, "text/plain": "The buttons work where a kernel runs."}, raw=True, metadata=metadata)


def at_scale(
    defects: str = "unpatched", processes: int | None = None, ranks: str | None = None, gpus: int | None = None
) -> AtScale:
    """Offer the incident at the report's size on a GPU, or small on a CPU. ``defects``: "unpatched", or "none" for every
    patch. ``ranks``, ``processes`` and ``gpus`` are the options of ``./course incident``; ``processes`` alone is as many GPUs,
    or on a CPU processes over gloo. CourseError where they cannot hold the ranks."""
    return AtScale(defects, processes, ranks, gpus)


def _buttons(owner: AtScale):
    import ipywidgets as w

    from dcplab.viz.core import keyboard
    from dcplab.viz.core.live import HIDE_STATIC, control

    go, halt = control(w.Button, "run", "start the server", 80), control(w.Button, "stop", "end the server now", 80)
    what, line, out = w.HTML(html("{}", owner.what)), w.HTML(), w.HTML()
    halt.disabled = True
    jobs: list[Job] = []

    def says(text: str) -> None:
        line.value = html(STATUS, text)

    def work() -> None:
        try:
            owner.result = jobs[-1].wait()
            out.value = html(PRE, owner.result)
            says("The server has ended." if not jobs[-1].stopped else "Stopped; nothing is left running.")
        finally:
            go.disabled, halt.disabled = False, True

    def start(_) -> None:
        go.disabled, halt.disabled = True, False
        says("Starting ...")
        out.value = ""
        try:
            jobs.append(Job(owner.words, says))
        except OSError as error:
            says(f"It cannot be started: {error}")
            go.disabled, halt.disabled = False, True
            return
        threading.Thread(target=functools.partial(contextvars.copy_context().run, work), daemon=True).start()

    go.on_click(start)
    halt.on_click(lambda _: jobs[-1].stop() if jobs else None)
    box = w.VBox([w.HTML(HIDE_STATIC), what, w.HBox([go, halt]), line, out, keyboard.keep()])
    box.add_class("dcplab-live")
    return box
