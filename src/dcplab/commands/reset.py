"""Give back the starter of one part, or of a whole lab, in your notebook under labs/. A dated copy of it is kept first."""

from __future__ import annotations

import argparse

HELP = "give back a part's or a lab's starter; a dated copy of yours is kept"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lab", metavar="LAB", help="a lab by number or name; or a part alone: 1c")
    parser.add_argument("part", metavar="PART", nargs="?", help="only this part: 1c, or just c")


def run(args: argparse.Namespace) -> int:
    from dcplab.course import catalog
    from dcplab.notebook import reset

    lab, part = catalog.place(args.lab, args.part)
    print(reset.cell(lab, part.id) if part else reset.notebook(lab))
    return 0
