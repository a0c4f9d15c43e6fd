"""Runs a solved notebook from top to bottom in a kernel of this Python, and keeps its outputs for people to read.

It works the same on a CPU and on a GPU machine. The notebook's first cell and its metadata say which of the two it was.
"""

from __future__ import annotations

import copy
import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from dcplab import mode, paths
from dcplab.course.lab_source import BEGIN, END
from dcplab.errors import CourseError
from dcplab.progress import SOLVED_SEED

LIMIT_BYTES = 1_000_000  # of a notebook with its outputs; GitHub displays no bigger one
# The learner who solves the notebooks. Lab 01's snippets and lab 05's hidden cases come from a learner's seed, and the
# solutions name this learner's.
LEARNER = {"version": 1, "labs": {"investigation": {"cases": {"seed": SOLVED_SEED}}}}
# What stands where a run has failed and the notebook went on. A demonstration may show the name of an error that it is about.
FAILED = re.compile(
    r"Traceback \(most recent call last\)|PermissionError|Permission denied|not permitted|is not finished yet|and was stopped\."
    r"|The process ended before it could tell"
    r"|(?m:^(It raised |It does not load|It ended the whole process|Stopped after |The machine is busy|An answer may not))"
)
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_REPR = re.compile(r"[A-Z]\w*\((children|value|description|layout)=")


def execute(
    source: NotebookNode, progress: Callable[[int, int], None], cell_timeout_s: int = 600
) -> tuple[NotebookNode, dict[str, str]]:
    """Return the solved notebook with its outputs, and the outcome of each part's check in it.

    ``progress(done, cells)`` is called before each code cell. Raises ``CourseError`` if a cell raises or the kernel dies.
    """
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from nbclient.util import run_sync

    nb = readable(source)
    lab = nb.metadata["dcplab"]["lab"]
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    at = 0

    def starts(cell, **_):
        nonlocal at
        if cell.cell_type == "code":
            at = code.index(cell)
            progress(at, len(code))

    with tempfile.TemporaryDirectory(prefix="dcplab-") as home:  # so that no learner's progress changes
        (Path(home) / "progress.json").write_text(json.dumps(LEARNER), encoding="utf-8")
        # kernel_dirs=[] ignores the kernels that a user has installed and leaves the native one, which is this Python.
        # Sockets in a private folder: nobody else on the machine can talk to the kernel.
        kernel = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            transport="ipc",
            ip=f"{home}/kernel",
            connection_file=f"{home}/kernel.json",
        )
        client = NotebookClient(
            nb,
            km=kernel,
            timeout=cell_timeout_s,
            record_timing=False,
            store_widget_state=False,
            on_cell_start=starts,
            resources={"metadata": {"path": str(paths.solutions() / lab)}},
        )
        try:
            client.execute(env=_environment(home))
        except CellExecutionError as error:
            raise CourseError(f"The solved notebook stopped at cell {code[at].id}: {error.ename}: {error.evalue}") from error
        except (CellTimeoutError, DeadKernelError) as error:
            raise CourseError(f"The solved notebook stopped at cell {code[at].id}: {error}") from error
        finally:  # nbclient does not shut down a manager that it was given
            run_sync(kernel.shutdown_kernel)(now=True)
        outcomes = _outcomes(Path(home), lab)
    return stamped(_without_widgets(nb), mode.current(), mode.versions()), outcomes


def failures(nb: NotebookNode) -> list[str]:
    """Return a line for each output that tells of a run that failed: the cell's id, and what it says."""
    found = []
    for cell in nb.cells:
        for output in cell.get("outputs", ()):
            texts = [output.get("text", ""), *map(str, output.get("data", {}).values())]
            if output.output_type == "error":
                found.append(f"{cell.id}: {output.ename}")
            elif said := next(filter(None, map(FAILED.search, texts)), None):
                found.append(f"{cell.id}: {said.string[said.start() :].splitlines()[0][:120]}")
    return found


def readable(source: NotebookNode) -> NotebookNode:
    """Copy nbgrader's source notebook without the marker lines of its solution regions."""
    nb = copy.deepcopy(source)
    for cell in nb.cells:
        kept = [line for line in cell.source.split("\n") if BEGIN not in line and END not in line]
        cell.source = "\n".join(kept)
    return nb


def stamped(nb: NotebookNode, where: mode.Mode, versions: Mapping[str, str]) -> NotebookNode:
    """Return ``nb`` with a first cell, and metadata, that name the mode and the versions of the run."""
    known = ", ".join(f"{name} {version}" for name, version in versions.items())
    text = f"> Solved notebook, executed in **{where.label}** mode with {known}. Made by `python -m dcplab build --execute`."
    nb.cells.insert(0, new_markdown_cell(text, id="executed"))
    nb.metadata["dcplab"]["executed"] = {"mode": where.name, "device": where.device, "versions": dict(versions)}
    nb.metadata["dcplab"].pop("digest", None)
    return nb


def _environment(state: str) -> dict[str, str]:
    """Return the kernel's environment: this checkout importable, and folders of its own for state and cases."""
    return os.environ | {"PYTHONPATH": paths.python_path(), "DCPLAB_STATE": state, "DCPLAB_CASES": f"{state}/cases"}


def _outcomes(state: Path, lab: str) -> dict[str, str]:
    """Read the outcomes that ``lab.check`` noted in the run's progress file, part by part."""
    try:
        parts = json.loads((state / "progress.json").read_text(encoding="utf-8"))["labs"].get(lab, {})
    except FileNotFoundError:
        return {}
    return {identity: part.get("outcome", "not checked") for identity, part in parts.items()}


def _without_widgets(nb: NotebookNode) -> NotebookNode:
    """Remove the views of live widgets, which are empty boxes without a kernel. Text and pictures beside them stay."""
    nb.metadata.pop("widgets", None)
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        for output in cell.outputs:
            output.get("data", {}).pop(WIDGET_VIEW, None)
        cell.outputs = [output for output in cell.outputs if not _is_bare_widget(output)]
    return nb


def _is_bare_widget(output: NotebookNode) -> bool:
    """Return True for an output that shows nothing but a widget's own repr, such as ``VBox(children=(...))``, or a finished
    progress line."""
    data = output.get("data")
    if data is None:
        return False
    return not any(data.values()) or (set(data) == {"text/plain"} and bool(WIDGET_REPR.match(data["text/plain"])))


def save(nb: NotebookNode, path: Path) -> None:
    """Write the notebook. Raises ``CourseError`` if it is over a megabyte."""
    from dcplab.author.notebook import to_text

    text = to_text(nb)
    size = len(text.encode())
    if size > LIMIT_BYTES:
        raise CourseError(f"{path.name} with its outputs is {size:,} bytes; {LIMIT_BYTES:,} is the most a reader can open.")
    path.write_text(text, encoding="utf-8")
