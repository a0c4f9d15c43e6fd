"""Two stores more, which no rule of DCP is for: pooled keys, one for some tokens, and a sliding window with slots of its own.

Every rank has all of both. A *pooled key* is one for ``kpool`` neighbouring locs, and its number is ``loc // kpool``, as if
ranks did not exist. A *window slot* is one of a ring that a request has, by its req_pool_idx: the window's own ids, which no
loc touches. The content is small on purpose, the code of a token's word; of a pooled group the newest token's, where a real one
has a mean. It is enough to tell whether each id led to its token (`misplaced`): no answer depends on these stores.

Stands for SGLang's ``index_kpool`` and sliding-window pools; vllm#57260 is what goes wrong where they are taken for sharded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dcplab.engine import host, index_spaces, ops
from dcplab.engine.arena import Arena
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.space_tags import Space, tag
from dcplab.engine.watcher import Watcher


def pooled_key(locs: torch.Tensor, kpool: int) -> torch.Tensor:
    """Map locs to the numbers of their pooled keys. -1 stays -1."""
    return tag(torch.where(locs >= 0, locs // kpool, -1), Space.POOLED)


def window_slot(req_pool_indices: torch.Tensor, positions: torch.Tensor, ring: int) -> torch.Tensor:
    """Map positions of requests to slots of their rings, ``ring`` each. A position of -1 stays -1."""
    return tag(torch.where(positions >= 0, req_pool_indices * ring + positions % ring, -1), Space.WINDOW)


@dataclass(frozen=True)
class Stores:
    """Pooled keys and sliding window of one rank, whichever of the two its configuration has."""

    arena: Arena
    watcher: Watcher
    rank: int
    config: ServerConfig
    defects: frozenset[str] = frozenset()

    def write(
        self, out_cache_loc: torch.Tensor, positions: torch.Tensor, req_pool_indices: torch.Tensor, word: torch.Tensor
    ) -> None:
        """Store the words' codes ``[T, 128]`` of a step's tokens: all int64 ``[T]``, request after request, positions
        ascending."""
        c, locs, places = self.config, out_cache_loc, positions
        if "stores_localized" in self.defects:  # the rule of the sharded store, applied to every one
            locs = index_spaces.localize(locs, self.rank, *c.layout)
            places = index_spaces.localize(places, self.rank, *c.layout)
        if c.kpool:
            ids = _newest(torch.where(locs >= 0, locs // c.kpool, -1))
            self._scatter("kpool", self._stated(ids, Space.POOLED), word, out_cache_loc)
        if c.window:
            slots = _newest(window_slot(req_pool_indices, places, c.ring))
            self._scatter("window", self._stated(slots, Space.WINDOW), word, out_cache_loc)

    def _stated(self, ids: torch.Tensor, space: Space) -> torch.Tensor:
        local = "stores_localized" in self.defects
        return tag(ids, Space.ROW, self.rank, self.watcher.layout) if local else tag(ids, space)

    def _scatter(self, name: str, ids: torch.Tensor, word: torch.Tensor, locs: torch.Tensor) -> None:
        safe = self.watcher.use(self.arena, self.rank, name, ids, f"write_{name}", True, locs)
        view = self.arena.view(name)
        ops.scatter_rows(view, word.to(view.dtype), safe)

    def misplaced(self, locs: torch.Tensor, req_pool_idx: int, first: int, words: torch.Tensor) -> int:
        """Count the reads that bring back another token than they must: of the pooled key of each whole group of a request, and
        of its window. ``locs [n]`` of what is stored, ``words [n, 128]`` the codes of its words; ``first``: the position from
        which the request stored its window itself."""
        c, n, wrong = self.config, len(locs), 0
        if c.kpool:
            last = torch.arange(n // c.kpool, device=locs.device) * c.kpool + c.kpool - 1
            wrong += self._other("kpool", pooled_key(locs[last], c.kpool), words[last])
        if c.window:
            at = torch.arange(max(first, n - c.window), n, device=locs.device)
            wrong += self._other("window", window_slot(torch.full_like(at, req_pool_idx), at, c.ring), words[at])
        return wrong

    def _other(self, name: str, ids: torch.Tensor, words: torch.Tensor) -> int:
        view = self.arena.view(name)
        there = ops.gather_rows(view, self.watcher.use(self.arena, self.rank, name, ids, f"read_{name}", False))
        return int((there != words.to(view.dtype)).any(1).sum())

    def backup(self, locs: torch.Tensor, req_pool_idx: int) -> list[torch.Tensor]:
        """Copy to the host what a retracted request loses: its groups' pooled keys, by loc, and its ring."""
        return [host.to_host(ops.gather_rows(self.arena.view(name), ids)) for name, ids in self._all(locs, req_pool_idx)]

    def restore(self, saved: Sequence[torch.Tensor], locs: torch.Tensor, req_pool_idx: int) -> None:
        """Put it back under new ids: the pooled keys at the new locs' numbers, the ring at the new req_pool_idx."""
        for (name, ids), rows in zip(self._all(locs, req_pool_idx), saved, strict=True):
            ops.scatter_rows(self.arena.view(name), host.to_device(rows, locs.device), ids)

    def _all(self, locs: torch.Tensor, req_pool_idx: int) -> list[tuple[str, torch.Tensor]]:
        c, out = self.config, []
        if c.kpool:
            out.append(("kpool", pooled_key(locs[:: c.kpool], c.kpool)))
        if c.window:
            at = torch.arange(c.ring, device=locs.device)
            out.append(("window", window_slot(torch.full_like(at, req_pool_idx), at, c.ring)))
        return out


def _newest(ids: torch.Tensor) -> torch.Tensor:
    """Keep of each id in ``ids [T]`` the last place where it stands, -1 in the others: a scatter may write no row twice."""
    order = torch.where(ids >= 0, ids, -1 - torch.arange(len(ids), device=ids.device))
    where = torch.arange(len(ids), device=ids.device)
    unique, inverse = torch.unique(order, return_inverse=True)
    last = torch.zeros(len(unique), dtype=torch.int64, device=ids.device).scatter_reduce_(0, inverse, where, "amax")
    return torch.where((last[inverse] == where) & (ids >= 0), ids, -1)
