"""Shows every rank's rows after the write, and the two numbers that reveal replication while every answer is right."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from dcplab.demos.norope import toy_server
from dcplab.demos.norope.toy_server import BOTH, NeedleRun
from dcplab.present.display import Shown

FIRST = 5  # rows of a rank that are printed


@dataclass(frozen=True)
class Measured:
    """Decode's numbers on one server, the queries of all layers concatenated, as exercise 3f takes them. LSEs are base 2.

    ``valid_counts [D, T]``: keys that each rank holds. ``topk_counts [T]``: keys selected. ``merged_lse [T, H]``: over all
    ranks. ``single_lse [T, H]``: of one rank that has all the keys.
    """

    valid_counts: torch.Tensor
    topk_counts: torch.Tensor
    merged_lse: torch.Tensor
    single_lse: torch.Tensor

    @property
    def off(self) -> float:
        """Return the median of merged minus single."""
        return float((self.merged_lse - self.single_lse).median())

    @property
    def arguments(self) -> tuple[torch.Tensor, ...]:
        """Return the arguments of ``replication_alarm``, in its order."""
        return self.valid_counts, self.topk_counts, self.merged_lse, self.single_lse


class Replicas(Shown):
    """``unpatched`` and ``patched``: the `Measured` of each server."""

    def __init__(self, unpatched: Measured, patched: Measured, said: str):
        super().__init__(said)
        self.unpatched, self.patched = unpatched, patched


def replicas() -> Replicas:
    """Ask the needle question on three fresh servers: four ranks unpatched, four ranks patched, and one rank that holds
    everything.

    Shows, read from the bytes, which rows of layer 0 hold which words on each rank. Shows how many of the keys that top-k
    selected each rank holds, and the merged LSE beside the single rank's.
    """
    before, after, single = toy_server.ask(BOTH), toy_server.ask(), toy_server.ask(dcp_size=1)
    config = before.engine.config
    unpatched, patched = (_measured(run, single) for run in (before, after))
    lines = [
        f"{toy_server.heading(config)}; {len(before.locs)} tokens stored, "
        f"locs {int(before.locs.min())} to {int(before.locs.max())}",
    ]
    for title, run in (("as it was", before), ("write and read mended", after)):
        lines += ["", f"c-KV of layer 0, {title}: {_said(run)}", ""]
        for rank, rows in enumerate(toy_server.held(run)):
            shown = "  ".join(f"{row} {word}" for row, word in list(rows.items())[:FIRST])
            lines.append(f"rank {rank}  {len(rows):>3} rows in use:  {shown}  ...")
    lines += ["", "one query of every decode step, layer 0", ""]
    head = "".join(f"{f'rank {r}':>8}" for r in range(config.dcp_size))
    lines.append(f"{'server':<11}{'selected':>9}{head}{'sum':>6}{'merged LSE':>12}{'one rank':>10}{'off by':>8}")
    for title, run, m in (("as it was", before, unpatched), ("mended", after, patched)):
        for t in range(0, len(m.topk_counts), run.engine.config.layers):
            counts = m.valid_counts[:, t].tolist()
            merged, alone = float(m.merged_lse[t, 0]), float(m.single_lse[t, 0])
            lines.append(
                f"{title:<11}{int(m.topk_counts[t]):>9}"
                + "".join(f"{c:>8}" for c in counts)
                + f"{sum(counts):>6}{merged:>12.4f}{alone:>10.4f}{merged - alone:>8.4f}"
            )
    lines += ["", f"log2({config.dcp_size}) = {math.log2(config.dcp_size):.4f}"]
    return Replicas(unpatched, patched, "\n".join(lines))


def _said(run: NeedleRun) -> str:
    return f"it answers {run.got!r}, {'right' if run.right else 'WRONG'}"


def _measured(run: NeedleRun, single: NeedleRun) -> Measured:
    counts, selected, merged = run.notes.stacked()
    _, _, alone = single.notes.stacked()
    return Measured(counts, selected, merged.float(), alone.float())
