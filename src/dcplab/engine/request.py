"""A request and what it holds, and the table from its positions to locs."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch


@dataclass
class Request:
    """``tokens`` are the prompt and what was generated; ``stored`` positions have their KV in the pools; ``pages`` are the
    allocator pages held, in position order; ``slot`` is the row of the request table (and of the recurrent state) while it
    runs."""

    id: int
    name: str
    tokens: list[int]
    prompt_len: int
    max_new: int
    pages: list[int] = field(default_factory=list)
    stored: int = 0
    cached: int = 0  # positions found in the prefix cache at admission
    slot: int | None = None
    saved: list | None = None  # what a retraction put on the host, one entry a hosted rank
    finished: bool = False

    @property
    def output(self) -> list[int]:
        return self.tokens[self.prompt_len :]

    @property
    def extending(self) -> bool:
        """More than the newest token lacks its KV, or nothing was generated yet."""
        return len(self.tokens) - self.stored > 1 or len(self.tokens) == self.prompt_len


class RequestTable:
    """``req_to_token [slots, longest + W]`` int64: row = request slot, column = position, value = loc. The last slot is
    padding's.

    A row has room for the longest request rounded up to a whole widened page (#35424: rounding to P alone spills into
    the next row).
    """

    def __init__(self, slots: int, longest: int, width: int, device: torch.device):
        self.table = torch.zeros(slots + 1, longest + width, dtype=torch.int64, device=device)
        self._free = list(range(slots - 1, -1, -1))

    @property
    def available(self) -> int:
        return len(self._free)

    def take(self) -> int:
        return self._free.pop()

    def give_back(self, slot: int) -> None:
        self._free.append(slot)
