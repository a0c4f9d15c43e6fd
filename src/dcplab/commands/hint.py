"""Show the next hint of a part, or the one asked for. There are three: a nudge, the idea, nearly the answer."""

from __future__ import annotations

import argparse

HELP = "show the next hint of a part"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lab", metavar="LAB", help="a lab by number or name")
    parser.add_argument("part", metavar="PART", help="the part: 1c, or just c")
    parser.add_argument("tier", metavar="N", nargs="?", type=int, help="this hint, 1 to 3 (default: the next one)")


def run(args: argparse.Namespace) -> int:
    from dcplab import catalog, lab

    part = catalog.lab(args.lab).part(args.part)
    shown = repr(lab.hint(part.id, args.tier))
    print(shown.replace(f'lab.hint("{part.id}")', f"`./course hint {args.lab} {part.id}`"))
    return 0
