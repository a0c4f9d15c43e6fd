"""Every kernel as the engine launches it, on small servers: the program that compute-sanitizer runs on a GPU.

    PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool memcheck python tests/gpu/engine_smoke.py [small] [WAY]

Two ranks answer three questions and two requests of some 300 tokens each; with all three ways to batch that is extend, decode,
mixed, draft and verify steps. ``WAY``: plain, mixed or draft; without one, all three. ``small``: one layer and two short
questions, for racecheck, which takes about a tenth of a second for a launch. Exit status 1 where an answer is wrong.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import gpu_soak
import torch


def main(ways: list[str]) -> int:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    small = "small" in ways
    gpu_soak.LONG[device] = 120 if small else 300
    less = {"layers": 1, "asked": 2} if small else {}
    topk = 256 if device == "cuda" else 32  # a question is longer than top-k: at 2,048 a server would take minutes
    bad = 0
    for way in [w for w in ways if w != "small"] or list(gpu_soak.WAYS):
        server = gpu_soak.serve(device, dcp_size=2, size=1024, chunk=256, way=way, topk=topk, **less)
        print(way, server["outcome"], server["why"], server["batches"], flush=True)
        bad += server["outcome"] != "right"
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
