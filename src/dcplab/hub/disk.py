"""Keeps one learner from filling the disk for all, where the kernel keeps no quotas: looks, holds, and says so.

It looks: how much is free every second, whose it is when much has gone or a minute has passed. Who writes faster than that
fills the disk, and for that there is a reserve: a file of root's, given up when the disk is nearly full, so that the others can
save.
A quota (`dcplab.hub.quota`) is better wherever there is one.

Who is over may write files of 1 MiB at most (RLIMIT_FSIZE of all that they run): enough to save a notebook and to delete.
Whoever goes on with many small files has all ended but their server. Units: bytes, seconds.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pwd
import resource
import shutil
import signal
import stat
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from dcplab.hub import plan, quota

LOOK_S = 1.0
MEASURE_S = 60.0
OFTEN_S = 5.0  # in place of that, while somebody is held or little is free
FALLEN = 64 << 20  # bytes that may go before it is looked whose they are
HELD_FILE = 1 << 20  # the largest file of who is over
ROOM = 300 << 20  # what nobody is called too much for: a checkout with its notebooks and backups
FURTHER = 64 << 20  # what they may write on when held, before their kernels end
SHARED = (Path("/tmp"), Path("/var/tmp"))  # where learners' files lie outside of their homes
SERVER = "jupyterhub.singleuser"
log = logging.getLogger("dcplab.disk")


def used(homes: Mapping[int, Path], shared: Iterable[Path] = SHARED) -> dict[int, int]:
    """Return the bytes on the disk of each user's files. ``homes``: by uid. Files that are deleted and still open count."""
    found = dict.fromkeys(homes, 0)
    disk = {home.stat().st_dev for home in homes.values() if home.exists()}
    for place in (*homes.values(), *(place for place in shared if place.exists() and place.stat().st_dev in disk)):
        for one in _files(place, disk):
            if one.st_uid in found:
                found[one.st_uid] += one.st_blocks * 512 // max(one.st_nlink, 1)
    for uid, size in _deleted(homes, disk):
        found[uid] += size
    return found


def _files(folder: Path, disk: Collection[int]) -> Iterator[os.stat_result]:
    """Yield each file below a folder, on these file systems alone. Links are not followed."""
    todo = [os.fspath(folder)]
    while todo:
        with contextlib.suppress(OSError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    one = entry.stat(follow_symlinks=False)
                    if one.st_dev not in disk:
                        continue
                    if stat.S_ISDIR(one.st_mode):
                        todo.append(entry.path)
                    yield one


def _deleted(uids: Collection[int], disk: Collection[int]) -> Iterator[tuple[int, int]]:
    seen = set()
    for process in processes(uids):
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{process.pid}/fd"):
                with contextlib.suppress(OSError):
                    one = os.stat(f"/proc/{process.pid}/fd/{name}")
                    if one.st_nlink == 0 and one.st_dev in disk and one.st_uid in uids and (one.st_dev, one.st_ino) not in seen:
                        seen.add((one.st_dev, one.st_ino))
                        yield one.st_uid, one.st_blocks * 512


def processes(uids: Collection[int]) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.uids().real in uids:
                yield process


def too_much(usage: Mapping[int, int], limit: int, free: int, low: int) -> dict[int, int]:
    """Return who is over, and what they may have. ``limit`` of each; 0: none. With less than ``low`` bytes ``free``, whoever
    has more than their share of what all have is over, too."""
    share = max((sum(usage.values()) + free) // max(len(usage), 1), ROOM)
    allowed = min(limit or share, share) if free < low else limit
    return {uid: allowed for uid, size in usage.items() if allowed and size > allowed}


def hold(uid: int, gid: int, largest: int) -> None:
    """Let all that a user runs write files of ``largest`` bytes at most. In a child that is this user: root without
    CAP_SYS_RESOURCE, as in many containers, may not."""
    pids = [process.pid for process in processes({uid})]
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
        for pid in pids:
            with contextlib.suppress(OSError):
                hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (_least(largest, hard), hard))
    finally:
        os._exit(0)


def _least(wanted: int, hard: int) -> int:
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def end_kernels(uid: int) -> int:
    """End all that a user runs but their server. Returns how many there were."""
    ended = 0
    for process in processes({uid}):
        with contextlib.suppress(psutil.Error):
            if not any(SERVER in word for word in process.cmdline()):
                process.send_signal(signal.SIGKILL)
                ended += 1
    return ended


@dataclass
class DiskWatch:
    """What is known between two looks. ``held``: who is over, and what they had when their kernels would not yet end."""

    of: plan.Plan
    reserve: Path
    notes: Path
    held: dict[int, int] = field(default_factory=dict)
    measured: float = float("-inf")
    free: int = 0
    usage: dict[int, int] = field(default_factory=dict)

    def begin(self) -> None:
        """Let go whom one that watched before held: who is still over is held again at once."""
        for one in filter(None, map(_account, self.of.names)):
            hold(one.pw_uid, one.pw_gid, self.of.file_bytes)
            (self.notes / one.pw_name).unlink(missing_ok=True)

    def look(self, now: float) -> None:
        """Look once, and do what must be done."""
        people = {one.pw_uid: one for name in self.of.names if (one := _account(name))}
        homes = {uid: Path(one.pw_dir) for uid, one in people.items() if Path(one.pw_dir).exists()}
        if not homes:
            return
        disk = shutil.disk_usage(self.reserve.parent)
        keeps = reserve_bytes(disk.total)
        low = 3 * keeps if self.held or not _size(self.reserve) else keeps  # room that was given up must come back
        moved = abs(self.free - disk.free) > min(FALLEN, keeps // 4)
        if moved or now - self.measured > (OFTEN_S if disk.free < low else MEASURE_S):
            self.usage, self.measured, self.free = used(homes), now, disk.free
        over = too_much(self.usage, self.of.disk_bytes, disk.free, low)
        for uid in {*over, *self.held} & people.keys():
            self._of_one(people[uid], over.get(uid))
        if disk.free < keeps // 2 and _size(self.reserve):
            log.warning("the disk is nearly full: the reserve is given up")
            os.truncate(self.reserve, 0)
        elif disk.free > 3 * keeps and not _size(self.reserve):
            keep(self.reserve, keeps)

    def _of_one(self, one: pwd.struct_passwd, allowed: int | None) -> None:
        uid, has = one.pw_uid, self.usage.get(one.pw_uid, 0)
        note = self.notes / one.pw_name
        if allowed is None:
            log.warning("%s has %s again", one.pw_name, _mib(has))
            self.held.pop(uid, None)
            hold(uid, one.pw_gid, self.of.file_bytes)
            note.unlink(missing_ok=True)
            return
        hold(uid, one.pw_gid, HELD_FILE)
        if uid not in self.held:
            log.warning("%s has %s of %s: held to files of 1 MiB", one.pw_name, _mib(has), _mib(allowed))
        elif has > self.held[uid] + FURTHER:
            log.warning("%s goes on, %s now: %d processes ended", one.pw_name, _mib(has), end_kernels(uid))
            self.held[uid] = has
        self.held.setdefault(uid, has)
        write_note(note, one, sentence(has, allowed))


def sentence(has: int, allowed: int) -> str:
    return (
        f"Your files take {_mib(has)}, and you may have {_mib(allowed)}: until you delete some, no file of yours can be larger "
        "than 1 MiB, and kernels that write on are ended. `du -ah ~ | sort -h | tail` in a terminal shows the largest."
    )


def write_note(path: Path, one: pwd.struct_passwd, text: str) -> None:
    """Write what a learner is told (`dcplab.lab` shows it), for that learner alone."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text + "\n", encoding="utf-8")
        os.chown(path, one.pw_uid, one.pw_gid)


def reserve_bytes(total: int) -> int:
    """Return what is kept for the moment that the disk is full: a twentieth of it, 2 GiB at most."""
    return min(total // 20, 2 << 30)


def keep(reserve: Path, size: int) -> None:
    """Make the reserve: a file that takes its room."""
    with contextlib.suppress(OSError):
        file = os.open(reserve, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.posix_fallocate(file, 0, size)
        finally:
            os.close(file)


def _size(path: Path) -> int:
    return path.stat().st_blocks * 512 if path.exists() else 0


def _account(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _mib(size: int) -> str:
    return f"{size >> 20:,} MiB"


def notes() -> Path:
    """Return the folder of what learners are told, a file each."""
    return plan.shared() / "notes"


def main() -> None:
    """Look until the hub ends this; then the reserve is given back."""
    logging.basicConfig(format="%(name)s: %(message)s")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    watch: DiskWatch | None = None
    try:
        while True:
            of = plan.read()
            home = next((Path(one.pw_dir) for one in filter(None, map(_account, of.names)) if Path(one.pw_dir).exists()), None)
            if home and not (of.disk_bytes and quota.counted(home)):
                if watch is None:
                    watch = DiskWatch(of, quota.mount_of(home.parent) / ".dcplab-reserve", notes())
                    watch.begin()
                watch.of = of
                watch.look(time.monotonic())
            time.sleep(LOOK_S)
    finally:
        if watch:
            watch.reserve.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
