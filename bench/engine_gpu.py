"""The engine on one GPU: does it answer rightly at full scale, and is a decode step bound by launches?

    python bench/engine_gpu.py agree            D ranks against one, on the GPU's kernels; each D in a process of its own
    python bench/engine_gpu.py speed [--layers 3 --prompt 300000]
                                                extend a long prompt in chunks, then decode; with the profile of a step

Eight ranks run in one process, one after another: times are those of eight ranks' work on one GPU. JSON goes to
``bench/results``; exit status 1 if a server died.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from dcplab import mode, subprocess_call
from dcplab.engine import tokenizer
from dcplab.engine.comm import Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.scheduler import Engine

RESULTS = Path(__file__).with_name("results")
GPU = ServerConfig(page_size=64, heads=16, index_heads=32, topk=2048, chunk=4096, layers=3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("agree", "speed"))
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--prompt", type=int, default=300_000)
    parser.add_argument("--size", type=int, default=455_744)
    parser.add_argument("--dcp-size", type=int, default=8)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("This bench times a GPU, and torch finds none here.")
    found = agree(args) if args.what == "agree" else speed(args)
    record = {"bench": f"engine {args.what}", "device": torch.cuda.get_device_name(), "versions": mode.versions()} | found
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"engine_{args.what}.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))
    return 1 if any("died" in row for row in found.get("ranks", {}).values()) else 0


def agree(args) -> dict:
    """Compare each D with one rank; a server that dies costs its own D."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    sizes = (2, 3, 4, 8)
    calls = [
        {"module": "engine_gpu", "function": "against_one", "args": {"dcp_size": d, "layers": args.layers}, "timeout_s": 400}
        for d in sizes
    ]
    ends = dict(subprocess_call.side_by_side(calls, 1))
    return {"ranks": {d: ends[i]["value"] or {"died": ends[i]["why"]} for i, d in enumerate(sizes)}}


def against_one(dcp_size: int, layers: int) -> dict:
    """Compare the answers of D ranks with those of one, and their attention outputs, decode and extend."""
    asked = tokenizer.questions(700)
    prompts, new = [q.prompt for q in asked], [q.words for q in asked]
    base = replace(GPU, size=8192, dcp_size=1, prefix_cache=False, layers=layers)
    one = Engine(base, comm=Local(1, "cuda"), capture=True)
    many = Engine(replace(base, dcp_size=dcp_size), comm=Local(dcp_size, "cuda"), capture=True)
    expected, found = one.generate(prompts, new), many.generate(prompts, new)
    pairs = list(zip(one.shared.captured, many.shared.captured, strict=True))
    return {
        "right": [one.tokenizer.decode(t) == q.answer for t, q in zip(expected, asked, strict=True)],
        "same_tokens": found == expected,
        "worst_output_difference": max(float((a["out"] - b["out"]).abs().max()) for a, b in pairs),
        "worst_lse_difference": max(float((a["lse"] - b["lse"]).abs().max()) for a, b in pairs if a["lse"] is not None),
        "clean": many.watcher.first_misuse is None
        and many.watcher.first_outside is None
        and not many.workers[0].arena.damage(),
    }


def speed(args) -> dict:
    config = replace(GPU, size=args.size, dcp_size=args.dcp_size, layers=args.layers)
    engine = Engine(config, comm=Local(args.dcp_size, "cuda"), watch=False)
    warm = tokenizer.document(6000, 9)  # kernels compile here
    engine.generate([warm.prompt], warm.words)
    document = tokenizer.document(args.prompt, 1)
    request = engine.submit(document.prompt, document.words)
    torch.cuda.synchronize()
    start = time.perf_counter()
    while not request.output:
        engine.step()
        if engine.metrics.steps % 10 == 0:
            print(f"{request.stored} tokens, {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    torch.cuda.synchronize()
    extend_s = time.perf_counter() - start
    engine.run()
    found = {
        "config": {k: str(v) for k, v in vars(config).items()},
        "memory_gb": round(torch.cuda.max_memory_allocated() / 1e9, 1),
        "prompt_tokens": request.prompt_len,
        "extend_s": round(extend_s, 2),
        "extend_tokens_per_s": round(request.prompt_len / extend_s),
        "answer_right": engine.text(request) == document.answer,
        "decode": [],
    }
    for batch in (1, 8):
        found["decode"].append(decode(engine, document, batch))
    return found


def decode(engine: Engine, document: tokenizer.Question, batch: int) -> dict:
    """Measure the steps a second of ``batch`` requests that share the long prefix, and where the time of a step goes."""
    for i in range(batch):
        engine.submit(f"{document.prompt} more{i}: {' '.join(document.prompt.split()[-2:])}", 60)
    while engine.waiting or any(r.extending for r in engine.running):
        engine.step()
    for _ in range(3):
        engine.step()
    torch.cuda.synchronize()
    start, steps = time.perf_counter(), 20
    for _ in range(steps):
        engine.step()
    torch.cuda.synchronize()
    step_ms = 1e3 * (time.perf_counter() - start) / steps
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    ) as profile:
        for _ in range(3):
            engine.step()
        torch.cuda.synchronize()
    events = profile.key_averages()
    kernels = [e for e in events if e.device_type == torch.autograd.DeviceType.CUDA]
    launches = [e for e in events if e.key.startswith(("cudaLaunch", "cuLaunch"))]
    engine.run()
    return {
        "batch": batch,
        "step_ms": round(step_ms, 2),
        "tokens_per_s": round(1e3 * batch / step_ms, 1),
        "launches_a_step": sum(e.count for e in launches) // 3,
        "us_a_launch": round(1e3 * step_ms / max(1, sum(e.count for e in launches) / 3), 1),
        "gpu_busy_ms_a_step": round(sum(e.self_device_time_total for e in kernels) / 3e3, 2),
        "in_launch_calls_ms_a_step": round(sum(e.self_cpu_time_total for e in launches) / 3e3, 2),
        "longest_kernels": [
            {"name": e.key[:80], "ms_a_step": round(e.self_device_time_total / 3e3, 3), "count": e.count // 3}
            for e in sorted(kernels, key=lambda e: -e.self_device_time_total)[:12]
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
