"""Records which program of a small launch read or wrote which elements, for a picture. `bounds_guard` sees each access."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ELEMENTS, PROGRAMS, KEPT = 2_048, 16, 20_000  # of a launch that is small enough to draw; elements kept in all
Program = tuple[int, ...]


class AccessRecord:
    """Collects accesses. ``done()``: ``(op, buffer, program, [(first element, how many), ...])`` with op "r" or "w"."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, Program], set[int]] = {}
        self._left = KEPT

    def note(self, op: str, buffer: str, program: Program, elements: np.ndarray, width: int) -> None:
        """Add an access of ``width`` elements at each of ``elements``, which count from the buffer's start."""
        self._left -= width * elements.size
        if self._left < 0:
            return
        for kind in ("w",) if op == "store" else ("r",) if op == "load" else ("r", "w"):
            mine = self._seen.setdefault((kind, buffer, program), set())
            for at in elements.ravel().tolist():
                mine.update(range(at, at + width))

    def done(self) -> list[tuple[str, str, Program, list[tuple[int, int]]]]:
        return [(op, buffer, program, _runs(sorted(seen))) for (op, buffer, program), seen in self._seen.items()]


def small(sizes: Sequence[int], grid: Sequence[int]) -> bool:
    """Return True for a launch that is small enough to draw. ``sizes``: elements of its buffers."""
    return sum(sizes) <= ELEMENTS and int(np.prod(grid)) <= PROGRAMS


def _runs(elements: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for at in elements:
        if found and sum(found[-1]) == at:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((at, 1))
    return found
