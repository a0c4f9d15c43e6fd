"""A hub keeps one learner from filling the disk for all, where the kernel has no quotas (`dcplab.hub.disk`): with real
processes, and on a small disk of its own with two users where this machine lets root mount one."""

import contextlib
import multiprocessing
import os
import pwd
import resource
import shutil
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dcplab import lab, settings
from dcplab.hub import disk
from dcplab.hub.plan import Plan

MIB = 1 << 20
ME = os.getuid()


class Writer:
    """A learner's kernel, as far as the disk goes: a process of theirs that writes a file when asked to. A fork, for other
    users may not be able to run this Python."""

    def __init__(self, folder: Path, uid: int = ME, gid: int = os.getgid()):
        fork = multiprocessing.get_context("fork")
        self.here, there = fork.Pipe()
        self.process = fork.Process(target=_write, args=(there, folder, uid, gid), daemon=True)
        self.process.start()
        there.close()
        assert self.here.recv() == "ready"

    def write(self, name: str, size: int) -> str:
        """Return "written", or why not."""
        self.here.send((name, size))
        return self.here.recv()

    def end(self) -> None:
        self.process.kill()
        self.process.join()


def _write(asked, folder: Path, uid: int, gid: int) -> None:
    if uid != ME:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    os.chdir(folder)
    asked.send("ready")
    while True:
        name, size = asked.recv()
        try:
            with open(name, "wb", buffering=0) as f:
                while size:
                    size -= f.write(bytes(min(size, MIB)))
            asked.send("written")
        except OSError as error:
            asked.send(error.strerror)


@pytest.fixture
def writer(tmp_path):
    one = Writer(tmp_path)
    yield one
    one.end()


def test_what_a_user_has_is_counted_once_and_deleted_files_that_are_open_too(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "processes", lambda uids: [SimpleNamespace(pid=os.getpid())])  # of this user there are many more
    home, shared = tmp_path / "home", tmp_path / "shared"
    for place in (home / "deep", shared):
        place.mkdir(parents=True)
    nothing = disk.used({ME: home}, [shared])[ME]
    (home / "deep" / "a").write_bytes(bytes(4 * MIB))
    os.link(home / "deep" / "a", home / "again")
    (home / "to").symlink_to("/usr")
    (shared / "b").write_bytes(bytes(2 * MIB))
    with open(home / "hole", "wb") as hole:
        hole.truncate(1 << 40)
    assert 6 * MIB <= disk.used({ME: home}, [shared])[ME] - nothing < 7 * MIB
    before = disk.used({ME: home}, [])[ME]
    with open(home / "gone", "wb") as gone:
        gone.write(bytes(3 * MIB))
        gone.flush()
        (home / "gone").unlink()
        assert disk.used({ME: home}, [])[ME] - before >= 3 * MIB, "nobody finds it by its name"
    assert disk.used({ME: home}, [])[ME] - before < MIB


@pytest.mark.parametrize(
    ("usage", "limit", "free", "over"),
    [
        ({1: 100 * MIB, 2: 2000 * MIB}, 1000 * MIB, 9000 * MIB, {2: 1000 * MIB}),
        ({1: 100 * MIB, 2: 2000 * MIB}, 0, 9000 * MIB, {}),
        ({1: 100 * MIB, 2: 2000 * MIB}, 0, 10 * MIB, {2: 1055 * MIB}),  # nearly full: the share of two in 2,110 MiB
        ({1: 100 * MIB, 2: 900 * MIB}, 2000 * MIB, 10 * MIB, {2: 505 * MIB}),  # under the limit, which all together break
        ({1: 100 * MIB, 2: 200 * MIB}, 0, 10 * MIB, {}),  # nobody has more than a checkout takes
        ({}, 1000 * MIB, 0, {}),
    ],
)
def test_who_has_too_much(usage, limit, free, over):
    assert disk.too_much(usage, limit, free, low=500 * MIB) == over


def test_who_is_held_saves_small_files_and_is_let_go(writer, tmp_path):
    def hold(largest: int) -> None:
        """Hold the writer alone: this test's own processes are the same user's."""
        hard = resource.prlimit(writer.process.pid, resource.RLIMIT_FSIZE)[1]
        found = [SimpleNamespace(pid=writer.process.pid)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "processes", lambda uids: found)
            disk.hold(ME, os.getgid(), largest)
        assert resource.prlimit(writer.process.pid, resource.RLIMIT_FSIZE) == (largest, hard)

    assert writer.write("big", 8 * MIB) == "written"
    hold(MIB)
    assert writer.write("more", 8 * MIB) == "File too large" and (tmp_path / "more").stat().st_size == MIB
    assert writer.write("notebook", MIB // 2) == "written"
    hold(1 << 30)
    assert writer.write("more", 8 * MIB) == "written"


def test_what_a_hub_tells_is_shown_by_lab(tmp_path, monkeypatch, capsys):
    path = tmp_path / "ann"
    monkeypatch.setenv("DCPLAB_NOTE", str(path))
    assert settings.note() == ""
    me = pwd.getpwuid(ME)
    disk.write_note(path, me, disk.sentence(2000 * MIB, 1000 * MIB))
    assert "take 2,000 MiB, and you may have 1,000 MiB" in settings.note() and path.stat().st_mode & 0o077 == 0
    assert "may have 1,000 MiB" in str(lab.start("01"))


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 96 MiB with the homes of two users, who have no accounts. As root, where it may mount."""
    place = tmp_path / "homes"
    place.mkdir()
    if ME or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m,mode=755", "none", place], capture_output=True).returncode:
        pytest.skip("only root can make a disk and be two users, and not in every container")
    for above in (tmp_path, *tmp_path.parents):
        if above.stat().st_uid == ME and above != Path("/tmp"):
            above.chmod(above.stat().st_mode | 0o011)
    users = {}
    for uid, name in ((64701, "fills"), (64702, "other")):
        (place / name).mkdir(mode=0o700)
        os.chown(place / name, uid, uid)
        users[name] = SimpleNamespace(pw_uid=uid, pw_gid=uid, pw_name=name, pw_dir=str(place / name))
    yield place, users
    subprocess.run(["umount", "--lazy", place], check=True)


def until(holds, watch, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        watch.look(time.monotonic())
        time.sleep(0.1)
    return bool(holds())


def test_one_fills_the_disk_and_the_others_can_save(small_disk, monkeypatch, tmp_path):
    place, users = small_disk
    monkeypatch.setattr(disk, "_account", users.get)
    monkeypatch.setattr(disk, "ROOM", 8 * MIB)
    monkeypatch.setattr(disk, "FURTHER", 4 * MIB)
    monkeypatch.setattr(disk, "SHARED", ())
    watch = disk.DiskWatch(Plan(("fills", "other")), place / ".reserve", tmp_path / "notes")
    watch.look(time.monotonic())
    reserve = disk.reserve_bytes(96 * MIB)
    assert disk._size(watch.reserve) >= reserve
    fills, other = (Writer(place / name, one.pw_uid, one.pw_gid) for name, one in users.items())
    try:
        assert other.write("work", MIB) == "written"
        assert fills.write("big", 1 << 30) == "No space left on device"
        assert other.write("work", 2 * MIB) == "No space left on device", "until somebody looks"
        assert until(lambda: shutil.disk_usage(place).free > 2 * MIB, watch) and disk._size(watch.reserve) == 0
        assert other.write("work", 2 * MIB) == "written"
        assert fills.write("more", 2 * MIB) == "File too large"
        assert fills.write("notebook", MIB // 2) == "written"
        assert "and you may have" in (tmp_path / "notes" / "fills").read_text()
        assert not (tmp_path / "notes" / "other").exists()

        (place / "fills" / "big").unlink()
        assert until(lambda: not watch.held, watch) and until(lambda: disk._size(watch.reserve) >= reserve, watch)
        assert fills.write("more", 2 * MIB) == "written" and not (tmp_path / "notes" / "fills").exists()

        assert fills.write("big", 84 * MIB) == "written"  # with the reserve, little is left
        assert until(lambda: watch.held, watch)
        with contextlib.suppress(OSError, EOFError):  # ended in the middle
            for n in range(20):  # goes on with small files, with which a limit on one file has nothing to do
                fills.write(f"small-{n}", MIB)
                watch.look(time.monotonic())
        assert until(lambda: not fills.process.is_alive(), watch), "its kernel is ended"
        assert other.process.is_alive() and other.write("work", 3 * MIB) == "written"
    finally:
        fills.end()
        other.end()
