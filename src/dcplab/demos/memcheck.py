"""Runs compute-sanitizer on an index-K write past the end, with PyTorch's cache of allocations and without it."""

from __future__ import annotations

import os
import re
import shutil

from dcplab import mode, subprocess_call
from dcplab.present.display import Shown

UNCACHED = "PYTORCH_NO_CUDA_MEMORY_CACHING"


def tool() -> str | None:
    """Return the path of compute-sanitizer, or None."""
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=os.path.join(home, "bin"))


def write_past_the_end() -> str:
    """Write a key of loc 256 into index-K of four pages, which is an allocation of its own. Called in a child, under the
    sanitizer."""
    import torch
    from dcp_kernels.index_k import write_index_k

    buf = torch.zeros(4, 64 * 132, dtype=torch.uint8, device="cuda")
    keys, scale = torch.ones(1, 128, dtype=torch.uint8, device="cuda"), torch.ones(1, device="cuda")
    write_index_k(buf, keys, scale, torch.tensor([256], device="cuda"), 64)
    torch.cuda.synchronize()
    return "no error was raised"


def errors(report: str) -> int | None:
    """Read the count in the sanitizer's summary line."""
    found = re.search(r"ERROR SUMMARY: (\d+) error", report)
    return int(found[1]) if found else None


def memcheck() -> Shown:
    """Run the sanitizer twice and show its counts. Without a GPU, or without the tool, say so."""
    if mode.current().name != "gpu":
        return Shown(
            "compute-sanitizer watches a GPU, and there is none here, so nothing was run.\n"
            "What was seen elsewhere, on one H200 (torch 2.11, Triton 3.6), with a store past the end of a pool: 0 errors\n"
            "under PyTorch's caching allocator, and the true errors with PYTORCH_NO_CUDA_MEMORY_CACHING=1."
        )
    if subprocess_call.while_grading():
        return Shown("Not run while the notebook is graded.")
    found = tool()
    if found is None:
        return Shown(
            "compute-sanitizer is not on PATH and not in CUDA_HOME/bin, so nothing was run. It comes with the CUDA toolkit."
        )
    lines = [f"[{mode.current().label}] compute-sanitizer, one write of loc 256 into index-K of 256 slots", ""]
    for what, env in (("with PyTorch's cache of allocations", {UNCACHED: None}), ("without it", {UNCACHED: "1"})):
        done = subprocess_call.call(
            "dcplab.demos.memcheck", "write_past_the_end", env=env, before=[found, "--tool", "memcheck"]
        )
        counted = errors(done["said"] + done["errors"])
        first = re.search(r"Invalid __global__ \w+ of size \d+ bytes?", done["said"] + done["errors"])
        lines.append(f"{what:<38}{'no summary' if counted is None else counted} errors  {first[0] if first else ''}".rstrip())
    return Shown("\n".join(lines))
