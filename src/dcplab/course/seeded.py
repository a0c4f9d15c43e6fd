"""Draws seeded inputs: the only source of chance in a check."""

from __future__ import annotations

import builtins
import random
import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import torch as torch_

T = TypeVar("T")


class Draw:
    """A seeded source of numbers. The same seed gives the same cases on every machine.

    >>> Draw(7).int(0, 9) == Draw(7).int(0, 9)
    True
    """

    def __init__(self, seed: builtins.int):
        self.seed = builtins.int(seed)
        self._random = random.Random(self.seed)

    def int(self, low: builtins.int, high: builtins.int) -> builtins.int:
        """Draw a whole number in ``[low, high]``, both ends included."""
        return self._random.randint(low, high)

    def choice(self, options: Iterable[T]) -> T:
        return self._random.choice(list(options))

    def sample(self, population: Sequence[T], k: builtins.int) -> list[T]:
        """Draw ``k`` different members of ``population`` (a range may be huge), in random order."""
        return self._random.sample(population, k)

    def shuffled(self, items: Iterable[T]) -> list[T]:
        items = list(items)
        self._random.shuffle(items)
        return items

    def torch(self) -> torch_.Generator:
        """Make a CPU ``torch.Generator`` seeded from this draw, for bulk values."""
        import torch

        return torch.Generator().manual_seed(self._random.getrandbits(48))


def fresh_seed() -> int:
    """Return a seed that nobody can foresee, short enough to type back."""
    return secrets.randbelow(10**8)
