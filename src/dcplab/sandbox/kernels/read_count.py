"""Counts how often an interpreted launch reads each element of a buffer. `bounds_guard` sees each access."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


class ReadCount:
    """Holds reads against ``asked``: by buffer, a bool tensor of its shape, True where an element may be read, once."""

    def __init__(self, asked: Mapping[str, torch.Tensor]):
        self._asked = {name: may.reshape(-1).numpy() for name, may in asked.items()}
        self._counts = {name: np.zeros(may.size, dtype=np.int64) for name, may in self._asked.items()}

    def note(self, op: str, buffer: str, program: tuple[int, ...], elements: np.ndarray, width: int) -> None:
        """Add an access of ``width`` elements at each of ``elements``, which count from the buffer's start."""
        counts = self._counts.get(buffer)
        if counts is None or op == "store":
            return
        at = (elements.reshape(-1, 1) + np.arange(width)).reshape(-1)
        np.add.at(counts, at[(at >= 0) & (at < counts.size)], 1)  # what lies outside is the guard's to tell

    def events(self) -> list[dict[str, Any]]:
        """Report, buffer by buffer, the first element that was read and is not asked for; else the first read again."""
        found = []
        for name, counts in self._counts.items():
            for kind, bad in (("needless", (counts > 0) & ~self._asked[name]), ("again", counts > 1)):
                if bad.any():
                    first = int(bad.argmax())
                    found.append({"kind": kind, "argument": name, "element": first, "times": int(counts[first])})
                    break
        return found
