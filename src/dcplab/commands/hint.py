"""Show the next hint of a part, or the one asked for. There are three: a nudge, the idea, nearly the answer."""

from __future__ import annotations

import argparse

HELP = "show the next hint of a part"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lab", metavar="LAB", help="a lab by number or name; or a part alone: 1c")
    parser.add_argument("part", metavar="PART", nargs="?", help="the part: 1c, or just c")
    parser.add_argument("tier", metavar="N", nargs="?", type=int, help="this hint, 1 to 3 (default: the next one)")


def run(args: argparse.Namespace) -> int:
    from dcplab import lab
    from dcplab.course import catalog
    from dcplab.errors import CourseError

    words, tier = [args.lab, args.part], args.tier
    if tier is None and args.part and args.part.isdigit() and not args.lab.isdigit():  # "1c 2"
        words, tier = [args.lab], int(args.part)
    opened, part = catalog.place(*words)
    if part is None:
        raise CourseError(f"Say which part of lab {opened.number}: {', '.join(p.id for p in opened.parts)}.")
    shown = repr(lab.hint(part.id, tier))
    print(shown.replace(f'lab.hint("{part.id}")', f"`./course hint {part.id}`"))
    return 0
