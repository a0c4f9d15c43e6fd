"""The order of a grid's programs, which nobody promises: the interpreter goes from the first to the last, and here back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def backwards() -> Iterator[None]:
    """Make the interpreter run the last program of a grid first, in here: of two that write one place, the other one wins."""
    from triton.runtime.interpreter import InterpreterBuilder

    plain = InterpreterBuilder.set_grid_idx

    def from_the_end(self: Any, *place: int) -> None:
        plain(self, *(size - 1 - at for size, at in zip(self.grid_dim, place, strict=True)))

    InterpreterBuilder.set_grid_idx = from_the_end
    try:
        yield
    finally:
        InterpreterBuilder.set_grid_idx = plain
