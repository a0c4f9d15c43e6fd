"""The full path on two, four or eight GPUs, in one run of a given length: what is worth most first.

    python bench/ranks_run.py --gpus 8 --limit 590 --out DIR        a rank a GPU (D = 8), at the report's size
    python bench/ranks_run.py --gpus 2 --dcp-size 8 --limit 230 --out DIR       four ranks a GPU
    python bench/ranks_run.py --gpus 4 --dry --limit 400 --out DIR  small, over gloo on a CPU: shows that all of it runs

Each step is a command of the course with a limit of its own; it writes as it goes, and one that fails costs itself. What is in
DIR is kept: the same command again goes on with the isolation. ``DIR/run.json`` has the steps: command, seconds, exit status,
or why one was left out. Exit status 1 if a step failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).parent
REPORT = ("--size", "455744", "--page-size", "64", "--levels", "below,above,full")
SMALL = ("--page-size", "4", "--layers", "1", "--levels", "below,above,full")
END_S = 10.0  # that a step may take beyond its limit to end by itself
LEAST_S = 25.0  # of which no step can make use


@dataclass(frozen=True)
class Step:
    """``words`` after Python's; ``limit`` in seconds, which the command is told by ``--limit`` too. ``gpus``: 0 for all."""

    name: str
    words: tuple[str, ...]
    limit: float
    gpus: int = 0


def plan(gpus: int, dcp_size: int, out: Path, dry: bool) -> Iterator[Step]:
    """List the steps by worth: the incident's six servers, the path's figures, the same steps on two GPUs, then the matrix."""
    dealt = ("--ranks", "gloo", "--processes", str(gpus)) if dry else ("--gpus", str(gpus))
    table = str(out / "isolation.json")
    isolate = ("-m", "dcplab", "isolate", *dealt, "--dcp-size", str(dcp_size), *(SMALL if dry else REPORT))
    isolate += ("--json", table, "--csv", str(out / "isolation.csv"), "--markdown", str(out / "isolation.md"), "--resume")
    yield Step("the isolation, first without a patch and with all", isolate, 110)
    yield Step("links, gather, merges, steps", (*_bench(gpus, out, dry), "--dcp-size", str(dcp_size)), 150)
    if gpus > 2:
        words = (*_bench(2, out, dry), "--steps", "--dcp-size", str(dcp_size))
        yield Step(f"steps of D = {dcp_size} on two", words, 90, gpus=2)
    yield Step("the rest of the isolation", isolate, 600)


def _bench(processes: int, out: Path, dry: bool) -> tuple[str, ...]:
    words = ("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", str(BENCH / "ranks_gpu.py"))
    return (*words, "--json", str(out / f"ranks_{processes}.json"), *(("--dry",) if dry else ()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gpus", type=int, required=True, metavar="N", help="processes, a GPU each")
    parser.add_argument("--dcp-size", type=int, metavar="D", help="ranks (default: one a GPU)")
    parser.add_argument("--limit", type=float, default=590, metavar="S", help="seconds in all (default: 590)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--dry", action="store_true", help="small, over gloo on a CPU")
    parser.add_argument("--skip", default="", metavar="N,M", help="steps to leave out, by number")
    args = parser.parse_args()
    began, done = time.monotonic(), []
    args.out.mkdir(parents=True, exist_ok=True)
    skipped = {int(word) for word in args.skip.split(",") if word.strip()}
    for number, step in enumerate(plan(args.gpus, args.dcp_size or args.gpus, args.out, args.dry), 1):
        left = args.limit - (time.monotonic() - began) - END_S
        limit = min(step.limit, left)
        if number in skipped or limit < LEAST_S:
            done.append({"step": step.name, "left_out": "as asked" if number in skipped else f"{max(left, 0):.0f} s were left"})
        else:
            print(f"\n{time.monotonic() - began:6.1f} s  {number}. {step.name}, at most {limit:.0f} s", flush=True)
            done.append(run(step, limit, args.dry))
        told = {"gpus": args.gpus, "dry": args.dry, "seconds": round(time.monotonic() - began, 1), "steps": done}
        (args.out / "run.json").write_text(json.dumps(told, indent=1) + "\n")
    figures = args.out / f"ranks_{args.gpus}.json"
    if figures.exists():
        model = subprocess.run([sys.executable, str(BENCH / "ranks_model.py"), str(figures)], capture_output=True, text=True)
        (args.out / "model.txt").write_text(model.stdout + model.stderr)
    for one in done:
        print(
            f"{one['step']}: "
            + (f"left out, {one['left_out']}" if "left_out" in one else f"{one['seconds']:.0f} s, {one['status']}")
        )
    return 1 if any(one.get("status", 0) for one in done) else 0


def run(step: Step, limit: float, dry: bool) -> dict:
    """Run a step in a process group of its own, and end it if it does not end itself."""
    env = dict(os.environ)
    if step.gpus and not dry:
        shown = (
            env.get("CUDA_VISIBLE_DEVICES", "").split(",") if env.get("CUDA_VISIBLE_DEVICES") else map(str, range(step.gpus))
        )
        env["CUDA_VISIBLE_DEVICES"] = ",".join(list(shown)[: step.gpus])
    command = [sys.executable, *step.words, "--limit", f"{limit:.0f}"]
    began = time.monotonic()
    process = subprocess.Popen(command, env=env, start_new_session=True)
    try:
        status = process.wait(limit + END_S)
    except subprocess.TimeoutExpired:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, number)
                process.wait(3)
        status = process.wait()
    return {"step": step.name, "command": command[1:], "seconds": round(time.monotonic() - began, 1), "status": status}


if __name__ == "__main__":
    sys.exit(main())
