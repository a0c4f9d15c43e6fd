"""Holds the templates of 4h: a step of several requests, their prefixes gathered from the ranks, and the workspace of both."""

from __future__ import annotations

from dcplab.name_the_space.typing import (
    GATHERED,
    LOC,
    POSITION,
    RAGGED,
    RANK,
    REQUEST,
    ROW,
    TOKEN,
    Bound,
    Call,
    Index,
    Store,
)
from dcplab.name_the_space.words import Matter, Name, made

GIVEN = {
    "tok": Name(Index(TOKEN), "new tokens of the step", "step_tokens token_range token_offsets"),
    "rag": Name(Index(RAGGED), "ragged indices", "topk_ragged ragged_slots gen_kv_offsets"),
    "req": Name(Index(REQUEST), "requests", "batch_idx batch_ids seq_idx"),
    "req_of": Name(Store((TOKEN,), REQUEST), "requests", "req_of_token req_id_per_token seq_of_token"),
    "pos_of": Name(Store((TOKEN,), POSITION), "positions", "position_of_token token_positions past_lens_of_token"),
    "locs": Name(Store((TOKEN,), LOC), "locs", "cache_loc_of_token slot_of_token kv_offset_of_token"),
    "picked": Name(Store((TOKEN,), POSITION), "positions in its own request", "topk_result topk_buffer sparse_selection"),
    "cu_k": Name(
        Store((REQUEST,), RAGGED), "ragged indices, where each request begins", "cu_seqlens_k cu_seq_lens_kv cu_kv_seqlens"
    ),
    "cu_q": Name(Store((REQUEST,), TOKEN), "tokens, where each request begins", "cu_seqlens_q query_start_loc cu_q_seqlens"),
    "begin": Name(
        Store((REQUEST,), GATHERED), "gathered rows, where each request begins", "shard_start gathered_start helix_recv_start"
    ),
    "prefix": Name(
        Store((REQUEST,), POSITION),
        "positions, that of its first new token",
        "prefix_lens num_cached_tokens past_kv_lens",
    ),
    "shards": Name(Store((RANK, GATHERED)), "prefixes, gathered", "gathered_kv cp_gathered_kv helix_recv_buffer"),
    "work": Name(Store((RAGGED,)), "the workspace", "ragged_kv kv_workspace context_kv"),
    "src": Name(Store((TOKEN,)), "new c-KV", "k_nope_new kv_c_normed latent_new"),
    "qs": Name(Store((TOKEN,)), "a query each", "q_nope ql_nope fused_q"),
    "logits": Name(Store((TOKEN, RAGGED)), "the indexer's scores", "index_score indexer_logits sparse_scores"),
    "room": Name(Bound(RAGGED), "how many places the workspace has", "ragged_kv_len workspace_len context_kv_len"),
    "legal": Name(Bound(LOC), "how many locs there can be", "max_total_slots num_total_slots max_total_offsets"),
    "paged": Name(Call((None, LOC)), "attends by loc", "flash_mla_paged sparse_attn_paged mla_paged"),
    "ragged": Name(Call((None, RAGGED)), "attends in the workspace", "flash_mla_ragged sparse_attn_ragged mla_context"),
}

TEMPLATES = (
    made("to ragged", """
        a = req_of[tok]
        b = picked[tok]
        c = cu_k[a] + b
        d = ragged(qs[tok], c)
    """, (4, "d = ragged(qs[tok], b)"), (3, "c = cu_q[a] + b"), (3, "c = cu_k[tok] + b"), (3, "c = table[a, b]")),
    made("to paged", """
        a = req_of[tok]
        b = picked[tok]
        c = table[a, b]
        d = paged(qs[tok], c)
    """, (3, "c = table[tok, b]"), (3, "c = cu_k[a] + b"), (4, "d = paged(qs[a], c)"), (4, "d = paged(qs[tok], b)")),
    made("interleave", """
        a = pos % D
        b = begin[req] + pos // D
        c = cu_k[req] + pos
        work[c] = shards[a, b]
    """, (4, "work[pos] = shards[a, b]"), (4, "work[c] = shards[b, a]"), (2, "b = begin[req] + pos"),
        (3, "c = begin[req] + pos // D"), (4, "work[c] = shards[a, c]")),
    made("new tokens", """
        a = req_of[tok]
        b = cu_k[a] + pos_of[tok]
        work[b] = src[tok]
        c = locs[tok]
        ckv[c // D] = src[tok]
    """, (3, "work[tok] = src[tok]"), (5, "ckv[c] = src[tok]"), (5, "ckv[c // D] = src[b]"), (2, "b = cu_q[a] + pos_of[tok]")),
    made("its position", """
        a = req_of[tok]
        b = tok - cu_q[a]
        c = prefix[a] + b
        d = rope[c]
        keys[table[a, c]] = k
    """, (4, "d = rope[tok]"), (2, "b = tok - cu_k[a]"), (5, "keys[table[a, tok]] = k"), (5, "keys[c] = k")),
    made("and back", """
        a = rag - cu_k[req]
        b = table[req, a]
        c = keys[b]
        d = work[rag]
    """, (1, "a = rag - cu_q[req]"), (2, "b = table[req, rag]"), (3, "c = keys[a]"), (4, "d = work[b]")),
    made("what a rank sends", """
        a = table[req, pos]
        b = a // D
        c = begin[req] + pos // D
        shards[r, c] = ckv[b]
    """, (4, "shards[r, c] = ckv[a]"), (4, "shards[r, b] = ckv[b]"), (3, "c = begin[req] + b"), (4, "shards[req, c] = ckv[b]")),
    made("last of each", """
        a = cu_q[req + 1] - 1
        b = qs[a]
        c = pos_of[a]
        d = table[req, c]
    """, (2, "b = qs[req]"), (3, "c = pos_of[req]"), (4, "d = table[req, a]"), (4, "d = table[a, c]")),
    made("end of each", """
        a = cu_k[req + 1] - 1
        b = work[a]
        c = a - cu_k[req]
        d = ids[c]
    """, (4, "d = ids[a]"), (3, "c = a - cu_q[req]"), (2, "b = work[req]"), (3, "c = a - begin[req]")),
    made("scores", """
        a = req_of[tok]
        b = cu_k[a]
        c = b + pos_of[tok]
        d = logits[tok, c]
    """, (4, "d = logits[tok, pos_of[tok]]"), (4, "d = logits[a, c]"), (2, "b = cu_q[a]"), (4, "d = logits[c, tok]")),
    made("two bounds", """
        a = table[req, pos]
        assert a.max() < legal
        b = cu_k[req] + pos
        assert b.max() < room
        work[b] = keys[a]
    """, (2, "assert a.max() < room"), (4, "assert b.max() < legal"), (5, "work[a] = keys[a]"), (5, "work[b] = keys[b]")),
    made("who has it", """
        a = table[req, pos]
        b = a % D
        load[b] += 1
        c = shards[b, begin[req] + pos // D]
    """, (3, "load[a // D] += 1"), (4, "c = shards[b, begin[b] + pos // D]"), (4, "c = shards[req, begin[req] + pos // D]"),
        (4, "c = shards[b, a // D]")),
    made("both copies", """
        a = locs[tok]
        b = a % D == r
        c = a[b] // D
        d = tok[b]
        ckv[c] = src[d]
        keys[a] = k
    """, (5, "ckv[a[b]] = src[d]"), (5, "ckv[c] = src[c]"), (6, "keys[tok] = k"), (3, "c = a[b] // P")),
    made("new ones ranked", """
        a = pos_of[tok]
        b = a % D
        load[b] += 1
        c = table[req_of[tok], a]
        d = ckv[c // D]
    """, (3, "load[a // D] += 1"), (4, "c = table[tok, a]"), (5, "d = ckv[c]"), (4, "c = table[req_of[tok], b]")),
    made("one request's", """
        a = cu_k[req]
        b = a + prefix[req]
        c = work[b]
        d = cu_q[req]
        e = src[d]
    """, (2, "b = a + cu_q[req]"), (3, "c = work[prefix[req]]"), (5, "e = src[b]"), (1, "a = begin[req]")),
    made("from the shards", """
        a = begin[req]
        b = rag - cu_k[req]
        c = a + b // D
        d = shards[b % D, c]
        e = work[rag]
    """, (4, "d = shards[b % D, b // D]"), (3, "c = a + b"), (5, "e = work[b]"), (2, "b = rag - begin[req]")),
)  # fmt: skip

MATTER = Matter((REQUEST, POSITION, TOKEN, LOC, ROW, RANK, RAGGED, GATHERED), TEMPLATES, GIVEN)
