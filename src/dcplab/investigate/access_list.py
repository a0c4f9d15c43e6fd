"""Every access of a run, in order, with the numbers that a person compares: nothing here says which of them is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import Space, space_of

MOST_RUNS = 40  # of neighbouring indices, kept of one access


@dataclass(frozen=True)
class Seen:
    """One access. ``runs``: the indices used, ascending, neighbours joined to ``(first, last)``; the first `MOST_RUNS` of them.

    ``loc``: the loc of the token that the smallest index is for; None where an index is of a buffer of this step only, or a
    slot that no token has. ``space``: what the buffer is indexed by.
    """

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
    runs: tuple[tuple[int, int], ...]
    slots: int
    loc: int | None


class Recorder:
    """``attach`` it to a server that watches; ``seen`` grows as the server runs."""

    def __init__(self):
        self.seen: list[Seen] = []

    def attach(self, engine: Engine) -> None:
        watcher, dcp_size = engine.watcher, engine.config.dcp_size

        def tap(rank, buffer, index, op, write, locs) -> None:
            flat = index.reshape(-1)
            used = flat[flat >= 0].unique()
            if not len(used):
                return
            given = space_of(index)
            low = int(used[0])
            # A row counts on one rank: it and the rank give the loc back. With one rank the two are the same.
            loc = {Space.LOC: low, Space.ROW: low * dcp_size + rank}.get(given)
            where = (watcher.step, watcher.phase, rank, op, write, buffer.name, buffer.space)
            self.seen.append(Seen(*where, len(used), low, int(used[-1]), _runs(used.tolist()), buffer.slots, loc))

        watcher.tap = tap


def _runs(values: list[int]) -> tuple[tuple[int, int], ...]:
    """Ascending numbers as runs of neighbours."""
    found: list[list[int]] = []
    for v in values:
        if found and found[-1][1] == v - 1:
            found[-1][1] = v
        elif len(found) == MOST_RUNS:
            break
        else:
            found.append([v, v])
    return tuple((a, b) for a, b in found)
