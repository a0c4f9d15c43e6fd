"""A one-layer model that proposes tokens. It runs on one rank and stores every token there, whatever the cp size is."""

from __future__ import annotations

import torch

from . import layout
from .attention import attend, index_scores, local_topk
from .config import QuayConfig
from .model import SM_SCALE, Activations, Model
from .worker import BlockCopier, IndexedCache


class Drafter:
    def __init__(self, cfg: QuayConfig):
        self.cfg = cfg
        self.model = Model(cfg, 1, cfg.vocab_size, torch.device("cpu"), salt=1)
        self.cache = IndexedCache(cfg.num_blocks * cfg.tokens_per_block, cfg.dtype)
        self.copier = BlockCopier([self.cache], cfg.tokens_per_block, cfg.num_host_blocks)

    def observe(self, state: Activations, slots: torch.Tensor) -> None:
        """Store the tokens of a target step."""
        self.cache.put(self.model.latent(state, 0), *self.model.index_keys(state, 0), slots)

    def propose(
        self, tokens: torch.Tensor, before: torch.Tensor, positions: torch.Tensor, block_tables: torch.Tensor
    ) -> torch.Tensor:
        """Propose ``num_draft_tokens`` tokens ``[T, n]`` after ``tokens [T]``, which stand at ``positions`` and follow words
        with the codes ``before``."""
        proposed = []
        for step in range(self.cfg.num_draft_tokens):
            word = self.model.embed(tokens)
            state = self.model.activations(word, before, positions + step)
            self.observe(state, layout.draft_slots(block_tables, (positions + step)[:, None], self.cfg)[:, 0])
            tokens = self._next(state, positions + step + 1, block_tables)
            before = word
            proposed.append(tokens)
        return torch.stack(proposed, 1)

    def _next(self, state: Activations, kv_lens: torch.Tensor, block_tables: torch.Tensor) -> torch.Tensor:
        start = (kv_lens - self.cfg.draft_window).clamp(min=0)
        seen = start[:, None] + torch.arange(min(int(kv_lens.max()), self.cfg.draft_window))
        slots = layout.draft_slots(block_tables, seen, self.cfg)
        query = self.model.index_query(state.word, state, 0)
        scores = index_scores(*query, self.cache.keys[slots], self.cache.scales[slots], kv_lens - start)
        scores, best = local_topk(scores, self.cfg.index_topk)
        chosen = slots.gather(1, best).masked_fill(scores.isneginf(), -1)
        out, _ = attend(self.model.query(state.word, state, 0), self.cache.latent, chosen, SM_SCALE)
        return self.model.logits(out, state).argmax(-1)
