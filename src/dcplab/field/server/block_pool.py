"""Blocks: who holds how many references, which are free, and which prefix each one still remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .config import NULL_BLOCK_ID


class BlockPool:
    """Hands out block ids. A free block keeps its hash, and can be found by it, until it is handed out again.

    ``on_evict(block_id, block_hash)`` is called at that moment, before anybody writes to the block.
    """

    def __init__(self, num_blocks: int, on_evict: Callable[[int, bytes], None]):
        self.num_blocks = num_blocks
        self.on_evict = on_evict
        self.ref_cnt = [0] * num_blocks
        self.hash_of: dict[int, bytes] = {}
        self.cached: dict[bytes, int] = {}
        # Ordered: the block that was freed first is handed out first.
        self.free = dict.fromkeys(b for b in range(num_blocks) if b != NULL_BLOCK_ID)

    @property
    def num_free(self) -> int:
        return len(self.free)

    def take(self, count: int) -> list[int]:
        """Hand out ``count`` blocks. The caller has looked at ``num_free``."""
        return [self._take_one() for _ in range(count)]

    def _take_one(self) -> int:
        block = next(iter(self.free))
        del self.free[block]
        self.forget(block)
        self.ref_cnt[block] = 1
        return block

    def forget(self, block: int) -> None:
        """Drop the hash of a block that is about to be overwritten."""
        block_hash = self.hash_of.pop(block, None)
        if block_hash is not None:
            del self.cached[block_hash]
            self.on_evict(block, block_hash)

    def touch(self, blocks: Iterable[int]) -> None:
        """Add a reference to cached blocks, which may be free."""
        for block in blocks:
            if self.ref_cnt[block] == 0:
                del self.free[block]
            self.ref_cnt[block] += 1

    def release(self, blocks: Iterable[int]) -> None:
        """Drop a reference of each. The end of a prefix is reused before its beginning."""
        for block in reversed(list(blocks)):
            self.ref_cnt[block] -= 1
            if self.ref_cnt[block] == 0:
                self.free[block] = None

    def remember(self, block: int, block_hash: bytes) -> None:
        """Let a full block be found by its hash. The first block with a hash keeps it."""
        if block_hash not in self.cached and block not in self.hash_of:
            self.cached[block_hash] = block
            self.hash_of[block] = block_hash
