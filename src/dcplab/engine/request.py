"""A request and what it holds, and the table from its positions to locs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from dcplab.engine.pools import Saved


@dataclass
class Request:
    """``tokens`` are the prompt and what was generated; ``stored`` positions have their KV in the pools; ``pages`` are the
    allocator pages held, in position order; ``req_pool_idx`` is its place in `ReqToTokenPool` (and in the recurrent state)
    while it runs."""

    id: int
    name: str
    tokens: list[int]
    prompt_len: int
    max_new: int
    pages: list[int] = field(default_factory=list)
    stored: int = 0
    cached: int = 0  # positions found in the prefix cache at admission
    req_pool_idx: int | None = None
    saved: list[Saved] = field(default_factory=list)  # what a retraction put on the host, for each hosted rank
    left_pages: list[int] = field(default_factory=list)  # the pages it held when it was retracted last
    finished: bool = False

    @property
    def output(self) -> list[int]:
        return self.tokens[self.prompt_len :]

    @property
    def held_req_pool_idx(self) -> int:
        """``req_pool_idx`` of a request that runs; an error for one that does not."""
        if self.req_pool_idx is None:
            raise ValueError(f"{self.name} is not running")
        return self.req_pool_idx

    @property
    def extending(self) -> bool:
        """More than the newest token lacks its KV, or nothing was generated yet."""
        return len(self.tokens) - self.stored > 1 or len(self.tokens) == self.prompt_len


class Span(NamedTuple):
    """Positions ``start`` to ``end - 1`` of a request: its part of a step."""

    request: Request
    start: int
    end: int


class ReqToTokenPool:
    """``req_to_token [max_requests + 1, longest + W]`` int64: at (req_pool_idx, position) stands the loc. The last
    req_pool_idx is padding's.

    A request has room for the longest one rounded up to a whole widened page (#35424: rounding to P alone spills into
    the next request's).
    """

    def __init__(self, max_requests: int, longest: int, width: int, device: torch.device):
        self.req_to_token = torch.zeros(max_requests + 1, longest + width, dtype=torch.int64, device=device)
        self._free = list(range(max_requests - 1, -1, -1))

    @property
    def available(self) -> int:
        return len(self._free)

    def alloc(self) -> int:
        """Take a free req_pool_idx."""
        return self._free.pop()

    def free(self, req_pool_idx: int) -> None:
        """Give one back."""
        self._free.append(req_pool_idx)
