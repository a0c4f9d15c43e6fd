"""Whether learners get their server: all log in at one moment, again and again, while something goes wrong.

As root, with what `./course workshop check` asks for. Makes accounts and a hub on 127.0.0.1, and in every round has all log in
at one moment and one thing happen: nothing; the hub restarts after some seconds; a server is killed while it starts; somebody
else takes the port that a server was given. Who is shown a page that says no presses the button once more, as people do. Ends
with 1 if somebody had no server in time. Learners' servers are ended between the rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import random
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import requests
from workshop_day import Day, accounts, course
from workshop_learner import Learner

PORT = 18500
NAME = "dcplab-starts-{:02d}"
GIVES_UP_S = 600.0


def starting(names: list[str], seconds: float) -> psutil.Process | None:
    """Wait for a learner's server that has begun and does not listen yet. Returns the youngest."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for process in sorted(
            psutil.process_iter(["username", "cmdline", "create_time"]), key=lambda p: -p.info["create_time"]
        ):
            if process.info["username"] in names and any("jupyterhub.singleuser" in w for w in process.info["cmdline"] or ()):
                return process
        time.sleep(0.05)
    return None


def port_of(server: psutil.Process) -> int | None:
    """Return the port that a server was told to listen at."""
    with contextlib.suppress(psutil.Error, KeyError, ValueError):
        return int(server.environ()["JUPYTERHUB_SERVICE_URL"].split(":")[2].split("/")[0])
    return None


@contextlib.contextmanager
def nothing(names: list[str], up: Callable[[], None]) -> Iterator[None]:
    yield


@contextlib.contextmanager
def restart(names: list[str], up: Callable[[], None]) -> Iterator[None]:
    """Start the hub anew, from 0 to 15 s after they press."""
    turn = threading.Timer(random.uniform(0, 15), up)
    turn.start()
    yield
    turn.join()


@contextlib.contextmanager
def kill(names: list[str], up: Callable[[], None]) -> Iterator[None]:
    """End a server 11 s after it began, and before it answers: it is stopped until then."""

    def wait_and_kill() -> None:
        if server := starting(names, 60):
            with contextlib.suppress(psutil.Error):
                server.suspend()
                time.sleep(11)
                server.send_signal(signal.SIGKILL)

    yield from while_they_log_in(wait_and_kill)


@contextlib.contextmanager
def take_port(names: list[str], up: Callable[[], None]) -> Iterator[None]:
    """Listen at a server's port before it does, as any process may by chance."""

    def wait_and_take() -> None:
        server = starting(names, 60)
        if server and (port := port_of(server)):
            with socket.socket() as taken, contextlib.suppress(OSError):
                taken.bind(("127.0.0.1", port))
                taken.listen()
                time.sleep(30)

    yield from while_they_log_in(wait_and_take)


def while_they_log_in(what: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=what)
    thread.start()
    yield
    thread.join()


HAPPENS = {"nothing": nothing, "restart": restart, "kill": kill, "take_port": take_port}


def come_in(learner: Learner) -> tuple[float, int, str]:
    """Log in and press until there is a server. Returns seconds, how often they pressed, and the last page that said no."""
    began, pressed, no = time.monotonic(), 0, ""
    while time.monotonic() - began < GIVES_UP_S:
        try:
            pressed += 1
            learner.login()
            return time.monotonic() - began, pressed, no
        except (requests.ConnectionError, PermissionError, RuntimeError, TimeoutError, KeyError) as error:
            no = str(error)[:300]
            time.sleep(2)
            learner.web.cookies.clear()
    return float("inf"), pressed, no


def end_servers(names: list[str]) -> None:
    for process in psutil.process_iter(["username"]):
        if process.info["username"] in names:
            with contextlib.suppress(psutil.Error):
                process.kill()


def rounds(args: argparse.Namespace, seen: Day, keep: contextlib.ExitStack, place: Path) -> None:
    place.chmod(0o755)
    homes = place / "homes"
    homes.mkdir(mode=0o755)
    env = {**os.environ, "DCPLAB_HUB_STATE": str(place / "hub")}
    names = [NAME.format(n) for n in range(args.learners)]
    keep.enter_context(accounts(names, homes))
    words = {name: secrets.token_hex(8) for name in names}
    with (place / "users.csv").open("w", newline="") as f:
        csv.writer(f).writerows([("username", "password"), *words.items()])

    def up() -> None:
        course("workshop", "up", "--users", str(place / "users.csv"), "--port", str(PORT), env=env)

    keep.callback(lambda: course("workshop", "down", env=env))
    up()
    for number in range(args.rounds):
        kind = args.happens[number % len(args.happens)]
        people = [Learner(f"http://127.0.0.1:{PORT}", name, words[name], "") for name in names]
        with HAPPENS[kind](names, up), ThreadPoolExecutor(len(people)) as pool:
            found = list(pool.map(come_in, people))
        seconds = sorted(s for s, *_ in found)
        again = [f"pressed {n} times ({no})" for _, n, no in found if n > 1]
        shown = " ".join(f"{s:.0f}" for s in seconds)
        seen.says(f"round {number + 1}, {kind}: seconds of each", f"{shown} {'; '.join(sorted(set(again)))}".strip())
        seen.must(seconds[-1] < args.limit, f"{kind}: a learner had no server in {args.limit:g} s")
        strays = [p for p in psutil.process_iter(["username", "cmdline"]) if p.info["username"] in names]
        servers = [p.info["username"] for p in strays if any("jupyterhub.singleuser" in w for w in p.info["cmdline"] or ())]
        seen.must(len(servers) == len(set(servers)), f"{kind}: a learner has two servers")
        end_servers(names)
        time.sleep(1)
        course("workshop", "down", env=env)
        up()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", type=int, default=6, metavar="N", help="who log in at one moment (6)")
    parser.add_argument("--rounds", type=int, default=8, metavar="N", help="(8)")
    parser.add_argument("--limit", type=float, default=120.0, metavar="S", help="by which each has a server (120)")
    parser.add_argument("--happens", nargs="+", choices=HAPPENS, default=list(HAPPENS), help="what, in turn (all four)")
    args = parser.parse_args()
    if os.getuid():
        sys.exit("It makes accounts: run it as root.")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # what was made is taken away then, too
    seen = Day()
    with contextlib.ExitStack() as keep:
        place = Path(keep.enter_context(tempfile.TemporaryDirectory(prefix="dcplab-starts-")))
        try:
            rounds(args, seen, keep, place)
        except Exception:
            log = place / "hub" / "hub.log"
            print("\n".join(log.read_text().splitlines()[-25:]) if log.exists() else "no log")
            raise
        if seen.harmed:
            log = (place / "hub" / "hub.log").read_text().splitlines()
            print("\n".join(line for line in log if line[1:2] in "WEC" and " JupyterHub " in line)[-6000:])
    sys.exit(bool(seen.harmed))


if __name__ == "__main__":
    main()
