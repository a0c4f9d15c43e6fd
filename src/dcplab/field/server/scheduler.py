"""Which requests run in a step, and with how many tokens."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from .config import QuayConfig, RequestRefused
from .kv_manager import KVCacheManager
from .sequence import Sequence


@dataclass
class SchedulerOutput:
    """One step's work. ``num_scheduled_tokens`` by seq_id; ``left`` are seq_ids whose rows the runner gives up."""

    scheduled: list[Sequence] = field(default_factory=list)
    num_scheduled_tokens: dict[int, int] = field(default_factory=dict)
    left: list[int] = field(default_factory=list)
    copies_out: list[tuple[int, int]] = field(default_factory=list)
    copies_in: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Stats:
    """Counts since the start, as a dashboard has them. Hits are tokens."""

    steps: int = 0
    preempted: int = 0
    prefix_hits: int = 0
    host_hits: int = 0
    proposed: int = 0
    accepted: int = 0


class Scheduler:
    def __init__(self, cfg: QuayConfig):
        self.cfg = cfg
        self.kv = KVCacheManager(cfg)
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.left: list[int] = []  # since the last step
        self.stats = Stats()

    def add(self, seq: Sequence) -> None:
        """Queue a request. RequestRefused for one that can never run."""
        longest = seq.num_prompt_tokens + seq.max_tokens
        if longest > self.cfg.max_model_len:
            raise RequestRefused(f"{longest} tokens are more than max_model_len {self.cfg.max_model_len}")
        if self.kv.blocks_for(longest + self.cfg.num_draft_tokens) > self.cfg.num_blocks - 1:
            raise RequestRefused(f"{longest} tokens do not fit the cache")
        self.waiting.append(seq)

    def schedule(self) -> SchedulerOutput:
        """Choose the next step. Running requests come first; a request that lacks blocks preempts the newest."""
        out = SchedulerOutput()
        budget = self.cfg.max_num_batched_tokens
        preempted = False
        for seq in list(self.running):
            if seq not in self.running:
                continue
            count = min(seq.num_tokens + len(seq.spec_token_ids) - seq.num_computed_tokens, budget)
            while count > 0 and not self.kv.grow(seq, count):
                victim = self.running[-1]
                self._preempt(victim)
                preempted = True
                if victim is seq:
                    count = 0
            if count > 0:
                budget -= self._schedule(out, seq, count)
        while self.waiting and not preempted and budget > 0 and len(self.running) < self.cfg.max_num_seqs:
            seq = self.waiting[0]
            reserve = self.cfg.watermark_blocks if self.running else 0
            hits = self.kv.admit(seq, budget, reserve)
            if hits is None:
                break
            self.waiting.popleft()
            self.running.append(seq)
            self.stats.prefix_hits += hits[0]
            self.stats.host_hits += hits[1]
            budget -= self._schedule(out, seq, min(seq.num_tokens - seq.num_computed_tokens, budget))
        out.copies_out, out.copies_in = self.kv.take_copies()
        out.left, self.left = self.left, []
        return out

    def update(self, out: SchedulerOutput, sampled: dict[int, list[int]], drafts: dict[int, list[int]]) -> list[Sequence]:
        """Enter what a step gave: new tokens, then proposals for the next step. Returns the requests that finished."""
        self.stats.steps += 1
        for seq in out.scheduled:
            count = out.num_scheduled_tokens[seq.seq_id]
            tokens = sampled.get(seq.seq_id)
            if tokens is None:  # a chunk of a prompt
                seq.num_computed_tokens += count
            else:
                rejected = len(seq.spec_token_ids) - (len(tokens) - 1)
                self.stats.proposed += len(seq.spec_token_ids)
                self.stats.accepted += len(tokens) - 1
                seq.num_computed_tokens += count - rejected
                seq.token_ids += tokens[: seq.remaining]
                # The last token is sampled from the one before it, so it needs no proposal.
                seq.spec_token_ids = drafts.get(seq.seq_id, [])[: max(0, seq.remaining - 1)]
            self.kv.cache_full_blocks(seq)
        done = [seq for seq in self.running if seq.finished]
        for seq in done:
            self.running.remove(seq)
            self._leave(seq)
        return done

    def _schedule(self, out: SchedulerOutput, seq: Sequence, count: int) -> int:
        del seq.spec_token_ids[max(0, count - (seq.num_tokens - seq.num_computed_tokens)) :]
        out.scheduled.append(seq)
        out.num_scheduled_tokens[seq.seq_id] = count
        return count

    def _preempt(self, seq: Sequence) -> None:
        """Take the blocks of a running request; it computes again what the prefix cache loses meanwhile."""
        self.running.remove(seq)
        self._leave(seq)
        seq.num_computed_tokens = 0
        seq.spec_token_ids = []
        self.waiting.appendleft(seq)
        self.stats.preempted += 1

    def _leave(self, seq: Sequence) -> None:
        self.kv.free(seq)
        self.left.append(seq.seq_id)
