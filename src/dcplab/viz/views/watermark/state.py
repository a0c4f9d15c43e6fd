"""The watermark's state: one server's geometry and its requests' actions. Frozen, checked, and pure.

`played` runs the actions through the engine's own allocator. `lines` asks the engine's configurator for every buffer and bound.
No size is defined here.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from itertools import pairwise

import torch

from dcplab.engine import configurator, index_spaces
from dcplab.engine.allocator import PagedAllocator
from dcplab.engine.arena import Arena, Buffer
from dcplab.engine.configurator import ServerConfig
from dcplab.engine.watcher import slot_address
from dcplab.viz.core.scene import number
from dcplab.viz.core.validate import geometry, whole

MOST_RANKS, MOST_LAYERS, MOST_ACTIONS, MOST_PAGES = 64, 64, 60, 1_000_000
REPORTED = 300_000  # tokens of each of the report's two prompts


@dataclass(frozen=True)
class Action:
    """``kind``: "new" (a request ``name`` of ``tokens``), "free" (it finishes), "keep" (it finishes, and its whole pages stay
    in the prefix cache), or "evict" (the cache frees them)."""

    kind: str
    name: str
    tokens: int = 0


@dataclass(frozen=True)
class WatermarkState:
    """C, P, D, DSA layers, all actions, and ``at``: the number of actions after which the picture stands (0: an empty
    server). ``need_sort``: as `PagedAllocator`'s."""

    size: int
    page_size: int
    dcp_size: int
    layers: int
    actions: tuple[Action, ...] = ()
    at: int = 0
    need_sort: bool = False

    @property
    def config(self) -> ServerConfig:
        return ServerConfig(self.size, self.page_size, self.dcp_size, layers=self.layers)

    @property
    def largest(self) -> int:
        """Return the largest loc that the allocator can issue."""
        return index_spaces.largest_loc(self.size, self.page_size, self.dcp_size)

    @property
    def step(self) -> Moment:
        return played(self)[self.at]


@dataclass(frozen=True)
class LocRun:
    """Locs ``first`` to ``last`` that ``name`` holds. ``kept``: as a prefix in the cache, not as a request."""

    first: int
    last: int
    name: str
    kept: bool


@dataclass(frozen=True)
class Held:
    """Pages, in position order, and the number of ``tokens`` in them."""

    name: str
    pages: tuple[int, ...]
    tokens: int
    kept: bool = False


@dataclass(frozen=True)
class Moment:
    """The server after an action. ``served``: tokens of all requests so far. ``evicted``: cached prefixes freed to make
    room."""

    action: Action | None
    held: tuple[Held, ...]
    runs: tuple[LocRun, ...]
    served: int
    free: int
    evicted: tuple[str, ...] = ()

    @property
    def largest(self) -> int:
        """Return the largest live loc, -1 if there is none."""
        return max((r.last for r in self.runs), default=-1)


@dataclass(frozen=True)
class Consumer:
    """A user of raw locs. ``defect``: the switch of `engine.defects` that builds it, "" for the right one.

    ``buffers``: the buffers of its first and its last layer, whose neighbours may differ. None for a check.
    """

    name: str
    defect: str
    slots: int
    buffers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Overwrite:
    """The bytes that a write to ``buffer`` at ``loc`` changes. ``parts``: ``(region, first byte of it, last)``."""

    buffer: str
    loc: int
    parts: tuple[tuple[str, int, int], ...]

    @property
    def lands(self) -> str:
        if not self.parts:
            return "memory that is not mapped: a GPU faults"
        return " and ".join(f"bytes {number(a)} to {number(b)} of {region}" for region, a, b in self.parts)


def make(size=12, page_size=4, dcp_size=2, layers=2, need_sort=False) -> WatermarkState:
    """Make a server on which all scripted requests have been played. Raises ``ValueError`` with one sentence for values that
    cannot be drawn."""
    if not isinstance(need_sort, bool):
        raise ValueError(f"need_sort is True or False, not {need_sort!r}.")
    dcp_size, page_size = geometry(dcp_size, page_size)
    size, layers = whole(size, "C (size)", 1), whole(layers, "layers", 1)
    if size < page_size:
        raise ValueError(f"C is {size}: a rank's pool must hold at least one page of P = {page_size} rows.")
    if dcp_size > MOST_RANKS or layers > MOST_LAYERS:
        raise ValueError(f"a picture takes at most {MOST_RANKS} ranks and {MOST_LAYERS} layers.")
    if size // page_size > MOST_PAGES:
        raise ValueError(f"C holds {number(size // page_size)} pages, and the picture takes at most {number(MOST_PAGES)}.")
    state = WatermarkState(size, page_size, dcp_size, layers, need_sort=need_sort)
    actions = script(state)
    return replace(state, actions=actions, at=len(actions))


def emptied(state: WatermarkState) -> WatermarkState:
    """Return the same server before any action."""
    return replace(state, actions=(), at=0)


def with_all(state: WatermarkState, requests) -> WatermarkState:
    """Return the state after a list of events: a number of tokens, "free A", "keep A" or "evict"."""
    if isinstance(requests, str) or not hasattr(requests, "__iter__"):
        raise ValueError(f"requests must be a list such as [8, 'free A', 8, 'keep B'], not {requests!r}.")
    for item in requests:
        kind, _, name = item.partition(" ") if isinstance(item, str) else ("", "", "")
        if item == "evict":
            state = with_eviction(state)
        elif kind in ("free", "keep") and name:
            state = with_action(state, Action(kind, name))
        else:
            state = with_request(state, item)
    return state


def script(state: WatermarkState) -> tuple[Action, ...]:
    """Return the script: twice a request comes and is freed, then two are kept, and a last one takes the rest.

    Prompts have 300,000 tokens, as in the report, if three of them fit; else one page.
    """
    width, pages = state.config.width, state.config.pages
    tokens = REPORTED if REPORTED >= width and 3 * -(-REPORTED // width) <= pages else width
    each = -(-tokens // width)
    actions = [a for name in "AB" for a in (Action("new", name, tokens), Action("free", name))]
    actions += [Action("new", "C", tokens), Action("keep", "C")]
    left = pages - tokens // width  # the cache keeps whole pages only
    if left >= each:
        actions += [Action("new", "D", tokens)]
        left -= each
        if left:
            actions += [Action("keep", "D"), Action("new", "E", (left + each - tokens // width) * width)]
    return tuple(actions)


def with_action(state: WatermarkState, action: Action) -> WatermarkState:
    """Return the state with one more action at ``at``. Later actions are dropped."""
    if action.kind == "new":
        whole(action.tokens, "a request's tokens", 1)
    if state.at >= MOST_ACTIONS:
        raise ValueError(f"the picture takes at most {MOST_ACTIONS} steps; start over or go back.")
    done = replace(state, actions=(*state.actions[: state.at], action), at=state.at + 1)
    played(done)
    return done


def with_request(state: WatermarkState, tokens) -> WatermarkState:
    """Return the state with a new request of ``tokens`` tokens, named by the first free letter."""
    used = sum(a.kind == "new" for a in state.actions[: state.at])
    name = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[used % 26] + str(used // 26 + 1 if used >= 26 else "")
    return with_action(state, Action("new", name, whole(tokens, "a request's tokens", 1)))


def with_eviction(state: WatermarkState) -> WatermarkState:
    """Return the state in which the prefix cache frees its oldest prefix."""
    kept = next((h for h in state.step.held if h.kept), None)
    if kept is None:
        raise ValueError("the prefix cache is empty, so nothing can be evicted.")
    return with_action(state, Action("evict", kept.name))


def looked_at(state: WatermarkState, at) -> WatermarkState:
    """Return the state at another step."""
    at = whole(at, "the step")
    if at > len(state.actions):
        raise ValueError(f"there are {len(state.actions)} steps, and no step {at}.")
    return replace(state, at=at)


@functools.lru_cache(maxsize=64)
def _played(size: int, page_size: int, dcp_size: int, need_sort: bool, actions: tuple[Action, ...]) -> tuple[Moment, ...]:
    allocator = PagedAllocator(size, page_size, dcp_size, need_sort)
    held: list[Held] = []
    steps, served = [Moment(None, (), (), 0, allocator.available)], 0
    for action in actions:
        evicted: list[str] = []
        if action.kind == "new":
            served += action.tokens
            held.append(_admitted(allocator, held, action, evicted))
        else:
            held = _gone(allocator, held, action)
        runs = tuple(sorted((r for h in held for r in _runs(size, page_size, dcp_size, h)), key=lambda r: r.first))
        steps.append(Moment(action, tuple(held), runs, served, allocator.available, tuple(evicted)))
    return tuple(steps)


def played(state: WatermarkState) -> tuple[Moment, ...]:
    """Return every step, the empty server first. Raises ``ValueError`` if an action is impossible."""
    return _played(state.size, state.page_size, state.dcp_size, state.need_sort, state.actions)


def _admitted(allocator: PagedAllocator, held: list[Held], action: Action, evicted: list[str]) -> Held:
    """Allocate pages for a new request. If they are short, the cache frees its oldest prefixes, as a server does."""
    pages: list[int] = []
    while not allocator.grow(pages, action.tokens):
        kept = next((h for h in held if h.kept), None)
        if kept is None:
            need = allocator.pages_needed(0, action.tokens)
            raise ValueError(
                f"request {action.name} of {number(action.tokens)} tokens needs {number(need)} pages, "
                f"and {number(allocator.available)} are free."
            )
        allocator.release(kept.pages)
        held.remove(kept)
        evicted.append(kept.name)
    return Held(action.name, tuple(pages), action.tokens)


def _gone(allocator: PagedAllocator, held: list[Held], action: Action) -> list[Held]:
    """Return the holders after a request finished or the cache freed a prefix."""
    found = next((h for h in held if h.name == action.name and h.kept == (action.kind == "evict")), None)
    if found is None:
        raise ValueError(f"{action.name} is not {'in the prefix cache' if action.kind == 'evict' else 'running'}.")
    rest = [h for h in held if h is not found]
    if action.kind == "keep":
        whole_pages = found.pages[: found.tokens // allocator.width]
        allocator.hold(whole_pages)
        if whole_pages:
            rest.append(Held(found.name, whole_pages, len(whole_pages) * allocator.width, kept=True))
    allocator.release(found.pages)
    return rest


@functools.lru_cache(maxsize=256)
def _runs(size: int, page_size: int, dcp_size: int, held: Held) -> tuple[LocRun, ...]:
    """Return a holder's locs, ascending, neighbours joined: a prompt of 586 pages is mostly one run."""
    allocator = PagedAllocator(size, page_size, dcp_size)
    pages, tail = held.pages, (held.tokens - 1) % allocator.width
    jumps = (torch.tensor(pages).diff() != 1).nonzero().flatten().add(1).tolist()
    found: list[LocRun] = []
    for start, end in sorted(pairwise([0, *jumps, len(pages)]), key=lambda span: pages[span[0]]):
        offset = tail if end == len(pages) else allocator.width - 1
        first, last = allocator.locs([pages[start]], 0, 1), allocator.locs([pages[end - 1]], offset, offset + 1)
        if found and found[-1].last + 1 == int(first):
            found[-1] = replace(found[-1], last=int(last))
        else:
            found.append(LocRun(int(first), int(last), held.name, held.kept))
    return tuple(found)


@functools.lru_cache(maxsize=64)
def layout(config: ServerConfig, defect: str) -> Arena:
    """Lay out a rank's memory with one defect, as the engine places it, without bytes and without canary bands."""
    return Arena(configurator.specs(config, {defect}), "meta", canary=0, tail=configurator.tail_bytes(config))


@functools.lru_cache(maxsize=64)
def consumers(config: ServerConfig) -> tuple[Consumer, ...]:
    """Return all users of raw locs, each wrong way before the right one."""
    size, page, d = config.size, config.page_size, config.dcp_size
    last = config.layers - 1

    def pool(name: str, defect: str, *buffers: str) -> Consumer:
        arena = layout(_server(config, buffers[0]), defect)
        return Consumer(name, defect, arena.buffers[buffers[0]].slots, tuple(dict.fromkeys(buffers)))

    def check(name: str, defect: str, bound) -> Consumer:
        return Consumer(name, defect, bound(size, page, d, {defect}))

    return (
        pool("index-K, unpatched", "index_k_size", "index_k.0", f"index_k.{last}"),
        pool("index-K, #36989", "index_k_short", "index_k.0", f"index_k.{last}"),
        pool("index-K, right", "", "index_k.0", f"index_k.{last}"),
        pool("c-KV, loc used as row", "ckv_write", "ckv.0", f"ckv.{last}"),
        pool("draft pool, #32828", "draft_page", "draft.ckv", "draft.index_k"),
        pool("draft pool, right", "", "draft.ckv", "draft.index_k"),
        check("table assert, unpatched", "assert", configurator.flattened_bound),
        check("table assert, #36989", "assert_short", configurator.flattened_bound),
        check("table assert, right", "", configurator.flattened_bound),
        check("write check, unpatched", "oob_bound", configurator.write_bound),
        check("write check, right", "", configurator.write_bound),
    )


def _server(config: ServerConfig, buffer: str) -> ServerConfig:
    """Return the server of a consumer. Only a draft's server has a draft."""
    return replace(config, draft_tokens=1) if buffer.startswith("draft") else config


def crossed(consumer: Consumer, steps: tuple[Moment, ...]) -> int | None:
    """Return the first step with a live loc at or beyond the consumer's size."""
    return next((i for i, step in enumerate(steps) if step.largest >= consumer.slots), None)


def first_issued(state: WatermarkState, slots: int) -> int | None:
    """Return the smallest loc outside ``slots`` that the allocator can issue, or None if all fit. Page 0 is never issued."""
    loc = max(slots, state.config.width)
    return loc if loc <= state.largest else None


def first_outside(step: Moment, slots: int) -> int | None:
    """Return the smallest live loc outside ``slots``."""
    return next((max(r.first, slots) for r in step.runs if r.last >= slots), None)


def hits(state: WatermarkState, consumer: Consumer) -> tuple[Overwrite, ...]:
    """Return the victims of the live locs outside a consumer's buffers at the selected step.

    Taken are the smallest and the largest such loc in the first layer, and the largest in the last layer, which has another
    neighbour.
    """
    low, high = first_outside(state.step, consumer.slots), state.step.largest
    if low is None:
        return ()
    found = []
    for i, name in enumerate(consumer.buffers):
        arena = layout(_server(state.config, name), consumer.defect)
        buffer = arena.buffers[name]
        # A buffer of whole pages may hold a little more than the other buffer of its consumer.
        found += [_hit(arena, buffer, loc) for loc in dict.fromkeys((high,) if i else (low, high)) if loc >= buffer.slots]
    return tuple(found)


def _hit(arena: Arena, buffer: Buffer, loc: int) -> Overwrite:
    """Find the bytes of ``loc``: a row of c-KV, or an index-K key (its scale lies at the end of its page)."""
    first = slot_address(buffer, loc)
    last = first + (configurator.INDEX_DIM if "index_k" in buffer.name else buffer.spec.row_bytes) - 1
    parts = [
        (_plain(name), max(first, a) - a, min(last, b - 1) - a)
        for name, a, b in arena.table()
        if first < b and a <= last and a < b
    ]
    return Overwrite(buffer.name, loc, tuple(parts))


def _plain(region: str) -> str:
    return region.replace("canary after", "the gap behind").replace("tail", "memory that nobody uses")
