"""Somebody else's server: a bug report and a checkout with one planted fault, handed in and marked by machine.

  ./course exam start DIR               an examination: two cases, 90 minutes
  ./course exam start DIR --practice    one case, no limit of time; another --seed is another case
  ./course exam hint DIR --case 1       a question, for 3 points
  ./course exam hand-in DIR --case 1    up to three times
  ./course exam status DIR

For instructors (docs/field.md):

  ./course exam start DIR --seed N --key FILE
  ./course exam grade FOLDERS --key FILE
  ./course exam grade --service DIR     what a grading service has kept
  ./course exam sheet"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

HELP = "find one bug in a server that you have not seen"


def arguments(parser: argparse.ArgumentParser) -> None:
    words = parser.add_subparsers(dest="word", required=True, metavar="WORD")
    start = words.add_parser("start", help="make a folder with the cases, and begin")
    start.add_argument("folder", metavar="DIR", type=Path, help="a new folder")
    start.add_argument("--practice", action="store_true", help="one case, no limit of time")
    start.add_argument("--seed", type=int, help="which cases (default: nobody knows)")
    start.add_argument("--key", metavar="FILE", type=Path, help="an instructor's key: only who has it can mark the folder")
    for word, says in (("hint", "ask for a question"), ("hand-in", "hand a case in"), ("status", "show what is left")):
        one = words.add_parser(word, help=says)
        one.add_argument("folder", nargs="?", metavar="DIR", type=Path, default=Path(), help="the examination (default: here)")
        if word != "status":
            one.add_argument("--case", type=int, metavar="N", help="which case (default: the only one)")
    sheet = words.add_parser("sheet", help="list the cases by kind, with their public sources (for instructors)")
    sheet.add_argument("--kind", help="only this kind")
    grade = words.add_parser("grade", help="grade folders (for instructors)")
    grade.add_argument("folders", nargs="*", metavar="FOLDER", type=Path, help="examinations, or folders with some in them")
    grade.add_argument("--service", metavar="DIR", type=Path, help="what a grading service has kept: its state (docs/field.md)")
    grade.add_argument("--key", metavar="FILE", type=Path, help="the key that they were made with (default: your own)")
    grade.add_argument("--json", metavar="FILE", type=Path, help="write the rows as JSON")
    grade.add_argument("--csv", metavar="FILE", type=Path, help="write one line a folder as CSV: its points by part")


def run(args: argparse.Namespace) -> int:
    from dcplab.course.seeded import fresh_seed
    from dcplab.exam import grading, taking
    from dcplab.present import progress_line, table

    if args.word == "start":
        seed = fresh_seed() if args.seed is None else args.seed
        print(taking.start(args.folder, "practice" if args.practice else "examination", seed, args.key))
    elif args.word == "hint":
        print(taking.hint(args.folder, args.case))
    elif args.word == "hand-in":
        with progress_line.line("marking") as say:
            said = taking.hand_in(args.folder, args.case, say)
        print(said)
    elif args.word == "status":
        print(taking.status(args.folder))
    elif args.word == "sheet":
        print("\n".join(table.columns(grading.sheet(args.kind))))
    else:
        _grade(args)
    return 0


def _grade(args: argparse.Namespace) -> None:
    from dcplab.errors import CourseError
    from dcplab.exam import grading, results, tickets
    from dcplab.grade import grader, rows
    from dcplab.present import progress_line, table
    from dcplab.present.strangers import on_a_line

    grader.refuse_diagnosis()
    for path in filter(None, (args.json, args.csv)):
        rows.check_writable(path)
    if not args.folders and not args.service:
        raise CourseError("Name the folders to grade, or a grading service's state: --service DIR.")
    graded, cases = [], []
    with progress_line.line("grading") as say:
        handed = (grading.row(folder, tickets.key(args.key), say) for folder in grading.find(args.folders))
        for row, had in itertools.chain(handed, grading.kept(args.service) if args.service else ()):
            graded.append(row.to_json())
            cases += had
            with progress_line.aside():
                parts = "  ".join(f"{part.part} {part.points:g}" for part in row.parts)
                points = f"{row.points:g}/{row.max_points:g}" if row.parts else "-"
                who = (row.student if args.service else None) or row.path
                print(f"{points:>8}  {on_a_line(who)}  {parts or row.message}", flush=True)
            if args.json:
                rows.write(args.json, rows.to_json(graded))
    if args.csv:
        rows.write(args.csv, rows.to_csv(graded, results.part_ids()))
    if cases:
        print("\n" + "\n".join(table.columns(grading.by_kind(cases))))
