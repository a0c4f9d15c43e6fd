"""Grade notebooks: files, folders, nbgrader's submitted/ trees. A row for each, whatever it holds.

Nothing of a notebook runs in this process; each answer runs in a disposable child. docs/grading.md explains rows and statuses.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dcplab.present.values import on_a_line

if TYPE_CHECKING:
    from dcplab.grade.read import Found

HELP = "grade notebooks (for instructors)"
SAVE_EVERY_S = 2.0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path, help="notebooks, or folders with notebooks in them")
    parser.add_argument(
        "-j", type=int, default=0, metavar="N", help="answers that run at a time (default: the number of cores)"
    )
    parser.add_argument("--seed", type=int, help="inputs of an earlier run (default: fresh ones; the seed is printed)")
    parser.add_argument("--json", metavar="FILE", help="write the rows as JSON while they come; - is stdout")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write the points of each part as CSV")
    parser.add_argument("--feedback", metavar="DIR", type=Path, help="write a page of feedback for each notebook")
    parser.add_argument("--seeds", metavar="FILE", type=Path, help="whose cases in lab 05 are whose: a CSV with student, seed")
    parser.add_argument("--seed-key", metavar="FILE", type=Path, help="or made of each student's id with the key in this file")
    parser.add_argument("--resume", action="store_true", help="keep the rows that --json FILE already has for unchanged files")


def run(args: argparse.Namespace) -> int:
    from dcplab.course import catalog
    from dcplab.course.seeded import fresh_seed
    from dcplab.errors import CourseError
    from dcplab.grade import grader, read, rows, seeds
    from dcplab.present import progress_line

    bound = seeds.bound(args.seeds, args.seed_key)
    grader.refuse_diagnosis()
    if args.j < 0:
        raise CourseError(f"-j {args.j} is no number of answers; give 1 or more.")
    if args.resume and args.json in (None, "-"):
        raise CourseError("--resume needs --json FILE: the rows of the earlier run are in it.")
    pages = args.feedback and args.feedback / "index.html"
    for target in filter(None, (args.csv, pages, args.json if args.json != "-" else None)):
        rows.check_writable(Path(target))
    earlier = _earlier(Path(args.json)) if args.resume else {}
    drawn = {row["seed"] for row in earlier.values()}
    seed = args.seed if args.seed is not None else drawn.pop() if len(drawn) == 1 else fresh_seed()
    labs = catalog.labs()
    keys = grader.keys_of(labs)
    out = sys.stderr if args.json == "-" else sys.stdout
    found = read.find(args.paths)
    kept = {i: row for i, one in enumerate(found) if (row := _unchanged(earlier.get(str(one.path)), one, seed, bound))}
    todo = [i for i in range(len(found)) if i not in kept]
    print(f"{len(found)} path{'s' * (len(found) != 1)} to grade, seed {seed}.", file=out, flush=True)
    if kept:
        print(f"{len(kept)} of them are unchanged since the last run and keep their rows.", file=out, flush=True)
    finished, waits = dict(kept), None
    side_by_side = args.j or os.cpu_count() or 1
    try:
        with progress_line.line("done", len(found), len(kept)) as say:
            graded = grader.grade_all(
                [found[i] for i in todo], keys, seed, side_by_side, lambda path: say(f"{path.name[:50]} ..."), bound
            )
            for place, new in graded:
                finished[todo[place]] = new.to_json()
                say("", 1)
                with progress_line.aside():
                    print(_line(finished[todo[place]]), file=out, flush=True)
                if waits is None or not waits.is_alive():  # all rows of the next seconds are written together
                    waits = threading.Timer(SAVE_EVERY_S, lambda: _save(args, dict(finished), labs, only_json=True))
                    waits.daemon = True
                    waits.start()
    except KeyboardInterrupt:
        print("Stopping; what runs now ends within its time limit. " + _goes_on(args, len(finished)), file=sys.stderr)
        raise
    finally:  # after Ctrl-C too: graded rows are kept, and --resume continues there
        if waits is not None:
            waits.cancel()
            if waits.is_alive():  # Ctrl-C may come before it is started, and then it cannot be joined
                waits.join()
        changed = _note_changes(finished)
        _save(args, finished, labs, only_json=len(finished) < len(found))
    if args.json == "-":
        sys.stdout.write(rows.to_json(finished[i] for i in sorted(finished)))
    print(_summary([finished[i] for i in sorted(finished)], seed), file=out)
    for path in changed:
        print(f"{on_a_line(path)} changed while the run went on: its row is about what was read first.", file=out)
    if missing := {piece for row in finished.values() for part in row["parts"] for piece in part.get("lacks", ())}:
        print(f"Answers ran without {' and '.join(sorted(missing))}: see SECURITY.md.", file=out)
    for row in (finished[i] for i in sorted(finished)):
        for part in row["parts"]:
            for odd in part.get("odd", ()):
                print(f"Look at {part['part']} of {on_a_line(row['path'])}: {odd}", file=out)
    for line in _shared([finished[i] for i in sorted(finished)]):
        print(line, file=out)
    return 0


def _note_changes(finished: dict[int, dict]) -> list[str]:
    """Return the paths whose file is another than the one that was read, and say so in their rows."""
    from dcplab.grade import grader, read

    changed = [row for row in finished.values() if row["digest"] and read.digest_of(Path(row["path"])) != row["digest"]]
    for row in changed:
        if grader.CHANGED not in row["message"]:
            row["message"] = f"{row['message']} {grader.CHANGED}".strip()
    return [row["path"] for row in changed]


def _goes_on(args: argparse.Namespace, rows: int) -> str:
    if args.json in (None, "-"):
        return "With --json FILE the rows would have been kept."
    return f"{rows} rows are in {args.json}; the same command with --resume goes on from there."


def _save(args: argparse.Namespace, finished: dict[int, dict], labs, only_json: bool) -> None:
    """Write the files asked for. While rows are missing, write only the JSON."""
    from dcplab.grade import feedback, rows

    ordered = [finished[i] for i in sorted(finished)]
    if args.json and args.json != "-":
        rows.write(Path(args.json), rows.to_json(ordered))
    if only_json:
        return
    if args.csv:
        seen = {row["lab"] for row in ordered}
        rows.write(args.csv, rows.to_csv(ordered, [part.id for lab in labs if lab.name in seen for part in lab.parts]))
    if args.feedback:
        pages = [(feedback.file_name(row["path"]), row) for row in ordered]
        for name, row in pages:
            rows.write(args.feedback / name, feedback.page(row))
        rows.write(args.feedback / "index.html", feedback.index(pages))


def _earlier(path: Path) -> dict[str, dict]:
    """Return the rows of an earlier run by path. A file that is missing, or is no such list, gives none."""
    from dcplab.errors import CourseError

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {row["path"]: row for row in found if row["status"] == "graded" and isinstance(row["seed"], int)}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CourseError(f"{path} is not a list of rows that `grade --json` wrote ({type(error).__name__}).") from error


def _unchanged(row: dict | None, one: Found, seed: int, bound: Callable[[str | None], int | None]) -> dict | None:
    from dcplab.grade import read

    if row is None or one.link or row["seed"] != seed or not one.path.is_file():
        return None
    if row["student"] != one.student or row.get("own_seed") != bound(one.student):
        return None
    if any(part.get("busy") for part in row["parts"]):  # the machine was; it may have time now
        return None
    return row if read.digest_of(one.path) == row["digest"] else None


def _line(row: dict) -> str:
    """Format one row for a person: points, path, then each part's outcome, or the reason why it was not graded."""
    short = {"passed": "ok", "not_attempted": "-"}
    parts = "  ".join(f"{part['part']} {short.get(part['outcome'], part['outcome'])}" for part in row["parts"])
    points = f"{row['points']:g}/{row['max_points']:g}" if row["max_points"] else "-"
    said = f"  ({row['message']})" if parts and row["message"] else ""
    return f"{points:>8}  {on_a_line(row['path'])}  {parts or row['status'] + ': ' + row['message']}{said}"


def _summary(rows: list[dict], seed: int) -> str:
    from collections import Counter

    kinds = Counter(row["status"] for row in rows)
    return f"{', '.join(f'{n} {status}' for status, n in kinds.most_common())}. The same inputs again: --seed {seed}"


def _shared(found: list[dict]) -> list[str]:
    """Return a line for each seed whose cases belong to several learners."""
    from dcplab.grade import rows

    return [
        f"The same cases, of seed {seed}: {on_a_line(', '.join(names))}."
        for seed, names in rows.holders(found).items()
        if len(names) > 1
    ]
