"""One rank's memory: a single allocation, divided into buffers with canary bands between them.

An index outside its buffer does here what it does on a GPU that does not fault: it reads or overwrites whatever lies there,
deterministically and safely, because it is still inside the one allocation. Beyond the allocation nothing is mapped: that
is where a GPU faults, and the watcher (`watcher.py`) says so. Addresses are bytes from the start of the arena.

A buffer is rows of equal length. What indexes it may be finer than a row: an index-K row is a page of ``P`` slots, so its
``slots`` are ``rows * slots_per_row``.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dcplab.engine.space_tags import Space

ALIGN = 1024  # bytes: rows and pages start on it, as kernels that copy 16 bytes at a time need
CANARY = 0xC5


@dataclass(frozen=True)
class Spec:
    """A buffer to be placed. ``space`` is what indexes it; ``shape`` is (rows, columns) of ``dtype``."""

    name: str
    space: Space
    shape: tuple[int, int]
    dtype: torch.dtype
    slots_per_row: int = 1

    @property
    def row_bytes(self) -> int:
        return self.shape[1] * self.dtype.itemsize

    @property
    def slots(self) -> int:
        """Indices that are inside, from 0."""
        return self.shape[0] * self.slots_per_row


@dataclass(frozen=True)
class Buffer:
    """A placed buffer. ``start`` and ``end`` are byte addresses; ``reach`` is how many slots there are up to the arena's
    end."""

    spec: Spec
    start: int
    end: int
    reach: int

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def slots(self) -> int:
        return self.spec.slots

    @property
    def space(self) -> Space:
        return self.spec.space


@dataclass(frozen=True)
class Place:
    """The place of a byte address: the region's name, and row and byte within the row if the region is a buffer."""

    region: str
    row: int | None = None
    byte: int | None = None


@dataclass(frozen=True)
class Damage:
    """A canary band that no longer holds its pattern: bytes changed, and the first of them as an address."""

    band: str
    changed: int
    first: int


class Arena:
    """``specs`` in order, a canary band of ``canary`` bytes after each, then ``tail`` bytes that are mapped and used by
    nobody."""

    def __init__(self, specs: Sequence[Spec], device: torch.device | str = "cpu", canary: int = ALIGN, tail: int = 0):
        cursor, self.bands, placed = 0, {}, []
        for spec in specs:
            start, end = cursor, cursor + spec.shape[0] * spec.row_bytes
            cursor = _up(end + canary)
            self.bands[f"canary after {spec.name}"] = (end, cursor)
            placed.append((spec, start, end))
        self.size = _up(cursor + tail)
        self.tail = (cursor, self.size)
        self.bytes = torch.zeros(self.size, dtype=torch.uint8, device=device)
        self.buffers = {s.name: Buffer(s, a, b, (self.size - a) // s.row_bytes * s.slots_per_row) for s, a, b in placed}
        self._starts = [b.start for b in self.buffers.values()]
        self._order = list(self.buffers.values())
        for start, end in self.bands.values():
            self.bytes[start:end] = CANARY
        self._views = {(s.name, full): self._view(s, full) for s, _, _ in placed for full in (False, True)}

    def _view(self, spec: Spec, full: bool) -> torch.Tensor:
        buffer = self.buffers[spec.name]
        rows = buffer.reach // spec.slots_per_row if full else spec.shape[0]
        whole = self.bytes[: self.size // spec.dtype.itemsize * spec.dtype.itemsize].view(spec.dtype)
        return whole.as_strided((rows, spec.shape[1]), (spec.shape[1], 1), buffer.start // spec.dtype.itemsize)

    def view(self, name: str) -> torch.Tensor:
        """Return the buffer's own rows ``[rows, columns]``: an index outside is an error, or is masked by a kernel that
        guards."""
        return self._views[name, False]

    def window(self, name: str) -> torch.Tensor:
        """Return the rows of `view`, counted on to the arena's end: an index outside the buffer is what lies there."""
        return self._views[name, True]

    def locate(self, address: int) -> Place:
        """Return the place of a byte address."""
        i = bisect.bisect_right(self._starts, address) - 1
        if address < 0 or address >= self.size:
            return Place("not mapped")
        buffer = self._order[i]
        if address < buffer.end:
            row, byte = divmod(address - buffer.start, buffer.spec.row_bytes)
            return Place(buffer.name, row, byte)
        for band, (start, end) in self.bands.items():
            if start <= address < end:
                return Place(band)
        return Place("tail")

    def damage(self) -> list[Damage]:
        """Return the canary bands that were written to."""
        damages = []
        for band, (start, end) in self.bands.items():
            changed = (self.bytes[start:end] != CANARY).nonzero()
            if len(changed):
                damages.append(Damage(band, len(changed), start + int(changed[0])))
        return damages

    def dump(self, address: int, count: int) -> list[tuple[int, Place, int]]:
        """Return ``count`` bytes from ``address``, each with its place, for a hex view."""
        stop = min(address + count, self.size)
        values = self.bytes[address:stop].tolist()
        return [(a, self.locate(a), v) for a, v in zip(range(address, stop), values, strict=True)]

    def table(self) -> list[tuple[str, int, int]]:
        """List (region, first byte, end byte) in address order: buffers, bands and tail."""
        rows = [(b.name, b.start, b.end) for b in self._order] + [(k, a, b) for k, (a, b) in self.bands.items()]
        return sorted([*rows, ("tail", *self.tail)], key=lambda row: row[1])


def _up(n: int) -> int:
    return -(-n // ALIGN) * ALIGN
