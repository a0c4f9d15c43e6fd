"""The second level of the prefix cache: block contents in host memory, found by hash. Workers hold the bytes."""

from __future__ import annotations

from collections import OrderedDict


class HostTier:
    """``num_host_blocks`` host slots, least recently used first. A pinned slot waits for its copy to the device."""

    def __init__(self, num_host_blocks: int):
        self.slot_of: OrderedDict[bytes, int] = OrderedDict()
        self.free = list(range(num_host_blocks))
        self.pinned: set[int] = set()

    def find(self, block_hash: bytes) -> int | None:
        """Return the host slot of a block's contents."""
        slot = self.slot_of.get(block_hash)
        if slot is not None:
            self.slot_of.move_to_end(block_hash)
        return slot

    def reserve(self, block_hash: bytes) -> int | None:
        """Return a host slot for contents with this hash, or None: they are there already, or every slot is pinned."""
        if block_hash in self.slot_of:
            return None
        if not self.free:
            victim = next((h for h, slot in self.slot_of.items() if slot not in self.pinned), None)
            if victim is None:
                return None
            self.free.append(self.slot_of.pop(victim))
        slot = self.free.pop()
        self.slot_of[block_hash] = slot
        return slot
