"""A rank's pools as the rest of the server sees them: what is stored where, and how a request's share is saved and put back.

A pool knows the *DCP span* of its ids: D where it is sharded (a rank holds one of D turns, at `index_spaces.local_row`), 1
where it is replicated or its ids are rows already. Stands for SGLang's ``MLATokenToKVPool``, ``IndexKeyCache`` and
``HybridLinearKVPool``, and for the retraction fix #39487 (``_write_loc_dcp_span``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from dcplab.engine import host, index_spaces, ops, public_cases
from dcplab.engine.arena import Arena
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.space_tags import Space, space_of, tag
from dcplab.engine.stores import Stores
from dcplab.engine.watcher import Watcher


class DeviceAssert(RuntimeError):
    """torch checks the indices of its own gathers on the device; one outside kills the server."""


class CountMismatch(DeviceAssert, ValueError):
    """Backup and restore made different numbers of rows of a request's locs."""


@dataclass(frozen=True)
class CkvPool:
    """c-KV of one layer on one rank. ``dcp_localized_writes``: whether its writer keeps this rank's locs and divides them.

    ``defects``: switches of retraction (`defects.py`); ``dcp_size``: D, whatever the pool's own span is.
    """

    name: str
    arena: Arena
    watcher: Watcher
    rank: int
    dcp_span: int
    dcp_size: int
    defects: frozenset[str] = frozenset()
    interleave: int = 1

    @property
    def dcp_localized_writes(self) -> bool:
        return self.dcp_span > 1

    @property
    def replicated(self) -> bool:
        """The draft's: every loc on every rank, whatever D is."""
        return self.name == "draft.ckv"

    def rows(self, locs: torch.Tensor) -> torch.Tensor:
        """Map a request's locs, in position order, to the rows this rank holds of them, in the same order."""
        self.watcher.expect(locs, Space.LOC, f"rows of {self.name}")
        dcp_span = self.dcp_size if "resolved_twice" in self.defects else self.dcp_span
        if dcp_span == 1 or ("retract" in self.defects and self.dcp_localized_writes):
            return locs
        if "retract_stride" in self.defects:
            return self._rows(public_cases.strided_chunks(locs, self.rank, dcp_span))
        rows = index_spaces.localize(locs, self.rank, dcp_span, self.interleave)
        return self._rows(rows[rows >= 0])

    def _rows(self, rows: torch.Tensor) -> torch.Tensor:
        return tag(rows, Space.ROW, self.rank, self.watcher.layout)

    def backup(self, locs: torch.Tensor) -> torch.Tensor:
        """Copy to the host what this rank holds of ``locs``; see `host.to_host`."""
        return host.to_host(self.gather(self.rows(locs), "get_cpu_copy"))

    def restore(self, saved: torch.Tensor, locs: torch.Tensor) -> None:
        """Put ``saved`` at the rows of other locs, new ones, in the same order. CountMismatch if the counts differ."""
        rows = self.rows(locs)
        if len(rows) != len(saved):
            raise CountMismatch(f"{len(saved)} rows were saved and there is place for {len(rows)}.")
        self.scatter(rows, host.to_device(saved, self.arena.bytes.device), "load_cpu_copy")

    def gather(self, rows: torch.Tensor, op: str) -> torch.Tensor:
        """Read what lies at ``rows [n]``: ``[n, V]`` on the device. ``op`` names the access."""
        return ops.gather_rows(self.arena.view(self.name), self._checked(rows, op, False, None))

    def scatter(self, rows: torch.Tensor, values: torch.Tensor, op: str) -> None:
        """Write ``values [n, V]`` to ``rows [n]``."""
        are_locs = space_of(rows) is Space.LOC or not self.dcp_localized_writes
        tagged = rows if are_locs else index_spaces.globalize(rows, self.rank, self.dcp_span, self.interleave)
        ops.scatter_rows(self.arena.view(self.name), values, self._checked(rows, op, True, tagged))

    def _checked(self, rows: torch.Tensor, op: str, write: bool, locs: torch.Tensor | None) -> torch.Tensor:
        self.watcher.use(self.arena, self.rank, self.name, rows, op, write, locs)
        slots = self.arena.buffers[self.name].slots
        if len(rows) and int(rows.max()) >= slots:
            raise DeviceAssert(f"{op} on {self.name}, rank {self.rank}: row {int(rows.max())} of {slots}")
        return rows


@dataclass(frozen=True)
class IndexKCache:
    """index-K of one layer: replicated, addressed by loc; or sharded as c-KV is, addressed by row, where the DCP span is D."""

    name: str
    arena: Arena
    watcher: Watcher
    rank: int
    page_size: int
    dcp_span: int = 1
    interleave: int = 1

    @property
    def index_buf_size(self) -> int:
        """Return the number of slots."""
        return self.arena.buffers[self.name].slots

    def held(self, locs: torch.Tensor) -> torch.Tensor:
        """Tell which of ``locs`` this rank holds a key of: bool ``[n]``."""
        return index_spaces.owner_rank(locs, self.dcp_span, self.interleave) == (self.rank if self.dcp_span > 1 else 0)

    def ids(self, locs: torch.Tensor) -> torch.Tensor:
        """Map locs to what addresses this cache, in their order: locs, or rows of those that this rank holds."""
        if self.dcp_span == 1:
            return locs
        self.watcher.expect(locs, Space.LOC, f"rows of {self.name}")
        rows = index_spaces.local_row(locs[self.held(locs)], self.dcp_span, self.interleave)
        return tag(rows, Space.ROW, self.rank, self.watcher.layout)

    def backup(self, locs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Copy to the host the keys ``[n, 128]`` fp8 and scales ``[n]`` that this rank holds of ``locs``."""
        safe = self.watcher.use(self.arena, self.rank, self.name, self.ids(locs), "read_index_k", False)
        keys, scales = ops.read_index_k(self.arena.window(self.name), safe, self.page_size)
        return host.to_host(keys), host.to_host(scales)

    def restore(self, saved: tuple[torch.Tensor, torch.Tensor], locs: torch.Tensor) -> None:
        """Put saved keys and scales at this rank's share of other locs, in order. CountMismatch if the counts differ."""
        keys, scales = (host.to_device(part, self.arena.bytes.device) for part in saved)
        ids, own = self.ids(locs), locs[self.held(locs)] if self.dcp_span > 1 else locs
        if len(ids) != len(keys):
            raise CountMismatch(f"{len(keys)} keys were saved and there is place for {len(ids)}.")
        safe = self.watcher.use(self.arena, self.rank, self.name, ids, "write_index_k", True, own)
        ops.write_index_k(self.arena.window(self.name), keys, scales, safe, self.page_size)


@dataclass(frozen=True)
class Saved:
    """A retracted request's share of one rank, on the host: each layer's c-KV rows, each layer's index keys and scales, and the
    recurrent state."""

    ckv: list[torch.Tensor]
    index_k: list[tuple[torch.Tensor, torch.Tensor]]
    state: torch.Tensor
    stores: list[torch.Tensor] = field(default_factory=list)


@dataclass(frozen=True)
class HybridPool:
    """Everything one rank stores. The wrapper forwards what its inner pools know, and nothing of it can be set from outside:
    a value copied at construction goes stale, a parameter not passed on falls back to a default (both happened).

    ``forgets``: names of the pools that a restore leaves out, a defect.
    """

    ckv: tuple[CkvPool, ...]
    index_k: tuple[IndexKCache, ...]
    state: torch.Tensor  # [max_requests + 1, 128], recurrent state: by req_pool_idx, its own id, never translated
    forgets: frozenset[str] = frozenset()
    stores: Stores | None = None  # pooled keys and a sliding window, where the server has them

    @property
    def dcp_localized_writes(self) -> bool:
        return self.ckv[0].dcp_localized_writes

    @property
    def index_buf_size(self) -> int:
        return self.index_k[0].index_buf_size

    def backup(self, locs: torch.Tensor, req_pool_idx: int) -> Saved:
        """Copy to the host all that a retracted request loses with its locs: c-KV and index-K of every layer, draft included,
        and its state."""
        state = host.to_host(self.state[req_pool_idx])
        more = self.stores.backup(locs, req_pool_idx) if self.stores else []
        return Saved([p.backup(locs) for p in self.ckv], [p.backup(locs) for p in self.index_k], state, more)

    def restore(self, saved: Saved, locs: torch.Tensor, req_pool_idx: int) -> None:
        """Put everything back: what locs address at ``locs``, new ones, and the state at the request's new id."""
        for pool, rows in zip(self.ckv, saved.ckv, strict=True):
            if pool.name not in self.forgets:
                pool.restore(rows, locs)
        for cache, keys in zip(self.index_k, saved.index_k, strict=True):
            if cache.name not in self.forgets:
                cache.restore(keys, locs)
        self.state[req_pool_idx] = host.to_device(saved.state, self.state.device)
        if self.stores:
            self.stores.restore(saved.stores, locs, req_pool_idx)

    def chosen_again(self, saved: Saved, locs: torch.Tensor, topk: int) -> tuple[int, int]:
        """Count the positions that a top-k over the saved index keys chooses, of all layers and the draft, and those of them
        that it chooses again from the keys that now lie at ``locs``: all, unless index-K did not come back."""
        chosen = again = 0
        now = [cache.backup(locs) for cache in self.index_k]
        host.wait(self.state.device)  # the CPU looks at both
        for was, lies in zip(saved.index_k, now, strict=True):
            before, after = _top(was, topk), _top(lies, topk)
            chosen, again = chosen + len(before), again + len(before & after)
        return chosen, again


def _top(keys_and_scales: tuple[torch.Tensor, torch.Tensor], topk: int) -> set[int]:
    """Return the positions that one fixed query chooses: of the relu of two dot products, scaled."""
    keys, scales = keys_and_scales
    query = torch.arange(2 * keys.shape[1]).view(-1, 2).mul(2654435761).remainder(1009).sub(504).float()
    scores = torch.relu(keys.float() @ query).sum(1) * scales
    return set(torch.topk(scores, min(topk, len(scores))).indices.tolist())


FORGETS = {"index_k_stale": ("index_k.",), "draft_stale": ("draft.",)}  # switch -> how the names of those pools begin


def build(config: ServerConfig, arena: Arena, watcher: Watcher, rank: int, defects: frozenset[str] = frozenset()) -> HybridPool:
    """Build the pools of one rank over its arena: the target's layers, and the draft's behind them where there is one."""

    def ckv_pool(name: str, dcp_span: int) -> CkvPool:
        return CkvPool(name, arena, watcher, rank, dcp_span, config.dcp_size, defects, config.interleave)

    ckv = [ckv_pool(f"ckv.{i}", config.dcp_size) for i in range(config.layers)]
    keys_span = config.dcp_size if config.index_k_sharded else 1
    sharing = (arena, watcher, rank, config.index_page, keys_span, config.interleave)
    index_k = [IndexKCache(f"index_k.{i}", *sharing) for i in range(config.layers)]
    if config.draft_tokens:
        ckv.append(ckv_pool("draft.ckv", 1))
        index_k.append(IndexKCache("draft.index_k", arena, watcher, rank, config.index_page))
    beginnings = tuple(b for switch, names in FORGETS.items() if switch in defects for b in names)
    names = [p.name for p in ckv] + [c.name for c in index_k]
    forgets = frozenset(name for name in names if name.startswith(beginnings))
    stores = Stores(arena, watcher, rank, config, defects) if config.kpool or config.window else None
    return HybridPool(tuple(ckv), tuple(index_k), arena.view("conv_state"), forgets, stores)
