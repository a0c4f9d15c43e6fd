"""Turns a learner's values (lists, ranges, tensors, arrays) into exact ints, or refuses them in a sentence."""

from __future__ import annotations

import operator
from collections.abc import Iterable

MOST_LOCS = 256


def whole(value, name: str, least: int = 0) -> int:
    """Return an int of at least ``least``. Tensors and arrays of one element count; bools and floats do not."""
    if isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, not {value}.")
    try:
        found = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}.") from None
    if found < least:
        raise ValueError(f"{name} must be at least {least}, not {found}.")
    return found


def whole_list(values, name: str, least: int = -1, most: int = MOST_LOCS) -> tuple[int, ...]:
    """Return a flat tuple of ints, each at least ``least``. At most ``most`` of them, so that a picture stays readable."""
    values = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, dict)):
        raise ValueError(f"{name} must be a list of whole numbers, not {values!r}.")
    values = list(values) if not isinstance(values, range) else values
    if len(values) > most:
        raise ValueError(f"{name} has {len(values):,} entries and a picture shows at most {most}; pass a slice.")
    return tuple(whole(v, f"{name}[{i}]", least) for i, v in enumerate(values))


def geometry(dcp_size, page_size=1) -> tuple[int, int]:
    """Return ``(dcp_size, page_size)`` as ints. Raises ValueError with a sentence."""
    return whole(dcp_size, "D (dcp_size)", 1), whole(page_size, "P (page_size)", 1)
