"""A class on one GPU: 16 notebooks check 1h, 3a and 5a together; how long does a verdict take, and is every one right?

    python bench/gpu_sixteen.py                               16 processes, DCPLAB_GPU_TURNS 1, 2 and 4; at most 150 s for these
    python bench/gpu_sixteen.py --processes 4 --turns 1       smaller; on a CPU it says CPU, and there are no turns

Each process stands for a notebook: it has a checker of its own and checks its three parts one after another, every second
notebook with a wrong answer. All begin at the same moment. One is killed (SIGKILL) in the middle of its second check; another
gives, in the middle, a kernel that writes 512 GiB past its buffer, and must get its other verdicts as if nothing had been. The
GPU's memory is read from outside. JSON goes to ``bench/results``; exit status 1 if a verdict was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

RESULTS = Path(os.environ.get("DCP_BENCH_RESULTS") or Path(__file__).with_name("results"))
ROOM = "DCPLAB_BENCH_ROOM"  # whatever a notebook starts carries it in its environment
FAR = """
import triton
import triton.language as tl


@triton.jit
def localize_page_table_kernel(locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    locs = tl.load(locs_ptr + at, mask=at < n, other=-1)
    mine = (locs >= 0) & (locs % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + (at.to(tl.int64) + (1 << 36)), tl.where(mine, locs // DCP_SIZE, -1), mask=at < n)
"""
WARM_S = 240  # for the one that runs alone first, so that kernels are compiled and on disk
FAR_OUTCOMES = ("unsafe", "crashed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--turns", default="1,2,4", help="of DCPLAB_GPU_TURNS (default: 1,2,4)")
    parser.add_argument("--parts", default="1h,3a,5a")
    parser.add_argument(
        "--limit", type=float, default=150, metavar="S", help="seconds for all settings; what is not done then is ended"
    )
    parser.add_argument("--json", metavar="FILE", help="default: bench/results/gpu_sixteen.json on a GPU, none on a CPU")
    args = parser.parse_args()

    from dcplab import mode, subprocess_call

    here, parts = mode.current(), args.parts.split(",")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    print(f"{here.label}, {os.cpu_count()} cores; {args.processes} processes check {', '.join(parts)}", flush=True)
    began = time.monotonic()
    first = subprocess_call.call(
        "gpu_sixteen", "notebook", {"number": 0, "parts": parts, "of": 1}, timeout_s=WARM_S
    )  # compiles
    print(f"alone: {alone(first)}, {time.monotonic() - began:.1f} s with its start", flush=True)
    todo, until, settings = args.turns.split(",") if here.name == "gpu" else ["1"], time.monotonic() + args.limit, []
    for i, turns in enumerate(todo):
        share = (until - time.monotonic()) / (len(todo) - i)
        settings.append(together(args.processes, parts, int(turns), share, here.name == "gpu"))
    print(table(settings, here.name == "gpu"))
    record = {"bench": "gpu_sixteen", "mode": here.name, "device": here.device, "cores": os.cpu_count()}
    record |= {"versions": mode.versions(), "parts": parts, "alone": first["value"], "settings": settings}
    record |= {"seconds": round(time.monotonic() - began, 1)}
    target = args.json or (str(RESULTS / "gpu_sixteen.json") if here.name == "gpu" else None)
    if target:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).write_text(json.dumps(record, indent=1) + "\n")
    return 1 if any(s["mistakes"] or s["left_behind"] for s in settings) or first["value"] is None else 0


def alone(done: dict) -> str:
    if done["value"] is None:
        return f"died ({done['why']})"
    return ", ".join(f"{c['part']} {c['outcome']} {c['seconds']:.1f} s" for c in done["value"])


def together(processes: int, parts: list[str], turns: int, limit_s: float, gpu: bool) -> dict:
    """Measure one setting of ``DCPLAB_GPU_TURNS``: every verdict with its time, what it should have been, and the GPU's
    memory."""
    from dcplab import subprocess_call

    os.environ["DCPLAB_GPU_TURNS"] = str(turns)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dcplab-class-") as room, Memory(gpu) as memory:
        calls = [
            {
                "module": "gpu_sixteen",
                "function": "notebook",
                "args": {"number": i, "parts": parts, "of": processes, "room": room, "role": role(i, processes)},
                "env": {ROOM: room},
            }
            for i in range(processes)
        ]
        ends = dict(subprocess_call.side_by_side(calls, processes, limit_s=limit_s - 2))
        seconds = time.monotonic() - began
        checks = [json.loads(line) for f in sorted(Path(room).glob("*.checks")) for line in f.read_text().splitlines()]
        left = left_in(room)
    times = sorted(c["seconds"] for c in checks if c["role"] != "killed")
    ended = {i: done["how"] for i, done in ends.items() if done["how"] != "done"}
    unexpected = [i for i in ended if role(i, processes) != "killed"]
    return {
        "turns": turns,
        "seconds": round(seconds, 1),
        "asked": processes * len(parts),
        "verdicts": len(checks),
        "mistakes": [c for c in checks if not c["as_expected"]] + [{"process": i, "why": ends[i]["why"]} for i in unexpected],
        "unfinished": processes - len(ends),
        "killed": [how for i, how in ended.items() if role(i, processes) == "killed"],
        "left_behind": left,
        "median_s": round(statistics.median(times), 2) if times else None,
        "p95_s": round(times[min(len(times) - 1, int(0.95 * len(times)))], 2) if times else None,
        "longest_s": round(times[-1], 2) if times else None,
        "by_part": {
            p: round(statistics.median([c["seconds"] for c in checks if c["part"] == p]), 2)
            for p in parts
            if any(c["part"] == p for c in checks)
        },
        "gpu_memory_mib": memory.told(),
        "checks": checks,
    }


def role(number: int, processes: int) -> str:
    return {processes // 2: "killed", processes - 1: "far"}.get(number, "right" if number % 2 == 0 else "wrong")


def notebook(number: int, parts: list[str], of: int, room: str | None = None, role: str = "right") -> list[dict]:
    """Run one notebook's checks, in this process; written down one by one, for it may be killed."""
    import signal

    from dcplab import checking, mode
    from dcplab.course import catalog
    from dcplab.notebook.extract import extract
    from dcplab.sandbox import pool

    here = mode.current().name
    order = parts[number % len(parts) :] + parts[: number % len(parts)]
    keys = {part: catalog.of_part(part).key(part) for part in parts}
    pool.warm(here, wait=True)
    if room:
        wait_for_all(Path(room), number, of)
    found = []
    for i, part in enumerate(order):
        key, answer, expected = keys[part], keys[part].solution, ("passed",)
        if role == "wrong":
            bank = [(w, program) for w, program in key.wrong if w.outcome == "wrong"]
            wrong, answer = bank[number % len(bank)]
            expected = (wrong.outcome,)
        if role == "far" and part == "1h":
            answer, expected = extract([FAR], key.part.names), FAR_OUTCOMES
        if role == "killed" and i == 1:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
        start = time.perf_counter()
        result = checking.check(key, answer, seed=1000 + number)
        row = {"process": number, "role": role, "part": part, "outcome": result.outcome, "diagnosis": result.diagnosis}
        row |= {"seconds": round(time.perf_counter() - start, 3), "as_expected": result.outcome in expected}
        if not row["as_expected"]:
            row["message"] = f"{result.message}\n{result.detail}"[:1500]
        found.append(row)
        if room:
            with open(Path(room) / f"{number:03d}.checks", "a") as f:
                f.write(json.dumps(row) + "\n")
    pool.shutdown()
    return found


def wait_for_all(room: Path, number: int, of: int, patience_s: float = 60.0) -> None:
    """Wait, and return in all notebooks at once, when the last one's checker is ready."""
    (room / f"{number:03d}.ready").touch()
    end = time.monotonic() + patience_s
    while len(list(room.glob("*.ready"))) < of and time.monotonic() < end:
        time.sleep(0.02)


def left_in(room: str, patience_s: float = 8.0) -> list[int]:
    """List what notebooks started that is still there though all have ended: processes whose environment or words name the
    room."""
    end = time.monotonic() + patience_s
    while (
        found := [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if names(pid, room)]
    ) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def names(pid: int, room: str) -> bool:
    try:
        said = Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return pid != os.getpid() and room.encode() in said


class Memory:
    """The GPU's memory in use, read from outside five times a second by nvidia-smi; nothing on a CPU or where there is none."""

    def __init__(self, gpu: bool):
        self.gpu, self.seen = gpu, []

    def __enter__(self) -> Memory:
        self.process = None
        if self.gpu:
            words = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0", "-lms", "200"]
            try:
                self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            except FileNotFoundError:
                return self
            self.reader = threading.Thread(target=self._read, daemon=True)
            self.reader.start()
        return self

    def _read(self) -> None:
        self.seen += [int(line) for line in iter(self.process.stdout.readline, "") if line.strip().isdigit()]

    def __exit__(self, *_) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.reader.join(2)

    def told(self) -> dict | None:
        return {"before": self.seen[0], "peak": max(self.seen), "after": self.seen[-1]} if self.seen else None


def table(settings: list[dict], gpu: bool) -> str:
    head = (
        "turns" if gpu else "CPU",
        "verdicts",
        "mistakes",
        "median s",
        "p95 s",
        "longest s",
        "in all s",
        "peak MiB",
        "unfinished",
    )
    rows = [
        (
            s["turns"] if gpu else "-",
            f"{s['verdicts']}/{s['asked']}",
            len(s["mistakes"]),
            s["median_s"],
            s["p95_s"],
            s["longest_s"],
            s["seconds"],
            s["gpu_memory_mib"]["peak"] if s["gpu_memory_mib"] else "-",
            s["unfinished"],
        )
        for s in settings
    ]
    cells = [[str(c) for c in row] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    for s in settings:
        medians = ", ".join(f"{p} {t} s" for p, t in s["by_part"].items())
        lines.append(
            f"{'turns ' + str(s['turns']) if gpu else 'CPU'}: median {medians}; killed: {', '.join(s['killed']) or 'nobody'}"
        )
        lines += [f"  MISTAKE {json.dumps(m)[:600]}" for m in s["mistakes"]]
        lines += [f"  left behind: process {pid}" for pid in s["left_behind"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
