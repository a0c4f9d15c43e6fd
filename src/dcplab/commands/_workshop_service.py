"""The closed book's part of `./course workshop`: `service` keeps the grading service that learners' checks ask."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

STATE = Path("/var/lib/dcplab-service")


def arguments(actions: argparse._SubParsersAction) -> None:
    service = actions.add_parser("service", help="keep the grading service of a closed book (release --learners)")
    service.add_argument("--as", dest="account", metavar="ACCOUNT", help="become this account first (as root)")
    service.add_argument("--socket", type=Path, metavar="PATH", help="where (/run/dcplab-checks/checks.sock)")
    service.add_argument("--state", type=Path, default=STATE, metavar="DIR", help=f"learners' progress ({STATE})")
    service.add_argument("--workers", type=int, default=2, metavar="N", help="requests at a time (2); 0.9 GB each")
    service.add_argument("--hints", type=int, default=0, choices=range(4), metavar="N", help="open hints 1 to N of a part (0)")
    service.add_argument("--seed-key", type=Path, metavar="FILE", help="the key that makes learners' seeds, as for grade")
    service.add_argument("--seeds", type=Path, metavar="CSV", help="student,seed, as for grade")


def run(args: argparse.Namespace) -> int:
    import asyncio

    from dcplab import paths
    from dcplab.closed import service, wire
    from dcplab.errors import CourseError
    from dcplab.grade import seeds
    from dcplab.hub import checks

    path, root = args.socket or wire.SOCKET, paths.root()
    if args.workers < 1:
        raise CourseError("--workers is a whole number from 1 on.")
    seed_of = seeds.bound(args.seeds, args.seed_key)  # read as root, if root gave it
    try:
        for folder in (path.parent, args.state):
            folder.mkdir(mode=0o755 if folder == path.parent else 0o700, parents=True, exist_ok=True)
        if args.account:
            become(args.account, path.parent, args.state)
    except OSError as error:
        raise CourseError(f"{error.filename or path.parent} cannot be made ({error.strerror}).") from error
    if readable := checks.exposed(root):
        print(
            f"Everybody on this machine can read {', '.join(readable)} of {root}: the book is not closed. Close it: "
            f"chmod o-rwx {root}",
            file=sys.stderr,
        )
    rules = service.ServiceRules(args.state, args.workers, args.hints, seed_of)

    def ready() -> None:
        hints = f", hints 1 to {args.hints} open" if args.hints else ", hints closed"
        print(f"Checking at {path}, {args.workers} at a time{hints}. Ctrl-C ends it; who asks meanwhile waits.", flush=True)

    if asyncio.run(service.serve(path, rules, ready)):
        raise CourseError(f"somebody keeps a grading service at {path} already.")
    return 0


def become(account: str, *folders: Path) -> None:
    """Give the folders to an account and become it for good. Raises CourseError where that cannot be."""
    import pwd

    from dcplab.errors import CourseError

    try:
        who = pwd.getpwnam(account)
    except KeyError:
        raise CourseError(f"there is no account {account}: useradd --system {account} makes one.") from None
    if os.getuid() == who.pw_uid:
        return
    if os.getuid():
        raise CourseError(f"only root can become {account}.")
    for folder in folders:
        os.chown(folder, who.pw_uid, who.pw_gid)
    os.initgroups(account, who.pw_gid)
    os.setgid(who.pw_gid)
    os.setuid(who.pw_uid)
    os.environ |= {"HOME": who.pw_dir, "USER": account, "LOGNAME": account}
