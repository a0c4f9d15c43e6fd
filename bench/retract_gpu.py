"""A retraction's copies: one request's share of a rank to pinned host memory and back, against the link's own rate.

    python bench/retract_gpu.py                 on a GPU, 32k, 128k and 300k tokens; under a minute
    python bench/retract_gpu.py --dry-run       every line of it on a CPU, with small sizes; its times say nothing of a link

Three ways over one and the same rows of each layer's c-KV, D = 8, 512 bf16:

* gathered: the rows are gathered on the device (`ops.gather_rows`), then one copy on a stream of its own (`host.to_host`);
* row by row: one copy a row, of the first rows only, and scaled to all;
* the link: the same bytes, contiguous, between the device and one pinned buffer that is there already (cudaMemcpyAsync).

The gathered way is timed twice: with memory that the host pins for it, and with pinned memory that the allocator has kept from
an earlier retraction. Times are the clock's, between two synchronisations, medians of five (the pinning: once). On a GPU JSON
goes to ``bench/results``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from dcplab import mode
from dcplab.engine import host, index_spaces, ops

RESULTS = Path(__file__).with_name("results")
WIDTH, DCP_SIZE, PAGE, RANK = 512, 8, 64, 3
REPEATS, SINGLES = 5, 2000  # runs of each; rows that are copied one by one


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--layers", type=int, default=11, help="layers of c-KV (default: 11, all that a rank has)")
    parser.add_argument("--dry-run", action="store_true", help="on a CPU, small, and labelled so")
    args = parser.parse_args()
    if not args.dry_run and not torch.cuda.is_available():
        sys.exit("This bench times a GPU's link, and torch finds none here; --dry-run runs its code on the CPU.")
    device = torch.device("cpu" if args.dry_run else "cuda")
    sizes = (320, 1280) if args.dry_run else (32_768, 131_072, 300_000)
    record = {
        "bench": "retract",
        "device": "CPU: a dry run, no link was timed" if args.dry_run else torch.cuda.get_device_name(),
        "versions": mode.versions(),
        "geometry": {"dcp_size": DCP_SIZE, "page_size": PAGE, "width": WIDTH, "dtype": "bfloat16", "layers": args.layers},
        "requests": [one(tokens, args.layers, device) for tokens in sizes],
    }
    if not args.dry_run:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "retract_gpu.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))
    return 0 if all(r["came_back_the_same"] for r in record["requests"]) else 1


def one(tokens: int, layers: int, device: torch.device) -> dict:
    """Measure the rates of one request of ``tokens`` tokens: this rank's share of each layer, from scattered pages to
    others."""
    old, new = rows_of(tokens, 1, device), rows_of(tokens, 2, device)
    pool_rows = 2 * (tokens // DCP_SIZE + 2 * PAGE)
    pools = [torch.randn(pool_rows, WIDTH, device=device).bfloat16() for _ in range(layers)]
    expected = [ops.gather_rows(pool, old) for pool in pools]
    size = sum(t.numel() * t.element_size() for t in expected)
    saved: list[torch.Tensor] = []

    def backup() -> None:
        saved[:] = [host.to_host(ops.gather_rows(pool, old)) for pool in pools]
        host.wait(device)

    def restore() -> None:
        for pool, rows in zip(pools, saved, strict=True):
            ops.scatter_rows(pool, host.to_device(rows, device), new)

    first = clock(backup, device, 1)
    warm = clock(backup, device)
    back = clock(restore, device)
    same = all(torch.equal(ops.gather_rows(pool, new), rows) for pool, rows in zip(pools, expected, strict=True))
    singles = row_by_row(pools[0], saved[0], old[:SINGLES], device)
    total = layers * len(old)
    link = plain(size, device)
    return {
        "tokens": tokens,
        "rows_of_this_rank": len(old),
        "bytes": size,
        "came_back_the_same": same,
        "backup_GBps": rate(size, warm),
        "backup_with_pinning_GBps": rate(size, first),
        "restore_GBps": rate(size, back),
        "backup_row_by_row_GBps": rate(size, singles[0] * total),
        "restore_row_by_row_GBps": rate(size, singles[1] * total),
        "rows_timed_one_by_one": min(SINGLES, len(old)),
        "link_to_host_GBps": rate(size, link[0]),
        "link_to_device_GBps": rate(size, link[1]),
        "backup_of_link": round(link[0] / warm, 3),
        "restore_of_link": round(link[1] / back, 3),
    }


def rows_of(tokens: int, seed: int, device: torch.device) -> torch.Tensor:
    """Draw this rank's rows ``[n]`` int64 of a request whose pages lie in random order. Seeds 1 and 2 share no page of a
    pool."""
    count = -(-tokens // (PAGE * DCP_SIZE))
    pages = torch.randperm(count, generator=torch.Generator().manual_seed(seed)) + (seed - 1) * (count + 1)
    position = torch.arange(tokens)
    locs = pages[position // (PAGE * DCP_SIZE)] * (PAGE * DCP_SIZE) + position % (PAGE * DCP_SIZE)
    rows = index_spaces.localize(locs, RANK, DCP_SIZE)
    return rows[rows >= 0].to(device)


def row_by_row(pool: torch.Tensor, kept: torch.Tensor, rows: torch.Tensor, device: torch.device) -> tuple[float, float]:
    """Measure the seconds of a row to the host and back, each a copy of its own into pinned memory that is there."""
    where = rows.tolist()

    def there() -> None:
        for i, row in enumerate(where):
            kept[i].copy_(pool[row], non_blocking=True)

    def back() -> None:
        for i, row in enumerate(where):
            pool[row].copy_(kept[i], non_blocking=True)

    return clock(there, device, 1) / len(where), clock(back, device, 1) / len(where)


def plain(size: int, device: torch.device) -> tuple[float, float]:
    """Measure the seconds of one copy of ``size`` bytes to pinned memory, and back."""
    a = torch.ones(size, dtype=torch.uint8, device=device)
    b = torch.empty(size, dtype=torch.uint8, pin_memory=device.type == "cuda")
    return clock(lambda: b.copy_(a, non_blocking=True), device), clock(lambda: a.copy_(b, non_blocking=True), device)


def clock(run: Callable[[], object], device: torch.device, repeats: int = REPEATS) -> float:
    """Return the median seconds of ``run`` and all that it queued. Where it is repeated, it has run once before."""
    if repeats > 1:
        run()
    times = []
    for _ in range(repeats):
        wait(device)
        start = time.perf_counter()
        run()
        wait(device)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def rate(size: int, seconds: float) -> float:
    return round(size / seconds / 1e9, 3)


if __name__ == "__main__":
    sys.exit(main())
