"""Run every subset of the patches, below and above the watermark, and say what each does.

Each run is the incident on a fresh server with some of the five patches of #36989 applied: index-K size, c-KV
write, decode read, extend gather, capacity assert. Prints crash, silent corruption, right, or alarm, with the first
wrong operation of each.

  ./course isolate                              64 small servers on the CPU
  ./course isolate --levels above --csv t.csv --json t.json --html t.html
  ./course isolate --only index_k_size,ckv_write   subsets of two patches; the others are applied"""

from __future__ import annotations

import argparse
import sys

HELP = "which patch fixes which symptom: every subset, run"


def arguments(parser: argparse.ArgumentParser) -> None:
    from dcplab.commands.incident import server_arguments

    server_arguments(parser)
    parser.add_argument("--levels", default="below,above", metavar="A,B", help="of below, above, full (default: below,above)")
    parser.add_argument("--only", metavar="A,B", help="vary these patches only and apply the others (default: all five)")
    parser.add_argument(
        "--attend-all", action="store_true", help="attend to the long requests' bodies too, not only store them"
    )
    parser.add_argument("--masked-reads", action="store_true", help="reads outside are masked, as kernels that guard do")
    parser.add_argument("-j", "--jobs", type=int, default=0, help="processes on a CPU (default: one a core)")
    parser.add_argument("--csv", metavar="FILE", help="write the table as CSV")
    parser.add_argument("--json", metavar="FILE", help="write every outcome as JSON")
    parser.add_argument("--html", metavar="FILE", help="write the table as a page")


def run(args: argparse.Namespace) -> int:
    import os

    from dcplab import mode
    from dcplab.commands.incident import wish_of
    from dcplab.engine import defects as switches
    from dcplab.engine import incident_report, options, scenario
    from dcplab.errors import CourseError

    if args.ranks != "local":
        raise CourseError("isolate runs its ranks in one process; incident knows gloo and nccl.")
    levels = [word.strip() for word in args.levels.split(",") if word.strip()]
    if not levels or not set(levels) <= set(scenario.LEVELS):
        raise CourseError(f"--levels takes {', '.join(scenario.LEVELS)}, not {args.levels!r}.")
    varied = switches.parse(args.only) if args.only else frozenset(switches.PATCHES)
    if not varied <= set(switches.PATCHES):
        raise CourseError(f"--only takes patches, which are {', '.join(switches.PATCHES)}.")
    from dataclasses import replace

    wish = wish_of(args)
    on_gpu = options.device(wish) == "cuda"
    if wish.page_size is None and not on_gpu:
        wish = replace(wish, page_size=4)  # half of the incident's: 64 servers are run
    config = options.config(wish)
    for level in levels:
        scenario.check_room(config, level)
    todo = [(left, level) for level in levels for left in scenario.isolate_subsets() if left <= varied]
    jobs = 1 if on_gpu else max(1, min(args.jobs or os.cpu_count() or 1, len(todo)))
    rows = []
    for i, row in enumerate(_rows(wish, todo, jobs, not args.attend_all, not args.masked_reads)):
        rows.append(row)
        print(
            f"{i + 1}/{len(todo)}  {row.level}  {switches.spell(row.defects)}: {row.outcome.verdict}",
            file=sys.stderr,
            flush=True,
        )
    note = (
        f"{options.ran_on(wish)}; {incident_report.server(config)}; long requests "
        f"{'attended in full' if args.attend_all else 'stored, their last pages extended'}; "
        + ", ".join(f"{k} {v}" for k, v in mode.versions().items())
    )
    print(incident_report.isolation_text(rows, note))
    head = {"note": note, "command": "isolate " + " ".join(sys.argv[2:]), "versions": mode.versions()}
    for path, text in (
        (args.csv, lambda: incident_report.isolation_csv(rows)),
        (args.json, lambda: incident_report.isolation_json(rows, head)),
        (args.html, lambda: incident_report.isolation_html(rows, note)),
    ):
        if path:
            with open(path, "w") as f:
                f.write(text())
    return 0


def _rows(wish, todo, jobs, stored, neighbours):
    """The runs, in order, from one process or from several."""
    if jobs == 1:
        for left, level in todo:
            yield one(wish, left, level, stored, neighbours)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(one, wish, left, level, stored, neighbours) for left, level in todo]
        for future in futures:
            yield future.result()


def one(wish, left: frozenset[str], level: str, stored: bool, neighbours: bool):
    """One run on a fresh server."""
    import gc

    import torch

    from dcplab.engine import comm, incident_report, options, scenario
    from dcplab.engine.scheduler import Engine

    device = options.device(wish)
    gc.collect()  # at full scale two servers may not fit a GPU at once
    if device == "cpu":
        torch.set_num_threads(wish.threads)
    engine = Engine(options.config(wish), left, comm.make("local", wish.dcp_size, device), neighbours=neighbours)
    return incident_report.Row(left, level, scenario.story(engine, level, stored=stored))
