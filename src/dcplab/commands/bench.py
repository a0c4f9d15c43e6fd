"""Run a bench of bench/NAME.py; without a name, list them. Words after the name go to the bench (`--help` lists its own)."""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
from pathlib import Path

HELP = "run one of the benches, or list them"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="a bench; without one they are listed")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help="for the bench itself, such as --json FILE")


def benches(folder: Path) -> dict[str, Path]:
    """Return the files that can be run, without those that are only imported by others."""
    return {path.stem: path for path in sorted(folder.glob("[!_]*.py")) if '__name__ == "__main__"' in path.read_text("utf-8")}


def purpose(bench: Path) -> str:
    """Return the first line of a bench's docstring, read without running it."""
    text = ast.get_docstring(ast.parse(bench.read_text(encoding="utf-8"))) or "(no description)"
    return text.splitlines()[0]


def run(args: argparse.Namespace) -> int:
    from dcplab import paths
    from dcplab.errors import CourseError

    found = benches(paths.root() / "bench")
    if args.name is None:
        width = max(map(len, found), default=0)
        for name, path in found.items():
            print(f"  {name:<{width}}  {purpose(path)}")
        return 0
    if args.name not in found:
        raise CourseError(f"there is no bench {args.name!r}; there are {', '.join(found) or 'none'}.")
    # A bench gets a new process: it chooses how Triton runs before anything imports Triton.
    env = os.environ | {"PYTHONPATH": paths.python_path()}
    status = subprocess.run([sys.executable, str(found[args.name]), *args.words], env=env).returncode
    if status:
        raise CourseError(f"the bench {args.name} ended with status {status}.")
    return 0
