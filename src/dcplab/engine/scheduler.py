"""The server: requests in, words out. One step extends a chunk of the prompts, or decodes (or drafts and verifies) every
running one.

Stands for SGLang's scheduler and model runner. Everything here is host bookkeeping in requests, pages and lengths; what touches
tokens is tensors, a whole batch at a time, and one step waits for the device once, for its tokens.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch

from dcplab.engine import backend, configurator, pools
from dcplab.engine.allocator import PagedAllocator, PrefixCache
from dcplab.engine.arena import Arena
from dcplab.engine.backend import Batch, LayerStep, Paths, RankStep, Shared, Worker
from dcplab.engine.comm import Distributed, Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.model import Model
from dcplab.engine.request import Request, RequestTable
from dcplab.engine.spaces import ckv_rows, loc_slots
from dcplab.engine.text import Tokenizer
from dcplab.engine.trace import Watcher
from dcplab.engine.typed import ExtentError, Space, tag
from dcplab.errors import CourseError


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
    evicted: int = 0
    proposed: int = 0
    accepted: int = 0
    diverged: int = 0  # tokens on which ranks disagreed
    largest_loc: int = -1


@dataclass(frozen=True)
class Watermark:
    """A buffer against the indices it met: ``slots`` it has in ``space``, ``needed`` so that every legal index fits,
    ``highest`` seen."""

    buffer: str
    space: Space
    slots: int
    needed: int
    highest: int

    @property
    def exceeded(self) -> bool:
        return self.highest >= self.slots


class Engine:
    """A server with ``config``, on the ranks that ``comm`` hosts, with the ``defects`` that are switched on.

    ``watch`` notes every access (see `trace.py`); ``typed`` and ``strict`` raise at the first misuse, or index outside a
    buffer; ``neighbours=False`` lets reads outside be masked, as kernels that guard do. ``paths`` replaces the wiring of the
    backend.
    """

    def __init__(
        self,
        config: ServerConfig,
        defects: Iterable[str] = (),
        comm: Local | Distributed | None = None,
        *,
        watch: bool = True,
        typed: bool = False,
        strict: bool = False,
        neighbours: bool = True,
        paths: Paths = backend.STANDARD,
        capture: bool = False,
        tokenizer: Tokenizer | None = None,
    ):
        config.check()
        self.config, self.defects, self.paths = config, frozenset(defects), paths
        self.comm = comm or Local(config.dcp_size)
        self.device = self.comm.device
        self.tokenizer = tokenizer or Tokenizer()
        self.allocator = PagedAllocator(config.size, config.page_size, config.dcp_size)
        self.cache = PrefixCache(self.allocator)
        self.table = RequestTable(config.max_requests, config.longest, config.width, self.device)
        specs = configurator.specs(config, self.defects)
        self.watcher = Watcher(
            config.dcp_size,
            self.comm.ranks[0],
            watch or typed or strict,
            typed,
            strict,
            neighbours,
            trusted=self._trusted(specs),
        )
        if typed:
            self._check_extents(specs)
        tail = configurator.tail_bytes(config)
        self.workers = [Worker(rank, Arena(specs, self.device, tail=tail)) for rank in self.comm.ranks]
        raw = "retract" in self.defects
        self.pools = [pools.build(config, w.arena, self.watcher, w.rank, raw) for w in self.workers]
        words, shape = self.tokenizer.words, (config.heads, config.index_heads, self.device, config.dtype)
        self.shared = Shared(
            config,
            Model(config.layers, words, *shape),
            self.comm,
            self.watcher,
            self.defects,
            self.table.table,
            monitoring=watch,
            captured=[] if capture else None,
        )
        self._draft = Shared(
            config, Model(1, words, *shape), self.comm, self.watcher, self.defects, self.table.table, monitoring=False
        )
        self.metrics = Metrics()
        self.waiting: deque[Request] = deque()
        self.retracted: deque[Request] = deque()
        self.running: list[Request] = []
        self.dead: str | None = None
        self._next_id = 0

    # Requests.

    def submit(self, prompt: str | Sequence[int], max_new: int, name: str = "") -> Request:
        """Queue a request: text or token ids. CourseError for one that can never run here."""
        tokens = self.tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt)
        if not tokens:
            raise CourseError("An empty prompt has nothing to continue.")
        if max_new < 1:
            raise CourseError(f"At least one token must be asked for, not {max_new}.")
        if len(tokens) + max_new - 1 > self.config.longest:  # the last one is never stored
            raise CourseError(
                f"A prompt of {len(tokens)} tokens with {max_new} to come is too long: "
                f"{self.config.longest} of them can be stored for one request here."
            )
        if len(tokens) > self.config.workspace_rows - self.config.max_requests:
            raise CourseError(
                f"A prompt of {len(tokens)} tokens does not fit the workspace of {self.config.workspace_rows} rows."
            )
        if not all(0 <= t < self.tokenizer.words for t in tokens):
            raise CourseError(f"Token ids must lie in 0..{self.tokenizer.words - 1}.")
        request = Request(self._next_id, name or f"request {self._next_id}", tokens, len(tokens), max_new)
        self._next_id += 1
        self.waiting.append(request)
        return request

    def generate(self, prompts: Sequence[str | Sequence[int]], max_new: int | Sequence[int]) -> list[list[int]]:
        """Submit, run until idle, and give the new tokens of each."""
        wanted = [max_new] * len(prompts) if isinstance(max_new, int) else max_new
        requests = [self.submit(p, n) for p, n in zip(prompts, wanted, strict=True)]
        self.run()
        return [r.output for r in requests]

    def preload(self, prompt: str | Sequence[int]) -> int:
        """Store a prefix in whole pages and keep it in the prefix cache, as if it had been transferred here: written, never
        attended to. Gives the positions stored; 0 where there is no prefix cache or no room."""
        request = self.submit(prompt, 1)
        self.waiting.remove(request)
        whole = (len(request.tokens) - 1) // self.config.width * self.config.width
        if not self.config.prefix_cache or not self.table.available or not self._room(self.allocator.pages_needed(0, whole)):
            return 0
        self.allocator.grow(request.pages, whole)
        request.slot = self.table.take()
        paths, self.paths = self.paths, replace(self.paths, extend=backend.store)
        try:
            for pool in self.pools:
                pool.state[request.slot] = 0
            while request.stored < whole:
                end = min(request.stored + self.config.chunk, whole)
                self.metrics.steps += 1
                self.watcher.step = self.metrics.steps
                self._forward("extend", [(request, request.stored, end)], [request.tokens[request.stored : end]])
                request.stored = end
        except ServerCrash as error:
            self.dead = str(error)
            raise
        finally:
            self.paths = paths
        self.cache.insert(request.tokens[:whole], request.pages)
        self.allocator.release(request.pages)
        self.table.give_back(request.slot)
        return whole

    def run(self, progress=None) -> None:
        """Step until nothing is left to do. ``progress(engine)`` is called after each step."""
        while self.busy:
            self.step()
            if progress:
                progress(self)

    @property
    def busy(self) -> bool:
        return bool(self.waiting or self.retracted or self.running)

    def text(self, request: Request) -> str:
        return self.tokenizer.decode(request.output)

    # One step.

    def step(self) -> list[Request]:
        """Admit, then extend or decode. Gives the requests that finished. A crash or an alarm is raised, and the server is
        dead."""
        if self.dead:
            raise ServerCrash(f"The server is dead: {self.dead}")
        try:
            self._admit()
            self.metrics.steps += 1
            self.watcher.step = self.metrics.steps
            extending = [r for r in self.running if r.extending]
            if extending:
                self._extend(extending)
            else:
                self._decode()
        except (ServerCrash, pools.DeviceAssert, backend.CapacityAlarm) as error:
            self.dead = str(error)
            raise
        return self._finish()

    def _admit(self) -> None:
        """Resume what was retracted, then start what waits, in order, while there are slots and pages for the whole of each."""
        while self.retracted and self.table.available:
            request = self.retracted[0]
            if not self._room(self.allocator.pages_needed(0, request.stored + 1)):
                break
            self.retracted.popleft()
            self._resume(request)
        while self.waiting and self.table.available and not self.retracted:
            request = self.waiting[0]
            hit = self.cache.match(request.tokens) if self.config.prefix_cache else []
            self.allocator.hold(hit)
            if not self._room(self.allocator.pages_needed(len(hit), len(request.tokens))):
                self.allocator.release(hit)
                if not self.running:
                    raise CourseError("The pool is too small: nothing runs, and the next request still finds no room.")
                break
            self.waiting.popleft()
            request.pages = list(hit)
            self.allocator.grow(request.pages, len(request.tokens))
            request.slot = self.table.take()
            request.stored = request.cached = len(hit) * self.config.width
            self.metrics.cached += request.cached
            self._place(request, 0, request.stored)
            last = self.shared.model.embed(torch.tensor(request.tokens[request.stored - 1], device=self.device))
            for pool in self.pools:  # the state as it was after the prefix: the convolution remembers one word
                pool.state[request.slot] = last.to(pool.state.dtype) if request.stored else 0
            self.running.append(request)

    def _room(self, count: int) -> bool:
        """Whether ``count`` pages are free, evicting cached prefixes where that helps."""
        lack = count - self.allocator.available
        if lack > 0:
            self.metrics.evicted += self.cache.evict(lack)
        return self.allocator.available >= count

    def _place(self, request: Request, start: int, end: int) -> torch.Tensor:
        """Enter the locs of positions ``start .. end - 1`` into the request table; gives them, on the host."""
        locs = self.allocator.locs(request.pages, start, end)
        if end > start:
            self.table.table[request.slot, start:end] = locs.to(self.device)
        return locs

    def _extend(self, extending: list[Request]) -> None:
        """A chunk for every extending request, in equal shares; the rest of the budget to the first. Mixed: decode rows ride
        along."""
        room, budget = self.config.workspace_rows, self.config.chunk
        riders = self._riders(extending, room) if self.config.mixed else []
        room, budget = room - sum(r.stored + 1 for r in riders), budget - len(riders)
        rows = []
        for i, request in enumerate(extending):
            share = max(1, budget // (len(extending) - i))
            take = min(len(request.tokens) - request.stored, share, budget)
            if take > 0 and request.stored + take <= room:
                rows.append((request, request.stored, request.stored + take))
                budget -= take
                room -= request.stored + take
        rows += [(r, r.stored, r.stored + 1) for r in riders]
        mode = "mixed" if riders else "extend"
        tokens = self._forward(mode, rows, [r.tokens[a:b] for r, a, b in rows])
        for (request, start, end), token in zip(rows, tokens, strict=True):
            request.stored = end
            self.metrics.extended += end - start
            if end == len(request.tokens):
                request.tokens.append(token)
                self.metrics.decoded += 1

    def _riders(self, extending: list[Request], room: int) -> list[Request]:
        """Decoding requests that ride along in a mixed batch: those that leave workspace for the first extending one."""
        room -= min(extending[0].stored + self.config.chunk, len(extending[0].tokens))
        riders = []
        for request in [r for r in self.running if not r.extending]:
            if request.slot is not None and request.stored < room and self._grown(request, request.stored + 1):
                riders.append(request)
                room -= request.stored + 1
        return [r for r in riders if r.slot is not None]  # growing one may have retracted another

    def _decode(self) -> None:
        for request in list(self.running):
            if request.slot is not None:
                self._grown(request, request.stored + 1 + self._draft_len([request]))
        batch = [r for r in self.running if r.slot is not None]
        if not batch:
            return
        draft_len = self._draft_len(batch)
        if draft_len:
            self._speculate(batch, draft_len)
            return
        rows = [(r, r.stored, r.stored + 1) for r in batch]
        for request, token in zip(batch, self._forward("decode", rows, [r.tokens[-1:] for r in batch]), strict=True):
            request.stored += 1
            request.tokens.append(token)
            self.metrics.decoded += 1

    def _draft_len(self, batch: list[Request]) -> int:
        """Tokens to draft: the configured number, fewer where a request would grow past the longest."""
        return max(0, min([self.config.draft_tokens, *(self.config.longest - r.stored - 1 for r in batch)]))

    def _grown(self, request: Request, length: int) -> bool:
        """Pages for ``length`` positions of a running request; where there are none left, the newest runner is retracted."""
        while not self._room(self.allocator.pages_needed(len(request.pages), length)):
            victims = [r for r in self.running if not r.extending and r is not request]
            if not victims:
                if not any(r.extending for r in self.running if r is not request):
                    raise CourseError(f"The pool is too small: {request.name} alone fills it.")
                self.retract(request)
                return False
            self.retract(victims[-1])
        return self.allocator.grow(request.pages, length)

    def _finish(self) -> list[Request]:
        done = [r for r in self.running if len(r.output) >= r.max_new]
        for request in done:
            del request.tokens[request.prompt_len + request.max_new :]
            request.stored = min(request.stored, len(request.tokens) - 1)
            if self.config.prefix_cache:
                self.cache.insert(request.tokens[: request.stored], request.pages)
            self._leave(request)
            request.finished = True
        return done

    def _leave(self, request: Request) -> None:
        self.allocator.release(request.pages)
        self.table.give_back(request.slot)
        self.running.remove(request)
        request.pages, request.slot = [], None

    # Retraction.

    def retract(self, request: Request) -> None:
        """Take a decoding request off the device: its share of every pool to the host, its pages free."""
        self.watcher.phase = "retract"
        locs = self._locs_on_device(request)
        request.saved = [pool.backup(locs, request.slot) for pool in self.pools]
        self._leave(request)
        self.retracted.appendleft(request)
        self.metrics.retractions += 1

    def _resume(self, request: Request) -> None:
        """New pages, hence new locs; backup and restore translate them independently."""
        self.watcher.phase = "resume"
        self.allocator.grow(request.pages, request.stored + 1)
        request.slot = self.table.take()
        self._place(request, 0, request.stored)
        locs = self._locs_on_device(request)
        for pool, saved in zip(self.pools, request.saved, strict=True):
            pool.restore(saved, locs, request.slot)
        request.saved = None
        self.running.append(request)

    def _locs_on_device(self, request: Request) -> torch.Tensor:
        return tag(self.allocator.locs(request.pages, 0, request.stored).to(self.device), Space.LOC)

    # The forward pass.

    def _forward(self, mode: backend.Mode, rows: list[tuple[Request, int, int]], tokens: list[list[int]]) -> list[int]:
        """Run the rows ``(request, start, end)`` with their ``tokens`` through the model: the next token of each request (of
        each row, for verify)."""
        self.watcher.phase = mode
        flat = torch.tensor([t for part in tokens for t in part], dtype=torch.int64).to(self.device)
        batch = self._batch(mode, rows)
        ends = torch.cumsum(batch.extend_lens, 0)
        self._streams(self.shared.model, batch, flat, ends)
        if mode != "verify":
            for worker, pool in zip(self.workers, self.pools, strict=True):
                pool.state[batch.slots] = worker.stream.word[ends - 1].to(pool.state.dtype)
        if self.config.draft_tokens:
            for step in self._draft_steps(batch):
                step.write_ckv(batch.out_locs)
                step.write_index_k(batch.out_locs)
        for layer in range(self.config.layers):
            ranks = [RankStep(self.shared, batch, w, layer, f"ckv.{layer}", f"index_k.{layer}") for w in self.workers]
            path = {"decode": self.paths.decode, "verify": self.paths.verify}.get(mode, self.paths.extend)
            outs = path(LayerStep(self.shared, batch, ranks, layer))
            for worker, out in zip(self.workers, outs, strict=True):
                worker.code = self.shared.model.pointer(out) if layer + 1 < self.config.layers else out
        picked = torch.arange(len(flat), device=self.device) if mode == "verify" else ends - 1
        return self._agree([self.shared.model.logits(w.code[picked], w.stream.word[picked]) for w in self.workers])

    def _batch(self, mode: backend.Mode, rows: list[tuple[Request, int, int]]) -> Batch:
        """Lengths and locs of a step. One host tensor goes to the device, with everything in it."""
        locs = torch.cat([self.allocator.locs(r.pages, a, b) for r, a, b in rows])
        lens = torch.tensor([[r.slot, a, b - a, b] for r, a, b in rows], dtype=torch.int64).t()
        positions = torch.cat([torch.arange(a, b) for _, a, b in rows])
        req_of_row = torch.repeat_interleave(torch.arange(len(rows)), lens[2])
        self.metrics.largest_loc = max(self.metrics.largest_loc, int(locs.max()))
        packed = torch.cat([locs, positions, req_of_row, lens.reshape(-1)]).to(self.device)
        n, b = len(locs), len(rows)
        out_locs, positions, req_of_row = packed[:n], packed[n : 2 * n], packed[2 * n : 3 * n]
        slots, prefix_lens, extend_lens, seq_lens = packed[3 * n :].view(4, b)
        self.table.table[slots[req_of_row], positions] = out_locs
        cu = torch.zeros(b + 1, dtype=torch.int64, device=self.device)
        torch.cumsum(seq_lens, 0, out=cu[1:])
        total, longest = int(lens[3].sum()), int(lens[3].max())
        fields = dict(
            mode=mode,
            positions=positions,
            req_of_row=req_of_row,
            out_locs=tag(out_locs, Space.LOC),
            slots=slots,
            prefix_lens=prefix_lens,
            extend_lens=extend_lens,
            seq_lens=seq_lens,
            cu_seqlens_k=cu,
            total_k=total,
            longest=longest,
            total_prefix=int(lens[1].sum()),
        )
        if mode in ("decode", "verify"):
            page = self.config.page_size
            columns = torch.arange(0, longest, page, device=self.device)
            pages = self.table.table[slots[req_of_row][:, None], columns] // page
            return Batch(**fields, page_table=tag(pages, Space.INDEX_K_PAGE))
        req = torch.repeat_interleave(torch.arange(b, device=self.device), seq_lens, output_size=total)
        at = torch.arange(total, device=self.device) - cu[req]
        flat_locs = tag(self.table.table[slots[req], at], Space.LOC)
        shard = -(-lens[1] // self.config.dcp_size)
        held = torch.repeat_interleave(torch.arange(b), shard)
        first = torch.cumsum(shard, 0) - shard
        prefix_rows = held.to(self.device), (torch.arange(len(held)) - first[held]).to(self.device)
        return Batch(**fields, flat_locs=flat_locs, prefix_rows=prefix_rows)

    def _streams(self, model: Model, batch: Batch, tokens: torch.Tensor, ends: torch.Tensor) -> None:
        """The convolution: each token meets the one before it, the first of a request's rows the one its state remembers."""
        starts = ends - batch.extend_lens
        word = model.embed(tokens)
        for worker, pool in zip(self.workers, self.pools, strict=True):
            before = torch.roll(word, 1, 0)
            before[starts] = pool.state[batch.slots].float()
            worker.stream = model.stream(word, before, batch.positions)
            worker.code = word

    def _agree(self, logits: list[torch.Tensor]) -> list[int]:
        """Greedy tokens. Every process takes rank 0's, and all learn together whether some rank faulted."""
        mine = [
            torch.cat([x.argmax(-1), self.watcher.faults(w.rank, self.device)])
            for x, w in zip(logits, self.workers, strict=True)
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

    # Speculation.

    def _draft_steps(self, batch: Batch) -> list[RankStep]:
        return [RankStep(self._draft, batch, w, 0, "draft.ckv", "draft.index_k", replicated=True) for w in self.workers]

    def _speculate(self, batch: list[Request], length: int) -> None:
        """The draft proposes ``length`` tokens one by one, the target verifies them in one step; what agrees is kept, and one
        more."""
        proposed = self._propose(batch, length)
        rows = [(r, r.stored, r.stored + length + 1) for r in batch]
        given = [[r.tokens[-1], *guess] for r, guess in zip(batch, proposed, strict=True)]
        tokens = self._forward("verify", rows, given)
        kept = []
        for i, (request, guess) in enumerate(zip(batch, proposed, strict=True)):
            found = tokens[i * (length + 1) : (i + 1) * (length + 1)]
            agree = next((j for j, g in enumerate(guess) if g != found[j]), length)
            request.tokens += found[: agree + 1]
            request.stored += agree + 1
            kept.append(i * (length + 1) + agree)
            self.metrics.proposed += length
            self.metrics.accepted += agree
            self.metrics.decoded += agree + 1
        kept, slots = torch.tensor([kept, [r.slot for r in batch]], device=self.device)
        for worker, pool in zip(self.workers, self.pools, strict=True):  # the state goes back to the last token kept
            pool.state[slots] = worker.stream.word[kept].to(pool.state.dtype)

    def _propose(self, batch: list[Request], length: int) -> list[list[int]]:
        """``length`` greedy tokens a request from the one-layer draft, whose pools are replicated and addressed by loc."""
        self.watcher.phase = "draft"
        guess = torch.tensor([r.tokens[-1] for r in batch], device=self.device)
        guesses = []
        words = [pool.state[[r.slot for r in batch]].float() for pool in self.pools]
        for i in range(length):
            step_batch = self._batch("decode", [(r, r.stored + i, r.stored + i + 1) for r in batch])
            word = self._draft.model.embed(guess)
            found = []
            for k, rank in enumerate(self._draft_steps(step_batch)):
                rank.worker.stream = self._draft.model.stream(word, words[k], step_batch.positions)
                rank.worker.code = word
                rank.write_ckv(step_batch.out_locs)
                rank.write_index_k(step_batch.out_locs)
                rows, counts = rank.as_rows(rank.to_locs(rank.select_paged()))
                out, _ = rank.attend(rows, counts)
                found.append(self._draft.model.logits(out, word).argmax(-1))
                words[k] = word
            guess = self.comm.all_gather(found)[0]
            guesses.append(guess)
        return torch.stack(guesses, 1).tolist()

    # What there is to see.

    def watermarks(self) -> list[Watermark]:
        """Every buffer that locs or rows address, against the largest index it met and the largest it can be given."""
        c, arena = self.config, self.workers[0].arena
        need = {Space.LOC: loc_slots(c.size, c.page_size, c.dcp_size), Space.ROW: ckv_rows(c.size, c.page_size)}
        return [
            Watermark(b.name, b.space, b.slots, need[b.space], self.watcher.highest.get(b.name, -1))
            for b in arena.buffers.values()
            if b.space in need
        ]

    def owner_of(self, loc: int) -> str:
        """Who holds a loc now: a running request's name, "prefix cache", or "nobody"."""
        page = loc // self.config.width
        for request in self.running:
            if page in request.pages:
                return request.name
        return "prefix cache" if 0 < page <= self.allocator.pages and self.allocator.holders(page) else "nobody"

    def _trusted(self, specs) -> frozenset[str]:
        """Buffers that hold every index the backend can give them: nothing of these need be looked at in an unwatched
        server."""
        c = self.config
        need = loc_slots(c.size, c.page_size, c.dcp_size)
        raw = self.defects & {"ckv_write", "read", "extend", "retract", "mixed"}
        names = [s.name for s in specs if s.space is Space.LOC and s.slots >= need]
        if not raw:
            names += [s.name for s in specs if s.space in (Space.ROW, Space.RAGGED)]
        return frozenset(names)

    def _check_extents(self, specs) -> None:
        """Typed mode: a buffer must cover the space that addresses it. Before any data is stored."""
        c = self.config
        need = loc_slots(c.size, c.page_size, c.dcp_size)
        for spec in specs:
            if spec.space is Space.LOC and spec.slots < need:
                raise ExtentError(spec.name, spec.slots, Space.LOC, need)
