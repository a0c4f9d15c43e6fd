"""Processes that leave others little of a processor, and what the checker's children took of it."""

import contextlib
import os
import subprocess
import sys

import psutil

from dcplab.sandbox import pool

SPIN = (
    "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100_000))"  # it goes if who started it does
)


@contextlib.contextmanager
def busy(count, processors):
    """Keep processors busy. They are ended by their ids. Each is a session: Linux may share a processor by sessions first, and
    whoever is checked has one of its own."""
    spinning = [subprocess.Popen([sys.executable, "-S", "-c", SPIN], start_new_session=True) for _ in range(count)]
    try:
        for process in spinning:
            os.sched_setaffinity(process.pid, processors)
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


@contextlib.contextmanager
def checker_on(processors):
    """Keep the checker of this process, and whatever it starts from now on, on some processors."""
    server = pool._server("cpu", None).pid
    before = os.sched_getaffinity(server)
    os.sched_setaffinity(server, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(server, before)


def processor_of_children():
    """Seconds of processor time of all children of the checker's server that have ended."""
    times = psutil.Process(pool._server("cpu", None).pid).cpu_times()
    return times.children_user + times.children_system
