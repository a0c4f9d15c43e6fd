"""The front door."""

from __future__ import annotations

from .config import QuayConfig
from .runner import ModelRunner
from .scheduler import Scheduler, Stats
from .sequence import Sequence


class QuayServer:
    """Takes token ids and gives token ids, greedily."""

    def __init__(self, cfg: QuayConfig):
        self.cfg = cfg
        self.scheduler = Scheduler(cfg)
        self.runner = ModelRunner(cfg)
        self.requests: list[Sequence] = []

    @property
    def stats(self) -> Stats:
        return self.scheduler.stats

    @property
    def num_free_blocks(self) -> int:
        return self.scheduler.kv.pool.num_free

    def add_request(self, token_ids: list[int], max_tokens: int) -> Sequence:
        """Queue a request. RequestRefused for one that can never run."""
        seq = Sequence(len(self.requests), list(token_ids), len(token_ids), max_tokens)
        self.scheduler.add(seq)
        self.requests.append(seq)
        return seq

    def step(self) -> list[Sequence]:
        """Run one step. Returns the requests that finished in it."""
        out = self.scheduler.schedule()
        if not out.scheduled:
            raise RuntimeError("nothing can be scheduled")
        return self.scheduler.update(out, *self.runner.execute(out))

    def run(self, max_steps: int = 10_000) -> None:
        """Step until nothing waits or runs."""
        while self.scheduler.waiting or self.scheduler.running:
            if self.stats.steps >= max_steps:
                raise RuntimeError(f"not done after {max_steps} steps")
            self.step()
