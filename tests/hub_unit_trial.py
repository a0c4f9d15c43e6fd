"""The hub's unit and its learners' control groups where systemd runs: is one held, and does one outlive the unit's restart?

    python tests/hub_unit_trial.py        as root; makes a unit `dcplab-hub-trial` of the hub's own text, and removes it

In the place of JupyterHub a few lines start learners as the hub's spawner does (`limits.place`, `limits.enter`). Each line of
the output is a thing that was looked at, "ok" or "FAILED"; the exit status says whether any failed. Not a part of the tests:
those run where there is no systemd.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import time
from pathlib import Path

from dcplab.hub import limits, service
from dcplab.hub.plan import Plan

UNIT = Path("/run/systemd/system/dcplab-hub-trial.service")
STATE = Path("/run/dcplab-hub-trial")
LEARNER = 64600
PLAN = Plan(memory_bytes=128 << 20, processes=20, cores=0.5)
WORKS = "import time; time.sleep(600)"
EATS = "x = []\nwhile True: x.append(bytearray(1 << 22)); x[-1][::4096] = b'1' * 1024"
FORKS = """
import os, pathlib, time
n = 0
try:
    while n < 100:
        if os.fork() == 0: time.sleep(30); os._exit(0)
        n += 1
except OSError: pass
print(n, flush=True)
"""


def serve() -> None:
    """Be the hub: start learners once, then sleep. Their processor time is not waited for."""
    groups = limits.prepare()
    for name, source in (("works", WORKS), ("eats", EATS), ("forks", FORKS)):
        pid = STATE / f"{name}.pid"
        if pid.exists():
            continue
        folders = limits.place(groups, f"trial-{name}", PLAN)
        with (STATE / f"{name}.out").open("w") as out:
            child = subprocess.Popen([sys.executable, "-c", source], stdout=out, preexec_fn=functools.partial(become, folders))
        pid.write_text(str(child.pid))
        if name == "eats":
            (STATE / "eats.rc").write_text(str(child.wait()))
    (STATE / "ready").touch()
    time.sleep(3600)


def become(folders: list[Path]) -> None:
    """Enter the groups as root, then be a learner: the order of the hub's spawner."""
    limits.enter(folders)
    os.setgroups([])
    os.setgid(LEARNER)
    os.setuid(LEARNER)


def systemctl(*words: str) -> str:
    return subprocess.run(["systemctl", *words], capture_output=True, text=True).stdout.strip()


def until(holds, seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.5)
    return bool(holds())


def main() -> int:
    failed = []

    def look(what: str, holds: bool) -> None:
        print("ok    " if holds else "FAILED", what, flush=True)
        failed.extend([what] if not holds else [])

    STATE.mkdir(exist_ok=True)
    text = service.unit_text().replace(" ".join(service.command()), f"{sys.executable} {Path(__file__).resolve()} serve")
    UNIT.write_text(text.replace(f"WorkingDirectory={service.plan.folder()}", f"WorkingDirectory={STATE}"), encoding="utf-8")
    verified = subprocess.run(["systemd-analyze", "verify", str(UNIT)], capture_output=True, text=True)
    look(f"systemd-analyze verify: {verified.stderr.strip() or 'says nothing'}", verified.returncode == 0)
    systemctl("daemon-reload")
    try:
        systemctl("start", UNIT.stem)
        look("the unit starts, and learners in it", until((STATE / "ready").exists))
        works = int((STATE / "works.pid").read_text())
        group = Path(f"/proc/{works}/cgroup").read_text().strip()
        look(f"a learner's group is outside the unit's: {group.splitlines()[0]}", UNIT.name not in group)
        look("who eats memory is ended at 128 MiB", (STATE / "eats.rc").read_text() == "-9")
        look("who starts processes gets fewer than 20", until(lambda: (STATE / "forks.out").read_text().strip() != ""))
        look(f"    it got {(STATE / 'forks.out').read_text().strip()}", int((STATE / "forks.out").read_text() or 99) < 20)
        for n in range(2):
            before = systemctl("show", "-p", "MainPID", "--value", UNIT.stem)
            systemctl("restart", UNIT.stem)
            again = until(lambda old=before: systemctl("show", "-p", "MainPID", "--value", UNIT.stem) not in ("0", old), 60)
            time.sleep(3)
            look(f"restart {n + 1}: the unit is up again", again and systemctl("is-active", UNIT.stem) == "active")
            look(f"restart {n + 1}: the learner goes on", Path(f"/proc/{works}").exists())
        os.kill(int(systemctl("show", "-p", "MainPID", "--value", UNIT.stem)), 9)
        look(
            "killed with SIGKILL, the unit comes back by itself",
            until(lambda: systemctl("is-active", UNIT.stem) == "active", 60),
        )
        systemctl("stop", UNIT.stem)
        look("stopped: the learner goes on", Path(f"/proc/{works}").exists())
    finally:
        systemctl("stop", UNIT.stem)
        for group in Path("/sys/fs/cgroup").glob("dcplab-hub/user-trial-*"):
            for pid in (group / "cgroup.procs").read_text().split():
                os.kill(int(pid), 9)
            until(lambda of=group: not (of / "cgroup.procs").read_text(), 10)
            group.rmdir()
        UNIT.unlink(missing_ok=True)
        systemctl("daemon-reload")
        subprocess.run(["rm", "-r", str(STATE)], check=False)
    return bool(failed)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else sys.exit(main())
