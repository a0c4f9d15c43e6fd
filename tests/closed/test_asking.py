"""The grading service's own side of a conversation, with a worker that only sends bytes: who does not read, who hangs up."""

import asyncio
import contextlib
import os

import pytest

from dcplab.closed import service, wire

REQUEST = wire.frame(wire.VALUE, b"x" * (4 << 20))
ANSWER = wire.frame(wire.VALUE, b"y" * (3 << 20))  # more than the kernel keeps of what nobody reads


class Sends:
    """Stands where a worker would: says how many bytes it was asked, once it may."""

    def __init__(self, may):
        self.may = may

    async def start(self):
        pass

    async def answer(self, header, asked):
        await self.may.wait()
        asked.tell(ANSWER)

    async def end(self):
        pass


@contextlib.asynccontextmanager
async def kept(folder, monkeypatch, may):
    monkeypatch.setattr(service, "WorkerProcess", lambda: Sends(may))
    one = service.Service(service.ServiceRules(folder))
    server = await asyncio.start_unix_server(one.meet, folder / "s")
    work = asyncio.ensure_future(one.work())
    try:
        yield one
    finally:
        server.close()
        work.cancel()


async def until(true):
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.02)


async def asking(folder):
    reader, writer = await asyncio.open_unix_connection(folder / "s")
    writer.write(REQUEST)
    await writer.drain()
    return reader, writer


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def test_who_does_not_read_is_hung_up_on_and_nothing_is_kept_for_them(tmp_path, monkeypatch):
    monkeypatch.setattr(service, "READ_S", 0.3)

    async def trial():
        async with kept(tmp_path, monkeypatch, may := asyncio.Event()) as one:
            may.set()
            before = descriptors()
            clients = []
            for _ in range(12):
                _, writer = await asking(tmp_path)
                writer.transport.pause_reading()
                clients.append(writer)
                assert one.connections[os.getuid()] <= service.OF_ONE_USER + 1
                await asyncio.sleep(0.1)
            await until(lambda: not one.connections)
            assert descriptors() == before + len(clients), "only their own ends are left"
            for writer in clients:
                writer.close()

    asyncio.run(trial())


def test_who_reads_gets_it_whole(tmp_path, monkeypatch):
    async def trial():
        async with kept(tmp_path, monkeypatch, may := asyncio.Event()) as one:
            may.set()
            reader, _ = await asking(tmp_path)
            await asyncio.sleep(0.5)
            assert (await reader.read()).endswith(ANSWER)
            await until(lambda: not one.connections)

    asyncio.run(trial())


def test_a_request_is_forgotten_with_its_asker_though_nobody_takes_one(tmp_path, monkeypatch):
    """While a request of minutes is at work, whoever asks and hangs up again would fill the service's memory."""

    async def trial():
        async with kept(tmp_path, monkeypatch, asyncio.Event()) as one:
            first = await asking(tmp_path)
            await until(lambda: one.turns.at_work)
            second = await asking(tmp_path)
            await until(lambda: one.turns.waiting)
            for _ in range(5):
                _, writer = await asking(tmp_path)
                await until(lambda: sum(map(len, one.turns.waiting.values())) == 2)
                writer.close()
                await until(lambda: sum(map(len, one.turns.waiting.values())) == 1)
            second[1].close()
            first[1].close()
            await until(lambda: not one.connections)
            assert not any(one.turns.waiting.values())

    asyncio.run(trial())


@pytest.mark.slow
def test_a_worker_that_is_late_is_ended(monkeypatch):
    """Its first word would be taken for the first answer, and every answer would be the next asker's."""
    monkeypatch.setattr(service, "READY_S", 0.05)

    async def trial():
        worker = service.WorkerProcess()
        await worker.start()
        assert worker.process.returncode is not None
        with pytest.raises(wire.Broken):
            await worker.answer({}, None)

    asyncio.run(trial())
