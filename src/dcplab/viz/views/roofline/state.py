"""Sorts what the benches timed for a roofline: a point for each measured case, and the roofs that the same runs measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

NAMES = {  # bench -> its kernel, where the case does not begin with the kernel's name
    "triton_ckv_write": "write_ckv",
    "tl_dcp": "decode, 1 rank of 8",
    "tl_decode": "decode",
    "tl_extend": "extend",
    "tl_logits": "logits",
    "tl_paged": "logits, paged",
    "tl_topk": "topk_select",
}
CASES = {"merge": "merge_lse"}  # first word of a case -> the kernel, where that is not its name


@dataclass(frozen=True)
class Point:
    """One timed case. ``flop`` is 0 for a task that is held against its ``bytes`` alone. Both are what the task needs.
    ``share``: the least time at the card's measured rates over the measured time, 0 to 1."""

    kernel: str
    case: str
    ms: float
    bytes: float
    flop: float
    share: float

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return self.flop / self.bytes

    @property
    def tflops(self) -> float:
        return self.flop / self.ms / 1e9

    @property
    def gbps(self) -> float:
        return self.bytes / self.ms / 1e6


@dataclass(frozen=True)
class Roofs:
    """The card's own rates over all runs, smallest and largest: bytes a second of a copy in GB/s, and TFLOP/s of a matmul by
    type."""

    copy: tuple[float, float]
    matmul: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Timed:
    device: str
    days: tuple[str, ...]
    roofs: Roofs
    points: tuple[Point, ...]

    @property
    def computing(self) -> tuple[Point, ...]:
        return tuple(p for p in self.points if p.flop)

    @property
    def moving(self) -> tuple[Point, ...]:
        return tuple(p for p in self.points if not p.flop)

    @property
    def best(self) -> tuple[Point, ...]:
        """The case of each kernel that comes closest to its roof; kernels in the order in which they were read."""
        best: dict[str, Point] = {}
        for p in self.points:
            if p.kernel not in best or p.share > best[p.kernel].share:
                best[p.kernel] = p
        return tuple(best.values())


def read(records: list[dict[str, Any]]) -> Timed:
    """Make the state from records of `bench/harness.py`. Raises ValueError where there are none, or of several devices."""
    devices = {r["versions"]["device"] for r in records}
    if len(devices) != 1:
        raise ValueError(f"a roofline is of one device, and these records are of {len(devices)}.")
    rates = [r["matmul_TFLOPs"] for r in records]
    kinds = dict.fromkeys(kind for rate in rates for kind in rate)
    roofs = Roofs(
        _span([r["copy_GBps"] for r in records]),
        {kind: _span([rate[kind] for rate in rates if kind in rate]) for kind in kinds},
    )
    points = [
        Point(kernel(r["bench"], row["case"]), row["case"], row["ms"], row["bytes"], row["flop"], row["of_floor"])
        for r in records
        for row in r["rows"]
    ]
    return Timed(devices.pop(), tuple(sorted({r["when"][:10] for r in records})), roofs, tuple(points))


def kernel(bench: str, case: str) -> str:
    """Name the kernel that a case of a bench timed."""
    first = case.split()[0]
    return NAMES.get(bench) or CASES.get(first, first)


def _span(values: list[float]) -> tuple[float, float]:
    return min(values), max(values)
