"""The state of a token's journey: the content of several ranks' memory and their reads, with each fix on or off. Frozen; no
drawing here.

Two requests stand in a small server of two layers. Memory (`engine.arena`, without canary bands) and writes (`engine.ops`) are
the engine's. So an index past a layer's rows lands where it lands in the engine: in the next layer.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import torch

from dcplab.engine import index_spaces, ops
from dcplab.engine.arena import Arena, Spec
from dcplab.engine.space_tags import Space
from dcplab.engine.watcher import slot_address
from dcplab.viz.core.validate import whole

LEVELS = ("low", "high")
SIZES = (2, 3, 4)  # dcp_size: two blocks of columns have room for no more
LAYERS = 2
OLD_WORDS = "one old ship left at dawn with six men and two cats"
NEW_WORDS = "bring us warm bread"
MOST_WORDS, LONGEST_WORD = 12, 9
_COLUMNS = 128  # int64 elements of a row; the arena's rows are whole KiB


@dataclass(frozen=True)
class Token:
    """``index`` counts over both requests, ``position`` within the token's own."""

    index: int
    request: str
    position: int
    word: str
    loc: int


@dataclass(frozen=True)
class JourneyState:
    """``write``, ``read``: that side is patched. ``level``: request B's locs lie below a rank's rows, or beyond them.
    ``selected``: the index of a token. ``words``: of request A and of B."""

    dcp_size: int
    page_size: int
    size: int
    words: tuple[tuple[str, ...], tuple[str, ...]]
    write: bool = False
    read: bool = False
    level: str = "low"
    selected: int = 0

    @property
    def rows(self) -> int:
        """Return the rows of one rank's c-KV of one layer."""
        return self.size + self.page_size

    @property
    def tokens(self) -> tuple[Token, ...]:
        return _tokens(self.dcp_size, self.page_size, self.size, self.words, self.level)

    @property
    def token(self) -> Token:
        return self.tokens[self.selected]


@dataclass(frozen=True)
class StoredToken:
    """The content of a row: the c-KV that ``layer`` made of a token."""

    layer: int
    token: int


@dataclass(frozen=True)
class Read:
    """One rank's read of a selected token in one layer. ``row`` None: the rank does not hold the token and reads nothing.

    ``region`` and ``at``: the buffer and the row in it that are read.
    """

    rank: int
    row: int | None
    region: str = ""
    at: int | None = None
    cell: StoredToken | None = None


@dataclass(frozen=True)
class Merged:
    """The merge of the ranks' reads of a token in a layer. ``keys``: the number of ranks that brought a key, where one was
    selected."""

    keys: int
    cells: tuple[StoredToken | None, ...]  # the different cells, in rank order
    right: bool

    @property
    def lse_off(self) -> float:
        """Return the amount by which the merged LSE is too large if every rank brought the same key."""
        return math.log2(self.keys) if self.keys and len(self.cells) == 1 else 0.0


@dataclass(frozen=True)
class Memory:
    """The memory of all ranks. ``held[rank][layer][row]``: a `StoredToken` or None. ``reads[layer][token][rank]``.

    ``past``: writes that landed behind the last layer, all ranks together.
    """

    held: tuple[tuple[tuple[StoredToken | None, ...], ...], ...]
    past: int
    reads: tuple[tuple[tuple[Read, ...], ...], ...]


def make(
    dcp_size=4, page_size=1, size=None, write=False, read=False, level="low", selected=None, old=None, new=None
) -> JourneyState:
    """Make the state of a server. ``size`` C: by default as small as request B's low place allows. ``selected``: a token's
    index, or a word."""
    dcp_size, page_size = whole(dcp_size, "D (dcp_size)", 1), whole(page_size, "P (page_size)", 1)
    if dcp_size not in SIZES:
        raise ValueError(f"D (dcp_size) must be one of {', '.join(map(str, SIZES))} here, not {dcp_size}.")
    words = _words(OLD_WORDS if old is None else old, "old"), _words(NEW_WORDS if new is None else new, "new")
    if len(set(words[0] + words[1])) < len(words[0] + words[1]):
        raise ValueError("the words of both requests must differ, and one comes twice.")
    low = _low_pages(words, index_spaces.widened_page(page_size, dcp_size))
    least = low[-1] * index_spaces.widened_page(page_size, dcp_size) + len(words[1]) - 1
    if size is None:
        size = -(-(least + 1) // page_size) * page_size - page_size
    size = whole(size, "C (size)", page_size)
    if size + page_size <= least:
        raise ValueError(f"C (size) must be at least {least + 1 - page_size}, so that request B can lie below one rank's rows.")
    state = with_level(JourneyState(dcp_size, page_size, size, words, bool(write), bool(read)), level)
    return with_selected(state, len(words[0]) if selected is None else selected)


def with_fixes(state: JourneyState, write: bool, read: bool) -> JourneyState:
    return replace(state, write=bool(write), read=bool(read))


def with_level(state: JourneyState, level) -> JourneyState:
    if level not in LEVELS:
        raise ValueError(f"level must be low or high, not {level!r}.")
    found = replace(state, level=level)
    largest = index_spaces.largest_loc(state.size, state.page_size, state.dcp_size)
    last = found.tokens[-1].loc
    if last > largest:
        raise ValueError(f"request B would need loc {last} up there, and the allocator's last one is {largest}.")
    return found


def with_selected(state: JourneyState, selected) -> JourneyState:
    """Return the state with another selected token: its index, or a word."""
    if isinstance(selected, str):
        found = [t.index for t in state.tokens if t.word == selected]
        if not found:
            raise ValueError(f"there is no word {selected!r} in either request.")
        return replace(state, selected=found[0])
    index = whole(selected, "the token")
    if index >= len(state.tokens):
        raise ValueError(f"there are tokens 0 to {len(state.tokens) - 1}, and no token {index}.")
    return replace(state, selected=index)


def with_loc(state: JourneyState, loc: int) -> JourneyState:
    """Return the state with the token at a loc selected."""
    return with_selected(state, next((t.index for t in state.tokens if t.loc == loc), len(state.tokens)))


def with_size(state: JourneyState, dcp_size) -> JourneyState:
    """Return the state with the same words, fixes and level on another number of ranks."""
    words = (" ".join(part) for part in state.words)
    return make(dcp_size, state.page_size, None, state.write, state.read, state.level, state.selected, *words)


@functools.lru_cache(maxsize=64)
def _memory(state: JourneyState) -> Memory:
    tokens = state.tokens
    arenas = [_arena(state) for _ in range(state.dcp_size)]
    for name in ("A", "B"):  # one request after the other, layer by layer, as in the engine's steps
        mine = [t for t in tokens if t.request == name]
        locs = torch.tensor([t.loc for t in mine])
        for layer in range(LAYERS):
            ids = torch.tensor([1 + layer * len(tokens) + t.index for t in mine])[:, None].expand(-1, _COLUMNS).contiguous()
            for rank, arena in enumerate(arenas):
                # The unpatched writer knows no ranks: it writes every token to row = loc.
                owner = (rank, state.dcp_size) if state.write else (0, 1)
                ops.write_ckv(arena.window(f"ckv.{layer}"), ids, locs, *owner)
    held = tuple(
        tuple(tuple(_cell(int(v), tokens) for v in arena.view(f"ckv.{layer}")[:, 0]) for layer in range(LAYERS))
        for arena in arenas
    )
    past = sum(int((arena.bytes[arena.tail[0] :].view(torch.int64).view(-1, _COLUMNS)[:, 0] != 0).sum()) for arena in arenas)
    reads = tuple(
        tuple(tuple(_read(state, arena, rank, layer, t) for rank, arena in enumerate(arenas)) for t in tokens)
        for layer in range(LAYERS)
    )
    return Memory(held, past, reads)


def memory(state: JourneyState) -> Memory:
    """Compute the content of all ranks after both requests were written, and their reads of every token."""
    return _memory(replace(state, selected=0))


def merged(state: JourneyState, layer: int, token: int) -> Merged:
    """Merge a token's reads in one layer."""
    found = [r.cell for r in memory(state).reads[layer][token] if r.row is not None]
    cells = tuple(dict.fromkeys(found))
    return Merged(len(found), cells, cells == (StoredToken(layer, token),))


def stored_at(state: JourneyState, layer: int, token: int) -> tuple[tuple[int, str, int], ...]:
    """Return (rank, buffer, row) of every row of the drawn memory that holds a layer's token."""
    held = memory(state).held
    return tuple(
        (rank, f"ckv.{block}", row)
        for rank, layers in enumerate(held)
        for block, rows in enumerate(layers)
        for row, cell in enumerate(rows)
        if cell == StoredToken(layer, token)
    )


def right_words(state: JourneyState, layer: int) -> int:
    """Count the tokens that are read back right in a layer."""
    return sum(merged(state, layer, t.index).right for t in state.tokens)


def _arena(state: JourneyState) -> Arena:
    specs = [Spec(f"ckv.{i}", Space.ROW, (state.rows, _COLUMNS), torch.int64) for i in range(LAYERS)]
    beyond = index_spaces.loc_slots(state.size, state.page_size, state.dcp_size)
    return Arena(specs, canary=0, tail=beyond * specs[0].row_bytes)


def _cell(value: int, tokens: tuple[Token, ...]) -> StoredToken | None:
    return StoredToken((value - 1) // len(tokens), (value - 1) % len(tokens)) if value else None


def _read(state: JourneyState, arena: Arena, rank: int, layer: int, token: Token) -> Read:
    row = index_spaces.localize(token.loc, rank, state.dcp_size) if state.read else token.loc
    if row < 0:
        return Read(rank, None)
    name = f"ckv.{layer}"
    place = arena.locate(slot_address(arena.buffers[name], row))
    cell = _cell(int(arena.window(name)[row, 0]), state.tokens)
    return Read(rank, row, place.region, place.row, cell)


def _words(text, name: str) -> tuple[str, ...]:
    words = tuple(text.split()) if isinstance(text, str) else ()
    if not 0 < len(words) <= MOST_WORDS or max(map(len, words)) > LONGEST_WORD:
        raise ValueError(f"{name} must be a text of 1 to {MOST_WORDS} words of at most {LONGEST_WORD} letters, not {text!r}.")
    return words


def _low_pages(words: tuple[tuple[str, ...], ...], width: int) -> list[int]:
    """Return the first pages of A and of B, taken one after the other from the allocator's first page."""
    return [1, 1 + -(-len(words[0]) // width)]


@functools.lru_cache(maxsize=64)
def _tokens(dcp_size: int, page_size: int, size: int, words, level: str) -> tuple[Token, ...]:
    width = index_spaces.widened_page(page_size, dcp_size)
    pages = _low_pages(words, width)
    if level == "high":  # the first page whose locs, used as rows, meet request A in the next layer
        pages[1] = -(-(size + page_size + pages[0] * width) // width)
    found: list[Token] = []
    for name, part, page in zip("AB", words, pages, strict=True):
        found += [Token(len(found) + i, name, i, word, page * width + i) for i, word in enumerate(part)]
    return tuple(found)
