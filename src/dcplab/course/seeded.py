"""Draws seeded inputs: the only source of chance in a check."""

from __future__ import annotations

import random
import secrets


class Draw:
    """A seeded source of numbers. The same seed gives the same cases on every machine.

    >>> Draw(7).int(0, 9) == Draw(7).int(0, 9)
    True
    """

    def __init__(self, seed: int):
        self.seed = int(seed)
        self._random = random.Random(self.seed)

    def int(self, low: int, high: int) -> int:
        """Draw a whole number in ``[low, high]``, both ends included."""
        return self._random.randint(low, high)

    def choice(self, options):
        return self._random.choice(list(options))

    def sample(self, population, k: int) -> list:
        """Draw ``k`` different members of ``population`` (a range may be huge), in random order."""
        return self._random.sample(population, k)

    def shuffled(self, items) -> list:
        items = list(items)
        self._random.shuffle(items)
        return items

    def torch(self):
        """Make a CPU ``torch.Generator`` seeded from this draw, for bulk values."""
        import torch

        return torch.Generator().manual_seed(self._random.getrandbits(48))


def fresh_seed() -> int:
    """Return a seed that nobody can foresee, short enough to type back."""
    return secrets.randbelow(10**8)
