"""Follows one child to its end: its output, its own time, and its memory."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import stat
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcplab.sandbox.meter import Meter

STUCK = "Stack (most recent call first)"  # first words of faulthandler's output
OUTPUT_KEPT, OUTPUT_LIMIT = 1 << 16, 32 << 20
RESULT_LIMIT = 256 << 20
WALL_FACTOR, WALL_LEAST_S = 10, 60.0  # the wall stands that far behind the limit
ENTRIES, MANY = 20_000, 1 << 62  # so many files are too many, whatever is in them
KILL_S = 60.0  # a child that was told to stop has ended by then, on a busy machine too
TRACE_OWN_S, TRACE_WALL_S = 0.5, 20.0  # what a stuck child has for saying where it is


class ServerLost(Exception):
    """Raised when the child's server has gone away."""


@dataclass(frozen=True)
class Limits:
    """``own_s``: seconds of processor time and sleep, of the child and its descendants. Waiting for a processor costs nothing
    until the wall, which stands ten times as far away (a minute at least): who is stopped by it was kept from working."""

    own_s: float
    memory_bytes: int  # more than it began with
    mode: str
    threads: int  # of the child and its descendants
    files_bytes: int  # in all that they wrote in ``scratch``, or in files that have no name any more
    scratch: str

    @property
    def wall_s(self) -> float:
        return max(WALL_LEAST_S, WALL_FACTOR * self.own_s)


class Stream:
    """One of a child's pipes: its first ``kept`` bytes, and the count of all bytes."""

    def __init__(self, fd: int, kept: int, limit: int):
        self.fd, self.kept, self.limit = fd, kept, limit
        self.data, self.seen, self.open = bytearray(), 0, True

    def drain(self, once: bool = False) -> None:
        while self.open:
            try:
                chunk = os.read(self.fd, 1 << 18)
            except BlockingIOError:
                return
            if not chunk:
                self.open = False
            self.seen += len(chunk)
            self.data += chunk[: max(0, self.kept - len(self.data))]
            if once or self.seen > self.limit:
                return

    def text(self) -> str:
        cut = f"\n... {self.seen - len(self.data):,} more bytes" if self.seen > len(self.data) else ""
        return self.data.decode(errors="replace") + cut


class Watch:
    """Holds one child to its limits until it ends. ``status`` is "done", the limit that it exceeded ("timeout", "memory",
    "threads", "files", "flood"), or "busy": it reached the wall, so the machine kept it from working.

    ``link``: the server's messages about the child. ``fds``: the child's result, stdout and stderr.
    """

    def __init__(self, link: socket.socket, fds: Sequence[int], limits: Limits):
        sizes = ((RESULT_LIMIT, RESULT_LIMIT), (OUTPUT_KEPT, OUTPUT_LIMIT), (OUTPUT_KEPT, OUTPUT_LIMIT))
        self.result, self.stdout, self.stderr = (Stream(fd, *size) for fd, size in zip(fds, sizes, strict=True))
        self.status, self.exit = "done", None
        self._link, self._limits, self._deadline = link, limits, time.perf_counter() + limits.wall_s
        self._pid: int | None = None
        self._meter: Meter | None = None
        self._baseline: int | None = None  # bytes of memory that it got from the server

    def follow(self) -> None:
        """Wait for the child's end. Raises ServerLost if the server goes away, or does not report the end."""
        streams = (self.result, self.stdout, self.stderr)
        with selectors.DefaultSelector() as selector:
            selector.register(self._link, selectors.EVENT_READ)
            for stream in streams:
                selector.register(stream.fd, selectors.EVENT_READ, stream)
            while self.exit is None:
                for event, _ in selector.select(max(0.0, min(0.05, self._deadline - time.perf_counter()))):
                    if event.fileobj is self._link:
                        self._hear()
                    elif not self._read(event.data):
                        selector.unregister(event.fd)
                if self.exit is None:
                    self._hold()
        for stream in streams:
            stream.drain()

    def _hear(self) -> None:
        try:
            data, sender = hear(self._link)
        except OSError:
            data, sender = b"", 0
        if not data:
            if self._pid is not None:
                with contextlib.suppress(OSError):
                    os.killpg(self._pid, signal.SIGKILL)
            raise ServerLost
        message = json.loads(data)
        if "pid" in message:
            self._pid = sender
            self._meter = Meter(self._pid, self._limits.mode)
        self.exit = message.get("exit")

    def _read(self, stream: Stream) -> bool:
        stream.drain(once=True)
        if stream.seen > stream.limit:
            self._stop("flood")
        return stream.open

    def _hold(self) -> None:
        if self._pid is not None:
            memory = _resident(self._pid)
            self._baseline = memory if self._baseline is None else self._baseline
            if memory - self._baseline > self._limits.memory_bytes:
                self._stop("memory")
        late = time.perf_counter() >= self._deadline
        if self.status != "done":
            if late:  # it was told to stop and the server does not say that it did
                raise ServerLost
            return
        if self._meter is not None and (late or self._meter.due()):
            self._meter.look()
            if self._meter.threads > self._limits.threads:
                return self._stop("threads")
            if written(self._limits.scratch, self._meter.pids) > self._limits.files_bytes:
                return self._stop("files")
            if self._meter.own_s >= self._limits.own_s:
                with contextlib.suppress(OSError):
                    os.kill(self._meter.pid, signal.SIGUSR1)  # faulthandler prints the stuck place
                _let_print(self.stderr, self._meter)
                return self._stop("timeout")
        if late:
            self._stop("busy")

    def _stop(self, why: str) -> None:
        if self.status == "done":
            self.status, self._deadline = why, time.perf_counter() + KILL_S
            with contextlib.suppress(OSError):
                self._link.send(b"kill")


def hear(link: socket.socket) -> tuple[bytes, int]:
    """Return a message and its sender's process id. The kernel tells it, as this process counts: a child in a PID namespace
    knows itself by another. Raises OSError."""
    size = struct.calcsize("=3i")
    data, more, _, _ = link.recvmsg(4096, socket.CMSG_SPACE(size))
    senders = [struct.unpack("=3i", body[:size])[0] for _, kind, body in more if kind == socket.SCM_CREDENTIALS]
    return data, senders[0] if senders else 0


def written(scratch: str, pids: Sequence[int]) -> int:
    """Return the bytes in the files below a folder, and in files without a name that these processes hold open."""
    total, folders, seen = 0, [scratch], 0
    while folders and seen < ENTRIES:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                seen += 1
                with contextlib.suppress(OSError):
                    at = entry.stat(follow_symlinks=False)
                    total += at.st_blocks * 512
                    if stat.S_ISDIR(at.st_mode):
                        folders.append(entry.path)
    nameless: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    at = os.stat(f"/proc/{pid}/fd/{fd}")
                    if at.st_nlink == 0 and stat.S_ISREG(at.st_mode):
                        nameless[at.st_dev, at.st_ino] = at.st_blocks * 512
    return total + sum(nameless.values()) if seen < ENTRIES else MANY


def records(data: bytes, key: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Return the records of a stream, and whether it holds anything else: an answer that wrote into the channel gets no
    credit."""
    from dcplab import codec  # imports torch; a command starts the server before that

    found, at = list[dict[str, Any]](), 0
    while at < len(data):
        if data[at : at + 16] != key:
            return found, True
        length = int.from_bytes(data[at + 16 : at + 24], "little")
        body = data[at + 24 : at + 24 + length]
        if len(body) < length:
            return found, False  # cut off by the child's end, which the exit status tells
        try:
            record = codec.decode(body)
        except codec.CodecError:
            return found, True
        if not isinstance(record, dict):
            return found, True
        found.append(record)
        at += 24 + length
    return found, False


def _let_print(stream: Stream, meter: Meter) -> None:
    """Wait until a stuck child has printed its place, or had enough time and did not."""
    end, enough = time.perf_counter() + TRACE_WALL_S, meter.own_s + TRACE_OWN_S
    while stream.open and time.perf_counter() < end and meter.own_s < enough:
        before = stream.seen
        time.sleep(0.03)
        stream.drain()
        if STUCK.encode() in stream.data and stream.seen == before:
            return
        if meter.due():
            meter.look()


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
