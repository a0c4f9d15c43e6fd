"""Places all buffers of one launch in a single allocation, with canary bands before, between and after them.

A store outside a buffer changes a band, and reading the bands back finds it. This works alike on a GPU, where such a store
raises nothing, and costs one comparison of the bands. A band cannot show a load: on a CPU the guard does.

Nothing outlives a launch on the device. A store that passes a band lands in whatever else lies there: the canary itself, were
it kept, and every later launch of the child would be charged with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch

from dcplab.sandbox.kernels.bounds_guard import report

ALIGN = 256
PERIOD = 8191
CANARY = bytearray((i * 131 + 89) % 251 + 2 for i in range(PERIOD))
SMALLEST, LARGEST = 1 << 14, 1 << 24


class CanaryBuffers:
    """``views``: the buffers by name, contiguous, on ``device``, holding copies of their initial contents. ``before``: by name,
    the bytes of a larger buffer, of which this is the end. They may be written and hold anything."""

    def __init__(self, buffers: Mapping[str, torch.Tensor], device: str = "cpu", before: Mapping[str, int] | None = None):
        sizes = {name: t.numel() * t.element_size() for name, t in buffers.items()}
        # A raw loc lies up to D times past a pool of rows. A band of 16 buffers catches it and still tells whose it was.
        band = _round_up(min(max(16 * max(sizes.values(), default=0), SMALLEST), LARGEST))
        self.spans: dict[str, tuple[int, int]] = {}
        edges, at = [0], band
        for name, size in sizes.items():
            low = at + (before or {}).get(name, 0)
            self.spans[name] = (low, low + size)
            edges += [at, low + size]
            at = _round_up(low + size) + band
        self.bands = list(pairwise([*edges, at]))[::2]
        self.memory = torch.empty(at, dtype=torch.uint8, device=device)
        for low, high in self.bands:
            self.memory[low:high] = _pattern(low, high, device)
        self.views, self.dtypes = {}, {}
        for name, t in buffers.items():
            low, high = self.spans[name]
            raw = self.memory[low:high]
            view = raw.view(t.dtype).view(t.shape) if t.numel() else torch.empty(t.shape, dtype=t.dtype, device=device)
            view.copy_(t)
            self.views[name], self.dtypes[name] = view, t.dtype

    def whole(self, name: str, before: int) -> torch.Tensor:
        """Return the bytes of a buffer and of ``before`` bytes ahead of it, which a kernel's pointer begins with."""
        low, high = self.spans[name]
        return self.memory[low - before : high]

    def touched(self) -> list[dict[str, Any]]:
        """Report each band that changed: the changed element nearest to a buffer, and the number of changed bytes."""
        found = []
        neighbours = pairwise([None, *self.spans, None])
        for (low, high), (before, after) in zip(self.bands, neighbours, strict=True):
            changed = (self.memory[low:high] != _pattern(low, high, self.memory.device)).nonzero().flatten()
            if not len(changed):
                continue
            first, last = low + int(changed[0]), low + int(changed[-1])
            # Charge the change to the buffer with the nearer edge.
            if after is None or (before is not None and first - low <= high - 1 - last):
                name, byte = before, first
            else:
                name, byte = after, last
            assert name is not None  # a band has a buffer on one side at least
            start, end = self.spans[name]
            width = self.dtypes[name].itemsize
            found.append(report("store", name, (byte - start) // width, (end - start) // width, len(changed)))
        return found


def _pattern(low: int, high: int, device: torch.device | str) -> torch.Tensor:
    """Return bytes ``low`` to ``high`` of the canary. Its period is a prime, so a copy of a band at another place does not
    pass."""
    skip = low % PERIOD
    count = -(-(skip + high - low) // PERIOD)
    return torch.frombuffer(CANARY, dtype=torch.uint8).to(device).repeat(count)[skip : skip + high - low]


def _round_up(n: int) -> int:
    return -(-n // ALIGN) * ALIGN
