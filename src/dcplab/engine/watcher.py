"""Watches every access to a rank's arena, to answer "which operation was wrong first?".

It asks two questions of an access, which have different answers in time:

* *misuse*: the index is in another space than the buffer's. It can be right by luck: below the watermark, a loc written and
  read as a row hits the right place.
* *outside*: the index is beyond the buffer's last slot. This is the first access that can harm somebody else.

``typed`` raises at the first misuse, ``strict`` at the first index outside. Otherwise both are noted, and the access has the
effect that it has on a GPU that does not fault. Beyond the arena nothing is mapped: such indices are dropped and ``fault`` is
set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import torch

from dcplab.engine.arena import Arena, Buffer
from dcplab.engine.index_spaces import Layout
from dcplab.engine.space_tags import Space, SpaceError, layout_of, of_which, retag, space_of

KEPT = 2000  # wrong accesses kept singly; further ones only count in the sums


class OutsideError(IndexError):
    """Raised in strict mode for an index outside its buffer. ``access`` says which."""

    def __init__(self, access: Access):
        self.access = access
        super().__init__(access.sentence())


Index = TypeVar("Index", int, torch.Tensor)


@dataclass(frozen=True)
class Hit:
    """An access outside its buffer touched slots ``low..high`` of ``region``. ``held`` of them held a token, ``loc`` is one of
    these."""

    region: str
    low: int | None
    high: int | None
    count: int
    held: int = 0
    loc: int | None = None

    def words(self) -> str:
        if self.low is None:
            return f"{self.region} ({self.count})"
        span = f"{self.low}" if self.low == self.high else f"{self.low}..{self.high}"
        return f"{self.region} slots {span}" + (f", {self.held} of them holding tokens" if self.held else "")


@dataclass(frozen=True)
class Access:
    """One access. ``low`` and ``high``: the smallest and largest index used, padding aside. ``slots``: the size of the buffer.
    ``outside``: the number of indices not below it. ``first``: the first of them. ``byte``: its address in the arena.
    """

    step: int
    phase: str
    rank: int
    op: str
    write: bool
    buffer: str
    given: Space | None
    needed: Space
    count: int
    low: int
    high: int
    slots: int
    outside: int = 0
    first: int | None = None
    byte: int | None = None
    unmapped: int = 0
    hits: tuple[Hit, ...] = ()

    @property
    def misuse(self) -> bool:
        return self.given is not self.needed

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, of which `access_of` makes it again."""
        spaces = {"given": self.given.value if self.given else None, "needed": self.needed.value}
        return asdict(self) | spaces

    def sentence(self) -> str:
        """Word the access for a person: the operation, the rank, the index, and the buffer's size."""
        does = "writes" if self.write else "reads"
        what = self.given.value if self.given else "index"
        head = f"step {self.step} ({self.phase}), rank {self.rank}: {self.op} {does} {self.buffer}"
        if self.outside:
            return f"{head} at {what} {self.first}, which has slots 0..{self.slots - 1} ({self.needed.value} space)."
        return f"{head}, indexed by {self.needed.value}, with {'locs' if what == 'loc' else what} {self.low}..{self.high}."


def access_of(plain: Mapping[str, Any]) -> Access:
    """Make the access again of which `Access.plain` gave ``plain``."""
    given = Space(plain["given"]) if plain["given"] else None
    hits = tuple(Hit(**hit) for hit in plain["hits"])
    return Access(**{**plain, "given": given, "needed": Space(plain["needed"]), "hits": hits})


@dataclass
class Watcher:
    """Watches accesses. ``on``: record every access; synchronises with the device each time. Off: detect only accesses outside
    the arena, and skip buffers in ``trusted``, which hold every index that they can get."""

    dcp_size: int = 1
    lead: int = 0  # the rank whose overwrites are summed; locs are the same on all ranks
    on: bool = True
    typed: bool = False
    strict: bool = False
    neighbours: bool = True  # False: kernels mask a read outside, as guarded ones do
    step: int = 0
    phase: str = "start"
    trusted: frozenset[str] = frozenset()
    interleave: int = 1
    tap: Callable[..., Any] | None = None  # told of every access before it is judged: (rank, buffer, index, op, write, locs)
    first_misuse: Access | None = None
    first_outside: Access | None = None
    first_unmapped: Access | None = None
    wrong: list[Access] = field(default_factory=list)
    highest: dict[str, int] = field(default_factory=dict)
    outside: dict[tuple[str, str], int] = field(default_factory=dict)
    overwritten: dict[tuple[str, str], Hit] = field(default_factory=dict)
    _hurt: dict[tuple[str, str], torch.Tensor] = field(default_factory=dict)
    _holds: dict[tuple[int, str], torch.Tensor] = field(default_factory=dict)
    _faults: dict[int, torch.Tensor] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        """How this server deals locs to its ranks."""
        return Layout.of(self.dcp_size, self.interleave)

    def expect(self, index: torch.Tensor, needed: Space, where: str, why: str = "", of: int | None = None) -> None:
        """Raise SpaceError in typed mode unless ``index`` is tagged as being in ``needed``, and, where its tag says so, ``of``
        this rank or page size and of this server's layout. With D=1 locs and rows are the same."""
        if not self.typed:
            return
        given, which = space_of(index), of_which(index)
        if not self._same(given, needed):
            raise SpaceError(given, needed, where, why)
        if of is not None and which is not None and which != of:
            raise SpaceError(given, needed, where, why, (which, of))
        layouts = layout_of(index), self.layout
        if layouts[0] is not None and layouts[0] != layouts[1]:
            raise SpaceError(given, needed, where, "the same number is another token's there", (which, of), layouts)

    def use(
        self, arena: Arena, rank: int, name: str, index: torch.Tensor, op: str, write: bool, locs: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return ``index`` (any shape, -1 is padding) as a kernel may get it: entries that would fault are -1.

        ``locs``: the locs whose contents a write stores, in the order of ``index``. A later overwrite finds its victim by them.
        """
        buffer = arena.buffers[name]
        if self.tap:
            self.tap(rank, buffer, index, op, write, locs)
        self.expect(index, buffer.space, f"{op} on {name}", of=rank if buffer.space is Space.ROW else None)
        if self.on:
            self._note(arena, rank, buffer, index, op, write, locs)
        elif name in self.trusted:
            return index
        limit = buffer.reach if write or self.neighbours else buffer.slots
        lost = index >= limit
        if write or self.neighbours:
            self._fault(rank, index.device).add_(lost.sum())
        return retag(torch.where(lost, -1, index), index)

    def faults(self, rank: int, device: torch.device) -> torch.Tensor:
        """Return the number of this rank's indices beyond the arena so far: an int64 tensor of one element on ``device``."""
        return self._fault(rank, device)

    def _fault(self, rank: int, device: torch.device) -> torch.Tensor:
        if rank not in self._faults:
            self._faults[rank] = torch.zeros(1, dtype=torch.int64, device=device)
        return self._faults[rank]

    def _same(self, given: Space | None, needed: Space) -> bool:
        return given is needed or (self.dcp_size == 1 and {given, needed} == {Space.LOC, Space.ROW})

    def _note(
        self, arena: Arena, rank: int, buffer: Buffer, index: torch.Tensor, op: str, write: bool, locs: torch.Tensor | None
    ) -> None:
        flat = index.reshape(-1).to(torch.int64)
        high = int(flat.max()) if len(flat) else -1
        if high < 0:
            return
        self.highest[buffer.name] = max(self.highest.get(buffer.name, -1), high)
        given = space_of(index)
        misuse = not self._same(given, buffer.space)
        if high >= buffer.slots or misuse:
            live = flat[flat >= 0]
            out = live >= buffer.slots
            self._wrong(arena, rank, buffer, live, out, given, misuse, op, write, int(live.min()), high)
        if write and locs is not None:
            inside = (flat >= 0) & (flat < buffer.slots)
            self._held(arena, rank, buffer)[flat[inside]] = locs.reshape(-1)[inside].to(torch.int64)

    def _held(self, arena: Arena, rank: int, buffer: Buffer) -> torch.Tensor:
        key = (rank, buffer.name)
        if key not in self._holds:
            self._holds[key] = torch.full((buffer.slots,), -1, dtype=torch.int64, device=arena.bytes.device)
        return self._holds[key]

    def _wrong(
        self,
        arena: Arena,
        rank: int,
        buffer: Buffer,
        live: torch.Tensor,
        out: torch.Tensor,
        given: Space | None,
        misuse: bool,
        op: str,
        write: bool,
        low: int,
        high: int,
    ) -> None:
        away = live[out]
        first = int(away[0]) if len(away) else None
        hits = self._hits(arena, rank, buffer, away) if len(away) else ()
        access = Access(
            self.step,
            self.phase,
            rank,
            op,
            write,
            buffer.name,
            given if misuse else buffer.space,
            buffer.space,
            len(live),
            low,
            high,
            buffer.slots,
            len(away),
            first,
            None if first is None else slot_address(buffer, first),
            int((away >= buffer.reach).sum()),
            hits,
        )
        if misuse and self.first_misuse is None:
            self.first_misuse = access
        if access.outside:
            if self.first_outside is None:
                self.first_outside = access
            if access.unmapped and self.first_unmapped is None:
                self.first_unmapped = access
            key = (op, buffer.name)
            self.outside[key] = self.outside.get(key, 0) + access.outside
            if write and rank == self.lead:
                for hit in hits:
                    key = (buffer.name, hit.region)
                    self.overwritten[key] = _join(self.overwritten.get(key), hit, self._hurt.get(key))
        if len(self.wrong) < KEPT:
            self.wrong.append(access)
        if access.outside and self.strict:
            raise OutsideError(access)

    def _hits(self, arena: Arena, rank: int, buffer: Buffer, away: torch.Tensor) -> tuple[Hit, ...]:
        """Return the slots at the indices outside, region by region."""
        table = arena.table()
        starts = torch.tensor([start for _, start, _ in table], device=away.device)
        address = slot_address(buffer, away)
        region = torch.bucketize(address, starts, right=True) - 1
        hits = []
        for i in torch.unique(region).tolist():
            name = table[i][0]
            there = address[(region == i) & (address < arena.size)]
            if not len(there):
                continue
            if name not in arena.buffers:
                hits.append(Hit(name, None, None, len(there)))
                continue
            victim = arena.buffers[name]
            slots = slot_at(victim, there)
            held = self._held(arena, rank, victim)[slots]
            if rank == self.lead:
                self._hurt.setdefault((buffer.name, name), torch.zeros(victim.slots, dtype=torch.bool, device=slots.device))[
                    slots[held >= 0]
                ] = True
            held = held[held >= 0]
            hits.append(
                Hit(name, int(slots.min()), int(slots.max()), len(there), len(held), int(held[0]) if len(held) else None)
            )
        beyond = int((address >= arena.size).sum())
        if beyond:
            hits.append(Hit("not mapped", None, None, beyond))
        return tuple(hits)


def slot_address(buffer: Buffer, index: Index) -> Index:
    """Return the byte address of a slot. In an index-K page the keys come first, one after another: a slot begins at its
    key."""
    spec = buffer.spec
    if spec.slots_per_row == 1:
        return buffer.start + index * spec.row_bytes
    key = spec.row_bytes // spec.slots_per_row - 4  # 132 bytes a slot, 4 of them the scale at the page's end
    return buffer.start + index // spec.slots_per_row * spec.row_bytes + index % spec.slots_per_row * key


def slot_at(buffer: Buffer, address: torch.Tensor) -> torch.Tensor:
    """Return the slot of a buffer that a byte address lies in. An address in the scales gives the page's last slots, which is
    near enough to name a victim."""
    spec = buffer.spec
    row, byte = (address - buffer.start) // spec.row_bytes, (address - buffer.start) % spec.row_bytes
    if spec.slots_per_row == 1:
        return row
    key = spec.row_bytes // spec.slots_per_row - 4
    return row * spec.slots_per_row + (byte // key).clamp(max=spec.slots_per_row - 1)


def _join(a: Hit | None, b: Hit, hurt: torch.Tensor | None) -> Hit:
    """Join two hits of one writer on one region. ``hurt`` marks the slots that held a token when they were hit, each counted
    once."""
    if a is None or a.low is None or a.high is None or b.low is None or b.high is None:
        return b if a is None else Hit(a.region, None, None, a.count + b.count)
    held = a.held if hurt is None else int(hurt.sum())
    return Hit(a.region, min(a.low, b.low), max(a.high, b.high), a.count + b.count, held, b.loc if a.loc is None else a.loc)
