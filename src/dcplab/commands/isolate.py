"""Run every subset of the patches, below and above the watermark, and say what each does.

Each run is the incident on a fresh server with some of the five patches of #36989 applied: index-K size, c-KV
write, decode read, extend gather, capacity assert. Prints crash, silent corruption, right, or alarm, with the first
wrong operation of each.

A server that dies costs its own row: on a GPU each has a process of its own. Such a row says `died` and of what, the
run goes on, and its exit status is 1. The files that are asked for are written anew after every row.

  ./course isolate                              64 small servers on the CPU
  ./course isolate --levels above --csv t.csv --json t.json --html t.html
  ./course isolate --json t.json --resume       go on with what t.json lacks, or died
  ./course isolate --only index_k_size,ckv_write   subsets of two patches; the others are applied
  ./course isolate --limit 300 --json t.json    as many of the 64 as five minutes hold, no patch and all patches first
  ./course isolate --gpus 2 --dcp-size 8 --json t.json   each server on two GPUs, four ranks a process; one that dies
                                                ends the run, and --resume goes on"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

LEAVE_S = 3.0  # of a limit, in which processes take leave
HELP = "which patch fixes which symptom: every subset, run"
PATCHES = ("index_k_size", "ckv_write", "read", "extend", "assert")  # `defects.PATCHES`, which takes torch; a test holds it


def arguments(parser: argparse.ArgumentParser) -> None:
    from dcplab.commands.incident import server_arguments

    server_arguments(parser)
    parser.add_argument("--levels", default="below,above", metavar="A,B", help="of below, above, full (default: below,above)")
    parser.add_argument(
        "--only", metavar="A,B", help=f"vary these patches only, of {', '.join(PATCHES)}; apply the others (default: all five)"
    )
    parser.add_argument(
        "--attend-all", action="store_true", help="attend to the long requests' bodies too, not only store them"
    )
    parser.add_argument("--masked-reads", action="store_true", help="reads outside are masked, as kernels that guard do")
    parser.add_argument(
        "-j", "--jobs", type=int, default=0, help="servers at a time (default: one a core; on a GPU what its free memory holds)"
    )
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="seconds for one server (default: 600)")
    parser.add_argument(
        "--limit", type=float, metavar="S", help="start no server that would not end within so many seconds; --resume goes on"
    )
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write the table as CSV")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every outcome as JSON")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table as docs/isolation.md has it")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the table as a page")
    parser.add_argument(
        "--resume", action="store_true", help="keep the rows of --json FILE that the same server and code made; run the others"
    )


@dataclass
class Servers:
    """What is to be run: ``todo`` has the defects and the level of each server, ``rows`` those that a file kept."""

    options: Any
    config: Any
    todo: list[tuple[frozenset[str], str]]
    stored: bool
    neighbours: bool
    note: str
    forms: list
    rows: dict = field(default_factory=dict)

    def add(self, row: Mapping | None = None) -> None:
        """Take a row, and write every file anew."""
        from dcplab.engine import isolation

        if row is not None:
            self.rows[isolation.key(row)] = row
        _write(self.forms, isolation.in_order(self.rows.values()))


def run(args: argparse.Namespace) -> int:
    from dcplab.commands.incident import ranks_of

    args.began = time.monotonic()  # of this machine, so that its other processes can tell the time left by it
    ranks_of(args)
    from dcplab.engine import isolation, options

    plan = _plan(args)
    if args.resume:
        print(f"{len(plan.rows)} rows are there; {len(plan.todo)} are to be run.", file=sys.stderr)
    plan.add()  # report an unwritable file before any server runs
    if plan.options.ranks != "local":
        options.on_every_rank(plan.options, _together, args)
        return 0
    _alone(args, plan)
    table = isolation.in_order(plan.rows.values())
    print(isolation.as_text(table, plan.note))
    dead = sum(row["outcome"]["verdict"] == "died" for row in table)
    if dead:
        again = "the same with --resume" if args.json else "with --json FILE and --resume it"
        print(f"{dead} of {len(table)} servers died before their story ended; {again} runs those alone.", file=sys.stderr)
    return 1 if dead else 0


def _plan(args: argparse.Namespace) -> Servers:
    from dcplab import mode
    from dcplab.commands.incident import options_of
    from dcplab.engine import group, incident_report, isolation, options, scenario
    from dcplab.errors import CourseError

    levels = [word.strip() for word in args.levels.split(",") if word.strip()]
    if not levels or not set(levels) <= set(scenario.LEVELS):
        raise CourseError(f"--levels takes {', '.join(scenario.LEVELS)}, not {args.levels!r}.")
    varied = frozenset(PATCHES) if args.only is None else _patches(args.only)
    if args.resume and not args.json:
        raise CourseError("--resume goes on with the rows of a --json FILE, and none is given.")
    engine_options = options_of(args)
    if engine_options.page_size is None and options.device(engine_options) == "cpu":
        engine_options = replace(engine_options, page_size=4)  # half of the incident's page, since 64 servers run
    config = options.config(engine_options)
    for level in levels:
        scenario.check_room(config, level)
    stored, neighbours = not args.attend_all, not args.masked_reads
    server = {
        "ran_on": options.ran_on(engine_options),
        "config": {name: str(value) for name, value in vars(config).items()},
        "stored": stored,
        "neighbours": neighbours,
        "versions": mode.versions(),
        "sources": group.revision(),
    }
    rows = {isolation.key(row): row for row in (_kept(args.json, server) if args.resume else ())}
    todo = [(left, level) for level in levels for left in scenario.isolate_subsets() if left <= varied]
    # First the servers of the report: no patch, and every patch.
    todo = sorted((pair for pair in todo if pair not in rows), key=lambda pair: 0 < len(pair[0] & varied) < len(varied))
    note = (
        f"{server['ran_on']}; {incident_report.server(config)}; long requests "
        f"{'attended in full' if args.attend_all else 'stored, their last pages extended'}; "
        + ", ".join(f"{k} {v}" for k, v in mode.versions().items())
    )
    head = {"note": note, "command": "isolate " + " ".join(sys.argv[2:]), "versions": mode.versions(), "server": server}
    forms = [
        (args.csv, isolation.as_csv),
        (args.json, lambda table: isolation.as_json(table, head)),
        (args.markdown, isolation.as_markdown),
        (args.html, lambda table: _page(table, note)),
    ]
    return Servers(engine_options, config, todo, stored, neighbours, note, forms, rows)


def _alone(args: argparse.Namespace, plan: Servers) -> None:
    """Run each server in a process of its own, which holds all its ranks; several at a time."""
    from dcplab import subprocess_call
    from dcplab.engine import defects as switches
    from dcplab.engine import options

    on_gpu = options.device(plan.options) == "cuda"
    given = {"fields": asdict(plan.options), "stored": plan.stored, "neighbours": plan.neighbours}
    calls = [
        {
            "module": "dcplab.engine.isolation",
            "function": "one",
            "args": {**given, "defects": sorted(left, key=switches.NAMES.index), "level": level},
            "timeout_s": args.timeout,
        }
        for left, level in plan.todo
    ]
    jobs = _jobs(args.jobs, plan.config, plan.todo, on_gpu)
    ends = subprocess_call.side_by_side(
        calls,
        jobs,
        fresh=on_gpu,
        first_alone=on_gpu,
        limit_s=args.limit and max(0.0, args.limit - (time.monotonic() - args.began) - LEAVE_S),
    )
    for row in _run(ends, calls):
        plan.add(row)
    _left(args, plan)


def _left(args: argparse.Namespace, plan: Servers) -> None:
    """Say how many servers the limit left out."""
    from dcplab.engine import isolation

    asked = {(frozenset(left), level) for left, level in plan.todo}
    if args.limit and (missing := len(asked - {isolation.key(row) for row in plan.rows.values()})):
        print(f"{missing} servers are left at the limit of {args.limit:g} s; --resume runs them.", file=sys.stderr, flush=True)


def _together(engine_options: Any, args: argparse.Namespace) -> None:
    """Run the servers one after another, each on all processes; this is one of them. The first writes, and prints the table."""
    from dcplab.engine import comm, isolation, options
    from dcplab.engine import defects as switches

    with comm.make(engine_options.ranks, engine_options.dcp_size, options.device(engine_options)) as ranks:
        plan = _plan(args)
        # Nobody writes before everybody has read.
        ranks.agree("table", {"servers to run": sorted((level, *sorted(left)) for left, level in plan.todo)})
        calls = [{"args": {"defects": sorted(left, key=switches.NAMES.index), "level": level}} for left, level in plan.todo]

        def ends() -> Iterator[tuple[int, dict]]:
            longest = 0.0
            for number, (left, level) in enumerate(plan.todo):
                if args.limit and ranks.share("time", time.monotonic() - args.began)[0] + longest + LEAVE_S > args.limit:
                    break  # the first process's clock, so that all do the same
                began, asked = time.monotonic(), sorted(left, key=switches.NAMES.index)
                row = isolation.row(plan.config, ranks, asked, level, stored=plan.stored, neighbours=plan.neighbours)
                seconds = time.monotonic() - began
                longest = max(longest, seconds)
                yield number, {"value": row, "seconds": seconds}

        for row in _run(ends(), calls, tell=ranks.leads):
            if ranks.leads:
                plan.add(row)
        if ranks.leads:
            print(isolation.as_text(isolation.in_order(plan.rows.values()), plan.note), flush=True)
            _left(args, plan)


def _patches(words: str) -> frozenset[str]:
    from dcplab.errors import CourseError

    names = [word.strip() for word in words.split(",") if word.strip()]
    if not names or not set(names) <= set(PATCHES):
        raise CourseError(f"--only takes patches, which are {', '.join(PATCHES)}, not {words!r}.")
    return frozenset(names)


def _run(ends: Iterator[tuple[int, dict]], calls: list[dict], tell: bool = True) -> Iterator[dict]:
    """Yield the rows as their servers end. Each is shown with an estimate of the time left, once there is one."""
    from dcplab.engine import isolation

    began = time.monotonic()
    for count, (number, done) in enumerate(ends, 1):
        asked = calls[number]["args"]
        row = done["value"] or isolation.died(asked["defects"], asked["level"], done["why"], done["seconds"])
        left = (time.monotonic() - began) / count * (len(calls) - count)
        out = row["outcome"]
        said = f"{out['verdict']} ({out['why']})" if out["verdict"] == "died" else out["verdict"]
        what = f"{row['level']}, {isolation.patches_of(row)}: {said}"
        remains = f", about {_minutes(left)} left" if count < len(calls) else ""
        if tell:
            print(f"{count}/{len(calls)}  {what}; {done['seconds']:.0f} s{remains}", file=sys.stderr, flush=True)
        yield row


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _jobs(asked: int, config, todo: list, on_gpu: bool) -> int:
    """Return the number of servers at a time: as asked, but not more than a GPU's free memory holds."""
    from dcplab.engine import configurator, options

    if not on_gpu or not todo:
        return max(1, min(asked or os.cpu_count() or 1, len(todo)))
    each = max(configurator.gpu_bytes(config, left) for left, _ in todo)
    free = options.free_gpu_bytes()
    fit = max(1, free // each)
    jobs = max(1, min(asked or fit, fit, len(todo)))
    print(
        f"A server of this size takes up to {each / 2**30:.1f} GiB of the GPU, of which {free / 2**30:.0f} are free: "
        f"{jobs} at a time.",
        file=sys.stderr,
    )
    return jobs


def _kept(path: Path, server: Mapping) -> list[dict]:
    """Return the rows of a file that need not run again: those of the same server and code, unless the server died."""
    from dcplab.errors import CourseError
    from dcplab.notebook import backup

    if not path.exists():
        return []
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        before, runs = data.get("server") or {}, data["runs"]
    except (ValueError, KeyError, AttributeError) as error:
        raise CourseError(
            f"{path} is no file of this command's ({type(error).__name__}); without --resume it is replaced."
        ) from None
    if other := [name for name, value in server.items() if before.get(name) != value]:
        copy = backup.keep(path)
        print(f"{path} is of another {', '.join(other)}: all is run again, and a copy of it is {copy}.", file=sys.stderr)
        return []
    return [row for row in runs if row["outcome"]["verdict"] != "died"]


def _write(forms: list, table: list) -> None:
    """Write every file asked for, whole. A run that is killed leaves the previous file."""
    from dcplab import files

    for path, form in forms:
        if path:
            files.replace(path, form(table))


def _page(table: Sequence[Mapping[str, Any]], note: str) -> str:
    from dcplab.engine import isolation
    from dcplab.present.page import fill

    rows = [(isolation.COLOURS[row["outcome"]["verdict"]], isolation.cells(row)) for row in table]
    return str(fill("matrix.html", note=note, header=isolation.COLUMNS, rows=rows))
