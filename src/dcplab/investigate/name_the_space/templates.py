"""Holds what snippets are made of: short pieces of servers in names of our own, and how three houses call the same things.

A template says nothing about what is right. Its lines are read by `typing`, with each of its `slips` or without one.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcplab.investigate.name_the_space.typing import (
    ALLOCATOR_PAGE,
    ENTRY_P,
    ENTRY_W,
    INDEX_K_PAGE,
    LOC,
    MASK,
    PLACE_P,
    PLACE_ROW,
    POSITION,
    RANK,
    REQUEST,
    ROW,
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

# What a snippet can be given. Everything else in it is a name of its own.
GIVEN: dict[str, Type] = {
    "D": Size(D),
    "P": Size(P),
    "r": Index(RANK),
    "pos": Index(POSITION),
    "top": Index(POSITION),
    "new": Index(LOC),
    "row": Index(ROW),
    "pages": Index(ALLOCATOR_PAGE),
    "req": Index(REQUEST),
    "length": Bound(POSITION),
    "rows_here": Bound(ROW),
    "table": Store((REQUEST, POSITION), LOC),
    "table_k": Store((REQUEST, ENTRY_P), INDEX_K_PAGE),
    "table_w": Store((REQUEST, ENTRY_W), ALLOCATOR_PAGE),
    "ckv": Store((ROW,)),
    "ckv_paged": Store((ALLOCATOR_PAGE, PLACE_ROW)),
    "ckv_pages": Store((ALLOCATOR_PAGE,)),
    "keys": Store((LOC,)),
    "keys_paged": Store((INDEX_K_PAGE, PLACE_P)),
    "keys_pages": Store((INDEX_K_PAGE,)),
    "marks": Store((LOC,)),
    "host": Store((LOC,)),
    "refs": Store((ALLOCATOR_PAGE,)),
    "load": Store((RANK,)),
    "rope": Store((POSITION,)),
    "ids": Store((POSITION,)),
    "attend": Call((None, ROW)),
    "free": Call((ALLOCATOR_PAGE,)),
    "fetch": Call((RANK, LOC)),
    "q": VALUES,
    "kv": VALUES,
    "k": VALUES,
}
UNSAID = {"q", "kv", "k"}  # plain values: no words are lost about them
HOLDS = {
    "ckv": "this rank's c-KV", "ckv_paged": "this rank's c-KV", "ckv_pages": "this rank's c-KV, whole pages",
    "keys": "index-K", "keys_paged": "index-K", "keys_pages": "index-K, whole pages", "marks": "a flag",
    "host": "c-KV of all ranks, in the host's memory", "refs": "a counter", "load": "a counter", "rope": "angles",
    "ids": "token ids",
}  # fmt: skip

# The same things in the words of three houses.
HOUSES: dict[str, dict[str, str]] = {
    "SGLang": {
        "D": "dcp_size", "P": "page_size", "r": "dcp_rank", "pos": "positions", "top": "topk_indices", "new": "out_cache_loc",
        "row": "kv_indices", "pages": "free_pages", "req": "req_pool_idx", "length": "seq_len", "rows_here": "pool_size",
        "table": "req_to_token", "table_k": "page_table", "table_w": "req_to_page", "ckv": "kv_buffer",
        "ckv_paged": "kv_buffer_paged", "ckv_pages": "kv_page_buffer", "keys": "index_k_buffer",
        "keys_paged": "index_k_paged", "keys_pages": "index_k_pages", "marks": "is_evictable", "host": "host_buffer",
        "refs": "page_refs", "load": "rank_load", "rope": "cos_sin_cache", "ids": "input_ids", "attend": "flash_mla",
        "free": "free_group_append", "fetch": "fetch_kv", "q": "q", "kv": "cache_k", "k": "index_k",
    },
    "vLLM": {
        "D": "cp_world_size", "P": "block_size", "r": "cp_rank", "pos": "positions", "top": "topk_indices", "new": "new_slots",
        "row": "slot_mapping", "pages": "new_block_ids", "req": "req_idx", "length": "num_computed_tokens",
        "rows_here": "num_local_slots", "table": "token_slots", "table_k": "indexer_block_table", "table_w": "block_table",
        "ckv": "kv_cache", "ckv_paged": "kv_cache_blocked", "ckv_pages": "kv_cache_blocks", "keys": "indexer_k_cache",
        "keys_paged": "indexer_k_blocked", "keys_pages": "indexer_k_blocks", "marks": "slot_in_use", "host": "cpu_cache",
        "refs": "ref_cnt", "load": "cp_load", "rope": "cos_sin_cache", "ids": "token_ids", "attend": "sparse_attn",
        "free": "free_blocks", "fetch": "fetch_slots", "q": "query", "kv": "kv_c", "k": "indexer_k",
    },
    "TensorRT-LLM": {
        "D": "cp_size", "P": "tokens_per_block", "r": "cp_rank", "pos": "position_ids", "top": "sparse_indices",
        "new": "kv_offsets", "row": "kv_block_indices", "pages": "block_ids", "req": "seq_slot", "length": "past_kv_len",
        "rows_here": "max_kv_offset", "table": "kv_offset_table", "table_k": "indexer_block_offsets",
        "table_w": "block_offsets", "ckv": "kv_pool", "ckv_paged": "kv_pool_blocked", "ckv_pages": "kv_pool_blocks",
        "keys": "indexer_pool", "keys_paged": "indexer_pool_blocked", "keys_pages": "indexer_pool_blocks",
        "marks": "offset_in_use", "host": "host_pool", "refs": "block_refs", "load": "cp_load", "rope": "rotary_cos_sin",
        "ids": "input_tokens", "attend": "mla_generation", "free": "release_blocks", "fetch": "helix_fetch", "q": "q",
        "kv": "latent_cache", "k": "indexer_k",
    },
}  # fmt: skip

# Names that people give to an index of a space. A name that lies is one of another space's.
CALLED = {
    POSITION: ("pos", "token_pos", "query_pos"),
    LOC: ("locs", "slots", "cache_locs"),
    ROW: ("rows", "local_rows", "pool_rows"),
    INDEX_K_PAGE: ("k_pages", "indexer_pages", "key_pages"),
    ALLOCATOR_PAGE: ("alloc_pages", "kv_pages", "wide_pages"),
    RANK: ("owners", "ranks", "dst_ranks"),
}
SAYS_NOTHING = ("idx", "ix", "at", "where", "sel", "index")
NO_INDEX = {MASK: ("mask", "mine", "valid", "keep"), VALUES: ("out", "got", "vals", "data")}
ON_THE_WAY = ("off", "rest", "inner", "rem")


@dataclass(frozen=True)
class Template:
    """Lines, in the names of `GIVEN` and a, b, c for its own. ``slips``: a line's number, and what may stand in its place."""

    name: str
    lines: tuple[str, ...]
    slips: tuple[tuple[int, str], ...]


def _made(name: str, text: str, *slips: tuple[int, str]) -> Template:
    return Template(name, tuple(line.strip() for line in text.strip().split("\n")), slips)


TEMPLATES = (
    _made("write", """
        keys[new] = k
        a = new % D == r
        b = new[a] // D
        ckv[b] = kv[a]
    """, (1, "keys[new // D] = k"), (4, "ckv[new[a]] = kv[a]"), (3, "b = new[a] // P")),
    _made("read", """
        a = table[req, top]
        b = a % D == r
        c = torch.where(b, a // D, -1)
        d = attend(q, c)
    """, (4, "d = attend(q, a)"), (1, "a = table[req, new]"), (3, "c = torch.where(b, a // D, a)"),
        (3, "c = torch.where(b, a, -1)")),
    _made("slots", """
        a = table_w[req, pos // (P * D)]
        b = pos % (P * D)
        c = a * P + b // D
        d = b % D == r
        ckv[c[d]] = kv[d]
    """, (1, "a = table_w[req, pos // P]"), (5, "keys[c[d]] = kv[d]"), (3, "c = a * (P * D) + b")),
    _made("key pages", """
        a = table_k[req, pos // P]
        b = pos % P
        c = keys_paged[a, b]
        marks[a * P + b] = True
    """, (3, "c = keys_paged[a // D, b]"), (1, "a = table_k[req, pos]"), (4, "marks[a] = True"), (3, "c = ckv_paged[a, b]")),
    _made("page of rows", """
        a = new // D
        b = a // P
        c = ckv_paged[b, a % P]
        refs[b] += 1
    """, (3, "c = ckv_paged[b, new % P]"), (2, "b = a // (P * D)"), (4, "refs[new // P] += 1"),
        (3, "c = ckv_paged[new // P, a % P]")),
    _made("back", """
        a = table[req, top]
        b = a % D == r
        c = a[b] // D
        d = c * D + r
        marks[d] = True
    """, (5, "marks[c] = True"), (4, "d = c * P + r"), (3, "c = a[b] // P")),
    _made("references", """
        a = table[req, :length]
        b = a // (P * D)
        c = b.unique()
        refs[c] += 1
        marks[a] = False
    """, (4, "refs[a] += 1"), (5, "marks[c] = False"), (2, "b = a // P")),
    _made("release", """
        a = new // (P * D)
        refs[a] -= 1
        b = a[refs[a] == 0]
        free(b)
    """, (4, "free(new)"), (2, "refs[new // P] -= 1"), (4, "free(b * (P * D))")),
    _made("new page", """
        a = pages * (P * D)
        b = a[:, None] + torch.arange(P * D)
        c = b % D == r
        ckv[b[c] // D] = 0
        keys[b] = 0
    """, (4, "ckv[b[c]] = 0"), (4, "ckv[b[c] // P] = 0"), (5, "keys[b // D] = 0")),
    _made("rows of a page", """
        a = pages * P
        b = a[:, None] + torch.arange(P)
        ckv[b] = 0
        c = b * D + r
        keys[c] = 0
    """, (5, "keys[b] = 0"), (3, "ckv[b * D + r] = 0"), (4, "c = b * P + r")),
    _made("two kinds", """
        a = pages[:, None] * D + torch.arange(D)
        b = keys_pages[a]
        c = ckv_pages[pages]
        refs[a // D] += 1
    """, (2, "b = keys_pages[pages]"), (3, "c = ckv_pages[a]"), (4, "refs[a] += 1")),
    _made("fetch", """
        a = table[req, top]
        b = a % D
        load[b] += 1
        c = fetch(b, a)
    """, (3, "load[a // D] += 1"), (4, "c = fetch(b, a // D)"), (4, "c = fetch(a, b)")),
    _made("rotary", """
        a = torch.arange(length)
        b = table[req, a]
        c = rope[a]
        d = ids[a]
        keys[b] = k * c
    """, (3, "c = rope[b]"), (5, "keys[a] = k * c"), (4, "d = ids[b]")),
    _made("bounds", """
        a = new // D
        b = a < rows_here
        c = a[b]
        ckv[c] = kv[b]
        load[new % D] += 1
    """, (2, "b = new < rows_here"), (4, "ckv[new[b]] = kv[b]"), (5, "load[a % D] += 1")),
    _made("host copy", """
        a = table[req, :length]
        b = a[a % D == r]
        c = b // D
        host[b] = ckv[c]
    """, (4, "host[c] = ckv[c]"), (4, "host[b] = ckv[b]"), (2, "b = a[a // D == r]")),
    _made("last token", """
        a = length - 1
        b = table_w[req, a // (P * D)]
        c = b * (P * D) + a % (P * D)
        load[c % D] += 1
    """, (2, "b = table_w[req, a // P]"), (3, "c = b * P + a % (P * D)"), (4, "load[c // D] += 1")),
    _made("joined", """
        a = table[req, top]
        b = torch.cat([a, new])
        c = keys[b]
        load[b % D] += 1
    """, (2, "b = torch.cat([a, pos])"), (3, "c = keys[b // D]"), (2, "b = torch.cat([a // D, new])")),
    _made("two tables", """
        a = new[::P] // P
        b = new[::P * D] // (P * D)
        c = keys_pages[a]
        d = ckv_pages[b]
    """, (4, "d = ckv_pages[a]"), (3, "c = keys_pages[b]"), (1, "a = new[::P] // D")),
    _made("from rows", """
        a = row * D + r
        b = a // P
        c = keys_paged[b, a % P]
        d = ckv[row]
    """, (3, "c = keys_paged[row // P, a % P]"), (3, "c = keys_paged[b, row % P]"), (4, "d = ckv[a]")),
    _made("own words", """
        a = top[top < length]
        b = ids[a]
        c = table[req, a]
        load[c % D] += 1
    """, (2, "b = ids[table[req, a]]"), (4, "load[c // D] += 1"), (1, "a = top[top < rows_here]")),
    _made("around a row", """
        a = row // P
        refs[a] += 1
        b = a * (P * D)
        c = b[:, None] + torch.arange(P * D)
        marks[c] = True
    """, (2, "refs[a // P] += 1"), (5, "marks[row] = True"), (3, "b = a * P")),
    _made("widened", """
        a = table_k[req, pos // P]
        b = a // D
        refs[b] += 1
        c = keys_pages[a]
        d = ckv_pages[b]
    """, (3, "refs[a] += 1"), (5, "d = ckv_pages[a]"), (4, "c = keys_pages[b]")),
)  # fmt: skip
