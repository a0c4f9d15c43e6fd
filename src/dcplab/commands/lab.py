"""Open JupyterLab at a lab. Your notebook is never overwritten; a missing one is made anew."""

from __future__ import annotations

import argparse

HELP = "open JupyterLab at a lab: the one named, else the first unfinished"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lab", nargs="?", metavar="NN", help="a lab by number or name: 1, 01 or 01_index_spaces")
    parser.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    parser.add_argument("--port", type=int, help="serve on this port (default: the first free one from 8888 on)")
    parser.add_argument(
        "--ip", default="127.0.0.1", help="serve on this address (default: this machine only; 0.0.0.0: everybody)"
    )


def run(args: argparse.Namespace) -> int:
    from dcplab import jupyterlab

    return jupyterlab.run(jupyterlab.choose(args.lab), args.ip, args.port, not args.no_browser)
