"""The retraction's state: one request's pages through four moments, and what lies at its locs. Frozen; the pages come from the
engine's own allocator.

B was here earlier and has left; its words still lie in its pages. A is stored, is retracted to the host, C comes, and A
returns.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from dcplab.engine.allocator import PagedAllocator
from dcplab.viz.core.validate import geometry, whole

MOMENTS = ("stored", "retracted", "C comes", "back")
RESTORES = ("at the new locs", "at the old locs", "not at all")
SIZES = (1, 2, 3, 4)
MOST_TOKENS = 24
Lies = tuple[str, int]  # a request and a position of it: whose word lies at a loc


@dataclass(frozen=True)
class RetractionState:
    """``tokens``: the length of A. ``need_sort``: freed pages wait, as on a decode node. ``restore``: one of `RESTORES`.
    ``at``: the moment that is looked at; ``selected``: a position of A."""

    dcp_size: int
    page_size: int
    tokens: int
    need_sort: bool
    restore: str
    at: int
    selected: int

    @property
    def width(self) -> int:
        """Return W, locs in a page of the allocator."""
        return self.dcp_size * self.page_size

    @property
    def pages(self) -> int:
        """Return the pages that there are: enough for three requests of A's length."""
        return 3 * -(-self.tokens // self.width)


@dataclass(frozen=True)
class RetractionMoment:
    """``held``: page -> who holds it. ``lies``: loc -> whose word lies there, held or not. ``host``: tokens of A on the host.
    ``locs``: of A's positions on the device, () while it has none."""

    name: str
    held: dict[int, str]
    lies: dict[int, Lies]
    host: int
    locs: tuple[int, ...]


def make(dcp_size=4, page_size=2, tokens=13, need_sort=True, restore=RESTORES[0], at=3, selected=0) -> RetractionState:
    """Check the settings and make a state of them. ValueError in a sentence for one that cannot be shown."""
    dcp_size, page_size = geometry(dcp_size, page_size)
    if dcp_size > SIZES[-1] or page_size > 4:
        raise ValueError(f"D is at most {SIZES[-1]} and P at most 4 here, not {dcp_size} and {page_size}.")
    tokens = whole(tokens, "tokens", 1)
    if tokens > MOST_TOKENS or -(-tokens // (dcp_size * page_size)) > 4:
        raise ValueError(f"A has at most {MOST_TOKENS} tokens and 4 pages here; {tokens} tokens are too many.")
    if restore not in RESTORES:
        raise ValueError(f"restore must be one of {', '.join(map(repr, RESTORES))}, not {restore!r}.")
    state = RetractionState(dcp_size, page_size, tokens, bool(need_sort), restore, 0, 0)
    return with_selected(looked_at(state, at), selected)


def looked_at(state: RetractionState, at) -> RetractionState:
    """Return the state at another moment."""
    at = whole(at, "the moment")
    if at >= len(MOMENTS):
        raise ValueError(f"there are {len(MOMENTS)} moments, 0 to {len(MOMENTS) - 1}, and no moment {at}.")
    return replace(state, at=at)


def with_selected(state: RetractionState, selected) -> RetractionState:
    """Return the state with another position of A selected."""
    selected = whole(selected, "the position")
    if selected >= state.tokens:
        raise ValueError(f"A has {state.tokens} tokens, and no position {selected}.")
    return replace(state, selected=selected)


def with_size(state: RetractionState, dcp_size: int) -> RetractionState:
    """Return the state on another number of ranks."""
    return make(dcp_size, state.page_size, state.tokens, state.need_sort, state.restore, state.at, state.selected)


def with_ways(state: RetractionState, need_sort: bool, restore: str) -> RetractionState:
    """Return the state with another allocator, or another restore."""
    return make(state.dcp_size, state.page_size, state.tokens, need_sort, restore, state.at, state.selected)


@functools.lru_cache(maxsize=64)
def _moments(
    dcp_size: int, page_size: int, tokens: int, need_sort: bool, restore: str, count: int
) -> tuple[RetractionMoment, ...]:
    allocator = PagedAllocator(count * page_size, page_size, dcp_size, need_sort)
    held: dict[int, str] = {}
    lies: dict[int, Lies] = {}
    found: list[RetractionMoment] = []

    def come(name: str) -> list[int]:
        pages: list[int] = []
        allocator.grow(pages, tokens)
        held.update(dict.fromkeys(pages, name))
        return pages

    def leave(pages: list[int]) -> None:
        allocator.release(pages)
        for page in pages:
            del held[page]

    def store(name: str, pages: list[int]) -> tuple[int, ...]:
        locs = tuple(allocator.locs(pages, 0, tokens).tolist())
        lies.update({loc: (name, p) for p, loc in enumerate(locs)})
        return locs

    def seen(host: int, locs: tuple[int, ...]) -> None:
        found.append(RetractionMoment(MOMENTS[len(found)], dict(held), dict(lies), host, locs))

    tenant = come("B")
    store("B", tenant)
    leave(tenant)
    pages = come("A")
    old = store("A", pages)
    seen(0, old)
    leave(pages)
    seen(tokens, ())
    store("C", come("C"))
    seen(tokens, ())
    pages = come("A")
    new = tuple(allocator.locs(pages, 0, tokens).tolist())
    if restore != "not at all":
        lies.update({loc: ("A", p) for p, loc in enumerate(new if restore == "at the new locs" else old)})
    seen(0, new)
    return tuple(found)


def moments(state: RetractionState) -> tuple[RetractionMoment, ...]:
    """Return all four moments, whichever is looked at."""
    return _moments(state.dcp_size, state.page_size, state.tokens, state.need_sort, state.restore, state.pages)


def reads(state: RetractionState) -> tuple[Lies | None, ...]:
    """Return what lies at each of A's locs at the moment that is looked at; () while A has none, None where nobody wrote."""
    moment = moments(state)[state.at]
    return tuple(moment.lies.get(loc) for loc in moment.locs)


def wrong(state: RetractionState) -> int:
    """Return how many of A's positions read something else than A's word of that position."""
    return sum(lie != ("A", p) for p, lie in enumerate(reads(state)))


def overwritten(state: RetractionState) -> int:
    """Return how many of C's words are gone at the moment that is looked at."""
    moment = moments(state)[state.at]
    if "C" not in moment.held.values():
        return 0
    return state.tokens - sum(name == "C" for name, _ in moment.lies.values())
