"""Replay the incident on a small server.

Three questions on a fresh server, two long requests, the same questions again. Prints what was asked and what
came, the watermark against each buffer, the first wrong operation, and what was overwritten.

  ./course incident                         the server as it was reported
  ./course incident --defects none          with every patch
  ./course incident --defects ckv_write     with one patch missing"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

HELP = "replay the incident: right, two long requests, wrong"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--defects", default="unpatched", metavar="A,B", help="switches, or none, unpatched, upstream, all (default: unpatched)"
    )
    parser.add_argument("--list", action="store_true", help="list the switches and stop")
    server_arguments(parser)
    parser.add_argument("--level", choices=("below", "above", "full"), help="how far the long requests push the watermark")
    parser.add_argument("--typed", action="store_true", help="refuse the first index of a wrong space, before data is wrong")
    parser.add_argument("--strict", action="store_true", help="refuse the first index outside its buffer")
    parser.add_argument("--masked-reads", action="store_true", help="reads outside are masked, as kernels that guard do")
    parser.add_argument(
        "--stored",
        action="store_true",
        help="only store the long requests' bodies, and extend their last pages (for full scale)",
    )
    parser.add_argument(
        "--need-sort",
        action="store_true",
        help="the allocator of a prefill or decode node: freed pages wait until the others run short",
    )
    parser.add_argument(
        "--interleave",
        type=int,
        default=1,
        metavar="I",
        help="locs that go to one rank before the next one's turn (default: 1)",
    )
    parser.add_argument(
        "--indexer",
        default="replicated",
        choices=("replicated", "exact", "union"),
        help="index-K on every rank; or sharded, with an exact top-k or the union of the ranks' (default: replicated)",
    )
    parser.add_argument(
        "--host-tokens",
        type=int,
        metavar="N",
        help="tokens of retracted requests that the host has room for (default: no bound)",
    )
    parser.add_argument(
        "--prefill-dcp",
        type=int,
        default=0,
        metavar="D",
        help="ranks of a prefill node that each prompt comes from (default: none)",
    )
    parser.add_argument("--json", metavar="FILE", help="write the outcome as JSON too (- for standard output, instead of text)")


def server_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that describe a server, shared by `incident` and `isolate`."""
    parser.add_argument("--dcp-size", type=int, default=4, metavar="D", help="ranks (default: 4)")
    parser.add_argument(
        "--size", type=int, metavar="C", help="rows one rank's c-KV holds (default: as small as the story allows)"
    )
    parser.add_argument("--page-size", type=int, metavar="P", help="rows in a page (default: 8 on a CPU, 64 on a GPU)")
    parser.add_argument("--layers", type=int, default=3, help="DSA layers (default: 3)")
    parser.add_argument("--topk", type=int, help="keys selected for a query (default: 32 on a CPU, 2048 on a GPU)")
    parser.add_argument("--chunk", type=int, help="tokens extended in a step (default: 256 on a CPU, 4096 on a GPU)")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="default: a GPU where there is one")
    parser.add_argument(
        "--ranks",
        default="local",
        choices=("local", "gloo", "nccl"),
        help="all in one process, or dealt to processes over gloo (CPU) or NCCL (a GPU each): those of torchrun, or those\n"
        "that --processes or --gpus start (default: local)",
    )
    started = parser.add_mutually_exclusive_group()
    started.add_argument(
        "--processes", type=int, metavar="N", help="with --ranks gloo: processes to start (default: one a rank)"
    )
    started.add_argument("--gpus", type=int, metavar="N", help="start N processes, a GPU each, that hold the ranks over NCCL")


def options_of(args: argparse.Namespace):
    from dcplab.engine.options import EngineOptions
    from dcplab.errors import CourseError

    ranks = args.ranks
    if args.gpus is not None:
        if ranks == "gloo":
            raise CourseError("--gpus starts ranks over NCCL, and --ranks gloo runs on the CPU: give --processes.")
        ranks = "nccl"
    sizes = (args.dcp_size, args.size, args.page_size, args.layers, args.topk, args.chunk)
    return EngineOptions(args.device, ranks, *sizes, processes=args.processes if args.gpus is None else args.gpus)


def run(args: argparse.Namespace) -> int:
    from dcplab.engine import defects as switches

    if args.list:
        width = max(map(len, switches.NAMES))
        print("\n".join(f"{d.name:<{width}}  {d.does} ({d.source})" for d in switches.ALL))
        return 0
    from dcplab.engine import options, scenario

    chosen = switches.parse(args.defects)
    engine_options = replace(
        options_of(args),
        **{name: getattr(args, name) for name in ("need_sort", "interleave", "indexer", "host_tokens", "prefill_dcp")},
    )
    level = args.level or scenario.default_level(chosen)
    scenario.check_room(options.config(engine_options), level)  # bad input is refused before any process is started
    options.on_every_rank(
        engine_options, play, chosen, level, (args.typed, args.strict, args.masked_reads, args.stored), args.json
    )
    return 0


def play(engine_options, chosen: frozenset[str], level: str, modes: tuple[bool, bool, bool, bool], to_json: str | None) -> None:
    """Run one process's share of the story. The process that hosts rank 0 prints."""
    from dcplab.engine import comm, options, scenario
    from dcplab.engine.runner import ServerCrash
    from dcplab.engine.scheduler import Engine
    from dcplab.engine.space_tags import SpaceError
    from dcplab.present import progress_line

    typed, strict, masked, stored = modes
    device = options.device(engine_options)
    config = scenario.settings(options.config(engine_options), chosen)
    with comm.make(engine_options.ranks, engine_options.dcp_size, device) as ranks:
        ranks.agree("story", {"--level": level, "--stored": stored})
        if ranks.leads and len(ranks.ranks) < engine_options.dcp_size:
            count, each = engine_options.dcp_size // len(ranks.ranks), len(ranks.ranks)
            print(
                f"{count} processes have met over {ranks.name}, {each} of {engine_options.dcp_size} ranks in each",
                file=sys.stderr,
                flush=True,
            )
        try:
            engine = Engine(config, chosen, ranks, typed=typed, strict=strict, neighbours=not masked)
        except SpaceError as error:
            if ranks.leads:
                print(f"Refused before any data: {error}")
            return
        except ServerCrash as error:
            if ranks.leads:
                print(f"It did not start: {error}")
            return
        with progress_line.line("the incident") as say:
            out = scenario.story(engine, level, _progress(say) if ranks.leads else None, stored)
        if ranks.leads:
            _tell(config, chosen, level, out, options.ran_on(engine_options), to_json)


def _tell(config, chosen: frozenset[str], level: str, out, ran_on: str, to_json: str | None) -> None:
    import json

    from dcplab import mode
    from dcplab.engine import incident_report

    if to_json:
        data = {
            "ran_on": ran_on,
            "versions": mode.versions(),
            "defects": sorted(chosen),
            "level": level,
        } | incident_report.outcome_data(out)
        if to_json == "-":
            print(json.dumps(data, indent=1))
            return
        with open(to_json, "w") as f:
            json.dump(data, f, indent=1)
    print(incident_report.incident(config, chosen, level, out, ran_on))


def _progress(say):
    """Show progress: by ``say`` on a terminal; in a file, a line at the start of an act and one every few seconds."""
    last, at = None, 0.0

    def progress(when: str, engine) -> None:
        nonlocal last, at
        m = engine.metrics
        text = f"{when}: step {m.steps}, {m.extended} tokens extended, {m.decoded} decoded, watermark {m.largest_loc}"
        if sys.stderr.isatty():
            say(text)
        elif last != when or time.monotonic() - at > 5:
            last, at = when, time.monotonic()
            print(text, file=sys.stderr, flush=True)

    return progress
