"""Shows the progress of a demonstration on one line: below the cell in a notebook, on stderr in a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def steps(total: int, what: str) -> Iterator[Callable[[str], None]]:
    """Yield a function to call before each of ``total`` steps, with a word for the step. A notebook keeps the last line, a
    terminal removes it. Anywhere else nothing is shown."""
    tell, end = _teller()
    done = 0

    def step(word: str) -> None:
        nonlocal done
        done += 1
        tell(f"{done} of {total} {what}: {word}")

    try:
        yield step
    finally:
        end(f"{done} of {total} {what}")


def _teller() -> tuple[Callable[[str], None], Callable[[str], None]]:
    if _in_notebook():
        from IPython.display import display

        handle = display({"text/plain": "..."}, raw=True, display_id=True)

        def show(text: str) -> None:
            handle.update({"text/plain": text}, raw=True)

        return show, show
    if sys.stderr.isatty():

        def write(text: str) -> None:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

        return write, lambda _: write("")
    return lambda _: None, lambda _: None


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")
