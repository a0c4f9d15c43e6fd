# Answers to 3a: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 3a plain
# outcome: passed
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a nothing
# says: Nothing is written: your own tokens belong in the pool.
# asks: Which line of the kernel changes the pool?
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a raw
# says: Every rank writes every token to the row with the loc's number: no owner.
# asks: If all ranks keep all tokens, what did sharding save?
# family: M1
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- row = loc // DCP_SIZE
+ owned = loc >= 0
+ row = loc

# %% 3a no-divide
# says: You kept the right tokens but stored them at their loc, undivided.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
# outcome: unsafe
# from: plain
- row = loc // DCP_SIZE
+ row = loc

# %% 3a no-filter
# says: D different tokens were written to one row: nothing selected an owner.
# asks: Which tokens of locs 8, 9, 10, 11 should rank 1 of 4 store?
# family: M3
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = loc >= 0

# %% 3a swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- row = loc // DCP_SIZE
+ owned = (loc >= 0) & (loc // DCP_SIZE == DCP_RANK)
+ row = loc % DCP_SIZE

# %% 3a twice
# says: Divided twice: the row was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
# from: plain
- row = loc // DCP_SIZE
+ row = loc // DCP_SIZE // DCP_SIZE

# %% 3a padding-one-rank
# says: With one rank -1 % 1 is 0: padding is stored, one row before the pool.
# asks: Whose is -1 when there is only one rank?
# family: M8
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = loc % DCP_SIZE == DCP_RANK

# %% 3a padding-positive
# says: You made the remainder positive: padding is rank D-1's, in row 0.
# asks: Whose is -1 after (loc % D + D) % D?
# family: M8
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (token < n) & ((loc % DCP_SIZE + DCP_SIZE) % DCP_SIZE == DCP_RANK)

# %% 3a safe-row
# says: Row 0 was overwritten: a safe address says where, the mask says whether.
# asks: Which lanes does your store's mask let through?
# family: M9
# from: plain
- row = loc // DCP_SIZE
+ row = tl.where(owned, loc // DCP_SIZE, 0)

- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=(token < n)[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(token < n)[:, None])

# %% 3a no-tail
# says: The last block has lanes past n: they read locs that are not there.
# asks: How many lanes have the programs together, and how many tokens are there?
# outcome: unsafe
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token)

# %% 3a no-tail-at-all
# says: The last block has lanes past n: they read locs and tokens that are not there.
# asks: How many lanes have the programs together, and how many tokens are there?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride,
                            DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    column = tl.arange(0, DIM)[None, :]
    value = tl.load(src_ptr + token[:, None] * src_stride + column)
    tl.store(kv_ptr + (loc // DCP_SIZE)[:, None] * kv_stride + column, value, mask=owned[:, None])

# %% 3a rows-no-tail
# says: The last program counts on to ROWS: the tokens past n have no loc to read.
# asks: How many tokens has the last program?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    start = tl.program_id(0) * ROWS
    col = tl.arange(0, DIM)
    for i in range(ROWS):
        loc = tl.load(loc_ptr + start + i)
        if loc >= 0:
            if loc % DCP_SIZE == DCP_RANK:
                x = tl.load(src_ptr + (start + i) * src_stride + col)
                tl.store(kv_ptr + loc // DCP_SIZE * kv_stride + col, x)

# %% 3a tail-in-safe-row
# says: Lanes past n load loc 0, and row 0 takes what no row should: two masks.
# asks: Which lanes have a token, and which of those are this rank's?
# family: M9
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=0)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = tl.where(owned, loc // DCP_SIZE, 0)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None], other=0)
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(token < n)[:, None])

# %% 3a tail-is-loc-zero
# says: Lanes past n load loc 0, which is rank 0's: they are stored as tokens.
# asks: What does other=0 say about a lane that has no token?
# family: M9
# outcome: unsafe
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token, mask=token < n, other=0)

# %% 3a one-program
# says: Every program handles the first block: the others' tokens are never written.
# asks: Which tokens does program 1 handle?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.arange(0, ROWS)

# %% 3a kv-stride-ignored
# says: Rows of the pool are kv_stride apart, not DIM: right only without gaps.
# asks: Where does row 1 of the pool begin?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * DIM + col[None, :], x, mask=owned[:, None])

# %% 3a src-by-loc
# says: The source is read from row loc; it has a row for each token of the batch.
# asks: How many rows has the source?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ x = tl.load(src_ptr + loc[:, None] * src_stride + col[None, :], mask=owned[:, None])

# %% 3a bits
# says: loc & (D - 1) is the remainder only where D is a power of two.
# asks: What does loc & 2 give for three ranks?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & ((loc & (DCP_SIZE - 1)) == DCP_RANK)

# %% 3a raw-padding
# says: Every lane writes row loc: no owner, and padding goes before the pool.
# asks: Which row is -1?
# family: M1
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- row = loc // DCP_SIZE
+ owned = token < n
+ row = loc

# %% 3a one-row
# says: The remainder is the owner, not the row: all your tokens share one row.
# asks: Which two numbers does loc give, and which of them is the row?
# family: M4
# outcome: unsafe
# from: plain
- row = loc // DCP_SIZE
+ row = loc % DCP_SIZE

# %% 3a by-token
# says: The owner was taken from the token's place in the batch, not from its loc.
# asks: Does token 0 of every batch belong to rank 0?
# family: M5
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (token % DCP_SIZE == DCP_RANK)

# %% 3a by-program
# says: Each program's block was given to one rank; the ranks take turns by loc.
# asks: Does the number of the program say who owns a loc?
# family: M5
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (tl.program_id(0) % DCP_SIZE == DCP_RANK)

# %% 3a pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 8 and 9 are in one page. Do they have one owner?
# family: M5
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (loc // 64 % DCP_SIZE == DCP_RANK)

# %% 3a neighbours
# says: This gives D neighbours to one rank; interleaved, they go to D ranks.
# asks: With four ranks, who stores loc 9 and who stores loc 10?
# family: M5
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (loc // DCP_SIZE % DCP_SIZE == DCP_RANK)

# %% 3a localized-again
# says: The loc was localized, and the result taken for a loc once more.
# asks: Is a row a number that has an owner?
# family: M6
# from: plain
  loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.where(loc >= 0, loc // DCP_SIZE, -1)

# %% 3a padding-one-rank-in-batch
# says: -1 % 1 is 0: with one rank, padding in the batch goes to row -1.
# asks: Is a lane inside n always a token?
# family: M8
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (token < n) & (loc % DCP_SIZE == DCP_RANK)

# %% 3a padding-floored
# says: Padding is a token of rank D-1 here, one row before the pool.
# asks: You divide as torch does. Whose is -1 now?
# family: M8
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- row = loc // DCP_SIZE
+ owner = (loc % DCP_SIZE + DCP_SIZE) % DCP_SIZE
+ owned = (token < n) & (owner == DCP_RANK)
+ row = (loc - owner) // DCP_SIZE

# %% 3a padding-clamped
# says: Padding was turned into loc 0, which is rank 0's, and stored in row 0.
# asks: After the clamp, can you still tell loc 0 from padding?
# family: M8
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ loc = tl.maximum(tl.load(loc_ptr + token, mask=token < n, other=-1), 0)
+ owned = (token < n) & (loc % DCP_SIZE == DCP_RANK)

# %% 3a padding-abs
# says: The sign was dropped: padding became loc 1, and rank 1's row 0 is lost.
# asks: Which loc is abs(-1)?
# family: M8
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ loc = tl.abs(tl.load(loc_ptr + token, mask=token < n, other=-1))
+ owned = (token < n) & (loc % DCP_SIZE == DCP_RANK)

# %% 3a padding-only
# says: Everything but padding is skipped: >= 0 means a token, < 0 padding.
# asks: Which of 9 and -1 is a token?
# family: M8
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (token < n) & ((loc < 0) | (loc % DCP_SIZE != DCP_RANK)) & (loc < 0)

# %% 3a safe-row-no-mask
# says: Row 0 was overwritten by lanes that have nothing to store: no mask.
# asks: What does a lane store that is not masked?
# family: M9
# from: plain
- row = loc // DCP_SIZE
+ row = tl.where(owned, loc // DCP_SIZE, 0)

- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None], other=0)
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x)

# %% 3a minus-one-stored
# says: Row -1 lies before the pool: -1 is an address as well, and it was stored to.
# asks: Which lanes does your store's mask let through?
# family: M9
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    row = tl.where((loc >= 0) & (loc % DCP_SIZE == DCP_RANK), loc // DCP_SIZE, -1)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=(token < n)[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(token < n)[:, None])

# %% 3a safe-row-zero
# says: Zeros for other ranks' tokens still land somewhere: in row 0.
# asks: Storing 0 and storing nothing: are they the same?
# family: M9
# from: tail-in-safe-row
- loc = tl.load(loc_ptr + token, mask=token < n, other=0)
+ loc = tl.load(loc_ptr + token, mask=token < n, other=-1)

# %% 3a zeros
# says: Other ranks' tokens wipe your rows with zeros: mask the store, not the value.
# asks: Which row does loc 9 wipe on rank 0 of 2?
# family: M9
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None], other=0)
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(loc >= 0)[:, None])

# %% 3a store-unfiltered
# says: The load is masked by the owner and the store is not: strangers are stored.
# asks: Which of the two accesses changes the pool?
# family: M3
# outcome: unsafe
# from: plain
- row = loc // DCP_SIZE
+ row = tl.where(owned, loc // DCP_SIZE, loc)

- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=(loc >= 0)[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(loc >= 0)[:, None])

# %% 3a rank-from-one
# says: Ranks count from 0: loc 0 is rank 0's, and here it is rank 1's.
# asks: Which remainders are possible with four ranks?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (loc % DCP_SIZE + 1 == DCP_RANK)

# %% 3a next-rank
# says: The tokens of the next rank are stored, not your own.
# asks: Which remainder has a loc of rank 1?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & ((loc + DCP_SIZE - 1) % DCP_SIZE == DCP_RANK)

# %% 3a mirrored
# says: The ranks are dealt to from the wrong end: remainder 0 is rank 0.
# asks: Who stores loc 8 of four ranks?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (DCP_SIZE - 1 - loc % DCP_SIZE == DCP_RANK)

# %% 3a others
# says: The filter is turned round: it keeps what other ranks store.
# asks: Should == or != let a token through?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (loc % DCP_SIZE != DCP_RANK)

# %% 3a row-from-one
# says: One row too far: row loc // D, and rows count from 0.
# asks: In which row of rank 0 is loc 8 of four ranks?
# outcome: unsafe
# from: plain
- row = loc // DCP_SIZE
+ row = loc // DCP_SIZE + 1

# %% 3a row-back
# says: One row too low: page 0 is part of the pool, only never handed out.
# asks: Is there a row 0 in the pool?
# family: M10
# outcome: unsafe
# from: plain
- row = loc // DCP_SIZE
+ row = loc // DCP_SIZE - 1

# %% 3a float32
# says: The row goes through float32, which rounds it up near a whole number.
# asks: Which division never leaves the integers?
# from: plain
- row = loc // DCP_SIZE
+ row = (loc / DCP_SIZE).to(tl.int64)

# %% 3a int32-loc
# says: The loc was cut to 32 bits: past 2^31 it is another number.
# asks: How many bits has a loc?
# family: M16
# outcome: unsafe
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token, mask=token < n, other=-1).to(tl.int32)

# %% 3a int32-address
# says: row * kv_stride in 32 bits wraps past 2^31 elements: the address is wrong.
# asks: How many elements has a pool of 4 million rows of 576?
# family: M16
# outcome: unsafe
# from: plain
- row = loc // DCP_SIZE
+ row = (loc // DCP_SIZE).to(tl.int32)

# %% 3a program-stride
# says: Blocks overlap by all but one token: program p begins at p, not p * ROWS.
# asks: Which tokens does program 1 handle?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) + tl.arange(0, ROWS)

# %% 3a token-a-program
# says: One token a program; it is launched with one program for each ROWS tokens.
# asks: How many tokens must each program handle?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) + tl.zeros((ROWS,), tl.int32)

# %% 3a last-token
# says: The last token is never written: lanes up to n - 1 are inside.
# asks: Which lane has the last token?
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token, mask=token < n - 1, other=-1)

# %% 3a first-element
# says: Only the first element of each row is written: a row has DIM of them.
# asks: How many values must one lane move?
# from: plain
- col = tl.arange(0, DIM)
+ col = tl.zeros((DIM,), tl.int32)

# %% 3a last-element
# says: The last element of each row is missing: a row has DIM of them.
# asks: Which is the last column of tl.arange(0, DIM)?
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ inside = owned[:, None] & (col[None, :] < DIM - 1)
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=inside)
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=inside)

# %% 3a one-past
# says: One element too many: what follows the row is somebody else's.
# asks: Which columns does a row of DIM elements have?
# outcome: unsafe
# from: plain
- col = tl.arange(0, DIM)
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ col = tl.arange(0, 2 * DIM)
+ inside = owned[:, None] & (col[None, :] <= DIM)
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None] & (col[None, :] < DIM), other=0)
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=inside)

# %% 3a one-past-read
# says: It reads one element past each row: masked lanes must not load either.
# asks: Whose is the element after the last row of the source?
# outcome: unsafe
# from: plain
- col = tl.arange(0, DIM)
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ col = tl.arange(0, 2 * DIM)
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None] & (col[None, :] <= DIM))
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None] & (col[None, :] < DIM))

# %% 3a src-stride-ignored
# says: Tokens of the source are src_stride apart, not DIM: right only without gaps.
# asks: Where does token 1 begin in the source?
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * DIM + col[None, :], mask=owned[:, None])

# %% 3a strides-ignored
# says: Both strides are ignored: rows lie kv_stride and src_stride elements apart.
# asks: Where does the second row begin?
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * DIM + col[None, :], mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * DIM + col[None, :], x, mask=owned[:, None])

# %% 3a strides-swapped
# says: The two strides are swapped: each buffer has its own.
# asks: Which of them belongs to the pool?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * kv_stride + col[None, :], mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * src_stride + col[None, :], x, mask=owned[:, None])

# %% 3a kv-stride-for-both
# says: The source is read with the pool's stride; it has its own.
# asks: Where does token 1 begin in the source?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * kv_stride + col[None, :], mask=owned[:, None])

# %% 3a src-stride-for-both
# says: The pool is written with the source's stride; it has its own.
# asks: Where does row 1 of the pool begin?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * src_stride + col[None, :], x, mask=owned[:, None])

# %% 3a stride-in-bytes
# says: Strides count elements, and a pointer steps by elements: no factor for bytes.
# asks: By how much does kv_ptr + 1 move?
# outcome: unsafe
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride * 4 + col[None, :], x, mask=owned[:, None])

# %% 3a transposed
# says: Rows and columns are swapped: the stride goes with the row.
# asks: How far apart are two neighbours of one row?
# outcome: unsafe
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] + col[None, :] * kv_stride, x, mask=owned[:, None])

# %% 3a src-by-row
# says: The source is read by the row of the pool; it has a row for each token.
# asks: Which token does the lane handle?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ x = tl.load(src_ptr + row[:, None] * src_stride + col[None, :], mask=owned[:, None])

# %% 3a src-compacted
# says: Owned tokens were counted, and that number taken for their place in src.
# asks: Token 3 is the first you own. Which row of src is it?
# family: M14
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ place = tl.cumsum(owned.to(tl.int32), 0) - 1
+ x = tl.load(src_ptr + place[:, None] * src_stride + col[None, :], mask=owned[:, None])

# %% 3a packed
# says: Owned tokens are packed from row 0 on: the row is loc // D, also with gaps.
# asks: Who will look for loc 21 of four ranks, and in which row?
# family: M14
# from: plain
- row = loc // DCP_SIZE
+ row = tl.cumsum(owned.to(tl.int32), 0) - 1

# %% 3a row-by-token
# says: The row was taken from the token's place in the batch, not from its loc.
# asks: Where will the reader of loc 21 look?
# family: M14
# from: plain
- row = loc // DCP_SIZE
+ row = token // DCP_SIZE

# %% 3a load-unmasked
# says: The values are right, but lanes without a token read past the source.
# asks: What does a load do without a mask?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :])

# %% 3a adds
# says: It adds to what the row held; a slot is used again and must be replaced.
# asks: What is in a row when its page comes back from another request?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ old = tl.load(kv_ptr + row[:, None] * kv_stride + col[None, :], mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x + old, mask=owned[:, None])

# %% 3a half
# says: The values went through float16: large ones are rounded.
# asks: Does the store need a conversion when both have one dtype?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x.to(tl.float16), mask=owned[:, None])

# %% 3a not-on-one-rank
# says: With one rank nothing is written: all tokens are its own then.
# asks: Who stores a token when there is one rank?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK) & (DCP_SIZE > 1)

# %% 3a not-the-last-rank
# says: The last rank stores nothing: ranks are 0 to D - 1.
# asks: Which remainder is the largest?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK) & ((DCP_RANK < DCP_SIZE - 1) | (DCP_SIZE == 1))

# %% 3a only-minus-one
# says: Only -1 is skipped here: any negative loc is padding.
# asks: Whose is loc -4 when rank 0 asks for the remainder by 4?
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc != -1) & (loc % DCP_SIZE == DCP_RANK)

# %% 3a loc-zero
# says: Loc 0 was taken for padding: only a negative loc is.
# asks: Is 0 negative?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc > 0) & (loc % DCP_SIZE == DCP_RANK)

# %% 3a row-zero
# says: Row 0 was left out: whether a token is stored says its loc, not its row.
# asks: Where does this rank's first loc lie?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(owned & (row > 0))[:, None])

# %% 3a dim-tokens
# says: A program handles DIM tokens here; it is launched for ROWS of them.
# asks: What does ROWS count, and what does DIM count?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) * ROWS + tl.arange(0, DIM)

# %% 3a mask-of-columns
# says: The mask has no [:, None]: it is laid over elements, not over tokens.
# asks: Which of the block's two axes are the tokens?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned)
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned)

# %% 3a store-mask-of-columns
# says: The store's mask has no [:, None]: it is laid over elements, not over tokens.
# asks: Which of the block's two axes are the tokens?
# outcome: unsafe
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned)

# %% 3a row-of-columns
# says: The rows have no [:, None]: element i goes to the row of token i.
# asks: Which of the block's two axes are the tokens?
# outcome: crashed
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a no-parentheses
# says: & binds tighter than ==: the remainder's comparison needs parentheses too.
# asks: What is (loc >= 0) & loc % DCP_SIZE, before anything is compared?
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & loc % DCP_SIZE == DCP_RANK

# %% 3a one-mask
# outcome: passed
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    offsets = tl.program_id(axis=0) * ROWS + tl.arange(0, ROWS)
    inside = offsets < n
    loc = tl.load(loc_ptr + offsets, mask=inside, other=-1)
    mine = inside & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    src = src_ptr + offsets[:, None] * src_stride + tl.arange(0, DIM)[None, :]
    dst = kv_ptr + (loc // DCP_SIZE)[:, None] * kv_stride + tl.arange(0, DIM)[None, :]
    tl.store(dst, tl.load(src, mask=mine[:, None]), mask=mine[:, None])

# %% 3a safe-row-and-mask
# outcome: passed
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    valid = token < n
    loc = tl.load(loc_ptr + token, mask=valid, other=0).to(tl.int64)
    owned = valid & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    safe_row = tl.where(owned, loc, 0) // DCP_SIZE
    safe_token = tl.where(valid, token, 0)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + safe_token[:, None] * src_stride + col[None, :])
    tl.store(kv_ptr + safe_row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a reads-all-tokens
# outcome: passed
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    row = loc // DCP_SIZE
    mine = (loc >= 0) & (loc - row * DCP_SIZE == DCP_RANK)
    col = tl.arange(0, DIM)[None, :]
    x = tl.load(src_ptr + token[:, None] * src_stride + col, mask=(token < n)[:, None], other=0)
    tl.store(kv_ptr + row[:, None] * kv_stride + col, x, mask=mine[:, None])

# %% 3a row-by-row
# outcome: passed
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    column = tl.arange(0, DIM)
    for i in tl.static_range(ROWS):
        token = first + i
        if token < n:
            loc = tl.load(loc_ptr + token)
            if loc >= 0:
                if loc % DCP_SIZE == DCP_RANK:
                    value = tl.load(src_ptr + token * src_stride + column)
                    tl.store(kv_ptr + loc // DCP_SIZE * kv_stride + column, value)

# %% 3a strided-programs
# outcome: passed
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) + tl.arange(0, ROWS) * tl.num_programs(0)

- row = loc // DCP_SIZE

- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + (loc // DCP_SIZE)[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a helpers
# outcome: passed
@triton.jit
def row_or_absent(loc, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr):
    return tl.where((loc >= 0) & (loc % DCP_SIZE == DCP_RANK), loc // DCP_SIZE, -1)

@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row = row_or_absent(tl.load(loc_ptr + token, mask=token < n, other=-1), DCP_RANK, DCP_SIZE)[:, None]
    col = tl.arange(0, DIM)[None, :]
    x = tl.load(src_ptr + token[:, None] * src_stride + col, mask=row >= 0, other=0.0)
    tl.store(kv_ptr + row * kv_stride + col, x, mask=row >= 0)

# %% 3a column-by-column
# outcome: passed
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc % DCP_SIZE == DCP_RANK) & (loc >= 0)
    STEP: tl.constexpr = 4 if DIM >= 4 else 1
    for start in tl.static_range(0, DIM, STEP):
        col = start + tl.arange(0, STEP)
        x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
        tl.store(kv_ptr + (loc // DCP_SIZE)[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a nolocmask
# says: The locs are read without a mask: lanes past n read what is not theirs.
# asks: How many locs are there for the last program?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inb = tok < n
    loc = tl.load(loc_ptr + tok)
    ok = inb & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    d = tl.arange(0, DIM)
    val = tl.load(src_ptr + tok.to(tl.int64)[:, None] * src_stride + d[None, :], mask=ok[:, None], other=0.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + d[None, :], val, mask=ok[:, None])

# %% 3a rowlocal
# says: The rank was added to the row: rows of a rank are counted from 0.
# asks: In which row does rank 1 keep loc 1?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inb = tok < n
    loc = tl.load(loc_ptr + tok, mask=inb, other=-1)
    ok = inb & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE + DCP_RANK
    d = tl.arange(0, DIM)
    val = tl.load(src_ptr + tok.to(tl.int64)[:, None] * src_stride + d[None, :], mask=ok[:, None], other=0.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + d[None, :], val, mask=ok[:, None])

# %% 3a row-is-token
# says: Token t was stored in row t: the row is its loc, divided by the ranks.
# asks: Where will the reader of loc 21 look?
# outcome: unsafe
# family: M14
# from: plain
- row = loc // DCP_SIZE
+ row = token
