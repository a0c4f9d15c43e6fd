"""``./course COMMAND`` of a closed book: what a learner needs, and a sentence for what only the course's own checkout has."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from dcplab.errors import CourseError

from . import __version__, exam

ROOT = Path(__file__).resolve().parents[2]
CLOSED = "reset incident isolate bench site grade build release workshop update doctor test".split()
PROG = "./course"


def main(argv: list[str]) -> int:
    """Run a command. Returns 0 if it ran, 2 with a sentence if it could not."""
    parser = argparse.ArgumentParser(prog=PROG, description=f"Whose slot is it? A closed book, {__version__}.")
    actions = parser.add_subparsers(dest="action", required=True, metavar="COMMAND")
    opened = actions.add_parser("lab", help="open JupyterLab at a lab")
    opened.add_argument("lab", nargs="?", default="01")
    opened.add_argument("words", nargs=argparse.REMAINDER, help="further words for JupyterLab")
    check = actions.add_parser("check", help="check one part of the notebook under labs/")
    check.add_argument("part", help="such as 1c")
    check.add_argument("--json", action="store_true", help="print the result as JSON")
    check.add_argument("--explain", action="store_true", help="show every case")
    hint = actions.add_parser("hint", help="show the next hint of a part, if it is open")
    hint.add_argument("part")
    hint.add_argument("tier", nargs="?", type=int)
    actions.add_parser("progress", help="show the board")
    exam.arguments(actions.add_parser("exam", help="find one bug in a server that you have not seen"))
    for name in CLOSED:
        actions.add_parser(name)
    args = parser.parse_args(argv)
    if args.action in CLOSED:
        raise CourseError(f"`./course {args.action}` needs the course's solutions or its engine; your instructor has them.")
    if args.action == "exam":
        print(exam.run(args))
        return 0
    if args.action == "lab":
        return _lab(args.lab, args.words)
    from . import lab

    if args.action == "check":
        result = (lab.explain if args.explain else lab.check)(args.part)
        print(json.dumps(result._fields, indent=1, ensure_ascii=False) if args.json else result)
    else:
        print(lab.hint(args.part, args.tier) if args.action == "hint" else lab.progress())
    return 0


def _lab(lab: str, words: list[str]) -> int:
    """Become a JupyterLab at a lab, whose scripts may save a notebook and fill a cell."""
    found = sorted((ROOT / "labs").glob(f"{int(lab):02d}_*" if lab.isdigit() else lab))
    if not found:
        raise CourseError(f"There is no lab {lab!r} here.")
    path = found[0] / f"{found[0].name}.ipynb"
    os.environ["DCPLAB_FRONT_END"] = "jupyterlab"
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}", "--LabApp.expose_app_in_browser=True"]
    command += ["--LabApp.news_url=None", f"--LabApp.default_url=/lab/tree/{path.relative_to(ROOT)}", *words]
    os.execv(sys.executable, command)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CourseError as error:
        print(f"course: {error}", file=sys.stderr)
        sys.exit(2)
