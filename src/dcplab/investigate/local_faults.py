"""Puts a fault in one place: a switch of `engine.defects` on some layers and some ranks only, and the engine that has it.

The engine's own switches hold for every layer and rank. In the field, one wrapper forgets to pass a flag on, or one rank runs
an older build. The mistake is the same, but its place has to be found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dcplab.engine import backend
from dcplab.engine.backend import LayerStep, Paths
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.rank_step import RankStep
from dcplab.engine.scheduler import Engine

# These switches concern sizes and bounds, so they hold for all layers and ranks.
WHOLE = frozenset({"index_k_size", "index_k_short", "assert", "assert_short"})
EVERYWHERE = None


@dataclass(frozen=True)
class Fault:
    """Some defects and their place. ``defects``: switches of `engine.defects`. ``layers`` and ``ranks``: where; None is
    everywhere.

    ``extend`` and ``mixed`` hold for all ranks, since ranks gather together.
    """

    defects: frozenset[str] = frozenset()
    layers: frozenset[int] | None = EVERYWHERE
    ranks: frozenset[int] | None = EVERYWHERE

    def hits(self, defect: str, layer: int, rank: int | None = None) -> bool:
        here = self.layers is EVERYWHERE or layer in self.layers
        return defect in self.defects and here and (rank is None or self.ranks is EVERYWHERE or rank in self.ranks)


@dataclass
class FaultyRank(RankStep):
    """The operations of a rank, some of which do not localize. ``note(layer, rank, positions)`` gets the positions that top-k
    selected."""

    fault: Fault = Fault()
    note: Callable | None = None

    def select_paged(self):
        return self._noted(super().select_paged())

    def select_ragged(self):
        return self._noted(super().select_ragged())

    def _noted(self, positions):
        if self.note:
            self.note(self.layer, self.rank, positions)
        return positions

    def write_ckv(self, locs, raw: bool = False) -> None:
        super().write_ckv(locs, raw or self.fault.hits("ckv_write", self.layer, self.rank))

    def localize(self, locs):
        return self.as_rows(locs) if self.fault.hits("read", self.layer, self.rank) else super().localize(locs)


@dataclass
class FaultyStep(LayerStep):
    """A layer's step that reports, for each layer, which collective defect it has."""

    fault: Fault = Fault()

    def has(self, defect: str) -> bool:
        return defect in ("extend", "mixed") and self.fault.hits(defect, self.layer)


def paths(fault: Fault, note: Callable | None = None) -> Paths:
    """Return the engine's own wiring, for a server that has the fault."""

    def faulty(path):
        def run(step: LayerStep):
            ranks = [FaultyRank(**vars(rank), fault=fault, note=note) for rank in step.ranks]
            return path(FaultyStep(step.shared, step.batch, ranks, step.layer, fault))

        return run

    return Paths(decode=faulty(backend.decode), verify=faulty(backend.decode), extend=faulty(backend.extend))


def engine(config: ServerConfig, fault: Fault, note: Callable | None = None, **modes) -> Engine:
    """Make a fresh server with the fault, on the CPU, all ranks in this process.

    ``note``: see `FaultyRank`. ``modes``: arguments of `Engine`, such as ``strict``.
    """
    built = Engine(config, fault.defects & WHOLE, Local(config.dcp_size), paths=paths(fault, note), **modes)
    if "retract" in fault.defects:
        for i, pool in enumerate(built.pools):
            raw = [
                p.defects | {"retract"} if fault.hits("retract", layer, p.rank) else p.defects
                for layer, p in enumerate(pool.ckv)
            ]
            ckv = tuple(replace(p, defects=here) for p, here in zip(pool.ckv, raw, strict=True))
            built.pools[i] = replace(pool, ckv=ckv)
    return built


def single(config: ServerConfig) -> ServerConfig:
    """Return the same server on one rank.

    Its page is the allocator's page and it has as many of them, so the same requests get the same locs. On one rank, loc and
    row are the same number.
    """
    return replace(config, dcp_size=1, page_size=config.width, size=config.pages * config.width)
