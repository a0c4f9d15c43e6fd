"""How everything here is timed: medians of event timings with a cold L2, beside a floor measured on the same card.

A floor is the least time any program could need: the bytes that must move (inputs read once, outputs written once) over the
measured bandwidth of a large copy, or the operations over the measured rate of a large matmul, whichever is more. Beside it
stands what a user would have otherwise. Every run is written to ``bench/results`` as JSON, with versions.
"""

from __future__ import annotations

import datetime
import functools
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path

import torch

RESULTS = Path(os.environ.get("DCP_BENCH_RESULTS") or Path(__file__).with_name("results"))
FLUSH_BYTES = 256 << 20  # several times an H200's L2
SLEEP_CYCLES = 1_000_000  # half a millisecond in which the CPU gets ahead, so that launches do not count


@dataclass
class Row:
    """One measured case. Times in milliseconds, ``bytes`` and ``flop`` what the task needs, not what the kernel does."""

    case: str
    ms: float
    bytes: float = 0.0
    flop: float = 0.0
    flop_rate: float = 0.0  # operations a second that the floor assumes
    others: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def floor_ms(self) -> float:
        return 1e3 * max(self.bytes / copy_rate(), self.flop / self.flop_rate if self.flop else 0.0)


def require_gpu() -> None:
    if not torch.cuda.is_available():
        sys.exit("The benches time a GPU, and torch finds none here. (The kernels' tests run on a CPU: pytest tests/kernels)")


def time_ms(run: Callable[[], object], repeats: int = 30, cold: bool = True) -> float:
    """Measure ``repeats`` single runs and return the median. Before each, L2 is filled with clean lines of a buffer nobody else
    uses."""
    run()
    run()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(SLEEP_CYCLES)
        if cold:
            _flush()
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return float(torch.tensor(times, dtype=torch.float64).median())


@functools.cache
def _flush_buffer() -> torch.Tensor:
    return torch.ones(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")


def _flush() -> None:
    """Flush by a read, not a write: dirty lines left behind would be written back at the measured kernel's cost."""
    _flush_buffer().max()


@functools.cache
def copy_rate() -> float:
    """Measure the bytes a second, read and written, of a copy of 2 GiB."""
    a, b = (torch.randint(0, 100, (2 << 28,), dtype=torch.int32, device="cuda") for _ in range(2))
    return 2 * a.numel() * 4 / (time_ms(lambda: b.copy_(a), 10) / 1e3)


@functools.cache
def matmul_rate(kind: str = "bf16") -> float:
    """Measure the operations a second of an 8192 x 8192 x 8192 matmul through torch, "bf16" or "fp8" (random data)."""
    n = 8192
    a, b = (torch.randn(n, n, device="cuda").bfloat16() / 10 for _ in range(2))
    if kind == "bf16":
        ms = time_ms(lambda: a @ b, 10)
    elif kind == "fp8":
        a8, b8, one = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn), torch.ones((), device="cuda")
        ms = time_ms(lambda: torch._scaled_mm(a8, b8.t(), one, one, out_dtype=torch.bfloat16), 10)
    else:
        raise ValueError(f"kind is {kind!r}; it must be 'bf16' or 'fp8'.")
    return 2 * n**3 / (ms / 1e3)


def versions() -> dict[str, str]:
    """Return the versions that the numbers depend on."""
    found = {"python": platform.python_version(), "cuda": torch.version.cuda or "", "device": torch.cuda.get_device_name()}
    for name in ("torch", "triton", "tilelang", "numpy"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            module = sys.modules.get(name)
            if module is not None:
                found[name] = getattr(module, "__version__", "?")
    asked = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=False
    )
    found["driver"] = asked.stdout.strip().splitlines()[0] if asked.stdout.strip() else "?"
    return found


def report(name: str, rows: list[Row]) -> None:
    """Print the table and write ``results/<name>.json``."""
    record = {
        "bench": name,
        "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "copy_GBps": copy_rate() / 1e9,
        "matmul_TFLOPs": {k: matmul_rate(k) / 1e12 for k in ("bf16", "fp8")} if any(r.flop for r in rows) else {},
        "method": "median of event timings, L2 cold",
        "rows": [asdict(r) | {"floor_ms": r.floor_ms, "of_floor": r.floor_ms / r.ms} for r in rows],
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"\n{name}: {record['versions']['device']}, copy {record['copy_GBps']:,.0f} GB/s", flush=True)
    wide = max([len(r.case) for r in rows] + [4])
    print(f"{'case':<{wide}}  {'ms':>8}  {'rate':>14}  {'floor':>8}  {'of floor':>8}  otherwise")
    for r in rows:
        rate = f"{r.flop / r.ms / 1e9:,.0f} TFLOP/s" if r.flop else f"{r.bytes / r.ms / 1e6:,.0f} GB/s"
        others = ", ".join(f"{k} {v:.4f} ({v / r.ms:.1f}x)" for k, v in r.others.items())
        of_floor = f"{r.floor_ms:8.4f}  {r.floor_ms / r.ms:8.0%}"
        print(f"{r.case:<{wide}}  {r.ms:8.4f}  {rate:>14}  {of_floor}  {others} {r.note}".rstrip())
