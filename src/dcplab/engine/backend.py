"""The attention backend: one DSA layer of one step, on every rank this process hosts.

A `LayerStep` gives the operations of a layer that need all ranks, and each rank's own (`rank_step`); `decode`, `verify` and
`extend` wire them. The wiring is what the incident is about, so it is short and replaceable: an engine takes
other functions in their place (`Paths`). Stands for SGLang's ``dsa_backend.py`` with the TileLang kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from dcplab.engine import indexer, ops, public_cases
from dcplab.engine.configurator import WIDTH
from dcplab.engine.forward_batch import ForwardBatch
from dcplab.engine.rank_step import RankStep
from dcplab.engine.shared import Shared
from dcplab.engine.space_tags import Space, tag


@dataclass(frozen=True)
class Paths:
    """The wiring of a layer for each kind of batch: a function of a `LayerStep` giving one output ``[T, H, 512]`` a hosted
    rank. ``draft`` is the draft's own decode; its pools are replicated. None: the standard one."""

    decode: Callable[[LayerStep], list[torch.Tensor]]
    verify: Callable[[LayerStep], list[torch.Tensor]]
    extend: Callable[[LayerStep], list[torch.Tensor]]
    draft: Callable[[LayerStep], list[torch.Tensor]] | None = None


@dataclass
class LayerStep:
    """One layer of one step on all hosted ranks: ``ranks`` to loop over, and the operations that need all of them."""

    shared: Shared
    batch: ForwardBatch
    ranks: Sequence[RankStep]
    layer: int

    def has(self, defect: str) -> bool:
        return self.shared.has(defect)

    @property
    def raw_write(self) -> bool:
        """Whether this step's writer of c-KV takes locs for rows."""
        one = self.batch.forward_mode in ("decode", "verify")
        return self.has("ckv_write") or self.has("fp8_write") or (one and self.has("decode_raw"))

    def all_gather(self, parts: Sequence[torch.Tensor]) -> torch.Tensor:
        """Gather one tensor a hosted rank to ``[D, ...]``, every rank's."""
        if not self.batch.reads:
            return parts[0].new_zeros(1).expand(self.shared.config.dcp_size, *parts[0].shape)
        return self.shared.comm.all_gather(parts)

    def select(self) -> list[torch.Tensor]:
        """Select the positions that each hosted rank attends to, ``[T, n]`` int32, ascending, -1 behind.

        Replicated index-K: each rank selects the same. Sharded: *exact* gives every rank the whole top-k. *union* gives a rank
        of decode or verify its own top-k, and of extend, where each attends to whole contexts, all ranks' (n is D times
        as many).
        """
        one = self.batch.forward_mode in ("decode", "verify")
        if not self.ranks[0].index_k_sharded or not self.batch.reads:
            return [rank.select_paged() if one else rank.select_ragged() for rank in self.ranks]
        own = [rank.candidates() for rank in self.ranks]
        union, topk = self.shared.config.indexer == "union", self.shared.config.topk
        if union and one and not self.shared.monitoring:
            return [c.positions for c in own]
        joined = indexer.join(self.all_gather([indexer.pack(c) for c in own]))
        everyone = indexer.in_order(joined)
        whole = tag(indexer.best(everyone, topk), Space.POSITION)
        if not union:
            if self.has("ties_by_rank"):
                whole, due = tag(indexer.best(joined, topk), Space.POSITION), whole
                if self.shared.monitoring:
                    self.shared.choices.otherwise += int((whole.sort(1).values != due.sort(1).values).any(1).sum())
            return [whole] * len(self.ranks)
        if self.shared.monitoring:
            self._count_more(everyone.positions, whole)
        return [c.positions for c in own] if one else [tag(everyone.positions, Space.POSITION)] * len(self.ranks)

    def _count_more(self, union: torch.Tensor, whole: torch.Tensor) -> None:
        """Note what a union ``[T, n]`` reads beyond the whole top-k, and for which query first."""
        seen, b = self.shared.choices, self.batch
        each = (union >= 0).sum(1) - (whole >= 0).sum(1)
        seen.more, seen.whole = seen.more + int(each.sum()), seen.whole + int((whole >= 0).sum())
        seen.queries += int((each > 0).sum())
        if not seen.first and bool((each > 0).any()):
            t = int((each > 0).nonzero()[0])
            where = f"step {self.shared.watcher.step} ({b.forward_mode}), layer {self.layer}, position {int(b.positions[t])}"
            seen.first = f"{where}: {int(each[t])} keys more than the {int((whole[t] >= 0).sum())} of the whole top-k"

    def interleave(self, shards: torch.Tensor) -> torch.Tensor:
        """Put gathered shards ``[D, rows, 512]`` into position order, request by request: ``[total_prefix, 512]``."""
        b = self.batch
        if not b.reads:
            return shards.new_zeros(1, 1).expand(b.total_prefix, WIDTH)
        starts = torch.zeros_like(b.prefix_lens)
        config = self.shared.config
        return ops.interleave_shards(shards, b.prefix_lens, starts, config.dcp_size, b.total_prefix, config.interleave)

    def join(self, prefix: torch.Tensor, latent: torch.Tensor) -> torch.Tensor:
        """Join prefixes and this step's c-KV to ``[prefix_0; extend_0; prefix_1; extend_1; ...]``, ``[total_k, 512]``."""
        b = self.batch
        if not b.reads:
            return latent.new_zeros(1, 1).expand(b.total_k, WIDTH)
        return ops.join_ragged(prefix, latent, b.prefix_lens, b.extend_lens, b.total_k)

    def merge(self, parts: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> list[torch.Tensor]:
        """Merge the partial attention of the hosted ranks. Returns the merged output once a hosted rank."""
        if not self.batch.reads:
            return [out for out, _ in parts]
        outs = self.all_gather([out for out, _ in parts])
        lses = self.all_gather([lse for _, lse in parts])
        out, lse = (public_cases.merge_believing if self.has("lse_plus_inf") else ops.merge_lse)(outs, lses)
        if self.shared.monitoring and self.shared.config.dcp_size > 1:
            # Skip queries without keys: their LSEs are all -inf, hence equal.
            alike = ((lses - lses[0]).abs() < 1e-4).all(0).all(-1) & (lses[0] > ops.MINUS_INF).all(-1)
            self.shared.monitor.replicated += int(alike.sum())
            self.shared.monitor.queries += alike.numel()
        self.capture(out, lse)
        return [out] * len(self.ranks)

    def count(self, selected: Sequence[torch.Tensor] | torch.Tensor, counts: Sequence[torch.Tensor]) -> None:
        """Tell the monitor how many keys top-k selected, ``[T, topk]`` a hosted rank, and how many each of them holds ``[T]``.
        All ranks select the same, unless each selects of its own."""
        if self.shared.monitoring and self.batch.reads:
            if isinstance(selected, torch.Tensor):  # one rank's, as the wirings of earlier answers give it
                selected = [selected] * len(self.ranks)
            alone = self.ranks[0].index_k_sharded and self.shared.config.indexer == "union"
            each = [(s >= 0).sum()[None] for s in selected]
            self.shared.monitor.selected += int(self.all_gather(each).sum() if alone else each[0])
            self.shared.monitor.valid += int(self.all_gather([c.sum()[None] for c in counts]).sum())

    def capture(self, out: torch.Tensor, lse: torch.Tensor | None) -> None:
        """Keep a layer's attention output for a test that asked for it."""
        if self.shared.captured is not None and self.batch.reads:
            record = {"forward_mode": self.batch.forward_mode, "layer": self.layer, "out": out.float().cpu(), "lse": lse}
            self.shared.captured.append(record)


def decode(step: LayerStep) -> list[torch.Tensor]:
    """Write, select by loc, localize, attend to what this rank holds, merge over ranks. Also target verify."""
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc, raw=step.raw_write)
        rank.write_index_k(step.batch.out_cache_loc)
    parts, counts, selected = [], [], step.select()
    for rank, positions in zip(step.ranks, selected, strict=True):
        if step.has("positions_as_rows"):
            rows, count = rank.as_rows(tag(positions, Space.ROW, rank.rank))  # the tag is wrong, and says nothing of it
        else:
            locs = rank.to_locs(positions)
            rows, count = rank.as_rows(locs) if step.has("read") else rank.localize(locs)
        parts.append(rank.attend(rows, count))
        counts.append(count)
    step.count(selected, counts)
    return step.merge(parts)


def extend(step: LayerStep) -> list[torch.Tensor]:
    """Write, gather every prefix from all ranks into the ragged workspace, select, attend to the workspace. No merge: each rank
    has the whole context in front of it."""
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc, raw=step.raw_write)
        rank.write_index_k(step.batch.out_cache_loc)
    if step.has("extend"):
        outs = []
        for rank, positions in zip(step.ranks, step.select(), strict=True):
            rows, counts = rank.as_rows(rank.to_locs(positions))
            outs.append(rank.attend(rows, counts)[0])
    else:
        step.ranks[0].check_flattened()
        shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
        paged = step.batch.forward_mode == "mixed" and step.has("mixed")
        outs = []
        for rank, positions in zip(step.ranks, step.select(), strict=True):
            rank.assemble(shards)
            outs.append(rank.attend_ragged(rank.to_locs(positions) if paged else rank.to_ragged(positions)))
    step.capture(outs[0], None)
    return outs


def draft(step: LayerStep) -> list[torch.Tensor]:
    """Attend in the draft's layer: its pools hold every loc on every rank, so each rank reads all of it and nothing is
    merged."""
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        locs = rank.to_locs(rank.select_paged())
        if step.has("draft_unmerged"):
            locs = tag(public_cases.owned(locs, rank.rank, *step.shared.config.layout), Space.LOC)
        outs.append(rank.attend(*rank.as_rows(locs))[0])
    return outs


STANDARD = Paths(decode=decode, verify=decode, extend=extend)


def take_out(names: Sequence[str]) -> None:
    """Take standard wirings ("decode", "extend", "draft") out of this process for good. In a child that runs an answer's own
    there is then nothing to find, by whatever door."""
    for name in names:
        wiring = globals().pop(name)
        for role in [role for role, path in vars(STANDARD).items() if path is wiring]:
            object.__setattr__(STANDARD, role, _taken_out)
        globals()[name] = _taken_out


def _taken_out(step: LayerStep) -> list[torch.Tensor]:
    raise LookupError("the course's own wiring is not in this process")
