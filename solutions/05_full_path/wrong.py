# Wrong answers to lab 05: what people type, and the sentence that each must get. One cell an answer.
# The first cell stands before every answer. docs/misconceptions.md describes the families M1 to M16.

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


# %% 5a no-localize
# says: Attention is given locs and reads rows of this rank: nothing is where it looks.
# asks: At which row of which rank does the writer put loc 10 of two ranks?
# family: M1
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        parts.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)


# %% 5a unpatched
# says: This is the unpatched server: locs are rows, for writer and reader alike.
# asks: How many ranks hold one token now, and where does a loc past C + P go?
# family: M1
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs, raw=True)
        rank.write_index_k(step.batch.out_locs)
        parts.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)


# %% 5a raw-write
# says: The write is raw and the read localized: half a fix, wrong at any watermark.
# asks: Into which row does raw=True write loc 10?
# family: M1
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs, raw=True)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a rows-to-writer
# says: The c-KV writer takes locs and divides by itself; what you gave was divided.
# asks: What does the writer do with the number that you give it?
# family: M6
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs // rank.dcp_size)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a rows-raw
# says: A raw write takes rows, but locs of other ranks were divided into them too.
# asks: How many of D neighbouring locs may write into one row of this rank?
# family: M3
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs // rank.dcp_size, raw=True)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a index-k-by-rows
# says: index-K is whole on every rank and written at the loc; it was given rows.
# asks: Who finds the key of loc 10 again, and at which slot do they look?
# family: M7
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs // rank.dcp_size)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a index-k-of-owner
# says: Each rank stored the index keys of its own locs only; top-k needs all of them.
# asks: How does rank 0 find a token whose c-KV lies on rank 1?
# family: M7
def decode_path(step):
    locs = step.batch.out_locs
    parts = []
    for rank in step.ranks:
        rank.write_ckv(locs)
        rank.write_index_k(torch.where(locs % rank.dcp_size == rank.rank, locs, -1))
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a index-k-localized
# says: index-K was localized as c-KV is: it is whole on every rank, and read by loc.
# asks: Which of the two pools does every rank keep all of?
# family: M7
def decode_path(step):
    locs = step.batch.out_locs
    parts = []
    for rank in step.ranks:
        rank.write_ckv(locs)
        rank.write_index_k(torch.where(locs % rank.dcp_size == rank.rank, locs // rank.dcp_size, -1))
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a index-k-of-rank-0
# says: Only rank 0 stored the new index keys; the others select without them.
# asks: On how many ranks does index-K lie?
# family: M7
def decode_path(step):
    step.ranks[0].write_index_k(step.batch.out_locs)
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a no-index-k
# says: The new tokens never get an index key: no later query can find them.
# asks: By what does top-k find the token of the step before?
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a no-write
# says: The new tokens' c-KV is never written: later queries read an empty row.
# asks: Where does the c-KV of the token of this step go?
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a write-on-rank-0
# says: Only rank 0 writes its c-KV; tokens that other ranks own are lost.
# asks: Who writes the token whose loc belongs to rank 1?
def decode_path(step):
    step.ranks[0].write_ckv(step.batch.out_locs)
    parts = []
    for rank in step.ranks:
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a positions-localized
# says: Positions were localized as if they were locs; the table lookup is missing.
# asks: Which page of the pool does position 0 of the second request lie in?
# family: M15
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.select_paged())
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a localize-first
# says: Localized before the lookup: rows of positions were looked up as positions.
# asks: What does to_locs look up, and is a row such a thing?
# family: M15
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.select_paged())
        parts.append(rank.attend(rank.to_locs(rows), counts))
    return step.merge(parts)


# %% 5a positions-as-rows
# says: Attention is given positions: neither the table nor the owner was asked.
# asks: What do position 0 of two requests have in common?
# family: M15
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        positions = rank.select_paged()
        parts.append(rank.attend(positions, (positions >= 0).sum(-1)))
    return step.merge(parts)


# %% 5a ragged
# says: RAGGED is extend's transform: it points into a workspace that is not here.
# asks: Which buffer holds what a decode step reads?
# family: M15
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_ragged(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a workspace
# says: Decode reads the workspace, where only the last extend left something.
# asks: Who filled the workspace, and with what, when this step began?
def decode_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_paged())))
    return outs


# %% 5a select-ragged
# says: A decode batch has no flat list of locs: select_ragged belongs to extend.
# asks: Which of the two selections reads index-K page by page?
# outcome: crashed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_ragged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a localized-twice
# says: Localized twice: rows were taken for locs and divided again.
# asks: What does localize expect, and what has it given you?
# family: M6
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, _ = rank.localize(rank.to_locs(rank.select_paged()))
        rows, counts = rank.localize(rows)
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5a no-owner
# says: Divided, but no owner chosen: each rank reads its row for every selected loc.
# asks: Whose token lies in row 5 of rank 0, and whose in row 5 of rank 1?
# family: M3
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        rows = torch.where(locs >= 0, locs // rank.dcp_size, -1)
        parts.append(rank.attend(rows, (rows >= 0).sum(-1)))
    return step.merge(parts)


# %% 5a no-divide
# says: The owner is chosen, but its locs are not divided: rows are D times fewer.
# asks: At which row does its owner keep loc 10 of two ranks?
# family: M2
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        rows = torch.where(locs % rank.dcp_size == rank.rank, locs, -1)
        parts.append(rank.attend(rows, torch.full((len(rows),), rows.shape[1])))
    return step.merge(parts)


# %% 5a swapped
# says: Owner and row are swapped: the quotient was asked for the rank.
# asks: Which of loc % D and loc // D goes from 0 to D - 1?
# family: M4
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        rows = torch.where(locs // rank.dcp_size == rank.rank, locs % rank.dcp_size, -1)
        parts.append(rank.attend(rows, torch.full((len(rows),), rows.shape[1])))
    return step.merge(parts)


# %% 5a next-rank
# says: Each rank reads the rows that its neighbour owns.
# asks: With two ranks, who owns loc 11?
# family: M4
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        mine = (locs >= 0) & ((locs + 1) % rank.dcp_size == rank.rank)
        rows = torch.where(mine, locs // rank.dcp_size, -1)
        parts.append(rank.attend(rows, torch.full((len(rows),), rows.shape[1])))
    return step.merge(parts)


# %% 5a rank-0-rows
# says: Every rank attends to the rows of rank 0's locs.
# asks: Does rank 1 own the same locs as rank 0?
def decode_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    first = step.ranks[0]
    rows, counts = first.localize(first.to_locs(first.select_paged()))
    return step.merge([rank.attend(rows, counts) for rank in step.ranks])


# %% 5a pages-owned
# says: Ranks take turns loc by loc; here they own whole pages.
# asks: Who owns loc 9, and who loc 10, with two ranks?
# family: M5
def decode_path(step):
    parts = []
    for rank in step.ranks:
        page = step.shared.config.page_size
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        mine = (locs >= 0) & (locs // page % rank.dcp_size == rank.rank)
        rows = torch.where(mine, locs // (page * rank.dcp_size) * page + locs % page, -1)
        parts.append(rank.attend(rows, torch.full((len(rows),), rows.shape[1])))
    return step.merge(parts)


# %% 5a holes-counted
# says: Rows with holes, and the count of owned ones: what lies behind it is not read.
# asks: Where in its list are the owned rows, if nobody moved them to the front?
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        mine = (locs >= 0) & (locs % rank.dcp_size == rank.rank)
        rows = torch.where(mine, locs // rank.dcp_size, -1)
        parts.append(rank.attend(rows, mine.sum(-1)))
    return step.merge(parts)


# %% 5a counts-divided
# says: The counts are this rank's already; divided by D again, most keys are not read.
# asks: What is the sum of the counts over all ranks?
# family: M6
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts // rank.dcp_size))
    return step.merge(parts)


# %% 5a zero-for-missing
# says: What another rank owns was sent to row 0, and row 0 is read for it.
# asks: What stands in row 0, and may anybody attend to it?
# family: M9
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        mine = (locs >= 0) & (locs % rank.dcp_size == rank.rank)
        rows = torch.where(mine, locs // rank.dcp_size, 0)
        parts.append(rank.attend(rows, torch.full((len(rows),), rows.shape[1])))
    return step.merge(parts)


# %% 5a no-merge
# says: Each rank keeps its own partial attention: nothing is merged.
# asks: Which keys has rank 0 seen, and which has it not?
# family: M13
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return [out for out, _ in parts]


# %% 5a mean
# says: Outputs are averaged; a rank must weigh what its keys weigh, which its LSE says.
# asks: What should a rank that holds no key add to the result?
# family: M13
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    out = step.all_gather([out for out, _ in parts]).mean(0)
    return [out] * len(parts)


# %% 5a sum
# says: Outputs are added as if they were parts of a sum; each is an average of its own.
# asks: What does attention over one key give, and over the same key on two ranks?
# family: M13
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    out = step.all_gather([out for out, _ in parts]).sum(0)
    return [out] * len(parts)


# %% 5a first-rank
# says: Rank 0's partial attention is given to all: the keys of the others are lost.
# asks: Which share of the keys does rank 0 hold?
# family: M13
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return [parts[0][0]] * len(parts)


# %% 5a by-count
# says: Ranks are weighed by how many keys they hold; one key may outweigh all others.
# asks: What does the LSE of a rank know that its count does not?
# family: M13
def decode_path(step):
    parts, held = [], []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
        held.append(counts)
    share = torch.stack(held) / torch.stack(held).sum(0)
    out = (torch.stack([out for out, _ in parts]) * share[:, :, None, None]).sum(0)
    return [out] * len(parts)


# %% 5a last-part
# says: The list is made anew for each rank, so only the last rank is merged.
# asks: How long is the list that goes into merge?
def decode_path(step):
    for rank in step.ranks:
        parts = []
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts * len(step.ranks))


# %% 5a write-last
# says: The write comes after the read: a token is not there when its own step reads it.
# asks: Which tokens may the query of this step attend to?
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    return step.merge(parts)


# %% 5a no-return
# says: The path computes and returns nothing.
# asks: What does the next layer get?
# outcome: crashed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    step.merge(parts)


# %% 5a parts-returned
# says: Pairs of output and LSE are returned, not the merged output of each rank.
# asks: What does step.merge make of the pairs?
# outcome: crashed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return parts


# %% 5a one-output
# says: One output for all ranks; each rank needs its own entry in the list.
# asks: How many ranks does step.ranks have?
# outcome: crashed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)[0]


# %% 5a merge-in-the-loop
# says: Merged inside the loop, when only some ranks have attended.
# asks: How many partial results exist when the first rank is done?
# outcome: crashed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
        return step.merge(parts) * 1 if len(step.ranks) == 1 else [step.merge(parts)[0]]


# %% 5a pair-as-rows
# says: localize gives a pair, rows and counts; attend needs both, one after the other.
# asks: What does attend take?
# outcome: crashed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        parts.append(rank.attend(rank.localize(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)


# %% 5b no-interleave
# says: Gathered shares stand rank after rank; ragged indices count positions.
# asks: Which position lies in the second row of rank 0's share?
# family: M14
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    prefix = shards.flatten(0, 1)[: step.batch.total_prefix]
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b stack-interleave
# says: Interleaved over the whole batch: each request's padding stays in and shifts.
# asks: How many rows of a share belong to a prefix of 5 tokens on two ranks?
# family: M14
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    prefix = shards.transpose(0, 1).flatten(0, 1)[: step.batch.total_prefix]
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b shards-reversed
# says: The shares are in the order of falling ranks: neighbours change places.
# asks: In which share does position 0 lie?
# family: M14
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    prefix = step.interleave(shards.flip(0).contiguous())
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b own-share
# says: Each rank takes its own share for everybody's: most prefix tokens are wrong.
# asks: Which tokens of a prefix are not on this rank?
def extend_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        prefix = step.interleave(torch.stack([rank.read_prefix()] * rank.dcp_size))
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b no-new-tokens
# says: The new tokens are missing in the workspace: only the prefixes were put there.
# asks: At which ragged index does the first new token of a request stand?
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(prefix)
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b no-prefix
# says: The prefixes are missing in the workspace: only the new tokens were put there.
# asks: What may the first new token attend to?
def extend_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rank.fill(rank.latent)
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b never-filled
# says: Nothing was put into the workspace, so attention reads what was left there.
# asks: Who fills the buffer that attend_ragged reads?
def extend_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b layout-b
# says: All prefixes, then all new tokens; the indices count request by request.
# asks: At which ragged index does the second request begin?
# family: M15
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(torch.cat([prefix, rank.latent]))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b new-first
# says: The new tokens stand before the prefixes.
# asks: Which comes first in a request, its prefix or what extends it?
# family: M14
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(torch.cat([rank.latent, prefix]))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b filled-on-rank-0
# says: Only rank 0 has a workspace; the other ranks read an empty one.
# asks: On which ranks does attention run?
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    step.ranks[0].fill(step.join(prefix, step.ranks[0].latent))
    return [rank.attend_ragged(rank.to_ragged(rank.select_ragged())) for rank in step.ranks]


# %% 5b paged
# says: Locs point into pools; attention reads the workspace here. PAGED for RAGGED.
# asks: How many rows does the workspace have in this step?
# family: M1
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_locs(rank.select_ragged())))
    return outs


# %% 5b mixed-paged
# says: A mixed batch is an extend too: it gathers, so its indices must be ragged.
# asks: Which buffer does attention read in a mixed batch?
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        positions = rank.select_ragged()
        index = rank.to_ragged(positions) if step.batch.mode == "extend" else rank.to_locs(positions)
        outs.append(rank.attend_ragged(index))
    return outs


# %% 5b mixed-decode
# says: A mixed batch is no decode: it has no page table, and some requests extend.
# asks: Which of the two selections can a mixed batch use?
# outcome: crashed
def extend_path(step):
    if step.batch.mode == "mixed":
        return decode_path(step)
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b rows-in-workspace
# says: Rows of this rank's pool were used in the workspace.
# asks: What do the indices of attend_ragged count?
# family: M1
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.localize(rank.to_locs(rank.select_ragged()))[0]))
    return outs


# %% 5b positions
# says: Positions were used as ragged indices: each request needs its own start added.
# asks: At which ragged index does the second request begin?
# family: M15
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.select_ragged()))
    return outs


# %% 5b select-paged
# says: An extend batch has no page table: select_paged belongs to decode and verify.
# asks: Which of the two selections gathers the keys of a whole request?
# outcome: crashed
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_paged())))
    return outs


# %% 5b unpatched
# says: This is extend unpatched: the rank's own pool, read at rows that are locs.
# asks: Which prefix tokens does this rank hold, and at which rows?
# family: M1
def extend_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_ragged())))[0])
    return outs


# %% 5b local-only
# says: Each rank attends to its own share of the context, and nothing is put together.
# asks: Who sees the keys that other ranks own?
# family: M13
def extend_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_ragged()))
        outs.append(rank.attend(rows, counts)[0])
    return outs


# %% 5b no-write
# says: The new tokens reach the workspace, never the pool: the next chunk lacks them.
# asks: From where does the next step read this step's tokens?
def extend_path(step):
    for rank in step.ranks:
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b no-index-k
# says: No index keys are written, so top-k has nothing to find the new tokens by.
# asks: What does select_ragged read?
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b raw-write
# says: The write is raw: the prefix is read back from rows where it was not put.
# asks: At which row does read_prefix look for loc 10 of two ranks?
# family: M1
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs, raw=True)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b rows-to-writer
# says: The c-KV writer of extend takes locs too; rows are divided twice.
# asks: What does the writer do with the number that you give it?
# family: M6
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs // rank.dcp_size)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b index-k-by-rows
# says: index-K is addressed by loc in extend too; it was written by rows.
# asks: At which slot does select_ragged look for loc 10?
# family: M7
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs // rank.dcp_size)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b index-k-of-owner
# says: In extend each rank stored the index keys of its own locs only.
# asks: How does rank 0 select a token whose c-KV lies on rank 1?
# family: M7
def extend_path(step):
    locs = step.batch.out_locs
    for rank in step.ranks:
        rank.write_ckv(locs)
        rank.write_index_k(torch.where(locs % rank.dcp_size == rank.rank, locs, -1))
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b join-swapped
# says: join takes the prefixes first and the new tokens second.
# asks: How many rows does each of the two have?
# outcome: crashed
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(rank.latent, prefix))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs


# %% 5b merged-extend
# says: Each rank has the whole context in extend: no LSE, and nothing to merge.
# asks: What would merging D equal outputs change?
# outcome: crashed
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return step.merge(outs)


# %% 5b summed-extend
# says: Outputs of extend were added over ranks, though each rank has the whole context.
# asks: How many ranks have attended to a key that is in every workspace?
# family: M13
def extend_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    prefix = step.interleave(step.all_gather([rank.read_prefix() for rank in step.ranks]))
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return [step.all_gather(outs).sum(0)] * len(outs)


# %% 5b verify-extend
# says: Verify is no extend: its batch has no prefixes to gather, it reads the pools.
# asks: Which transform does target verify take, PAGED or RAGGED?
# outcome: crashed
def verify_path(step):
    return extend_path(step)


# %% 5b verify-raw
# says: Verify reads at locs: it needs the localization of decode.
# asks: How are the rows of verify written?
# family: M1
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        parts.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)


# %% 5b verify-as-draft
# says: Verify runs the target, whose pools are sharded; this is the draft's wiring.
# asks: Whose pools does a verify step read?
def verify_path(step):
    return draft_path(step)


# %% 5b verify-no-write
# says: Verify must store its tokens: what is accepted is never written again.
# asks: Where is the c-KV of an accepted guess in the next step?
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5b verify-raw-write
# says: Verify writes at locs as rows: accepted tokens are not where decode looks.
# asks: At which row does a later step look for an accepted token?
# family: M1
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs, raw=True)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5b verify-no-merge
# says: Verify is not merged: each rank judges the guesses by its own keys.
# asks: Who has seen the keys on the other ranks?
# family: M13
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts)[0])
    return parts


# %% 5b verify-ragged
# says: Verify has no workspace: ragged indices point nowhere in the pool.
# asks: Which transform does target verify take?
# family: M15
def verify_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_ragged(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)


# %% 5b draft-localized
# says: The draft's pool is whole on every rank; localized reads spoil its guesses.
# asks: Which rows of the draft's pool does rank 0 hold?
def draft_path(step):
    return decode_path(step)


# %% 5b draft-localized-own
# says: The draft reads localized rows, and its pool is addressed by loc.
# asks: At which row did the draft's writer put loc 10?
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        outs.append(rank.attend(rows, counts)[0])
    return outs


# %% 5b draft-rows
# says: The draft's pool is written by row and read by loc.
# asks: How many rows has the draft's pool, C + P or (C + P) * D?
# family: M6
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs // rank.dcp_size)
        rank.write_index_k(step.batch.out_locs)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0])
    return outs


# %% 5b draft-owner
# says: The draft stores its own locs only, as if its pool were sharded.
# asks: Who reads the draft's token that another rank was to store?
def draft_path(step):
    locs, outs = step.batch.out_locs, []
    for rank in step.ranks:
        rank.write_ckv(torch.where(locs % rank.dcp_size == rank.rank, locs, -1))
        rank.write_index_k(locs)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0])
    return outs


# %% 5b draft-unwritten
# says: The draft writes nothing, so its next guess cannot see its last one.
# asks: What does the second guess of a step attend to?
def draft_path(step):
    return [rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0] for rank in step.ranks]


# %% 5b draft-no-index-k
# says: The draft writes no index keys: its top-k finds nothing new.
# asks: Which index-K does the draft select by?
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0])
    return outs


# %% 5b draft-index-k-rows
# says: The draft's index-K is addressed by loc, like the target's.
# asks: At which slot does the draft's top-k look for loc 10?
# family: M7
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs // rank.dcp_size)
        outs.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged())))[0])
    return outs


# %% 5b draft-extend
# says: The draft decodes one token at a time: there is no prefix to gather.
# asks: How many new tokens has a request in one step of the draft?
# outcome: crashed
def draft_path(step):
    return extend_path(step)


# %% 5b draft-positions
# says: The draft attends at positions; its pool is addressed by loc.
# asks: Which table turns a position into a loc?
# family: M15
def draft_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        outs.append(rank.attend(*rank.as_rows(rank.select_paged()))[0])
    return outs


# %% 5c half-is-half
# says: Half of the c-KV fix breaks the one rule that all three places kept.
# asks: The write is mended and decode is not. Where does decode look?
# family: M1
def isolation():
    said = dict(MATRIX)
    said["write, below"] = "right"
    said["write+read, below"] = "right"
    said["extend, below"] = "right"
    return said


# %% 5c half-mends-all
# says: A part of the fix cannot mend what all three c-KV places do wrong together.
# asks: Which of write, read and extend still takes a loc for a row?
# family: M1
def isolation():
    said = dict(MATRIX)
    said["write, below"] = "right"
    said["write, above"] = "right"
    said["write+read, below"] = "right"
    said["write+read, above"] = "right"
    said["extend, below"] = "right"
    said["extend, above"] = "right"
    return said


# %% 5c write-and-read-do
# says: Write and read are mended, extend is not: a prefix is looked for in wrong rows.
# asks: Who reads the cached pages of a prompt that is asked again?
# family: M1
def isolation():
    said = dict(MATRIX)
    said["write+read, below"] = "right"
    said["write+read, above"] = "right"
    return said


# %% 5c write-alone-waits
# says: The mended write and the raw reads disagree at once; no watermark is needed.
# asks: At which row does decode look for loc 10 here?
def isolation():
    said = dict(MATRIX)
    said["write, below"] = "right"
    return said


# %% 5c extend-alone-waits
# says: Extend gathers rows that nobody wrote: wrong as soon as a prompt has a prefix.
# asks: What does the gather read, while the write is raw?
def isolation():
    said = dict(MATRIX)
    said["extend, below"] = "right"
    return said


# %% 5c extend-fires-below
# says: Below the line no loc reaches the old bound: no alarm, only wrong words.
# asks: How large is the largest loc of this row, against C + P?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["extend, below"] = "alarm"
    return said


# %% 5c crash-above
# says: Just above the line an overflow hits a neighbour in mapped memory: silent.
# asks: What lies behind the last slot of layer 0's index-K?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["none, above"] = "crash"
    said["size, above"] = "crash"
    said["all but size, above"] = "crash"
    return said


# %% 5c crash-unpatched
# says: The unpatched server above the line does not crash: it spoils its neighbours.
# asks: What lies behind the last row of layer 0's c-KV?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["none, above"] = "crash"
    return said


# %% 5c size-mends
# says: With index-K mended, c-KV is still written and read at rows that are locs.
# asks: How many rows has c-KV, and how large are the locs above the line?
# family: M1
def isolation():
    said = dict(MATRIX)
    said["size, above"] = "right"
    return said


# %% 5c bug-is-always-there
# says: Below the watermark all fits and all agree: the unpatched server is right.
# asks: When did the report's users first see a wrong answer?
def isolation():
    said = dict(MATRIX)
    said["none, below"] = "silent"
    said["size, below"] = "silent"
    said["all but size, below"] = "silent"
    return said


# %% 5c unpatched-below
# says: One wrong rule, kept by everybody, gives right answers until the watermark.
# asks: How many ranks hold a token on the unpatched server?
def isolation():
    said = dict(MATRIX)
    said["none, below"] = "silent"
    said["size, below"] = "silent"
    return said


# %% 5c alarm-everywhere
# says: The old assert needs the table that only a gathering extend makes.
# asks: Which rows have the extend patch in force?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["none, above"] = "alarm"
    said["size, above"] = "alarm"
    said["write, above"] = "alarm"
    said["write+read, above"] = "alarm"
    return said


# %% 5c no-alarm
# says: The old assert holds locs against rows: above the line it stops a legal loc.
# asks: Which bound does the assert use while its patch is missing?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["extend, above"] = "silent"
    said["all but assert, above"] = "right"
    said["all but assert, full"] = "right"
    return said


# %% 5c assert-is-harmless
# says: An assert with the wrong bound is no safety: it stops a server that is right.
# asks: Against what does the old assert hold the flattened table?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["all but assert, above"] = "right"
    said["all but assert, full"] = "right"
    return said


# %% 5c assert-only-when-full
# says: The old bound is C + P: any loc above one rank's rows trips it, full or not.
# asks: Which is the first loc that the old assert refuses?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["all but assert, above"] = "right"
    return said


# %% 5c assert-crashes
# says: An assert that stops a server is an alarm: no memory was touched wrongly.
# asks: What is the difference between an alarm and a crash here?
# family: M11
def isolation():
    said = dict(MATRIX)
    said["extend, above"] = "crash"
    said["all but assert, above"] = "crash"
    said["all but assert, full"] = "crash"
    return said


# %% 5c size-is-memory-only
# says: Index-K without its patch has one rank's slots: above the line keys are lost.
# asks: Which locs have a slot in index-K when it has C + P of them?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["all but size, above"] = "right"
    return said


# %% 5c index-k-below
# says: Below the line every loc has a slot, even in an index-K that is too small.
# asks: How large is the largest loc of this row, against C + P?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["all but size, below"] = "silent"
    return said


# %% 5c index-k-crashes-early
# says: The last layer's overflow meets unmapped memory only when the pool is full.
# asks: What lies behind the last layer's index-K, and how much of it is there?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["all but size, above"] = "crash"
    return said


# %% 5c full-is-silent
# says: To the last page the overflow runs out of mapped memory: that is the crash.
# asks: How far behind index-K does loc D * C lie?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["all but size, full"] = "silent"
    return said


# %% 5c full-is-right
# says: Full is where index-K is shortest: it has one rank's slots for all locs.
# asks: How many of D locs have a slot when the pool is full?
# family: M10
def isolation():
    said = dict(MATRIX)
    said["all but size, above"] = "right"
    said["all but size, full"] = "right"
    return said


# %% 5c never-all-right
# says: With all five patches every loc has its slot, and all keep to one rule.
# asks: Which patch is still missing in this row?
def isolation():
    said = dict(MATRIX)
    said["all, above"] = "silent"
    return said


# %% 5c above-below-swapped
# says: Above and below are swapped: above is where locs exceed one rank's rows.
# asks: On which side of the line does everything fit?
def isolation():
    swap = {"below": "above", "above": "below", "full": "full"}
    return {row: MATRIX[f"{row.rpartition(' ')[0]} {swap[row.rpartition(' ')[2]]}"] for row in MATRIX}


# %% 5c all-right
# says: Every row was called right; the matrix would be of no use then.
# asks: Which row is the server of the report?
def isolation():
    return dict.fromkeys(MATRIX, "right")


# %% 5c all-silent
# says: Every row was called silent; two of them have every patch.
# asks: What is wrong on a server with all five patches?
def isolation():
    return dict.fromkeys(MATRIX, "silent")


# %% 5c all-crash
# says: Every row was called a crash; most of these never touch unmapped memory.
# asks: Which answers did the report's users get, before any crash?
def isolation():
    return dict.fromkeys(MATRIX, "crash")


# %% 5c own-words
# says: A wrong answer without an error is called silent here.
# asks: Which four verdicts are there?
def isolation():
    return {row: "wrong" if verdict == "silent" else verdict for row, verdict in MATRIX.items()}


# %% 5c empty
# says: Rows are missing in the table: they have no verdict.
# asks: Which rows are there?
def isolation():
    return {}


# %% 5c a-list
# says: A list of verdicts does not say which row each is for.
# asks: What does isolation return?
# outcome: crashed
def isolation():
    return list(MATRIX.values())


# %% 5c nothing
# says: isolation returns nothing.
# asks: Is there a return at the end?
# outcome: crashed
def isolation():
    said = dict(MATRIX)


# %% 5d reader
# says: Case 1: that operation read what was wrong already. Who put it there?
# asks: Which operation comes before it in the trace?
def first_wrong():
    return names_with(1, op="sparse_mla_decode")


# %% 5d reader-of-index-k
# says: Case 2: that operation read what was wrong already. Who put it there?
# asks: Who wrote the key that this operation reads?
def first_wrong():
    return names_with(2, op="indexer_logits_paged")


# %% 5d later-write
# says: Case 1: that operation kept to its rule, or another came before it.
# asks: Which write of the same step comes first?
def first_wrong():
    return names_with(1, op="write_index_k", buffer="index_k.2")


# %% 5d writer
# says: Case 3: that write was right; what was wrong is where somebody looked for it.
# asks: At which row of which rank does that write put its token?
# family: M1
def first_wrong():
    return names_with(3, op="write_ckv")


# %% 5d prefix-reader
# says: Case 3: that operation kept to its rule, or another came before it.
# asks: Which of the two readers comes first in the trace?
def first_wrong():
    return names_with(3, op="read_prefix")


# %% 5d symptom
# says: Case 1: that is the symptom; an operation has a name in the trace.
# asks: How is that operation called in the trace?
def first_wrong():
    return names_with(1, op="silent")


# %% 5d victim
# says: Case 2: that buffer lies behind and was hit; whose index left its own?
# asks: Whose index was it that went there?
def first_wrong():
    return names_with(2, buffer="index_k.1")


# %% 5d layer-0
# says: Case 1: that is the right kind of buffer in another layer.
# asks: Which layer differs first from one rank?
def first_wrong():
    return names_with(1, buffer="ckv.0")


# %% 5d layer-0-read
# says: Case 3: that is the right kind of buffer in another layer.
# asks: Which layer differs first from one rank?
def first_wrong():
    return names_with(3, buffer="ckv.0")


# %% 5d other-kind
# says: Case 1: another buffer was used with a wrong index before that one.
# asks: Which buffer does this operation write?
def first_wrong():
    return names_with(1, buffer="index_k.2")


# %% 5d other-kind-read
# says: Case 3: another buffer was used with a wrong index before that one.
# asks: What does attention read?
def first_wrong():
    return names_with(3, buffer="workspace")


# %% 5d ckv-for-index-k
# says: Case 2: another buffer was used with a wrong index before that one.
# asks: Which of the two buffers is addressed by loc?
def first_wrong():
    return names_with(2, buffer="ckv.0")


# %% 5d last-rank
# says: Case 1: that rank did it later, or not at all; the trace is in order.
# asks: Which rank's access stands first in the trace?
def first_wrong():
    return names_with(1, rank=1)


# %% 5d last-rank-size
# says: Case 2: that rank did it later, or not at all; the trace is in order.
# asks: Which rank's access stands first in the trace?
def first_wrong():
    return names_with(2, rank=3)


# %% 5d owner
# says: Case 3: that rank owns the loc. Which rank used it wrongly, and first?
# asks: Which rank read it?
def first_wrong():
    return names_with(3, rank=0)


# %% 5d row-for-loc
# says: Case 1: that is a row of its owner; the loc is the number before any division.
# asks: Which number did the allocator give?
def first_wrong():
    return names_with(1, loc=6)


# %% 5d largest
# says: Case 2: there is a smaller loc that goes wrong in the same operation.
# asks: Which is the first index beyond the buffer?
def first_wrong():
    return names_with(2, loc=1158, row=1158)


# %% 5d smallest-of-the-access
# says: Case 2: that loc's index fits; which is the first beyond the buffer?
# asks: Which of the indices used are beyond the last slot?
def first_wrong():
    return names_with(2, loc=784, row=784)


# %% 5d divided-index-k
# says: Case 2: nothing is divided for index-K; which index was used?
# asks: By what is index-K addressed?
# family: M2
def first_wrong():
    return names_with(2, row=219)


# %% 5d later-loc
# says: Case 3: there is a smaller loc that goes wrong in the same operation.
# asks: Which is the smallest loc of that access?
def first_wrong():
    return names_with(3, loc=16, row=16)


# %% 5d smaller-loc
# says: Case 1: that loc was used rightly, or in another operation.
# asks: Which is the smallest loc of that access?
def first_wrong():
    return names_with(1, loc=0)


# %% 5d should-have
# says: Case 1: that is the row it has on its owner; which index was used?
# asks: Where was it stored in fact?
# family: M2
def first_wrong():
    return names_with(1, row=6)


# %% 5d should-have-read
# says: Case 3: that is the row it has on its owner; which index was used?
# asks: Where did the reader look in fact?
def first_wrong():
    return names_with(3, row=7)


# %% 5d row-of-the-buffer
# says: Case 2: the row is the index as it was used, in the buffer's own count.
# asks: Which index was used?
def first_wrong():
    return names_with(2, row=0)


# %% 5d capacity
# says: Case 1: that is C; the buffer has a spare page too.
# asks: What is the spare page for?
# family: M10
def first_wrong():
    return names_with(1, rows_available=810)


# %% 5d capacity-slots
# says: Case 2: that is C; the buffer has a spare page too.
# asks: What is the spare page for?
# family: M10
def first_wrong():
    return names_with(2, rows_available=872)


# %% 5d needed
# says: Case 2: that is what it needs to have; how many places has it got?
# asks: Is that how many there are, or how many there should be?
# family: M10
def first_wrong():
    return names_with(2, rows_available=3504)


# %% 5d last-index
# says: Case 3: that is the last index there is; there is one more place than that.
# asks: With how many places is the last index 902?
def first_wrong():
    return names_with(3, rows_available=902)


# %% 5d pages
# says: Case 1: the number of places is that of this buffer on one rank.
# asks: What does the buffer count, pages or rows?
def first_wrong():
    return names_with(1, rows_available=136)


# %% 5d unfinished
# says: Case 3 is not named yet: rank, row are missing.
# asks: Which of the six names are still None?
def first_wrong():
    return names_with(3, rank=None, row=None)


# %% 5d no-seed
# says: None is no seed: put the number that your cases show.
# asks: Which number stands in the first line of each case?
def first_wrong():
    return None, NAMES


# %% 5d seed-as-text
# says: '36886' is no seed: put the number that your cases show.
# asks: Is your seed a number?
def first_wrong():
    return str(SEED), NAMES


# %% 5d cases-shifted
# says: Case 1: that operation kept to its rule, or another came before it.
# asks: Which case is which?
def first_wrong():
    return SEED, {1: NAMES[2], 2: NAMES[3], 3: NAMES[1]}


# %% 5d one-case
# says: Case 2 is not named yet: buffer, op, rank, loc, row, rows_available are missing.
# asks: How many cases are there?
def first_wrong():
    return SEED, {1: NAMES[1]}


# %% 5d one-answer-for-all
# says: Case 2: that operation kept to its rule, or another came before it.
# asks: Do the three servers have the same fault?
def first_wrong():
    return SEED, {n: NAMES[1] for n in NAMES}


# %% 5d no-pair
# says: The seed is missing: a pair is asked for, the seed and the dict.
# asks: What are the two things that first_wrong returns?
# outcome: crashed
def first_wrong():
    return NAMES


# %% 5e legal-for-used
# says: largest_loc: that is what the allocator may issue; how far did it go?
# asks: How far did this run go?
def incident_record():
    return record_with(largest_loc=2534)


# %% 5e rows-for-watermark
# says: largest_loc: that counts rows; the watermark is a loc that held a token.
# asks: Which number grows as requests are held?
# family: M11
def incident_record():
    return record_with(largest_loc=845)


# %% 5e touched-for-held
# says: largest_loc: that slot was touched, for pages are read to their end.
# asks: Which of the two held a token?
def incident_record():
    return record_with(largest_loc=1124)


# %% 5e used-for-legal
# says: largest_legal_loc: that loc was used; how far may the allocator go?
# asks: What could the allocator still issue?
def incident_record():
    return record_with(largest_legal_loc=1121)


# %% 5e count-for-largest
# says: largest_legal_loc: that is how many there are; they count from 0.
# asks: With 2,535 places, which is the last index?
def incident_record():
    return record_with(largest_legal_loc=2535)


# %% 5e size-for-legal
# says: largest_legal_loc: that is C, in rows of one rank; locs count all ranks.
# asks: How many locs does one row make?
# family: M10
def incident_record():
    return record_with(largest_legal_loc=840)


# %% 5e page-for-first
# says: smallest_loc: page 0 is never issued, and a page of the allocator is P * D locs.
# asks: What is the first loc of page 1?
# family: M10
def incident_record():
    return record_with(smallest_loc=5)


# %% 5e no-spare-page
# says: ckv_rows: that is C without the spare page.
# asks: How many rows does the pool have with its spare page?
# family: M10
def incident_record():
    return record_with(ckv_rows=840)


# %% 5e locs-for-rows
# says: ckv_rows: that counts locs; c-KV has rows of one rank.
# asks: Does one rank hold a row for each loc?
# family: M10
def incident_record():
    return record_with(ckv_rows=2535)


# %% 5e rows-for-highest
# says: ckv_highest: that is how many rows there are; up to which one was written?
# asks: How far was c-KV written?
def incident_record():
    return record_with(ckv_highest=845)


# %% 5e slots-needed
# says: index_k_slots: that is what it needs; how many slots had it got?
# asks: What had this server got?
# family: M10
def incident_record():
    return record_with(index_k_slots=2535)


# %% 5e slots-had
# says: index_k_needed: that is what it had; how many does every legal loc need?
# asks: What does every legal loc need?
# family: M10
def incident_record():
    return record_with(index_k_needed=845)


# %% 5e needed-one-short
# says: index_k_needed: a largest index of n needs n + 1 places.
# asks: Locs 0 to n need how many places?
def incident_record():
    return record_with(index_k_needed=2534)


# %% 5e legal-for-highest
# says: index_k_highest: that loc is legal; how far was it used?
# asks: Which slot was the last that was used?
def incident_record():
    return record_with(index_k_highest=2534)


# %% 5e outside-for-wrong
# says: first_wrong_step: its index left the buffer; one was wrong long before.
# asks: Was everything right before the first overflow?
# family: M1
def incident_record():
    return record_with(first_wrong_step=14)


# %% 5e outside-index-for-wrong
# says: first_wrong_index: it is the first outside; one inside was wrong before.
# asks: Which index was the first in a wrong space?
# family: M1
def incident_record():
    return record_with(first_wrong_index=845)


# %% 5e wrong-for-outside
# says: first_outside_step: that step used a wrong space, but inside the buffer.
# asks: Was that index beyond the buffer's end?
def incident_record():
    return record_with(first_outside_step=1)


# %% 5e wrong-index-for-outside
# says: first_outside_index: that index is in a wrong space, but inside the buffer.
# asks: Which is the first index that the buffer has not got?
def incident_record():
    return record_with(first_outside_index=15)


# %% 5e last-for-first-outside
# says: first_outside_index: that is the last one outside; which was the first?
# asks: Which one came first?
def incident_record():
    return record_with(first_outside_index=1121)


# %% 5e reader-first
# says: first_wrong_op is not what the run shows.
# asks: Who was there before the first read?
def incident_record():
    return record_with(first_wrong_op="sparse_mla_decode")


# %% 5e last-layer-first
# says: first_wrong_buffer is not what the run shows.
# asks: Which layer comes first in a step?
def incident_record():
    return record_with(first_wrong_buffer="ckv.2")


# %% 5e decode-first
# says: first_wrong_phase is not what the run shows.
# asks: In which phase is a prompt written?
def incident_record():
    return record_with(first_wrong_phase="decode")


# %% 5e one-rank
# says: bytes_outside: that is one rank; all of them wrote.
# asks: How many ranks wrote the same?
def incident_record():
    return record_with(bytes_outside=946764)


# %% 5e places
# says: bytes_outside: that counts places; each place has its bytes.
# asks: How many bytes has a place in each of the buffers?
def incident_record():
    return record_with(bytes_outside=4914)


# %% 5e no-canary
# says: canaries_changed is not what the run shows.
# asks: Which bands does the run list?
def incident_record():
    return record_with(canaries_changed=0)


# %% 5e missing-patches
# says: patches: those are missing; this line is for the patches that are in force.
# asks: Which patches did this server have?
def incident_record():
    return record_with(patches="index_k_size, ckv_write, read, extend, assert")


# %% 5e still-right
# says: verdict: the fresh server was right; what did it come to in the end?
# asks: How did the story end?
def incident_record():
    return record_with(verdict="right")


# %% 5e crashed
# says: verdict is not what the run shows.
# asks: Was there an error?
def incident_record():
    return record_with(verdict="crash")


# %% 5e all-fresh-wrong
# says: fresh is not what the run shows.
# asks: What did the server answer when it was fresh?
def incident_record():
    return record_with(fresh="0/3")


# %% 5e again-fixed
# says: again: that is with every patch; this line is for the unpatched server.
# asks: Whose answers are these?
def incident_record():
    return record_with(again="3/3")


# %% 5e long-fixed
# says: long: that is with every patch; this line is for the unpatched server.
# asks: Whose answers are these?
def incident_record():
    return record_with(long="2/2")


# %% 5e fixed-not-fixed
# says: fixed_long: that is unpatched; this line is for the server with every patch.
# asks: Which server is this line for?
def incident_record():
    return record_with(fixed_long="0/2")


# %% 5e expected-answer
# says: first_wrong_answer is not what the run shows.
# asks: What did the server say?
def incident_record():
    return record_with(first_wrong_answer="silver0 harp0 beneath0 snow0")


# %% 5e other-d
# says: dcp_size is not what the run shows.
# asks: How many ranks has your server?
def incident_record():
    return record_with(dcp_size=8)


# %% 5e report-c
# says: size is not what the run shows.
# asks: How many rows has your server?
def incident_record():
    return record_with(size=455744)


# %% 5e bits
# says: ckv_dtype is not what the run shows.
# asks: What type has a c-KV row?
def incident_record():
    return record_with(ckv_dtype="float8_e4m3fn")


# %% 5e on-a-gpu
# says: device is not what the run shows.
# asks: Where did this run?
def incident_record():
    return record_with(device="cuda")


# %% 5e layers-of-the-report
# says: dsa_layers is not what the run shows.
# asks: How many layers has this model?
def incident_record():
    return record_with(dsa_layers=11)


# %% 5e no-cache
# says: tokens_cached is not what the run shows.
# asks: What came from the prefix cache when the questions were asked again?
def incident_record():
    return record_with(tokens_cached=0)


# %% 5e all-tokens
# says: tokens_extended is not what the run shows.
# asks: Were the tokens of the cache brought by prompts again?
def incident_record():
    return record_with(tokens_extended=1254)


# %% 5e not-filled
# says: steps is not filled in. What is asked for: steps the server made.
# asks: Which lines of the record are empty?
def incident_record():
    return record_with(steps="")


# %% 5e template
# says: dcplab is not filled in. What is asked for: the version of this course.
# asks: What belongs before the #?
def incident_record():
    lines = [line.partition(":")[0] + ":" if ":" in line else line for line in RECORD.split("\n")]
    return SEED, "\n".join(lines)


# %% 5e no-seed
# says: None is no seed: put the number that your cases show.
# asks: Which number do your cases show?
def incident_record():
    return None, RECORD


# %% 5e a-dict
# says: The record is a dict; it is a text, as the template is.
# asks: What is a record, as the template shows it?
def incident_record():
    lines = (line.split(":", 1) for line in RECORD.split("\n") if ":" in line)
    return SEED, {key: value.strip() for key, value in lines}


# %% 5e prose
# says: Line 1 of the record, 'The server was wrong.', is not of the form 'key: value'.
# asks: How does a line of the record look?
def incident_record():
    return SEED, "The server was wrong."


# %% 5e text-alone
# says: The seed is missing: a pair is asked for, the seed and the text.
# asks: What are the two things that incident_record returns?
# outcome: crashed
def incident_record():
    return RECORD
