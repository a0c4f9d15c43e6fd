"""A class's day at a real hub, over TLS: thirty learners; one loops, one eats memory, one fills the disk, one is killed.

As root, with what `./course workshop check` asks for (JupyterHub, its proxy, a Python that others may run). It makes accounts
and a small disk for their homes, starts a hub with a certificate made here, has `--real` learners log in and check in kernels
of their own, the others of the thirty ask the grading service and take turns in the hub's queue, and ends what it started:
accounts, disk, hub. Says what was seen, in numbers; ends with 1 if somebody else was harmed.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import pwd
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
import workshop_clients
from workshop_learner import Learner

from dcplab import paths
from dcplab.hub import plan

PORT = 18300
FIRST_UID = 64500  # of clients without an account
NAME, GRADER = "dcplab-day-{:02d}", "dcplab-day-grader"
SOLVED = {
    "1a": "from dcplab import lab\ndef owner_rank(loc, dcp_size):\n    return loc % dcp_size\n",
    "1b": "def local_row(loc, dcp_size):\n    return loc // dcp_size\n",
}
CHECK = "import time; _t = time.time(); _r = lab.check({!r}); print('\\nCHECKED', _r.outcome, round(time.time() - _t, 3))"
LOOPS = "while True: pass"
EATS = "x = []\nwhile True: x.append(bytearray(1 << 28)); x[-1][::4096] = b'1' * (1 << 16)"
FILLS = """
import os
n = 0
try:
    with open(os.path.expanduser("~/big"), "wb", buffering=0) as out:
        for size in (1 << 22, 1 << 12, 1):
            try:
                while True: n += out.write(bytes(size))
            except OSError as error: why = error.strerror
finally: print(f"{why}, after {n >> 20} MiB")
"""


class Day:
    """What was seen: lines for people, ``figures`` for machines, ``harmed`` for the exit status."""

    def __init__(self) -> None:
        self.figures: dict[str, object] = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
        self.harmed: list[str] = []

    def says(self, what: str, seen: object) -> None:
        self.figures[what] = seen
        print(f"{what}: {seen if not isinstance(seen, list) else ', '.join(map(str, seen))}", flush=True)

    def times(self, what: str, seconds: list[float]) -> None:
        ordered = sorted(seconds) or [float("nan")]
        p95 = ordered[round(0.95 * (len(ordered) - 1))]
        self.says(what, f"median {statistics.median(ordered):.1f} s, p95 {p95:.1f} s, of {len(seconds)}")

    def must(self, holds: bool, what: str) -> None:
        if not holds:
            self.harmed.append(what)
            print(f"HARMED: {what}", flush=True)


def course(*words: str, env: dict[str, str], refused: bool = False) -> str:
    """Run a command of the course. Returns what it said."""
    done = subprocess.run([sys.executable, "-m", "dcplab", *words], env=env, cwd="/", capture_output=True, text=True)
    if bool(done.returncode) != refused:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    return (done.stdout + done.stderr).strip()


@contextlib.contextmanager
def small_disk(folder: Path, mib: int, keep: contextlib.ExitStack) -> Iterator[str]:
    """Mount a file system of its own, with quotas where the kernel has them. Yields which."""
    folder.mkdir(mode=0o755)
    image = folder.with_suffix(".img")
    with image.open("wb") as f:
        f.truncate(mib << 20)
    try:
        for kind, makes, options in (
            ("ext4 with quotas", ["mkfs.ext4", "-q", "-O", "quota", "-E", "quotatype=usrquota", image], "loop,usrquota"),
            ("ext4 without quotas", ["mkfs.ext4", "-q", "-F", image], "loop"),
            ("tmpfs", ["true"], f"size={mib}m,mode=755"),
        ):
            what = ["-t", "tmpfs", "none"] if kind == "tmpfs" else [image]
            if all(
                not subprocess.run(w, capture_output=True).returncode for w in (makes, ["mount", "-o", options, *what, folder])
            ):
                break
        yield kind
    finally:
        subprocess.run(["umount", "--lazy", folder], check=False)
        image.unlink()


@contextlib.contextmanager
def accounts(names: list[str], homes: Path) -> Iterator[None]:
    for name in (*names, GRADER):
        subprocess.run(["useradd", "--create-home", "--home-dir", homes / name, "--shell", "/bin/bash", name], check=True)
    try:
        yield
    finally:
        for name in (*names, GRADER):
            subprocess.run(["pkill", "-KILL", "-u", name], check=False)  # of this one account, which was made here
            subprocess.run(["userdel", "--remove", name], check=False, capture_output=True)


def certificate(folder: Path) -> tuple[str, str]:
    """Make a certificate for this machine that signs itself."""
    made = str(folder / "cert.pem"), str(folder / "key.pem")
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        names,
    ]
    subprocess.run([*words, "-out", made[0], "-keyout", made[1]], check=True, capture_output=True)
    return made


def checked(people: list[Learner], part: str, pool: ThreadPoolExecutor) -> list[tuple[str, str, float]]:
    """Have everybody check at one moment. Returns of each what was said, the outcome, and the seconds."""
    found = []
    for said in pool.map(lambda one: one.ask(CHECK.format(part)), people):
        line = next((line for line in said.splitlines() if line.startswith("CHECKED")), "CHECKED none nan")
        found.append((said, line.split()[1], float(line.split()[2])))
    return found


def group_mib(name: str) -> int | None:
    """Return the memory that a learner's control group holds now, of version 1 or 2."""
    root = Path("/sys/fs/cgroup")
    for pattern in ("memory/dcplab-hub/user-{}/memory.usage_in_bytes", "**/user-{}/memory.current"):
        for file in root.glob(pattern.format(name)):
            return int(file.read_text()) >> 20
    return None


@contextlib.contextmanager
def clients(kind: str, count: int, seconds: float, env: dict[str, str]) -> Iterator[Callable[[], list[tuple]]]:
    words = [sys.executable, workshop_clients.__file__, kind, str(count), str(seconds), str(FIRST_UID)]
    process = subprocess.Popen(words, env=env, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def told() -> list[tuple]:
        out, err = process.communicate(timeout=seconds + workshop_clients.WAITS_S)
        if process.returncode:
            raise RuntimeError(err[-2000:])
        return json.loads(out)

    try:
        yield told
    finally:
        process.kill()


def day(args: argparse.Namespace, seen: Day, keep: contextlib.ExitStack, place: Path) -> None:
    place.chmod(0o755)
    state, homes = place / "hub", place / "homes"
    state.mkdir(mode=0o700)
    (state / "node").symlink_to(plan.STATE / "node")
    names = [NAME.format(n) for n in range(args.real)]
    seen.says("homes lie on", f"{keep.enter_context(small_disk(homes, args.disk, keep))}, {args.disk} MiB")
    keep.enter_context(accounts([*names, "dcplab-day-late"], homes))
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": paths.python_path(), "DCPLAB_HUB_STATE": str(state), "HOME": "/root"}
    env |= {"DCPLAB_MODE": "cpu"}

    words = {name: secrets.token_urlsafe(9) for name in (*names, "dcplab-day-late")}
    with (place / "users.csv").open("w", newline="") as f:
        csv.writer(f).writerows([("username", "password"), *((n, words[n]) for n in names)])
    with (place / "late.csv").open("w", newline="") as f:
        csv.writer(f).writerows([("username", "password"), ("dcplab-day-late", words["dcplab-day-late"])])
    cert, key = certificate(place)
    up = ["workshop", "up", "--users", str(place / "users.csv"), "--port", str(PORT), "--memory", str(args.memory)]
    refusal = course(*up, "--address", "0.0.0.0", env=env, refused=True)
    seen.says("plain HTTP on 0.0.0.0", refusal.splitlines()[-1])
    up += [*args.more, "--address", "0.0.0.0", "--tls-cert", cert, "--tls-key", key]
    began = time.monotonic()
    keep.callback(lambda: course("workshop", "down", env=env))
    course(*up, env=env)
    seen.says("the hub answers after", f"{time.monotonic() - began:.0f} s")

    url = f"https://localhost:{PORT}"
    people = [Learner(url, name, words[name], cert) for name in names]
    with contextlib.suppress(requests.exceptions.SSLError):
        requests.get(f"{url}/hub/login", timeout=10)
        seen.must(False, "a browser that does not know the certificate was let in without a word")
    pool = keep.enter_context(ThreadPoolExecutor(len(people)))
    took = list(pool.map(Learner.login, people))
    seen.says(f"{len(people)} log in at one moment", f"ready after {statistics.median(took):.0f} s, the last {max(took):.0f} s")
    list(pool.map(Learner.start, people))
    list(pool.map(lambda one: one.ask(f"MARK = {one.name!r}\n" + "".join(SOLVED.values())), people))
    first = checked(people, "1a", pool)
    seen.times("the first check of each, at one moment", [seconds for *_, seconds in first])
    seen.must(all(outcome == "passed" for _, outcome, _ in first), "not everybody's first check passed")
    kernel_part(people, pool, seen)
    seen.says("memory a learner after that, MiB", sorted(mib for name in names if (mib := group_mib(name))))

    service = keep.enter_context(grading_service(place, env))
    load = args.clients and args.seconds
    told = [
        keep.enter_context(clients("service", args.clients, args.seconds, service)) if load else list,
        keep.enter_context(clients("queue", args.clients, args.seconds, env)) if load else list,
    ]
    rounds = [one for _ in range(3) for one in checked(people, "1b", pool)]
    seen.times("a check beside the others' checks", [seconds for *_, seconds in rounds])
    seen.must(all(outcome == "passed" for _, outcome, _ in rounds), "a check beside the others' did not pass")
    others = harm(people, pool, seen, homes)
    full_disk(others, pool, seen, homes, Learner(url, "dcplab-day-late", words["dcplab-day-late"], cert), place, env)
    restart(others, up, env, seen)
    for what, of in zip(("service", "queue"), told, strict=True):
        clients_told(what, of(), seen)
    nothing_lost(names, homes, place, env, seen)


def kernel_part(people: list[Learner], pool: ThreadPoolExecutor, seen: Day) -> None:
    """Everybody solves 1h, the Triton kernel, with the course's own answer, and checks it."""
    from dcplab.course import catalog

    source = next(c.source for c in catalog.lab("01").cells if c.role == "answer" and c.part == "1h")
    list(pool.map(lambda one: one.ask("import torch, triton, triton.language as tl\n" + source), people))
    found = checked(people, "1h", pool)
    seen.times("the kernel part 1h of each, at one moment", [seconds for *_, seconds in found])
    seen.must(all(outcome == "passed" for _, outcome, _ in found), f"1h: {[outcome for _, outcome, _ in found]}")


@contextlib.contextmanager
def grading_service(place: Path, env: dict[str, str]) -> Iterator[dict[str, str]]:
    """Keep a service for a released book. Yields the environment of who asks it."""
    book, run = place / "book", place / "run"
    course("release", "--learners", str(book), env=env)
    words = ["workshop", "service", "--as", GRADER, "--socket", str(run / "checks.sock"), "--state", str(place / "service")]
    own = env | {"TMPDIR": "/tmp"}
    process = subprocess.Popen([sys.executable, "-m", "dcplab", *words], env=own, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout and process.stdout.readline().startswith("Checking at")
        yield env | {"PYTHONPATH": str(book / "src"), "DCPLAB_SERVICE": str(run / "checks.sock")}
    finally:
        process.terminate()
        process.wait(30)


def harm(people: list[Learner], pool: ThreadPoolExecutor, seen: Day, homes: Path) -> list[Learner]:
    """Have one loop, one eat memory, one fill the disk and kill one's kernel. Returns the others."""
    loops, eats, fills, killed, *others = people
    loops.ask(LOOPS, wait=False)
    seen.says("one eats memory", eats.ask(EATS))
    pid = int(killed.ask("import os; print(os.getpid())"))
    os.kill(pid, 9)
    beside = [one for _ in range(3) for one in checked(others, "1b", pool)]
    seen.times("the others' checks beside one that loops, one that eats memory and one killed", [s for *_, s in beside])
    seen.must(all(outcome == "passed" for _, outcome, _ in beside), "a check beside them did not pass")
    seen.says("one fills the disk", fills.ask(FILLS).strip())
    return others


def full_disk(
    others: list[Learner], pool: ThreadPoolExecutor, seen: Day, homes: Path, late: Learner, place: Path, env: dict
) -> None:
    """See what the others and a latecomer get while the disk is as full as one learner could make it, and after."""
    free = shutil.disk_usage(homes).free
    seen.says("free for the others then, MiB", free >> 20)
    before = [progress(homes / one.name) for one in others]
    beside = checked(others, "1a", pool)
    seen.says("the others' checks then", [outcome for _, outcome, _ in beside])
    said = sorted({line for text, *_ in beside for line in text.splitlines() if "rogress" in line})
    seen.says("what they read of their progress", said or ["nothing: it is kept"])
    seen.must(all(outcome == "passed" for _, outcome, _ in beside), "a check beside a full disk did not pass")
    for old, one in zip(before, others, strict=True):
        now = progress(homes / one.name)
        seen.must(all(now.get(part, 0) >= attempts for part, attempts in old.items()), f"{one.name} had {old}, has {now}")
    course("workshop", "add", "--users", str(place / "late.csv"), env=env)
    if free >> 20 < 100:
        seen.says("a latecomer on the full disk reads", late.refused())
        next(homes.glob("*/big")).unlink()
        list(checked(others, "1b", pool))
    late.login()
    seen.says("a latecomer, added while the hub ran", "has a server")


def progress(home: Path) -> dict[str, int]:
    """Return the attempts at each part that a learner's progress file holds."""
    known = json.loads((home / "course" / ".dcplab" / "progress.json").read_text())
    return {part: kept["attempts"] for parts in known["labs"].values() for part, kept in parts.items()}


def restart(others: list[Learner], up: list[str], env: dict[str, str], seen: Day) -> None:
    course(*up, env=env)
    know = []
    for one in others:
        one.socket.close()
        one.connect()
        know.append(one.name in one.ask("print(MARK)"))
    seen.says("kernels that know their variables after the hub's restart", f"{sum(know)} of {len(know)}")
    seen.must(all(know), "a kernel was lost")


def clients_told(kind: str, found: list[tuple], seen: Day) -> None:
    good = [one for one in found if one[1] == "works"]
    seen.times(f"{len({one[0] for one in good})} clients of the {kind}, beside five that mean harm", [one[3] for one in good])
    bad = sorted({one[4] for one in good} - {"passed"})
    seen.must(not bad, f"clients of the {kind} were told: {bad}")


def nothing_lost(names: list[str], homes: Path, place: Path, env: dict[str, str], seen: Day) -> None:
    kept = [progress(homes / name) for name in names]
    seen.must(all({"1a", "1b", "1h"} <= parts.keys() for parts in kept), f"progress files hold {kept}")
    open_homes = [name for name in names if Path(pwd.getpwnam(name).pw_dir).stat().st_mode & 0o077]
    seen.must(not open_homes, f"homes that others can read: {open_homes}")
    said = course("workshop", "collect", str(place / "class"), *names, "--homes", str(homes), env=env)
    taken = len(list((place / "class").rglob("*.ipynb")))
    seen.says("collected", f"{taken} notebooks of {len(names)} learners")
    seen.must(taken >= len(names), said)
    board = course("workshop", "board", str(homes), env=env)
    seen.must(all(name in board for name in names), "not everybody is on the board")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", type=int, default=6, metavar="N", help="learners with a server and a kernel, 5 or more (6)")
    parser.add_argument("--clients", type=int, default=24, metavar="N", help="learners who ask the service and the queue (24)")
    parser.add_argument("--seconds", type=float, default=240.0, metavar="S", help="for which these go on (240)")
    parser.add_argument("--disk", type=int, default=3000, metavar="MIB", help="of all homes together (3000)")
    parser.add_argument("--memory", type=float, default=4.0, metavar="GIB", help="of one learner (4)")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("more", nargs="*", metavar="OPTION", help="for `workshop up`, after --")
    args = parser.parse_args()
    if os.getuid():
        sys.exit("It makes accounts and a disk: run it as root.")
    if args.real < 5:
        sys.exit("--real is 5 or more: four come to harm, and somebody must be there to see it.")
    seen = Day()
    with contextlib.ExitStack() as keep:
        place = Path(keep.enter_context(tempfile.TemporaryDirectory(prefix="dcplab-day-")))
        try:
            day(args, seen, keep, place)
        except Exception:
            print("\n".join((place / "hub" / "hub.log").read_text().splitlines()[-25:]))
            raise
    seen.says("harmed", seen.harmed or ["nobody else"])
    if args.json:
        Path(args.json).write_text(json.dumps(seen.figures, indent=1) + "\n", encoding="utf-8")
    sys.exit(bool(seen.harmed))


if __name__ == "__main__":
    main()
