"""What the layers and ranks of an engine share while it runs: its configuration, its model, its counts, a step's memo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

from dcplab.engine.arena import Arena
from dcplab.engine.comm import Distributed, Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.earlier_names import formerly
from dcplab.engine.model import Activations, Model
from dcplab.engine.watcher import Watcher

T = TypeVar("T")


@dataclass
class Monitor:
    """Counts of the decode steps that reveal a sharding fault while every answer is still right.

    ``valid`` keys summed over ranks equal the keys ``selected`` by top-k if each key lies on one rank. ``replicated`` counts
    queries whose ranks all returned the same LSE: they hold the same keys, and the merged LSE is too large by log2(D).
    """

    valid: int = 0
    selected: int = 0
    replicated: int = 0
    queries: int = 0

    @property
    def alarm(self) -> bool:
        return self.valid != self.selected or (self.queries > 0 and self.replicated == self.queries)


@dataclass
class Choices:
    """What a watched server with a sharded indexer chooses, in every step and layer. A union reads ``more`` keys than the
    ``whole`` top-k has, for ``queries``; ``first`` says in words where first. ``otherwise`` counts queries whose exact choice
    is not the one that the order of scores, then of positions, makes."""

    whole: int = 0
    more: int = 0
    queries: int = 0
    first: str = ""
    otherwise: int = 0


@dataclass
class Worker:
    """One rank: its arena, and while a step runs its ``activations`` and ``code``, what the next layer's query looks for.

    Between steps there is neither, and asking for one is an error and not None. ``left``: what attention's last calls left in
    memory (`public_cases.left_over`).
    """

    rank: int
    arena: Arena
    left: dict[torch.Size, tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict, repr=False, compare=False)
    activations: Activations = field(init=False, repr=False, compare=False)
    code: torch.Tensor = field(init=False, repr=False, compare=False)

    stream = formerly("activations")


@dataclass
class Shared:
    """State that every layer and rank of an engine shares."""

    config: ServerConfig
    model: Model
    comm: Local | Distributed
    watcher: Watcher
    defects: frozenset[str]
    req_to_token: torch.Tensor
    monitor: Monitor = field(default_factory=Monitor)
    choices: Choices = field(default_factory=Choices)
    monitoring: bool = True
    captured: list[dict[str, Any]] | None = None  # merged attention of each layer and step, where a test asks for it
    memo: dict[tuple[str, int, int], tuple[object, Any]] = field(default_factory=dict)  # of this step; see `once`

    def has(self, defect: str) -> bool:
        return defect in self.defects

    def once(self, what: str, layer: int, source: object, make: Callable[[], T]) -> T:
        """Return ``make()``, computed once a step for all hosted ranks whose ``source`` is the same object."""
        key = (what, layer, id(source))
        if key not in self.memo:
            self.memo[key] = (source, make())  # the source is kept, so that its id stays its own
        return self.memo[key][1]
