"""Counts the bytes that a process receives from others, from shapes: extend's gather, decode's merge."""

from __future__ import annotations

ROW = 512 * 2  # bytes of a c-KV row, bf16
LSE = 4  # bytes of an LSE, fp32
MERGES = ("all-gather", "reduce-scatter", "all-to-all")


def gather(tokens: int, ranks: int) -> int:
    """Return the bytes of an all-gather of one layer's prefix: whole rows of c-KV, each rank's share padded to the longest."""
    return -(-tokens // ranks) * (ranks - 1) * ROW


def merge(way: str, rows: int, ranks: int, row: int = ROW) -> int:
    """Return the bytes of a merge of one layer by one of `MERGES`. ``rows``: queries times heads; ``row``: bytes of one
    output."""
    others = ranks - 1
    if way == "all-gather":
        return rows * (row + LSE) * others
    if way == "all-to-all":
        return rows * (row + LSE) * others // ranks
    if way == "reduce-scatter":  # a ring passes each slice on, with what was added; the LSEs go to all
        return rows * row * others // ranks + rows * LSE * others
    raise ValueError(f"There is no merge called {way!r}.")
