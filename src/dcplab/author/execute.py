"""Runs a solved notebook from top to bottom in a kernel of this Python, and keeps its outputs for people to read.

The same on a CPU and on a GPU machine; the notebook says in its first cell, and in its metadata, which of the two it was.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from dcplab import mode, paths
from dcplab.errors import CourseError
from dcplab.percent import BEGIN, END

LIMIT_BYTES = 1_000_000  # of a notebook with its outputs: GitHub shows no bigger one
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def execute(source: NotebookNode, progress: Callable[[int, int], None], cell_timeout_s: int = 600) -> NotebookNode:
    """The solved notebook with its outputs. ``progress(done, cells)`` is called before each code cell.

    Raises ``CourseError`` where a cell raises, or where the kernel dies.
    """
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    nb = readable(source)
    total = sum(cell.cell_type == "code" for cell in nb.cells)
    done = 0

    def starts(cell, **_):
        nonlocal done
        if cell.cell_type == "code":
            progress(done, total)
            done += 1

    # kernel_dirs=[] leaves the native kernel alone: this Python, whatever kernels a user has installed
    kernel = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    client = NotebookClient(
        nb,
        km=kernel,
        timeout=cell_timeout_s,
        record_timing=False,
        store_widget_state=False,
        on_cell_start=starts,
        resources={"metadata": {"path": str(paths.root())}},
    )
    try:
        client.execute(env=_environment())
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        where = next((c.id for c in reversed(nb.cells) if c.cell_type == "code" and c.execution_count), "the first cell")
        raise CourseError(f"The solved notebook stopped at cell {where}: {str(error).strip()}") from error
    return stamped(_without_widgets(nb), mode.current(), mode.versions())


def readable(source: NotebookNode) -> NotebookNode:
    """A copy of nbgrader's source notebook without the marker lines of its solution regions."""
    nb = copy.deepcopy(source)
    for cell in nb.cells:
        kept = [line for line in cell.source.split("\n") if BEGIN not in line and END not in line]
        cell.source = "\n".join(kept)
    return nb


def stamped(nb: NotebookNode, where: mode.Mode, versions: Mapping[str, str]) -> NotebookNode:
    """``nb`` with a first cell, and metadata, that say in which mode and with which versions it ran."""
    known = ", ".join(f"{name} {version}" for name, version in versions.items())
    text = f"> Solved notebook, executed in **{where.label}** mode with {known}. Made by `python -m dcplab build --execute`."
    nb.cells.insert(0, new_markdown_cell(text, id="executed"))
    nb.metadata["dcplab"]["executed"] = {"mode": where.name, "device": where.device, "versions": dict(versions)}
    nb.metadata["dcplab"].pop("digest", None)
    return nb


def _environment() -> dict[str, str]:
    """The kernel's: this checkout importable, and a state folder of its own, so that no learner's progress changes."""
    importable = [str(paths.root() / "src"), str(paths.root() / "kernels"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, importable)),
        "DCPLAB_STATE": tempfile.mkdtemp(prefix="dcplab-execute-"),
    }


def _without_widgets(nb: NotebookNode) -> NotebookNode:
    """Live widgets are empty boxes without a kernel: their views go, what stands beside them stays."""
    nb.metadata.pop("widgets", None)
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        kept = []
        for output in cell.outputs:
            data = output.get("data")
            if data and data.pop(WIDGET_VIEW, None) is not None and set(data) <= {"text/plain"}:
                continue
            kept.append(output)
        cell.outputs = kept
    return nb


def save(nb: NotebookNode, path: Path) -> None:
    """Writes the notebook, or raises ``CourseError`` where it is over a megabyte."""
    from dcplab.author.notebook import to_text

    text = to_text(nb)
    size = len(text.encode())
    if size > LIMIT_BYTES:
        raise CourseError(f"{path.name} with its outputs is {size:,} bytes; {LIMIT_BYTES:,} is the most a reader can open.")
    path.write_text(text, encoding="utf-8")
