"""The requests' rows that stay from step to step, and the static buffers that a captured step reads."""

from __future__ import annotations

import torch

from .config import NULL_BLOCK_ID, PAD_SLOT_ID, QuayConfig
from .sequence import Sequence

CODE = 128  # numbers of a word's code


class InputBatch:
    """One row a running request: block table, computed tokens, and the code of the word before the next token."""

    def __init__(self, cfg: QuayConfig):
        self.seq_ids: list[int] = []
        self.row_of: dict[int, int] = {}
        self.block_table = torch.full((cfg.max_num_seqs, cfg.max_blocks_per_seq), NULL_BLOCK_ID, dtype=torch.int64)
        self.num_computed_tokens = [0] * cfg.max_num_seqs
        self.last_word = torch.zeros(cfg.max_num_seqs, CODE)

    def add(self, seq: Sequence, word: torch.Tensor | float) -> None:
        """Open a row. ``word``: the code of the last computed token, zero for none."""
        row = len(self.seq_ids)
        self.seq_ids.append(seq.seq_id)
        self.row_of[seq.seq_id] = row
        self.last_word[row] = word
        self.set_blocks(seq)

    def set_blocks(self, seq: Sequence) -> None:
        """Bring a row's block table up to date."""
        row = self.row_of[seq.seq_id]
        self.block_table[row] = NULL_BLOCK_ID
        self.block_table[row, : len(seq.block_ids)] = torch.tensor(seq.block_ids, dtype=torch.int64)
        self.num_computed_tokens[row] = seq.num_computed_tokens

    def remove(self, seq_id: int) -> None:
        """Close a row; the last one moves into the hole."""
        hole = self.row_of.pop(seq_id)
        last = len(self.seq_ids) - 1
        moved = self.seq_ids.pop()
        if hole != last:
            self.seq_ids[hole] = moved
            self.row_of[moved] = hole
            self.block_table[hole] = self.block_table[last]
            self.num_computed_tokens[hole] = self.num_computed_tokens[last]
            self.last_word[hole] = self.last_word[last]


class StepBuffers:
    """Fixed memory for a step's per-token inputs. A captured step of size n reads the first n entries, used or not."""

    def __init__(self, cfg: QuayConfig):
        size = max(cfg.max_num_batched_tokens, *cfg.capture_sizes)
        self.input_ids = torch.zeros(size, dtype=torch.int64)
        self.positions = torch.zeros(size, dtype=torch.int64)
        self.rows = torch.zeros(size, dtype=torch.int64)
        self.kv_lens = torch.zeros(size, dtype=torch.int64)
        self.slot_mapping = torch.full((cfg.cp_size, size), PAD_SLOT_ID, dtype=torch.int64)
        self.draft_slots = torch.full((size,), PAD_SLOT_ID, dtype=torch.int64)

    def pad(self, used: int, padded: int) -> None:
        """Make the entries from ``used`` to ``padded`` store nothing and see nothing."""
        self.input_ids[used:padded] = 0
        self.positions[used:padded] = 0
        self.rows[used:padded] = 0
        self.kv_lens[used:padded] = 0
        self.slot_mapping[:, used:padded] = PAD_SLOT_ID
        self.draft_slots[used:padded] = PAD_SLOT_ID
