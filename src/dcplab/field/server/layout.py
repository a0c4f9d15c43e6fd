"""Where a token of a request lies: which rank, which slot.

Tokens are dealt to ranks in turns of ``cp_interleave``. A block id stands for ``block_size`` slots on every rank, so entry i of
a request's block table covers the positions ``i * block_size * cp_size`` and on.
"""

from __future__ import annotations

import torch

from .config import PAD_SLOT_ID, QuayConfig


def owner_of(positions: torch.Tensor, cfg: QuayConfig) -> torch.Tensor:
    """Return the cp rank that stores each position."""
    return positions // cfg.cp_interleave % cfg.cp_size


def local_index(positions: torch.Tensor, cfg: QuayConfig) -> torch.Tensor:
    """Count the positions before each one that its owner stores."""
    turn = cfg.cp_interleave * cfg.cp_size
    return positions // turn * cfg.cp_interleave + positions % cfg.cp_interleave


def global_position(index: torch.Tensor, cp_rank: int, cfg: QuayConfig) -> torch.Tensor:
    """Invert ``local_index`` for what ``cp_rank`` stores."""
    turn = cfg.cp_interleave * cfg.cp_size
    return index // cfg.cp_interleave * turn + cp_rank * cfg.cp_interleave + index % cfg.cp_interleave


def local_seq_lens(seq_lens: torch.Tensor, cp_rank: int, cfg: QuayConfig) -> torch.Tensor:
    """Count what ``cp_rank`` stores of the first ``seq_lens`` positions."""
    turn = cfg.cp_interleave * cfg.cp_size
    rest = (seq_lens % turn - cp_rank * cfg.cp_interleave).clamp(0, cfg.cp_interleave)
    return seq_lens // turn * cfg.cp_interleave + rest


def slots_of_index(block_tables: torch.Tensor, index: torch.Tensor, cfg: QuayConfig) -> torch.Tensor:
    """Look local indices ``[T, n]`` up in the block tables ``[T, blocks]`` of their requests: slots of a rank's cache."""
    blocks = block_tables.gather(1, index // cfg.block_size)
    return blocks * cfg.block_size + index % cfg.block_size


def slot_mapping(block_tables: torch.Tensor, positions: torch.Tensor, cp_rank: int, cfg: QuayConfig) -> torch.Tensor:
    """Map positions ``[T, n]`` of the requests with ``block_tables`` to slots of ``cp_rank``; PAD_SLOT_ID is elsewhere's."""
    slots = slots_of_index(block_tables, local_index(positions, cfg), cfg)
    return torch.where(owner_of(positions, cfg) == cp_rank, slots, PAD_SLOT_ID)


def draft_slots(block_tables: torch.Tensor, positions: torch.Tensor, cfg: QuayConfig) -> torch.Tensor:
    """Map positions ``[T, n]`` to slots of the drafter's cache, which is not sharded: ``tokens_per_block`` slots a block."""
    blocks = block_tables.gather(1, positions // cfg.tokens_per_block)
    return blocks * cfg.tokens_per_block + positions % cfg.tokens_per_block
