"""A rank's pools as the rest of the server sees them: what is stored where, and how a request's share is saved and put back.

A pool knows the *DCP span* of its ids: D where it is sharded (a rank holds every D-th loc, at ``loc // D``), 1 where it is
replicated or its ids are rows already. Stands for SGLang's ``MLATokenToKVPool``, ``IndexKeyCache`` and ``HybridLinearKVPool``,
and for the retraction fix #39487 (``_write_loc_dcp_span``).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from dcplab.engine import index_spaces, ops
from dcplab.engine.arena import Arena
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.space_tags import Space, tag
from dcplab.engine.watcher import Watcher


class DeviceAssert(RuntimeError):
    """torch checks the indices of its own gathers on the device; one outside kills the server."""


@dataclass(frozen=True)
class CkvPool:
    """c-KV of one layer on one rank. ``dcp_localized_writes``: whether its writer keeps this rank's locs and divides them."""

    name: str
    arena: Arena
    watcher: Watcher
    rank: int
    dcp_span: int
    raw: bool = False  # the defect: locs used as rows by backup and restore

    @property
    def dcp_localized_writes(self) -> bool:
        return self.dcp_span > 1

    def rows(self, locs: torch.Tensor) -> torch.Tensor:
        """Locs of a request, in position order -> the rows this rank holds of them, in the same order."""
        self.watcher.expect(locs, Space.LOC, f"rows of {self.name}")
        if self.raw or self.dcp_span == 1:
            return locs
        rows = index_spaces.localize(locs, self.rank, self.dcp_span)
        return tag(rows[rows >= 0], Space.ROW, self.rank)

    def backup(self, locs: torch.Tensor) -> torch.Tensor:
        """A copy on the host of what this rank holds of ``locs``."""
        rows = self._checked(self.rows(locs), "get_cpu_copy", False, None)
        return ops.gather_rows(self.arena.view(self.name), rows).cpu()

    def restore(self, saved: torch.Tensor, locs: torch.Tensor) -> None:
        """Put ``saved`` at the rows of other locs, new ones, in the same order. ValueError if the counts differ."""
        rows = self.rows(locs)
        if len(rows) != len(saved):
            raise ValueError(f"{len(saved)} rows were saved and there is place for {len(rows)}.")
        held = locs[(locs % self.dcp_span) == self.rank] if self.dcp_span > 1 and not self.raw else locs
        rows = self._checked(rows, "load_cpu_copy", True, held)
        ops.scatter_rows(self.arena.view(self.name), saved.to(self.arena.bytes.device), rows)

    def _checked(self, rows: torch.Tensor, op: str, write: bool, locs: torch.Tensor | None) -> torch.Tensor:
        self.watcher.use(self.arena, self.rank, self.name, rows, op, write, locs)
        slots = self.arena.buffers[self.name].slots
        if len(rows) and int(rows.max()) >= slots:
            raise DeviceAssert(f"{op} on {self.name}, rank {self.rank}: row {int(rows.max())} of {slots}")
        return rows


@dataclass(frozen=True)
class IndexKCache:
    """index-K of one layer: replicated, addressed by loc."""

    name: str
    arena: Arena
    watcher: Watcher
    rank: int
    page_size: int

    @property
    def index_buf_size(self) -> int:
        """Return the number of slots."""
        return self.arena.buffers[self.name].slots

    def backup(self, locs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        safe = self.watcher.use(self.arena, self.rank, self.name, locs, "read_index_k", False)
        keys, scales = ops.read_index_k(self.arena.window(self.name), safe, self.page_size)
        return keys.cpu(), scales.cpu()

    def restore(self, saved: tuple[torch.Tensor, torch.Tensor], locs: torch.Tensor) -> None:
        keys, scales = (part.to(self.arena.bytes.device) for part in saved)
        safe = self.watcher.use(self.arena, self.rank, self.name, locs, "write_index_k", True, locs)
        ops.write_index_k(self.arena.window(self.name), keys, scales, safe, self.page_size)


@dataclass(frozen=True)
class Saved:
    """A retracted request's share of one rank, on the host: each layer's c-KV rows, each layer's index keys and scales, and the
    recurrent state."""

    ckv: list[torch.Tensor]
    index_k: list[tuple[torch.Tensor, torch.Tensor]]
    state: torch.Tensor


@dataclass(frozen=True)
class HybridPool:
    """Everything one rank stores. The wrapper forwards what its inner pools know, and nothing of it can be set from outside:
    a value copied at construction goes stale, a parameter not passed on falls back to a default (both happened)."""

    ckv: tuple[CkvPool, ...]
    index_k: tuple[IndexKCache, ...]
    state: torch.Tensor  # [max_requests + 1, 128], recurrent state: by req_pool_idx, never translated

    @property
    def dcp_localized_writes(self) -> bool:
        return self.ckv[0].dcp_localized_writes

    @property
    def index_buf_size(self) -> int:
        return self.index_k[0].index_buf_size

    def backup(self, locs: torch.Tensor, req_pool_idx: int) -> Saved:
        """All that a retracted request loses with its locs: c-KV and index-K of every layer, draft included, and its state."""
        return Saved([p.backup(locs) for p in self.ckv], [p.backup(locs) for p in self.index_k], self.state[req_pool_idx].cpu())

    def restore(self, saved: Saved, locs: torch.Tensor, req_pool_idx: int) -> None:
        for pool, rows in zip(self.ckv, saved.ckv, strict=True):
            pool.restore(rows, locs)
        for cache, keys in zip(self.index_k, saved.index_k, strict=True):
            cache.restore(keys, locs)
        self.state[req_pool_idx] = saved.state.to(self.state.device)


def build(config: ServerConfig, arena: Arena, watcher: Watcher, rank: int, raw_retraction: bool) -> HybridPool:
    """The pools of one rank over its arena: the target's layers, and the draft's behind them where there is one."""
    ckv = [CkvPool(f"ckv.{i}", arena, watcher, rank, config.dcp_size, raw_retraction) for i in range(config.layers)]
    index_k = [IndexKCache(f"index_k.{i}", arena, watcher, rank, config.page_size) for i in range(config.layers)]
    if config.draft_tokens:
        ckv.append(CkvPool("draft.ckv", arena, watcher, rank, 1))
        index_k.append(IndexKCache("draft.index_k", arena, watcher, rank, config.page_size))
    return HybridPool(tuple(ckv), tuple(index_k), arena.view("conv_state"))
