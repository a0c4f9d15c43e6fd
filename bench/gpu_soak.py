"""Fresh servers, several at once on one GPU, each in a process of its own: does every one of them answer, and rightly?

    python bench/gpu_soak.py --servers 100            warm: kernels come from TileLang's and Triton's caches on disk
    python bench/gpu_soak.py --servers 40 --cold      each server compiles its own, in empty caches
    python bench/gpu_soak.py --limit 200              what is not done after 200 s is ended, and said

A server has one of two chunk sizes and one of three ways to batch; together they make all five kinds of batches: extend,
decode, mixed, draft and verify. It answers three questions, two long requests and the questions again. One line a server; exit
status 1 if one died, was wrong, or touched what it should not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

CHUNKS = {"cuda": (4096, 1024), "cpu": (256, 64)}
LONG = {"cuda": 9000, "cpu": 400}  # words of a long request: several chunks of either size
WAYS = {"plain": {}, "mixed": {"mixed": True}, "draft": {"draft_tokens": 3}}
KINDS = ("extend", "decode", "mixed", "draft", "verify")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--servers", type=int, default=100)
    parser.add_argument(
        "-j", "--jobs", type=int, help="servers side by side (default: 6 on a GPU, as far as its memory goes; 2 on a CPU)"
    )
    parser.add_argument("--limit", type=float, metavar="S", help="seconds for all of them")
    parser.add_argument("--timeout", type=float, default=300, metavar="S", help="seconds for one (default: 300)")
    parser.add_argument("--cold", action="store_true", help="empty kernel caches for every server")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--dcp-size", type=int, help="ranks (default: 8 on a GPU, 4 on a CPU)")
    parser.add_argument(
        "--size",
        type=int,
        metavar="C",
        help="rows a rank (default: 113,920 on a GPU, a quarter of the report's; 1,200 on a CPU)",
    )
    parser.add_argument("--only", choices=tuple(WAYS), help="one way to batch")
    parser.add_argument("--chunk", type=int, help="one chunk size")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()

    from dcplab import mode, subprocess_call
    from dcplab.engine import configurator, options

    device = options.device(options.EngineOptions(args.device))
    gpu = device == "cuda"
    dcp_size, size = args.dcp_size or (8 if gpu else 4), args.size or (113_920 if gpu else 1_200)
    kinds = [(c, w) for c in ([args.chunk] if args.chunk else CHUNKS[device]) for w in ([args.only] if args.only else WAYS)]
    largest = options.config(options.EngineOptions(device, dcp_size=dcp_size, size=size))
    largest = replace(largest, **WAYS["draft" if args.only in (None, "draft") else "plain"])
    jobs = args.jobs or (min(6, max(1, options.free_gpu_bytes() // configurator.gpu_bytes(largest))) if gpu else 2)
    what = [kinds[i % len(kinds)] for i in range(args.servers)]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    began, rows = time.monotonic(), {}
    caches = "each server with empty caches" if args.cold else "caches on disk shared"
    print(
        f"{mode.current().label if gpu else 'CPU (torch)'}; D={dcp_size}, C={size}; {jobs} side by side; {caches}", flush=True
    )
    with contextlib.ExitStack() as folders:
        calls = []
        for chunk, way in what:
            env = {}
            if args.cold:
                here = folders.enter_context(tempfile.TemporaryDirectory(prefix="dcplab-soak-"))
                env = {"TILELANG_CACHE_DIR": f"{here}/tilelang", "TRITON_CACHE_DIR": f"{here}/triton"}
            given = {"device": device, "dcp_size": dcp_size, "size": size, "chunk": chunk, "way": way}
            calls.append({"module": "gpu_soak", "function": "serve", "args": given, "env": env, "timeout_s": args.timeout})
        for number, done in subprocess_call.side_by_side(calls, jobs, first_alone=gpu and not args.cold, limit_s=args.limit):
            rows[number] = row = told(number, what[number], done)
            print(f"{len(rows):>4} of {args.servers}  {time.monotonic() - began:6.0f} s  {line(row)}", flush=True)
    bad = [r for r in rows.values() if r["outcome"] != "right"]
    kinds = Counter()
    for r in rows.values():
        kinds.update(r.get("batches", {}))
    counts = Counter(r["outcome"] for r in rows.values())
    print(
        f"{len(rows)} of {args.servers} servers in {time.monotonic() - began:.0f} s: "
        + ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
        + f"; batches: {', '.join(f'{k} {kinds[k]}' for k in KINDS)}"
    )
    for r in bad:
        print(f"server {r['server']}: {line(r)}")
    if args.json:
        head = {
            "device": mode.gpu_name() if gpu else mode.cpu_name(),
            "mode": "gpu" if gpu else "cpu",
            "versions": mode.versions(),
        }
        head |= {"dcp_size": dcp_size, "size": size, "side_by_side": jobs, "cold": args.cold, "asked": args.servers}
        Path(args.json).write_text(json.dumps(head | {"servers": [rows[n] for n in sorted(rows)]}, indent=1) + "\n")
    return 1 if bad or not rows else 0


def told(number: int, what: tuple[int, str], done: dict) -> dict:
    """Make a server's row: what it was, and what it came to."""
    row = {"server": number, "chunk": what[0], "way": what[1], "seconds": round(done["seconds"], 1)}
    if done["value"] is None or done["how"] != "done":
        return row | {"outcome": "died", "why": done["why"], "errors": done["errors"][-4000:]}
    return row | done["value"]


def line(row: dict) -> str:
    batches = ", ".join(f"{k} {n}" for k, n in row.get("batches", {}).items())
    return (
        f"{row['way']}, chunk {row['chunk']}: {row['outcome']}"
        + (f" ({row['why']})" if row.get("why") else "")
        + (f"; {row['seconds']:.0f} s; {batches}")
    )


def serve(device: str, dcp_size: int, size: int, chunk: int, way: str, asked: int = 3, **model: int) -> dict:
    """Run one server from its start to its last answer, in this process. ``asked``: how many of the three questions. ``model``:
    other fields of its ServerConfig, such as ``layers`` and ``topk``.

    Returns ``batches``, steps by kind, ``outcome``, and ``why``: what is not right."""
    import torch

    from dcplab.engine import options, scenario, tokenizer
    from dcplab.engine.comm import Local
    from dcplab.engine.scheduler import Engine

    if device == "cpu":
        torch.set_num_threads(1)
    config = replace(
        options.config(options.EngineOptions(device, dcp_size=dcp_size, size=size, chunk=chunk)), **model, **WAYS[way]
    )
    engine, batches = Engine(config, comm=Local(dcp_size, device)), Counter()
    forward, propose = engine.runner.forward, engine.runner.propose

    def counted(mode, *given):
        batches[mode] += 1
        return forward(mode, *given)

    def guessed(batch, length, paths):
        batches["draft"] += length
        return propose(batch, length, paths)

    engine.runner.forward, engine.runner.propose = counted, guessed
    questions = scenario.asked(config.width, config.topk)[:asked]
    wrong = []
    for act, prompts in (
        ("fresh", questions),
        ("long", [tokenizer.document(LONG[device], seed) for seed in range(2)]),
        ("again", questions),
    ):
        requests = []
        for question in prompts:
            requests.append(engine.submit(question.prompt, question.words, question.name))
            while config.mixed and not requests[-1].output:  # one by one, so that some decode while others extend
                engine.step()
        engine.run()
        wrong += [f"{act}: {q.name}" for q, r in zip(prompts, requests, strict=True) if engine.text(r) != q.answer]
    if device == "cuda":
        torch.cuda.synchronize()
    watcher = engine.watcher
    touched = [a.sentence() for a in (watcher.first_misuse, watcher.first_outside) if a]
    touched += [f"{d.band} changed" for w in engine.workers for d in w.arena.damage()]
    return {
        "outcome": "wrong" if wrong else "unsafe" if touched else "right",
        "why": "; ".join(wrong + touched),
        "batches": dict(batches),
        "metrics": asdict(engine.metrics),
        "peak_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2) if device == "cuda" else None,
    }


if __name__ == "__main__":
    sys.exit(main())
