"""Makes a fork of the warm process cheap, by the kernel's large pages of memory.

A fork copies an entry for each 4 KiB that the process has written, about 40,000 once torch and Triton are imported, and its end
takes them away again: half of what a small check costs. Of 2 MiB that lie in one large page it copies one entry.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dcplab.sandbox.walls import libc

LARGE = 2 << 20  # bytes of a large page of x86-64; of arm64 with 4 KiB ones too
COLLAPSE = 25  # MADV_COLLAPSE, which Linux has since 6.1
CHILDREN = 8  # after so many the 0.3 s that it takes are worth it


def lighten() -> None:
    """Put this process's own memory into large pages, where the kernel can and has some. It changes no content."""
    for start, end in _written():
        for at in range(-(-start // LARGE) * LARGE, end // LARGE * LARGE, LARGE):
            with contextlib.suppress(OSError):  # an older kernel, memory that is in pieces, or nothing written there
                libc.madvise(at, LARGE, COLLAPSE)


def _written() -> Iterator[tuple[int, int]]:
    """Yield the first and last address of each piece of private memory that no file stands behind, but for the stack."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps.read().splitlines():
            span, rights, _, _, inode, *name = line.split(None, 5)
            if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
                start, end = span.split("-")
                yield int(start, 16), int(end, 16)
