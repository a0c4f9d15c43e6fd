"""How a learner's server starts on a hub: a whole checkout or none, a port of its own, and an end that is seen at once.
JupyterHub is no dependency of the course, so its spawner is a stand-in that starts real processes; `bench/workshop_starts.py`
tries a real hub."""

import asyncio
import errno
import os
import pwd
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from hub_stand_in import configuration

from dcplab.hub import limits, starting
from dcplab.hub.plan import Plan

ME = pwd.getpwuid(os.getuid())
SERVES = """import http.server as web, sys
web.HTTPServer(("127.0.0.1", int(sys.argv[1])), web.SimpleHTTPRequestHandler).serve_forever()
"""
ENDS = "raise SystemExit(1)"


@pytest.fixture
def hub_state(monkeypatch, tmp_path):
    monkeypatch.setenv("DCPLAB_HUB_STATE", str(tmp_path / "hub"))


@pytest.fixture
def book(tmp_path):
    place = tmp_path / "book"
    place.mkdir()
    (place / "one").write_text("1")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    return place


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home", SimpleNamespace(pw_dir=str(tmp_path / "home"), pw_uid=ME.pw_uid, pw_gid=ME.pw_gid)


def test_a_checkout_is_whole_or_not_there(book, home):
    """A clone that a full disk or a restart cut leaves a folder behind, which was once taken for a checkout for ever."""
    folder, who = home
    course = folder / "course"
    said = asyncio.run(starting.clone(book / "none", course, who))
    assert "does not exist" in said and not course.exists()
    (folder / "course.new").mkdir()
    (folder / "course.new" / "half").touch()
    assert asyncio.run(starting.clone(book, course, who)) == ""
    assert (course / "one").exists() and sorted(os.listdir(folder)) == ["course"]
    assert course.stat().st_mode & 0o077 == 0
    (course / "one").write_text("mine")
    assert asyncio.run(starting.clone(book, course, who)) == "", "it is there"
    assert (course / "one").read_text() == "mine"


def test_the_hub_goes_on_while_a_checkout_is_made(book, home, monkeypatch):
    monkeypatch.setattr(starting, "_CLONE", "sleep 1; " + starting._CLONE)

    async def both() -> float:
        clone = asyncio.ensure_future(starting.clone(book, home[0] / "course", home[1]))
        began = time.monotonic()
        await asyncio.sleep(0.01)
        waited = time.monotonic() - began
        assert not clone.done() and await clone == ""
        return waited

    assert asyncio.run(both()) < 0.9


def test_a_clone_that_does_not_end_is_ended_with_all_it_started(book, home, monkeypatch):
    monkeypatch.setattr(starting, "CLONE_S", 0.5)
    monkeypatch.setattr(starting, "_CLONE", "sleep 1983 & wait")
    assert "no answer" in asyncio.run(starting.clone(book, home[0] / "course", home[1]))
    end = time.monotonic() + 10
    while (found := subprocess.run(["pgrep", "-f", "sleep 1983"], capture_output=True).stdout) and time.monotonic() < end:
        time.sleep(0.1)
    assert not found


def test_a_port_is_neither_listened_at_nor_given_to_another():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert starting.listener(port) == os.getuid()
        assert starting.free_port(port, ()) > port
        assert starting.free_port(port, {port + 1, port + 2}) > port + 2
    with pytest.raises(OSError, match="is free"):
        starting.free_port(65530, set(range(65530, 65536)))


def test_ports_lie_below_those_that_the_kernel_gives_away():
    """Of a hub at its own port, 8000: what the kernel gives to any connection is never one of its servers' ports."""
    low = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
    assert Plan().port + 100 + starting.PORTS < low


def test_a_turn_is_given_back_once_at_the_end_or_when_it_takes_too_long():
    async def three() -> list[str]:
        turns, said = asyncio.Semaphore(1), []

        async def one(name: str, seconds: float) -> None:
            async with starting.turn(turns, 0.2):
                said.append(f"{name} begins")
                await asyncio.sleep(seconds)
                said.append(f"{name} ends")

        await asyncio.gather(one("slow", 1.0), one("quick", 0.01), one("last", 0.01))
        assert not turns.locked()
        await turns.acquire()
        assert turns.locked(), "given back once"
        return said

    said = asyncio.run(three())
    assert said == ["slow begins", "quick begins", "quick ends", "last begins", "last ends", "slow ends"]


class Local:
    """JupyterHub's LocalProcessSpawner, as far as LearnerSpawner leans on it (6.1.1)."""

    def __init__(self, name, sources, monkeypatch):
        self.user, self.proc, self.pid, self.port = SimpleNamespace(name=name), None, 0, 0
        self.server = SimpleNamespace(ip="", port=0, wait_up=self.wait_up)
        self.orm_spawner, self.log = SimpleNamespace(state=None), SimpleNamespace(warning=lambda *a: self.said.append(a))
        self.db, self.said = SimpleNamespace(commit=lambda: None), []
        self.sources, self.http_timeout, self.ports = iter(sources), 60, []
        self.api_token, self.tokens = "secret", []

    async def start(self):
        self.ports.append(self.port)
        self.tokens.append(self.api_token)
        self.proc = subprocess.Popen([sys.executable, "-c", next(self.sources), str(self.port)], stderr=subprocess.DEVNULL)
        self.pid = self.proc.pid
        return "127.0.0.1", self.port

    async def wait_up(self, http, timeout, extra_path):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            try:
                _, writer = await asyncio.open_connection(self.server.ip, self.server.port)
                writer.close()
                return None
            except OSError as error:
                assert error.errno == errno.ECONNREFUSED
            await asyncio.sleep(0.1)
        raise TimeoutError

    async def poll(self):
        if self.proc is not None:
            if self.proc.poll() is not None:
                self.clear_state()
            return self.proc.returncode
        return 0 if not self.pid or starting.born(self.pid) is None else None

    async def stop(self, now=False):
        if self.proc is not None:
            self.proc.kill()
            self.proc.wait()

    async def get_url(self):
        return f"http://{self.server.ip}:{self.server.port}"

    def get_state(self):
        return {"pid": self.pid} if self.pid else {}

    def load_state(self, state):
        self.pid = state.get("pid", 0)

    def clear_state(self):
        self.pid, self.api_token = 0, ""


@pytest.fixture
def spawner(monkeypatch, tmp_path, hub_state):
    """Return what makes the configuration's spawner of the sources of the processes that it starts, one after another."""
    monkeypatch.setattr(limits, "prepare", lambda: None)
    made = []

    def of(*sources):
        kind = configuration(monkeypatch, Plan(("ann",)), Local).JupyterHub.spawner_class
        made.append(kind(ME.pw_name, sources, monkeypatch))
        return made[-1]

    yield of
    for one in made:
        asyncio.run(one.stop(now=True))


def test_a_server_that_ends_before_it_answers_is_started_again_at_once(spawner):
    """JupyterHub alone waits http_timeout for it, which was 300 s: a learner had no server, and nobody knew why."""
    one = spawner(ENDS, SERVES)
    began = time.monotonic()
    where = asyncio.run(one.start())
    assert time.monotonic() - began < 60 and where == ("127.0.0.1", one.port) and len(one.ports) == 2
    assert one.orm_spawner.state == {"pid": one.proc.pid, "began": starting.born(one.proc.pid)}
    assert one.tokens == ["secret", "secret"], "the hub knows it by no other"
    assert "ended before it answered" in one.said[0][0]


def test_one_that_always_ends_is_told_to_the_learner(spawner):
    one = spawner(ENDS, ENDS, ENDS)
    with pytest.raises(Exception, match="500") as refused:
        asyncio.run(one.start())
    assert refused.value.jupyterhub_message.startswith("Your server ended while it started, 3 times;")
    assert len(one.ports) == 3


def test_a_server_whose_port_another_took_gets_another(spawner, monkeypatch):
    """Who listens there is not the learner: what a browser sends would reach somebody else."""
    one = spawner(SERVES, SERVES)
    told = iter((ME.pw_uid + 1, ME.pw_uid))
    monkeypatch.setattr(starting, "listener", lambda port: next(told))
    asyncio.run(one.start())
    assert len(one.ports) == 2


def test_a_hub_that_ended_meanwhile_finds_a_server_that_starts(spawner):
    """Its number stands in the database before it answers; after its own restart the hub waits for it."""
    slow = "import time; time.sleep(2)\n" + SERVES
    one, again = spawner(slow), spawner()

    async def cut() -> None:
        start = asyncio.ensure_future(one.start())
        while not one.orm_spawner.state:
            await asyncio.sleep(0.05)
        start.cancel()

    asyncio.run(cut())
    again.load_state(one.orm_spawner.state)
    again.server = one.server
    assert asyncio.run(again.poll()) is None and asyncio.run(again.get_url()) == f"http://127.0.0.1:{one.port}"
    assert again.http_timeout == 60
    one.proc.kill()
    one.proc.wait()
    asyncio.run(again.get_url())
    assert again.http_timeout == 1, "nobody waits for one that has ended"


def test_a_number_that_is_another_process_now_is_no_server(spawner):
    """After a restart of the machine the hub would have ended a process of somebody else's for a learner's server."""
    one = spawner()
    one.load_state({"pid": os.getpid(), "began": starting.born(os.getpid()) - 1000})
    assert asyncio.run(one.poll()) == 0 and one.pid == 0
    one.load_state({"pid": os.getpid()})
    assert asyncio.run(one.poll()) is None, "of a hub before this one: no time is known"


def test_who_gets_no_checkout_reads_why(monkeypatch, hub_state):
    monkeypatch.setattr(limits, "prepare", lambda: None)

    async def full(*_):
        return "fatal: could not create\nerror: No space left on device\nfatal: the end"

    monkeypatch.setattr(starting, "clone", full)
    given = configuration(monkeypatch, Plan(("ann",)), Local)
    with pytest.raises(Exception, match="500") as refused:
        asyncio.run(given.Spawner.pre_spawn_hook(SimpleNamespace(user=SimpleNamespace(name=ME.pw_name))))
    wanted = "Your checkout of the course could not be made (error: No space left on device). Tell your instructor."
    assert refused.value.jupyterhub_message == wanted
