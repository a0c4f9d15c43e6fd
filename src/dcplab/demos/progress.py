"""How far a demonstration is, on a line that goes when it is done: in a notebook under the cell, in a terminal on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def steps(total: int, what: str) -> Iterator[Callable[[str], None]]:
    """Gives a function to call before each of ``total`` steps, with a word for it. Elsewhere than in a notebook or a terminal
    nothing is said."""
    say, end = _teller()
    done = 0

    def step(word: str) -> None:
        nonlocal done
        done += 1
        say(f"{what}, {done} of {total}: {word}")

    try:
        yield step
    finally:
        end()


def _teller() -> tuple[Callable[[str], None], Callable[[], None]]:
    if _in_notebook():
        from IPython.display import clear_output

        def tell(text: str) -> None:
            clear_output(wait=True)
            print(text)

        return tell, clear_output
    if sys.stderr.isatty():
        return lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True), lambda: print(
            "\r\x1b[K", end="", file=sys.stderr, flush=True
        )
    return lambda text: None, lambda: None


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")
