"""Holds what a hub is to be, in one file that the command writes and the hub reads: while it runs, learners are added to it."""

from __future__ import annotations

import csv
import ipaddress
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from dcplab import files, paths
from dcplab.errors import CourseError

STATE = Path("/var/lib/dcplab-hub")  # the hub's database, secret and log; root's alone
NAME = re.compile(r"[a-z_][a-z0-9_-]{0,30}")  # what useradd takes
LEAST_MEMORY = 1 << 30  # bytes: a kernel that has loaded torch, with its server and the checks' (docs in workshop/README.md)


@dataclass(frozen=True)
class User:
    name: str
    password: str = ""  # "": made, if the account is new
    instructor: bool = False


@dataclass(frozen=True)
class Plan:
    """``memory_bytes``, ``processes``, ``cores``: of one learner, everything they run together. ``file_bytes``: of one file.
    ``disk_bytes``: of one learner, everything on the file system of their home.
    ``closed``: the folder of a closed book that learners clone in place of the course; ``grader``: the account that checks
    then, with ``hints`` of each part open."""

    learners: tuple[str, ...] = ()
    instructors: tuple[str, ...] = ()
    address: str = "127.0.0.1"
    port: int = 8000
    tls_cert: str = ""
    tls_key: str = ""
    memory_bytes: int = 4 << 30
    processes: int = 1024
    cores: float = 0.0  # 0: as many as there are
    file_bytes: int = 8 << 30
    disk_bytes: int = 0  # of all files; 0: not held
    gpu_turns: int = 1
    closed: str = ""
    grader: str = "dcplab-grader"
    hints: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)  # of every learner's kernel

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.learners, *self.instructors)

    @property
    def book(self) -> Path:
        """Return what learners clone: the closed book, or the course."""
        return Path(self.closed) if self.closed else paths.root()

    @property
    def python(self) -> str:
        """Return the Python of learners' servers. A closed book has its own: the course's leads to the course."""
        return str(self.book / ".venv" / "bin" / "python") if self.closed else sys.executable

    @property
    def url(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http{'s' * bool(self.tls_cert)}://{host}:{self.port}"

    def check(self, plain_http: bool = False) -> None:
        """Raise CourseError for a plan that no hub should follow."""
        for name in self.names:
            if not NAME.fullmatch(name):
                raise CourseError(f"{name!r} is no name for an account: small letters, digits, _ and -, at most 31.")
        if twice := {name for name in self.names if self.names.count(name) > 1}:
            raise CourseError(f"{', '.join(sorted(twice))} stands twice.")
        if not 1 <= self.port <= 65535 - 81:
            raise CourseError(f"port {self.port} cannot be used: the hub takes it, {self.port + 1} and {self.port + 81} too.")
        if bool(self.tls_cert) != bool(self.tls_key):
            raise CourseError("give --tls-cert and --tls-key, both or neither.")
        for path in filter(None, (self.tls_cert, self.tls_key)):
            if not os.access(path, os.R_OK):
                raise CourseError(f"{path} cannot be read.")
        if self.memory_bytes < LEAST_MEMORY:
            raise CourseError(f"less than {LEAST_MEMORY >> 30} GiB a learner is too little: a kernel with torch takes more.")
        if self.closed and not (self.book / "closed-book.txt").is_file():
            raise CourseError(f"{self.closed} is no closed book: ./course release --learners DIR makes one.")
        if not self.tls_cert and not plain_http and not local(self.address):
            raise CourseError(
                f"{self.address} is not this machine alone, and passwords would go over it in the clear: give --tls-cert and "
                "--tls-key, or put a proxy with TLS in front of 127.0.0.1 (workshop/README.md), or say --plain-http."
            )

    def with_more(self, users: Iterable[User]) -> Plan:
        learners, instructors = list(self.learners), list(self.instructors)
        for user in users:
            if user.name not in (*learners, *instructors):
                (instructors if user.instructor else learners).append(user.name)
        return replace(self, learners=tuple(learners), instructors=tuple(instructors))


def local(address: str) -> bool:
    """Return True for an address that only this machine reaches."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


HANDED_ON = ("DCPLAB_MODE", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "DCPLAB_SEED_KEY")


def handed_on() -> dict[str, str]:
    """Return what the hub is started with and a learner's kernel has to see: a hub hands on nothing of its own accord."""
    return {name: os.environ[name] for name in HANDED_ON if name in os.environ}


def shared() -> Path:
    """Return the folder of what learners' servers read: the hub's own is root's alone."""
    return folder().with_name(folder().name + "-shared")


def folder() -> Path:
    """Return the hub's folder: its plan, database, secret and log."""
    return Path(os.environ.get("DCPLAB_HUB_STATE", STATE))


def read() -> Plan:
    """Return the plan that is kept. Raises CourseError if there is none."""
    path = folder() / "hub.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        known = {one.name for one in fields(Plan)}
        given: dict[str, Any] = {key: value for key, value in found.items() if key in known}
        given |= {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
        return Plan(**given)
    except FileNotFoundError as error:
        raise CourseError("there is no hub here yet: ./course workshop up --users users.csv") from error
    except PermissionError as error:
        raise CourseError(f"{path} is root's alone: run this as root.") from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise CourseError(f"{path} cannot be read ({error}).") from error


def keep(plan: Plan) -> None:
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    folder().chmod(0o700)
    files.replace(folder() / "hub.json", json.dumps(asdict(plan), indent=1) + "\n", private=True)


def users(path: Path) -> list[User]:
    """Read ``username,password,role``; the last two may be missing. Raises CourseError."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as f:
            rows = [row for row in csv.DictReader(f) if any(row.values())]
        return [User(row["username"].strip(), row.get("password") or "", _instructor(row.get("role"))) for row in rows]
    except (KeyError, AttributeError, TypeError) as error:
        raise CourseError(f"{path} needs a column username; password and role (learner, instructor) may be there.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{path} cannot be read ({error}).") from error


def _instructor(role: str | None) -> bool:
    word = (role or "learner").strip()
    if word not in ("learner", "instructor"):
        raise CourseError(f"{word!r} is no role: learner or instructor.")
    return word == "instructor"


def named(names: Sequence[str]) -> list[User]:
    return [User(name) for name in names]
