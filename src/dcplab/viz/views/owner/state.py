"""The state of the owner table: a geometry, a range of locs, requests, one selected loc. Frozen, checked, and pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dcplab.engine import index_spaces
from dcplab.viz.core.scene import number
from dcplab.viz.core.validate import geometry, whole, whole_list

MOST_SHOWN, USUALLY_SHOWN, MOST_TOKENS = 128, 64, 4096


@dataclass(frozen=True)
class RequestLocs:
    """``locs[position]``: the content of the request's row of ``req_to_token``."""

    name: str
    locs: tuple[int, ...]


@dataclass(frozen=True)
class OwnerState:
    """D, P and C; the locs ``first`` to ``last``, both shown; the requests; the selected request and loc."""

    dcp_size: int
    page_size: int
    size: int
    first: int
    last: int
    requests: tuple[RequestLocs, ...]
    request: int
    selected: int

    @property
    def width(self) -> int:
        """Return W, the number of locs of an allocator page."""
        return index_spaces.widened_page(self.page_size, self.dcp_size)

    @property
    def largest(self) -> int:
        """Return the last loc that the allocator issues."""
        return index_spaces.largest_loc(self.size, self.page_size, self.dcp_size)

    @property
    def shown(self) -> range:
        return range(self.first, self.last + 1)

    def holder(self, loc: int) -> tuple[int, int] | None:
        """Return ``(request, position)`` of a loc, or None if no request holds it."""
        return next(((i, r.locs.index(loc)) for i, r in enumerate(self.requests) if loc in r.locs), None)


def make(dcp_size=4, page_size=4, size=12, first=None, last=None, requests=None, selected=None) -> OwnerState:
    """Make the state for the arguments of `owner_table`. Raises ``ValueError`` with one sentence for values that cannot be
    drawn."""
    dcp_size, page_size = geometry(dcp_size, page_size)
    size = whole(size, "C (size)", 1)
    if dcp_size > 16:
        raise ValueError(f"D is {dcp_size}, and the picture shows at most 16 ranks.")
    if size < page_size:
        raise ValueError(f"C is {size}: a rank's pool must hold at least one page of P = {page_size} rows.")
    largest = index_spaces.largest_loc(size, page_size, dcp_size)
    held = _requests(requests, size, page_size, dcp_size)
    if selected is None:
        locs = next((r.locs for r in held if r.locs), (page_size * dcp_size,))
        selected = locs[min(5, len(locs) - 1)]
    selected = _in_space(whole(selected, "the loc"), "the loc", largest)
    if first is None and last is None:
        first, last = _window(selected, page_size * dcp_size, largest)
    elif first is None:
        first = max(0, whole(last, "the last loc") - USUALLY_SHOWN + 1)
    elif last is None:
        last = min(largest, whole(first, "the first loc") + USUALLY_SHOWN - 1)
    return with_range(OwnerState(dcp_size, page_size, size, first, last, held, 0, selected), first, last)


def with_range(state: OwnerState, first: int, last: int) -> OwnerState:
    """Return the state with another range of locs. The selected loc moves into it."""
    first = _in_space(whole(first, "the first loc"), "the first loc", state.largest)
    last = _in_space(whole(last, "the last loc"), "the last loc", state.largest)
    if first > last:
        raise ValueError(f"the first loc {number(first)} lies after the last loc {number(last)}.")
    if last - first >= MOST_SHOWN:
        raise ValueError(f"the range holds {number(last - first + 1)} locs, and the picture shows at most {MOST_SHOWN}.")
    return _looked_at(replace(state, first=first, last=last, selected=min(max(state.selected, first), last)))


def with_selected(state: OwnerState, loc: int) -> OwnerState:
    """Return the state with another selected loc. The range moves to it, and the request that holds it is selected."""
    loc = _in_space(whole(loc, "the loc"), "the loc", state.largest)
    if not state.first <= loc <= state.last:
        first, last = _window(loc, state.width, state.largest)
        state = replace(state, first=first, last=last)
    return _looked_at(replace(state, selected=loc))


def with_geometry(state: OwnerState, dcp_size, page_size, size, requests, keep_range: bool) -> OwnerState:
    """Return the state with another D, P or C. A range that the reader chose is kept if the new space has it."""
    fresh = make(dcp_size, page_size, size, requests=requests)
    if keep_range and state.first <= fresh.largest:
        fresh = with_range(fresh, state.first, min(state.last, fresh.largest))
    return with_selected(fresh, state.selected) if fresh.first <= state.selected <= fresh.last else fresh


def with_request(state: OwnerState, request: int) -> OwnerState:
    """Return the state with another selected request, at its first position."""
    locs = state.requests[request].locs
    return with_selected(state, locs[0]) if locs else replace(state, request=request)


def _looked_at(state: OwnerState) -> OwnerState:
    holder = state.holder(state.selected)
    return state if holder is None else replace(state, request=holder[0])


def _in_space(value: int, name: str, largest: int) -> int:
    if value > largest:
        raise ValueError(f"{name} is {number(value)}, and the last loc that the allocator issues is {number(largest)}.")
    return value


def _window(loc: int, width: int, largest: int) -> tuple[int, int]:
    """Return about 64 locs around ``loc``: whole allocator pages if they are small, all locs if there are few."""
    if largest < USUALLY_SHOWN:
        return 0, largest
    step = USUALLY_SHOWN // width * width or USUALLY_SHOWN
    first = loc // step * step
    return first, min(largest, first + step - 1)


def _requests(requests, size: int, page_size: int, dcp_size: int) -> tuple[RequestLocs, ...]:
    """Make requests by length (pages 1, 2, ... in order) or by their locs. None gives two requests that share no page."""
    width = page_size * dcp_size
    pages = size // page_size
    if requests is None:
        far = [3] if pages >= 3 else []
        a = [v for q in [1, *far] for v in range(q * width, (q + 1) * width)]
        b = range(2 * width, 2 * width + max(1, width // 2 + 1)) if pages >= 2 else ()
        a = a[: width + width // 2] if far else a[: max(1, width - width // 4)]
        named: Mapping[str, object] = {"A": a[:MOST_TOKENS], "B": list(b)[:MOST_TOKENS]} if b else {"A": a[:MOST_TOKENS]}
    elif isinstance(requests, Mapping):
        named = requests
    elif isinstance(requests, Sequence) and not isinstance(requests, str):
        named = {"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 26] + str(i // 26 or ""): r for i, r in enumerate(requests)}
    else:
        raise ValueError("requests must map a name to a length or to a list of locs.")
    largest = index_spaces.largest_loc(size, page_size, dcp_size)
    found, page = [], 1
    for name, value in named.items():
        if hasattr(value, "__len__") or isinstance(value, range):
            locs = whole_list(value, f"request {name}", 0, MOST_TOKENS)
        else:
            tokens = whole(value, f"request {name}", 0)
            if tokens > MOST_TOKENS:
                raise ValueError(
                    f"request {name} has {number(tokens)} tokens, and the picture takes at most {number(MOST_TOKENS)}."
                )
            locs = tuple(range(page * width, page * width + tokens))
            page += -(-tokens // width)
        for loc in locs:
            if loc < width:
                raise ValueError(f"request {name} holds loc {loc}, and page 0 (locs 0 to {width - 1}) is never issued.")
            if loc > largest:
                raise ValueError(f"request {name} does not fit: the last loc that the allocator issues is {number(largest)}.")
        found.append(RequestLocs(str(name), locs))
    every = [loc for r in found for loc in r.locs]
    if len(set(every)) != len(every):
        raise ValueError("a loc is held twice, and the allocator issues each loc once.")
    if not found:
        raise ValueError("there is no request.")
    return tuple(found)
