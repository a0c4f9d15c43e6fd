# Other right answers to lab 05: each must pass. One cell an answer; the first cell stands before every answer.

# %% preamble
import torch


def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


def verify_path(step):
    return decode_path(step)


def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0])
    return outs


SEED = 36886  # what the solution was made with; tests hold the literals below against the engine
MATRIX = {
    "none, below": "right",
    "none, above": "silent",
    "size, below": "right",
    "size, above": "silent",
    "write, below": "silent",
    "write, above": "silent",
    "extend, below": "silent",
    "extend, above": "alarm",
    "write+read, below": "silent",
    "write+read, above": "silent",
    "all but size, below": "right",
    "all but size, above": "silent",
    "all but size, full": "crash",
    "all but assert, below": "right",
    "all but assert, above": "alarm",
    "all but assert, full": "alarm",
    "all, below": "right",
    "all, above": "right",
}
NAMES = {
    1: {"buffer": "ckv.2", "op": "write_ckv", "rank": 0, "loc": 12, "row": 12, "rows_available": 816},
    2: {"buffer": "index_k.0", "op": "write_index_k", "rank": 0, "loc": 876, "row": 876, "rows_available": 876},
    3: {"buffer": "ckv.2", "op": "sparse_mla_decode", "rank": 1, "loc": 14, "row": 14, "rows_available": 903},
}
RECORD = """
## Revision of code and model
dcplab:               0.1.0
torch:                2.13.0+cpu
dsa_layers:           3
topk:                 32

## Hardware, parallelism, backend, dtype
device:               cpu
dcp_size:             3
page_size:            5
size:                 840
ckv_dtype:            bfloat16

## Requests, cache and phase
steps:                31
tokens_extended:      1074
tokens_cached:        180

## Global locs
smallest_loc:         15
largest_loc:          1121
largest_legal_loc:    2534

## Local indices and the shapes there are
ckv_rows:             845
ckv_highest:          1121
index_k_slots:        845
index_k_needed:       2535
index_k_highest:      1124

## First abnormal operation, and what it did
first_wrong_step:     1
first_wrong_phase:    extend
first_wrong_rank:     0
first_wrong_op:       write_ckv
first_wrong_buffer:   ckv.0
first_wrong_index:    15
first_outside_step:   14
first_outside_op:     write_ckv
first_outside_buffer: ckv.0
first_outside_index:  845
bytes_outside:        2840292
canaries_changed:     7

## Patches in force
patches:              none

## Result and comparison
verdict:              silent corruption
fresh:                3/3
long:                 0/2
again:                0/3
first_wrong_answer:   ask: w368 w12 w50
fixed_fresh:          3/3
fixed_long:           2/2
fixed_again:          3/3
"""


def record_with(**other):
    text = RECORD
    for key, value in other.items():
        lines = [f"{key}: {value}" if line.startswith(f"{key}:") else line for line in text.split("\n")]
        text = "\n".join(lines)
    return SEED, text


def names_with(n, **other):
    return SEED, NAMES | {n: NAMES[n] | other}


# %% 5a writes-first
def decode_path(step):
    for rank in step.ranks:
        rank.write_index_k(step.batch.out_locs)
        rank.write_ckv(step.batch.out_locs)
    return step.merge([rank.attend(*rank.localize(rank.to_locs(rank.select_paged()))) for rank in step.ranks])


# %% 5a selected-once
def decode_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    first = step.ranks[0]
    locs = first.to_locs(first.select_paged())  # index-K is the same on all ranks
    return step.merge([rank.attend(*rank.localize(locs)) for rank in step.ranks])


# %% 5a holes
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        mine = (locs >= 0) & (locs % rank.dcp_size == rank.rank)
        rows = torch.where(mine, locs // rank.dcp_size, -1)
        parts.append(rank.attend(rows, torch.full((len(rows),), rows.shape[1], dtype=torch.int32, device=rows.device)))
    return step.merge(parts)


# %% 5a own-merge
def decode_path(step):
    outs, lses = [], []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        out, lse = rank.attend(rows, counts)
        outs.append(out)
        lses.append(lse)
    outs, lses = step.all_gather(outs), step.all_gather(lses)
    top = lses.max(0).values
    weight = torch.exp2(lses - torch.where(top == float("-inf"), 0.0, top))
    total = weight.sum(0)
    share = torch.where(total > 0, weight / total, 0.0)
    merged = (torch.where(share[..., None] > 0, outs.float(), 0.0) * share[..., None]).sum(0)
    return [merged for _ in step.ranks]


# %% 5a own-write
def decode_path(step):
    parts = []
    for rank in step.ranks:
        locs = step.batch.out_locs
        mine = locs % rank.dcp_size == rank.rank
        rank.write_ckv(torch.where(mine, locs // rank.dcp_size, -1), raw=True)
        rank.write_index_k(locs)
        parts.append(rank.attend(*rank.localize(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)


# %% 5a helper
def keys_of(rank, batch):
    rank.write_ckv(batch.out_locs)
    rank.write_index_k(batch.out_locs)
    return rank.localize(rank.to_locs(rank.select_paged()))

def decode_path(step):
    found = [(rank, *keys_of(rank, step.batch)) for rank in step.ranks]
    return step.merge([rank.attend(rows, counts) for rank, rows, counts in found])


# %% 5a counts-of-rows
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, _ = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, (rows >= 0).sum(-1).to(torch.int32)))
    return tuple(step.merge(parts))


# %% 5a engine-s-own-monitor
def decode_path(step):
    parts, held = [], []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        positions = rank.select_paged()
        rows, counts = rank.localize(rank.to_locs(positions))
        parts.append(rank.attend(rows, counts))
        held.append(counts)
    step.count(positions, held)
    return step.merge(parts)


# %% 5b assembled-at-once
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    for rank in step.ranks:
        rank.assemble(shards)
    return [rank.attend_ragged(rank.to_ragged(rank.select_ragged())) for rank in step.ranks]


# %% 5b merged-instead
def extend_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        parts.append(rank.attend(*rank.localize(rank.to_locs(rank.select_ragged()))))
    return step.merge(parts)


# %% 5b read-before-write
def extend_path(step):
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])  # prefixes are there already
    prefix = step.interleave(shards)
    rows = step.join(prefix, step.ranks[0].latent)  # all ranks have the same new tokens
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rank.fill(rows)
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b interleaved-by-hand
def extend_path(step):
    batch = step.batch
    for rank in step.ranks:
        rank.write_ckv(batch.out_locs)
        rank.write_index_k(batch.out_locs)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    size, first, pieces = len(shards), 0, []
    for length in batch.prefix_lens.tolist():
        position = torch.arange(length, device=shards.device)
        pieces.append(shards[position % size, first + position // size])
        first += -(-length // size)
    prefix = torch.cat(pieces) if pieces else shards.new_empty(0, shards.shape[2])
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b joined-by-hand
def extend_path(step):
    batch = step.batch
    for rank in step.ranks:
        rank.write_ckv(batch.out_locs)
        rank.write_index_k(batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    old, new = batch.prefix_lens.tolist(), batch.extend_lens.tolist()
    outs = []
    for rank in step.ranks:
        rows = []
        for a, b in zip(prefix.split(old), rank.latent.split(new)):
            rows += [a, b]
        rank.fill(torch.cat(rows))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b ragged-by-hand
def extend_path(step):
    batch = step.batch
    for rank in step.ranks:
        rank.write_ckv(batch.out_locs)
        rank.write_index_k(batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    start = batch.cu_seqlens_k[batch.req_of_row][:, None]
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        positions = rank.select_ragged()
        outs.append(rank.attend_ragged(torch.where(positions >= 0, positions + start, -1)))
    return outs


# %% 5b verify-written-out
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5b draft-merged
def draft_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        parts.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)  # equal parts merge to themselves


# %% 5b draft-raw
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs, raw=True)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        outs.append(rank.attend(locs, (locs >= 0).sum(-1).to(torch.int32))[0])
    return outs


# %% 5b draft-once
def draft_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    first = step.ranks[0]
    out, _ = first.attend(*first.as_rows(first.to_locs(first.select_paged())))
    return [out] * len(step.ranks)  # every rank holds the same


# %% 5c literal
def isolation():
    return dict(MATRIX)


# %% 5c by-rule
def isolation():
    patches = {"none": "", "size": "s", "write": "w", "extend": "e", "write+read": "wr", "all but size": "wrea"}
    patches |= {"all but assert": "swre", "all": "swrea"}

    def verdict(has, level):
        agree = len({"w" in has, "r" in has, "e" in has}) == 1
        fits = level == "below" or ("s" in has and "w" in has)
        if level != "below" and "e" in has and "a" not in has:
            return "alarm"
        if level == "full" and not fits:
            return "crash"
        return "right" if agree and fits else "silent"

    return {row: verdict(patches[row.rpartition(",")[0]], row.rpartition(" ")[2]) for row in MATRIX}


# %% 5c shouted
def isolation():
    return {row: f" {verdict.upper()} " for row, verdict in MATRIX.items()}


# %% 5d literal
def first_wrong():
    return SEED, NAMES


# %% 5d as-a-list
def first_wrong():
    return [SEED, dict(NAMES)]


# %% 5d as-text
def first_wrong():
    return SEED, {n: {key: f" {value} ".upper() for key, value in names.items()} for n, names in NAMES.items()}


# %% 5d with-notes
def first_wrong():
    return SEED, {n: names | {"why": "the trace says so"} for n, names in NAMES.items()}


# %% 5e literal
def incident_record():
    return SEED, RECORD


# %% 5e thousands
def incident_record():
    return record_with(bytes_outside="2,840,292", largest_loc="1,121", index_k_needed="2,535")


# %% 5e with-notes
def incident_record():
    return SEED, "\n".join(line + "  # seen" if ":" in line else line for line in RECORD.split("\n"))


# %% 5e elsewhere
def incident_record():
    return record_with(torch="2.11.0+cu130", dcplab="0.2.0")


# %% 5e other-order
def incident_record():
    return SEED, "\n".join(reversed([line for line in RECORD.split("\n") if ":" in line]))
