"""Makes Unix accounts for a class: homes that nobody else reads, passwords that only root reads."""

from __future__ import annotations

import csv
import io
import pwd
import secrets
import subprocess
from collections.abc import Iterable
from pathlib import Path

from dcplab import files
from dcplab.errors import CourseError
from dcplab.hub import plan, quota
from dcplab.hub.plan import User

FIRST_UID = 1000  # below are the system's own accounts


def account(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def check(users: Iterable[User]) -> None:
    """Raise CourseError for a name that is a system's account: a learner would log in as it."""
    for user in users:
        if (known := account(user.name)) and known.pw_uid < FIRST_UID:
            raise CourseError(f"{user.name} is an account of the system (uid {known.pw_uid}): choose another name.")


def make(users: Iterable[User], disk_bytes: int = 0) -> list[User]:
    """Make the accounts that are not there, close all homes to others, and set passwords that are given or new. With
    ``disk_bytes`` each is held to so much, where the file system counts. Returns the users whose password was made here; they
    are added to ``passwords.csv`` in the hub's folder."""
    users, new = list(users), []
    check(users)
    for user in users:
        password = user.password
        if account(user.name) is None:
            _run(["useradd", "--create-home", "--shell", "/bin/bash", user.name])
            if not password:
                password = secrets.token_urlsafe(9)
                new.append(User(user.name, password, user.instructor))
        if password:
            _run(["chpasswd"], f"{user.name}:{password}\n")
        home = Path(pwd.getpwnam(user.name).pw_dir)
        home.chmod(0o700)
        if disk_bytes and quota.counted(home):  # else the hub looks (dcplab.hub.disk)
            quota.hold(user.name, home, disk_bytes)
    if new:
        _note(new)
    return new


def _note(users: Iterable[User]) -> None:
    path = plan.folder() / "passwords.csv"
    text = path.read_text(encoding="utf-8") if path.exists() else "username,password\n"
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows((user.name, user.password) for user in users)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.replace(path, text + out.getvalue(), private=True)


def _run(command: list[str], given: str = "") -> None:
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise CourseError(f"{command[0]} is not on this machine: make the accounts by your own means.") from error
    if done.returncode:
        raise CourseError(f"{' '.join(command)} failed: {done.stderr.strip() or done.returncode}")
