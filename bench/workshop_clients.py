"""Learners without a server of their own: each asks the grading service or the hub's queue, waits as a person does, asks again.

`python workshop_clients.py service|queue COUNT SECONDS FIRST_UID`, as root: each becomes a user of its own. For the service the
`dcplab` of a released book must be found, for the queue the course's. Some mean harm (`HARM`). Prints a JSON list at the end:
of each turn who, as what, when it began (seconds of the epoch), how long it took (seconds), what was told.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable

THINKS_S = (15.0, 30.0)  # between two checks of one learner
HELD_S = 0.3  # of a turn on the GPU
WAITS_S = 900.0  # past which an asker is given up
RIGHT = "def owner_rank(loc, dcp_size):\n    {}\n    return loc % dcp_size"
HARM = {
    "loops": "while True: pass",
    "eats memory": "held = [bytearray(1 << 28) for _ in range(64)]",
    "fills the disk": "open('here', 'wb').write(bytes(1 << 30))",
    "starts threads": "import threading, time; [threading.Thread(target=time.sleep, args=(60,)).start() for _ in range(5000)]",
    "ends its process": "import os; os.kill(os.getpid(), 9)",
}


def ask_service(way: str, number: int) -> str:
    from dcplab import remote

    told = remote.ask(
        {"of": ("call", ("name", "lab.check"), ["1a"], {"seed": number}), "history": [RIGHT.format(HARM.get(way, "pass"))]},
        note=lambda text: None,
    )
    return str(told["fields"]["outcome"])


def ask_queue(way: str, number: int) -> str:
    from dcplab.sandbox.gpu_queue import client

    with client.turn("gpu", what="1h"):
        if way == "ends its process":
            os.kill(os.getpid(), signal.SIGKILL)
        if way == "loops":
            os.kill(os.getpid(), signal.SIGSTOP)  # Ctrl-Z in the middle of a turn
        time.sleep(HELD_S)
    return "passed"


def learn(ask: Callable[[str, int], str], way: str, number: int, until: float) -> list[tuple]:
    """Ask until then. Returns what became of each turn."""
    dice, found = random.Random(number), []
    time.sleep(dice.uniform(0, THINKS_S[0]))
    while (began := time.time()) < until:
        try:
            told = ask(way, number)
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
        found.append((number, way, began, time.time() - began, told))
        time.sleep(dice.uniform(*THINKS_S))
    return found


def main(kind: str, count: int, seconds: float, first_uid: int) -> None:
    ask = {"service": ask_service, "queue": ask_queue}[kind]
    ways, until, running = [*HARM, *["works"] * count][:count], time.time() + seconds, []
    for number, way in enumerate(ways):
        read, write = os.pipe()
        if (pid := os.fork()) == 0:
            signal.alarm(int(seconds + WAITS_S))
            os.setgroups([])
            os.setgid(first_uid + number)
            os.setuid(first_uid + number)
            os.write(write, json.dumps(learn(ask, way, number, until)).encode())
            os._exit(0)
        os.close(write)
        running.append((pid, read, way))
    found = []
    for pid, read, way in running:
        if kind == "queue" and way == "loops":  # it is stopped until somebody ends it
            time.sleep(max(0.0, until - time.time()))
            os.kill(pid, signal.SIGKILL)
        with os.fdopen(read, "rb") as said:
            found += json.loads(said.read() or b"[]")
        os.waitpid(pid, 0)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
