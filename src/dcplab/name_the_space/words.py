"""Says what a part's snippets may be given, in the course's words and in three houses', and what people call what they make.

A template says nothing about what is right. Its lines are read by `typing`, with each of its `slips` or without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplab.name_the_space.typing import (
    ALLOCATOR_PAGE,
    BYTE,
    ELEMENT,
    ENTRY_P,
    ENTRY_W,
    FLOAT,
    GATHERED,
    INDEX_K_PAGE,
    LOC,
    MASK,
    PLACE_P,
    PLACE_ROW,
    POSITION,
    RAGGED,
    RANK,
    REQUEST,
    ROW,
    SENT,
    SRC_LOC,
    SRC_RANK,
    SRC_ROW,
    TOKEN,
    VALUES,
    Bound,
    Call,
    D,
    Index,
    P,
    Size,
    Store,
    Type,
)

HOUSES = ("SGLang", "vLLM", "TensorRT-LLM")


@dataclass(frozen=True)
class Name:
    """Something that a snippet is given: its type, what the list above the lines says of it (nothing of plain values), and what
    each house calls it, in the order of `HOUSES`."""

    kind: Type
    words: str
    houses: str

    def at(self, house: str) -> str:
        """Return a house's own name for it."""
        return self.houses.split()[HOUSES.index(house)]


@dataclass(frozen=True)
class Template:
    """Lines, in the names of a part's `Matter` and a, b, c for its own. ``slips``: a line's number, and what may be there."""

    name: str
    lines: tuple[str, ...]
    slips: tuple[tuple[int, str], ...]


def made(name: str, text: str, *slips: tuple[int, str]) -> Template:
    return Template(name, tuple(line.strip() for line in text.strip().split("\n")), slips)


@dataclass(frozen=True, eq=False)
class Matter:
    """What a part's snippets are about: the spaces that it asks for, its templates, and what these are given beside `GIVEN`."""

    spaces: tuple[str, ...]
    templates: tuple[Template, ...]
    more: Mapping[str, Name] = field(default_factory=dict)

    @property
    def given(self) -> Mapping[str, Name]:
        """Return all that a snippet may be given, by our own name for it."""
        return {**GIVEN, **self.more}

    @property
    def types(self) -> Mapping[str, Type]:
        """Return the types of all that a snippet may be given."""
        return {name: one.kind for name, one in self.given.items()}


GIVEN: dict[str, Name] = {
    "D": Name(Size(D), "is D", "dcp_size cp_world_size cp_size"),
    "P": Name(Size(P), "is P", "page_size block_size tokens_per_block"),
    "r": Name(Index(RANK), "this rank", "dcp_rank cp_rank cp_rank"),
    "pos": Name(Index(POSITION), "positions", "positions positions position_ids"),
    "top": Name(Index(POSITION), "positions", "topk_indices topk_indices sparse_indices"),
    "new": Name(Index(LOC), "locs", "out_cache_loc new_slots kv_offsets"),
    "row": Name(Index(ROW), "rows", "kv_indices slot_mapping kv_block_indices"),
    "pages": Name(Index(ALLOCATOR_PAGE), "one or more allocator pages", "free_pages new_block_ids block_ids"),
    "req": Name(Index(REQUEST), "the request's number", "req_pool_idx req_idx seq_slot"),
    "length": Name(Bound(POSITION), "how many positions the request has", "seq_len num_computed_tokens past_kv_len"),
    "rows_here": Name(Bound(ROW), "how many rows a rank has", "pool_size num_local_slots max_kv_offset"),
    "table": Name(Store((REQUEST, POSITION), LOC), "locs", "req_to_token token_slots kv_offset_table"),
    "table_k": Name(
        Store((REQUEST, ENTRY_P), INDEX_K_PAGE), "index-K pages", "page_table indexer_block_table indexer_block_offsets"
    ),
    "table_w": Name(Store((REQUEST, ENTRY_W), ALLOCATOR_PAGE), "allocator pages", "req_to_page block_table block_offsets"),
    "ckv": Name(Store((ROW,)), "this rank's c-KV", "kv_buffer kv_cache kv_pool"),
    "ckv_paged": Name(
        Store((ALLOCATOR_PAGE, PLACE_ROW)), "this rank's c-KV", "kv_buffer_paged kv_cache_blocked kv_pool_blocked"
    ),
    "ckv_pages": Name(
        Store((ALLOCATOR_PAGE,)), "this rank's c-KV, whole pages", "kv_page_buffer kv_cache_blocks kv_pool_blocks"
    ),
    "keys": Name(Store((LOC,)), "index-K", "index_k_buffer indexer_k_cache indexer_pool"),
    "keys_paged": Name(Store((INDEX_K_PAGE, PLACE_P)), "index-K", "index_k_paged indexer_k_blocked indexer_pool_blocked"),
    "keys_pages": Name(Store((INDEX_K_PAGE,)), "index-K, whole pages", "index_k_pages indexer_k_blocks indexer_pool_blocks"),
    "marks": Name(Store((LOC,)), "a flag", "is_evictable slot_in_use offset_in_use"),
    "host": Name(Store((LOC,)), "c-KV of all ranks, in the host's memory", "host_buffer cpu_cache host_pool"),
    "refs": Name(Store((ALLOCATOR_PAGE,)), "a counter", "page_refs ref_cnt block_refs"),
    "load": Name(Store((RANK,)), "a counter", "rank_load cp_load cp_load"),
    "rope": Name(Store((POSITION,)), "angles", "cos_sin_cache cos_sin_cache rotary_cos_sin"),
    "ids": Name(Store((POSITION,)), "token ids", "input_ids token_ids input_tokens"),
    "attend": Name(Call((None, ROW)), "a function", "flash_mla sparse_attn mla_generation"),
    "free": Name(Call((ALLOCATOR_PAGE,)), "a function", "free_group_append free_blocks release_blocks"),
    "fetch": Name(Call((RANK, LOC)), "a function", "fetch_kv fetch_slots helix_fetch"),
    "q": Name(VALUES, "", "q query q"),
    "kv": Name(VALUES, "", "cache_k kv_c latent_cache"),
    "k": Name(VALUES, "", "index_k indexer_k indexer_k"),
}

# Names that people give to an index of a space. A name that lies is one of another space's.
CALLED = {
    POSITION: ("pos", "token_pos", "query_pos"),
    LOC: ("locs", "slots", "cache_locs"),
    ROW: ("rows", "local_rows", "pool_rows"),
    INDEX_K_PAGE: ("k_pages", "indexer_pages", "key_pages"),
    ALLOCATOR_PAGE: ("alloc_pages", "kv_pages", "wide_pages"),
    RANK: ("owners", "ranks", "dst_ranks"),
    BYTE: ("byte_offs", "byte_idx", "addr"),
    FLOAT: ("f32_offs", "f32_idx", "word_idx"),
    TOKEN: ("tokens", "token_idx", "query_idx"),
    ELEMENT: ("elem_offs", "flat_offs", "elems"),
    REQUEST: ("reqs", "req_ids", "seq_ids"),
    RAGGED: ("ragged_idx", "kv_offs", "flat_kv"),
    GATHERED: ("shard_rows", "gathered_rows", "recv_rows"),
    SRC_LOC: ("src_locs", "remote_slots", "far_locs"),
    SRC_ROW: ("src_rows", "remote_rows", "far_rows"),
    SRC_RANK: ("src_ranks", "senders", "far_ranks"),
    SENT: ("sent_rows", "message_rows", "packed_rows"),
}
# And to how many there are of it.
COUNTED = {
    LOC: ("num_slots", "n_slots", "total_slots"),
    ROW: ("num_rows", "n_rows", "total_rows"),
    SRC_ROW: ("num_far_rows", "n_src_rows", "total_src_rows"),
    INDEX_K_PAGE: ("num_k_pages", "n_key_pages", "total_k_pages"),
    ALLOCATOR_PAGE: ("num_pages", "n_pages", "total_pages"),
    BYTE: ("num_bytes", "nbytes", "total_bytes"),
    FLOAT: ("num_f32", "n_words", "total_f32"),
}
SAYS_NOTHING = ("idx", "ix", "at", "where", "sel", "index")
NO_COUNT = ("num", "count", "limit", "total", "n", "cap")
NO_INDEX = {MASK: ("mask", "mine", "valid", "keep"), VALUES: ("out", "got", "vals", "data")}
ON_THE_WAY = ("off", "rest", "inner", "rem")
