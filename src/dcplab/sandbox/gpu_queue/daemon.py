"""Keeps the queue for a GPU: turns in order for any number of slots, who holds one, and for how long.

A client connects, says what it wants, and holds its turn while the connection is open. The daemon writes down who holds and who
waits, so that it can be restarted: a holder keeps its turn, and who comes back finds their place.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pwd
import signal
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOLD_S = 300.0  # longer than any check may take: its wall is 240 s
LARGE_HOLD_S = 900.0  # a server of the report's size, with its compilation
BEAT_S = 5.0  # a client that hears nothing for some of these looks for another daemon
BACK_S = 2.0  # in which who waited finds a restarted daemon
LINE = 4096  # bytes of a request
OF_ONE_USER = 256  # connections


@dataclass(frozen=True)
class QueueRules:
    """``turns``: slots for checks. ``hold_s``: after so long a turn is somebody else's. ``idle_s``: the end without clients."""

    turns: int = 1
    hold_s: float = HOLD_S
    idle_s: float | None = None


@dataclass
class Ticket:
    """One who holds or waits. ``id``: made by the client, to find its place again after a restart."""

    id: str
    uid: int
    pid: int
    kind: str  # the devices, and "check" or "large"
    what: str = ""
    since: float = field(default_factory=time.time)  # waiting; once it holds, holding
    holds: bool = False
    writer: asyncio.StreamWriter | None = None  # None: known from before a restart

    def told(self) -> dict[str, Any]:
        return {"user": user_name(self.uid), "what": self.what, "seconds": round(time.time() - self.since)}


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def peer(connection: socket.socket) -> tuple[int, int]:
    """Return the process and the user at the other end, as the kernel knows them."""
    pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return pid, uid


class Queue:
    """Tickets in order of their coming; users take turns. ``kept``: the file in which they outlive the daemon."""

    def __init__(self, rules: QueueRules, kept: Path):
        self.rules, self.kept = rules, kept
        self.turns, self.began = rules.turns, time.time()
        self.tickets: list[Ticket] = []
        self.served: dict[tuple[str, int], float] = {}  # kind and user -> when they last got a turn
        with contextlib.suppress(OSError, ValueError, TypeError):
            self.tickets = [Ticket(**one) for one in json.loads(kept.read_text(encoding="utf-8"))]

    def come(self, new: Ticket) -> Ticket:
        """Put a ticket at the end, or where it was before a restart."""
        for ticket in self.tickets:
            if ticket.id == new.id and ticket.uid == new.uid and ticket.writer is None:
                ticket.writer, ticket.pid = new.writer, new.pid
                return ticket
        self.tickets.append(new)
        return new

    def in_turn(self) -> list[Ticket]:
        """Return who waits, in the order of their coming. A user's next ticket counts as come when the last one got its turn,
        so who asks for many keeps nobody waiting for more than one."""
        of_user: Counter[tuple[str, int]] = Counter()
        places = []
        for ticket in self.tickets:
            if not ticket.holds:
                user = (ticket.kind, ticket.uid)
                places.append((of_user[user], max(ticket.since, self.served.get(user, 0.0)), ticket))
                of_user[user] += 1
        return [ticket for _, _, ticket in sorted(places, key=lambda place: place[:2])]

    def leave(self, ticket: Ticket) -> None:
        with contextlib.suppress(ValueError):
            self.tickets.remove(ticket)

    def advance(self) -> None:
        """Drop who is gone and who held too long, give free slots to who waits first, and tell all who wait."""
        now = time.time()
        for ticket in list(self.tickets):
            limit = LARGE_HOLD_S if ticket.kind.endswith("large") else self.rules.hold_s
            late = ticket.holds and now - ticket.since > limit
            gone = ticket.writer is None and not (_lives(ticket.pid) if ticket.holds else now - self.began < BACK_S)
            if late or gone:
                self.leave(ticket)
        held = Counter(ticket.kind for ticket in self.tickets if ticket.holds)
        for ticket in self.in_turn():
            if ticket.writer is None:
                break  # it was before the others, and has a moment to come back
            slots = 1 if ticket.kind.endswith("large") else self.turns
            if held[ticket.kind] < slots:
                held[ticket.kind] += 1
                ticket.holds, ticket.since = True, now
                self.served[ticket.kind, ticket.uid] = now
                _send(ticket.writer, {"go": True})
        self._keep()

    def tell(self) -> None:
        """Tell each who waits how many are before them, and who holds."""
        holders: dict[str, list[dict[str, Any]]] = {ticket.kind: [] for ticket in self.tickets}
        for ticket in self.tickets:
            if ticket.holds:
                holders[ticket.kind].append(ticket.told())
        before: Counter[str] = Counter()
        for ticket in self.in_turn():
            if ticket.writer is not None:
                _send(ticket.writer, {"before": before[ticket.kind], "holders": holders[ticket.kind]})
            before[ticket.kind] += 1

    def told(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "holders": [ticket.told() for ticket in self.tickets if ticket.holds],
            "waiting": [ticket.told() for ticket in self.tickets if not ticket.holds],
        }

    def _keep(self) -> None:
        rows = [{k: v for k, v in vars(ticket).items() if k != "writer"} for ticket in self.tickets]
        new = self.kept.with_suffix(".new")
        with contextlib.suppress(OSError):
            new.write_text(json.dumps(rows), encoding="utf-8")
            new.chmod(0o600)
            new.replace(self.kept)


def _lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _send(writer: asyncio.StreamWriter, what: dict[str, Any]) -> None:
    """Write a line. A client that does not read loses lines, and nobody waits for it."""
    if not writer.is_closing() and writer.transport.get_write_buffer_size() < 1 << 16:
        writer.write(json.dumps(what).encode() + b"\n")


async def hang_up(writer: asyncio.StreamWriter, most_s: float) -> None:
    """Close a connection once all is on its way, or after so long: what nobody reads would be kept for good."""
    writer.close()
    try:
        await asyncio.wait_for(writer.wait_closed(), most_s)
    except (OSError, TimeoutError):
        writer.transport.abort()


def _plain(text: Any, most: int) -> str:
    return "".join(c for c in str(text)[:most] if c.isprintable())


async def serve(path: Path, rules: QueueRules) -> int:
    """Keep the queue at a socket until told to end. Returns 1 if another daemon keeps it already."""
    with alone(path) as first:
        if not first:
            return 1
        path.unlink(missing_ok=True)
        queue = Queue(rules, path.with_suffix(".json"))
        users: dict[int, int] = {}
        seen = time.monotonic()

        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal seen
            pid, uid = peer(writer.get_extra_info("socket"))
            users[uid] = users.get(uid, 0) + 1
            ticket = None
            try:
                if users[uid] > OF_ONE_USER:
                    return
                asked = json.loads(await asyncio.wait_for(reader.readline(), BEAT_S))
                if asked.get("ask") == "status":
                    _send(writer, queue.told())
                elif asked.get("ask") == "turn":
                    turns = asked.get("turns")
                    own = rules.idle_s is not None  # a queue of one's own; a learner does not decide for a class
                    if own and isinstance(turns, int) and turns > 0:
                        queue.turns = turns
                    kind = f"{_plain(asked.get('devices'), 60)} {'large' if asked.get('large') else 'check'}"
                    new = Ticket(_plain(asked.get("id"), 40), uid, pid, kind, _plain(asked.get("what"), 20), writer=writer)
                    ticket = queue.come(new)
                    if ticket.holds:
                        _send(writer, {"go": True})
                    queue.advance()
                    queue.tell()
                    while await reader.read(LINE):  # until it hangs up; what it says meanwhile is not kept
                        pass
                elif asked.get("ask") == "done":  # a holder whose connection a restart ended
                    for one in [t for t in queue.tickets if t.id == asked.get("id") and t.uid == uid]:
                        queue.leave(one)
            except (TimeoutError, OSError, ValueError, AttributeError, asyncio.LimitOverrunError):
                pass  # it said something else, or went
            finally:
                seen = time.monotonic()
                if ticket is not None:
                    queue.leave(ticket)
                queue.advance()
                queue.tell()
                try:
                    await hang_up(writer, BEAT_S)
                finally:
                    users[uid] -= 1

        server = await asyncio.start_unix_server(meet, path, limit=LINE)
        path.chmod(0o666 if rules.idle_s is None else 0o600)
        told_to_end = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, told_to_end.set)
        try:
            while not told_to_end.is_set() and (
                rules.idle_s is None or any(users.values()) or time.monotonic() - seen < rules.idle_s
            ):
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(told_to_end.wait(), min(1.0, rules.idle_s or 1.0))
                queue.advance()
                queue.tell()
        finally:
            path.unlink(missing_ok=True)  # or each check would wait for somebody to come back to it
            server.close()
        return 0


@contextlib.contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Hold this socket's place. The lock is its owner's: nobody else can open it."""
    handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
