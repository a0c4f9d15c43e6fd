"""Holds the templates of 3h: c-KV written and read by row, page and element, in eight bits, and where nothing is divided."""

from __future__ import annotations

from dcplab.name_the_space.typing import (
    ALLOCATOR_PAGE,
    ELEMENT,
    LOC,
    POSITION,
    RANK,
    REQUEST,
    ROW,
    SOURCE,
    SOURCE_STRIDE,
    STRIDE,
    TOKEN,
    Call,
    Index,
    Size,
    Store,
)
from dcplab.name_the_space.words import Matter, Name, made

GIVEN = {
    "tok": Name(Index(TOKEN), "tokens of the step", "step_tokens token_range token_offsets"),
    "stride": Name(Size(STRIDE), "elements of a row of c-KV", "kv_stride kv_row_stride kv_row_elems"),
    "sstride": Name(Size(SOURCE_STRIDE), "elements of a row of the source", "src_stride kv_c_stride latent_row_elems"),
    "locs": Name(Store((TOKEN,), LOC), "locs", "cache_loc_of_token slot_of_token kv_offset_of_token"),
    "rows_of": Name(Store((TOKEN,), ROW), "rows of this rank", "resolved_loc resolved_slots resolved_offsets"),
    "pos_of": Name(Store((TOKEN,), POSITION), "positions", "position_of_token token_positions past_lens_of_token"),
    "req_of": Name(Store((TOKEN,), REQUEST), "the request's number", "req_of_token req_id_per_token seq_of_token"),
    "src": Name(Store((TOKEN,)), "new c-KV", "k_nope_new kv_c_normed latent_new"),
    "sscale": Name(Store((TOKEN,)), "a scale each", "src_scale kv_c_scale latent_scale"),
    "qs": Name(Store((TOKEN,)), "a query each", "q_nope ql_nope fused_q"),
    "rscale": Name(Store((ROW,)), "a scale each", "row_scale slot_scale pool_row_scale"),
    "pscale": Name(Store((ALLOCATOR_PAGE,)), "a scale each", "page_scale block_scale pool_block_scale"),
    "flat": Name(Store((ELEMENT,)), "this rank's c-KV, number by number", "kv_buffer_flat kv_cache_flat kv_pool_flat"),
    "sflat": Name(Store((SOURCE,)), "new c-KV, number by number", "src_flat kv_c_flat latent_flat"),
    "whole": Name(Store((LOC,)), "the draft's c-KV, whole on every rank", "draft_kv_buffer draft_kv_cache draft_kv_pool"),
    "quant": Name(Call((ROW, TOKEN)), "writes tokens to rows in eight bits", "quant_k_cache cache_fp8 quantize_latent"),
    "put": Name(Call((LOC, TOKEN)), "writes tokens to locs, and divides itself", "set_mla_kv concat_and_cache store_latent"),
}

TEMPLATES = (
    made("write", """
        a = locs[tok]
        b = a % D == r
        c = a // D
        ckv[c[b]] = src[tok[b]]
    """, (4, "ckv[a[b]] = src[tok[b]]"), (4, "ckv[c[b]] = src[c[b]]"), (3, "c = a // P"), (1, "a = locs[pos_of[tok]]")),
    made("padding", """
        a = locs[tok]
        b = torch.where(a >= 0, a % D, -1)
        c = torch.where(b == r, a // D, -1)
        d = c >= 0
        ckv[c[d]] = src[tok[d]]
    """, (3, "c = torch.where(b == r, a, -1)"), (5, "ckv[c[d]] = src[c[d]]"), (3, "c = torch.where(b == r, b // D, -1)"),
        (3, "c = torch.where(a == r, a // D, -1)")),
    made("elements", """
        a = locs[tok]
        b = a // D
        c = b * stride
        flat[c] = sflat[tok * sstride]
    """, (3, "c = a * stride"), (4, "flat[b] = sflat[tok * sstride]"), (4, "flat[c] = sflat[b * sstride]"),
        (3, "c = tok * stride")),
    made("paged", """
        a = locs[tok]
        b = a // (P * D)
        c = a // D % P
        ckv_paged[b, c] = src[tok]
    """, (2, "b = a // P"), (3, "c = a % P"), (4, "ckv_paged[b, c] = src[b]"), (2, "b = a // D")),
    made("a scale a row", """
        a = locs[tok]
        b = a // D
        c = sscale[tok]
        rscale[b] = c
        ckv[b] = src[tok] / c
    """, (4, "rscale[tok] = c"), (3, "c = sscale[b]"), (5, "ckv[a] = src[tok] / c"), (4, "rscale[a] = c")),
    made("a scale a page", """
        a = locs[tok] // D
        b = a // P
        c = pscale[b]
        ckv[a] = src[tok] / c
        refs[b] += 1
    """, (3, "c = pscale[a]"), (4, "ckv[b] = src[tok] / c"), (5, "refs[a] += 1"), (3, "c = pscale[tok]")),
    made("eight bits", """
        a = locs[tok]
        b = a % D == r
        c = tok[b]
        d = a[b] // D
        e = quant(d, c)
    """, (5, "e = quant(a[b], c)"), (5, "e = quant(c, d)"), (4, "d = a[b] // P"), (5, "e = quant(d, d)")),
    made("resolved", """
        a = rows_of[tok]
        ckv[a] = src[tok]
        b = a * D + r
        marks[b] = True
    """, (2, "ckv[a // D] = src[tok]"), (4, "marks[a] = True"), (3, "b = a * P + r"), (2, "ckv[a] = src[a]")),
    made("draft", """
        a = locs[tok]
        whole[a] = src[tok]
        b = a % D == r
        c = a[b] // D
        ckv[c] = 0
    """, (2, "whole[a // D] = src[tok]"), (5, "ckv[a[b]] = 0"), (2, "whole[tok] = src[tok]"), (4, "c = a[b] // P")),
    made("either way", """
        a = locs[tok]
        b = put(a, tok)
        c = rows_of[tok]
        ckv[c] = src[tok]
    """, (2, "b = put(a // D, tok)"), (2, "b = put(rows_of[tok], tok)"), (4, "ckv[a] = src[tok]"), (4, "ckv[c] = src[c]")),
    made("read back", """
        a = table[req, top]
        b = a[a % D == r]
        c = b // D
        d = attend(q, c)
        load[a % D] += 1
    """, (4, "d = attend(q, b)"), (5, "load[c] += 1"), (3, "c = b // P"), (5, "load[a // D] += 1")),
    made("a query's rows", """
        a = req_of[tok]
        b = table[a, top]
        c = b // D
        d = attend(qs[tok], c)
    """, (2, "b = table[tok, top]"), (4, "d = attend(qs[a], c)"), (4, "d = attend(qs[tok], b)"), (2, "b = table[a, tok]")),
    made("angles", """
        a = pos_of[tok]
        b = table[req_of[tok], a]
        c = rope[a]
        whole[b] = src[tok] * c
    """, (3, "c = rope[b]"), (3, "c = rope[tok]"), (2, "b = table[req_of[tok], tok]")),
    made("to the host", """
        a = row * D + r
        host[a] = ckv[row]
        b = row // P
        refs[b] += 1
    """, (2, "host[row] = ckv[row]"), (2, "host[a] = ckv[a]"), (4, "refs[row] += 1"), (3, "b = row // (P * D)")),
    made("cleared", """
        a = pages * P
        b = a[:, None] + torch.arange(P)
        c = b * stride
        flat[c] = 0
        rscale[b] = 1
    """, (4, "flat[b] = 0"), (5, "rscale[c] = 1"), (3, "c = (b * D + r) * stride"), (5, "rscale[b * D + r] = 1")),
    made("room", """
        a = locs[tok]
        b = a // D
        c = b < rows_here
        ckv[b[c]] = src[tok[c]]
    """, (3, "c = a < rows_here"), (4, "ckv[b[c]] = src[b[c]]"), (4, "ckv[a[c]] = src[tok[c]]"), (3, "c = tok < rows_here")),
    made("where it went", """
        a = locs[tok]
        b = a // D
        c = flat[b * stride]
        d = ckv[b]
        e = whole[a]
    """, (3, "c = flat[a * stride]"), (4, "d = ckv[a]"), (5, "e = whole[b]"), (3, "c = flat[b]")),
)  # fmt: skip

MATTER = Matter((TOKEN, LOC, ROW, RANK, ALLOCATOR_PAGE, ELEMENT), TEMPLATES, GIVEN)
