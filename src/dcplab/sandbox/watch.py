"""Follows one child to its end: its output, its time, and its memory."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STUCK = "Stack (most recent call first)"  # first words of faulthandler's output
OUTPUT_KEPT, OUTPUT_LIMIT = 1 << 16, 32 << 20
RESULT_LIMIT = 256 << 20


class ServerLost(Exception):
    """Raised when the child's server has gone away."""


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
    """Holds one child to its limits until it ends. ``status`` is "done", or the limit that it exceeded.

    ``link``: the server's messages about the child. ``fds``: the child's result, stdout and stderr.
    """

    def __init__(self, link: socket.socket, fds: Sequence[int], deadline: float, memory_bytes: int):
        limits = ((RESULT_LIMIT, RESULT_LIMIT), (OUTPUT_KEPT, OUTPUT_LIMIT), (OUTPUT_KEPT, OUTPUT_LIMIT))
        self.result, self.stdout, self.stderr = (Stream(fd, *limit) for fd, limit in zip(fds, limits, strict=True))
        self.status, self.exit = "done", None
        self._link, self._deadline, self._memory_bytes = link, deadline, memory_bytes
        self._pid: int | None = None
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
        self._pid = message.get("pid", self._pid)
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
            if memory - self._baseline > self._memory_bytes:
                self._stop("memory")
        if time.perf_counter() < self._deadline:
            return
        if self.status != "done":  # the child was told to stop, but the server does not report its end
            raise ServerLost
        if self._pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.SIGUSR1)  # faulthandler prints the stuck place
            _let_print(self.stderr)
        self._stop("timeout")

    def _stop(self, why: str) -> None:
        if self.status == "done":
            self.status, self._deadline = why, time.perf_counter() + 5.0
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


def _let_print(stream: Stream, patience_s: float = 3.0) -> None:
    """Wait until a stuck child has printed its place, at most ``patience_s``. On a busy machine this takes a while."""
    end = time.perf_counter() + patience_s
    while stream.open and time.perf_counter() < end:
        before = stream.seen
        time.sleep(0.03)
        stream.drain()
        if STUCK.encode() in stream.data and stream.seen == before:
            return


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
