"""Shows three faces of one index past the end: torch raises, Triton overwrites, TileLang gives zeros. Then shows TileLang's
guard."""

from __future__ import annotations

import difflib
import re

from dcplab import mode, subprocess_call
from dcplab.present.display import Shown

NOT_GRADED = "Not shown while the notebook is graded."


def faces() -> Shown:
    """Run four operations, each with an index in range and one past the end, in a new process."""
    if subprocess_call.while_grading():
        return Shown(NOT_GRADED)
    gpu = mode.current().name == "gpu"
    env = {} if gpu else {"TRITON_INTERPRET": "1"}
    done = subprocess_call.call("dcplab.demos.past_the_end", "every_face", {"device": "cuda" if gpu else "cpu"}, env)
    if done["value"] is None:
        return Shown(subprocess_call.told(done))
    width = max(len(what) for what, _ in done["value"])
    lines = [f"[{mode.current().label}] index-K of 4 pages of 64 slots, somebody else's memory behind it", ""]
    for i, (what, happened) in enumerate(done["value"]):
        lines.append(f"{what:<{width}}  {'past the end' if i % 2 else 'in range    '}  {happened}")
    return Shown("\n".join(lines))


def guard() -> Shown:
    """Show the CUDA that TileLang emits for one read by index, and the lines that change when its guard is off."""
    if subprocess_call.while_grading():
        return Shown(NOT_GRADED)
    done = subprocess_call.call("dcplab.demos.gather", "cuda_sources")
    if done["value"] is None:
        return Shown(subprocess_call.told(done))
    guarded, bare = (body(source) for source in done["value"])
    changed = list(difflib.unified_diff(guarded, bare, lineterm="", n=0))[2:]
    lines = ["The kernel as TileLang emits it:", "", *guarded, "", "What changes with tl.disable_safe_memory_legalize:", ""]
    return Shown("\n".join(lines + [line for line in changed if not line.startswith("@@")]))


def body(source: str) -> list[str]:
    """Return the lines of the kernel itself, without includes and declarations."""
    found = re.search(r"^extern \"C\" __global__ void[^;{]*\{.*?^\}", source, re.MULTILINE | re.DOTALL)
    return (found[0] if found else source).strip().split("\n")
