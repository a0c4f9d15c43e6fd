"""Explains in words the behaviour of a server with some of the five patches. Pure: turns patches and observations into text."""

from __future__ import annotations

from collections.abc import Set

RULE = {True: "row = loc // D on the owner", False: "row = loc on every rank"}


def because(patches: Set[str], verdict: str, largest_loc: int, rows: int, fresh: str) -> str:
    """Explain one verdict. ``rows``: C + P, the rows of one rank's c-KV. ``fresh``: right answers of those that the fresh
    server gave, as "3/3"."""
    write, read, extend = (name in patches for name in ("ckv_write", "read", "extend"))
    parts = [_ckv(write, read, extend, fresh)]
    if verdict == "alarm":
        parts.append(_alarm(rows))
    elif verdict == "crash":
        parts.append(_crash(patches, write and read and extend, largest_loc, rows))
    elif write == read == extend:
        parts.append(_watermark(patches, write, verdict, largest_loc, rows))
    return " ".join(parts)


def _ckv(write: bool, read: bool, extend: bool, fresh: str) -> str:
    if write == read == extend:
        if write:
            return f"Write, decode and extend keep to one rule, {RULE[True]}."
        return (
            f"Write, decode and extend keep to one rule, {RULE[False]}: the wrong one, but the same. "
            "Every rank holds every token and reads every key."
        )
    wrong = [name for name, on in (("decode", read), ("extend", extend)) if on != write]
    others = " and ".join(wrong) + (" look" if len(wrong) > 1 else " looks")
    text = f"The write takes {RULE[write]}, but {others} at {RULE[not write]}:"
    if wrong == ["extend"] and not write:
        seen = "what it gathers for a prefix are other tokens. A prompt without a prefix gathers nothing"
        return f"{text} {seen}, so the fresh server is still right ({fresh})."
    return f"{text} other tokens are there, or none. That needs no watermark: {fresh} right on a fresh server."


def _alarm(rows: int) -> str:
    return (
        f"The old assert holds the flattened page table, which has locs, against C + P = {rows}. Only an extend that gathers "
        "makes that table, so only here can the assert stop the server; the loc was legal."
    )


def _crash(patches: Set[str], localized: bool, largest_loc: int, rows: int) -> str:
    what = [] if "index_k_size" in patches else [f"index-K has {rows} slots"]
    what += [] if localized else [f"c-KV has {rows} rows"]
    return (
        f"On the way to a full pool the locs leave what there is far behind ({' and '.join(what)}), until the overflow of the "
        f"last layer runs out of mapped memory; the last loc given out was {largest_loc}. Just above the line it only hits a "
        "neighbour."
    )


def _watermark(patches: Set[str], write: bool, verdict: str, largest_loc: int, rows: int) -> str:
    if largest_loc < rows:
        return f"The largest loc is {largest_loc} and every buffer has at least {rows} places, so all of them fit: right."
    if not write:
        return f"The largest loc is {largest_loc}, and c-KV has {rows} rows: what does not fit lands in the next layer's."
    if "index_k_size" not in patches:
        return (
            f"The largest loc is {largest_loc}, and index-K has {rows} slots: the keys beyond them are written over the next "
            "layer's, and the indexer selects other positions."
        )
    return f"Index-K has a slot for every loc, up to {largest_loc} and beyond: {verdict}."
