"""Holds the templates of 2i: how many slots, rows, pages and bytes there are, and what is held against that."""

from __future__ import annotations

from dcplab.name_the_space.typing import (
    ALLOCATOR_PAGE,
    BYTE,
    FLOAT,
    INDEX_K_PAGE,
    KEY_BYTES,
    LOC,
    PAGE_BYTES,
    ROW,
    SCALE_BYTES,
    VALUES,
    Bound,
    Call,
    Index,
    Size,
    Store,
)
from dcplab.name_the_space.words import Matter, Name, made

GIVEN = {
    "C": Name(Bound(ROW), "C, how many rows a rank can hold", "size num_gpu_rows max_tokens_per_rank"),
    "high": Name(Index(LOC), "the largest loc in use", "max_loc_in_use highest_slot max_offset_in_use"),
    "room": Name(Bound(BYTE), "how many bytes index-K has", "index_k_nbytes indexer_nbytes indexer_bytes"),
    "kbytes": Name(Size(PAGE_BYTES), "bytes of an index-K page", "index_k_page_bytes indexer_block_bytes bytes_per_block"),
    "kdim": Name(Size(KEY_BYTES), "bytes of a key", "index_head_dim indexer_head_dim indexer_key_bytes"),
    "fbytes": Name(Size(SCALE_BYTES), "bytes of a float", "fp32_bytes float_size sizeof_float"),
    "make_ckv": Name(Call((ROW,)), "makes c-KV of so many", "alloc_kv_buffer make_kv_cache create_kv_pool"),
    "make_keys": Name(Call((LOC,)), "makes index-K of so many", "alloc_index_k make_indexer_cache create_indexer_pool"),
    "make_key_pages": Name(
        Call((INDEX_K_PAGE,)), "makes index-K of so many", "alloc_index_k_pages make_indexer_blocks create_indexer_blocks"
    ),
    "make_draft": Name(Call((LOC,)), "makes the draft's c-KV of so many", "alloc_draft_kv make_draft_cache create_draft_pool"),
    "make_refs": Name(Call((ALLOCATOR_PAGE,)), "makes counters of so many", "alloc_page_refs make_ref_cnt create_block_refs"),
    "make_bytes": Name(Call((BYTE,)), "takes so many from the GPU", "alloc_bytes malloc_bytes allocate_bytes"),
    "draft": Name(Store((LOC,)), "the draft's c-KV", "draft_kv_buffer draft_kv_cache draft_kv_pool"),
    "buf": Name(Store((BYTE,)), "index-K, byte by byte", "index_k_u8 indexer_u8 indexer_bytes_view"),
    "buf_f32": Name(Store((FLOAT,)), "the same memory, float by float", "index_k_f32 indexer_f32 indexer_float_view"),
    "scale": Name(VALUES, "", "k_scale key_scale k_scale"),
}

TEMPLATES = (
    made("two sizes", """
        a = C // P + 1
        b = a * (P * D)
        c = make_keys(b)
        d = make_ckv(a * P)
    """, (3, "c = make_keys(a * P)"), (4, "d = make_ckv(b)"), (2, "b = a * P"), (3, "c = make_keys(C + P)")),
    made("pages of both kinds", """
        a = C // P + 1
        b = a * D
        c = make_key_pages(b)
        d = make_refs(a)
    """, (3, "c = make_key_pages(a)"), (4, "d = make_refs(b)"), (2, "b = a * P"), (4, "d = make_refs(C + P)")),
    made("draft", """
        a = (C + P) * D
        b = make_draft(a)
        draft[new] = kv
        ckv[new // D] = kv
    """, (2, "b = make_draft(C + P)"), (3, "draft[new // D] = kv"), (4, "ckv[new] = kv"), (1, "a = C + P")),
    made("row assert", """
        a = C + P
        b = new // D
        assert b.max() < a
        ckv[b] = kv
    """, (3, "assert new.max() < a"), (4, "ckv[new] = kv"), (1, "a = (C + P) * D")),
    made("two asserts", """
        a = C + P
        b = a * D
        assert high < b
        keys[new] = k
        c = new // D
        assert c.max() < a
    """, (3, "assert high < a"), (6, "assert c.max() < b"), (4, "keys[new // D] = k"), (6, "assert new.max() < a")),
    made("watermark", """
        a = C // P
        b = high // (P * D)
        assert b < a + 1
        refs[b] += 1
    """, (3, "assert high < a + 1"), (4, "refs[high // P] += 1"), (1, "a = C")),
    made("key", """
        a = new // P
        b = a * kbytes
        c = b + new % P * kdim
        buf[c] = k
    """, (3, "c = b + new % P"), (4, "buf_f32[c] = k"), (4, "buf[a] = k"), (1, "a = new // D")),
    made("scale", """
        a = new // P * kbytes
        b = a + P * kdim
        c = b // fbytes + new % P
        buf_f32[c] = scale
    """, (4, "buf_f32[b] = scale"), (3, "c = b + new % P"), (4, "buf[c] = scale")),
    made("bytes of it all", """
        a = (C // P + 1) * D
        b = a * kbytes
        c = make_bytes(b)
        d = make_key_pages(a)
    """, (3, "c = make_bytes(a)"), (2, "b = (C + P) * kbytes"), (4, "d = make_key_pages(b)"),
        (4, "d = make_key_pages(C // P + 1)")),
    made("emptied", """
        a = (C // P + 1) * P
        b = a * D
        ckv[:a] = 0
        keys[:b] = 0
    """, (3, "ckv[:b] = 0"), (4, "keys[:a] = 0"), (2, "b = a * P"), (4, "keys[:C] = 0")),
    made("legal ones", """
        a = (C + P) * D
        b = new[new < a]
        keys[b] = 0
        c = b // D
        ckv[c] = 0
    """, (1, "a = C + P"), (3, "keys[b // D] = 0"), (5, "ckv[b] = 0"), (4, "c = b // P")),
    made("page assert", """
        a = (C + P) * D // P
        b = new // P
        assert b.max() < a
        c = keys_pages[b]
    """, (3, "assert new.max() < a"), (1, "a = (C + P) // P"), (4, "c = keys_pages[new // (P * D)]")),
    made("byte assert", """
        a = new // P
        b = a * kbytes
        assert b.max() < room
        c = buf[b + new % P * kdim]
    """, (3, "assert a.max() < room"), (1, "a = new // D"), (4, "c = buf[b + new % P]"), (3, "assert new.max() < room")),
    made("float assert", """
        a = room // fbytes
        b = pages * D * kbytes
        c = b // fbytes
        assert c.max() < a
        d = buf_f32[c]
    """, (4, "assert b.max() < a"), (2, "b = pages * kbytes"), (5, "d = buf_f32[b]"), (4, "assert c.max() < room")),
    made("new pages", """
        a = pages * D
        b = a * P
        c = keys_pages[a]
        d = keys[b]
        refs[pages] += 1
    """, (3, "c = keys_pages[pages]"), (4, "d = keys[pages * P]"), (5, "refs[a] += 1"), (2, "b = a * (P * D)")),
    made("from the bytes", """
        a = room // kbytes
        b = a * P
        assert high < b
        c = a // D
        d = make_refs(c)
    """, (3, "assert high < a"), (5, "d = make_refs(a)"), (2, "b = a * D"), (3, "assert high // D < b")),
    made("row's page", """
        a = row // P
        refs[a] += 1
        b = a * D
        c = keys_pages[b]
        d = buf[b * kbytes]
    """, (2, "refs[row] += 1"), (4, "c = keys_pages[a]"), (5, "d = buf[a * kbytes]")),
    made("peak", """
        a = high // P
        b = a * kbytes
        c = buf[b]
        d = high // D
        assert d < C + P
    """, (5, "assert high < C + P"), (3, "c = buf_f32[b]"), (2, "b = high * kbytes"), (4, "d = high // P")),
)  # fmt: skip

MATTER = Matter((LOC, ROW, INDEX_K_PAGE, ALLOCATOR_PAGE, BYTE, FLOAT), TEMPLATES, GIVEN)
