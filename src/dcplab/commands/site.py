"""Build a static site of the course: unsolved labs, documents and pictures, to look at without installing anything."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "build a static site of labs, documents and pictures"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="where it goes: a new or empty folder, or a site built before")


def run(args: argparse.Namespace) -> int:
    from dcplab.site import build

    pages = build.build(args.folder, print)
    print(f"{pages} pages. Open {args.folder / 'index.html'} in a browser, or serve the folder: it is plain files.")
    return 0
