"""A learner's share of the disk by quota, where the kernel has quotas: is one held to it, and can the others save?

    python tests/hub_quota_trial.py        as root, with e2fsprogs and quota; makes a disk and two accounts, and removes them

Each line of the output is a thing that was looked at, "ok" or "FAILED"; the exit status says whether any failed, 2 that this
kernel has no quotas. Not a part of the tests: those run where there are none.
"""

from __future__ import annotations

import contextlib
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dcplab.hub import checks, plan, quota

MIB = 1 << 20
FILLS, OTHER = "dcplab-quota-a", "dcplab-quota-b"
WRITES = """
import sys
n = 0
try:
    with open(sys.argv[1], "wb", buffering=0) as f:
        while n < int(sys.argv[2]): n += f.write(bytes(1 << 16))
    print("written")
except OSError as error: print(error.strerror)
"""


@contextlib.contextmanager
def disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of 256 MiB that counts files by user. Raises CalledProcessError where the kernel cannot."""
    image, homes = folder / "disk.img", folder / "homes"
    homes.mkdir(mode=0o755)
    with image.open("wb") as f:
        f.truncate(256 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-O", "quota", "-E", "quotatype=usrquota", image], check=True)
    subprocess.run(["mount", "-o", "loop,usrquota", image, homes], check=True, capture_output=True)
    try:
        yield homes
    finally:
        subprocess.run(["umount", homes], check=True)


@contextlib.contextmanager
def account(name: str, homes: Path) -> Iterator[pwd.struct_passwd]:
    subprocess.run(["useradd", "--create-home", "--base-dir", homes, name], check=True)
    try:
        yield pwd.getpwnam(name)
    finally:
        subprocess.run(["userdel", name], check=True, capture_output=True)


def write(who: pwd.struct_passwd, name: str, size: int) -> str:
    become = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
    words = [sys.executable, "-c", WRITES, name, str(size)]
    return subprocess.run(words, cwd=who.pw_dir, capture_output=True, text=True, **become).stdout.strip()


def main() -> int:
    failed = []

    def look(what: str, holds: bool) -> None:
        print("ok    " if holds else "FAILED", what, flush=True)
        if not holds:
            failed.append(what)

    with contextlib.ExitStack() as keep:
        place = Path(keep.enter_context(tempfile.TemporaryDirectory(prefix="dcplab-quota-")))
        place.chmod(0o755)
        try:
            homes = keep.enter_context(disk(place))
        except subprocess.CalledProcessError as error:
            print(f"This kernel has no quotas: {(error.stderr or b'').decode().splitlines()[:1]}")
            return 2
        fills, other = (keep.enter_context(account(name, homes)) for name in (FILLS, OTHER))
        look("the disk counts files by user", quota.counted(Path(fills.pw_dir)))
        for one in (fills, other):
            quota.hold(one.pw_name, Path(one.pw_dir), 64 * MIB)
        found = checks._quota(plan.Plan((FILLS, OTHER), disk_bytes=64 * MIB))
        look(f"check says so: {found.says}", found.ok and "by the kernel" in found.says)
        look("one below the limit writes", write(fills, "small", 8 * MIB) == "written")
        look("one above it is told that it is a quota", write(fills, "big", 1 << 30) == "Disk quota exceeded")
        look("the other saves meanwhile", write(other, "work", 32 * MIB) == "written")
        Path(fills.pw_dir, "big").unlink()
        look("who deletes writes again", write(fills, "small", 16 * MIB) == "written")
        quota.hold(FILLS, Path(fills.pw_dir), 0)
        look("without a limit there is none", write(fills, "big", 96 * MIB) == "written")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
