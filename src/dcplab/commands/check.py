"""Check one part: the answer in your notebook under labs/, or one in a file.

The file is a notebook, or a .py file with the answer cell alone. Progress is noted for your own notebook, not for a file.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

HELP = "check one part of a lab"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lab", metavar="LAB", help="a lab by number or name: 1, 01 or 01_index_spaces; or a part alone: 1c")
    parser.add_argument("part", metavar="PART", nargs="?", help="the part: 1c, or just c")
    parser.add_argument("--answer", metavar="FILE", type=Path, help="a notebook, or a .py file with the answer cell")
    parser.add_argument("--seed", metavar="N", type=int, help="draw the inputs of an earlier check again")
    parser.add_argument(
        "--json", metavar="FILE", help="write the result as JSON to FILE; - writes it to stdout and nothing else"
    )
    parser.add_argument("--explain", action="store_true", help="show every case, the traceback and what the answer printed")


def run(args: argparse.Namespace) -> int:
    import json
    import sys

    from dcplab import settings
    from dcplab.sandbox import pool

    if settings.mode() == "cpu" or not Path("/dev/nvidiactl").exists():
        pool.warm("cpu")  # the server imports torch while this process does
    from dcplab import checking, progress
    from dcplab.course import catalog
    from dcplab.errors import CourseError
    from dcplab.notebook import reset, runs
    from dcplab.present import check_result

    lab, part = catalog.place(args.lab, args.part)
    if part is None:
        raise CourseError(f"Say which part of lab {lab.number}: {', '.join(p.id for p in lab.parts)}.")
    key = replace(lab.key(part.id), own_seed=settings.own_seed()).after(progress.hand_ins(lab.name, part.id))
    program = reset.program(lab, key.part, args.answer)
    if args.json not in (None, "-") and not Path(args.json).absolute().parent.is_dir():
        raise CourseError(f"There is no folder for {args.json}.")
    result = checking.check(key, program, seed=args.seed, note=lambda text: print(text, file=sys.stderr))
    if args.answer is None:
        saved = reset.saved_cells(reset.path_of(lab))
        result = check_result.placed(result, runs.judged(part.id, part.entry, (), saved))
        progress.record(result)
    text = json.dumps(result.to_json(), indent=1, ensure_ascii=False, default=str) + "\n"
    if args.json == "-":
        sys.stdout.write(text)
        return 0
    if args.json:
        try:
            Path(args.json).write_text(text, encoding="utf-8")
        except OSError as e:
            raise CourseError(f"{args.json} cannot be written ({e.strerror}).") from e
    message = check_result.text(result)
    # On a terminal, more is shown by a command.
    message = message.replace(f'lab.hint("{result.part}")', f"`./course hint {result.part}`")
    print(message.replace(f'lab.explain("{result.part}")', "--explain"))
    if args.explain:
        print("", result.case and f"The case: {result.case}\n", result.detail, sep="\n")
    return 0
