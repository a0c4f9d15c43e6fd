"""The workspace widget's state: a batch of requests with cached and new tokens, and one token that is followed.

Every index comes from the engine's own functions (`engine.ops`, `engine.index_spaces`, the allocator). They make every buffer
too, from token numbers in place of c-KV rows. Frozen, checked, and pure. Positions count from 0 in every request.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch

from dcplab.engine import index_spaces, ops
from dcplab.engine.allocator import PagedAllocator
from dcplab.viz.core.scene import number
from dcplab.viz.core.validate import whole

MOST_REQUESTS, MOST_TOKENS, MOST_RANKS = 4, 24, 8
NOBODY = -1  # a row that holds no token

REQUESTS = {"A": ("the red fox hides in", "an old barn"), "B": ("a cat sat", "by me")}


@dataclass(frozen=True)
class PlacedRequest:
    """``words[position]`` and ``locs[position]``. The first ``cached`` positions are the prefix, the others are new."""

    name: str
    words: tuple[str, ...]
    locs: tuple[int, ...]
    cached: int


@dataclass(frozen=True)
class WorkspaceState:
    """D, P and the requests; the followed token (``position`` of requests[``request``]); the use of its id."""

    dcp_size: int
    page_size: int
    requests: tuple[PlacedRequest, ...]
    request: int
    position: int
    use: str

    @property
    def followed(self) -> PlacedRequest:
        return self.requests[self.request]

    @property
    def tokens(self) -> tuple[tuple[int, int], ...]:
        """Return ``(request, position)`` of every token. A token's place in this list is its number in the buffers."""
        return tuple((i, p) for i, r in enumerate(self.requests) for p in range(len(r.words)))

    def column(self, values) -> torch.Tensor:
        return torch.tensor(list(values), dtype=torch.int64)


@dataclass(frozen=True)
class Buffers:
    """The buffers that the batch's tokens pass through, as token numbers or `NOBODY`.

    ``pools[rank][row]``: c-KV. ``gathered[rank][row]``: the padded shards. ``prefixes``: un-interleaved. ``workspace``: layout
    A ``[p0 e0 p1 e1]``. ``other``: layout B ``[p0 p1 e0 e1]``. ``shard_rows``: rows of each request in a shard.
    """

    pools: tuple[tuple[int, ...], ...]
    gathered: tuple[tuple[int, ...], ...]
    prefixes: tuple[int, ...]
    workspace: tuple[int, ...]
    other: tuple[int, ...]
    shard_rows: tuple[int, ...]
    cu_seqlens_k: tuple[int, ...]


def make(requests=None, dcp_size=2, page_size=2, request=None, position=None, use="ragged") -> WorkspaceState:
    """Make the state for the arguments of `workspace`. Raises ``ValueError`` with one sentence for values that cannot be
    drawn."""
    dcp_size, page_size = _ranks(dcp_size), whole(page_size, "P (page_size)", 1)
    if page_size > 64:
        raise ValueError(f"P is {page_size}, and the picture shows pages of at most 64 rows.")
    given = _requests(REQUESTS if requests is None else requests)
    state = WorkspaceState(dcp_size, page_size, _placed(given, dcp_size, page_size), 0, 0, "ragged")
    if requests is None and request is None and position is None:
        request, position = "B", 1
    names = [r.name for r in state.requests]
    if request is None:
        request = next(r.name for r in state.requests if r.words)
    if request not in names:
        raise ValueError(f"there is no request {request}; there are {', '.join(names)}.")
    return with_use(with_token(state, names.index(request), 0 if position is None else position), use)


def with_token(state: WorkspaceState, request: int, position) -> WorkspaceState:
    """Return the state that follows another token."""
    position, held = whole(position, "the position"), state.requests[request]
    if not held.words:
        raise ValueError(f"request {held.name} has no token to follow.")
    if position >= len(held.words):
        raise ValueError(f"request {held.name} has positions 0 to {len(held.words) - 1}, and no position {position}.")
    return replace(state, request=request, position=position)


def with_cached(state: WorkspaceState, cached) -> WorkspaceState:
    """Return the state in which the followed request has another number of cached tokens."""
    cached, held = whole(cached, "cached"), state.followed
    if cached > len(held.words):
        raise ValueError(f"request {held.name} has {len(held.words)} tokens, so {cached} of them cannot be cached.")
    changed = tuple(replace(r, cached=cached) if i == state.request else r for i, r in enumerate(state.requests))
    return replace(state, requests=changed)


def with_ranks(state: WorkspaceState, dcp_size) -> WorkspaceState:
    """Return the state on another number of ranks. The allocator's pages get wider, so every loc changes."""
    given = [(r.name, r.words, r.cached) for r in state.requests]
    dcp_size = _ranks(dcp_size)
    return replace(state, dcp_size=dcp_size, requests=_placed(given, dcp_size, state.page_size))


def with_use(state: WorkspaceState, use) -> WorkspaceState:
    """Return the state in which the followed token's id is used in another way: a key of `USES`."""
    if use not in USES:
        raise ValueError(f"there is no use {use!r}; there are {', '.join(USES)}.")
    return replace(state, use=use)


def with_next_use(state: WorkspaceState) -> WorkspaceState:
    """Return the state with the next of `USES`; the first follows the last."""
    keys = list(USES)
    return with_use(state, keys[(keys.index(state.use) + 1) % len(keys)])


@functools.lru_cache(maxsize=8)
def buffers(state: WorkspaceState) -> Buffers:
    """Fill every buffer on the way into the workspace. A shard holds the rows that its rank reads from its own pool."""
    d, requests = state.dcp_size, state.requests
    table = req_to_token(state)
    numbers = {token: n for n, token in enumerate(state.tokens)}
    rows = max(index_spaces.local_row(loc, d) for r in requests for loc in r.locs) + 1
    pools = torch.full((d, rows), NOBODY, dtype=torch.int64)
    for (i, p), n in numbers.items():
        loc = requests[i].locs[p]
        pools[index_spaces.owner_rank(loc, d), index_spaces.local_row(loc, d)] = n
    cached = state.column(r.cached for r in requests)
    new = state.column(len(r.words) - r.cached for r in requests)
    starts = torch.zeros_like(cached)
    shard_rows = [-(-n // d) for n in cached.tolist()]
    shards = torch.full((d, sum(shard_rows), 1), NOBODY, dtype=torch.int64)
    for rank in range(d):
        first = 0
        for i, r in enumerate(requests):
            own = index_spaces.localize(table[i, : r.cached], rank, d)
            own = own[own >= 0]
            shards[rank, first : first + len(own), 0] = pools[rank, own]
            first += shard_rows[i]
    extend = state.column(numbers[i, p] for i, r in enumerate(requests) for p in range(r.cached, len(r.words)))[:, None]
    nothing = torch.zeros_like(new)
    prefixes = ops.assemble_ragged(shards, extend[:0], cached, starts, nothing, d, int(cached.sum()))
    workspace = ops.assemble_ragged(shards, extend, cached, starts, new, d, len(numbers))
    lens = torch.cumsum(cached + new, 0).tolist()
    return Buffers(
        tuple(map(tuple, pools.tolist())),
        tuple(map(tuple, shards[..., 0].tolist())),
        tuple(prefixes[:, 0].tolist()),
        tuple(workspace[:, 0].tolist()),
        tuple(torch.cat([prefixes, extend])[:, 0].tolist()),
        tuple(shard_rows),
        (0, *lens),
    )


def req_to_token(state: WorkspaceState) -> torch.Tensor:
    """Return ``[requests, longest]``: the loc of each position, 0 behind a request's last."""
    longest = max(len(r.locs) for r in state.requests)
    return torch.stack([state.column([*r.locs, *[0] * (longest - len(r.locs))]) for r in state.requests])


def loc_of(state: WorkspaceState) -> int:
    """Return the PAGED id, the followed token's loc, by the engine's transform."""
    return int(ops.topk_to_paged(state.column([state.position])[None], state.column([state.request]), req_to_token(state)))


def ragged_of(state: WorkspaceState, cu=None) -> int:
    """Return the RAGGED id, the followed token's ragged index, by the engine's transform on ``cu`` (the batch's
    ``cu_seqlens_k``)."""
    cu = buffers(state).cu_seqlens_k if cu is None else cu
    return int(ops.topk_to_ragged(state.column([state.position])[None], state.column([state.request]), state.column(cu)))


@dataclass(frozen=True)
class Use:
    """A way to use an id of the followed token. ``says``: the id and its user. ``buffer``: workspace, layout B, or c-KV."""

    says: str
    buffer: str
    index: Callable[[WorkspaceState], int]
    why: str


def _prefix_cu(state: WorkspaceState) -> list[int]:
    lens = [r.cached for r in state.requests]
    return [0, *torch.cumsum(state.column(lens), 0).tolist()]


USES = {
    "ragged": Use("ragged index in the workspace", "workspace", ragged_of, "the id and the buffer count alike"),
    "row": Use(
        "row in the owner's c-KV",
        "c-KV",
        lambda s: index_spaces.local_row(loc_of(s), s.dcp_size),
        "the loc was localized: owner, then row",
    ),
    "position": Use("position in the workspace", "workspace", lambda s: s.position, "the offset of the request was forgotten"),
    "loc": Use("loc in the workspace", "workspace", loc_of, "a loc names a place in the pools, and this buffer is no pool"),
    "prefix": Use(
        "prefix offset + position in the workspace",
        "workspace",
        lambda s: ragged_of(s, _prefix_cu(s)),
        "the offset counts prefixes only, and the new tokens lie between them",
    ),
    "layout": Use("ragged index in layout B", "layout B", ragged_of, "the id counts for [p0 e0 p1 e1], and B is [p0 p1 e0 e1]"),
    "raw": Use("loc as a row of the owner's c-KV", "c-KV", loc_of, "nobody divided by D"),
    "pool": Use(
        "ragged index as a row of the owner's c-KV", "c-KV", ragged_of, "the id counts in the workspace, and this is a pool"
    ),
}


@dataclass(frozen=True)
class Landing:
    """The place that an id of the followed token leads to: ``index`` of ``buffer`` (of ``rank``, for c-KV), which has ``rows``.

    ``token``: the number of the token there, or None if there is none.
    """

    use: str
    index: int
    buffer: str
    rank: int | None
    rows: int
    token: int | None
    right: bool


def landing(state: WorkspaceState, use: str | None = None) -> Landing:
    """Find the token that the followed token's id leads to, used as ``use`` says (by default as the state does)."""
    use = state.use if use is None else use
    way, made = USES[use], buffers(state)
    rank = index_spaces.owner_rank(loc_of(state), state.dcp_size) if way.buffer == "c-KV" else None
    held = {"workspace": made.workspace, "layout B": made.other}.get(way.buffer) or made.pools[rank or 0]
    index = way.index(state)
    token = held[index] if index < len(held) and held[index] != NOBODY else None
    mine = state.tokens.index((state.request, state.position))
    return Landing(use, index, way.buffer, rank, len(held), token, token == mine)


def _ranks(dcp_size) -> int:
    dcp_size = whole(dcp_size, "D (dcp_size)", 1)
    if dcp_size > MOST_RANKS:
        raise ValueError(f"D is {dcp_size}, and the picture shows at most {MOST_RANKS} ranks.")
    return dcp_size


def _requests(requests) -> list[tuple[str, tuple[str, ...], int]]:
    """Parse ``(name, words, number cached)`` from a mapping of a name to (cached words, new words)."""
    if not isinstance(requests, Mapping) or not requests:
        raise ValueError("requests must map a name to two texts: the cached words and the new ones.")
    if len(requests) > MOST_REQUESTS:
        raise ValueError(f"there are {len(requests)} requests, and the picture shows at most {MOST_REQUESTS}.")
    found = []
    for name, texts in requests.items():
        if not isinstance(texts, (tuple, list)) or len(texts) != 2 or not all(isinstance(t, str) for t in texts):
            raise ValueError(f"request {name} must be two texts, the cached words and the new ones, not {texts!r}.")
        old, new = (tuple(t.split()) for t in texts)
        found.append((str(name), old + new, len(old)))
    tokens = sum(len(words) for _, words, _ in found)
    if not 0 < tokens <= MOST_TOKENS:
        raise ValueError(f"the requests have {number(tokens)} words in all, and the picture shows 1 to {MOST_TOKENS}.")
    if any(len(word) > 12 for _, words, _ in found for word in words):
        raise ValueError("a word has more than 12 letters, and the picture has no room for it.")
    return found


def _placed(given, dcp_size: int, page_size: int) -> tuple[PlacedRequest, ...]:
    """Give the requests their locs. They grow side by side, page by page, the last one first, so none has its pages in a
    row."""
    width = index_spaces.widened_page(page_size, dcp_size)
    pages: list[list[int]] = [[] for _ in given]
    allocator = PagedAllocator(page_size * (MOST_TOKENS + MOST_REQUESTS), page_size, dcp_size)
    for length in range(1, MOST_TOKENS + 1, width):
        for held, (_, words, _) in reversed(list(zip(pages, given, strict=True))):
            if len(words) >= length:
                allocator.grow(held, min(len(words), length + width - 1))
    return tuple(
        PlacedRequest(name, words, tuple(allocator.locs(held, 0, len(words)).tolist()), cached)
        for held, (name, words, cached) in zip(pages, given, strict=True)
    )
