"""Shows a line of progress while a server runs: below the cell in a notebook, on stderr in a terminal."""

from __future__ import annotations

import contextlib
import html
import sys
import threading
from collections.abc import Callable, Iterator

from dcplab.engine.scheduler import Engine
from dcplab.subprocess_call import while_grading

ACTS = {"fresh": "the questions", "long": "two long requests", "again": "the questions again"}


def act(when: str, engine: Engine) -> str:
    """Word the act, and the step, that a story has reached."""
    m = engine.metrics
    return f"{ACTS[when]}: step {m.steps}, {m.extended + m.decoded} tokens, largest loc {m.largest_loc}"


@contextlib.contextmanager
def line(title: str) -> Iterator[Callable[[str], None]]:
    """Yield ``say(text)``, which shows a text after ``title`` in place of the text before. The line is removed at the end."""
    say, done = _shower(title)
    try:
        yield say
    finally:
        done()


def _shower(title: str) -> tuple[Callable[[str], None], Callable[[], None]]:
    # From another thread, a display would land in whichever cell runs at that time. A graded notebook keeps no progress.
    if threading.current_thread() is threading.main_thread() and not while_grading():
        if (handle := _handle()) is not None:
            return lambda text: handle.update(_both(f"{title}: {text}"), raw=True), lambda: handle.update(NOTHING, raw=True)
        if sys.stderr.isatty():
            return _to_terminal(title)
    return lambda text: None, lambda: None


NOTHING = {"text/plain": ""}


def _both(text: str) -> dict[str, str]:
    return {"text/plain": text, "text/html": f'<span role="status">{html.escape(text)}</span>'}


def _handle():
    """Return a display that can be updated, in a notebook's kernel; else None."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython
    from IPython.display import display

    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return display(NOTHING, raw=True, display_id=True)


def _to_terminal(title: str) -> tuple[Callable[[str], None], Callable[[], None]]:
    def write(text: str) -> None:
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    return lambda text: write(f"{title}: {text}"), lambda: write("")
