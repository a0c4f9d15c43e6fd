"""What the top-k kernels share: sortable keys of floats, and histograms of their bits in groups of bins."""

from typing import Any

import tilelang.language as T

GROUP = 32


def sortable(x: Any) -> Any:
    """Return the unsigned key of a float, in the order of the floats; -0.0 has the key of 0.0."""
    bits = T.reinterpret(T.if_then_else(x == T.float32(0), T.float32(0), x), "uint32")
    return T.if_then_else(x < T.float32(0), ~bits, bits | T.uint32(0x80000000))


def as_float(key: Any) -> Any:
    """Return the float whose key this is: the inverse of ``sortable``."""
    positive = key >= T.uint32(0x80000000)
    return T.reinterpret(T.if_then_else(positive, key ^ T.uint32(0x80000000), ~key), "float32")


def padded(i: Any) -> Any:
    """Return the index of entry ``i`` with a word between groups, so that lanes that walk one group each meet in no bank."""
    return i + i // GROUP


def when(condition: Any) -> Any:
    """Loop once or not at all: a branch that all lanes take together, in which they may wait for each other."""
    return T.serial(T.if_then_else(condition, 1, 0))
