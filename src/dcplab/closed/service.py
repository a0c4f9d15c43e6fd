"""The grading service of a closed book: a Unix socket that learners' notebooks ask, and workers that hold the course.

The kernel tells who asks, and nothing in a request can say otherwise. Each user has one request at work at a time, and users
take turns, so one who asks much keeps the others waiting for one request at most. What it knows of a learner (progress, seed)
lies in its own folder, so it may be killed and started anew: who asked asks again. Its twin, `sandbox.gpu_queue.daemon`, gives
turns and runs nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcplab import paths
from dcplab.closed import wire
from dcplab.sandbox.gpu_queue.daemon import alone, hang_up, peer, user_name

OF_ONE_USER = 8  # connections
HEARD_S = 10.0  # in which a request must have come whole
READ_S = 60.0  # in which an answer must have been read
WALL_S = 300.0  # of one request; the longest of the course's own, lab 05's matrix, takes half a minute
UNREAD_BYTES = wire.TOLD_BYTES + (1 << 20)  # of an answer that its asker does not read
READY_S = 120.0  # in which a worker has imported torch

Seed = Callable[[str | None], int | None]


@dataclass(frozen=True)
class ServiceRules:
    """``state``: the folder of learners' progress. ``workers``: requests at a time. ``hints``: how many of a part's three are
    open. ``seed_of``: the seed that is bound to a learner, if one is."""

    state: Path
    workers: int = 2
    hints: int = 0
    seed_of: Seed = lambda student: None


@dataclass(eq=False)
class _Asked:
    uid: int
    body: bytes
    writer: asyncio.StreamWriter
    done: asyncio.Event = field(default_factory=asyncio.Event)
    gone: bool = False

    def tell(self, frame: bytes) -> None:
        """Send a frame. Who does not read is hung up on, and nobody waits for them."""
        if self.writer.is_closing():
            self.gone = True
        elif self.writer.transport.get_write_buffer_size() > UNREAD_BYTES:
            self.writer.transport.abort()
            self.gone = True
        else:
            self.writer.write(frame)


class Turns:
    """Requests that wait, by user: the user who was served longest ago is next, and one who has a request at work is not."""

    def __init__(self) -> None:
        self.waiting: OrderedDict[int, deque[_Asked]] = OrderedDict()
        self.at_work: set[int] = set()
        self.changed = asyncio.Condition()

    async def come(self, asked: _Asked) -> None:
        async with self.changed:
            self.waiting.setdefault(asked.uid, deque()).append(asked)
            self.changed.notify_all()

    async def next(self) -> _Asked:
        async with self.changed:
            while True:
                for uid, line in list(self.waiting.items()):
                    while line and line[0].gone:
                        line.popleft()
                    if not line:
                        del self.waiting[uid]
                    elif uid not in self.at_work:
                        asked = line.popleft()
                        self.at_work.add(uid)
                        if line:
                            self.waiting.move_to_end(uid)
                        else:
                            del self.waiting[uid]
                        return asked
                await self.changed.wait()

    async def over(self, asked: _Asked) -> None:
        async with self.changed:
            self.at_work.discard(asked.uid)
            self.changed.notify_all()

    async def leave(self, asked: _Asked) -> None:
        """Forget a request whose asker has gone, and its body, though nobody may take one from the line for minutes."""
        async with self.changed:
            asked.gone = True
            line = self.waiting.get(asked.uid, deque())
            if asked in line:
                line.remove(asked)

    def before(self, asked: _Asked) -> int:
        """Count whom a request waits for: the users before its own in the line, and its own's earlier requests."""
        users = list(self.waiting)
        own = list(self.waiting.get(asked.uid, ()))
        return (users.index(asked.uid) if asked.uid in users else 0) + (own.index(asked) if asked in own else 0)


class WorkerProcess:
    """A process that answers one request at a time. It is started anew when it ends, and killed if a request takes too long."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process and wait until it is ready."""
        command = [sys.executable, "-m", "dcplab.closed.worker"]
        env = {**os.environ, "PYTHONPATH": paths.python_path(), "DCPLAB_ROOT": str(paths.root())}
        pipe = asyncio.subprocess.PIPE
        # At "/": a hub starts the service in a folder that is root's alone, to which a worker could not return.
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, env=env, cwd="/", start_new_session=True
        )
        try:
            await asyncio.wait_for(self._frame(), READY_S)
        except (wire.Broken, TimeoutError):
            await self.end()  # else its first word would be taken for an answer, and each answer for the next asker's

    async def answer(self, header: dict[str, Any], asked: _Asked) -> None:
        """Have a request answered, and hand each frame on. Raises Broken if the process ended."""
        process = self.process
        if process is None or process.stdin is None or process.returncode is not None:
            raise wire.Broken("no worker")
        process.stdin.write(json.dumps(header).encode() + b"\n" + asked.body)
        last = False
        while not last:
            kind, body = await self._frame()
            asked.tell(wire.frame(kind, body))
            last = kind == wire.VALUE or "note" not in json.loads(body)

    async def _frame(self) -> tuple[bytes, bytes]:
        assert self.process is not None and self.process.stdout is not None
        try:
            kind, length = wire.head(await self.process.stdout.readexactly(wire.HEAD.size), wire.TOLD_BYTES + 64)
            return kind, await self.process.stdout.readexactly(length)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise wire.Broken("the worker ended") from error

    async def end(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()


class Service:
    def __init__(self, rules: ServiceRules):
        self.rules, self.turns = rules, Turns()
        self.connections: dict[int, int] = {}

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request of whoever connects, and stay until it is answered or they hang up."""
        _, uid = peer(writer.get_extra_info("socket"))
        self.connections[uid] = self.connections.get(uid, 0) + 1
        try:
            if self.connections[uid] > OF_ONE_USER:
                writer.write(wire.words({"error": f"You ask {OF_ONE_USER} things at a time already."}))
                return
            kind, length = wire.head(await asyncio.wait_for(reader.readexactly(wire.HEAD.size), HEARD_S), wire.ASKED_BYTES)
            body = await asyncio.wait_for(reader.readexactly(length), HEARD_S)
            if kind == wire.WORDS:
                return
            asked = _Asked(uid, body, writer)
            await self.turns.come(asked)
            await self._until_answered(asked, reader)
        except wire.Broken:
            writer.write(wire.words({"error": f"A request has at most {wire.ASKED_BYTES >> 20} MiB."}))
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            pass  # it said too little, or went
        finally:
            try:
                await hang_up(writer, READ_S)
            finally:
                self.connections[uid] -= 1
                if not self.connections[uid]:
                    del self.connections[uid]

    async def _until_answered(self, asked: _Asked, reader: asyncio.StreamReader) -> None:
        hung_up = asyncio.ensure_future(reader.read(1))
        answered = asyncio.ensure_future(asked.done.wait())
        try:
            while not asked.done.is_set():
                asked.tell(wire.words({"before": self.turns.before(asked)}))
                done, _ = await asyncio.wait({hung_up, answered}, timeout=wire.BEAT_S, return_when=asyncio.FIRST_COMPLETED)
                if hung_up in done:
                    await self.turns.leave(asked)  # at work it ends by its own limits
                    return
        finally:
            hung_up.cancel()
            answered.cancel()

    async def work(self) -> None:
        """Keep one worker, and give it the requests in turn."""
        worker = WorkerProcess()
        try:
            await worker.start()
            while True:
                asked = await self.turns.next()
                try:
                    await asyncio.wait_for(worker.answer(self._header(asked), asked), WALL_S)
                except (wire.Broken, TimeoutError, OSError, ValueError) as error:
                    late = isinstance(error, TimeoutError)
                    why = f"took longer than {WALL_S:g} s" if late else "ended the grading service's worker"
                    asked.tell(wire.words({"error": f"What you asked {why}; it was stopped, and nothing was recorded."}))
                    await worker.end()
                    asked.done.set()
                    await self.turns.over(asked)
                    await worker.start()
                    continue
                asked.done.set()
                await self.turns.over(asked)
        finally:
            await worker.end()

    def _header(self, asked: _Asked) -> dict[str, Any]:
        """Say whose a request is: by the user that the kernel named."""
        name = user_name(asked.uid)
        folder = self.rules.state / (name if name.replace("-", "").replace("_", "").isalnum() else str(asked.uid))
        folder.mkdir(mode=0o700, exist_ok=True)
        seed = self.rules.seed_of(name)
        return {"state": str(folder), "seed": seed, "hints": self.rules.hints, "bytes": len(asked.body)}


async def serve(path: Path, rules: ServiceRules, ready: Callable[[], None] = lambda: None) -> int:
    """Keep the service at a socket until told to end. Returns 1 if another keeps it already."""
    with alone(path) as first:
        if not first:
            return 1
        rules.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        rules.state.chmod(0o700)
        path.unlink(missing_ok=True)
        service = Service(rules)
        server = await asyncio.start_unix_server(service.meet, path, backlog=256)
        path.chmod(0o666)
        told_to_end = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, told_to_end.set)
        ready()
        workers = [asyncio.ensure_future(service.work()) for _ in range(rules.workers)]
        ending = asyncio.ensure_future(told_to_end.wait())
        try:
            done, _ = await asyncio.wait({ending, *workers}, return_when=asyncio.FIRST_COMPLETED)
            for one in done - {ending}:
                one.result()  # a worker's keeper ends by an error alone
        finally:
            path.unlink(missing_ok=True)
            server.close()
            for one in workers:
                one.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return 0
