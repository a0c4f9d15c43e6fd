"""The host's memory for retracted requests: how much of it there is, and the copies there and back.

A retracted request's rows are gathered on the device first, so its pages can be given away at once. The copy of what was
gathered then runs beside the server's own work, on a stream of its own, between device memory and pinned host memory. Both
directions go over that one stream, so what comes back was there before. On a CPU a copy is a copy.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import torch


@dataclass
class HostPool:
    """Room on the host for the KV of retracted requests, in tokens. ``tokens`` None: no bound; 0: nothing is kept.

    ``refusals`` has a sentence for each request that found no room.
    """

    tokens: int | None = None
    used: int = 0
    highest: int = 0
    refusals: list[str] = field(default_factory=list)

    @property
    def free(self) -> int | None:
        """Tokens that still fit; None without a bound."""
        return None if self.tokens is None else self.tokens - self.used

    def reserve(self, name: str, count: int) -> bool:
        """Take room for ``count`` tokens of the request called ``name``. If there is not so much: False, and a sentence in
        ``refusals``."""
        if self.free is not None and count > self.free:
            self.refusals.append(
                f"The host pool is full: {name} has {count} tokens stored, and {self.free} of {self.tokens} are free. "
                "Its KV is dropped, and its tokens are computed anew when there is room on the device."
            )
            return False
        self.used += count
        self.highest = max(self.highest, self.used)
        return True

    def give_back(self, count: int) -> None:
        """Free the room of ``count`` tokens."""
        self.used -= count


@functools.cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)


def to_host(rows: torch.Tensor) -> torch.Tensor:
    """Copy ``rows``, any shape and dtype, to host memory. From a GPU the copy is pinned, and perhaps still on its way: `wait`
    before the CPU looks at it."""
    if rows.device.type != "cuda":
        return rows.clone()
    stream = _stream(rows.device)
    stream.wait_stream(torch.cuda.current_stream(rows.device))
    with torch.cuda.stream(stream):
        saved = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
        saved.copy_(rows, non_blocking=True)
    rows.record_stream(stream)  # its memory may not be given away while the copy reads it
    return saved


def to_device(saved: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Copy ``saved`` to ``device``, for the work that is queued there next. The CPU does not wait."""
    if device.type != "cuda":
        return saved
    stream, work = _stream(device), torch.cuda.current_stream(device)
    with torch.cuda.stream(stream):
        rows = saved.to(device, non_blocking=True)
    work.wait_stream(stream)
    rows.record_stream(work)
    return rows


def wait(device: torch.device) -> None:
    """Wait until every copy is done."""
    if device.type == "cuda":
        _stream(device).synchronize()
