"""``./course exam`` of a closed book: the grading service draws, counts and marks; here are a report and a checkout."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from dcplab.errors import CourseError

from . import remote

FILE = "exam.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    words = parser.add_subparsers(dest="word", required=True, metavar="WORD")
    start = words.add_parser("start", help="make a folder with the cases, and begin")
    start.add_argument("folder", metavar="DIR", type=Path, help="a new folder")
    start.add_argument("--practice", action="store_true", help="one case, no limit of time")
    start.add_argument("--seed", type=int, default=1, help="which practice")
    for word in ("hint", "hand-in", "status"):
        one = words.add_parser(word)
        one.add_argument("folder", nargs="?", metavar="DIR", type=Path, default=Path(), help="the examination (default: here)")
        one.add_argument("--case", type=int, metavar="N", help="which case (default: the only one)")


def run(args: argparse.Namespace) -> str:
    """Ask the service for what was said, and return what is to be printed."""
    if args.word == "start":
        return _start(args.folder, args.seed if args.practice else None)
    try:
        sitting = json.loads((args.folder / FILE).read_text(encoding="utf-8"))["sitting"]
    except (OSError, ValueError, KeyError, TypeError):
        raise CourseError(f"{args.folder} is no examination. Begin one: ./course exam start DIR") from None
    if args.word == "hand-in":
        case = args.folder / f"case_{args.case or 1}"
        found = [case / "answer.toml", *sorted((case / "checkout").rglob("*.py"))]
        given = {p.relative_to(case).as_posix(): p.read_text(encoding="utf-8", errors="replace") for p in found if p.is_file()}
        return str(_asked("exam.hand_in", sitting, args.case, given))
    return str(_asked("exam.hint", sitting, args.case) if args.word == "hint" else _asked("exam.status", sitting))


def _start(folder: Path, seed: int | None) -> str:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} is not empty: give a new folder.")
    told = _asked("exam.start", seed, str(folder.absolute()))
    for name, text in {**told["files"], FILE: json.dumps({"sitting": told["sitting"]})}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(told["said"])


def _asked(name: str, *args: Any) -> Any:
    return remote.ask({"of": ("call", ("name", name), list(args), {})}).get("value")
