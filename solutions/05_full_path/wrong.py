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


# %% 5a owned-to-writer
# says: Locs were made rows before the write, and the writer makes rows of them again.
# asks: What does the writer do with the number that you give it?
# family: M6
def decode_path(step):
    locs = step.batch.out_locs
    parts = []
    for rank in step.ranks:
        mine = locs % rank.dcp_size == rank.rank
        rank.write_ckv(torch.where(mine, locs // rank.dcp_size, -1))
        rank.write_index_k(locs)
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
    whole = step.all_gather([out * (rank.rank + 1) for rank, out in zip(step.ranks, outs)]).sum(0) - outs[0] * 2
    return [whole] * len(outs)


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
