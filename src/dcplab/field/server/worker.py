"""One cp rank: its share of every layer's cache, and its part of attention."""

from __future__ import annotations

import torch

from . import layout
from .attention import attend, index_scores, local_topk, store
from .config import QuayConfig
from .model import SM_SCALE

WIDTH = 512  # elements of a cached latent
INDEX_DIM = 128


class IndexedCache:
    """Latents of one layer with the keys, and the scales of these keys, by which the indexer finds them."""

    def __init__(self, slots: int, dtype: torch.dtype):
        self.latent = torch.zeros(slots, WIDTH, dtype=dtype)
        self.keys = torch.zeros(slots, INDEX_DIM, dtype=torch.float8_e4m3fn)
        self.scales = torch.zeros(slots)

    @property
    def parts(self) -> tuple[torch.Tensor, ...]:
        """Everything that belongs to a slot."""
        return self.latent, self.keys.view(torch.uint8), self.scales

    def put(self, latent: torch.Tensor, keys: torch.Tensor, scales: torch.Tensor, slots: torch.Tensor) -> None:
        """Store one entry a slot."""
        store(self.latent, latent, slots)
        store(self.keys.view(torch.uint8), keys.view(torch.uint8), slots)
        store(self.scales, scales, slots)


class BlockCopier:
    """Moves whole blocks of some caches to host memory and back. ``width``: slots that a block has in these caches."""

    def __init__(self, caches: list[IndexedCache], width: int, num_host_blocks: int):
        self.width = width
        self.parts = [part for cache in caches for part in cache.parts]
        self.host = [part.new_zeros(num_host_blocks * width, *part.shape[1:]) for part in self.parts]

    def to_host(self, block: int, host_slot: int) -> None:
        for part, host in zip(self.parts, self.host, strict=True):
            host[self._of(host_slot)] = part[self._of(block)]

    def to_device(self, host_slot: int, block: int) -> None:
        for part, host in zip(self.parts, self.host, strict=True):
            part[self._of(block)] = host[self._of(host_slot)]

    def _of(self, block: int) -> slice:
        return slice(block * self.width, (block + 1) * self.width)


class RankWorker:
    def __init__(self, cp_rank: int, cfg: QuayConfig):
        self.cp_rank = cp_rank
        self.cfg = cfg
        self.layers = [IndexedCache(cfg.num_blocks * cfg.block_size, cfg.dtype) for _ in range(cfg.num_layers)]
        self.copier = BlockCopier(self.layers, cfg.block_size, cfg.num_host_blocks)

    def candidates(
        self, layer: int, query: tuple[torch.Tensor, torch.Tensor], block_tables: torch.Tensor, kv_lens: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Find this rank's best keys for each token: scores and positions in the request, ``[T, n]``."""
        cfg, cache = self.cfg, self.layers[layer]
        lens = layout.local_seq_lens(kv_lens, self.cp_rank, cfg)
        # Keys are read a block at a time.
        num_blocks = max(1, -(-int(lens.max()) // cfg.block_size))
        index = torch.arange(num_blocks * cfg.block_size).expand(len(lens), -1)
        slots = layout.slots_of_index(block_tables, index, cfg)
        scores = index_scores(*query, cache.keys[slots], cache.scales[slots], lens)
        scores, best = local_topk(scores, cfg.index_topk)
        return scores, layout.global_position(best, self.cp_rank, cfg)

    def attend(
        self, layer: int, query: torch.Tensor, chosen: torch.Tensor, block_tables: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend to what this rank stores of the chosen positions ``[T, topk]`` (-1: none)."""
        slots = layout.slot_mapping(block_tables, chosen.clamp(min=0), self.cp_rank, self.cfg)
        slots = slots.masked_fill(chosen < 0, -1)
        return attend(query, self.layers[layer].latent, slots, SM_SCALE)
