"""The server: requests in, words out. One step extends a chunk of the prompts, or decodes (or drafts and verifies) every
running one.

Stands for SGLang's scheduler. Everything here is host bookkeeping in requests, pages and lengths; tensors are the runner's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch

from dcplab.engine import backend, configurator, offload, pools, public_cases, transfer
from dcplab.engine.allocator import PagedAllocator, PrefixCache
from dcplab.engine.backend import Paths
from dcplab.engine.comm import Distributed, Local
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.forward_batch import ForwardMode
from dcplab.engine.host import HostPool
from dcplab.engine.rank_step import CapacityAlarm
from dcplab.engine.request import ReqToTokenPool, Request, Span
from dcplab.engine.runner import Metrics, Runner, ServerCrash
from dcplab.engine.space_tags import ExtentError, Space
from dcplab.engine.tokenizer import Tokenizer
from dcplab.engine.watcher import Watcher
from dcplab.errors import CourseError


@dataclass(frozen=True)
class BufferWatermark:
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


def _planned(config: ServerConfig, defects: frozenset[str]) -> ServerConfig:
    """Plan the server that its budget allows. ServerCrash where its pools take more than that."""
    if not config.budget:
        return config
    config = replace(config, size=configurator.size_for(config.budget, config, defects))
    takes = configurator.bytes_per_row(config) * (config.size + config.page_size)
    if takes > config.budget:
        raise ServerCrash(f"out of memory at the start: the pools take {takes:,} bytes a rank of {config.budget:,}.")
    return config


class Engine:
    """A server with ``config``, on the ranks that ``comm`` hosts, with the ``defects`` that are switched on.

    ``watch`` notes every access (see `watcher.py`); ``typed`` and ``strict`` raise at the first misuse, or index outside a
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
        self.defects = frozenset(defects)
        self.config = config = _planned(config, self.defects)
        self.comm = comm or Local(config.dcp_size)
        self.comm.agree(
            "server", vars(config) | {"defects": sorted(self.defects), "watch": (watch, typed, strict, neighbours, capture)}
        )
        self.device = self.comm.device
        config.check_on(self.device)
        self.tokenizer = tokenizer or Tokenizer()
        counted = strict or "free_mid_page" not in self.defects
        sizes = (config.size, config.page_size, config.dcp_size)
        self.allocator = PagedAllocator(*sizes, config.need_sort, counted, config.interleave)
        self.cache = PrefixCache(self.allocator)
        self.req_to_token_pool = ReqToTokenPool(config.max_requests, config.longest, config.width, self.device)
        short = configurator.short(config, self.defects)
        if typed and short:
            raise ExtentError(short[0].name, short[0].slots, Space.LOC, configurator.needed(config)[Space.LOC])
        # What another wiring than the standard one does with an index is anybody's guess.
        trusted = configurator.trusted(config, self.defects) if paths is backend.STANDARD else frozenset[str]()
        modes = (watch or typed or strict, typed, strict, neighbours)
        self.watcher = Watcher(config.dcp_size, self.comm.ranks[0], *modes, trusted=trusted, interleave=config.interleave)
        self.paths, self.metrics = paths, Metrics()
        given = (self.watcher, self.allocator, self.req_to_token_pool.req_to_token, self.tokenizer.words, self.metrics, capture)
        self.runner = Runner(config, self.defects, self.comm, *given)
        self.workers, self.pools, self.shared = self.runner.workers, self.runner.pools, self.runner.shared
        self.host = HostPool(config.host_tokens)
        self.prefill: Engine | None = None  # the node that prompts come from, where there is one
        if config.prefill_dcp:
            node, ranks = configurator.prefill_node(config), Local(config.prefill_dcp, self.device)
            self.prefill = Engine(node, comm=ranks, watch=watch, typed=typed, strict=strict, tokenizer=self.tokenizer)
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
        """Store a prefix in whole pages and keep it in the prefix cache, as if it had been transferred here: written by the
        wiring's extend, whose reads give nothing. Gives the positions stored; 0 where there is no prefix cache or no room."""
        request = self.submit(prompt, 1)
        self.waiting.remove(request)
        whole = (len(request.tokens) - 1) // self.config.width * self.config.width
        if not (
            self.config.prefix_cache and self.req_to_token_pool.available and self._room(self.allocator.pages_needed(0, whole))
        ):
            return 0
        self.allocator.grow(request.pages, whole)
        request.req_pool_idx = self.req_to_token_pool.alloc()
        self.runner.remember(request.req_pool_idx, None)
        with self._mortal():
            while request.stored < whole:
                end = min(request.stored + self.config.chunk, whole)
                self._tick()
                span = Span(request, request.stored, end)
                self.runner.forward("extend", [span], [request.tokens[request.stored : end]], self.paths, reads=False)
                request.stored = end
        self.cache.insert(request.tokens[:whole], request.pages)
        self.allocator.release(request.pages)
        self.req_to_token_pool.free(request.held_req_pool_idx)
        return whole

    def run(self, progress: Callable[[Engine], None] | None = None) -> None:
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
        """Admit, then extend or decode. Returns the requests that finished. Raises a crash or an alarm, after which the server
        is dead."""
        with self._mortal():
            self._admit()
            self._tick()
            extending = [r for r in self.running if r.extending]
            if extending:
                self._extend(extending)
            else:
                self._decode()
        return self._finish()

    @contextmanager
    def _mortal(self) -> Iterator[None]:
        """Mark the server as dead for good if the block raises a crash or an alarm. A dead server raises at once."""
        if self.dead:
            raise ServerCrash(f"The server is dead: {self.dead}")
        try:
            yield
        except (ServerCrash, pools.DeviceAssert, CapacityAlarm) as error:
            self.dead = str(error)
            raise

    def _tick(self) -> None:
        self.metrics.steps += 1
        self.watcher.step = self.metrics.steps

    def _admit(self) -> None:
        """Resume what was retracted, then start what waits, in order, while there is place and pages for the whole of each."""
        while self.retracted and self.req_to_token_pool.available:
            request = self.retracted[0]
            if not self._room(self.allocator.pages_needed(0, request.stored + 1)):
                break
            self.retracted.popleft()
            offload.resume(self, request)
        while self.waiting and self.req_to_token_pool.available and not self.retracted:
            request = self.waiting[0]
            prefix = self.cache.match(request.tokens) if self.config.prefix_cache else []
            self.allocator.hold(prefix)
            if not self._room(self.allocator.pages_needed(len(prefix), len(request.tokens))):
                self.allocator.release(prefix)
                if not self.running:
                    raise CourseError("The pool is too small: nothing runs, and the next request still finds no room.")
                break
            self.waiting.popleft()
            request.pages = list(prefix)
            self.allocator.grow(request.pages, len(request.tokens))
            request.req_pool_idx = self.req_to_token_pool.alloc()
            request.stored = request.cached = len(prefix) * self.config.width
            self.metrics.cached += request.cached
            self.place(request, 0, request.stored)
            # The state as it was after the prefix: the convolution remembers one word.
            self.runner.remember(request.req_pool_idx, request.tokens[request.stored - 1] if request.stored else None)
            self.running.append(request)
            if self.prefill:
                transfer.receive(self, self.prefill, request)

    def _room(self, count: int) -> bool:
        """Return True if ``count`` pages are free, evicting cached prefixes if that helps."""
        lack = count - self.allocator.available
        if lack > 0:
            self.metrics.evicted += self.cache.evict(lack)
        return self.allocator.available >= count

    def place(self, request: Request, start: int, end: int) -> torch.Tensor:
        """Enter the locs of positions ``start .. end - 1`` into the request table; gives them, on the host."""
        locs = self.allocator.locs(request.pages, start, end)
        if end > start:
            self.req_to_token_pool.req_to_token[request.req_pool_idx, start:end] = locs.to(self.device)
        return locs

    def _extend(self, extending: list[Request]) -> None:
        """Run a chunk of every extending request: equal shares, and the rest of the budget to the first. Mixed: decoding
        requests ride along."""
        room, budget = self.config.workspace_rows, self.config.chunk
        riders = self._riders(extending, room) if self.config.mixed else []
        room, budget = room - sum(r.stored + 1 for r in riders), budget - len(riders)
        spans = []
        for i, request in enumerate(extending):
            share = max(1, budget // (len(extending) - i))
            take = min(len(request.tokens) - request.stored, share, budget)
            if take > 0 and request.stored + take <= room:
                spans.append(Span(request, request.stored, request.stored + take))
                budget -= take
                room -= request.stored + take
        spans += [Span(r, r.stored, r.stored + 1) for r in riders]
        mode: ForwardMode = "mixed" if riders else "extend"
        tokens = self._forward(mode, spans, [s.request.tokens[s.start : s.end] for s in spans])
        for (request, start, end), token in zip(spans, tokens, strict=True):
            request.stored = end
            self.metrics.extended += end - start
            if end == len(request.tokens):
                request.tokens.append(token)
                self.metrics.decoded += 1

    def _riders(self, extending: list[Request], room: int) -> list[Request]:
        """Choose the decoding requests that ride along in a mixed batch: those that leave workspace for the first extending
        one."""
        room -= min(extending[0].stored + self.config.chunk, len(extending[0].tokens))
        riders = []
        for request in [r for r in self.running if not r.extending]:
            if request.req_pool_idx is not None and request.stored < room and self._grown(request, request.stored + 1):
                riders.append(request)
                room -= request.stored + 1
        return [r for r in riders if r.req_pool_idx is not None]  # growing one may have retracted another

    def _decode(self) -> None:
        for request in list(self.running):
            if request.req_pool_idx is not None:
                self._grown(request, request.stored + 1 + self._draft_len([request]))
        batch = [r for r in self.running if r.req_pool_idx is not None]
        if not batch:
            return
        draft_len = self._draft_len(batch)
        if draft_len:
            self._speculate(batch, draft_len)
            return
        spans = [Span(r, r.stored, r.stored + 1) for r in batch]
        for request, token in zip(batch, self._forward("decode", spans, [r.tokens[-1:] for r in batch]), strict=True):
            request.stored += 1
            request.tokens.append(token)
            self.metrics.decoded += 1

    def _draft_len(self, batch: list[Request]) -> int:
        """Count the tokens to draft: the configured number, fewer where a request would grow past the longest."""
        return max(0, min([self.config.draft_tokens, *(self.config.longest - r.stored - 1 for r in batch)]))

    def _grown(self, request: Request, length: int) -> bool:
        """Allocate pages for ``length`` positions of a running request. Where none are left, the newest runner is retracted."""
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
            self.leave(request)
            request.finished = True
        return done

    def leave(self, request: Request) -> None:
        """Free what a running request holds."""
        pages = request.pages
        if "free_mid_page" in self.defects:
            pages = public_cases.cut_pages(pages, request.prompt_len, self.config.width)
        self.allocator.release(pages)
        self.req_to_token_pool.free(request.held_req_pool_idx)
        self.running.remove(request)
        request.pages, request.req_pool_idx = [], None

    def retract(self, request: Request) -> None:
        """Take a decoding request off the device: its share of every pool to the host, its pages free.

        Where the host pool has no room for it, its KV is dropped: the request waits in front of those that never ran, and its
        tokens are computed anew. CourseError for one that is too long for that.
        """
        with self._mortal():
            offload.retract(self, request)

    def _forward(self, mode: ForwardMode, spans: Sequence[Span], tokens: Sequence[Sequence[int]]) -> list[int]:
        return self.runner.forward(mode, spans, tokens, self.paths)

    def _speculate(self, batch: list[Request], length: int) -> None:
        """Let the draft propose ``length`` tokens one by one and the target verify them in one step. What agrees is kept, and
        one more."""
        proposed = self.runner.propose(batch, length, self.paths)
        spans = [Span(r, r.stored, r.stored + length + 1) for r in batch]
        given = [[r.tokens[-1], *guess] for r, guess in zip(batch, proposed, strict=True)]
        tokens = self._forward("verify", spans, given)
        kept = []
        for i, (request, guess) in enumerate(zip(batch, proposed, strict=True)):
            verified = tokens[i * (length + 1) : (i + 1) * (length + 1)]
            agree = next((j for j, g in enumerate(guess) if g != verified[j]), length)
            request.tokens += verified[: agree + 1]
            request.stored += agree + 1
            kept.append(i * (length + 1) + agree)
            self.metrics.proposed += length
            self.metrics.accepted += agree
            self.metrics.decoded += agree + 1
        self.runner.keep(kept, [r.held_req_pool_idx for r in batch])

    # What there is to see.

    def watermarks(self) -> list[BufferWatermark]:
        """List every buffer that locs or rows address, against the largest index it met and the largest it can be given."""
        need, arena = configurator.needed(self.config), self.workers[0].arena
        return [
            BufferWatermark(b.name, b.space, b.slots, need[b.space], self.watcher.highest.get(b.name, -1))
            for b in arena.buffers.values()
            if b.space in need
        ]

    def owner_of(self, loc: int) -> str:
        """Name the holder of a loc now: a running request's name, "prefix cache", or "nobody"."""
        page = loc // self.config.width
        for request in self.running:
            if page in request.pages:
                return request.name
        return "prefix cache" if 0 < page <= self.allocator.pages and self.allocator.holders(page) else "nobody"
