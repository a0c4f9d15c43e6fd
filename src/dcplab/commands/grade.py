"""Grade notebooks: files, folders, zips, nbgrader's trees, downloads of course systems. A row for each, whatever it holds.

Nothing of a notebook runs in this process; each answer runs in a disposable child. docs/grading.md explains rows and statuses.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcplab.present.strangers import on_a_line

if TYPE_CHECKING:
    from dcplab.grade.layout import Found, Who
    from dcplab.grade.roster import Roster
    from dcplab.grade.seeds import Bound

HELP = "grade notebooks (for instructors)"
SAVE_EVERY_S = 2.0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path, help="notebooks, or folders with notebooks in them")
    parser.add_argument(
        "-j", type=int, default=0, metavar="N", help="answers that run at a time (default: the number of cores)"
    )
    parser.add_argument("--seed", type=int, help="inputs of an earlier run (default: fresh ones; the seed is printed)")
    parser.add_argument(
        "--json", metavar="FILE", help="write the rows as JSON while they come, and add to those it has; - is stdout"
    )
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write one line a notebook as CSV: its points by part")
    parser.add_argument("--marks", metavar="FILE", type=Path, help="write one line a student as CSV: their points by lab")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write the parts as JUnit's XML")
    parser.add_argument("--roster", metavar="FILE", type=Path, help="who should hand in: a CSV with a line a student")
    parser.add_argument("--lab", metavar="NN", action="append", default=[], help="with --roster: a lab that is asked for")
    parser.add_argument("--feedback", metavar="DIR", type=Path, help="write a page of feedback for each notebook")
    parser.add_argument("--seeds", metavar="FILE", type=Path, help="whose cases in lab 05 are whose: a CSV with student, seed")
    parser.add_argument("--seed-key", metavar="FILE", type=Path, help="or made of each student's id with the key in this file")
    parser.add_argument("--exam-key", metavar="FILE", type=Path, help="the key that lab 08's examinations were made with")
    parser.add_argument("--resume", action="store_true", help="keep the rows that --json FILE already has for unchanged files")


def run(args: argparse.Namespace) -> int:
    from dcplab import files
    from dcplab.course import catalog
    from dcplab.errors import CourseError
    from dcplab.exam import in_class
    from dcplab.grade import grader, layout, results, roster, seeds, zips

    bound = seeds.bound(args.seeds, args.seed_key)
    grader.refuse_diagnosis()
    if args.j < 0:
        raise CourseError(f"-j {args.j} is no number of answers; give 1 or more.")
    if args.resume and args.json in (None, "-"):
        raise CourseError("--resume needs --json FILE: the rows of the earlier run are in it.")
    if args.lab and not args.roster:
        raise CourseError("--lab says what is asked of everybody on a roster: give --roster FILE too.")
    kept_in = Path(args.json) if args.json not in (None, "-") else None
    targets = results.Targets(kept_in, args.csv, args.marks, args.junit, args.feedback)
    targets.check(args.roster)
    labs = catalog.labs()
    known = roster.read(args.roster) if args.roster else None
    asked = [catalog.lab(name) for name in args.lab]
    earlier = results.load(targets.json)
    out = sys.stderr if args.json == "-" else sys.stdout
    with files.scratch("zips") as folder:
        who = known.who if known else layout.nobody
        found = layout.find(args.paths, {lab.name for lab in labs}, zips.unpacker(folder), who)
        found = results.remembered(found, earlier)
        examined = _examined(args, {lab.name for lab in labs}, who, earlier)
        found = in_class.others(found, examined)
        seed = _seed(args, [earlier.get(os.path.abspath(one.name)) for one in found])
        graded = _grade(args, found, seed, earlier, bound, lambda rows: results.save(targets.json, earlier, [*rows, *examined]))
        graded += examined
    rows = results.complete(results.together(earlier, graded), labs, known, asked)
    if args.json == "-":
        sys.stdout.write(results.to_json(rows))
    results.write(targets, rows, asked or labs, labs, known)
    for line in _end(graded, rows, seed, targets.json, known):
        print(line, file=out)
    return 0


def _seed(args: argparse.Namespace, before: Iterable[Mapping | None]) -> int:
    """Return the seed asked for; with --resume the one of the rows that are there; else a fresh one."""
    from dcplab.course.seeded import fresh_seed

    drawn = {row["seed"] for row in before if row and isinstance(row["seed"], int)} if args.resume else set()
    return args.seed if args.seed is not None else drawn.pop() if len(drawn) == 1 else fresh_seed()


def _examined(args: argparse.Namespace, labs: set[str], who: Who, earlier: Mapping[str, dict]) -> list[dict]:
    """Grade the examinations below the paths, a line a row."""
    from dcplab.exam import in_class, tickets
    from dcplab.present import progress_line

    if not any(next(in_class.folders(path), None) for path in args.paths):
        return []
    with progress_line.line("examinations") as say:
        rows = in_class.rows(args.paths, tickets.key(args.exam_key), labs, who, earlier if args.resume else {}, say)
    for row in rows:
        print(_line(row), file=sys.stderr if args.json == "-" else sys.stdout, flush=True)
    return rows


def _grade(
    args: argparse.Namespace,
    found: Sequence[Found],
    seed: int,
    earlier: Mapping[str, dict],
    bound: Bound,
    save: Callable[[Sequence[dict]], None],
) -> list[dict]:
    """Grade what was found, a line a row. ``save`` keeps the rows so far: every two seconds, at the end, and after Ctrl-C."""
    from dcplab.course import catalog
    from dcplab.grade import grader
    from dcplab.present import progress_line

    out = sys.stderr if args.json == "-" else sys.stdout
    before = [earlier.get(os.path.abspath(one.name)) if args.resume else None for one in found]
    finished = {i: row for i, one in enumerate(found) if (row := _unchanged(before[i], one, seed, bound))}
    todo = [i for i in range(len(found)) if i not in finished]
    print(f"{len(found)} path{'s' * (len(found) != 1)} to grade, seed {seed}.", file=out, flush=True)
    if finished:
        print(f"{len(finished)} of them are unchanged since the last run and keep their rows.", file=out, flush=True)
    waits = None

    def ordered() -> list[dict]:
        rows = sorted(dict(finished).items())
        return [{**row, "account": found[i].account, "given": found[i].given} for i, row in rows]

    try:
        with progress_line.line("done", len(found), len(finished)) as say:
            for place, new in grader.grade_all(
                [found[i] for i in todo],
                grader.keys_of(catalog.labs()),
                seed,
                args.j or os.cpu_count() or 1,
                lambda path: say(f"{path.name[:50]} ..."),
                bound,
            ):
                finished[todo[place]] = new.to_json()
                say("", 1)
                with progress_line.aside():
                    print(_line(finished[todo[place]]), file=out, flush=True)
                if waits is None or not waits.is_alive():  # all rows of the next seconds are written together
                    waits = threading.Timer(SAVE_EVERY_S, lambda: save(ordered()))
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
        _note_changes(finished, found)
        save(ordered())
    return ordered()


def _end(
    graded: Sequence[dict], rows: Sequence[Mapping], seed: int, kept_in: Path | None, known: Roster | None
) -> Iterator[str]:
    """Yield what is said at the end: of the rows of this run, then of all."""
    from dcplab.grade import grader

    yield _summary(graded, seed)
    for row in graded:
        if grader.CHANGED in row["message"]:
            yield f"{on_a_line(row['path'])} changed while the run went on: its row is about what was read first."
    if lacking := {piece for row in graded for part in row["parts"] for piece in part.get("lacks", ())}:
        yield f"Answers ran without {' and '.join(sorted(lacking))}: see SECURITY.md."
    for row in graded:
        for part in row["parts"]:
            for odd in part.get("odd", ()):
                yield f"Look at {part['part']} of {on_a_line(row['path'])}: {odd}"
    if others := sum(1 for row in rows if row["path"]) - len(graded):
        yield f"Of paths that were not graded this time, {others} row{'s stay' if others != 1 else ' stays'} in {kept_in}."
    if absent := sum(1 for row in rows if not row["path"]):
        yield f"{absent} expected notebook{'s were' if absent != 1 else ' was'} not handed in; each has a row."
    for one in rows:
        if not one["counts"]:
            yield f"{on_a_line(one['path'])} does not count: {on_a_line(one['instead'])} does, of the same student and lab."
    if known:
        for one in rows:
            if one["path"] and one["student"] not in known.ids:
                yield f"{on_a_line(one['path'])} is of nobody on the roster" + (
                    f" ({on_a_line(one['student'])})." if one["student"] else "."
                )
    yield from _shared(rows)


def _note_changes(finished: Mapping[int, dict], found: Sequence[Found]) -> None:
    """Say in a row that its file is another by now than the one that was read."""
    from dcplab.grade import grader, read

    for i, row in finished.items():
        if row["digest"] and read.digest_of(found[i].path) != row["digest"] and grader.CHANGED not in row["message"]:
            row["message"] = f"{row['message']} {grader.CHANGED}".strip()


def _goes_on(args: argparse.Namespace, rows: int) -> str:
    if args.json in (None, "-"):
        return "With --json FILE the rows would have been kept."
    return f"{rows} rows are in {args.json}; the same command with --resume goes on from there."


def _unchanged(row: dict | None, one: Found, seed: int, bound: Bound) -> dict | None:
    from dcplab.grade import read
    from dcplab.grade.seeds import own_seed

    if row is None or one.status or row["status"] != "graded" or row["seed"] != seed or not one.path.is_file():
        return None
    if row["student"] != one.student or row.get("own_seed") != own_seed(bound, one.account, one.student):
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


def _summary(rows: Sequence[Mapping], seed: int) -> str:
    from collections import Counter

    kinds = Counter(row["status"] for row in rows)
    return f"{', '.join(f'{n} {status}' for status, n in kinds.most_common())}. The same inputs again: --seed {seed}"


def _shared(found: Sequence[Mapping]) -> list[str]:
    """Return a line for each seed whose cases belong to several learners."""
    from dcplab.grade import rows

    return [
        f"The same cases, of seed {seed}: {on_a_line(', '.join(names))}."
        for seed, names in rows.holders(found).items()
        if len(names) > 1
    ]
