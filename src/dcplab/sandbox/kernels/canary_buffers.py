"""Places all buffers of one launch in a single allocation, with canary bands before, between and after them.

A store outside a buffer changes a band, and reading the bands back finds it. This works alike on a GPU, where such a store
raises nothing, and costs one comparison of the bands. A band cannot show a load: on a CPU the guard does.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import torch

from dcplab.sandbox.kernels.bounds_guard import report

ALIGN = 256
PERIOD = 8191
KEPT = 1024  # most periods that are made once
SMALLEST, LARGEST = 1 << 14, 1 << 24


class CanaryBuffers:
    """``views``: the buffers by name, contiguous, on ``device``, holding copies of their initial contents."""

    def __init__(self, buffers: Mapping[str, torch.Tensor], device: str = "cpu"):
        sizes = {name: t.numel() * t.element_size() for name, t in buffers.items()}
        # A raw loc lies up to D times past a pool of rows. A band of 16 buffers catches it and still tells whose it was.
        self.band = _round_up(min(max(16 * max(sizes.values(), default=0), SMALLEST), LARGEST))
        self.spans: dict[str, tuple[int, int]] = {}
        at = self.band
        for name, size in sizes.items():
            self.spans[name] = (at, at + size)
            at = _round_up(at + size) + self.band
        self.memory = _pattern(at, device).clone()
        self.views, self.dtypes = {}, {}
        for name, t in buffers.items():
            low, high = self.spans[name]
            raw = self.memory[low:high]
            view = raw.view(t.dtype).view(t.shape) if t.numel() else torch.empty(t.shape, dtype=t.dtype, device=device)
            view.copy_(t)
            self.views[name], self.dtypes[name] = view, t.dtype

    def touched(self) -> list[dict[str, Any]]:
        """Report each band that changed: the changed element nearest to a buffer, and the number of changed bytes."""
        found = []
        edges = [(None, 0), *((name, high) for name, (_, high) in self.spans.items())]
        for (before, low), (after, high) in zip(
            edges, [*((name, low) for name, (low, _) in self.spans.items()), (None, len(self.memory))], strict=True
        ):
            changed = (self.memory[low:high] != _pattern(high, self.memory.device, low)).nonzero().flatten()
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


def _pattern(end: int, device: torch.device | str, start: int = 0) -> torch.Tensor:
    """Return bytes ``start`` to ``end`` of the canary. Its period is a prime, so a copy of a band at another place does not
    pass."""
    skip = start % PERIOD
    count = -(-(skip + end - start) // PERIOD)
    tiles = _kept(device, 1 << max(0, count - 1).bit_length()) if count <= KEPT else _tiles(device, count)
    return tiles[skip : skip + end - start]


def _tiles(device: torch.device | str, count: int) -> torch.Tensor:
    """Return some periods of the canary."""
    return ((torch.arange(PERIOD, device=device) * 131 + 89) % 251 + 2).to(torch.uint8).repeat(count)


_kept = functools.cache(_tiles)  # a bank launches hundreds of times; nobody writes to these


def _round_up(n: int) -> int:
    return -(-n // ALIGN) * ALIGN
