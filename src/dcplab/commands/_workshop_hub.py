"""The hub's part of `./course workshop`: `check` says what is missing, `up` starts or renews it, `add` lets more in."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcplab.hub.plan import Plan, User

ACTIONS = ("check", "up", "add", "down")


def arguments(actions: argparse._SubParsersAction) -> None:
    up = actions.add_parser("up", help="make accounts and start the hub; again: renew it, kernels stay (as root)")
    check = actions.add_parser("check", help="say what the hub lacks here, and change nothing")
    for parser in (up, check):
        parser.add_argument("--users", metavar="CSV", type=Path, help="username[,password][,role]: who may log in")
        parser.add_argument("--address", metavar="A", help="where it listens (127.0.0.1)")
        parser.add_argument("--port", metavar="N", type=int, help="N, N+1 and N+81 are used (8000)")
        parser.add_argument("--tls-cert", metavar="FILE", help="certificate with its chain")
        parser.add_argument("--tls-key", metavar="FILE", help="its key")
        parser.add_argument("--plain-http", action="store_true", help="let passwords cross the network in the clear")
        parser.add_argument("--memory", metavar="GIB", type=float, help="of one learner, all that they run (4)")
        parser.add_argument("--disk", metavar="GIB", type=float, help="of one learner, by quota where there is one (no limit)")
        parser.add_argument("--cores", metavar="X", type=float, help="of one learner (0: as many as there are)")
        parser.add_argument(
            "--closed", metavar="DIR", help="a closed book (release --learners): learners clone it, a service checks"
        )
        parser.add_argument("--grader", metavar="ACCOUNT", help="whom the closed book's service runs as (dcplab-grader)")
        parser.add_argument(
            "--hints", metavar="N", type=int, choices=range(4), help="closed book: open hints 1 to N of a part (0)"
        )
        parser.add_argument("--turns", metavar="N", type=int, help="checks on the GPU at a time (1)")
    add = actions.add_parser("add", help="let more learners in while the hub runs")
    add.add_argument("names", metavar="NAME", nargs="*", help="accounts, made if they are not there")
    add.add_argument("--users", metavar="CSV", type=Path, help="the same as for up")
    down = actions.add_parser("down", help="end the hub and the learners' servers; accounts, homes and progress stay")
    down.add_argument("--keep-servers", action="store_true", help="end the hub alone: kernels go on until the next up")


def run(args: argparse.Namespace) -> int:
    if args.action == "check":
        return _check(_planned(args), say_all=True)
    return {"up": _up, "add": _add, "down": _down}[args.action](args)


def _planned(args: argparse.Namespace) -> Plan:
    """Return the plan that is kept, or a new one, with what was asked for now."""
    from dcplab.errors import CourseError
    from dcplab.hub import plan

    try:
        of = plan.read()
    except CourseError:
        of = plan.Plan()
    given = {
        "address": args.address,
        "port": args.port,
        "tls_cert": args.tls_cert and str(Path(args.tls_cert).absolute()),
        "tls_key": args.tls_key and str(Path(args.tls_key).absolute()),
        "memory_bytes": None if args.memory is None else int(args.memory * (1 << 30)),
        "disk_bytes": None if args.disk is None else int(args.disk * (1 << 30)),
        "cores": args.cores,
        "gpu_turns": args.turns,
        "closed": args.closed and str(Path(args.closed).absolute()),
        "grader": args.grader,
        "hints": args.hints,
        "environment": plan.handed_on() or None,
    }
    of = replace(of, **{name: value for name, value in given.items() if value is not None})
    of = of.with_more(plan.users(args.users) if args.users else [])
    of.check(args.plain_http)
    return of


def _check(of: Plan, say_all: bool) -> int:
    """Print what is there and what is missing. Returns 1 if the hub could not start."""
    from dcplab.hub import checks
    from dcplab.present.table import columns

    found = list(checks.look(of))
    shown = [one for one in found if say_all or (one.needed and not one.ok)]
    words = {(True, True): "ok", (True, False): "ok", (False, True): "NO", (False, False): "note"}
    print("\n".join(columns([(words[one.ok, one.needed], one.name, one.says) for one in shown])))
    return int(any(one.needed and not one.ok for one in found))


def _up(args: argparse.Namespace) -> int:
    from dcplab.errors import CourseError
    from dcplab.hub import accounts, plan, service

    of = _planned(args)
    if _check(of, say_all=False):
        raise CourseError("the hub was not started: what stands above is missing.")
    made = accounts.make(plan.users(args.users) if args.users else plan.named(of.names), of.disk_bytes)
    plan.keep(of)
    service.let_clone(of)
    service.start(of)
    _passwords(made)
    print(f"The hub is at {of.url}, {len(of.learners)} learners, {len(of.instructors)} instructors.")
    print("More: ./course workshop add NAME. Who is where: ./course workshop board /home. End: ./course workshop down")
    return 0


def _add(args: argparse.Namespace) -> int:
    from dcplab.errors import CourseError
    from dcplab.hub import accounts, plan

    more = [*plan.named(args.names), *(plan.users(args.users) if args.users else [])]
    if not more:
        raise CourseError("name whom to add, or give --users users.csv.")
    of = plan.read().with_more(more)
    of.check(plain_http=True)  # the address was decided when the hub was made
    made = accounts.make(more, of.disk_bytes)
    plan.keep(of)
    _passwords(made)
    print(f"{len(of.names)} may log in now; the hub need not be restarted.")
    return 0


def _down(args: argparse.Namespace) -> int:
    from dcplab.hub import plan, service

    of = plan.read()
    ran = service.stop()
    ended = 0 if args.keep_servers else service.end_servers(of)
    left = len(service.servers(of))
    print(f"The hub {'has ended' if ran else 'was not running'}. Servers of learners: {ended} ended, {left} left.")
    return 0


def _passwords(made: Sequence[User]) -> None:
    from dcplab.hub import plan

    if made:
        print(f"{len(made)} new accounts; their passwords are in {plan.folder() / 'passwords.csv'}, for root alone.")
