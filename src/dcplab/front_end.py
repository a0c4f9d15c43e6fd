"""Asks the JupyterLab that `./course lab` opened for what a kernel cannot do: save the notebook, and fill a cell.

The launcher lets scripts of a notebook reach the application (``LabApp.expose_app_in_browser``) and says so to its kernels. In
any other front end nothing is asked, and `here` is False. A script leaves no output: a saved notebook would run it again.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXPOSED = "DCPLAB_FRONT_END"  # set to "jupyterlab" for the kernels of a JupyterLab whose scripts reach it
PATIENCE_S = 2.0

ran: dict[int, tuple[str, float]] = {}  # number of a run -> id of its cell, when it ended; since `lab.start`

_CALLED_ONCE = """
(() => {
  const app = window.jupyterapp, once = %(once)s;
  if (!app || (window.dcplabRan ??= new Set()).has(once)) return;
  window.dcplabRan.add(once);
  %(script)s
})();
"""
_SAVE = "app.commands.execute('docmanager:save');"
_FILL = """
  const {cell, part, text} = %(given)s;
  const cells = [...(app.shell.currentWidget?.content?.model?.cells ?? [])];
  const found = cells.find(c => c.id === cell) ?? cells.find(c => c.getMetadata("nbgrader")?.grade_id === part);
  if (found) { found.sharedModel.setSource(text); found.clearExecution?.(); }
"""


def note_the_cell(result: Any) -> None:
    """Remember which cell has run, as which number, and when. The result knows it; the shell counts on before or after a run,
    as its version has it. A front end may not say which cell it is."""
    if result.info.store_history:
        ran[result.execution_count] = (getattr(result.info, "cell_id", None) or "", time.time())


def here() -> bool:
    """Return True if this kernel's notebook is open in a JupyterLab that can be asked."""
    return os.environ.get(EXPOSED) == "jupyterlab"


def save(notebook: Path) -> Callable[[], None]:
    """Ask for the notebook to be saved. Returns a function that waits until its file is newer, two seconds at most: a front
    end may be busy."""
    if not here():
        return lambda: None
    before = _changed(notebook)
    _run(_SAVE)

    def wait() -> None:
        end = time.monotonic() + PATIENCE_S
        while _changed(notebook) == before and time.monotonic() < end:
            time.sleep(0.02)

    return wait


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def fill(cell: str, part: str, text: str) -> None:
    """Put ``text`` into the cell with this id, else into the answer cell of ``part``. Ctrl-Z there undoes it."""
    _run(_FILL % {"given": json.dumps({"cell": cell, "part": part, "text": text})})


def _run(script: str) -> None:
    from IPython.display import Javascript, clear_output, display

    display(Javascript(_CALLED_ONCE % {"once": json.dumps(secrets.token_hex(8)), "script": script}))
    clear_output(wait=True)  # the output that follows takes its place
