"""The arena map's state: a rank's regions and the accesses that the watcher noted as wrong. Frozen, read once from an engine.

A watcher notes an access one by one if it left its buffer or used an index of another space; of all others it keeps the
largest index of each buffer. Everything here is its record (`engine.trace`) or its arena's (`engine.arena`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dcplab.engine.arena import Damage
from dcplab.engine.watcher import KEPT, Access
from dcplab.viz.core.validate import whole
from dcplab.viz.figures.memory_map import Region


@dataclass(frozen=True)
class Stretch:
    """A region of the arena. For a buffer, ``space`` is its index space, and ``highest`` the largest index that it got."""

    region: Region
    space: str = ""
    slots: int | None = None
    highest: int | None = None

    @property
    def name(self) -> str:
        return self.region.name

    @property
    def canary(self) -> bool:
        return self.name.startswith("canary after ")


@dataclass(frozen=True)
class ArenaState:
    """``parts``: in address order. ``noted``: every wrong access of every rank. ``at``: the number of displayed accesses that
    have happened. ``strict``: the server refused the first index outside, so that access never landed."""

    dcp_size: int
    ranks: tuple[int, ...]
    parts: tuple[Stretch, ...]
    noted: tuple[Access, ...]
    first_outside: Access | None
    first_misuse: Access | None
    damages: tuple[tuple[int, tuple[Damage, ...]], ...]
    strict: bool
    rank: int
    reads: bool = False
    at: int = 0

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Return the accesses of the displayed rank: writes, and reads if wanted."""
        return tuple(a for a in self.noted if a.rank == self.rank and (a.write or self.reads))

    @property
    def damage(self) -> tuple[Damage, ...]:
        """Return this rank's canary bands that had changed at the end."""
        return dict(self.damages)[self.rank]

    @property
    def cut(self) -> bool:
        """Return True if the watcher stopped noting accesses singly."""
        return len(self.noted) >= KEPT

    @property
    def access(self) -> Access | None:
        """Return the selected access."""
        return self.accesses[self.at - 1] if self.at else None


def make(engine, rank=None, reads: bool = False, at=None) -> ArenaState:
    """Make the state of an engine (or of an object with one as ``engine``), after its last access unless ``at`` says
    otherwise."""
    engine = getattr(engine, "engine", engine)
    if engine is None:
        raise ValueError("this server refused to start, so it has no memory to show.")
    if not hasattr(engine, "workers") or not hasattr(engine, "watcher"):
        raise ValueError(f"an arena map needs an engine, not {engine!r}.")
    watcher = engine.watcher
    if not watcher.on:
        raise ValueError("this engine does not watch its accesses; build it with watch=True.")
    arenas = {w.rank: w.arena for w in engine.workers}
    rank = watcher.lead if rank is None else whole(rank, "rank")
    if rank not in arenas:
        raise ValueError(f"this process has ranks {', '.join(map(str, arenas))}, and no rank {rank}.")
    arena = arenas[rank]
    parts = []
    for name, first, end in arena.table():
        buffer = arena.buffers.get(name)
        known = (buffer.space.value, buffer.slots, watcher.highest.get(name)) if buffer else ()
        parts.append(Stretch(Region(name, first, end), *known))
    state = ArenaState(
        engine.config.dcp_size,
        tuple(arenas),
        tuple(p for p in parts if p.region.end > p.region.first),
        tuple(watcher.wrong),
        watcher.first_outside,
        watcher.first_misuse,
        tuple((r, tuple(a.damage())) for r, a in arenas.items()),
        watcher.strict,
        rank,
        bool(reads),
    )
    return looked_at(state, len(state.accesses) if at is None else at)


def looked_at(state: ArenaState, at) -> ArenaState:
    """Return the state after another number of accesses."""
    at = whole(at, "the access")
    if at > len(state.accesses):
        raise ValueError(f"{len(state.accesses)} accesses were noted, and there is no access {at}.")
    return replace(state, at=at)


def at_first_outside(state: ArenaState) -> ArenaState:
    """Return the state at the first access outside a buffer, of the rank and kind that did it first. Strict mode stops
    there."""
    first = state.first_outside
    if first is None:
        raise ValueError("no index lay outside its buffer, so strict mode stops nowhere.")
    there = replace(state, rank=first.rank, reads=state.reads or not first.write)
    return replace(there, at=next(i for i, a in enumerate(there.accesses, 1) if a is first))


def filtered(state: ArenaState, rank: int, reads: bool) -> ArenaState:
    """Return the state with another rank's accesses, or with or without reads. The selected access stays if it can."""
    found = replace(state, rank=rank, reads=reads)
    before = state.accesses[: state.at]
    if rank != state.rank:
        return replace(found, at=min(state.at, len(found.accesses)))
    last = max((i for i, a in enumerate(found.accesses, 1) if any(a is b for b in before)), default=0)
    return replace(found, at=last)


@dataclass(frozen=True)
class Spill:
    """The effect of one buffer's accesses on one region so far: ``count`` accesses, and slots ``low`` to ``high`` if the region
    is a buffer.

    ``latest``: the selected access is one of them.
    """

    source: str
    region: str
    write: bool
    count: int
    low: int | None
    high: int | None
    latest: bool


def landings(state: ArenaState) -> tuple[Spill, ...]:
    """Return the landings of the accesses so far: outside their buffers, or inside with an index of another space.

    In strict mode accesses outside were refused, so they have none.
    """
    found: dict[tuple[str, str, bool], Spill] = {}
    for i, access in enumerate(state.accesses[: state.at], 1):
        inside = access.count - access.outside
        spots = [] if state.strict else [(h.region, h.count, h.low, h.high) for h in access.hits]
        if access.misuse and inside:
            spots.append((access.buffer, inside, access.low, min(access.high, access.slots - 1)))
        for region, count, low, high in spots:
            key = access.buffer, region, access.write
            old = found.get(key)
            lows = [v for v in (low, old.low if old else None) if v is not None]
            highs = [v for v in (high, old.high if old else None) if v is not None]
            total = count + (old.count if old else 0)
            found[key] = Spill(*key, total, min(lows, default=None), max(highs, default=None), i == state.at)
    return tuple(found.values())


def changed_canaries(state: ArenaState) -> dict[str, str]:
    """Return the changed canary bands, each with the known facts: at the end, the number of changed bytes; before, that a write
    began in the band. Strict mode has none, since it refuses before anything is written."""
    if state.at == len(state.accesses):
        return {d.band: f"{d.changed} bytes changed" for d in state.damage}
    if state.strict:
        return {}
    reached = {v.region for v in landings(state) if v.write}
    return {p.name: "written to" for p in state.parts if p.canary and p.name in reached}
