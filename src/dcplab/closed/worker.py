"""Runs what learners ask of the grading service, one request at a time: ``python -m dcplab.closed.worker``, which the service
starts and may kill. It reads requests from its standard input and writes frames to its standard output.

A request is evaluated by the same `dcplab.lab` as a notebook's own: the cells that were sent stand in for a kernel's history
and for the notebook's file, and the learner's state folder and seed are the service's.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch

from dcplab import codec, files, front_end, lab, mode, prediction, progress, settings
from dcplab.closed import asks, examination, shown, wire
from dcplab.course import catalog
from dcplab.errors import CourseError
from dcplab.sandbox import pool

MEMORY_BYTES = 8 << 30  # of the worker itself: a picture of 10^9 locs ends the request and nobody else's


class SentCells:
    """Stands where a kernel's shell would: the cells that ran, as the learner's side has sent them."""

    def __init__(self, history: list[str]):
        self.history_manager = self
        self.input_hist_raw = ["", *history]
        self.events, self.next_input = None, ""

    def set_next_input(self, text: str) -> None:
        self.next_input = text


class _Notes(io.TextIOBase):
    """Sends what is printed as notes, whole lines."""

    def __init__(self, out: BinaryIO):
        self.out, self.kept = out, ""

    def write(self, text: str) -> int:
        *lines, self.kept = (self.kept + text).split("\n")
        if lines:
            _send(self.out, wire.words({"note": "\n".join(lines)}))
        return len(text)

    def rest(self) -> None:
        if self.kept:
            self.write("\n")


def main() -> None:
    """Answer requests until the service hangs up."""
    out = os.fdopen(os.dup(1), "wb")
    inn = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # a library that prints to the descriptor must not speak to the service
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    here = mode.current().name
    if here == "cpu":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    for one in catalog.checked():
        one.key(one.parts[0].id)
    pool.warm(here)
    _send(out, wire.words({"ready": True}))
    while header := _header(inn):
        request = inn.read(header["bytes"])
        try:
            _send(out, answered(header, request, _Notes(out)))
        except codec.CodecError:
            _send(out, wire.words({"error": "What came back is too large to be sent."}))


def _header(inn: BinaryIO) -> dict[str, Any]:
    line = inn.readline()
    return json.loads(line) if line else {}


def _send(out: BinaryIO, frame: bytes) -> None:
    out.write(frame)
    out.flush()


def answered(header: Mapping[str, Any], request: bytes, notes: _Notes) -> bytes:
    """Return the frame that answers a request. ``header``: whose it is, as the service knows."""
    try:
        asked = wire.body(wire.VALUE, request)
        with contextlib.redirect_stdout(notes), _learner(header, asked) as shell:
            found = asks.evaluate(asked.get("of"), _special(header), header["state"])
            told = shown.told(found)
            if shell is not None and shell.next_input:
                told["next_input"] = shell.next_input
        notes.rest()
        return wire.value(told)
    except wire.Broken:
        return wire.words({"error": "The grading service does not understand what was asked."})
    except CourseError as error:
        return wire.words({"error": str(error)})
    except MemoryError:
        return wire.words({"error": "That needs more memory than the grading service gives a request."})
    except Exception as error:  # told as the learner's own kernel would, and the worker goes on
        if settings.debug():
            raise
        return wire.words({"error": f"{type(error).__name__}: {error}"})


@contextlib.contextmanager
def _learner(header: Mapping[str, Any], asked: Any) -> Iterator[SentCells | None]:
    """Be the service's side of one learner for a request: their state, their seed, and the notebook that was sent."""
    if not isinstance(asked, dict):
        raise wire.Broken("no request")
    environment, before = os.environ.copy(), Path.cwd()
    with files.scratch("asked") as scratch:
        try:
            seed = header.get("seed")
            own = {"DCPLAB_STATE": header["state"], "DCPLAB_SEED": "" if seed is None else str(seed)}
            os.environ |= own | {"DCPLAB_LABS": str(scratch)}
            os.environ.pop("JPY_SESSION_NAME", None)
            os.chdir(_laid_out(scratch, asked.get("notebook")))
            history = asked.get("history")
            shell = SentCells([str(text) for text in history]) if isinstance(history, list) else None
            front_end.ran = _runs(asked.get("runs"))
            with lab.attached(shell):
                yield shell
        finally:
            front_end.ran = {}
            os.chdir(before)
            os.environ.clear()
            os.environ |= environment


def _laid_out(scratch: Path, notebook: Any) -> Path:
    """Write the notebook that was sent where `lab` looks for it. Returns the folder to be in."""
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        return scratch
    name = str(notebook.get("name", ""))
    if name not in {one.name for one in catalog.labs()}:
        raise CourseError(f"{name[:60]!r} is no lab of this course.")
    folder = scratch / name
    folder.mkdir()
    cells = [_cell(*one) for one in notebook["cells"] if isinstance(one, (list, tuple)) and len(one) == 3]
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    written = float(notebook.get("written") or 0.0)
    os.utime(path, (written, written))
    return folder


def _cell(source: Any, identity: Any, part: Any) -> dict[str, Any]:
    about = {"nbgrader": {"grade_id": str(part)}} if part else {}
    return {"cell_type": "code", "id": str(identity), "source": str(source), "metadata": about, "outputs": []}


def _runs(given: Any) -> dict[int, tuple[str, float]]:
    pairs = given.items() if isinstance(given, dict) else ()
    return {int(count): (str(cell), float(ended)) for count, (cell, ended) in pairs}


def _special(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the functions that are the service's own."""
    allowed = int(header.get("hints", 0))

    def hint(part: str, tier: int | None = None) -> Any:
        of = catalog.of_part(part)
        found = of.part(part)
        seen = int(progress.part(of.name, found.id).get("hints") or 0)
        wanted = tier if isinstance(tier, int) else min(seen + 1, len(found.hints))
        if wanted > allowed:
            opened = f"Hints 1 to {allowed} are open" if allowed else "Hints are closed"
            raise CourseError(f"{opened} in this class; your instructor decides. Ask them about {found.id}.")
        return lab.hint(part, tier)

    def predict(part: str, answer: str | None = None) -> Any:
        of = catalog.of_part(part)
        found, said = of.part(part), lab.predict(part, answer)
        asks_now = answer is None and found.prediction is not None
        return shown.Asked(said, found, prediction.said_before(of, found)) if asks_now else said

    def matrix(predictions: Any = None) -> Any:
        from dcplab import investigate

        if progress.part(catalog.of_part("5c").name, "5c").get("attempts"):
            investigate.run_matrix()
        else:
            print("The servers run once you have checked 5c: predict first.")
        return investigate.matrix(predictions)

    return {"lab.hint": hint, "lab.predict": predict, "investigate.matrix": matrix, **examination.CALLS}


if __name__ == "__main__":
    threading.current_thread().name = "worker"
    torch.set_num_threads(1)
    main()
