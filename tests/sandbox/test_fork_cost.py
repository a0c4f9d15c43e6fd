"""A warm server's memory lies in large pages once it has forked some children."""

import ctypes
import mmap
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dcplab.course import catalog
from dcplab.course.drawn import draw
from dcplab.sandbox import fork_cost, pool
from dcplab.sandbox.attempts import attempt
from dcplab.sandbox.walls import libc


def large_kb(pid: int | str) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"AnonHugePages:\s+(\d+) kB", rollup)[1])


def test_memory_keeps_its_content():
    """In a process of its own: this one's memory is the other tests' too."""
    told = """
import mmap
from dcplab.sandbox import fork_cost
written = mmap.mmap(-1, 3 * fork_cost.LARGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
content = bytes(range(256)) * (len(written) // 256)
written[:] = content
fork_cost.lighten()
assert written[:] == content
"""
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True).stderr == ""


@pytest.fixture
def kernel_has_it():
    piece = mmap.mmap(-1, 2 * fork_cost.LARGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    piece[:] = b"1" * len(piece)
    first = ctypes.addressof(ctypes.c_char.from_buffer(piece))
    try:
        libc.madvise(-(-first // fork_cost.LARGE) * fork_cost.LARGE, fork_cost.LARGE, fork_cost.COLLAPSE)
    except OSError as error:
        pytest.skip(f"this kernel makes no large pages on demand: {error}")


def test_a_server_does_it_once_it_has_forked_some(kernel_has_it):
    pool.shutdown()  # a server of this test's own
    lab = catalog.lab("01")
    key = lab.key("1a")
    packed = draw(key.part, 1, "cpu").packed

    def check() -> None:
        assert attempt([key.solution], key.part, packed, "cpu", 10.0)[0].status == "done"

    check()
    before = large_kb(pool._servers["cpu"].pid)
    for _ in range(fork_cost.CHILDREN):  # it is done before the last of these is heard
        check()
    assert large_kb(pool._servers["cpu"].pid) - before > 20_000
