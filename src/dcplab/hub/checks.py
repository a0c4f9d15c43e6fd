"""Says what a machine lacks for a hub, before anybody comes. Changes nothing."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dcplab import paths
from dcplab.hub import accounts, limits, quota, service
from dcplab.hub.plan import Plan, local

JUPYTERHUB, PROXY = "6.1.1", "5.3.0"  # the versions that were tried together
# What of a checkout a learner could read solutions, oracles and banks from.
OPEN_TO_NOBODY = ("solutions", "src", "kernels", "tests", "bench", "docs", ".git")
HOME_BYTES = 300 << 20  # a checkout with its progress, backups and notebooks


@dataclass(frozen=True)
class Need:
    """``needed``: without it the hub does not start."""

    name: str
    ok: bool
    says: str
    needed: bool = True


def look(plan: Plan) -> Iterator[Need]:
    root = os.getuid() == 0
    yield Need("root", root, "the hub starts servers as the learners" if root else "run this as root")
    yield _package()
    yield _proxy()
    yield from _ports(plan)
    yield _python(plan)
    yield _course(plan)
    yield from _closed(plan)
    yield from _accounts(plan)
    yield _disk(plan)
    yield _memory(plan)
    yield _limits()
    yield _quota(plan)
    yield _transport(plan)
    yield _gpu()


def _package() -> Need:
    how = f"uv pip install -p {sys.prefix} jupyterhub=={JUPYTERHUB}"
    try:
        version = importlib.metadata.version("jupyterhub")
    except importlib.metadata.PackageNotFoundError:
        return Need("JupyterHub", False, f"is not in this environment: {how}")
    return Need("JupyterHub", True, version if version == JUPYTERHUB else f"{version}; {JUPYTERHUB} was tried")


def _proxy() -> Need:
    found = shutil.which("configurable-http-proxy", path=service.search_path())
    how = f"npm install --prefix {service.node_folder()} configurable-http-proxy@{PROXY}"
    return Need("proxy", bool(found), found or how)


def _ports(plan: Plan) -> Iterator[Need]:
    mine = service.running()
    for port, address in ((plan.port, plan.address), (plan.port + 1, "127.0.0.1"), (plan.port + 81, "127.0.0.1")):
        why = None if mine else _taken(address, port)
        yield Need(f"port {port}", why is None, why or ("this hub has it" if mine else f"free on {address}"))


def _taken(address: str, port: int) -> str | None:
    try:
        family, _, _, _, where = socket.getaddrinfo(address or "0.0.0.0", port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _python(plan: Plan) -> Need:
    """Run the environment's Python as nobody: one below /root looks well to root alone."""
    if os.getuid() != 0:
        return Need("Python for learners", False, "only root can try it as somebody else")
    code = "import dcplab, jupyterlab" + (", jupyterhub, torch" if plan.closed else "")
    path = str(plan.book / "src") if plan.closed else paths.python_path()
    try:
        done = subprocess.run(
            [plan.python, "-c", code], user=65534, group=65534, extra_groups=[], cwd="/", capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": path, "HOME": "/nonexistent"}, timeout=120,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return Need("Python for learners", False, f"{plan.python} cannot be run by others ({error})")
    last = done.stderr.strip().splitlines()[-1:] or [""]
    return Need("Python for learners", done.returncode == 0, plan.python if done.returncode == 0 else last[0])


def _course(plan: Plan) -> Need:
    place = plan.book
    if not (place / ".git").exists():
        return Need("course", False, f"{place} is no git checkout: learners' own are cloned from it")
    readable = all(os.stat(folder).st_mode & 0o005 == 0o005 for folder in (place, *place.parents))
    says = "can be read by everybody" if readable else "lies where learners cannot read: /srv/dcplab is a good place"
    return Need("course", readable, f"{place} {says}")


def _closed(plan: Plan) -> Iterator[Need]:
    """Check a closed book: its service must have an account, and nobody else may read the course."""
    if not plan.closed:
        return
    found = accounts.account(plan.grader)
    yield Need("grader", bool(found), plan.grader if found else f"useradd --system --create-home {plan.grader}")
    seen = exposed(paths.root())
    close = f"chgrp {plan.grader} {paths.root()} && chmod 750 {paths.root()}"
    yield Need("closed", not seen, f"everybody can read {', '.join(seen)}: {close}" if seen else "nobody else reads the course")


def exposed(course: Path) -> list[str]:
    """Return what of a course everybody may read: each is open, and so is each folder above it."""
    above = all(folder.stat().st_mode & 0o001 for folder in (course.resolve(), *course.resolve().parents))
    return [name for name in OPEN_TO_NOBODY if above and (course / name).exists() and (course / name).stat().st_mode & 0o004]


def _accounts(plan: Plan) -> Iterator[Need]:
    known = [found for name in plan.names if (found := accounts.account(name))]
    says = f"{len(known)} are there, {len(plan.names) - len(known)} will be made" if plan.names else "nobody is named: --users"
    yield Need("accounts", bool(plan.names), says)
    homes = [Path(one.pw_dir) for one in known]
    if seen := sum(home.exists() and bool(home.stat().st_mode & 0o077) for home in homes):
        yield Need("homes", True, f"others may look into {seen} of them; `up` makes them mode 700", needed=False)


def _disk(plan: Plan) -> Need:
    """Check the room for checkouts to come: a hub whose disk one filled can be started again."""
    there = [found for name in plan.names if (found := accounts.account(name)) and (Path(found.pw_dir) / "course").exists()]
    free, needed = shutil.disk_usage(_home(plan)).free, HOME_BYTES * (len(plan.names) - len(there))
    return Need("disk", free >= needed, f"{free / 1e9:.0f} GB free for homes, {needed / 1e9:.1f} needed")


def _memory(plan: Plan) -> Need:
    total, each = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), plan.memory_bytes
    says = f"{total / (1 << 30):.0f} GiB, {each / (1 << 30):g} a learner: {int(total // each)} may use all of theirs at a time"
    return Need("memory", True, says, needed=False)


def _limits() -> Need:
    found = limits.available()
    says = f"control groups hold each learner's {', '.join(found)}" if found else "no control groups: one may take all memory"
    return Need("limits", bool(found), says, needed=False)


def _quota(plan: Plan) -> Need:
    """Say what holds a learner's files: the kernel, where the homes' file system counts by user, else the hub's looking."""
    home, asked = _home(plan), f"{plan.disk_bytes / (1 << 30):g} GiB a learner" if plan.disk_bytes else "no limit (--disk GIB)"
    if quota.counted(home):
        return Need("quota", bool(plan.disk_bytes), f"{asked}, by the kernel", needed=False)
    how = f"{quota.mount_of(home)} counts no files by user (quotas, `apt-get install quota`), so the hub looks every second"
    return Need("quota", False, f"{asked}: {how}", needed=False)


def _home(plan: Plan) -> Path:
    """Return where learners' homes lie: the first that is there, else where new ones are made."""
    known = [Path(found.pw_dir) for name in plan.names if (found := accounts.account(name))]
    return next((home for home in (*known, Path("/home")) if home.exists()), Path("/"))


def _transport(plan: Plan) -> Need:
    if plan.tls_cert:
        return Need("address", True, f"{plan.url}, with TLS")
    if local(plan.address):
        return Need("address", True, f"{plan.url}: this machine alone, for a proxy with TLS (workshop/README.md)")
    return Need("address", False, f"{plan.url}: passwords go in the clear", needed=False)


def _gpu() -> Need:
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20)
        cards = len(done.stdout.splitlines()) if done.returncode == 0 else 0
    except (OSError, subprocess.TimeoutExpired):
        cards = 0
    return Need("GPU", bool(cards), f"{cards} for all" if cards else "none: checks run on CPUs", needed=False)
