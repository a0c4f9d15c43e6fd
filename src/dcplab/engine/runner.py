"""The model runner: from a step's spans to its next tokens, on every rank this process hosts.

It turns requests and lengths into one batch of tensors, runs the convolution and the DSA layers through the backend, and lets
all ranks agree on the tokens. The host waits for the device once a step, for them. Stands for SGLang's ``model_runner.py``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dcplab.engine import backend, configurator, index_spaces, pools
from dcplab.engine.allocator import PagedAllocator
from dcplab.engine.arena import Arena
from dcplab.engine.backend import LayerStep, Paths
from dcplab.engine.blocks import kernel_block_table
from dcplab.engine.comm import Distributed, Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.forward_batch import ForwardBatch, ForwardMode
from dcplab.engine.model import Activations, Model
from dcplab.engine.rank_step import RankStep
from dcplab.engine.request import Request, Span
from dcplab.engine.shared import Shared, Worker
from dcplab.engine.space_tags import Space, tag
from dcplab.engine.watcher import Watcher


class ServerCrash(RuntimeError):
    """The server is dead: memory that is not mapped was touched, or a device-side check failed."""


@dataclass
class Metrics:
    """Counts since the start. ``largest_loc`` is the watermark: the largest loc a token was stored at."""

    steps: int = 0
    extended: int = 0
    decoded: int = 0
    cached: int = 0
    retractions: int = 0
    recomputed: int = 0  # of these, requests that the host had no room for
    chosen: int = 0  # positions that a top-k chose from index keys before retractions (`HybridPool.chosen_again`)
    chosen_again: int = 0  # those of them that it chose after the restore
    received: int = 0  # tokens whose KV came from a prefill node
    evicted: int = 0
    proposed: int = 0
    accepted: int = 0
    misplaced: int = 0  # reads of pooled keys or windows that brought back another token (`stores`)
    diverged: int = 0  # tokens on which ranks disagreed, a draft's among them
    largest_loc: int = -1

    @property
    def draft_dead(self) -> bool:
        """Tokens were proposed and none was accepted: no answer shows it, each only takes as many steps as without a draft."""
        return self.proposed > 0 and self.accepted == 0

    @property
    def selection_lost(self) -> bool:
        """After a restore top-k chooses other positions: index-K did not come back, whatever c-KV did."""
        return self.chosen_again < self.chosen


class Runner:
    """The ranks' memory and the model over it."""

    def __init__(
        self,
        config: ServerConfig,
        defects: frozenset[str],
        comm: Local | Distributed,
        watcher: Watcher,
        allocator: PagedAllocator,
        req_to_token: torch.Tensor,
        words: int,
        metrics: Metrics,
        capture: bool,
    ):
        self.config, self.comm, self.watcher, self.allocator, self.req_to_token = config, comm, watcher, allocator, req_to_token
        self.device = comm.device
        specs, tail = configurator.specs(config, defects), configurator.tail_bytes(config)
        self.workers = [Worker(rank, Arena(specs, self.device, tail=tail)) for rank in comm.ranks]
        self.pools = [pools.build(config, w.arena, watcher, w.rank, defects) for w in self.workers]
        target, draft = Model(config, config.layers, words, self.device), Model(config, 1, words, self.device, salt=1)
        common = (comm, watcher, defects, req_to_token)
        self.shared = Shared(config, target, *common, monitoring=watcher.on, captured=[] if capture else None)
        self.draft = Shared(config, draft, *common, monitoring=False)
        self.metrics = metrics
        # No access can go astray here, so ranks' states are equal: compute the activations once and share them.
        self.alike = not watcher.on and watcher.trusted >= {s.name for s in specs}

    def remember(self, req_pool_idx: int, token: int | None) -> None:
        """Set the recurrent state of a request to what it is after ``token``; None: nothing came before."""
        word = 0 if token is None else self.shared.model.embed(torch.tensor([token], device=self.device))[0]
        for pool in self.pools:
            pool.state[req_pool_idx] = word

    def forward(
        self,
        mode: ForwardMode,
        spans: Sequence[Span],
        tokens: Sequence[Sequence[int]],
        paths: Paths,
        reads: bool = True,
    ) -> list[int]:
        """Run the spans with their ``tokens`` through the model: the next token of each request (after each token, for
        verify). Without ``reads`` the tokens are only stored, and the next ones mean nothing."""
        self.watcher.phase = mode
        self.shared.memo.clear()
        self.draft.memo.clear()
        flat = torch.tensor([t for part in tokens for t in part], dtype=torch.int64).to(self.device)
        batch = self._batch(mode, spans, reads)
        ends = torch.cumsum(batch.extend_lens, 0)
        self._set_activations(self.shared.model, batch, flat, ends)
        if mode != "verify":
            for worker, pool in zip(self.workers, self.pools, strict=True):
                pool.state[batch.req_pool_indices] = worker.activations.word[ends - 1].to(pool.state.dtype)
        if self.config.kpool or self.config.window:
            self._stores(batch, spans)
        if self.config.draft_tokens:
            for step in self._draft_steps(batch):
                step.write_ckv(batch.out_cache_loc)
                step.write_index_k(batch.out_cache_loc)
        for layer in range(self.config.layers):
            ranks = [RankStep(self.shared, batch, w, layer, f"ckv.{layer}", f"index_k.{layer}") for w in self.workers]
            path = {"decode": paths.decode, "verify": paths.verify}.get(mode, paths.extend)
            outs = path(LayerStep(self.shared, batch, ranks, layer))
            for worker, out in zip(self.workers, outs, strict=True):
                worker.code = self._next(layer, out, worker)
        picked = slice(None) if mode == "verify" else ends - 1
        next_tokens = []
        for w in self.workers:
            greedy = functools.partial(self._greedy, w, picked)
            next_tokens.append(self.shared.once("tokens", 0, w.code, greedy))
        return self._agree(next_tokens)

    def _stores(self, batch: ForwardBatch, spans: Sequence[Span]) -> None:
        """Store this step's tokens in the stores that have ids of their own. A watched server first reads what is there."""
        given = batch.out_cache_loc, batch.positions, batch.req_pool_indices[batch.req_of_token]
        for worker, pool in zip(self.workers, self.pools, strict=True):
            if pool.stores is None:
                continue
            for request, start, _ in spans if self.watcher.on and batch.reads else ():
                locs = self.req_to_token[request.held_req_pool_idx, :start]
                words = self.shared.model.embed(torch.tensor(request.tokens[:start], dtype=torch.int64, device=self.device))
                self.metrics.misplaced += pool.stores.misplaced(locs, request.held_req_pool_idx, request.cached, words)
            pool.stores.write(*given, worker.activations.word)

    def _greedy(self, worker: Worker, picked: slice | torch.Tensor) -> torch.Tensor:
        return self.shared.model.logits(worker.code, worker.activations, picked).argmax(-1)

    def _next(self, layer: int, out: torch.Tensor, worker: Worker) -> torch.Tensor:
        """Return what the next layer looks for. After the last layer, return its result."""
        if layer + 1 == self.config.layers:
            return out
        s = worker.activations
        return self.shared.once("pointer", layer, out, lambda: self.shared.model.pointer(out, s, layer))

    def _batch(self, mode: ForwardMode, spans: Sequence[Span], reads: bool = True, draft: bool = False) -> ForwardBatch:
        """Make the lengths and locs of a step. One host tensor goes to the device, with everything in it."""
        locs = torch.cat([self.allocator.locs(s.request.pages, s.start, s.end) for s in spans])
        lens = torch.tensor([[s.request.req_pool_idx, s.start, s.end - s.start, s.end] for s in spans], dtype=torch.int64).t()
        positions = torch.cat([torch.arange(s.start, s.end) for s in spans])
        req_of_token = torch.repeat_interleave(torch.arange(len(spans)), lens[2])
        self.metrics.largest_loc = max(self.metrics.largest_loc, int(locs.max()))
        packed = torch.cat([locs, positions, req_of_token, lens.reshape(-1)]).to(self.device)
        n, b = len(locs), len(spans)
        out_cache_loc, positions, req_of_token = packed[:n], packed[n : 2 * n], packed[2 * n : 3 * n]
        req_pool_indices, prefix_lens, extend_lens, seq_lens = packed[3 * n :].view(4, b)
        self.req_to_token[req_pool_indices[req_of_token], positions] = out_cache_loc
        cu = torch.zeros(b + 1, dtype=torch.int64, device=self.device)
        torch.cumsum(seq_lens, 0, out=cu[1:])
        total, longest = int(lens[3].sum()), int(lens[3].max())
        fields = dict(
            forward_mode=mode,
            positions=positions,
            req_of_token=req_of_token,
            out_cache_loc=tag(out_cache_loc, Space.LOC, layout=self.config.layout),
            req_pool_indices=req_pool_indices,
            prefix_lens=prefix_lens,
            extend_lens=extend_lens,
            seq_lens=seq_lens,
            cu_seqlens_k=cu,
            total_k=total,
            total_prefix=int(lens[1].sum()),
            reads=reads,
        )
        if mode in ("decode", "verify"):
            page, block = self.config.page_size, self.config.index_page
            columns = torch.arange(0, longest, page, device=self.device)
            pages = self.req_to_token[req_pool_indices[req_of_token][:, None], columns] // page
            pages = tag(kernel_block_table(pages, page, block), Space.INDEX_K_PAGE, block)
            row_pages = None
            if self.config.index_k_sharded and not draft:
                columns = torch.arange(0, longest, self.config.width, device=self.device)
                row_pages = self.req_to_token[req_pool_indices[req_of_token][:, None], columns] // self.config.width
                row_pages = tag(kernel_block_table(row_pages, page, block), Space.ALLOCATOR_PAGE, block)
            return ForwardBatch(**fields, paged=pages, row_pages=row_pages)
        req = torch.repeat_interleave(torch.arange(b, device=self.device), seq_lens, output_size=total)
        at = torch.arange(total, device=self.device) - cu[req]
        flat_locs = tag(self.req_to_token[req_pool_indices[req], at], Space.LOC, layout=self.config.layout)
        shares = self._shares(lens[3]) if self.config.index_k_sharded else None
        return ForwardBatch(**fields, flat=flat_locs, shards=self._shares(lens[1])[:2], shares=shares)

    def _shares(self, lens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Lay out a rank's share of ``lens [B]`` positions, each padded to what rank 0 has, which is the most: the request and
        its row of every row, and where each request's begin."""
        padded = index_spaces.held(lens, 0, *self.config.layout)
        of = torch.repeat_interleave(torch.arange(len(lens)), padded)
        first = torch.cumsum(padded, 0) - padded
        at = torch.arange(len(of)) - first[of]
        return of.to(self.device), at.to(self.device), first.to(self.device)

    def _set_activations(self, model: Model, batch: ForwardBatch, tokens: torch.Tensor, ends: torch.Tensor) -> None:
        """Compute the convolution: each token meets the one before it, the first of a span the one its request's state
        remembers."""
        starts = ends - batch.extend_lens
        word = model.embed(tokens)
        activations = None
        for worker, pool in zip(self.workers, self.pools, strict=True):
            if activations is None or not self.alike:
                before = torch.roll(word, 1, 0)
                before[starts] = pool.state[batch.req_pool_indices].float()
                activations = _activations(model, word, before, batch.positions, activations)
            worker.activations, worker.code = activations, word

    def _agree(self, next_tokens: list[torch.Tensor]) -> list[int]:
        """Choose the greedy tokens. Every process takes rank 0's, and all learn together whether some rank faulted."""
        mine = [
            torch.cat([x, self.watcher.faults(w.rank, self.device)]) for x, w in zip(next_tokens, self.workers, strict=True)
        ]
        everyone = self.comm.all_gather(mine).cpu()
        tokens, faults = everyone[:, :-1], everyone[:, -1]
        if faults.any():
            rank = int(faults.nonzero()[0])
            seen = self.watcher.first_unmapped
            where = f" First, in {seen.op} on {seen.buffer}: index {seen.high} is not in mapped memory." if seen else ""
            raise ServerCrash(
                f"illegal memory access on rank {rank}: {int(faults[rank])} addresses beyond what is mapped.{where}"
            )
        self.metrics.diverged += int((tokens != tokens[0]).any(0).sum())
        return tokens[0].tolist()

    def _draft_steps(self, batch: ForwardBatch) -> list[RankStep]:
        return [RankStep(self.draft, batch, w, 0, "draft.ckv", "draft.index_k", replicated=True) for w in self.workers]

    def keep(self, last: Sequence[int], req_pool_indices: Sequence[int]) -> None:
        """Take each request's recurrent state back, after a verify, to its last token that was kept: ``last`` of the step."""
        last_kept, indices = torch.tensor([last, req_pool_indices], device=self.device)
        for worker, pool in zip(self.workers, self.pools, strict=True):
            pool.state[indices] = worker.activations.word[last_kept].to(pool.state.dtype)

    def propose(self, batch: list[Request], length: int, paths: Paths) -> list[list[int]]:
        """Draft ``length`` greedy tokens a request by the one-layer draft, whose pools are replicated and addressed by loc."""
        path = paths.draft or backend.draft
        self.watcher.phase = "draft"
        guess = torch.tensor([r.tokens[-1] for r in batch], device=self.device)
        everyone = []
        words = [pool.state[[r.req_pool_idx for r in batch]].float() for pool in self.pools]
        for i in range(length):
            self.draft.memo.clear()
            step_batch = self._batch("decode", [Span(r, r.stored + i, r.stored + i + 1) for r in batch], draft=True)
            word = self.draft.model.embed(guess)
            steps = self._draft_steps(step_batch)
            activations = None
            for k, rank in enumerate(steps):
                activations = _activations(self.draft.model, word, words[k], step_batch.positions, activations)
                rank.worker.activations, rank.worker.code = activations, word
                words[k] = word
            outs = path(LayerStep(self.draft, step_batch, steps, 0))
            seen = [step.worker.activations for step in steps]
            per_rank = [self.draft.model.logits(out, s).argmax(-1) for out, s in zip(outs, seen, strict=True)]
            everyone.append(self.comm.all_gather(per_rank))
            guess = everyone[-1][0]
        guesses = torch.stack(everyone, 2).cpu()  # [D, B, length]
        self.metrics.diverged += int((guesses != guesses[0]).any(0).sum())
        return guesses[0].tolist()


def _activations(
    model: Model, word: torch.Tensor, before: torch.Tensor, positions: torch.Tensor, neighbours: Activations | None
) -> Activations:
    """Return a rank's activations: its neighbour's where both remember the same words before, so that what follows from them
    is computed once (`Shared.once`)."""
    if neighbours is not None and torch.equal(before, neighbours.before):
        return neighbours
    return model.activations(word, before, positions)
