"""Server configuration."""

from __future__ import annotations

from dataclasses import dataclass

import torch

PAD_SLOT_ID = -1  # in a slot mapping: store nothing
NULL_BLOCK_ID = 0  # never handed out; unused entries of a block table point at it


class RequestRefused(ValueError):
    """The request can never run on this server."""


@dataclass(frozen=True)
class QuayConfig:
    """Sizes and options of one server. ``block_size`` counts the tokens that ONE rank stores of a block."""

    block_size: int = 4
    num_blocks: int = 32
    cp_size: int = 1
    cp_interleave: int = 1
    num_layers: int = 2
    index_topk: int = 32
    max_num_seqs: int = 6
    max_num_batched_tokens: int = 64
    max_model_len: int = 256
    num_draft_tokens: int = 0
    draft_window: int = 32  # positions that the drafter sees
    enable_prefix_caching: bool = True
    num_host_blocks: int = 0
    watermark: float = 0.05
    capture_sizes: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    vocab_size: int = 512
    heads: int = 2
    index_heads: int = 3
    witness: bool = True
    veto: bool = True
    dtype: torch.dtype = torch.bfloat16

    def __post_init__(self) -> None:
        if self.block_size % self.cp_interleave:
            raise ValueError(f"cp_interleave {self.cp_interleave} does not divide block_size {self.block_size}")
        if self.max_num_batched_tokens < self.max_num_seqs * (1 + self.num_draft_tokens):
            raise ValueError("max_num_batched_tokens is too small for one decode step of max_num_seqs requests")

    @property
    def tokens_per_block(self) -> int:
        """Tokens that all ranks together store under one block id."""
        return self.block_size * self.cp_size

    @property
    def max_blocks_per_seq(self) -> int:
        return -(-(self.max_model_len + self.num_draft_tokens) // self.tokens_per_block)

    @property
    def watermark_blocks(self) -> int:
        """Free blocks that admission leaves to the requests that run already."""
        return max(1, int(self.watermark * self.num_blocks))
