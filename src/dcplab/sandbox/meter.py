"""How much of its machine a child had: processor time, and time in which it wanted none."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

EVERY_S = 0.25  # between two looks; finding the descendants takes about 2 ms of a processor
# A thread that runs or could run is awake (R). One that waits for a disk (D) is held up by the machine, but so looks whoever
# waits for a child that shares its memory: it counts as awake only while processor time is used. On a GPU a D may be the
# device's driver, and counts as sleep.
AWAKE, WAITS = "R", {"cpu": "D", "compile": "D", "gpu": ""}


class Meter:
    """Counts for one process and its descendants. The rest of the time they waited for a processor.

    ``processor_s``: seconds of all their processors together. ``idle_s``: seconds in which all their threads slept. That is
    sampled, and a look speaks for two intervals at most: on a busy machine it may come late. ``threads`` and ``pids`` are those
    of the last look.
    """

    def __init__(self, pid: int, mode: str):
        self.pid, self.processor_s, self.idle_s = pid, 0.0, 0.0
        self.threads, self.pids = 1, [pid]
        self._waits, self._looked = WAITS[mode], time.perf_counter()

    @property
    def own_s(self) -> float:
        """The time that is charged to it: what it would have taken on a machine of its own."""
        return self.processor_s + self.idle_s

    def due(self) -> bool:
        return time.perf_counter() - self._looked >= EVERY_S

    def look(self) -> None:
        now = time.perf_counter()
        passed, self._looked = min(now - self._looked, 2 * EVERY_S), now
        used, states = 0.0, list[str]()
        family = _family(self.pid)
        for process in family:
            with contextlib.suppress(psutil.Error):
                used += sum(process.cpu_times()[:4])  # with those of its children that ended
                states += _states(process.pid)
        self.threads, self.pids = len(states), [process.pid for process in family]
        works = used > self.processor_s
        self.processor_s = max(self.processor_s, used)  # who ended and was waited for by nobody is in no sum any more
        if AWAKE not in states and not (works and self._waits and self._waits in states):
            self.idle_s += passed


def _family(pid: int) -> list[psutil.Process]:
    try:
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    except psutil.Error:
        return []


def _tasks(pid: int) -> list[Path]:
    """Return the stat files of a process's threads; none if it ended meanwhile."""
    try:
        return list(Path(f"/proc/{pid}/task").glob("*/stat"))
    except FileNotFoundError:
        return []


def _states(pid: int) -> Iterator[str]:
    for stat in _tasks(pid):
        with contextlib.suppress(OSError):
            yield stat.read_bytes().rpartition(b")")[2].split()[0].decode()  # before it stands a name that anybody may choose
