# Answers to 5a: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 5a plain
# outcome: passed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)

# %% 5a no-localize
# says: Attention takes rows of this rank; it is given locs, undivided and of all ranks.
# asks: At which row of which rank does the writer put loc 10 of two ranks?
# family: M1
# from: solution
- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ parts.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))))

# %% 5a unpatched
# says: This is the unpatched server: locs are rows, for writer and reader alike.
# asks: How many ranks hold one token now, and where does a loc past C + P go?
# family: M1
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc, raw=True)
        rank.write_index_k(step.batch.out_cache_loc)
        parts.append(rank.attend(*rank.as_rows(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)

# %% 5a raw-write
# says: The write is raw and the read localized: half a fix, wrong at any watermark.
# asks: Into which row does raw=True write loc 10?
# family: M1
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)
+ rank.write_ckv(step.batch.out_cache_loc, raw=True)

# %% 5a rows-to-writer
# says: The c-KV writer takes locs and divides by itself; what you gave was divided.
# asks: What does the writer do with the number that you give it?
# family: M6
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)
+ rank.write_ckv(step.batch.out_cache_loc // rank.dcp_size)

# %% 5a owned-rows-to-writer
# says: The c-KV writer keeps this rank's locs and divides them; yours did both before.
# asks: What does the writer do with the numbers that you give it?
# outcome: crashed
# family: M6
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)
+ locs = step.batch.out_cache_loc
+ rank.write_ckv(locs[locs % rank.dcp_size == rank.rank] // rank.dcp_size)

# %% 5a localized-rows-to-writer
# says: The c-KV writer takes locs and divides by itself; rows are divided twice.
# asks: What does the writer do with the numbers that you give it?
# family: M6
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)
+ locs = step.batch.out_cache_loc
+ rank.write_ckv(rank.localize(locs[:, None])[0][:, 0])

# %% 5a rows-raw
# says: A raw write takes rows, but locs of other ranks were divided into them too.
# asks: How many of D neighbouring locs may write into one row of this rank?
# family: M3
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)
+ rank.write_ckv(step.batch.out_cache_loc // rank.dcp_size, raw=True)

# %% 5a index-k-by-rows
# says: index-K is whole on every rank and written at the loc; it was given rows.
# asks: Who finds the key of loc 10 again, and at which slot do they look?
# family: M7
# from: plain
- rank.write_index_k(step.batch.out_cache_loc)
+ rank.write_index_k(step.batch.out_cache_loc // rank.dcp_size)

# %% 5a index-k-of-owner
# says: Each rank stored the index keys of its own locs only; top-k needs all of them.
# asks: How does rank 0 find a token whose c-KV lies on rank 1?
# family: M7
# from: plain
  def decode_path(step):
+     locs = step.batch.out_cache_loc

- rank.write_ckv(step.batch.out_cache_loc)
- rank.write_index_k(step.batch.out_cache_loc)
+ rank.write_ckv(locs)
+ rank.write_index_k(torch.where(locs % rank.dcp_size == rank.rank, locs, -1))

# %% 5a index-k-of-owner-filtered
# says: A write takes all locs of the step, one for each of its tokens, on every rank.
# asks: How does rank 0 find a token whose c-KV lies on rank 1?
# family: M7
# outcome: crashed
# from: plain
  def decode_path(step):
+     locs = step.batch.out_cache_loc

- rank.write_ckv(step.batch.out_cache_loc)
- rank.write_index_k(step.batch.out_cache_loc)
+ rank.write_ckv(locs)
+ rank.write_index_k(locs[locs % rank.dcp_size == rank.rank])

# %% 5a index-k-localized
# says: index-K was localized as c-KV is: it is whole on every rank, and read by loc.
# asks: Which of the two pools does every rank keep all of?
# family: M7
# from: plain
  def decode_path(step):
+     locs = step.batch.out_cache_loc

- rank.write_ckv(step.batch.out_cache_loc)
- rank.write_index_k(step.batch.out_cache_loc)
+ rank.write_ckv(locs)
+ rank.write_index_k(torch.where(locs % rank.dcp_size == rank.rank, locs // rank.dcp_size, -1))

# %% 5a index-k-of-rank-0
# says: Only rank 0 stored the new index keys; the others select without them.
# asks: On how many ranks does index-K lie?
# family: M7
# from: plain
  def decode_path(step):
+     step.ranks[0].write_index_k(step.batch.out_cache_loc)

- rank.write_index_k(step.batch.out_cache_loc)

# %% 5a no-index-k
# says: The new tokens never get an index key: no later query can find them.
# asks: By what does top-k find the token of the step before?
# from: plain
- rank.write_index_k(step.batch.out_cache_loc)

# %% 5a no-write
# says: The new tokens' c-KV is never written: later queries read an empty row.
# asks: Where does the c-KV of the token of this step go?
# from: plain
- rank.write_ckv(step.batch.out_cache_loc)

# %% 5a write-on-rank-0
# says: Only rank 0 writes its c-KV; tokens that other ranks own are lost.
# asks: Who writes the token whose loc belongs to rank 1?
# from: plain
  def decode_path(step):
+     step.ranks[0].write_ckv(step.batch.out_cache_loc)

- rank.write_ckv(step.batch.out_cache_loc)

# %% 5a positions-localized
# says: Positions were localized as if they were locs; the table lookup is missing.
# asks: Which page of the pool does position 0 of a request lie in?
# family: M15
# from: solution
- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
+ rows, counts = rank.localize(rank.select_paged())

# %% 5a localize-first
# says: Localized before the lookup: rows of positions were looked up as positions.
# asks: What does to_locs look up, and is a row such a thing?
# family: M15
# from: solution
- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ rows, counts = rank.localize(rank.select_paged())
+ parts.append(rank.attend(rank.to_locs(rows), counts))

# %% 5a positions-as-rows
# says: Attention is given positions: neither the table nor the owner was asked.
# asks: What do position 0 of two requests have in common?
# family: M15
# from: solution
- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ positions = rank.select_paged()
+ parts.append(rank.attend(positions, (positions >= 0).sum(-1)))

# %% 5a ragged
# says: RAGGED is extend's transform: it points into a workspace that is not here.
# asks: Which buffer holds what a decode step reads?
# family: M15
# from: solution
- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
+ rows, counts = rank.localize(rank.to_ragged(rank.select_paged()))

# %% 5a workspace
# says: Decode reads the workspace, where only the last extend left something.
# asks: Who filled the workspace, and with what, when this step began?
def decode_path(step):
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_paged())))
    return outs

# %% 5a select-ragged
# says: A decode batch has no flat list of locs: select_ragged belongs to extend.
# asks: Which of the two selections reads index-K page by page?
# outcome: crashed
# from: solution
- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
+ rows, counts = rank.localize(rank.to_locs(rank.select_ragged()))

# %% 5a localized-twice
# says: Localized twice: rows were taken for locs and divided again.
# asks: What does localize expect, and what has it given you?
# family: M6
# from: solution
- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
+ rows, _ = rank.localize(rank.to_locs(rank.select_paged()))
+ rows, counts = rank.localize(rows)

# %% 5a no-owner
# says: Divided, but no owner chosen: each rank reads its row for every selected loc.
# asks: Whose token lies in row 5 of rank 0, and whose in row 5 of rank 1?
# family: M3
# from: solution
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ rows = torch.where(locs >= 0, locs // rank.dcp_size, -1)
+ parts.append(rank.attend(rows, (rows >= 0).sum(-1)))

# %% 5a no-divide
# says: The owner is chosen, but its locs are not divided: rows are D times fewer.
# asks: At which row does its owner keep loc 10 of two ranks?
# family: M2
# from: solution
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ rows = torch.where(locs % rank.dcp_size == rank.rank, locs, -1)
+ parts.append(rank.attend(rows, rows.new_full((len(rows),), rows.shape[1])))

# %% 5a swapped
# says: Owner and row are swapped: the quotient was asked for the rank.
# asks: Which of loc % D and loc // D goes from 0 to D - 1?
# family: M4
# from: solution
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ rows = torch.where(locs // rank.dcp_size == rank.rank, locs % rank.dcp_size, -1)
+ parts.append(rank.attend(rows, rows.new_full((len(rows),), rows.shape[1])))

# %% 5a next-rank
# says: Each rank reads the rows that its neighbour owns.
# asks: With two ranks, who owns loc 11?
# family: M4
# from: solution
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ mine = (locs >= 0) & ((locs + 1) % rank.dcp_size == rank.rank)
+ rows = torch.where(mine, locs // rank.dcp_size, -1)
+ parts.append(rank.attend(rows, rows.new_full((len(rows),), rows.shape[1])))

# %% 5a rank-0-rows
# says: Every rank attends to the rows of rank 0's locs.
# asks: Does rank 1 own the same locs as rank 0?
def decode_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
    first = step.ranks[0]
    rows, counts = first.localize(first.to_locs(first.select_paged()))
    return step.merge([rank.attend(rows, counts) for rank in step.ranks])

# %% 5a pages-owned
# says: Ranks take turns loc by loc; here they own whole pages.
# asks: Who owns loc 9, and who loc 10, with two ranks?
# family: M5
# from: solution
  for rank in step.ranks:
+     page = step.shared.config.page_size

- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ mine = (locs >= 0) & (locs // page % rank.dcp_size == rank.rank)
+ rows = torch.where(mine, locs // (page * rank.dcp_size) * page + locs % page, -1)
+ parts.append(rank.attend(rows, rows.new_full((len(rows),), rows.shape[1])))

# %% 5a holes-counted
# says: Rows with holes, and the count of owned ones: what lies behind it is not read.
# asks: Where in its list are the owned rows, if nobody moved them to the front?
# from: solution
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ mine = (locs >= 0) & (locs % rank.dcp_size == rank.rank)
+ rows = torch.where(mine, locs // rank.dcp_size, -1)
+ parts.append(rank.attend(rows, mine.sum(-1)))

# %% 5a counts-divided
# says: The counts are this rank's already; divided by D again, most keys are not read.
# asks: What is the sum of the counts over all ranks?
# family: M6
# from: plain
- parts.append(rank.attend(rows, counts))
+ parts.append(rank.attend(rows, counts // rank.dcp_size))

# %% 5a zero-for-missing
# says: What another rank owns was sent to row 0, and row 0 is read for it.
# asks: What stands in row 0, and may anybody attend to it?
# family: M9
# from: solution
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ mine = (locs >= 0) & (locs % rank.dcp_size == rank.rank)
+ rows = torch.where(mine, locs // rank.dcp_size, 0)
+ parts.append(rank.attend(rows, rows.new_full((len(rows),), rows.shape[1])))

# %% 5a no-merge
# says: Each rank keeps its own partial attention: nothing is merged.
# asks: Which keys has rank 0 seen, and which has it not?
# family: M13
# from: plain
- return step.merge(parts)
+ return [out for out, _ in parts]

# %% 5a mean
# says: Outputs are averaged; a rank must weigh what its keys weigh, which its LSE says.
# asks: What should a rank that holds no key add to the result?
# family: M13
# from: plain
- return step.merge(parts)
+ out = step.all_gather([out for out, _ in parts]).mean(0)
+ return [out] * len(parts)

# %% 5a sum
# says: Outputs are added as if they were parts of a sum; each is an average of its own.
# asks: What does attention over one key give, and over the same key on two ranks?
# family: M13
# from: plain
- return step.merge(parts)
+ out = step.all_gather([out for out, _ in parts]).sum(0)
+ return [out] * len(parts)

# %% 5a first-rank
# says: Rank 0's partial attention is given to all: the keys of the others are lost.
# asks: Which share of the keys does rank 0 hold?
# family: M13
# from: plain
- return step.merge(parts)
+ return [parts[0][0]] * len(parts)

# %% 5a by-count
# says: Ranks are weighed by how many keys they hold; one key may outweigh all others.
# asks: What does the LSE of a rank know that its count does not?
# family: M13
# from: plain
- parts = []
+ parts, held = [], []

- return step.merge(parts)
+     held.append(counts)
+ share = torch.stack(held) / torch.stack(held).sum(0)
+ out = (torch.stack([out for out, _ in parts]) * share[:, :, None, None]).sum(0)
+ return [out] * len(parts)

# %% 5a last-part
# says: The list is made anew for each rank, so only the last rank is merged.
# asks: How long is the list that goes into merge?
# from: plain
- parts = []

  for rank in step.ranks:
+     parts = []

- return step.merge(parts)
+ return step.merge(parts * len(step.ranks))

# %% 5a write-last
# says: The write comes after the read: a token is not there when its own step reads it.
# asks: Which tokens may the query of this step attend to?
# from: solution
  for rank in step.ranks:
+     rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
+     parts.append(rank.attend(rows, counts))
+ for rank in step.ranks:

- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))

# %% 5a no-return
# says: The path computes and returns nothing.
# asks: What does the next layer get?
# outcome: crashed
# from: plain
- return step.merge(parts)
+ step.merge(parts)

# %% 5a parts-returned
# says: Pairs of output and LSE are returned, not the merged output of each rank.
# asks: What does step.merge make of the pairs?
# outcome: crashed
# from: plain
- return step.merge(parts)
+ return parts

# %% 5a one-output
# says: One output for all ranks; each rank needs its own entry in the list.
# asks: How many ranks does step.ranks have?
# outcome: crashed
# from: plain
- return step.merge(parts)
+ return step.merge(parts)[0]

# %% 5a merge-in-the-loop
# says: Merged inside the loop, when only some ranks have attended.
# asks: How many partial results exist when the first rank is done?
# outcome: crashed
# from: plain
- return step.merge(parts)
+     return step.merge(parts) * 1 if len(step.ranks) == 1 else [step.merge(parts)[0]]

# %% 5a pair-as-rows
# says: localize gives a pair, rows and counts; attend needs both, one after the other.
# asks: What does attend take?
# outcome: crashed
# from: solution
- locs = rank.to_locs(rank.select_paged())
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ parts.append(rank.attend(rank.localize(rank.to_locs(rank.select_paged()))))

# %% 5a select-before-write
# says: A rank reads before the tokens of the step are stored: both writes come first.
# asks: What does a step store, and which operations read it?
def decode_path(step):
    picked = [rank.select_paged() for rank in step.ranks]
    parts = []
    for rank, chosen in zip(step.ranks, picked):
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        parts.append(rank.attend(*rank.localize(rank.to_locs(chosen))))
    return step.merge(parts)

# %% 5a writes-first
# outcome: passed
def decode_path(step):
    for rank in step.ranks:
        rank.write_index_k(step.batch.out_cache_loc)
        rank.write_ckv(step.batch.out_cache_loc)
    return step.merge([rank.attend(*rank.localize(rank.to_locs(rank.select_paged()))) for rank in step.ranks])

# %% 5a selected-once
# outcome: passed
def decode_path(step):
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
    first = step.ranks[0]
    locs = first.to_locs(first.select_paged())  # index-K is the same on all ranks
    return step.merge([rank.attend(*rank.localize(locs)) for rank in step.ranks])

# %% 5a holes
# outcome: passed
# from: solution
- rows, counts = rank.localize(locs)
- parts.append(rank.attend(rows, counts))
+ mine = (locs >= 0) & (locs % rank.dcp_size == rank.rank)
+ rows = torch.where(mine, locs // rank.dcp_size, -1)
+ parts.append(rank.attend(rows, torch.full((len(rows),), rows.shape[1], dtype=torch.int32, device=rows.device)))

# %% 5a own-merge
# outcome: passed
def decode_path(step):
    outs, lses = [], []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
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
# outcome: passed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        locs = step.batch.out_cache_loc
        mine = locs % rank.dcp_size == rank.rank
        rank.write_ckv(torch.where(mine, locs // rank.dcp_size, -1), raw=True)
        rank.write_index_k(locs)
        parts.append(rank.attend(*rank.localize(rank.to_locs(rank.select_paged()))))
    return step.merge(parts)

# %% 5a helper
# outcome: passed
def keys_of(rank, batch):
    rank.write_ckv(batch.out_cache_loc)
    rank.write_index_k(batch.out_cache_loc)
    return rank.localize(rank.to_locs(rank.select_paged()))

def decode_path(step):
    found = [(rank, *keys_of(rank, step.batch)) for rank in step.ranks]
    return step.merge([rank.attend(rows, counts) for rank, rows, counts in found])

# %% 5a counts-of-rows
# outcome: passed
def decode_path(step):
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rows, _ = rank.localize(rank.to_locs(rank.select_paged()))
        parts.append(rank.attend(rows, (rows >= 0).sum(-1).to(torch.int32)))
    return tuple(step.merge(parts))

# %% 5a engine-s-own-monitor
# outcome: passed
# from: plain
- parts = []
+ parts, held = [], []

- rows, counts = rank.localize(rank.to_locs(rank.select_paged()))
+ positions = rank.select_paged()
+ rows, counts = rank.localize(rank.to_locs(positions))

      parts.append(rank.attend(rows, counts))
+     held.append(counts)
+ step.count(positions, held)
