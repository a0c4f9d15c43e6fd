"""Draws bytes over links: what extend's gather and decode's merge send, with the time where it was measured."""

from __future__ import annotations

from typing import Any

from dcplab import measured
from dcplab.course.model import Table
from dcplab.engine import link_bytes
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.figures.bars import Bar, bars, said

RECORD = "ranks_gpu"  # of bench/ranks_gpu.py
TOKENS = (32_768, 131_072, 524_288, 1_048_576)
QUERIES, HEADS = 32, 128  # of the merge that is drawn; the table has all that were measured
RANKS = (2, 8, 64)
MB = 1e6
HEADER = ("over", "processes", "bytes received", "ms", "GB/s", "")


@drawn
def links(what: str = "gather") -> Picture:
    """Draw the bytes that a process receives in one layer: extend's "gather" of the prefix, or decode's "merge" three ways.

    Bytes are computed from shapes. Times come from ``bench/results/ranks_gpu.json``; where it has none, the picture says that
    nothing was measured.
    """
    if what not in ("gather", "merge"):
        raise ValueError(f"what is {what!r}; it is 'gather' or 'merge'.")
    record = measured.record(RECORD) or {"rows": ()}
    rows = [r for r in record["rows"] if r["what"] == what and r.get("dtype") != "float32"]
    world = record.get("processes", 0)
    values, told = _gathers(rows, world) if what == "gather" else _merges(rows, world)
    shown = bars(_title(what), _caption(record, rows), "MB", values)
    return Picture(shown.title, shown.caption, shown.scene, Table(HEADER, tuple(told)))


def _gathers(rows: list[dict[str, Any]], world: int) -> tuple[list[Bar], list[tuple]]:
    by_tokens = {r["tokens"]: r for r in rows}
    values, told = [], []
    for tokens in sorted({*TOKENS, *by_tokens}):
        for ranks in _ranks(world, by_tokens.get(tokens))[:2]:
            row = by_tokens.get(tokens) if ranks == world else None
            count = row["received"] if row else link_bytes.gather(tokens, ranks)
            values.append(_bar(f"{tokens:,} tokens", f"{ranks} ranks", count, row))
            told.append(_told(f"{tokens:,} tokens", ranks, count, row))
    return values, told


def _merges(rows: list[dict[str, Any]], world: int) -> tuple[list[Bar], list[tuple]]:
    measured_ways = {(r["batch"], r["heads"], r["way"]): r for r in rows}
    values, told = [], []
    for ranks in _ranks(world, next(iter(rows), None)):
        for way in link_bytes.MERGES:
            row = measured_ways.get((QUERIES, HEADS, way)) if ranks == world else None
            count = row["received"] if row else link_bytes.merge(way, QUERIES * HEADS, ranks)
            values.append(_bar(f"{ranks} ranks", way, count, row))
            told.append(_told(f"{QUERIES} queries, {HEADS} heads, {way}", ranks, count, row))
    for (queries, heads, way), row in measured_ways.items():
        if (queries, heads) != (QUERIES, HEADS):
            many = "1 query" if queries == 1 else f"{queries} queries"
            told.append(_told(f"{many}, {heads} heads, {way}", world, row["received"], row))
    return values, told


def _ranks(world: int, row: dict[str, Any] | None) -> list[int]:
    """List how many ranks are drawn: as many as were measured, then more."""
    return sorted({*([world] if row else RANKS[:1]), *RANKS[1:]})


def _bar(group: str, series: str, count: int, row: dict[str, Any] | None) -> Bar:
    note = f" in {said(row['ms'])} ms: {said(count / row['ms'] / 1e6)} GB/s, measured" if row else ", computed"
    return Bar(group, series, count / MB, "owner0" if row else "unused", note)


def _told(what: str, ranks: int, count: int, row: dict[str, Any] | None) -> tuple:
    if row is None:
        return (what, str(ranks), f"{count:,}", "", "", "computed")
    return (what, str(ranks), f"{count:,}", said(row["ms"]), said(count / row["ms"] / 1e6), "measured")


def _title(what: str) -> str:
    if what == "gather":
        return "Bytes that a process receives when extend gathers one layer's prefix"
    return f"Bytes that a process receives when decode merges one layer, {QUERIES} queries of {HEADS} heads"


def _caption(record: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "Not measured here; computed from bytes. bench/ranks_gpu.py measures it where there are links."
    widest = max((r for r in record["rows"] if r["what"] == "link"), key=lambda r: r["bytes_each"], default=None)
    sent = widest and f" Of {widest['bytes_each'] / MB:,.0f} MB a process the links bring {widest['GBps']:.0f} GB/s."
    return f"Measured: {record['ran_on']}.{sent or ''} Hatched: nobody measured it; computed from bytes."
