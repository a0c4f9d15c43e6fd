"""How long `./course test` takes: the quick loop and everything, by the clock and in processor time, and the longest files.

A test's seconds are by the clock of its worker, so on a busy machine they are the neighbours' too. The aims on two quiet cores:
everything in 8 minutes, the quick loop in one.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

from dcplab import paths

RUNS = {
    "quick": (["-m", "not slow and not browser"], 60),
    "all": ([], 8 * 60),
}  # words for ./course test, and the aim in seconds
LONGEST = 25


def processor_s() -> float:
    """Seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(words: list[str]) -> dict:
    with tempfile.TemporaryDirectory(prefix="dcplab-bench-") as folder:
        record = Path(folder) / "tests.xml"
        options = f"{os.environ.get('PYTEST_ADDOPTS', '')} -q --junitxml={record}"
        started, before = time.perf_counter(), processor_s()
        done = subprocess.run([paths.root() / "course", "test", *words], env=os.environ | {"PYTEST_ADDOPTS": options})
        found = {"wall_s": time.perf_counter() - started, "processor_s": processor_s() - before, "status": done.returncode}
        return found | {"files": by_file(record) if record.exists() else {}}


def by_file(record: Path) -> dict[str, float]:
    """Seconds of each file's tests, the longest first."""
    seconds: dict[str, float] = {}
    for case in ElementTree.parse(record).iter("testcase"):
        name = case.get("classname", "")
        seconds[name] = seconds.get(name, 0.0) + float(case.get("time", 0))
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=RUNS, help="one of the two runs")
    parser.add_argument("--json", metavar="FILE", type=Path)
    args = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    found = {}
    for name in [args.only] if args.only else RUNS:
        words, aim = RUNS[name]
        found[name] = one = run(words)
        print(f"{name}: {one['wall_s']:.0f} s by the clock (aim {aim} s), {one['processor_s']:.0f} s of processors")
        for file, seconds in list(one["files"].items())[:LONGEST]:
            print(f"  {seconds:7.1f}  {file}")
        if one["status"]:
            print(f"  ended with status {one['status']}")
    if args.json:
        args.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
