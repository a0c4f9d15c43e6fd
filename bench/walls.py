"""What the walls cost a child: closing them in a fork, the least and the median of many."""

import argparse
import json
import os
import statistics
import tempfile
import time

import torch  # noqa: F401 - a child is forked from a process of its size

from dcplab.sandbox.walls import capabilities, enclose, landlock, seccomp


def in_a_fork(call) -> float:
    """Measure the seconds that a call takes in a child of its own: what it closes stays closed."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        began = time.perf_counter()
        call()
        os.write(write, str(time.perf_counter() - began).encode())
        os._exit(0)
    os.close(write)
    took = float(os.read(read, 99))
    os.close(read)
    os.waitpid(pid, 0)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    enclose.prepare("cpu", "")
    allowed = enclose.allowances("cpu", "")
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        pieces = {
            "all": lambda: enclose.enclose(allowed, [folder], []),
            "capabilities": capabilities.give_up,
            "seccomp": lambda: seccomp.enter(False),
        }
        for name, call in pieces.items():
            times = [in_a_fork(call) for _ in range(args.repeat)]
            rows[name] = {"least_ms": min(times) * 1e3, "median_ms": statistics.median(times) * 1e3}
            print(f"{name}: {rows[name]['least_ms']:.2f} ms at least, median {rows[name]['median_ms']:.2f}")
    print(f"Landlock {landlock.abi()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
