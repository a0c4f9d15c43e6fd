"""Blocks of requests: prefix lookup, allocation, release; and the copies that these make necessary."""

from __future__ import annotations

import hashlib
from array import array

from .block_pool import BlockPool
from .config import QuayConfig
from .host_tier import HostTier
from .sequence import Sequence


def hash_block(parent: bytes, token_ids: list[int]) -> bytes:
    """Hash a full block's tokens together with everything before them."""
    return hashlib.sha256(parent + array("q", token_ids).tobytes()).digest()


class KVCacheManager:
    """Owns the block pool and the host tier.

    ``copies_out`` (block, host slot) and ``copies_in`` (host slot, block) are due before the next forward pass, in this order.
    """

    def __init__(self, cfg: QuayConfig):
        self.cfg = cfg
        self.pool = BlockPool(cfg.num_blocks, self._evicted)
        self.host = HostTier(cfg.num_host_blocks)
        self.copies_out: list[tuple[int, int]] = []
        self.copies_in: list[tuple[int, int]] = []

    def blocks_for(self, num_tokens: int) -> int:
        """Count the blocks that ``num_tokens`` tokens of a request take."""
        return -(-num_tokens // self.cfg.tokens_per_block)

    def lookup(self, seq: Sequence) -> tuple[list[int], list[int]]:
        """Find the longest stored prefix: block ids on the device, then host slots. One token is left to compute."""
        blocks: list[int] = []
        host_slots: list[int] = []
        if not self.cfg.enable_prefix_caching:
            return blocks, host_slots
        for i in range((seq.num_tokens - 1) // self.cfg.tokens_per_block):
            block_hash = self._hash(seq, i)
            block = self.pool.cached.get(block_hash)
            if block is not None and not host_slots:
                blocks.append(block)
                continue
            slot = self.host.find(block_hash)
            if slot is None:
                break
            host_slots.append(slot)
        return blocks, host_slots

    def admit(self, seq: Sequence, num_tokens: int, reserve: int) -> tuple[int, int] | None:
        """Give a waiting request its stored prefix and blocks for the first ``num_tokens`` tokens after it.

        Returns the tokens found on the device and on the host. None, and nothing changed, if fewer than ``reserve`` blocks
        would stay free.
        """
        blocks, host_slots = self.lookup(seq)
        width = self.cfg.tokens_per_block
        found, loaded = len(blocks) * width, len(host_slots) * width
        first = min(seq.num_tokens, found + loaded + num_tokens)
        self.pool.touch(blocks)
        need = self.blocks_for(first + self.cfg.num_draft_tokens) - len(blocks)
        if self.pool.num_free - need < reserve:
            self.pool.release(blocks)
            return None
        self.host.pinned.update(host_slots)
        new = self.pool.take(need)
        seq.block_ids = blocks + new
        for slot, block in zip(host_slots, new, strict=False):
            self.copies_in.append((slot, block))
        seq.num_computed_tokens = found + loaded
        seq.num_cached_blocks = len(blocks)
        self.cache_full_blocks(seq)
        return found, loaded

    def grow(self, seq: Sequence, num_tokens: int) -> bool:
        """Allocate for the next ``num_tokens`` tokens of a running request and for what a drafter stores beyond them."""
        need = self.blocks_for(seq.num_computed_tokens + num_tokens + self.cfg.num_draft_tokens) - len(seq.block_ids)
        if need > self.pool.num_free:
            return False
        if need > 0:
            seq.block_ids += self.pool.take(need)
        return True

    def cache_full_blocks(self, seq: Sequence) -> None:
        """Tell the prefix cache of the blocks whose every token is computed and will stay."""
        if not self.cfg.enable_prefix_caching:
            return
        full = seq.num_computed_tokens // self.cfg.tokens_per_block
        for i in range(seq.num_cached_blocks, full):
            self.pool.remember(seq.block_ids[i], self._hash(seq, i))
        seq.num_cached_blocks = max(seq.num_cached_blocks, full)

    def free(self, seq: Sequence) -> None:
        """Take a request's blocks back."""
        self.pool.release(seq.block_ids)
        seq.block_ids = []
        seq.num_cached_blocks = 0

    def take_copies(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Hand over the copies that are due, and unpin what they read."""
        out, back = self.copies_out, self.copies_in
        self.copies_out, self.copies_in = [], []
        self.host.pinned.clear()
        return out, back

    def _evicted(self, block: int, block_hash: bytes) -> None:
        slot = self.host.reserve(block_hash)
        if slot is not None:
            self.copies_out.append((block, slot))

    def _hash(self, seq: Sequence, i: int) -> bytes:
        width = self.cfg.tokens_per_block
        while len(seq.block_hashes) <= i:
            n = len(seq.block_hashes)
            parent = seq.block_hashes[-1] if n else b""
            seq.block_hashes.append(hash_block(parent, seq.token_ids[n * width : (n + 1) * width]))
        return seq.block_hashes[i]
