"""For a workshop's instructor. `board` shows who is at which part, who is stuck, and which misconceptions are about; `seeds`
prints each student's seed for lab 05; `collect` gathers notebooks from the homes of this machine."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

HELP = "an instructor's board: who is stuck, and on what"


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
    board.add_argument("--watch", type=float, metavar="S", help="draw it again every S seconds, until Ctrl-C")


def run(args: argparse.Namespace) -> int:
    from dcplab.course import catalog
    from dcplab.errors import CourseError
    from dcplab.grade import board, seeds

    if args.action == "seeds":
        of = seeds.bound(key=args.key)
        csv.writer(sys.stdout).writerows([("student", "seed"), *((student, of(student)) for student in args.students)])
        return 0
    if args.action == "collect":
        return _collect(args)
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
    copied = sum(not one.how.startswith("not taken") for one in taken)
    learners = len({one.student for one in taken})
    print(
        f"{copied} notebooks of {learners} learners are in {args.folder}. Next: ./course grade {args.folder} --marks marks.csv"
    )
    return 0 if copied == len(taken) else 1
