# Answers to 3b: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 3b raw
# says: Every rank writes every token to the row with the loc's number: no owner.
# asks: If all ranks keep all tokens, what did sharding save?
# family: M1
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    kv[locs] = src

# %% 3b raw-guarded
# says: Every rank writes every token, padding aside: nothing selected an owner.
# asks: If all ranks keep all tokens, what did sharding save?
# family: M1
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    here = locs >= 0
    kv[locs[here]] = src[here]

# %% 3b no-divide
# says: Filtered, but not divided: the right tokens, each at its loc and not its row.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine]] = src[mine]

# %% 3b no-divide-no-sign
# says: Filtered, not divided, and -1 is rank D-1's last row.
# asks: Which row of a tensor is row -1?
# family: M2
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = locs % dcp_size == dcp_rank
    kv[locs[mine]] = src[mine]

# %% 3b no-filter
# says: D different tokens were written to one row: nothing selected an owner.
# asks: Which tokens of locs 8, 9, 10, 11 should rank 1 of 4 store?
# family: M3
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    here = locs >= 0
    kv[locs[here] // dcp_size] = src[here]

# %% 3b no-filter-no-sign
# says: Nothing selected an owner, and padding went to row -1, the last.
# asks: Which row of a tensor is row -1?
# family: M3
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    kv[locs // dcp_size] = src

# %% 3b rank-subtracted
# says: You took the rank off the loc and did not divide by the ranks.
# asks: Loc 9 of four ranks is in row 2. What is 9 - 1?
# family: M2
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] - dcp_rank] = src[mine]

# %% 3b swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs // dcp_size == dcp_rank)
    kv[locs[mine] % dcp_size] = src[mine]

# %% 3b one-row
# says: The remainder is the owner, not the row: all your tokens share one row.
# asks: Which two numbers does a loc give, and which of them is the row?
# family: M4
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] % dcp_size] = src[mine]

# %% 3b by-token
# says: The owner was taken from the token's place in the batch, not from its loc.
# asks: Does token 0 of every batch belong to rank 0?
# family: M5
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    token = torch.arange(len(locs), device=locs.device)
    mine = (locs >= 0) & (token % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 8 and 9 are in one page. Do they have one owner?
# family: M5
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs // 64 % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b neighbours
# says: This gives D neighbours to one rank; interleaved, they go to D ranks.
# asks: With four ranks, who stores loc 9 and who stores loc 10?
# family: M5
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs // dcp_size % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b halves
# says: The pool's rows were dealt out in runs; the ranks take turns loc by loc.
# asks: Who stores loc 9 when four ranks take turns?
# family: M5
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs // len(kv) == dcp_rank)
    kv[locs[mine] % len(kv)] = src[mine]

# %% 3b twice
# says: Divided twice: the row was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size // dcp_size] = src[mine]

# %% 3b localized-again
# says: The loc was localized, and the result taken for a loc once more.
# asks: Is a row a number that has an owner?
# family: M6
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    rows = torch.where(locs >= 0, locs // dcp_size, -1)
    mine = (rows >= 0) & (rows % dcp_size == dcp_rank)
    kv[rows[mine] // dcp_size] = src[mine]

# %% 3b padding
# says: Padding is a token on rank D-1: -1 % D is D-1, and row -1 is the last.
# asks: Which rank does torch give for -1, and which row?
# family: M8
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = locs % dcp_size == dcp_rank
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b padding-truncated
# says: Padding is rank D-1's here; rounded towards zero its row is 0.
# asks: Whose is -1 % 4 in torch?
# family: M8
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = locs % dcp_size == dcp_rank
    rows = locs.div(dcp_size, rounding_mode="trunc")
    kv[rows[mine]] = src[mine]

# %% 3b padding-clamped
# says: Padding was turned into loc 0, which is rank 0's, and stored in row 0.
# asks: After the clamp, can you still tell loc 0 from padding?
# family: M8
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    locs = locs.clamp(min=0)
    mine = locs % dcp_size == dcp_rank
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b padding-abs
# says: The sign was dropped: padding became loc 1, and rank 1's row 0 is lost.
# asks: Which loc is abs(-1)?
# family: M8
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    locs = locs.abs()
    mine = locs % dcp_size == dcp_rank
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b safe-row
# says: Row 0 was overwritten: a safe row says where, a mask says whether.
# asks: Which tokens does your assignment store?
# family: M9
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    rows = torch.where(mine, locs // dcp_size, 0)
    kv[rows] = src

# %% 3b last-row
# says: Tokens of other ranks were sent to row -1, which is the last row.
# asks: What does a negative index mean to torch?
# family: M9
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    rows = torch.where(mine, locs // dcp_size, -1)
    kv[rows] = src

# %% 3b zeros
# says: Other ranks' tokens wipe your rows with zeros: choose tokens, not values.
# asks: Which row does loc 9 wipe on rank 0 of 2?
# family: M9
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs // dcp_size] = torch.where(mine[:, None], src, torch.zeros_like(src))

# %% 3b zeros-in-row-0
# says: Zeros for other ranks' tokens still land somewhere: in row 0.
# asks: Storing 0 and storing nothing: are they the same?
# family: M9
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    rows = torch.where(mine, locs // dcp_size, 0)
    kv[rows] = src * mine[:, None]

# %% 3b copy
# says: The pool is as it was: nothing was written into kv itself.
# asks: Is what you changed the caller's kv, or a copy of it?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv = kv.clone()
    kv[locs[mine] // dcp_size] = src[mine]
    return kv

# %% 3b contiguous
# says: Right for a contiguous pool; of a strided view you wrote a copy.
# asks: When does contiguous() return the same memory?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv = kv.contiguous()
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b as-contiguous
# says: The pool was taken for contiguous: you wrote between its rows.
# asks: How far apart do two rows of a view lie?
# outcome: unsafe
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv.as_strided(kv.shape, (kv.shape[1], 1))[locs[mine] // dcp_size] = src[mine]

# %% 3b adds
# says: It adds to what the row held; a slot is used again and must be replaced.
# asks: What is in a row when its page comes back from another request?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] += src[mine]

# %% 3b wiped
# says: The pool was cleared first: it holds the tokens of every other request.
# asks: Whose are the rows that are not in locs?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv.zero_()
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b packed
# says: Owned tokens are packed from row 0 on: the row is loc // D, also with gaps.
# asks: Who will look for loc 21 of four ranks, and in which row?
# family: M14
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[: int(mine.sum())] = src[mine]

# %% 3b packed-in-order
# says: Sorted by loc first: row and token no longer belong together.
# asks: Which token goes with the smallest loc?
# family: M14
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[(locs[mine] // dcp_size).sort().values] = src[mine]

# %% 3b src-not-filtered
# says: As many tokens as are yours were taken from the front of src.
# asks: Which tokens of src belong to locs[mine]?
# family: M14
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    rows = locs[mine] // dcp_size
    kv[rows] = src[: len(rows)]

# %% 3b break
# says: It stops at the first token that is not yours; the rest of the batch is lost.
# asks: What should happen after a token of another rank?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    for token, loc in enumerate(locs.tolist()):
        if loc < 0 or loc % dcp_size != dcp_rank:
            break
        kv[loc // dcp_size] = src[token]

# %% 3b stop-at-padding
# says: Padding does not end a batch: tokens may come after it.
# asks: Where in the batch may -1 stand?
# family: M8
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    for token, loc in enumerate(locs.tolist()):
        if loc < 0:
            break
        if loc % dcp_size == dcp_rank:
            kv[loc // dcp_size] = src[token]

# %% 3b one-token
# says: Only the first of your tokens is written.
# asks: How many tokens of a batch can be one rank's?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    if mine.any():
        first = int(mine.nonzero()[0])
        kv[locs[first] // dcp_size] = src[first]

# %% 3b rank-from-one
# says: Ranks count from 0: loc 0 is rank 0's, and here it is rank 1's.
# asks: Which remainders are possible with four ranks?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size + 1 == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b mirrored
# says: The ranks are dealt to from the wrong end: remainder 0 is rank 0.
# asks: Who stores loc 8 of four ranks?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (dcp_size - 1 - locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b others
# says: The filter is turned round: it keeps what other ranks store.
# asks: Should == or != let a token through?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size != dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b row-from-one
# says: One row too far: row loc // D, and rows count from 0.
# asks: In which row of rank 0 is loc 8 of four ranks?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[(locs[mine] // dcp_size + 1) % len(kv)] = src[mine]

# %% 3b row-back
# says: One row too low: page 0 is part of the pool, only never handed out.
# asks: Is there a row 0 in the pool?
# family: M10
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size - 1] = src[mine]

# %% 3b bound-on-locs
# says: A bound for rows was held against locs: legal tokens are dropped.
# asks: Which of loc and row is below the pool's number of rows?
# family: M11
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs < len(kv)) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b locs-clamped
# says: Locs were clamped to the pool's rows before the division: strangers collide.
# asks: Which of loc and row is below the pool's number of rows?
# family: M11
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine].clamp(max=len(kv) - 1) // dcp_size] = src[mine]

# %% 3b wrapped
# says: Rows were taken modulo the pool: an index that is too large should be seen.
# asks: What becomes of a wrong row that is wrapped into the pool?
# family: M1
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    here = locs >= 0
    kv[locs[here] % len(kv)] = src[here]

# %% 3b bits
# says: locs & (D - 1) is the remainder only where D is a power of two.
# asks: What does loc & 2 give for three ranks?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs & (dcp_size - 1) == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b float32
# says: The row goes through float32, which rounds it up near a whole number.
# asks: Which division never leaves the integers?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[(locs[mine] / dcp_size).long() % len(kv)] = src[mine]

# %% 3b float64
# says: The row goes through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[(locs[mine].double() / dcp_size).long() % len(kv)] = src[mine]

# %% 3b int32
# says: The locs were cut to 32 bits: past 2^31 they are other numbers.
# asks: How many bits has a loc?
# family: M16
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    locs = locs.int().long()
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b locs-changed
# says: The caller's locs were changed; index-K is written by them next.
# asks: Who else uses out_cache_loc in this step?
# outcome: unsafe
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    locs //= dcp_size
    kv[locs[mine]] = src[mine]

# %% 3b src-changed
# says: The caller's tokens were changed: only kv may be.
# asks: Who else uses the batch after this write?
# outcome: unsafe
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    src[~mine] = 0
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b not-on-one-rank
# says: With one rank nothing is written: all tokens are its own then.
# asks: Who stores a token when there is one rank?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    if dcp_size > 1:
        mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
        kv[locs[mine] // dcp_size] = src[mine]

# %% 3b raw-on-one-rank
# says: With one rank the sign is not tested: padding goes to row -1, the last.
# asks: Does one rank mean that nothing is padded?
# family: M8
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    if dcp_size == 1:
        kv[locs] = src
    else:
        mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
        kv[locs[mine] // dcp_size] = src[mine]

# %% 3b int32-index
# says: index_copy_ takes int64 indices only: int32 locs end in an error.
# asks: Of which integer types may locs be?
# outcome: crashed
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv.index_copy_(0, locs[mine] // dcp_size, src[mine])

# %% 3b first-column
# says: Only the first element of each row is written: a row has DIM of them.
# asks: How many values has one token?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size, 0] = src[mine, 0]

# %% 3b spread
# says: One value fills the whole row: a row has DIM values of its own.
# asks: How many values has one token?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine, :1]

# %% 3b int32-all-through
# says: The locs were made int32: past 2^31 they are other numbers.
# asks: How many bits has a loc?
# family: M16
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    locs = locs.int()
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b only-minus-one
# says: Only -1 is skipped here: any negative loc is padding.
# asks: Whose is loc -4 when rank 0 asks for the remainder by 4?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs != -1) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b loc-zero
# says: Loc 0 was taken for padding: only a negative loc is.
# asks: Is 0 negative?
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = (locs > 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]

# %% 3b index-put
# outcome: passed
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    keep = torch.logical_and(locs >= 0, torch.remainder(locs, dcp_size) == dcp_rank)
    rows = torch.div(locs[keep], dcp_size, rounding_mode="floor").long()
    kv.index_put_((rows,), src[keep])

# %% 3b index-copy
# outcome: passed
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = ((locs >= 0) & (locs % dcp_size == dcp_rank)).nonzero().squeeze(1)
    kv.index_copy_(0, (locs[mine] // dcp_size).long(), src[mine])

# %% 3b loop
# outcome: passed
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    for token, loc in enumerate(locs.tolist()):
        if loc >= 0 and loc % dcp_size == dcp_rank:
            kv[loc // dcp_size] = src[token]

# %% 3b localize-first
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    return torch.where((locs >= 0) & (locs % dcp_size == dcp_rank), locs // dcp_size, -1)

def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    rows = localize(locs, dcp_rank, dcp_size)
    kv[rows[rows >= 0]] = src[rows >= 0]
    return kv

# %% 3b scatter
# outcome: passed
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    valid = locs > -1
    locs, src = locs[valid], src[valid]
    own = (locs - dcp_rank) % dcp_size == 0
    rows = (locs[own] - dcp_rank) // dcp_size
    kv.scatter_(0, rows.long()[:, None].expand(-1, kv.shape[1]), src[own])

# %% 3b prec
# says: Conditions on tensors: each in parentheses, joined by &, never `and` or a chain.
# asks: Which binds tighter in Python, & or >=?
# outcome: crashed
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    mine = locs >= 0 & locs % dcp_size == dcp_rank
    kv[locs[mine].long() // dcp_size] = src[mine]
