"""Compares lists with holes and compacted lists: keys that a rank's attention walks, and, on a GPU, the time."""

from __future__ import annotations

import sys

import torch

from dcplab import mode, paths, subprocess_call
from dcplab.present.display import Shown
from dcplab.present.page import html

MODULE = "dcplab.demos.norope.compaction"
SIZES = (2, 4, 8)  # dcp_size
QUERIES, TOPK, CONTEXT, BLOCK = 64, 2048, 32_768, 64  # BLOCK: keys the attention kernel takes at a time
RANK = 1


def lists(dcp_size: int, device: str = "cpu") -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Localize the same selections for `RANK` in two ways: in place (-1 where another rank owns the loc), and compacted.

    Returns ``(holes, rows, counts)``: int32 rows of the rank ``[QUERIES, TOPK]`` twice, and the number of rows ``[QUERIES]``.
    """
    from dcp_kernels.reference import localize_page_table, localize_topk

    gen = torch.Generator().manual_seed(dcp_size)
    locs = torch.stack([torch.randperm(CONTEXT, generator=gen)[:TOPK].sort().values for _ in range(QUERIES)])
    holes = localize_page_table(locs, RANK, dcp_size).to(torch.int32)
    rows, counts = localize_topk(locs, RANK, dcp_size)
    return holes.to(device), rows.to(device), counts.to(device)


def keys_walked(dcp_size: int) -> tuple[int, float]:
    """Count the keys that attention reads for a query, in whole blocks: (with holes, compacted). The second is a mean over the
    queries."""
    holes, _, counts = lists(dcp_size)
    whole = -(-counts // BLOCK) * BLOCK
    return -(-holes.shape[1] // BLOCK) * BLOCK, float(whole.float().mean())


def measured() -> list[tuple[float, float]]:
    """Measure milliseconds (with holes, compacted) for each ``dcp_size`` of SIZES: medians of 30 runs with a cold L2. Runs in a
    child, on a GPU."""
    sys.path.insert(0, str(paths.root() / "bench"))
    import harness
    from dcp_kernels.tl_sparse_decode import sparse_mla_decode

    found = []
    for d in SIZES:
        q = torch.randn(QUERIES, 16, 512, device="cuda", dtype=torch.bfloat16)
        kv = torch.randn(-(-CONTEXT // d), 512, device="cuda", dtype=torch.bfloat16)
        holes, rows, counts = lists(d, "cuda")
        slow = harness.time_ms(lambda: sparse_mla_decode(q, kv, holes, None, 0.04))  # noqa: B023
        fast = harness.time_ms(lambda: sparse_mla_decode(q, kv, rows, counts, 0.04))  # noqa: B023
        found.append((slow, fast))
    return found


class Times(Shown):
    """``walked``: (keys with holes, compacted) for each of `SIZES`. ``ms``: the same in milliseconds, or None where nothing was
    measured. ``picture``: the bars."""

    def __init__(self, walked: list[tuple[int, float]], ms: list[tuple[float, float]] | None, said: str, picture):
        super().__init__(said, None if picture is None else html("<pre>{}</pre>{}", said, picture.html))
        self.walked, self.ms, self.picture = walked, ms, picture


def times() -> Times:
    """Run one rank's attention over localized lists, with holes and compacted. Only a GPU is timed; a CPU counts keys and says
    so."""
    from dcplab.viz.figures.bars import Bar, bars

    walked = [keys_walked(d) for d in SIZES]
    shape = f"{QUERIES} queries of 16 heads, top-k {TOPK:,}, one rank"
    gpu, ms, why = mode.current().name == "gpu", None, ""
    if gpu and not subprocess_call.while_grading():
        done = subprocess_call.call(MODULE, "measured", timeout_s=400)
        ms = None if done["value"] is None else [tuple(pair) for pair in done["value"]]
        why = subprocess_call.told(done)
    elif gpu:
        why = "Nothing is measured while the notebook is graded."
    else:
        why = "Not measured here: times are a GPU's, and there is none. What is drawn is counted, not timed."
    lines = [
        f"[{mode.current().label}] {shape}; keys in whole blocks of {BLOCK}",
        "",
        f"{'D':>3}{'keys walked, holes':>20}{'compacted':>11}{'ratio':>7}",
    ]
    if ms:
        lines[-1] += f"{'ms, holes':>12}{'compacted':>11}{'ratio':>7}"
    for i, (d, (holes, compact)) in enumerate(zip(SIZES, walked, strict=True)):
        line = f"{d:>3}{holes:>20,}{compact:>11,.0f}{holes / compact:>7.2f}"
        lines.append(line + (f"{ms[i][0]:>12.3f}{ms[i][1]:>11.3f}{ms[i][0] / ms[i][1]:>7.2f}" if ms else ""))
    if ms:
        lines += [
            "",
            "Medians of 30 runs with a cold L2.",
        ]
        title, unit = "Attention of one rank, measured", "ms"
    else:
        lines += ["", why]
        title, unit = "Keys one rank's attention walks for a query, counted", "keys"
    values = ms or walked
    drawn = []
    for d, (holes, compact) in zip(SIZES, values, strict=True):
        drawn += [Bar(f"D = {d}", "with holes", holes, "unused"), Bar(f"D = {d}", "compacted", compact, "owner0")]
    return Times(walked, ms, "\n".join(lines), bars(title, f"{mode.current().label}; {shape}.", unit, drawn))
