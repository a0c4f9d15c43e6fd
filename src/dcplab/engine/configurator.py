"""Computes slots, page size and bytes: three separate numbers for each consumer of the allocator's locs.

``size`` is the capacity C of one rank in rows, spare page not counted; ``page_size`` P is a page of one rank. The allocator
issues locs up to `index_spaces.largest_loc`. What is sharded needs rows; what is replicated needs a slot for every loc. Stands
for SGLang's ``KVCacheConfigurator`` (``loc_space_scale``, ``pool_page_size``, ``_derive_pool_sizes``, ``_dsa_index_buf_size``).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

import torch

from dcplab.engine import index_spaces
from dcplab.engine.arena import Spec
from dcplab.engine.index_spaces import Layout
from dcplab.engine.space_tags import Space
from dcplab.errors import CourseError

INDEX_DIM = 128  # bytes of an index-K key, fp8
INDEX_BYTES = INDEX_DIM + 4  # and one fp32 scale
WIDTH = 512  # elements of a c-KV row: GLM-5.3-Flash's, and what the attention kernels are built for
INDEXERS = ("replicated", "exact", "union")
STATE = 128  # elements of a request's convolution state


@dataclass(frozen=True)
class ServerConfig:
    """One server. Sizes in tokens, rows or slots as named; see the module's docstring for ``size`` and ``page_size``."""

    size: int = 1024
    page_size: int = 8
    dcp_size: int = 4
    interleave: int = 1  # locs that go to one rank before the next one's turn; divides the page
    kernel_block_size: int = 0  # slots in a block of the indexer's kernel (`blocks`); divides the page; 0: the page
    layers: int = 3  # DSA layers
    heads: int = 2  # the last is the witness (`model`)
    topk: int = 64
    index_heads: int = 3
    indexer: str = "replicated"  # or index-K sharded: "exact", "union" (`indexer`)
    witness: bool = True  # False: all heads find
    veto: bool = True  # what a layer found is dropped where its witness is off
    context_len: int = 0  # longest request, in tokens; 0: as long as the pool
    max_requests: int = 8
    chunk: int = 256  # tokens of extend in one step, over all requests
    mixed: bool = False  # decoding requests ride along with extend chunks
    draft_tokens: int = 0  # tokens a draft proposes a step; 0: no draft
    prefix_cache: bool = True
    kpool: int = 0  # locs to a pooled key (`stores`); divides the widened page; 0: there are none
    window: int = 0  # tokens that a sliding window keeps of a request (`stores`); 0: there is none
    need_sort: bool = False  # the allocator of a prefill or decode node: see `PagedAllocator`
    host_tokens: int | None = None  # tokens of retracted requests that the host has room for; None: no bound
    prefill_dcp: int = 0  # ranks of a prefill node from which each prompt's KV comes; 0: prompts are extended here
    prefill_interleave: int = 0  # its interleave; 0: as here
    budget: int = 0  # bytes of a rank's pools, from which the size is planned; 0: the size is as given, and fits
    workspace: int = 0  # rows of the ragged workspace; 0: see `workspace_rows`
    dtype: torch.dtype = torch.bfloat16

    @property
    def width(self) -> int:
        """W, the allocator's page in locs."""
        return index_spaces.widened_page(self.page_size, self.dcp_size)

    @property
    def layout(self) -> Layout:
        """How locs are dealt to the ranks."""
        return Layout.of(self.dcp_size, self.interleave)

    @property
    def index_k_sharded(self) -> bool:
        """Whether a rank holds the index keys of its own tokens alone, by row. On one rank that is all of them."""
        return self.indexer != "replicated" and self.dcp_size > 1

    @property
    def index_page(self) -> int:
        """Slots in a page of the index-K buffers, which the kernel's block is."""
        return self.kernel_block_size or self.page_size

    @property
    def ring(self) -> int:
        """Slots of a request's window: a draft's tokens, which may be taken back, must not push out what is still in it."""
        return self.window + self.draft_tokens + 1

    @property
    def pages(self) -> int:
        """Allocator pages that can be issued."""
        return self.size // self.page_size

    @property
    def longest(self) -> int:
        """The longest request in tokens."""
        return self.context_len or self.pages * self.width

    @property
    def workspace_rows(self) -> int:
        """Rows of the ragged workspace: as given, else twice the longest request, else (where this is over a GiB) twice one
        rank's rows. An extend batch has at most so many tokens in all."""
        if self.workspace:
            return self.workspace
        most, enough = 2 * self.longest, 2 * (self.size + self.page_size)
        return most if most * WIDTH * self.dtype.itemsize <= 1 << 30 else min(most, enough)

    def check(self) -> None:
        """Raise CourseError, in a sentence, for a server that cannot be built."""
        for name in ("size", "page_size", "dcp_size", "layers", "heads", "topk", "index_heads", "max_requests", "chunk"):
            value = getattr(self, name)
            if value < 1:
                raise CourseError(f"{name} must be at least 1, not {value}.")
        if self.host_tokens is not None and self.host_tokens < 0:
            raise CourseError(f"A host holds 0 tokens or more, not {self.host_tokens}; None is no bound.")
        if self.indexer not in INDEXERS:
            raise CourseError(f"There is no indexer called {self.indexer!r}; there are {', '.join(INDEXERS)}.")
        for name in ("interleave", "prefill_interleave"):
            turn = getattr(self, name)
            if turn < (name == "interleave") or (turn and self.page_size % turn):
                raise CourseError(
                    f"{name} must divide the page of {self.page_size} rows, and {turn} does not: a page of locs would not be "
                    "one page of rows on every rank."
                )
        if self.kernel_block_size < 0 or self.page_size % self.index_page:
            raise CourseError(
                f"A kernel's block divides the page of {self.page_size} rows, and {self.kernel_block_size} does not: a page "
                "would not be a whole number of blocks."
            )
        if min(self.kpool, self.window) < 0 or (self.kpool and self.width % self.kpool):
            raise CourseError(
                f"The locs of a pooled key must divide the widened page of {self.width}, and {self.kpool} do not: a group "
                f"would be two requests'. A window has 0 tokens or more, not {self.window}."
            )
        if self.prefill_dcp and (self.kpool or self.window):
            raise CourseError("A prefill node here sends neither pooled keys nor a window: leave one or the other out.")
        if self.prefill_dcp < 0:
            raise CourseError(f"A prefill node has 1 rank or more (0: there is none), not {self.prefill_dcp}.")
        if self.size < self.page_size:
            raise CourseError(f"A pool of {self.size} rows does not hold one page of {self.page_size}.")
        if self.context_len > self.pages * self.width:
            raise CourseError(
                f"A context of {self.context_len} tokens does not fit: this pool holds {self.pages * self.width} "
                f"({self.pages} pages of {self.page_size} rows on {self.dcp_size} ranks)."
            )
        if self.chunk < self.max_requests:
            raise CourseError(f"A chunk of {self.chunk} tokens cannot feed {self.max_requests} requests; make it larger.")
        if self.witness and (self.heads < 2 or self.index_heads < 3):
            raise CourseError(f"With a witness there are 2 heads and 3 index heads, not {self.heads} and {self.index_heads}.")
        if not 0 <= self.draft_tokens <= 16:
            raise CourseError(f"A draft proposes 0 to 16 tokens a step, not {self.draft_tokens}.")

    def check_on(self, device: torch.device) -> None:
        """Raise CourseError, in a sentence, for a server whose kernels do not run on ``device``."""
        if device.type == "cuda" and self.index_page % 64:
            raise CourseError(
                f"On a GPU the indexer's kernel reads blocks of a multiple of 64 slots, not {self.index_page}; for half a "
                "page take pages of 128 rows."
            )


def prefill_node(config: ServerConfig) -> ServerConfig:
    """Configure the node that a server with ``prefill_dcp`` gets its prompts from: the same model and pages, ranks of its own,
    and room for one longest request at a time."""
    width = index_spaces.widened_page(config.page_size, config.prefill_dcp)
    size = (-(-(config.longest + 1) // width) + 1) * config.page_size
    alone = replace(config, prefill_dcp=0, prefill_interleave=0, mixed=False, budget=0, host_tokens=None)
    alone = replace(alone, interleave=config.prefill_interleave or config.interleave)
    return replace(alone, dcp_size=config.prefill_dcp, size=size, context_len=0, need_sort=True)


def loc_space_scale(is_draft_worker: bool, dcp_size: int) -> int:
    """Return D for a draft worker, whose pool is replicated and addressed by loc; else 1."""
    return dcp_size if is_draft_worker else 1


def pool_page_size(page_size: int, scale: int) -> int:
    """Return the page size of a pool whose size was multiplied by ``scale``: the allocator's page where the pool is addressed
    by loc."""
    return page_size * scale


def index_k_slots(size: int, page_size: int, dcp_size: int, defects: Set[str] = frozenset()) -> int:
    """Count the slots of the target's index-K: one for every loc, unless a defect says otherwise. A multiple of ``page_size``.

    The defects round up to whole pages; upstream's ``IndexKeyCache`` has ``(C + P + 1) // P`` of them: as many where P divides
    C (and is not 1), one fewer for nearly every other C. Upstream aligns C first.
    """
    if "index_k_size" in defects:
        need = size + page_size
    elif "index_k_short" in defects:
        need = size * dcp_size + page_size
    else:
        need = index_spaces.loc_slots(size, page_size, dcp_size)
    return -(-need // page_size) * page_size


def draft_rows(size: int, page_size: int, dcp_size: int, defects: Set[str] = frozenset()) -> int:
    """Count the rows of the draft's pool, which are addressed by loc: size and page size both scaled by D (#33348); with
    ``draft_page`` only the size is (#32828)."""
    scale = loc_space_scale(True, dcp_size)
    page = page_size if "draft_page" in defects else pool_page_size(page_size, scale)
    return size * scale + page


def flattened_bound(size: int, page_size: int, dcp_size: int, defects: Set[str] = frozenset()) -> int:
    """Return the exclusive bound of the capacity assert on the flattened page table, which holds locs."""
    if "assert" in defects:
        return size + page_size
    if "assert_short" in defects:
        return size * dcp_size + page_size
    return index_spaces.loc_slots(size, page_size, dcp_size)


def write_bound(size: int, page_size: int, dcp_size: int, defects: Set[str] = frozenset()) -> int:
    """Return the exclusive bound of the check before the c-KV write, which sees locs; the write itself keeps and divides
    them."""
    if "oob_bound" in defects:
        return size + page_size
    return index_spaces.loc_slots(size, page_size, dcp_size)


@dataclass(frozen=True)
class Charge:
    """The cost of one consumer for a rank: ``slots`` in ``space``, ``page`` of them a page, ``bytes`` in all."""

    consumer: str
    stored: str  # "sharded", "replicated" or "own slots"
    space: Space
    slots: int
    page: int
    bytes: int


def specs(config: ServerConfig, defects: Set[str] = frozenset()) -> list[Spec]:
    """List the buffers of one rank, in the order in which they lie in its arena.

    First the ragged workspace, then c-KV of every layer, the draft's, index-K of every layer, the draft's, and last the
    convolution state: the neighbour that an index-K overflow meets.
    """
    size, page, d, block = config.size, config.page_size, config.dcp_size, config.index_page
    index, space = index_k_slots(size, page, d, defects), Space.LOC
    if config.index_k_sharded:
        index, space = index_spaces.ckv_rows(size, page), Space.ROW
    out = [Spec("workspace", Space.RAGGED, (config.workspace_rows, WIDTH), config.dtype)]
    out += [Spec(f"ckv.{i}", Space.ROW, (size + page, WIDTH), config.dtype) for i in range(config.layers)]
    if config.draft_tokens:
        out.append(Spec("draft.ckv", Space.LOC, (draft_rows(size, page, d, defects), WIDTH), config.dtype))
    out += [
        Spec(f"index_k.{i}", space, (index // block, block * INDEX_BYTES), torch.uint8, block) for i in range(config.layers)
    ]
    if config.draft_tokens:
        slots = -(-draft_rows(size, page, d, defects) // page) * page
        out.append(Spec("draft.index_k", Space.LOC, (slots // block, block * INDEX_BYTES), torch.uint8, block))
    # One more than there are requests: padding has a place of its own.
    out.append(Spec("conv_state", Space.STATE, (config.max_requests + 1, STATE), config.dtype))
    if config.kpool:
        pooled = -(-index_spaces.loc_slots(size, page, d) // config.kpool)
        out.append(Spec("kpool", Space.POOLED, (pooled, STATE), config.dtype))
    if config.window:
        out.append(Spec("window", Space.WINDOW, ((config.max_requests + 1) * config.ring, STATE), config.dtype))
    return out


def needed(config: ServerConfig) -> dict[Space, int]:
    """Count the slots that a buffer must have in each space, so that every index which the allocator leads to is inside."""
    size, page, d = config.size, config.page_size, config.dcp_size
    return {Space.LOC: index_spaces.loc_slots(size, page, d), Space.ROW: index_spaces.ckv_rows(size, page)}


def short(config: ServerConfig, defects: Set[str] = frozenset()) -> list[Spec]:
    """Return buffers addressed by loc that do not cover all locs."""
    return [s for s in specs(config, defects) if s.space is Space.LOC and s.slots < needed(config)[Space.LOC]]


# The switches that give c-KV or the workspace an index of another space, or of another rank.
RAW = frozenset(
    "ckv_write read extend retract mixed prefix_stride decode_raw fp8_write ranks_rotated "
    "positions_as_rows transfer_raw interleave_other index_k_unsharded exact_unfiltered transfer_interleave".split()
)


def trusted(config: ServerConfig, defects: Set[str] = frozenset()) -> frozenset[str]:
    """Name the buffers that hold every index the backend can give them. An unwatched server does not look at these."""
    raw = defects & RAW
    doubtful = {s.name for s in short(config, defects)}
    return frozenset(
        s.name for s in specs(config, defects) if s.name not in doubtful and not (raw and s.space in (Space.ROW, Space.RAGGED))
    )


def tail_bytes(config: ServerConfig) -> int:
    """Return the bytes of the tail: memory behind the pools that is mapped though nobody uses it, as a caching allocator leaves
    it. It is half a layer of index-K as one rank's tokens need it. What is written beyond it faults."""
    return config.size * INDEX_BYTES // 2


def charges(config: ServerConfig, defects: Set[str] = frozenset()) -> list[Charge]:
    """Make out the bill of one rank, consumer by consumer."""
    stored = {Space.ROW: "sharded", Space.LOC: "replicated", Space.STATE: "own slots", Space.RAGGED: "temporary"}
    stored |= {Space.POOLED: "replicated", Space.WINDOW: "own slots"}
    pages = {
        Space.ROW: config.page_size,
        Space.LOC: config.width,
        Space.STATE: 1,
        Space.RAGGED: 1,
        Space.POOLED: config.width // (config.kpool or 1),
        Space.WINDOW: config.ring,
    }
    bill = []
    for spec in specs(config, defects):
        page = spec.slots_per_row if spec.slots_per_row > 1 else pages[spec.space]
        bill.append(Charge(spec.name, stored[spec.space], spec.space, spec.slots, page, spec.shape[0] * spec.row_bytes))
    return bill


def gpu_bytes(config: ServerConfig, defects: Set[str] = frozenset()) -> int:
    """Estimate from above the bytes of a GPU that a process with all ranks of a watched server takes: the ranks' arenas and
    what the watcher keeps for each slot, the request table, the largest extend step, and CUDA's own."""
    placed, steps = specs(config, defects), min(config.workspace_rows, config.longest)
    row = WIDTH * config.dtype.itemsize
    arena = sum(s.shape[0] * s.row_bytes for s in placed) + tail_bytes(config)
    kept = sum(8 * s.slots for s in placed if s.space in (Space.ROW, Space.LOC))
    table = 8 * (config.max_requests + 1) * (config.longest + config.width)
    # Prefix shards, the same gathered, and put together; index keys; a dozen int64 of each token; logits and their top-k.
    step = steps * (3 * row + INDEX_BYTES + 12 * 8) + (3 << 30)
    step += (config.dcp_size + 3) * config.chunk * config.heads * WIDTH * 4  # queries, and every rank's output
    node = gpu_bytes(prefill_node(config)) if config.prefill_dcp else 0
    return config.dcp_size * (arena + kept) + table + step + (1 << 30) + node


def bytes_per_row(config: ServerConfig, defects: Set[str] = frozenset()) -> int:
    """Return the bytes that one more row of ``size`` costs a rank: a c-KV row a layer, and D index-K slots, or one where
    index-K is sharded; D times the draft's, which is replicated (with ``draft_budget`` once)."""
    layers, d = config.layers, config.dcp_size
    row = layers * (WIDTH * config.dtype.itemsize + (1 if config.index_k_sharded else d) * INDEX_BYTES)
    if config.draft_tokens:
        row += (1 if "draft_budget" in defects else d) * (WIDTH * config.dtype.itemsize + INDEX_BYTES)
    return row


def size_for(budget: int, config: ServerConfig, defects: Set[str] = frozenset()) -> int:
    """Return the largest ``size`` (whole pages) whose pools fit in ``budget`` bytes a rank. CourseError if not even one page
    does."""
    page, per_row = config.page_size, bytes_per_row(config, defects)
    pages = budget // (per_row * page) - 1  # the spare page costs as much as any
    if pages < 1:
        raise CourseError(
            f"{budget} bytes do not hold one page: a page of {page} rows and the spare one take {2 * page * per_row}."
        )
    return pages * page
