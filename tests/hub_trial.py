"""A class at a real hub, by its HTTP and its websockets: everybody logs in at once and checks; one loops, one eats memory, one
starts processes, one kernel is killed, the hub is restarted. Says what it took and what of it harmed somebody else.

    python tests/hub_trial.py http://127.0.0.1:8000 passwords.csv

As root, with the hub up; passwords.csv is username,password. Not a part of the tests: it needs root, accounts and JupyterHub.
workshop/README.md has what it said.
"""

from __future__ import annotations

import csv
import json
import statistics
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
import websocket

SOLVED = "from dcplab import lab\ndef owner_rank(loc, dcp_size):\n    return loc % dcp_size\n"
CHECK = "import time; _t = time.time(); _r = lab.check('1a'); print(_r.outcome, round(time.time() - _t, 2))"
EATS = "x = []\nwhile True: x.append(bytearray(1 << 28)); x[-1][::4096] = b'1' * (1 << 16)"
FORKS = """
import subprocess
n = 0
try:
    for n in range(9999): subprocess.Popen(["sleep", "60"])
except OSError: pass
print(n)
"""


class Learner:
    """One browser: its cookies, its server, its kernel."""

    def __init__(self, url: str, name: str, password: str):
        self.url, self.name, self.password, self.web = url, name, password, requests.Session()
        self.base = f"{url}/user/{name}"

    def login(self) -> float:
        """Log in and wait for the server. Returns the seconds."""
        began = time.monotonic()
        self.web.get(f"{self.url}/hub/login")
        given = {"username": self.name, "password": self.password, "_xsrf": self.web.cookies["_xsrf"]}
        answer = self.web.post(f"{self.url}/hub/login", data=given, allow_redirects=False)
        assert answer.status_code == 302, (self.name, answer.status_code)
        self.web.get(f"{self.url}/hub/spawn/{self.name}", allow_redirects=False)
        while not self._at_their_server():
            assert time.monotonic() - began < 300, f"{self.name} has no server"
            time.sleep(0.5)
        return time.monotonic() - began

    def _at_their_server(self) -> bool:
        """The server's page, after the hub has logged them in to it; until then there is a page of the hub's."""
        page = self.web.get(f"{self.base}/lab")
        return page.status_code == 200 and page.url.startswith(f"{self.base}/lab")

    def start(self) -> None:
        cookies = {c.name: c.value for c in self.web.cookies if c.path.startswith(f"/user/{self.name}")}
        answer = self.web.post(f"{self.base}/api/kernels", json={}, headers={"X-XSRFToken": cookies["_xsrf"]})
        assert answer.status_code == 201, (self.name, answer.text)
        self.kernel = answer.json()["id"]
        self.connect()

    def connect(self) -> None:
        words = "; ".join(f"{c.name}={c.value}" for c in self.web.cookies if f"/user/{self.name}/".startswith(c.path))
        path = f"{self.base}/api/kernels/{self.kernel}/channels".replace("http", "ws", 1)
        self.socket = websocket.create_connection(path, cookie=words, timeout=300)

    def ask(self, code: str, wait: bool = True) -> str:
        """Run code in the kernel. Returns what it printed, with its error if there was one."""
        number = uuid.uuid4().hex
        header = {"msg_id": number, "msg_type": "execute_request", "username": self.name, "session": number, "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self.socket.send(json.dumps(message))
        said = ""
        while wait:
            told = json.loads(self.socket.recv())
            kind, of = told["msg_type"], told["parent_header"].get("msg_id")
            if kind == "status" and told["content"]["execution_state"] in ("restarting", "dead"):
                return said + "KERNEL DIED"
            if of != number:
                continue
            said += told["content"].get("text", "") if kind == "stream" else ""
            said += told["content"].get("ename", "") if kind == "error" else ""
            if kind == "status" and told["content"]["execution_state"] == "idle":
                break
        return said


def main(url: str, table: str) -> None:
    people = [Learner(url, row["username"], row["password"]) for row in csv.DictReader(Path(table).open())]
    with ThreadPoolExecutor(len(people)) as all_at_once:
        took = list(all_at_once.map(Learner.login, people))
        print(f"{len(people)} logged in at one moment; ready after {statistics.median(took):.0f} s, the last {max(took):.0f} s")
        list(all_at_once.map(Learner.start, people))
        shown = people[0].web.get(f"{people[0].base}/api/contents/").json()["content"]
        print("in the file browser:", ", ".join(sorted(one["name"] for one in shown)))
        began = time.monotonic()
        list(all_at_once.map(lambda one: one.ask(f"MARK = {one.name!r}\n{SOLVED}"), people))
        print(f"everybody imported the course within {time.monotonic() - began:.0f} s")
        _checks("first check, everybody at one moment", people, all_at_once)
        _checks("second check, everybody at one moment", people, all_at_once)
        print("memory a learner takes (cgroup, MiB):", _memory(people))

        loops, eats, forks, killed, *others = people
        loops.ask("while True: pass", wait=False)
        print("one eats memory:", eats.ask(EATS))
        print("one starts processes, got so far as:", forks.ask(FORKS).strip())
        pid = int(killed.ask("import os; print(os.getpid())"))
        subprocess.run(["kill", "-9", str(pid)], check=True)
        _checks("the others' check beside these", others, all_at_once)
    print("homes that others can read:", [o.name for o in others if oct(Path(f"/home/{o.name}").stat().st_mode)[-2:] != "00"])
    subprocess.run([sys.executable, "-m", "dcplab", "workshop", "up"], check=True)
    again = [one for one in others if _still(one)]
    print(f"after a restart of the hub {len(again)} of {len(others)} kernels still know their variables")


def _checks(what: str, people: list[Learner], pool: ThreadPoolExecutor) -> None:
    said = [line.split() for line in pool.map(lambda one: one.ask(CHECK).strip().splitlines()[-1], people)]
    times = sorted(float(seconds) for _, seconds in said)
    passed = sum(outcome == "passed" for outcome, _ in said)
    p95 = times[min(len(times) - 1, round(0.95 * (len(times) - 1)))]
    print(f"{what}: median {statistics.median(times):.1f} s, p95 {p95:.1f} s, {passed} of {len(people)} passed")


def _memory(people: list[Learner]) -> list[int]:
    found = []
    for one in people:
        for place in ("/sys/fs/cgroup/memory/dcplab-hub", "/sys/fs/cgroup/dcplab-hub"):
            for name in ("memory.usage_in_bytes", "memory.current"):
                if (file := Path(place, f"user-{one.name}", name)).exists():
                    found.append(int(file.read_text()) >> 20)
    return found


def _still(one: Learner) -> bool:
    one.socket.close()
    one.connect()
    return one.name in one.ask("print(MARK)")


if __name__ == "__main__":
    main(*sys.argv[1:])
