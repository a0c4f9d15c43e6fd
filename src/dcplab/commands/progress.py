"""The board: every part of every lab, with points, attempts, hints and predictions."""

from __future__ import annotations

import argparse

HELP = "show how far you are"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lab", metavar="LAB", nargs="?", help="only this lab")


def run(args: argparse.Namespace) -> int:
    from dcplab import lab
    from dcplab.course import catalog

    print(lab.board([catalog.lab(args.lab)] if args.lab else catalog.labs()))
    return 0
