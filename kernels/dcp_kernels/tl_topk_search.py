"""Search for the key of the last chosen entry, ``BITS`` bits at a time: a histogram, the bin that fills the want, into it.

``base``, ``bits``, ``want``, ``acc`` are a thread's own; ``counts``, ``groups``, ``found`` the program's.
"""

from typing import Any

import tilelang.language as T

from dcp_kernels.tl_topk_keys import GROUP

BITS = 10
BINS = 1 << BITS
GROUPS = BINS // GROUP
FOUND = 8  # words of ``found``


@T.macro
def clear(counts: Any, found: Any) -> None:
    """Empty the bins and the words between their groups; nothing is found."""
    T.sync_threads()
    for b in T.Parallel(BINS + GROUPS):
        counts[b] = 0
    for b in T.Parallel(FOUND):
        found[b] = -1
    T.sync_threads()


@T.macro
def locate(counts: Any, groups: Any, found: Any, want: Any, acc: Any) -> None:
    """Find the bin at which the sum from the top reaches ``want``. ``found``: the bin, the sum above it, its own; or -1.

    The group first (``found[3]``, ``found[4]`` above it), then a lane for each of its bins: one lane that walks them
    takes longer than all the rest.
    """
    T.sync_threads()
    for g in T.Parallel(GROUPS):
        acc[0] = 0
        for e in T.unroll(GROUP):
            acc[0] += counts[g * (GROUP + 1) + e]
        groups[g] = acc[0]
    T.sync_threads()
    for g in T.Parallel(GROUPS):
        acc[0] = 0
        for e in T.unroll(GROUPS):
            acc[0] += groups[e] * T.cast(e > g, "int32")
        if T.And(acc[0] < want[0], acc[0] + groups[g] >= want[0]):
            found[3] = g
            found[4] = acc[0]
    T.sync_threads()
    for b in T.Parallel(GROUP):
        if found[3] >= 0:
            acc[0] = found[4]
            for e in T.unroll(GROUP):
                acc[0] += counts[found[3] * (GROUP + 1) + e] * T.cast(e > b, "int32")
            acc[1] = counts[found[3] * (GROUP + 1) + b]
            if T.And(acc[0] < want[0], acc[0] + acc[1] >= want[0]):
                found[0] = found[3] * GROUP + b
                found[1] = acc[0]
                found[2] = acc[1]
    T.sync_threads()


@T.macro
def descend(base: Any, bits: Any, want: Any, found: Any) -> None:
    """Step into the bin found: its lowest key, the bits open in it, how many of it are wanted. Done where all of it is."""
    bits[1] = T.max(bits[0] - BITS, 0)
    base[0] += T.cast(found[0], "uint32") << T.cast(bits[1], "uint32")
    want[0] -= found[1]
    bits[0] = T.if_then_else(found[2] == want[0], 0, bits[1])


def bin_of(key: Any, base: Any, bits: Any) -> Any:
    """Return the bin of a key: its next bits above ``base``, unsigned."""
    return (key - base[0]) >> T.cast(T.max(bits[0] - BITS, 0), "uint32")


def inside(key: Any, base: Any, bits: Any) -> Any:
    """Ask if a key is in the bin that is looked into: it has one of the ``1 << min(bits, BITS)`` bins above ``base``."""
    return T.And(key >= base[0], bin_of(key, base, bits) < T.uint32(1) << T.cast(T.min(bits[0], BITS), "uint32"))


@T.macro
def length_of(value: Any, bits: Any) -> None:
    """Set ``bits[0]`` to the number of bits of ``value``, unsigned."""
    bits[0] = 0
    for b in T.unroll(32):
        bits[0] += T.cast((value >> T.uint32(b)) != T.uint32(0), "int32")
