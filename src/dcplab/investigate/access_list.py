"""Records every access of a run, in order, with the numbers that a person compares. It does not say which access is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch

from dcplab.engine import index_spaces
from dcplab.engine.arena import Buffer
from dcplab.engine.request import Request
from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import Space, space_of
from dcplab.engine.watcher import slot_address, slot_at

Run = tuple[int, int]  # first and last of neighbouring numbers


class KeptToken(NamedTuple):
    """Whose a slot is: a request's id and name, a position in it, from 0, and ``text``, a digest of its tokens up to there;
    None for a draft's guess, which may be no token of it. Requests that share a prefix share its text."""

    request: int
    name: str
    position: int
    text: int | None


@dataclass(frozen=True)
class SeenAccess:
    """One access.

    ``number``: its place in the list. ``runs``: the indices used, ascending, neighbours joined to ``(first, last)``.
    ``loc``: the loc of the token that the smallest index belongs to. It is None where the index counts a buffer of this step
    only, or names a slot that holds no token. ``locs``: the same of all indices, as ``runs``; empty where ``loc`` is None.
    ``space``: the index space of the buffer. ``requests``: names of the requests that it is for.
    ``tokens``: for each index whose loc a request held at the time, that request's token. ``beyond``: where an index outside
    the buffer leads: (index, other buffer, slot there).
    """

    number: int
    step: int
    phase: str
    rank: int
    op: str
    write: bool
    buffer: str
    space: Space
    count: int
    low: int
    high: int
    runs: tuple[Run, ...]
    slots: int
    loc: int | None
    locs: tuple[Run, ...]
    requests: tuple[str, ...]
    tokens: Mapping[int, KeptToken]
    beyond: tuple[tuple[int, str, int], ...] = ()
    layout: tuple[int, int] | None = None  # D and interleave, where the indices are rows

    def loc_of(self, index: int) -> int | None:
        """Return the loc that an index stands for, None where `loc` is."""
        if self.loc is None:
            return None
        return index if self.layout is None else index_spaces.globalize(index, self.rank, *self.layout)

    @property
    def layer(self) -> int | None:
        """Return the layer of the buffer, None for one that the layers share."""
        _, _, layer = self.buffer.partition(".")
        return int(layer) if layer.isdigit() else None


class Recorder:
    """Notes accesses: ``attach`` it to a server that watches, and ``seen`` grows while the server runs."""

    def __init__(self) -> None:
        self.seen: list[SeenAccess] = []
        self._texts: dict[int, list[int]] = {}
        self._known: dict[int, Request] = {}

    def attach(self, engine: Engine) -> None:
        watcher, layout = engine.watcher, (engine.config.dcp_size, engine.config.interleave)

        def tap(rank, buffer, index, op, write, locs) -> None:
            flat = index.reshape(-1)
            used = flat[flat >= 0].unique()
            if not len(used):
                return
            of = _locs(used, space_of(index), rank, layout)
            tokens = {} if of is None else self._tokens(engine, used.tolist(), of.tolist(), write)
            beyond = _beyond(engine, rank, buffer, used[used >= buffer.slots])
            self.seen.append(
                SeenAccess(
                    len(self.seen), watcher.step, watcher.phase, rank, op, write, buffer.name, buffer.space, len(used),
                    int(used[0]), int(used[-1]), _runs(used.tolist()), buffer.slots,
                    None if of is None else int(of[0]), () if of is None else _runs(of.tolist()),
                    self._requests(watcher.step, tokens), tokens, beyond,
                    layout if space_of(index) is Space.ROW else None,
                )
            )  # fmt: skip

        watcher.tap = tap

    def _tokens(self, engine: Engine, indices: list[int], locs: list[int], write: bool) -> dict[int, KeptToken]:
        """Return the token of each index whose loc a request holds one at, or writes a guess to. A page that several share is
        its first holder's."""
        width = engine.config.width
        held: dict[int, tuple[Request, int]] = {}
        self._known |= {request.id: request for request in engine.running}
        for request in self._known.values():  # one that returns holds its pages before it runs
            for k, page in enumerate(request.pages):
                held.setdefault(page, (request, k * width))
        tokens = {}
        for index, loc in zip(indices, locs, strict=True):
            if (holder := held.get(loc // width)) is None:
                continue
            request, position = holder[0], holder[1] + loc % width
            known = position < len(request.tokens)
            if known or write:
                text = self._text(request, position) if known else None
                tokens[index] = KeptToken(request.id, request.name, position, text)
        return tokens

    def _text(self, request: Request, position: int) -> int:
        texts = self._texts.setdefault(request.id, [])
        while len(texts) <= position:
            texts.append(hash((texts[-1] if texts else 0, request.tokens[len(texts)])))
        return texts[position]

    def _requests(self, step: int, tokens: Mapping[int, KeptToken]) -> tuple[str, ...]:
        """Name the requests of an access; where its indices do not say, those that the step has touched so far."""
        if tokens:
            return tuple(dict.fromkeys(t.name for t in tokens.values()))
        names: dict[str, None] = {}
        for seen in reversed(self.seen):
            if seen.step != step:
                break
            names |= dict.fromkeys(seen.requests)
        return tuple(sorted(names))


def _locs(used: torch.Tensor, given: Space | None, rank: int, layout: tuple[int, int]) -> torch.Tensor | None:
    """Return the locs that indices stand for, as their tag states. A row is counted within one rank, so rank and row together
    give the loc. With one rank, row and loc are the same."""
    if given is Space.LOC:
        return used
    return index_spaces.globalize(used, rank, *layout) if given is Space.ROW else None


def _beyond(engine: Engine, rank: int, buffer: Buffer, away: torch.Tensor) -> tuple[tuple[int, str, int], ...]:
    """Return the slots of other buffers at indices outside this one."""
    if not len(away):
        return ()
    arena = next(worker.arena for worker in engine.workers if worker.rank == rank)
    table, victims = arena.table(), []
    starts = torch.tensor([start for _, start, _ in table])
    address = slot_address(buffer, away)
    for index, at, i in zip(away.tolist(), address, torch.bucketize(address, starts, right=True) - 1, strict=True):
        name = table[int(i)][0]
        if int(at) < arena.size and name in arena.buffers:
            victims.append((index, name, int(slot_at(arena.buffers[name], at))))
    return tuple(victims)


def _runs(values: list[int]) -> tuple[Run, ...]:
    """Join ascending numbers to runs of neighbours, ``(first, last)``."""
    runs: list[list[int]] = []
    for v in values:
        if runs and runs[-1][1] == v - 1:
            runs[-1][1] = v
        else:
            runs.append([v, v])
    return tuple((a, b) for a, b in runs)
