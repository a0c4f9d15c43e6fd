"""What the path costs on more ranks than were measured: a model, its assumptions, and how far off it is where figures are.

    python bench/ranks_model.py bench/results/ranks_gpu.json [--network-GBps 50 --network-start-us 15]

Reads a file of `ranks_gpu.py`; needs no GPU. The functions are pure: bytes and milliseconds in, milliseconds out.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROW = 512 * 2  # bytes of a c-KV row, bf16
INDEX = 132  # bytes of an index-K key and its scale
ASSUMPTIONS = (
    "A collective starts in log2(R) rounds, each as long as the measured start of two processes.",
    "A link gives each process its measured rate, however many processes there are: a switch, not a ring of cables.",
    "Over boxes the two fabrics work at the same time, and the slower one is what one waits for.",
    "The network's rate and start are given, not measured: 400 Gbit/s a GPU unless told otherwise.",
    "A step is a fixed part and a part for each rank that a device holds, a line through the servers on one device.",
    "No collective is hidden behind a kernel, as in this engine; each process works at the same speed.",
)


@dataclass(frozen=True)
class Link:
    """``start_ms`` of a round, and ``rate`` in bytes a millisecond that a process receives."""

    start_ms: float
    rate: float


@dataclass(frozen=True)
class Fabric:
    """``box`` processes see each other over ``near``; to those of other boxes lies ``far``."""

    name: str
    near: Link
    far: Link
    box: int

    def all_gather(self, ranks: int, each: float) -> float:
        """Return the milliseconds until each of ``ranks`` processes has the ``each`` bytes of all."""
        near = min(ranks, self.box)
        boxes = -(-ranks // near)
        inside = math.log2(near) * self.near.start_ms + (near - 1) * boxes * each / self.near.rate if near > 1 else 0.0
        outside = math.log2(boxes) * self.far.start_ms + (boxes - 1) * each / self.far.rate if boxes > 1 else 0.0
        return max(inside, outside)

    def exchange(self, ranks: int, each: float) -> float:
        """Return the milliseconds of an all-to-all, or of a reduce-scatter, of ``each`` bytes that a process has: a share to
        everybody."""
        near = min(ranks, self.box)
        inside = math.log2(near) * self.near.start_ms + (near - 1) * each / ranks / self.near.rate if near > 1 else 0.0
        far = ranks - near
        outside = math.log2(ranks / near) * self.far.start_ms + far * each / ranks / self.far.rate if far else 0.0
        return max(inside, outside)


def gather_ms(fabric: Fabric, ranks: int, tokens: int) -> float:
    """Model the time of extend's all-gather of one layer's prefix of ``tokens``."""
    return fabric.all_gather(ranks, -(-tokens // ranks) * ROW)


def merge_ms(fabric: Fabric, ranks: int, batch: int, heads: int, way: str) -> float:
    """Model the time of the transfers of decode's merge of one layer, without what a device computes for it."""
    rows = batch * heads
    if way == "all-gather":
        return fabric.all_gather(ranks, rows * (ROW + 4))
    if way == "all-to-all":
        return fabric.exchange(ranks, rows * (ROW + 4))
    if way == "reduce-scatter":
        return fabric.all_gather(ranks, rows * 4) + fabric.exchange(ranks, rows * ROW)
    raise ValueError(f"There is no merge called {way!r}.")


@dataclass(frozen=True)
class Step:
    """A step of the engine at one context: ``fixed_ms``, and ``rank_ms`` for each rank that a device holds."""

    fixed_ms: float
    rank_ms: float

    def over(self, held: float, transfers_ms: float) -> float:
        """Return the milliseconds where a device holds ``held`` ranks and waits for transfers."""
        return self.fixed_ms + held * self.rank_ms + transfers_ms


def line(points: Sequence[tuple[float, float]]) -> Step:
    """Fit a line through (ranks a device, milliseconds); through the origin where there is one point. Neither part is below
    0."""
    if len(points) == 1:
        return Step(0.0, points[0][1] / points[0][0])
    slope = max(0.0, statistics.linear_regression([p[0] for p in points], [p[1] for p in points]).slope)
    return Step(max(0.0, statistics.fmean(p[1] - slope * p[0] for p in points)), slope)


def link(rows: Iterable[dict[str, Any]]) -> Link:
    """Fit the measured link: a line through its smallest and its largest all-gather."""
    found = sorted((r for r in rows if r["what"] == "link"), key=lambda r: r["bytes_each"])
    small, large = found[0], found[-1]
    rate = (large["received"] - small["received"]) / max(large["ms"] - small["ms"], 1e-9)
    return Link(max(0.0, small["ms"] - small["received"] / rate), rate)


def transfers_ms(fabric: Fabric, ranks: int, kind: str, context: int, layers: int, heads: int) -> float:
    """Model the time of what a step of this engine sends: extend gathers the prefix in each layer, decode gathers one query's
    outputs and LSEs in two calls, and both gather the tokens."""
    tokens = fabric.all_gather(ranks, 16)
    if kind == "extend":
        return layers * gather_ms(fabric, ranks, context) + tokens
    return layers * (fabric.all_gather(ranks, heads * ROW) + fabric.all_gather(ranks, heads * 4)) + tokens


def held_gb(context: int, ranks: int, layers: int) -> tuple[float, float]:
    """Return the gigabytes that a device holds of a context: its share of c-KV, and index-K, which is whole everywhere."""
    return layers * context * ROW / ranks / 1e9, layers * context * INDEX / 1e9


def steps_of(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, int], Step]:
    """Return the engine's steps by kind and context, from the servers that ran on one device."""
    alone = [r for r in rows if r["what"] == "step" and r["devices"] == 1]
    return {
        (kind, context): line([(r["ranks_a_device"], r[f"{kind}_ms"]) for r in alone if r["context"] == context])
        for kind in ("extend", "decode")
        for context in sorted({r["context"] for r in alone})
    }


def checked(record: dict[str, Any], near: Link) -> list[tuple[str, float, float]]:
    """List each measured point of several processes: (what, measured ms, the model's)."""
    rows, world, layers, heads = (record[name] for name in ("rows", "processes", "layers", "heads"))
    here = Fabric("here", near, near, world)
    steps = steps_of(rows)
    found = [
        (f"link, {r['bytes_each']:,} bytes", r["ms"], here.all_gather(world, r["bytes_each"]))
        for r in rows
        if r["what"] == "link"
    ]
    found += [
        (f"gather, {r['tokens']:,} tokens", r["ms"], gather_ms(here, world, r["tokens"])) for r in rows if r["what"] == "gather"
    ]
    found += [
        (f"merge, {r['way']}, {r['batch']} x {r['heads']}", r["ms"], merge_ms(here, world, r["batch"], r["heads"], r["way"]))
        for r in rows
        if r["what"] == "merge" and r["dtype"] != "float32"
    ]
    for r in rows:
        if r["what"] == "step" and r["devices"] > 1:
            for kind in ("extend", "decode"):
                if (kind, r["context"]) in steps:
                    sent = transfers_ms(here, world, kind, r["context"], layers, heads)
                    found.append(
                        (
                            f"{kind}, D = {r['dcp_size']}, {r['context']:,} tokens",
                            r[f"{kind}_ms"],
                            steps[kind, r["context"]].over(r["ranks_a_device"], sent),
                        )
                    )
    return found


def fabrics(near: Link, far: Link) -> tuple[Fabric, ...]:
    """Make three fabrics: the measured link among all, boxes of eight with a network between them, and a network among all."""
    return (
        Fabric("as measured", near, far, 1 << 30),
        Fabric("boxes of 8", near, far, 8),
        Fabric("network", near, far, 1),
    )


def report(record: dict[str, Any], far: Link, ranks: Sequence[int] = (2, 4, 8, 64)) -> list[str]:
    """Write the model as text: assumptions, measured points beside it, and what it says of more ranks."""
    near, layers, heads = link(record["rows"]), record["layers"], record["heads"]
    lines = [f"From figures of: {record['ran_on']}", "Measured links: start "
             f"{1e3 * near.start_ms:.1f} us, {near.rate / 1e6:,.3g} GB/s received. Assumed network: start "
             f"{1e3 * far.start_ms:.1f} us, {far.rate / 1e6:,.3g} GB/s.", "", "It assumes:"]  # fmt: skip
    lines += [f"* {text}" for text in ASSUMPTIONS]
    lines += ["", "Held against what was measured", f"{'':<44}{'measured ms':>12}{'model ms':>12}{'model / measured':>18}"]
    lines += [f"{what:<44}{ms:>12.4f}{says:>12.4f}{says / ms:>18.2f}" for what, ms, says in checked(record, near)]
    steps = steps_of(record["rows"])
    contexts = sorted({context for _, context in steps})
    lines += ["", f"A rank a device, one request, {layers} layers, {heads} heads. GB a device: c-KV, then index-K.", ""]
    head = f"{'tokens':>9}{'ranks':>6}  {'fabric':<12}{'gather ms':>10}{'extend ms':>11}{'decode ms':>11}"
    lines.append(f"{head}{'merge of 32, us: gather':>25}{'scatter':>9}{'exchange':>9}{'c-KV':>8}{'index-K':>8}")
    for context in contexts:
        for count in ranks:
            for fabric in fabrics(near, far):
                if fabric.name == "boxes of 8" and count <= 8:
                    continue
                took = [
                    steps[kind, context].over(1, transfers_ms(fabric, count, kind, context, layers, heads))
                    for kind in ("extend", "decode")
                ]
                merged = [
                    1e3 * merge_ms(fabric, count, 32, heads, way) for way in ("all-gather", "reduce-scatter", "all-to-all")
                ]
                held = held_gb(context, count, layers)
                lines.append(
                    f"{context:>9,}{count:>6}  {fabric.name:<12}{gather_ms(fabric, count, context):>10.3f}{took[0]:>11.1f}"
                    f"{took[1]:>11.2f}{merged[0]:>25.1f}{merged[1]:>9.1f}{merged[2]:>9.1f}{held[0]:>8.3f}{held[1]:>8.3f}"
                )
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", type=Path, help="what bench/ranks_gpu.py wrote")
    parser.add_argument("--network-GBps", type=float, default=50.0, help="received by a process (default: 50, 400 Gbit/s)")
    parser.add_argument("--network-start-us", type=float, default=15.0, help="of a round (default: 15)")
    args = parser.parse_args()
    record = json.loads(args.file.read_text(encoding="utf-8"))
    if not any(r["what"] == "link" for r in record["rows"]):
        sys.exit(f"{args.file} has no measured link: it is of one process.")
    print("\n".join(report(record, Link(args.network_start_us / 1e3, args.network_GBps * 1e6))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
