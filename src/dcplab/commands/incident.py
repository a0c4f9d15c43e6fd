"""Replay the incident on a small server.

Three questions on a fresh server, two long requests, the same questions again. Prints what was asked and what
came, the watermark against each buffer, the first wrong operation, and what was overwritten.

  ./course incident                         the server as it was reported
  ./course incident --defects none          with every patch
  ./course incident --defects ckv_write     with one patch missing
  ./course incident --answer --ranks gloo --processes 2   with your wiring of lab 05, in two processes"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

HELP = "replay the incident: right, two long requests, wrong"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--defects",
        metavar="A,B",
        help="switches, or none, unpatched, upstream, all (default: unpatched; none with --answer)",
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
    parser.add_argument(
        "--draft", type=int, default=0, metavar="N", help="tokens that a draft proposes, for a verify to accept (default: none)"
    )
    parser.add_argument(
        "--answer",
        nargs="?",
        const="",
        metavar="FILE",
        help="run your wiring of 5a and 5b in place of the course's, as a program of yours, without a check's walls: that of\n"
        "your notebook, or of FILE, a notebook or a .py file",
    )
    parser.add_argument(
        "--mine",
        nargs="?",
        const="all",
        metavar="1c,3d",
        help="with --answer: your functions of labs 01 to 04 under it, those of the parts named (default: of all that pass)",
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


def ranks_of(args: argparse.Namespace) -> tuple[str, int | None]:
    """Return local, gloo or nccl, and how many processes are asked for. Refuses what could not run, before torch is there."""
    from dcplab.engine import world
    from dcplab.errors import CourseError

    try:
        ranks, processes = world.asked(args.ranks, args.processes, args.gpus)
        world.check(ranks, args.dcp_size, processes)
    except CourseError:
        world.leave_it_to_the_first()
        raise
    return ranks, processes


def options_of(args: argparse.Namespace):
    ranks, processes = ranks_of(args)
    from dcplab.engine.options import EngineOptions

    sizes = (args.dcp_size, args.size, args.page_size, args.layers, args.topk, args.chunk)
    return EngineOptions(args.device, ranks, *sizes, processes=processes)


def run(args: argparse.Namespace) -> int:
    if not args.list:
        ranks_of(args)
    from dcplab.engine import defects as switches

    if args.list:
        width = max(map(len, switches.NAMES))
        print("\n".join(f"{d.name:<{width}}  {d.does} ({d.source})" for d in switches.ALL))
        return 0
    from dcplab.engine import options, scenario
    from dcplab.on_ranks import story

    chosen = switches.parse(args.defects or ("unpatched" if args.answer is None else "none"))
    names = ("need_sort", "interleave", "indexer", "host_tokens", "prefill_dcp", "draft")
    engine_options = replace(options_of(args), **{name: getattr(args, name) for name in names})
    level = args.level or scenario.default_level(chosen)
    scenario.check_room(options.config(engine_options), level)  # bad input is refused before any process is started
    told = story.Story(chosen, level, args.typed, args.strict, args.masked_reads, args.stored, _wiring(args), args.json)
    options.on_every_rank(engine_options, story.play, told)
    return 0


def _wiring(args: argparse.Namespace) -> Any:
    """Return the learner's program that is asked for, or None."""
    from dcplab.errors import CourseError

    if args.answer is None:
        if args.mine is not None:
            raise CourseError("--mine says what runs under your own wiring: give --answer too.")
        return None
    if args.mine is not None and args.interleave != 1:
        raise CourseError("Your functions of labs 01 to 04 deal locs one at a time: with --mine there is no --interleave.")
    from dcplab.on_ranks import wiring

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    return wiring.program(Path(args.answer) if args.answer else None, (args.mine or "").replace(",", " ").split(), say)
