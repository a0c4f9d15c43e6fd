"""Follows one child to its end: its output, its own time, and its memory."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
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
    "flood"), or "busy": it reached the wall, so the machine kept it from working.

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
            data = self._link.recv(256)
        except OSError:
            data = b""
        if not data:
            if self._pid is not None:
                with contextlib.suppress(OSError):
                    os.killpg(self._pid, signal.SIGKILL)
            raise ServerLost
        message = json.loads(data)
        if "pid" in message:
            self._pid = message["pid"]
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


def records(data: bytes, key: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Return the records of a stream, and whether it holds anything else: an answer that wrote into the channel gets no
    credit."""
    from dcplab import codec  # imports torch; a command starts the server before that

    found, at = [], 0
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
