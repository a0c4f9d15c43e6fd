"""The queue for a GPU: in order, for any number of slots, whatever becomes of clients and of the daemon. No GPU is needed."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dcplab import paths
from dcplab.errors import CourseError
from dcplab.sandbox.gpu_queue import client

ENV = {"PYTHONPATH": paths.python_path()}


def until(condition, patience=30.0):
    end = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
    return found


class Kept:
    """A daemon in a process of its own."""

    def __init__(self, path: Path, *words: str):
        self.path, self.words = path, words
        self.start()

    def start(self) -> None:
        asked = [sys.executable, "-m", "dcplab.sandbox.gpu_queue", "--socket", str(self.path), *self.words]
        self.process = subprocess.Popen(asked, env={**os.environ, **ENV})
        until(lambda: client.status() is not None)

    def end(self, how=signal.SIGKILL) -> None:
        self.process.send_signal(how)
        self.process.wait()


@pytest.fixture(autouse=True)
def nothing_given_up(monkeypatch):
    monkeypatch.setattr(client, "_given_up", {})


@pytest.fixture
def queue(tmp_path, monkeypatch):
    path = tmp_path / "q.sock"
    monkeypatch.setenv("DCPLAB_GPU_QUEUE", str(path))
    started = []

    def start(*words):
        started.append(Kept(path, *words))
        return started[-1]

    yield start
    for one in started:
        one.process.send_signal(signal.SIGCONT)
        one.end()


HOLDER = """
import sys, time
from dcplab.sandbox.gpu_queue import client
with client.turn("gpu", what=sys.argv[1]):
    print("has it", flush=True)
    time.sleep(60)
"""


@contextlib.contextmanager
def holder(what="1h"):
    """Another process that has a turn."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, what], env={**os.environ, **ENV}, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "has it\n"
        yield process
    finally:
        process.kill()
        process.wait()


class Waiter(threading.Thread):
    """Waits for a turn, writes its name into ``order`` when it has it, and gives it back when ``let_go`` is set."""

    def __init__(self, name, order, large=False):
        super().__init__(daemon=True)
        self.called, self.order, self.large = name, order, large
        self.said, self.let_go = [], threading.Event()
        self.start()

    def run(self):
        with client.turn("gpu", self.said.append, self.large, self.called):
            self.order.append(self.called)
            self.let_go.wait(60)


def waiting():
    return [one["what"] for one in client.status()["waiting"]]


def holding():
    return [one["what"] for one in client.status()["holders"]]


@pytest.mark.parametrize("turns", [1, 3])
def test_as_many_at_a_time_as_it_is_told_in_order_and_no_slot_idle(queue, turns):
    queue("--turns", str(turns))
    order, waiters = [], []
    for i in range(7):
        waiters.append(Waiter(str(i), order))
        until(lambda i=i: len(client.status()["holders"]) + len(client.status()["waiting"]) == i + 1)
    assert holding() == [str(i) for i in range(turns)]
    for i, waiter in enumerate(waiters):
        waiter.let_go.set()  # whoever gives back, the first who waits comes in: nobody waits for one slot of several
        until(lambda i=i: len(order) == min(7, turns + i + 1))
    assert order == [str(i) for i in range(7)]
    until(lambda: client.status()["holders"] == [])


def test_who_waits_is_told_who_has_it_and_how_many_are_before(queue):
    queue()
    order = []
    with holder("3a"):
        first = Waiter("first", order)
        until(lambda: waiting() == ["first"])
        second = Waiter("second", order)
        until(lambda: second.said)
        assert first.said[0].startswith("Another check has the GPU; waiting for a turn ... You are next. Now: ")
        assert "'s 3a (" in first.said[0] and "1 is before you" in second.said[0]
    until(lambda: order == ["first"])  # the holder was killed
    first.let_go.set()
    until(lambda: order == ["first", "second"])
    assert "You are next" in second.said[-1]
    second.let_go.set()


def test_an_interrupt_leaves_the_queue(queue):
    queue()
    code = "from dcplab.sandbox.gpu_queue import client\nwith client.turn('gpu', print, what='impatient'): pass"
    with holder():
        process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **ENV}, stderr=subprocess.DEVNULL)
        until(lambda: waiting() == ["impatient"])
        process.send_signal(signal.SIGINT)
        assert process.wait(20) != 0
        until(lambda: waiting() == [])


def test_a_large_server_and_a_check_do_not_wait_for_each_other(queue):
    queue()
    order = []
    large = [Waiter("large", order, large=True), Waiter("also", order, large=True)]
    until(lambda: len(order) == 1)
    check = Waiter("check", order)
    until(lambda: "check" in order)
    for one in (check, *large):
        one.let_go.set()
    until(lambda: len(order) == 3)


def test_a_stopped_holder_loses_its_turn_after_the_limit(queue):
    queue("--hold", "1")
    order = []
    with holder("stopped") as process:
        process.send_signal(signal.SIGSTOP)
        waiter = Waiter("next", order)
        until(lambda: order == ["next"])
        assert holding() == ["next"]
        waiter.let_go.set()


def test_a_restarted_daemon_knows_who_has_it_and_who_was_before_whom(queue):
    kept = queue()
    order = []
    with holder("has it"):
        waiters = []
        for name in ("first", "second"):
            waiters.append(Waiter(name, order))
            until(lambda name=name: name in waiting())
        kept.end()
        kept.start()
        until(lambda: sorted(waiting()) == ["first", "second"])
        assert holding() == ["has it"] and order == []
    until(lambda: order == ["first"])
    waiters[0].let_go.set()
    until(lambda: order == ["first", "second"])
    kept.end()
    kept.start()  # while `second` has it
    assert holding() == ["second"]
    waiters[1].let_go.set()
    until(lambda: holding() == [])


def test_a_daemon_that_does_not_answer_costs_a_sentence_and_no_check(queue, monkeypatch):
    kept = queue()
    monkeypatch.setattr(client, "SILENT_S", 0.5)
    monkeypatch.setattr(client, "RETRY_S", 1.0)
    kept.process.send_signal(signal.SIGSTOP)
    said = []
    with client.turn("gpu", said.append):
        pass
    assert said == ["The queue for the GPU does not answer; going on without a turn."]


def test_a_socket_that_nobody_keeps_is_waited_for_once(tmp_path, monkeypatch):
    """A daemon that was killed leaves its socket: the first check waits for it to be restarted, those after it do not."""
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "q.sock"))
    left.close()
    monkeypatch.setenv("DCPLAB_GPU_QUEUE", str(tmp_path / "q.sock"))
    monkeypatch.setattr(client, "RETRY_S", 0.5)
    said, tries = [], []
    connect = client._connect
    monkeypatch.setattr(client, "_connect", lambda *a, **k: tries.append(1) or connect(*a, **k))
    with client.turn("gpu", said.append):
        waited = len(tries)
    with client.turn("gpu", said.append):
        pass
    assert waited > 1 and len(tries) == waited
    assert said == ["The queue for the GPU does not answer; going on without a turn."] * 2


def test_a_daemon_that_is_told_to_end_leaves_no_socket(queue):
    kept = queue()
    kept.end(signal.SIGTERM)
    assert not kept.path.exists() and kept.process.returncode == 0


def test_without_a_class_one_has_a_queue_of_ones_own_that_ends(tmp_path, monkeypatch):
    monkeypatch.delenv("DCPLAB_GPU_QUEUE", raising=False)
    monkeypatch.setattr(client, "CLASS", tmp_path / "none")
    monkeypatch.setattr(client.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(client, "IDLE_S", 1.0)
    monkeypatch.setenv("DCPLAB_GPU_TURNS", "2")
    with client.turn("gpu"), client.turn("gpu"):
        assert len(client.status()["holders"]) == 2
        folder = tmp_path / f"dcplab-{os.getuid()}"
        assert folder.stat().st_mode & 0o777 == 0o700
    until(lambda: not (folder / "gpu-queue.sock").exists())


def test_a_folder_of_somebody_elses_is_not_used(tmp_path, monkeypatch):
    """Who makes it first could keep everybody waiting; a check goes on without a turn instead."""
    monkeypatch.delenv("DCPLAB_GPU_QUEUE", raising=False)
    monkeypatch.setattr(client, "CLASS", tmp_path / "none")
    monkeypatch.setattr(client.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(client, "RETRY_S", 0.0)
    (tmp_path / f"dcplab-{os.getuid()}").mkdir(mode=0o777)
    (tmp_path / f"dcplab-{os.getuid()}").chmod(0o777)
    said = []
    with client.turn("gpu", said.append):
        pass
    assert said == ["The queue for the GPU does not answer; going on without a turn."]


NONSENSE = [b"\n", b"[]\n", b"{}\n", b"x" * 5000 + b"\n", b'{"ask": "turn", "id": [1], "what": "\x1b[2J"}\n', b""]


@pytest.mark.parametrize("line", NONSENSE)
def test_nonsense_costs_nobody_anything(queue, line):
    kept = queue()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.connect(str(kept.path))
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        until(lambda: client.status()["holders"] == [])
    with client.turn("gpu"):
        pass
    assert kept.process.poll() is None


class Hears:
    """Stands where a client's connection would, and reads at once."""

    def __init__(self):
        self.transport, self.lines = self, []

    def get_write_buffer_size(self):
        return 0

    def is_closing(self):
        return False

    def write(self, line):
        self.lines.append(json.loads(line))


def test_a_user_who_asks_for_many_turns_keeps_nobody_waiting_for_more_than_one(tmp_path):
    from dcplab.sandbox.gpu_queue.daemon import Queue, QueueRules, Ticket

    queue = Queue(QueueRules(turns=1), tmp_path / "kept")
    came = [("flood", 1, n) for n in range(100)] + [("ann", 2, 0), ("bob", 3, 0), ("ann", 2, 1)]
    for who, uid, n in came:
        queue.come(Ticket(f"{who} {n}", uid, os.getpid(), "0 check", writer=Hears()))
        queue.advance()
    order = []
    while queue.tickets:
        queue.tell()
        waiting = queue.in_turn()
        assert [one.writer.lines[-1]["before"] for one in waiting] == list(range(len(waiting)))
        [holder] = [one for one in queue.tickets if one.holds]
        order.append(holder.id)
        queue.leave(holder)
        queue.advance()
    assert order[:6] == ["flood 0", "flood 1", "ann 0", "bob 0", "flood 2", "ann 1"]
    assert [one for one in order if "flood" in one] == [f"flood {n}" for n in range(100)], "in the order of their coming"


def test_what_a_holder_says_on_and_on_is_not_kept(queue):
    import psutil

    kept = queue()
    daemon = psutil.Process(kept.process.pid)
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.connect(str(kept.path))
        connection.sendall(b'{"ask": "turn", "id": "a", "devices": "0"}\n')
        until(lambda: client.status()["holders"])
        before = daemon.memory_info().rss
        for _ in range(64):
            connection.sendall(b"x" * (1 << 20))
        assert daemon.memory_info().rss < before + (16 << 20)
    with client.turn("gpu"):
        pass


def test_a_learner_does_not_decide_how_many_turns_a_class_has(queue, monkeypatch):
    queue("--turns", "2")
    monkeypatch.setenv("DCPLAB_GPU_TURNS", "9")
    with client.turn("gpu"):
        assert client.status()["turns"] == 2


def test_turns_that_are_no_number_are_refused(monkeypatch):
    monkeypatch.setenv("DCPLAB_GPU_TURNS", "many")
    with pytest.raises(CourseError, match="DCPLAB_GPU_TURNS is 'many'"), client.turn("gpu"):
        pass


def test_on_a_cpu_nobody_waits(monkeypatch):
    monkeypatch.setattr(client, "_wait", lambda *_: pytest.fail("it asked for a turn"))
    with client.turn("cpu"):
        pass
