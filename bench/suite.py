"""How long `./course test` takes: the quick loop and everything, by the clock and in processor time, and the longest files.

A test's processor seconds are those of its worker and of all that it started, so a busy machine changes them little; what no
test has (collecting) is the difference to the whole. `pytest -p bench.suite --junitxml=FILE` notes them for any tests; `--note`
writes them to `tests/seconds.json`, which says what is slow and what runs first.
The aims on two quiet cores: everything in 8 minutes, the quick loop in one.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import psutil

from dcplab import paths

RUNS = {
    "quick": (["-m", "not slow and not browser"], 60),
    "all": ([], 8 * 60),
}  # words for ./course test, and the aim in seconds
LONGEST = 25
SECONDS = paths.root() / "tests" / "seconds.json"
SLOW_S = 0.3  # of a processor: what wants less is in the quick loop


def processor_s() -> float:
    """Return the seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(words: list[str]) -> dict:
    with tempfile.TemporaryDirectory(prefix="dcplab-bench-") as folder:
        record = Path(folder) / "tests.xml"
        options = f"{os.environ.get('PYTEST_ADDOPTS', '')} -q -p bench.suite --junitxml={record}"
        started, before = time.perf_counter(), processor_s()
        done = subprocess.run([paths.root() / "course", "test", *words], env=os.environ | {"PYTEST_ADDOPTS": options})
        found = {"wall_s": time.perf_counter() - started, "processor_s": processor_s() - before, "status": done.returncode}
        return found | ({"files": by_file(record), "tests": by_test(record)} if record.exists() else {"files": {}, "tests": {}})


def measured(record: Path) -> Iterator[tuple[ElementTree.Element, dict[str, str]]]:
    """Yield each test of a record, and what this plugin noted of it."""
    for case in ElementTree.parse(record).iter("testcase"):
        yield case, {p.get("name", ""): p.get("value", "") for p in case.iter("property")}


def by_test(record: Path) -> dict[str, float]:
    """Return each test's processor seconds, by its id."""
    return {noted["test"]: float(noted["processor_s"]) for _, noted in measured(record) if "test" in noted}


def note(tests: dict[str, float]) -> None:
    """Write what was measured over what was noted before; a file that is gone is left out."""
    noted = json.loads(SECONDS.read_text(encoding="utf-8")) if SECONDS.exists() else {}
    for test, used in tests.items():
        file, _, name = test.partition("::")
        of = noted.setdefault(file, {})
        of.pop(name, None)
        if used > SLOW_S:
            of[name] = round(used, 1)
    kept = {file: dict(sorted(of.items())) for file, of in sorted(noted.items()) if of and (paths.root() / file).exists()}
    SECONDS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def by_file(record: Path) -> dict[str, dict[str, float]]:
    """Sum up each file's tests, their number and seconds by the clock and of processors, the most of these first."""
    files: dict[str, dict[str, float]] = {}
    for case, noted in measured(record):
        one = files.setdefault(case.get("classname", ""), {"tests": 0, "wall_s": 0.0, "processor_s": 0.0})
        one["tests"] += 1
        one["wall_s"] += float(case.get("time", 0))
        one["processor_s"] += float(noted.get("processor_s", 0))
    return dict(sorted(files.items(), key=lambda item: -item[1]["processor_s"]))


def used_s() -> float:
    """Return the seconds of processors that this process, what it started and what these started have used, ended ones
    included."""
    seconds, todo = 0.0, [os.getpid()]
    while todo:
        pid = todo.pop()
        with contextlib.suppress(OSError, psutil.Error):  # it has ended
            seconds += sum(psutil.Process(pid).cpu_times()[:4])
            # Not psutil's children(): it reads every process of the machine, 2,600 times in a quick loop.
            for task in os.scandir(f"/proc/{pid}/task"):
                todo += map(int, Path(task.path, "children").read_text().split())
    return seconds


last = [0.0]  # what was used when the test before had ended


def pytest_runtestloop(session) -> None:
    last[0] = used_s()


def pytest_runtest_makereport(item, call) -> None:
    """Note a test's seconds at its end: xdist carries them, and the record has them as a property."""
    if call.when == "teardown":
        before, last[0] = last[0], used_s()
        item.user_properties += [("processor_s", round(last[0] - before, 3)), ("test", item.nodeid)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=RUNS, help="one of the two runs")
    parser.add_argument("--json", metavar="FILE", type=Path)
    parser.add_argument("--note", nargs="*", metavar="RECORD", type=Path, help="write tests/seconds.json, of RECORD if given")
    args = parser.parse_args()
    if args.note:
        for record in args.note:
            note(by_test(record))
        return
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    found = {}
    for name in [args.only] if args.only else RUNS:
        words, aim = RUNS[name]
        found[name] = one = run(words)
        print(f"{name}: {one['wall_s']:.0f} s by the clock (aim {aim} s), {one['processor_s']:.0f} s of processors")
        for file, of in list(one["files"].items())[:LONGEST]:
            print(f"  {of['processor_s']:7.1f} of processors {of['wall_s']:7.1f} by the clock {of['tests']:5} tests  {file}")
        if one["status"]:
            print(f"  ended with status {one['status']}")
    if args.note is not None:
        for one in found.values():
            note(one["tests"])
    if args.json:
        args.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
