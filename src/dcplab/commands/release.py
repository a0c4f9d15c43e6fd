"""Write an nbgrader course: sources, released assignments, gradebook, configuration and a README.

With --learners: a checkout for learners without solutions, banks and oracles, whose checks ask `./course workshop service`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "write an nbgrader course, or a closed book (for instructors)"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="where the course goes: a new or empty folder")
    parser.add_argument(
        "--lab", action="append", metavar="NN", default=[], help="only this lab (may be repeated; default: all)"
    )
    parser.add_argument("--learners", action="store_true", help="a closed book: a checkout without solutions; again: renew it")
    parser.add_argument(
        "--update", action="store_true", help="renew source/ and release/ of a course made before; submissions and grades stay"
    )


def run(args: argparse.Namespace) -> int:
    from dcplab.author import release
    from dcplab.course import catalog
    from dcplab.errors import CourseError

    labs = [catalog.lab(name) for name in args.lab] or catalog.checked()
    if examined := [lab.number for lab in labs if not lab.parts]:
        raise CourseError(f"Lab {examined[0]} is an examination, which no release holds: ./course exam start DIR --key FILE.")
    if args.learners:
        from dcplab.closed import release as closed

        closed.release(args.folder, labs, print)
        print("Next: ./course workshop service --as ACCOUNT, and learners clone this folder (workshop/README.md, Closed book).")
        return 0
    release.release(args.folder, labs, args.update, print)
    print(f"Course in {args.folder}, readable by you alone (mode 700): source/ holds solutions and gradebook.db holds grades,")
    print("and nbgrader leaves both open to everybody on the machine. Next: see its README.md.")
    return 0
