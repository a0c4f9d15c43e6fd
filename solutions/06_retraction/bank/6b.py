# Answers to 6b: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 6b plain
# outcome: passed
def backup(pool, locs, dcp_rank, span):
    mine = locs >= 0
    if span > 1:
        mine = mine & (locs % span == dcp_rank)
    return pool[locs[mine] // span].clone().cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    mine = new_locs >= 0
    if span > 1:
        mine = mine & (new_locs % span == dcp_rank)
    rows = new_locs[mine] // span
    if rows.shape[0] != saved.shape[0]:
        raise ValueError("the counts differ")
    pool.index_copy_(0, rows.long(), saved.to(pool.device))

# %% 6b loops
# outcome: passed
def backup(pool, locs, dcp_rank, span):
    rows = [loc // span for loc in locs.tolist() if loc >= 0 and (span == 1 or loc % span == dcp_rank)]
    return torch.stack([pool[row] for row in rows]).cpu() if rows else pool[:0].clone().cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    rows = [loc // span for loc in new_locs.tolist() if loc >= 0 and (span == 1 or loc % span == dcp_rank)]
    if len(rows) != len(saved):
        raise ValueError(f"{len(saved)} saved, {len(rows)} wanted")
    for row, values in zip(rows, saved):
        pool[row] = values

# %% 6b raw
# says: Locs are used as rows: in range it saves strangers, out of range it crashes.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M1
# outcome: crashed
def backup(pool, locs, dcp_rank, span):
    return pool[locs[locs >= 0]].cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    rows = new_locs[new_locs >= 0]
    if len(rows) != len(saved):
        raise ValueError("the counts differ")
    pool[rows] = saved

# %% 6b no-divide
# says: This rank's tokens, each at its loc and not its row.
# asks: In which row does rank 1 of four keep loc 33?
# family: M2
# outcome: crashed
# from: plain
- return pool[locs[mine] // span].clone().cpu()
+ return pool[locs[mine]].clone().cpu()

- rows = new_locs[mine] // span
+ rows = new_locs[mine]

# %% 6b no-owner
# says: No owner was chosen: each row stands D times, once for each rank's token.
# asks: How many of eight locs are one of four ranks'?
# family: M3
def backup(pool, locs, dcp_rank, span):
    return pool[locs[locs >= 0] // span].cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    rows = new_locs[new_locs >= 0] // span
    if len(rows) != len(saved):
        raise ValueError("the counts differ")
    pool[rows] = saved

# %% 6b backup-raw
# says: The way back translates, the way out takes locs for rows.
# asks: Which of your two functions was given locs?
# family: M1
# outcome: crashed
# from: plain
- return pool[locs[mine] // span].clone().cpu()
+ return pool[locs[locs >= 0]].clone().cpu()

# %% 6b restore-undivided
# says: The way out divides, the way back writes at the locs themselves.
# asks: In which row does rank 1 of four put loc 81?
# family: M2
# outcome: crashed
# from: plain
- rows = new_locs[mine] // span
+ rows = new_locs[mine]

# %% 6b view
# says: Every D-th entry: right only for a run that begins at owner 0.
# asks: Whose is entry 0 of a run that begins in the middle of a turn?
# family: M5
# from: plain
- return pool[locs[mine] // span].clone().cpu()
+ return pool[locs[dcp_rank % span :: span] // span].clone().cpu()

- rows = new_locs[mine] // span
+ rows = new_locs[dcp_rank % span :: span] // span

# %% 6b rank-at-span-one
# says: At span 1 the ids are rows, whoever asks: the rank plays no part.
# asks: What is 7 % 1, and can it equal rank 2?
# from: plain
  mine = locs >= 0
- if span > 1:
-     mine = mine & (locs % span == dcp_rank)
+ mine = mine & (locs % span == dcp_rank)

  mine = new_locs >= 0
- if span > 1:
-     mine = mine & (new_locs % span == dcp_rank)
+ mine = mine & (new_locs % span == dcp_rank)

# %% 6b padding
# says: Padding is a token of rank D-1 here: -1 % D is D-1.
# asks: Which row of a tensor is row -1?
# family: M8
# from: plain
- mine = locs >= 0
+ mine = locs > -2

- mine = new_locs >= 0
+ mine = new_locs > -2

# %% 6b padding-restore
# says: Padding is written on rank D-1, to the pool's last row.
# asks: Which row of a tensor is row -1?
# family: M8
# outcome: crashed
# from: plain
- mine = new_locs >= 0
+ mine = new_locs > -2

# %% 6b zero-dropped
# says: Loc 0 is taken for padding: for a pool it is a loc like any other.
# asks: Which ids are padding?
# from: plain
- mine = locs >= 0
+ mine = locs > 0

- mine = new_locs >= 0
+ mine = new_locs > 0

# %% 6b swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
def backup(pool, locs, dcp_rank, span):
    if span == 1:
        return pool[locs[locs >= 0]].cpu()
    return pool[locs[(locs >= 0) & (locs // span == dcp_rank)] % span].cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    rows = new_locs[new_locs >= 0] if span == 1 else new_locs[(new_locs >= 0) & (new_locs // span == dcp_rank)] % span
    if len(rows) != len(saved):
        raise ValueError("the counts differ")
    pool[rows] = saved

# %% 6b twice
# says: Divided twice: what was divided by the span is a row already.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
# from: plain
- return pool[locs[mine] // span].clone().cpu()
+ return pool[locs[mine] // span // span].clone().cpu()

- rows = new_locs[mine] // span
+ rows = new_locs[mine] // span // span

# %% 6b one-row-spread
# says: No count is checked: one saved row was spread over all places.
# asks: What does pool[rows] = saved do where saved has one row?
# from: plain
- if rows.shape[0] != saved.shape[0]:
-     raise ValueError("the counts differ")
- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ pool[rows] = saved.to(pool.device)

# %% 6b cut-to-fit
# says: What does not fit is cut off in silence: ValueError is asked for.
# asks: Two rows have room and three were saved. Whose is the third?
# from: plain
- if rows.shape[0] != saved.shape[0]:
-     raise ValueError("the counts differ")
- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ n = min(len(rows), len(saved))
+ pool[rows[:n]] = saved[:n].to(pool.device)

# %% 6b counts-locs
# says: Saved rows are counted against all locs, and other ranks have theirs.
# asks: How many of six locs are one rank's, when D is 3?
# outcome: crashed
# from: plain
- if rows.shape[0] != saved.shape[0]:
+ if new_locs.shape[0] != saved.shape[0]:

# %% 6b too-few-only
# says: Only too many saved rows raise; too few pass, or are spread.
# asks: What becomes of the places for which nothing was saved?
# from: plain
- if rows.shape[0] != saved.shape[0]:
+ if rows.shape[0] < saved.shape[0]:

- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ pool[rows[: len(saved)]] = saved.to(pool.device)

# %% 6b writes-first
# says: ValueError came after the pool was written: check first, then write.
# asks: Whose rows are lost when you raise too late?
# outcome: unsafe
# from: plain
- if rows.shape[0] != saved.shape[0]:
-     raise ValueError("the counts differ")
- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ n = min(len(rows), len(saved))
+ pool[rows[:n]] = saved[:n].to(pool.device)
+ if rows.shape[0] != saved.shape[0]:
+     raise ValueError("the counts differ")

# %% 6b indexed-copy
# says: pool[rows] is a new tensor, and that one was written.
# asks: What does indexing with a tensor return: a view, or a copy?
# from: plain
- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ pool[rows].copy_(saved.to(pool.device))

# %% 6b reversed
# says: The rows come back last first: saved is in the order of the locs.
# asks: To which loc does the first saved row belong?
# family: M14
# from: plain
- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ pool.index_copy_(0, rows.long(), saved.flip(0).to(pool.device))

# %% 6b sorted
# says: The rows are sorted: they must stay in the order of the tokens.
# asks: Must a later token have a larger loc?
# family: M14
# from: plain
- return pool[locs[mine] // span].clone().cpu()
+ return pool[(locs[mine] // span).sort().values].clone().cpu()

- rows = new_locs[mine] // span
+ rows = (new_locs[mine] // span).sort().values

# %% 6b restore-sorted
# says: Saved in the order of tokens, written back in the order of rows.
# asks: To which loc does the first saved row belong?
# family: M14
# from: plain
- rows = new_locs[mine] // span
+ rows = (new_locs[mine] // span).sort().values

# %% 6b from-the-first-row
# says: Restored to one run of rows from the first: the pages are not adjacent.
# asks: Is the row after page 3's last one page 9's first?
# from: plain
- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ if len(rows):
+     pool[int(rows[0]) : int(rows[0]) + len(rows)] = saved.to(pool.device)

# %% 6b by-place
# says: The owner was taken from the place in the list, not from the loc.
# asks: Is entry 0 of every list rank 0's?
# family: M5
def backup(pool, locs, dcp_rank, span):
    turn = torch.arange(len(locs), device=locs.device) % span
    mine = (locs >= 0) & (turn == dcp_rank % span)
    return pool[locs[mine] // span].cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    turn = torch.arange(len(new_locs), device=new_locs.device) % span
    mine = (new_locs >= 0) & (turn == dcp_rank % span)
    rows = new_locs[mine] // span
    if len(rows) != len(saved):
        raise ValueError("the counts differ")
    pool[rows] = saved.to(pool.device)

# %% 6b float
# says: The row goes through a float, which loses large numbers.
# asks: Which division never leaves the integers?
# from: plain
- return pool[locs[mine] // span].clone().cpu()
+ return pool[(locs[mine] / span).long()].clone().cpu()

# %% 6b holes
# says: Others' tokens stand there as rows too: k counts this rank's only.
# asks: How many rows did this rank hold of the request?
# family: M9
def backup(pool, locs, dcp_rank, span):
    mine = (locs >= 0) & (locs % span == dcp_rank % span)
    return pool[torch.where(mine, locs // span, 0)].cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    mine = (new_locs >= 0) & (new_locs % span == dcp_rank % span)
    if len(saved) != len(new_locs):
        raise ValueError("the counts differ")
    pool[new_locs[mine] // span] = saved[mine].to(pool.device)

# %% 6b always-divides-by-two
# says: The span is not asked: it is a number of the pool, not of the code.
# asks: What is the span of the unified pool?
# outcome: crashed
def backup(pool, locs, dcp_rank, span):
    mine = (locs >= 0) & (locs % 2 == dcp_rank % 2)
    return pool[locs[mine] // 2].cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    mine = (new_locs >= 0) & (new_locs % 2 == dcp_rank % 2)
    rows = new_locs[mine] // 2
    if len(rows) != len(saved):
        raise ValueError("the counts differ")
    pool[rows] = saved.to(pool.device)

# %% 6b remembers-rows
# says: It restores to the rows of the backup: the locs changed meanwhile.
# asks: Who holds last night's rows now?
# outcome: crashed
_rows = {}

def backup(pool, locs, dcp_rank, span):
    mine = (locs >= 0) & (locs % span == dcp_rank % span)
    _rows[dcp_rank] = locs[mine] // span
    return pool[_rows[dcp_rank]].cpu()

def restore(pool, saved, new_locs, dcp_rank, span):
    rows = _rows.get(dcp_rank, new_locs[:0])
    if len(rows) != len(saved):
        raise ValueError("the counts differ")
    pool[rows] = saved.to(pool.device)

# %% 6b zeroes-the-source
# says: backup empties the rows it read: it must change nothing.
# asks: Who may still read these rows, through a shared prefix?
# outcome: unsafe
# from: plain
- return pool[locs[mine] // span].clone().cpu()
+ saved = pool[locs[mine] // span].clone().cpu()
+ pool[locs[mine] // span] = 0
+ return saved

# %% 6b too-many-only
# says: Too few saved rows raise, and what is too much is cut off in silence.
# asks: Whose are the rows that found no place?
# from: plain
- if rows.shape[0] != saved.shape[0]:
+ if rows.shape[0] > saved.shape[0]:

- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ pool.index_copy_(0, rows.long(), saved[: rows.shape[0]].to(pool.device))

# %% 6b torch-counts
# says: Torch is left to count: one saved row it spreads over all places.
# asks: What does pool[rows] = saved do if saved has one row?
# from: plain
- if rows.shape[0] != saved.shape[0]:
-     raise ValueError("the counts differ")
- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ try:
+     pool[rows.long()] = saved.to(pool.device)
+ except (RuntimeError, IndexError) as error:
+     raise ValueError("the counts differ") from error

# %% 6b counts-locs-and-sets
# says: Saved rows are counted against all locs, and other ranks have theirs.
# asks: How many of six locs are one rank's, when D is 3?
# outcome: crashed
# from: plain
- if rows.shape[0] != saved.shape[0]:
+ if new_locs.shape[0] != saved.shape[0]:

- pool.index_copy_(0, rows.long(), saved.to(pool.device))
+ pool[rows.long()] = saved.to(pool.device)
