"""For a workshop's instructor: `board` shows who is at which part, who is stuck, and which misconceptions are about; `seeds`
prints each student's seed; `collect` gathers notebooks from homes; `queue` keeps and shows the turns on a shared GPU; `check`,
`up`, `add` and `down` are about a hub; `notes` is a teacher's sheet, `slides` are for the
projector; `service` checks for a closed book."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

from dcplab.commands import _workshop_hub, _workshop_notes, _workshop_service

HELP = "a class: its hub, its board, its notebooks, its turns on a GPU"


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    board = actions.add_parser("board", help="the board of the learners whose files lie below a folder")
    board.add_argument(
        "folder", metavar="DIR", type=Path, help="learners' state folders (progress.json), or rows of grade --json"
    )
    board.add_argument("--lab", metavar="NN", action="append", default=[], help="only this lab (may be repeated)")
    board.add_argument("--anonymous", action="store_true", help="no names: for the projector")
    seeds = actions.add_parser("seeds", help="each student's seed for lab 05, as the CSV that grade --seeds reads")
    seeds.add_argument("key", metavar="KEY", type=Path, help="the file with the key that grade --seed-key reads")
    seeds.add_argument("students", metavar="STUDENT", nargs="+", help="their ids, as nbgrader and the hub have them")
    collect = actions.add_parser("collect", help="copy learners' notebooks from their homes into a folder to grade")
    collect.add_argument("folder", metavar="DIR", type=Path, help="where to: DIR/submitted/STUDENT/LAB/LAB.ipynb")
    collect.add_argument("students", metavar="STUDENT", nargs="*", help="whose (default: of every home)")
    collect.add_argument("--homes", metavar="DIR", type=Path, default=Path("/home"), help="where the homes lie (/home)")
    collect.add_argument("--lab", metavar="NN", action="append", default=[], help="only this lab (may be repeated)")
    queue = actions.add_parser("queue", help="keep the queue for a GPU that a class shares; --show: who has it, who waits")
    queue.add_argument("--turns", type=int, default=1, metavar="N", help="checks on the GPU at a time (1)")
    queue.add_argument("--hold", type=float, default=300.0, metavar="S", help="seconds after which a turn is taken back (300)")
    queue.add_argument("--socket", type=Path, metavar="PATH", help="where (/run/dcplab/gpu-queue.sock)")
    queue.add_argument("--show", action="store_true", help="only say who has it and who waits")
    _workshop_hub.arguments(actions)
    _workshop_notes.arguments(actions)
    _workshop_service.arguments(actions)
    slides = actions.add_parser("slides", help="make the slides for what is told together, as plain files")
    slides.add_argument("folder", metavar="DIR", type=Path, help="where they go: a new or empty folder, or slides made before")
    board.add_argument("--watch", type=float, metavar="S", help="draw it again every S seconds, until Ctrl-C")


def run(args: argparse.Namespace) -> int:
    from dcplab.course import catalog
    from dcplab.errors import CourseError
    from dcplab.grade import board, seeds

    if args.action in _workshop_hub.ACTIONS:
        return _workshop_hub.run(args)
    if args.action == "notes":
        return _workshop_notes.run(args)
    if args.action == "slides":
        from dcplab.site import slides

        count = slides.make(args.folder, print)
        print(f"{count} slides. Open {args.folder / 'index.html'} in a browser: arrows, S for the notes, ?print-pdf for paper.")
        return 0
    if args.action == "service":
        return _workshop_service.run(args)
    if args.action == "seeds":
        of = seeds.bound(key=args.key)
        csv.writer(sys.stdout).writerows([("student", "seed"), *((student, of(student)) for student in args.students)])
        return 0
    if args.action == "collect":
        return _collect(args)
    if args.action == "queue":
        return _show_queue(args.socket) if args.show else _keep_queue(args)
    if not args.folder.is_dir():
        raise CourseError(f"{args.folder} is no folder; give the one that holds the learners' state folders.")
    if args.watch is not None and not args.watch > 0:
        raise CourseError(f"--watch {args.watch:g} is no time to wait; give seconds above 0.")
    labs = [catalog.lab(name) for name in args.lab] or catalog.labs()
    while True:
        learners = board.find(args.folder)
        if not learners:
            raise CourseError(f"no progress.json and no rows of `grade --json` lie below {args.folder}.")
        text = board.board(learners, labs, args.anonymous)
        print(text if args.watch is None else f"\x1b[2J\x1b[H{time.strftime('%H:%M:%S')}\n\n{text}", flush=True)
        if args.watch is None:
            return 0
        time.sleep(args.watch)


def _collect(args: argparse.Namespace) -> int:
    from dcplab.course import catalog
    from dcplab.grade import collect
    from dcplab.present.strangers import on_a_line
    from dcplab.present.table import columns

    labs = [catalog.lab(name) for name in args.lab] or catalog.labs()
    taken = list(collect.collect(args.homes, args.folder, {lab.name for lab in labs}, args.students))
    if taken:
        print("\n".join(columns([(on_a_line(one.student), one.lab, on_a_line(one.how)) for one in taken])))
    copied = [one for one in taken if one.how in ("new", "changed", "as before")]
    learners = len({one.student for one in copied})
    print(f"{len(copied)} notebooks of {learners} learners are in {args.folder}.")
    print(f"Next: ./course grade {args.folder} --json rows.json --marks marks.csv --feedback pages")
    return 0 if len(copied) == len(taken) else 1


def _keep_queue(args: argparse.Namespace) -> int:
    import asyncio

    from dcplab.errors import CourseError
    from dcplab.sandbox.gpu_queue import client, daemon

    path = args.socket or client.CLASS
    if args.turns < 1 or not args.hold > 0:
        raise CourseError("--turns is a whole number from 1 on, --hold a number of seconds above 0.")
    try:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        print(f"Keeping turns for the GPU, {args.turns} at a time, at {path}. Ctrl-C ends it; checks go on without turns then.")
        if path != client.CLASS:
            print(f"Learners need DCPLAB_GPU_QUEUE={path} in their environment.", flush=True)
        if asyncio.run(daemon.serve(path, daemon.QueueRules(args.turns, args.hold))):
            raise CourseError(f"another process keeps the queue at {path} already.")
    except OSError as error:
        raise CourseError(f"{path} cannot be made ({error.strerror or error}): run it as root, or give --socket.") from error
    return 0


def _show_queue(path: Path | None) -> int:
    from dcplab.present.table import columns
    from dcplab.sandbox.gpu_queue import client

    told = client.status(path)
    if told is None:
        print("Nobody keeps a queue for the GPU here.")
        return 1
    lines = [
        ("has it" if kind == "holders" else "waits", one["user"], one["what"], f"{one['seconds']} s")
        for kind in ("holders", "waiting")
        for one in told[kind]
    ]
    print(f"{told['turns']} at a time.", *columns(lines) if lines else ["Nobody has it and nobody waits."], sep="\n")
    return 0
