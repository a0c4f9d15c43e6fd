"""A request and what the scheduler knows of it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class Sequence:
    """``num_computed_tokens`` tokens have their KV in the cache. ``spec_token_ids`` are proposed and not verified."""

    seq_id: int
    token_ids: list[int]
    num_prompt_tokens: int
    max_tokens: int
    num_computed_tokens: int = 0
    spec_token_ids: list[int] = field(default_factory=list)
    block_ids: list[int] = field(default_factory=list)
    block_hashes: list[bytes] = field(default_factory=list)  # of its full blocks, as far as they were asked for
    num_cached_blocks: int = 0  # full blocks that the prefix cache was told of

    @property
    def num_tokens(self) -> int:
        return len(self.token_ids)

    @property
    def output_token_ids(self) -> list[int]:
        return self.token_ids[self.num_prompt_tokens :]

    @property
    def remaining(self) -> int:
        return self.max_tokens - len(self.output_token_ids)

    @property
    def finished(self) -> bool:
        return self.remaining <= 0
