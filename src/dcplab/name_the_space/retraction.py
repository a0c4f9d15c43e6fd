"""Holds the templates of 6g: a request that comes from a node with S ranks to this one with D, each with its own locs."""

from __future__ import annotations

from dcplab.name_the_space.typing import (
    LOC,
    POSITION,
    RANK,
    REQUEST,
    ROW,
    SENT,
    SRC_LOC,
    SRC_RANK,
    SRC_ROW,
    Bound,
    Call,
    Index,
    S,
    Size,
    Store,
)
from dcplab.name_the_space.words import Matter, Name, made

GIVEN = {
    "S": Name(Size(S), "is S", "prefill_dcp_size remote_cp_size ctx_cp_size"),
    "s": Name(Index(SRC_RANK), "the sender's rank", "prefill_rank remote_rank ctx_rank"),
    "slocs": Name(Store((POSITION,), SRC_LOC), "source locs", "prefill_kv_loc remote_slot_of ctx_kv_offsets"),
    "dlocs": Name(Store((POSITION,), LOC), "locs", "decode_kv_loc local_slot_of gen_kv_offsets"),
    "got": Name(Index(SRC_LOC), "source locs", "prefill_loc_list remote_slot_ids ctx_offset_list"),
    "srow": Name(Index(SRC_ROW), "source rows", "prefill_kv_indices remote_block_rows ctx_local_offsets"),
    "part": Name(Index(SENT), "sent rows", "chunk_index message_slots recv_offsets"),
    "sckv": Name(Store((SRC_ROW,)), "the sender's c-KV", "prefill_kv_buffer remote_kv_cache ctx_kv_pool"),
    "skeys": Name(Store((SRC_LOC,)), "the sender's index-K", "prefill_index_k remote_indexer_cache ctx_indexer_pool"),
    "wire": Name(Store((SRC_RANK, SENT)), "what each sender has sent", "transfer_chunk nixl_buffer recv_kv_buffer"),
    "pos_at": Name(Store((SRC_LOC,), POSITION), "positions", "pos_of_prefill_loc pos_of_remote_slot pos_of_ctx_offset"),
    "pos_for": Name(Store((LOC,), POSITION), "positions", "pos_of_decode_loc pos_of_local_slot pos_of_gen_offset"),
    "sload": Name(Store((SRC_RANK,)), "a counter", "prefill_load remote_load ctx_load"),
    "pull": Name(Call((SRC_RANK, SRC_ROW)), "fetches from a sender", "pull_kv read_remote fetch_ctx_kv"),
    "state": Name(Store((REQUEST,)), "recurrent state", "mamba_state ssm_state rnn_state"),
    "sroom": Name(Bound(SRC_ROW), "how many rows a sender has", "prefill_pool_size remote_num_rows ctx_max_offset"),
}

TEMPLATES = (
    made("relay", """
        a = slocs[pos]
        b = dlocs[pos]
        c = sckv[a // S]
        ckv[b // D] = c
    """, (3, "c = sckv[a]"), (3, "c = sckv[a // D]"), (4, "ckv[a // S] = c"), (4, "ckv[b] = c")),
    made("owner on either side", """
        a = slocs[pos] % S
        sload[a] += 1
        b = dlocs[pos] % D
        load[b] += 1
    """, (2, "sload[slocs[pos] // S] += 1"), (3, "b = dlocs[pos] % S"), (1, "a = slocs[pos] % D"), (4, "load[a] += 1")),
    made("what one sends", """
        a = slocs[pos]
        b = a % S == s
        c = a[b] // S
        d = sckv[c]
    """, (2, "b = a % S == r"), (3, "c = a[b] // D"), (4, "d = sckv[a[b]]"), (2, "b = a // S == s")),
    made("what one gets", """
        a = dlocs[pos]
        b = a % D == r
        c = a[b] // D
        ckv[c] = kv
    """, (2, "b = a % D == s"), (3, "c = a[b] // S"), (4, "ckv[a[b]] = kv"), (2, "b = a % S == r")),
    made("pulled", """
        a = slocs[pos]
        b = a % S
        c = a // S
        d = pull(b, c)
    """, (4, "d = pull(c, b)"), (4, "d = pull(b, a)"), (3, "c = a // D"), (2, "b = a % D")),
    made("through the message", """
        a = pos % S
        b = pos // S
        c = wire[a, b]
        d = dlocs[pos]
        ckv[d // D] = c
    """, (3, "c = wire[b, a]"), (3, "c = wire[a, pos]"), (5, "ckv[d] = c"), (5, "ckv[b] = c")),
    made("unpacked", """
        a = part * S + s
        b = dlocs[a]
        c = b // D
        ckv[c] = wire[s, part]
    """, (2, "b = dlocs[part]"), (4, "ckv[c] = wire[r, part]"), (4, "ckv[c] = wire[s, a]"), (1, "a = part * D + s")),
    made("where it goes", """
        a = pos_at[got]
        b = dlocs[a]
        c = b % D
        load[c] += 1
    """, (1, "a = pos_for[got]"), (2, "b = dlocs[got]"), (4, "load[b // D] += 1"), (3, "c = b % S")),
    made("where it came from", """
        a = pos_for[new]
        b = slocs[a]
        c = skeys[b]
        keys[new] = c
    """, (1, "a = pos_at[new]"), (2, "b = slocs[new]"), (3, "c = skeys[new]"), (4, "keys[b] = c")),
    made("index-K goes whole", """
        a = slocs[pos]
        b = dlocs[pos]
        c = skeys[a]
        keys[b] = c
        d = rope[pos]
    """, (3, "c = skeys[a // S]"), (4, "keys[b // D] = c"), (4, "keys[a] = c"), (5, "d = rope[b]")),
    made("three kinds", """
        a = dlocs[pos]
        b = state[req]
        ckv[a // D] = kv
        keys[a] = k
    """, (2, "b = state[a]"), (3, "ckv[a // S] = kv"), (4, "keys[a // D] = k"), (2, "b = state[pos]")),
    made("from a sender's row", """
        a = srow * S + s
        b = pos_at[a]
        c = dlocs[b]
        d = sckv[srow]
    """, (1, "a = srow * D + s"), (2, "b = pos_at[srow]"), (3, "c = dlocs[a]"), (4, "d = sckv[a]")),
    made("from one's own row", """
        a = row * D + r
        b = pos_for[a]
        c = slocs[b]
        d = sckv[c // S]
    """, (1, "a = row * S + r"), (1, "a = row * D + s"), (2, "b = pos_for[row]"), (4, "d = sckv[c // D]")),
    made("two bounds", """
        a = slocs[pos] // S
        assert a.max() < sroom
        b = dlocs[pos] // D
        assert b.max() < rows_here
        ckv[b] = sckv[a]
    """, (2, "assert a.max() < rows_here"), (4, "assert b.max() < sroom"), (5, "ckv[a] = sckv[b]"), (3, "b = dlocs[pos] // S")),
    made("to the host", """
        a = dlocs[pos]
        b = ckv[a // D]
        host[a] = b
        c = a % D
        load[c] += 1
    """, (3, "host[a // D] = b"), (2, "b = ckv[a]"), (5, "load[a // D] += 1"), (3, "host[pos] = b")),
    made("packed", """
        a = slocs[pos]
        b = a % S == s
        c = pos[b] // S
        wire[s, c] = sckv[a[b] // S]
    """, (4, "wire[s, c] = sckv[a[b]]"), (3, "c = a[b] // S"), (4, "wire[r, c] = sckv[a[b] // S]"), (2, "b = a % S == r")),
    made("both ranks", """
        a = pos % S
        b = pos % D
        sload[a] += 1
        load[b] += 1
        c = pull(a, slocs[pos] // S)
    """, (3, "sload[b] += 1"), (4, "load[a] += 1"), (5, "c = pull(b, slocs[pos] // S)"), (5, "c = pull(a, dlocs[pos] // D)")),
)  # fmt: skip

MATTER = Matter((POSITION, LOC, ROW, RANK, SRC_LOC, SRC_ROW, SRC_RANK, SENT), TEMPLATES, GIVEN)
