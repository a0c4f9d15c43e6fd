"""The isolation matrix's state: the servers, a prediction for each, and the results. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class MatrixCell:
    """One server. ``subset`` and ``level`` are its line and column. ``predicted`` and ``verdict`` are "" if there is none.
    ``counts``: right answers of those given, act by act. ``because``: the reason, in words."""

    id: str
    subset: str
    level: str
    patches: tuple[bool, ...]
    predicted: str = ""
    verdict: str = ""
    counts: str = ""
    because: str = ""

    @property
    def surprise(self) -> bool:
        return bool(self.verdict) and self.predicted != self.verdict


@dataclass(frozen=True)
class MatrixState:
    """``patches``: names, in the order of `MatrixCell.patches`. ``at``: the selected cell. ``running``: the cell that runs now,
    or None. ``note``: a further remark, such as the reason why a run ended early."""

    patches: tuple[str, ...]
    cells: tuple[MatrixCell, ...]
    at: int = 0
    running: int | None = None
    note: str = ""

    @property
    def subsets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c.subset for c in self.cells))

    @property
    def levels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c.level for c in self.cells))

    @property
    def done(self) -> int:
        return sum(bool(c.verdict) for c in self.cells)

    @property
    def agreed(self) -> int:
        return sum(bool(c.verdict) and not c.surprise for c in self.cells)

    @property
    def surprises(self) -> tuple[MatrixCell, ...]:
        return tuple(c for c in self.cells if c.surprise)


def make(patches: tuple[str, ...], cells: tuple[MatrixCell, ...]) -> MatrixState:
    """Make a matrix. Raises ValueError for an empty one, or for a cell that occurs twice."""
    if not cells:
        raise ValueError("a matrix needs at least one server.")
    if len({c.id for c in cells}) < len(cells):
        raise ValueError("a matrix has every server once.")
    return MatrixState(patches, cells)


def looked_at(state: MatrixState, at: int) -> MatrixState:
    """Return the state with another selected cell. Raises ValueError for an unknown cell."""
    if not 0 <= at < len(state.cells):
        raise ValueError(f"the servers are numbered 0 to {len(state.cells) - 1}.")
    return replace(state, at=at)


def next_surprise(state: MatrixState) -> MatrixState:
    """Select the next cell whose result differs from its prediction. Raises ValueError if there is none."""
    order = [*range(state.at + 1, len(state.cells)), *range(state.at + 1)]
    found = next((i for i in order if state.cells[i].surprise), None)
    if found is None:
        raise ValueError("there is no surprise so far.")
    return replace(state, at=found)


def started(state: MatrixState, index: int) -> MatrixState:
    """Return the state in which a cell has begun to run and is selected."""
    return replace(state, running=index, at=index, note="")


def with_result(state: MatrixState, id: str, verdict: str, counts: str, because: str) -> MatrixState:
    """Return the state with a cell's result. `ended` reports the end of the run."""
    cells = tuple(replace(c, verdict=verdict, counts=counts, because=because) if c.id == id else c for c in state.cells)
    return replace(state, cells=cells)


def ended(state: MatrixState, note: str = "") -> MatrixState:
    """Return the state in which nothing runs any more. Selects the first surprise, if there is one."""
    first = next((i for i, c in enumerate(state.cells) if c.surprise), state.at)
    return replace(state, running=None, note=note, at=first)
