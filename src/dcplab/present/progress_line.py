"""Shows one line of progress: below the cell in a notebook, on stderr in a terminal, nowhere else.

In a terminal the line is tqdm's. In a notebook it is our own: tqdm's is a widget, and the saved notebook keeps that widget's
first state, 0 %, for whoever reads it without a kernel.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any, Protocol

from dcplab.present.page import html
from dcplab.subprocess_call import while_grading

NOTHING = {"text/plain": ""}


class Say(Protocol):
    def __call__(self, text: str, steps: int = 0) -> None:
        """Show ``text`` in place of the text before, ``steps`` further on."""


@contextlib.contextmanager
def line(title: str, total: int | None = None, done: int = 0) -> Iterator[Say]:
    """Yield `Say`. With ``total`` the line counts steps, of which ``done`` are behind; else it shows ``title`` and the text.

    A terminal's line is removed at the end. A notebook keeps the last count, and no line that does not count.
    """
    # From another thread, a display would land in whichever cell runs at that time. A graded notebook keeps no progress.
    if threading.current_thread() is threading.main_thread() and not while_grading():
        if (handle := _handle()) is not None:
            with _in_notebook(handle, title, total, done) as say:
                yield say
            return
        if sys.stderr.isatty():
            with _in_terminal(title, total, done) as say:
                yield say
            return
    yield lambda text, steps=0: None


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """Take a terminal's line away while something else is printed."""
    if "tqdm" not in sys.modules:
        yield
        return
    from tqdm import tqdm

    with tqdm.external_write_mode():
        yield


@contextlib.contextmanager
def _in_terminal(title: str, total: int | None, done: int) -> Iterator[Say]:
    from tqdm import tqdm

    form = "{desc}" if total is None else "{n_fmt} of {total_fmt} {desc} [{elapsed}, {remaining} left]"
    with tqdm(desc=title, total=total, initial=done, bar_format=form, leave=False, miniters=0, file=sys.stderr) as bar:

        def say(text: str, steps: int = 0) -> None:
            bar.set_description_str(f"{title}: {text}" if text else title, refresh=False)
            bar.update(steps)  # at most ten times a second
            if total is not None:  # the next step may be far
                bar.refresh()

        yield say


@contextlib.contextmanager
def _in_notebook(handle: Any, title: str, total: int | None, done: int) -> Iterator[Say]:
    count = done

    def counted() -> str:
        return title if total is None else f"{count} of {total} {title}"

    def say(text: str, steps: int = 0) -> None:
        nonlocal count
        count += steps
        handle.update(_both(f"{counted()}: {text}" if text else counted()), raw=True)

    try:
        yield say
    finally:
        handle.update(NOTHING if total is None else _both(counted()), raw=True)


def _both(text: str) -> dict[str, str]:
    return {"text/plain": text, "text/html": str(html('<span role="status">{}</span>', text))}


def _handle() -> Any:
    """Return a display that can be updated, in a notebook's kernel; else None."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython
    from IPython.display import display

    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return display(NOTHING, raw=True, display_id=True)
