"""Records every access of a run, in order, with the numbers that a person compares. It does not say which access is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from dcplab.engine.scheduler import Engine
from dcplab.engine.space_tags import Space, space_of

MOST_RUNS = 40  # runs of neighbouring indices kept for one access


@dataclass(frozen=True)
class SeenAccess:
    """One access.

    ``runs``: the indices used, ascending, neighbours joined to ``(first, last)``; only the first `MOST_RUNS`.
    ``loc``: the loc of the token that the smallest index belongs to. It is None where the index counts a buffer of this step
    only, or names a slot that holds no token.
    ``space``: the index space of the buffer.
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
    """Notes accesses: ``attach`` it to a server that watches, and ``seen`` grows while the server runs."""

    def __init__(self) -> None:
        self.seen: list[SeenAccess] = []

    def attach(self, engine: Engine) -> None:
        watcher, dcp_size = engine.watcher, engine.config.dcp_size

        def tap(rank, buffer, index, op, write, locs) -> None:
            flat = index.reshape(-1)
            used = flat[flat >= 0].unique()
            if not len(used):
                return
            given = space_of(index)
            low = int(used[0])
            # A row is counted within one rank, so rank and row together give the loc. With one rank, row and loc are the same.
            loc = {Space.LOC: low, Space.ROW: low * dcp_size + rank}.get(given) if given else None
            where = (watcher.step, watcher.phase, rank, op, write, buffer.name, buffer.space)
            self.seen.append(SeenAccess(*where, len(used), low, int(used[-1]), _runs(used.tolist()), buffer.slots, loc))

        watcher.tap = tap


def _runs(values: list[int]) -> tuple[tuple[int, int], ...]:
    """Join ascending numbers to runs of neighbours, ``(first, last)``."""
    runs: list[list[int]] = []
    for v in values:
        if runs and runs[-1][1] == v - 1:
            runs[-1][1] = v
        elif len(runs) == MOST_RUNS:
            break
        else:
            runs.append([v, v])
    return tuple((a, b) for a, b in runs)
