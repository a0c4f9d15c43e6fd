# Wrong answers to lab 03: what people type, and the sentence that each must get. One cell an answer.
# The first cell stands before every answer. docs/misconceptions.md describes the families M1 to M16.

# %% preamble
import math

import torch
import triton
import triton.language as tl

# %% 3a nothing
# says: Nothing is written: your own tokens belong in the pool.
# asks: Which line of the kernel changes the pool?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)

# %% 3a raw
# says: Every rank writes every token to the row with the loc's number: no owner.
# asks: If all ranks keep all tokens, what did sharding save?
# family: M1
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = loc >= 0
    row = loc
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a no-divide
# says: You kept the right tokens but stored them at their global address.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a no-filter
# says: D different tokens were written to one row: nothing selected an owner.
# asks: Which tokens of locs 8, 9, 10, 11 should rank 1 of 4 store?
# family: M3
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = loc >= 0
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc // DCP_SIZE == DCP_RANK)
    row = loc % DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a twice
# says: Divided twice: the row was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a padding-one-rank
# says: With one rank -1 % 1 is 0: padding is stored, one row before the pool.
# asks: Whose is -1 when there is only one rank?
# family: M8
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = loc % DCP_SIZE == DCP_RANK
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a padding-positive
# says: You made the remainder positive: padding is rank D-1's, in row 0.
# asks: Whose is -1 after (loc % D + D) % D?
# family: M8
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (token < n) & ((loc % DCP_SIZE + DCP_SIZE) % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a safe-row
# says: Row 0 was overwritten: a safe address says where, the mask says whether.
# asks: Which lanes does your store's mask let through?
# family: M9
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = tl.where(owned, loc // DCP_SIZE, 0)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=(token < n)[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(token < n)[:, None])

# %% 3a no-tail
# says: The last block has lanes past n: they read locs that are not there.
# asks: How many lanes have the programs together, and how many tokens are there?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

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
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=0)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a one-program
# says: Every program handles the first block: the others' tokens are never written.
# asks: Which tokens does program 1 handle?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a kv-stride-ignored
# says: Rows of the pool are kv_stride apart, not DIM: right only without gaps.
# asks: Where does row 1 of the pool begin?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * DIM + col[None, :], x, mask=owned[:, None])

# %% 3a src-by-loc
# says: The source is read from row loc; it has a row for each token of the batch.
# asks: How many rows has the source?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + loc[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a bits
# says: loc & (D - 1) is the remainder only where D is a power of two.
# asks: What does loc & 2 give for three ranks?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & ((loc & (DCP_SIZE - 1)) == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a raw-padding
# says: Every lane writes row loc: no owner, and padding goes before the pool.
# asks: Which row is -1?
# family: M1
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = token < n
    row = loc
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a one-row
# says: The remainder is the owner, not the row: all your tokens share one row.
# asks: Which two numbers does loc give, and which of them is the row?
# family: M4
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc % DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a by-token
# says: The owner was taken from the token's place in the batch, not from its loc.
# asks: Does token 0 of every batch belong to rank 0?
# family: M5
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (token % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a by-program
# says: Each program's block was given to one rank; the ranks take turns by loc.
# asks: Does the number of the program say who owns a loc?
# family: M5
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (tl.program_id(0) % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 8 and 9 are in one page. Do they have one owner?
# family: M5
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc // 64 % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a neighbours
# says: This gives D neighbours to one rank; interleaved, they go to D ranks.
# asks: With four ranks, who stores loc 9 and who stores loc 10?
# family: M5
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc // DCP_SIZE % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a localized-again
# says: The loc was localized, and the result taken for a loc once more.
# asks: Is a row a number that has an owner?
# family: M6
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    loc = tl.where(loc >= 0, loc // DCP_SIZE, -1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a padding-one-rank-in-batch
# says: -1 % 1 is 0: with one rank, padding in the batch goes to row -1.
# asks: Is a lane inside n always a token?
# family: M8
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (token < n) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a padding-floored
# says: Padding is a token of rank D-1 here, one row before the pool.
# asks: You divide as torch does. Whose is -1 now?
# family: M8
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owner = (loc % DCP_SIZE + DCP_SIZE) % DCP_SIZE
    owned = (token < n) & (owner == DCP_RANK)
    row = (loc - owner) // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a padding-clamped
# says: Padding was turned into loc 0, which is rank 0's, and stored in row 0.
# asks: After the clamp, can you still tell loc 0 from padding?
# family: M8
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.maximum(tl.load(loc_ptr + token, mask=token < n, other=-1), 0)
    owned = (token < n) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a padding-abs
# says: The sign was dropped: padding became loc 1, and rank 1's row 0 is lost.
# asks: Which loc is abs(-1)?
# family: M8
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.abs(tl.load(loc_ptr + token, mask=token < n, other=-1))
    owned = (token < n) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a padding-only
# says: Everything but padding is skipped: >= 0 means a token, < 0 padding.
# asks: Which of 9 and -1 is a token?
# family: M8
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (token < n) & ((loc < 0) | (loc % DCP_SIZE != DCP_RANK)) & (loc < 0)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a safe-row-no-mask
# says: Row 0 was overwritten by lanes that have nothing to store: no mask.
# asks: What does a lane store that is not masked?
# family: M9
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = tl.where(owned, loc // DCP_SIZE, 0)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None], other=0)
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x)

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
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = tl.where(owned, loc // DCP_SIZE, 0)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None], other=0)
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(token < n)[:, None])

# %% 3a zeros
# says: Other ranks' tokens wipe your rows with zeros: mask the store, not the value.
# asks: Which row does loc 9 wipe on rank 0 of 2?
# family: M9
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None], other=0)
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(loc >= 0)[:, None])

# %% 3a store-unfiltered
# says: The load is masked by the owner and the store is not: strangers are stored.
# asks: Which of the two accesses changes the pool?
# family: M3
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = tl.where(owned, loc // DCP_SIZE, loc)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=(loc >= 0)[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(loc >= 0)[:, None])

# %% 3a rank-from-one
# says: Ranks count from 0: loc 0 is rank 0's, and here it is rank 1's.
# asks: Which remainders are possible with four ranks?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE + 1 == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a next-rank
# says: The tokens of the next rank are stored, not your own.
# asks: Which remainder has a loc of rank 1?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & ((loc + DCP_SIZE - 1) % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a mirrored
# says: The ranks are dealt to from the wrong end: remainder 0 is rank 0.
# asks: Who stores loc 8 of four ranks?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (DCP_SIZE - 1 - loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a others
# says: The filter is turned round: it keeps what other ranks store.
# asks: Should == or != let a token through?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE != DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a row-from-one
# says: One row too far: row loc // D, and rows count from 0.
# asks: In which row of rank 0 is loc 8 of four ranks?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE + 1
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a row-back
# says: One row too low: page 0 is part of the pool, only never handed out.
# asks: Is there a row 0 in the pool?
# family: M10
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE - 1
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a float32
# says: The row goes through float32, which rounds it up near a whole number.
# asks: Which division never leaves the integers?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = (loc / DCP_SIZE).to(tl.int64)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a int32-loc
# says: The loc was cut to 32 bits: past 2^31 it is another number.
# asks: How many bits has a loc?
# family: M16
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1).to(tl.int32)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a int32-address
# says: row * kv_stride in 32 bits wraps past 2^31 elements: the address is wrong.
# asks: How many elements has a pool of 4 million rows of 576?
# family: M16
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = (loc // DCP_SIZE).to(tl.int32)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a program-stride
# says: Blocks overlap by all but one token: program p begins at p, not p * ROWS.
# asks: Which tokens does program 1 handle?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a token-a-program
# says: One token a program; it is launched with one program for each ROWS tokens.
# asks: How many tokens must each program handle?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) + tl.zeros((ROWS,), tl.int32)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a last-token
# says: The last token is never written: lanes up to n - 1 are inside.
# asks: Which lane has the last token?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n - 1, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a first-element
# says: Only the first element of each row is written: a row has DIM of them.
# asks: How many values must one lane move?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.zeros((DIM,), tl.int32)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a last-element
# says: The last element of each row is missing: a row has DIM of them.
# asks: Which is the last column of tl.arange(0, DIM)?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    inside = owned[:, None] & (col[None, :] < DIM - 1)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=inside)
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=inside)

# %% 3a one-past
# says: One element too many: what follows the row is somebody else's.
# asks: Which columns does a row of DIM elements have?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, 2 * DIM)
    inside = owned[:, None] & (col[None, :] <= DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None] & (col[None, :] < DIM), other=0)
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=inside)

# %% 3a one-past-read
# says: It reads one element past each row: masked lanes must not load either.
# asks: Whose is the element after the last row of the source?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, 2 * DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None] & (col[None, :] <= DIM))
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None] & (col[None, :] < DIM))

# %% 3a src-stride-ignored
# says: Tokens of the source are src_stride apart, not DIM: right only without gaps.
# asks: Where does token 1 begin in the source?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * DIM + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a strides-ignored
# says: Both strides are ignored: rows lie kv_stride and src_stride elements apart.
# asks: Where does the second row begin?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * DIM + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * DIM + col[None, :], x, mask=owned[:, None])

# %% 3a strides-swapped
# says: The two strides are swapped: each buffer has its own.
# asks: Which of them belongs to the pool?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * kv_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * src_stride + col[None, :], x, mask=owned[:, None])

# %% 3a kv-stride-for-both
# says: The source is read with the pool's stride; it has its own.
# asks: Where does token 1 begin in the source?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * kv_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a src-stride-for-both
# says: The pool is written with the source's stride; it has its own.
# asks: Where does row 1 of the pool begin?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * src_stride + col[None, :], x, mask=owned[:, None])

# %% 3a stride-in-bytes
# says: Strides count elements, and a pointer steps by elements: no factor for bytes.
# asks: By how much does kv_ptr + 1 move?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride * 4 + col[None, :], x, mask=owned[:, None])

# %% 3a transposed
# says: Rows and columns are swapped: the stride goes with the row.
# asks: How far apart are two neighbours of one row?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] + col[None, :] * kv_stride, x, mask=owned[:, None])

# %% 3a src-by-row
# says: The source is read by the row of the pool; it has a row for each token.
# asks: Which token does the lane handle?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + row[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a src-compacted
# says: Owned tokens were counted, and that number taken for their place in src.
# asks: Token 3 is the first you own. Which row of src is it?
# family: M14
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    place = tl.cumsum(owned.to(tl.int32), 0) - 1
    x = tl.load(src_ptr + place[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a packed
# says: Owned tokens are packed from row 0 on: the row is loc // D, also with gaps.
# asks: Who will look for loc 21 of four ranks, and in which row?
# family: M14
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = tl.cumsum(owned.to(tl.int32), 0) - 1
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a row-by-token
# says: The row was taken from the token's place in the batch, not from its loc.
# asks: Where will the reader of loc 21 look?
# family: M14
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = token // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a load-unmasked
# says: The values are right, but lanes without a token read past the source.
# asks: What does a load do without a mask?
# outcome: unsafe
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a adds
# says: It adds to what the row held; a slot is used again and must be replaced.
# asks: What is in a row when its page comes back from another request?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    old = tl.load(kv_ptr + row[:, None] * kv_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x + old, mask=owned[:, None])

# %% 3a half
# says: The values went through float16: large ones are rounded.
# asks: Does the store need a conversion when both have one dtype?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x.to(tl.float16), mask=owned[:, None])

# %% 3a not-on-one-rank
# says: With one rank nothing is written: all tokens are its own then.
# asks: Who stores a token when there is one rank?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK) & (DCP_SIZE > 1)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3a not-the-last-rank
# says: The last rank stores nothing: ranks are 0 to D - 1.
# asks: Which remainder is the largest?
@triton.jit
def write_ckv_norope_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK) & ((DCP_RANK < DCP_SIZE - 1) | (DCP_SIZE == 1))
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

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
# says: Filtered, but not divided: the right tokens, at their global address.
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

# %% 3c always
# says: Every pool localizes here, but the draft is whole on every rank.
# asks: Which of the three pools is split, and which is given locs?
# family: M7
def should_localize(pool_kind, dcp_size):
    return True

# %% 3c never
# says: Nothing localizes: then every rank stores every token, as on the old server.
# asks: Whose rows did the needle test read?
# family: M1
def should_localize(pool_kind, dcp_size):
    return False

# %% 3c sharded-only
# says: Sharding alone decides here; the kind of pool does too.
# asks: Is the draft split when there are eight ranks?
# family: M7
def should_localize(pool_kind, dcp_size):
    return dcp_size > 1

# %% 3c not-draft
# says: The unified pool's ids are rows already: it would be localized twice.
# asks: What does `resolved` say about its ids?
# family: M6
def should_localize(pool_kind, dcp_size):
    return pool_kind != "draft" and dcp_size > 1

# %% 3c not-unified
# says: The draft would drop the tokens of other ranks: it is whole on every rank.
# asks: How many ranks store the draft's row of a loc?
# family: M7
def should_localize(pool_kind, dcp_size):
    return pool_kind != "unified_resolved" and dcp_size > 1

# %% 3c inverted
# says: Inverted: the target is split and given locs, so it is the one.
# asks: Which pool broke on the server of the report?
def should_localize(pool_kind, dcp_size):
    return pool_kind != "target" and dcp_size > 1

# %% 3c draft
# says: Target and draft are mixed up: the draft is whole on every rank.
# asks: Which pool does every rank read by loc?
# family: M7
def should_localize(pool_kind, dcp_size):
    return pool_kind == "draft" and dcp_size > 1

# %% 3c unified
# says: Only the unified pool localizes here, and its ids are rows already.
# asks: What does `resolved` say about its ids?
# family: M6
def should_localize(pool_kind, dcp_size):
    return pool_kind == "unified_resolved" and dcp_size > 1

# %% 3c target-one-rank
# says: With one rank there is nothing to localize: asked for is False.
# asks: What is the owner of every loc when D is 1?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target"

# %% 3c not-draft-one-rank
# says: Neither one rank nor rows that are resolved already need a division.
# asks: Which of the three is split and given locs?
# family: M6
def should_localize(pool_kind, dcp_size):
    return pool_kind != "draft"

# %% 3c not-unified-one-rank
# says: The draft is whole on every rank, and one rank has nothing to divide.
# asks: Which of the three is split and given locs?
# family: M7
def should_localize(pool_kind, dcp_size):
    return pool_kind != "unified_resolved"

# %% 3c more-than-two
# says: Two ranks share the pool too.
# asks: Whose is loc 9 of two ranks?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size > 2

# %% 3c even
# says: Three ranks share the pool too: D need not be even.
# asks: Whose is loc 9 of three ranks?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size % 2 == 0

# %% 3c eight
# says: The number of ranks of the report is not the only one.
# asks: From how many ranks on is a pool split?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size == 8

# %% 3c inverted-size
# says: One rank localizes here and several do not.
# asks: For how many ranks is loc // D another number?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size == 1

# %% 3c an-int
# says: A number came out where True or False is asked for.
# asks: What does `a and b` give when a is True?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size - 1

# %% 3c the-size
# says: For the target this gives the number of ranks, not a bool.
# asks: What does `a and b` give when a is True?
def should_localize(pool_kind, dcp_size):
    return dcp_size > 1 and pool_kind == "target" and dcp_size

# %% 3c one-or-zero
# says: 1 and 0 came out; asked for is True or False.
# asks: What is the type of a comparison?
def should_localize(pool_kind, dcp_size):
    return int(pool_kind == "target" and dcp_size > 1)

# %% 3c none
# says: Where it does not localize there is no result at all: None is no bool.
# asks: What does a function return that ends without return?
def should_localize(pool_kind, dcp_size):
    if pool_kind == "target" and dcp_size > 1:
        return True

# %% 3c kind
# says: The name of a pool came out where True or False is asked for.
# asks: What does `a and b` give when a is True?
def should_localize(pool_kind, dcp_size):
    return dcp_size > 1 and pool_kind

# %% 3c tensor
# says: A tensor came out where True or False is asked for.
# asks: What is asked about: one pool, or many locs?
def should_localize(pool_kind, dcp_size):
    return torch.tensor(pool_kind == "target" and dcp_size > 1)

# %% 3d holes
# says: Holes are kept: rows belong at the front, and -1 after them.
# asks: How many places must the kernel walk to find the last row?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    return rows.int(), owned.sum(-1).int()

# %% 3d holes-count-global
# says: Holes are kept, and the keys of other ranks are counted.
# asks: How many rows has this rank, and where does the kernel look for them?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    return rows.int(), (topk_locs >= 0).sum(-1).int()

# %% 3d tail-divided
# says: Behind the rows stand other ranks' locs, divided: -1 is asked for there.
# asks: What is left in the places past the count?
# family: M9
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return (topk_locs.gather(-1, front) // dcp_size).int(), owned.sum(-1).int()

# %% 3d sorted
# says: Rows were sorted by their number: the order of the keys is lost.
# asks: Which key comes first, the best one or the one in the lowest row?
# family: M14
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    return rows.sort(dim=-1, descending=True).values.int(), owned.sum(-1).int()

# %% 3d sorted-up
# says: Rows were sorted upwards: the order of the keys is lost.
# asks: Which key comes first, the best one or the one in the lowest row?
# family: M14
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    big = torch.where(owned, rows, 2**40).sort(dim=-1).values
    return torch.where(big == 2**40, -1, big).int(), owned.sum(-1).int()

# %% 3d reversed
# says: The rows stand in reverse order.
# asks: Which of a query's keys does the kernel meet first?
# family: M14
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    rows, owned = rows.flip(-1), owned.flip(-1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d back
# says: The rows stand at the end: the kernel reads the first `count` places.
# asks: Which places does a kernel read that is told count = 2?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort(owned.int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d count-all
# says: The count is that of all places, holes included.
# asks: How many rows of this rank are there?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), torch.full(topk_locs.shape[:-1], topk_locs.shape[-1]).int()

# %% 3d count-global
# says: Other ranks' keys were counted too: this is how many were selected in all.
# asks: What do the counts of all ranks add up to?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), (topk_locs >= 0).sum(-1).int()

# %% 3d count-holes
# says: The holes were counted, not the rows.
# asks: How many places are not -1?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), (rows < 0).sum(-1).int()

# %% 3d count-one-less
# says: The count is the place of the last row, one less than their number.
# asks: How many places are 0 to 2?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), (owned.sum(-1) - 1).int()

# %% 3d count-even
# says: The count is what D ranks would have on average, not what this one has.
# asks: Does every rank hold as many keys of a query?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), ((topk_locs >= 0).sum(-1) // dcp_size).int()

# %% 3d count-one-for-all
# says: One count for the whole batch; each query has its own.
# asks: How many rows has the second query?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum().int()

# %% 3d count-keepdim
# says: The counts have a last axis of 1: one number a query is asked for.
# asks: What is the shape of a count for each query?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1, keepdim=True).int()

# %% 3d count-axis
# says: Counted along the wrong axis: how many queries, not how many keys.
# asks: Which axis holds the keys of one query?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(0).int()

# %% 3d count-padding
# says: Padding was counted on rank D-1: -1 % D is D-1 there.
# asks: Whose is -1 in torch?
# family: M8
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = topk_locs % dcp_size == dcp_rank
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((rows < 0).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d padding
# says: Padding is a key on rank D-1: -1 % D is D-1, so -1 stands among the rows.
# asks: Whose is -1 in torch?
# family: M8
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = topk_locs % dcp_size == dcp_rank
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d padding-truncated
# says: Padding became row 0 on rank D-1.
# asks: What is -1 / 4 rounded towards zero?
# family: M8
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = topk_locs % dcp_size == dcp_rank
    rows = torch.where(owned, topk_locs.div(dcp_size, rounding_mode="trunc"), -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d padding-clamped
# says: Padding was turned into loc 0, which is a key of rank 0.
# asks: After the clamp, can you still tell loc 0 from padding?
# family: M8
def localize_topk(topk_locs, dcp_rank, dcp_size):
    topk_locs = topk_locs.clamp(min=0)
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d raw
# says: These are still the global locs: nothing selected an owner.
# asks: If every rank attends to every key, what does each key weigh in the end?
# family: M1
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = topk_locs >= 0
    rows = topk_locs
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d untouched
# says: The table came back as it was, with a count: that is the old server's read.
# asks: In which row of this rank is loc 10?
# family: M1
def localize_topk(topk_locs, dcp_rank, dcp_size):
    return topk_locs.int(), (topk_locs >= 0).sum(-1).int()

# %% 3d no-divide
# says: You kept the right keys but left them at their global address.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = topk_locs
    rows = torch.where(owned, rows, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d no-filter
# says: Other ranks' keys were divided too: each rank reads strangers' rows.
# asks: Which rank should answer for loc 5, and what should the others say?
# family: M3
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = topk_locs >= 0
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs // dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs % dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d one-row
# says: The remainder is the owner, not the row.
# asks: Which two numbers does a loc give, and which of them is the row?
# family: M4
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs % dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d by-place
# says: The places of top-k were dealt out, not the locs.
# asks: Does the first place of every query belong to rank 0?
# family: M5
def localize_topk(topk_locs, dcp_rank, dcp_size):
    place = torch.arange(topk_locs.shape[-1], device=topk_locs.device).expand(topk_locs.shape)
    owned = (topk_locs >= 0) & (place % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 8 and 9 are in one page. Do they have one owner?
# family: M5
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs // 64 % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d neighbours
# says: This gives D neighbours to one rank; interleaved, they go to D ranks.
# asks: With four ranks, who stores loc 9 and who stores loc 10?
# family: M5
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs // dcp_size % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d twice
# says: Divided twice: the result of a localize was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d row-zero
# says: Row 0 fills the rest: it is a row like any other, and would be read.
# asks: How does a reader tell "not here" from row 0?
# family: M9
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, 0)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d repeated
# says: The first row fills the rest: a reader without a count meets it again.
# asks: What does a key weigh that is listed twice?
# family: M9
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    rows = rows.gather(-1, front)
    if rows.shape[-1]:
        rows = torch.where(rows < 0, rows[..., :1], rows)
    return rows.int(), owned.sum(-1).int()

# %% 3d places
# says: These are places in top-k, not rows: the order is there, the rows are not.
# asks: What does argsort return?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return torch.where(owned.gather(-1, front), front, -1).int(), owned.sum(-1).int()

# %% 3d int64-rows
# says: The values are right, but int32 is asked for.
# asks: Which dtype do kernels read a table in?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front), owned.sum(-1)

# %% 3d int64-counts
# says: The rows are int32 and the counts int64: both are asked for in int32.
# asks: Which dtype does sum give for integers?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1)

# %% 3d table-dtype
# says: The rows have the dtype of the locs; int32 is asked for.
# asks: Which dtype do kernels read a table in?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).to(topk_locs.dtype), owned.sum(-1).int()

# %% 3d int32-first
# says: The locs were cut to 32 bits before the division; only rows fit.
# asks: How large can a loc be whose row fits in int32?
# family: M16
def localize_topk(topk_locs, dcp_rank, dcp_size):
    topk_locs = topk_locs.int().long()
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d float32
# says: The row goes through float32, exact to 2^24 only.
# asks: Which division never leaves the integers?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, (topk_locs / dcp_size).long(), -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d float64
# says: The row goes through float64, which rounds it up near a whole number.
# asks: Which division never leaves the integers?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, (topk_locs.double() / dcp_size).long(), -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d bits
# says: locs & (D - 1) is the remainder only where D is a power of two.
# asks: What does loc & 2 give for three ranks?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & ((topk_locs & (dcp_size - 1)) == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d loc-zero
# says: Loc 0 was taken for padding; for a mapping it is a loc like any other.
# asks: Is 0 negative?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs > 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d flat
# says: All queries were compacted together: rows moved from one query to another.
# asks: Whose keys are in the first line of the table?
# family: M15
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    flat = rows.reshape(-1)
    flat = torch.cat([flat[flat >= 0], flat[flat < 0]])
    return flat.reshape(rows.shape).int(), owned.sum(-1).int()

# %% 3d first-axis
# says: Compacted along the first axis: rows moved from one query to another.
# asks: Which axis holds the keys of one query?
# family: M15
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=0, stable=True)
    return rows.gather(0, front).int(), owned.sum(-1).int()

# %% 3d cut
# says: The table was cut to the longest query: the shape must stay.
# asks: How wide is the table that the kernel was compiled for?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    most = int(owned.sum(-1).max()) if owned.numel() else 0
    return rows.gather(-1, front)[..., :most].int(), owned.sum(-1).int()

# %% 3d only-rows
# says: The rows came alone: the counts are asked for too.
# asks: How does the kernel know where to stop?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int()

# %% 3d swapped-pair
# says: Rows and counts are swapped.
# asks: Which of the two comes first?
# family: M4
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return owned.sum(-1).int(), rows.gather(-1, front).int()

# %% 3d list
# says: A list came out where a pair is asked for: (rows, counts).
# asks: What does `return a, b` return?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return [rows.gather(-1, front).int(), owned.sum(-1).int()]

# %% 3d in-place
# says: The caller's table was changed; the other ranks' code may share it.
# asks: Who else reads the selected locs?
# outcome: unsafe
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    topk_locs[~owned] = -1
    rows = topk_locs.div(dcp_size, rounding_mode="floor")
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d two-dims
# says: Right only for a table of two dimensions.
# asks: Along which axis does -1 count, whatever comes before it?
# outcome: crashed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    rows = torch.full(topk_locs.shape, -1, dtype=torch.int32, device=topk_locs.device)
    counts = torch.zeros(topk_locs.shape[0], dtype=torch.int32, device=topk_locs.device)
    for q in range(topk_locs.shape[0]):
        mine = [loc // dcp_size for loc in topk_locs[q].tolist() if loc >= 0 and loc % dcp_size == dcp_rank]
        rows[q, : len(mine)] = torch.tensor(mine, dtype=torch.int32)
        counts[q] = len(mine)
    return rows, counts

# %% 3d rank-from-one
# says: Ranks count from 0: loc 0 is rank 0's, and here it is rank 1's.
# asks: Which remainders are possible with four ranks?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size + 1 == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3e natural
# says: The LSEs are to base 2: exp sharpens the weights, 8.81 for 8.
# asks: What is the weight behind an LSE of 3 to base 2?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log(total)

# %% 3e natural-weights
# says: Weights by exp, the LSE by log2: two bases in one function.
# asks: What is the weight behind an LSE of 3 to base 2?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e natural-lse
# says: The output is right; its LSE was taken with the natural logarithm.
# asks: Which base do the ranks' LSEs have?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log(total)

# %% 3e natural-result
# says: The LSE was converted to the natural base; base 2 is asked for.
# asks: Which base do the ranks' LSEs have?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, (top + torch.log2(total)) * math.log(2)

# %% 3e converted-wrongly
# says: Converted to the natural base and then used with 2: 7.23 for 8.
# asks: Which function undoes a natural logarithm?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = lses * math.log(2)
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e converted-back
# says: Weights to the power 0.69: the LSE is right, the outputs lean to the mean.
# asks: Which function undoes a natural logarithm?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2((lses - top) * math.log(2))
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(torch.exp2(lses - top).sum(0))

# %% 3e converted-the-other-way
# says: Divided by ln 2 although the base is 2 already: weights to the power 1.44.
# asks: Which base do the ranks' LSEs have?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = lses / math.log(2)
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e weights-and-sum-by-lse
# says: LSEs were weighed and added as if they were weights: they are logarithms.
# asks: What is the weight behind an LSE of 3 to base 2?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    return (lses[..., None] * outs).sum(0) / lses.sum(0)[..., None], lses.sum(0)

# %% 3e average
# says: Outputs were averaged: a rank with most of the weight counts for most.
# asks: Ranks weigh 2 and 8. Whose output counts for more?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    total = weight.sum(0)
    return outs.mean(0), top + torch.log2(total)

# %% 3e average-all
# says: Outputs and LSEs were averaged: weights add up, logarithms do not.
# asks: What do weights of 2 and 8 make together?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    return outs.mean(0), lses.mean(0)

# %% 3e average-held
# says: Ranks with keys were averaged: they weigh as much as their LSEs say.
# asks: Ranks weigh 2 and 8. Whose output counts for more?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    held = (lses > -math.inf)[..., None]
    out = torch.where(held, outs, 0.0).sum(0) / held.sum(0).clamp(min=1)
    return out, top + torch.log2(weight.sum(0))

# %% 3e sum
# says: Outputs were added up without their weights.
# asks: What is the average of 0 and 10 with weights 2 and 8?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    return kept.sum(0), top + torch.log2(total)

# %% 3e not-normalised
# says: The weighted sum is not divided by the sum of the weights.
# asks: What do the weights of an average add up to?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0)
    return out, top + torch.log2(total)

# %% 3e divided-by-ranks
# says: Divided by the number of ranks, not by the sum of the weights.
# asks: What do the weights of an average add up to?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / len(outs)
    return out, top + torch.log2(total)

# %% 3e best-rank
# says: Only the rank with the largest LSE was taken.
# asks: Ranks weigh 2 and 8. Does the 2 count for nothing?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    total = weight.sum(0)
    best = lses.argmax(0)
    out = outs.gather(0, best[None, ..., None].expand(1, *outs.shape[1:]))[0]
    out = torch.where((total > 0)[..., None], out, 0.0)
    return out, top + torch.log2(total)

# %% 3e lse-is-max
# says: The output is right; its LSE is the largest one, not that of all weights.
# asks: What do weights of 2 and 8 make together?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, lses.amax(0)

# %% 3e lse-is-sum
# says: The LSEs were added: logarithms add where weights are multiplied.
# asks: What do weights of 2 and 8 make together, and what is its log2?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, lses.sum(0)

# %% 3e lse-without-top
# says: The largest LSE was subtracted and never added again.
# asks: What is log2 of weights that were all divided by 2^top?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, torch.log2(total)

# %% 3e lse-averaged
# says: The LSE is that of the mean weight: log2(D) too small.
# asks: Do the weights of the ranks add up, or average out?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(weight.mean(0))

# %% 3e weights-by-lse
# says: The LSEs themselves were taken for weights: they are logarithms.
# asks: What is the weight behind an LSE of 3 to base 2?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    share = torch.where(weight > 0, lses, 0.0)
    out = (share[..., None] * kept).sum(0) / share.sum(0)[..., None]
    return out, top + torch.log2(total)

# %% 3e no-max
# says: Without subtracting the largest, 2^595 overflows: infinity by infinity is NaN.
# asks: Which is the largest float32?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    weight = torch.exp2(lses)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, torch.log2(total)

# %% 3e no-max-no-guard
# says: 0 times NaN is NaN, and 2^595 overflows: both can be seen beforehand.
# asks: What does a rank without keys hand in, and how large is the largest weight?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    weight = torch.exp2(lses)
    total = weight.sum(0)
    return (weight[..., None] * outs).sum(0) / total[..., None], torch.log2(total)

# %% 3e no-max-lse
# says: The output is right; the LSE overflows past 2^128.
# asks: Which is the largest float32?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, torch.log2(torch.exp2(lses).sum(0))

# %% 3e max-of-all
# says: One largest LSE for all queries: others' weights all become 0.
# asks: Which LSEs compete with each other for one query and head?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses[lses > -math.inf].max() if lses.numel() and (lses > -math.inf).any() else torch.tensor(0.0)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e max-of-rank-0
# says: Rank 0's LSE was subtracted: where rank 0 is empty that is -inf.
# asks: Is rank 0's always the largest?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses[0]
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e min
# says: The smallest LSE was subtracted: powers can still overflow, -inf too.
# asks: Which shift makes every power at most 1?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amin(0)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e nan-times-zero
# says: A rank without keys left NaN, and 0 times NaN is NaN.
# asks: What does an empty rank's output hold?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    total = weight.sum(0)
    out = (weight[..., None] * outs).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e all-empty
# says: Where no rank has keys, -inf - -inf is NaN: asked for are 0 and -inf.
# asks: What is the largest LSE when every one is -inf?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e all-empty-divided
# says: Where no rank has keys, the output is 0 / 0: asked for is 0.
# asks: What do the weights add up to when nobody has keys?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total[..., None]
    return out, top + torch.log2(total)

# %% 3e all-empty-lse-zero
# says: Where no rank has keys the LSE is 0 here, which says: a weight of 1.
# asks: What is log2 of nothing?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, torch.where(total > 0, top + torch.log2(total), 0.0)

# %% 3e all-empty-lowest
# says: nan_to_num makes the lowest float of -inf: nobody's LSE stays -inf.
# asks: What does torch.nan_to_num do with infinities?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    kept = torch.where((lses == -math.inf)[..., None], 0.0, outs)
    top = lses.amax(0)
    weight = torch.exp2(lses - top).nan_to_num(0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total[..., None]
    return torch.nan_to_num(out), torch.nan_to_num(top + torch.log2(total))

# %% 3e epsilon
# says: A small number was added to the total: where nobody has keys it is the total.
# asks: What is log2 of your small number, and what is asked for?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0) + 1e-6
    return (weight[..., None] * kept).sum(0) / total[..., None], top + torch.log2(total)

# %% 3e all-empty-tiny
# says: Where no rank has keys the LSE is a large negative number, not -inf.
# asks: What is log2 of nothing?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total.clamp(min=1e-30))

# %% 3e softmax
# says: softmax is to base e, and where nobody has keys it is NaN.
# asks: Which base does torch.softmax have?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    weight = torch.softmax(lses, 0)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    out = (weight[..., None] * kept).sum(0)
    return out, torch.logsumexp(lses, 0)

# %% 3e softmax-weights
# says: Weights by softmax, which is to base e: 8.81 for 8.
# asks: Which base does torch.softmax have?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.softmax(lses, 0).nan_to_num(0.0)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    out = (weight[..., None] * kept).sum(0)
    total = torch.exp2(lses - top).sum(0)
    return out, top + torch.log2(total)

# %% 3e logsumexp
# says: The output is right; torch.logsumexp is to base e.
# asks: How do you turn a logarithm to base 2 into a natural one?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, torch.logsumexp(lses, 0)

# %% 3e empty-weighs-one
# says: A rank without keys weighs as much as the largest: 0 was put for its LSE.
# asks: What is 2^0?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == -math.inf, 0.0, lses)
    outs = torch.nan_to_num(outs)
    top = lses.amax(0)
    weight = torch.exp2(lses - top)
    kept = outs
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e nan-late
# says: NaN was removed after the sum: one empty rank wipes the whole output.
# asks: What is 3 + NaN?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    total = weight.sum(0)
    out = (weight[..., None] * outs).sum(0) / total.clamp(min=1e-30)[..., None]
    out = torch.nan_to_num(out)
    return out, top + torch.log2(total)

# %% 3e bf16
# says: Weights and sums were kept in bf16, which has eight bits.
# asks: In which dtype is the result asked for?
def merge_lse(outs, lses):
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top.float()).to(lses.dtype)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out.float(), (top + torch.log2(total)).float()

# %% 3e bf16-throughout
# says: It was computed in the dtype that came in; float32 is asked for throughout.
# asks: How many digits has a sum in bf16?
def merge_lse(outs, lses):
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    return (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None], top + torch.log2(total)

# %% 3e input-dtype
# says: The results have the dtype of the inputs; float32 is asked for.
# asks: In which dtype is the next layer's input?
def merge_lse(outs, lses):
    kind = outs.dtype
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out.to(kind), (top + torch.log2(total)).to(kind)

# %% 3e float64
# says: The values are right, but float32 is asked for.
# asks: Which dtype has the result?
def merge_lse(outs, lses):
    outs, lses = outs.double(), lses.double()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e heads-mixed
# says: The weights of all heads were added up: each head has its own.
# asks: Do two heads look at the same keys with the same weights?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0).sum(-1, keepdim=True).expand_as(top)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(weight.sum(0))

# %% 3e one-weight-a-rank
# says: One weight for a whole rank: each query and head has its own.
# asks: Does a rank hold as much of every query's weight?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    share = weight.mean((1, 2), keepdim=True)
    out = (share[..., None] * kept).sum(0) / share.sum(0).clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e only-output
# says: The output came alone: the merged LSE is asked for too.
# asks: By which number could you see that keys were counted twice?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out

# %% 3e swapped-pair
# says: Output and LSE are swapped.
# asks: Which of the two comes first?
# family: M4
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return top + torch.log2(total), out

# %% 3e keepdim
# says: The LSE has the ranks' axis still: [T, H] is asked for.
# asks: Which axis disappears in a merge?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, (top + torch.log2(total))[None]

# %% 3e outs-changed
# says: The caller's outputs were changed: a merge only reads.
# asks: Who else may hold the ranks' outputs?
# outcome: unsafe
def merge_lse(outs, lses):
    outs[lses == -math.inf] = 0
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = outs
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e lses-changed
# says: The caller's LSEs were changed: a merge only reads.
# asks: Who else looks at the ranks' LSEs?
# outcome: unsafe
def merge_lse(outs, lses):
    outs = outs.float()
    lses[lses == -math.inf] = -1000.0
    lses = lses.float()
    top = lses.amax(0)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e drops-far
# says: Ranks far below the largest are dropped: they weigh little, not nothing.
# asks: How much does a rank weigh that is 4 below the largest?
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.where(lses > top - 4, torch.exp2(lses - top), 0.0)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)

# %% 3e ranks-sum-twice
# says: The LSE is log2(D) too large: the merged weight is counted by every rank.
# asks: By how much is an LSE too large when every key counts D times?
# family: M13
def merge_lse(outs, lses):
    outs, lses = outs.float(), lses.float()
    top = lses.amax(0)
    top = torch.where(top == -math.inf, 0.0, top)
    weight = torch.exp2(lses - top)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    total = weight.sum(0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total * len(lses))

# %% 3f never
# says: It never goes off: no single rank holds more keys than were asked for.
# asks: What do the counts of all ranks add up to when each holds every key?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return False

# %% 3f always
# says: It goes off on a sound server too.
# asks: What do the counts of the ranks add up to on a sound server?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return True

# %% 3f equal-too
# says: A sound server's counts add up to exactly the keys asked for: no alarm.
# asks: Is > or >= the right comparison?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) >= topk_counts).any())

# %% 3f any-difference
# says: Missing keys are another fault: the alarm is for keys that are held twice.
# asks: Is a sum below the number asked for replication?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) != topk_counts).any())

# %% 3f all-queries
# says: One query is enough: here all of them must be replicated.
# asks: What if only one request of a batch is affected?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) > topk_counts).all())

# %% 3f totals
# says: Summed over the batch: keys missing in one query hide double ones in another.
# asks: What do 3 too few and 2 too many add up to?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.sum() > topk_counts.sum())

# %% 3f full-rank
# says: One rank holding all keys is sound, if the others hold none.
# asks: Add up the counts of all ranks: is it too many?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts == topk_counts).any())

# %% 3f all-full
# says: Replication need not be complete: D times as many keys is the extreme case.
# asks: What if only two ranks hold a key twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(((valid_counts == topk_counts).all(0) & (len(valid_counts) > 1)).any())

# %% 3f wrong-axis
# says: Counts were added over the queries; a query's keys lie on the ranks.
# asks: Which axis of valid_counts are the ranks?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[1] and (valid_counts.sum(1) > topk_counts.max()).any())

# %% 3f ranks-equal
# says: Equal counts prove nothing: a sound server may share keys out evenly.
# asks: What do equal counts of a quarter each add up to?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[0] > 1 and valid_counts.shape[1] and (valid_counts.float().std(0) == 0).any())

# %% 3f lse-equal
# says: LSEs of two orders of summation agree within 1e-3, not bit by bit.
# asks: Is a difference of 0.0005 a key that is held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse > single_lse).any())

# %% 3f lse-different
# says: Any difference counts here, rounding too: they agree within 1e-3.
# asks: Is a difference of 0.0005 a key that is held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse != single_lse).any())

# %% 3f allclose
# says: allclose's default is tighter than the 1e-3 within which LSEs agree.
# asks: How far apart may two LSEs of a sound server be?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return not torch.allclose(merged_lse, single_lse)

# %% 3f not-within
# says: Two LSEs of -inf differ by NaN, and `not (NaN < tolerance)` is an alarm.
# asks: What is -inf - -inf?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return not bool(((merged_lse - single_lse).abs() < 1e-2).all())

# %% 3f mean-difference
# says: A query without keys makes mean, sum and maximum NaN, which exceeds nothing.
# asks: What is -inf - -inf?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse).mean() > 0.1)

# %% 3f log2-d
# says: Replication need not be complete: fewer copies raise the LSE by less.
# asks: By how much does the LSE rise when half of the weight is held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[0] > 1 and (merged_lse - single_lse > 0.9 * math.log2(valid_counts.shape[0])).any())

# %% 3f d-times
# says: Exactly D times the keys is asked for: on one rank that is every server.
# asks: What if only two ranks of four hold a key twice, and what if there is one rank?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) == valid_counts.shape[0] * topk_counts).any())

# %% 3f just-log2-d
# says: Exactly log2(D) is asked for: on one rank that is 0, which is sound.
# asks: How many ranks hold a key, when two of four hold it twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(((merged_lse - single_lse - math.log2(valid_counts.shape[0])).abs() < 1e-2).any())

# %% 3f largest-difference
# says: A query without keys makes the maximum NaN, and no queries have none.
# asks: What is -inf - -inf, and what is the largest of no numbers?
# family: M13
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse).max() > 0.1)

# %% 3f whole-unit
# says: The threshold is too high: asked for is a rise of 0.5.
# asks: By how much does the LSE rise when half of the weight is held twice?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse > 0.9).any())

# %% 3f natural
# says: log(D) is the rise to base e; to base 2 it is log2(D).
# asks: What is log2(4)?
# family: M13
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    import math
    rise = merged_lse - single_lse
    return bool(((rise - math.log(len(valid_counts))).abs() < 0.1).any()) and len(valid_counts) > 1

# %% 3f relative
# says: A relative bound grows with the LSE: at 590 it hides a rise of 1.
# asks: What is 1 percent of 590?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse - single_lse > 0.01 * single_lse.abs() + 0.1).any())

# %% 3f ratio
# says: LSEs were divided: near 0 and below it a ratio says nothing.
# asks: What is the ratio of -589 and -590?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((merged_lse / single_lse > 1.001).any())

# %% 3f first-query
# says: Only the first query was looked at.
# asks: What if another request of the batch is affected?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[1] and valid_counts[:, 0].sum() > topk_counts[0])

# %% 3f last-query
# says: Only the last query was looked at.
# asks: What if another request of the batch is affected?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool(valid_counts.shape[1] and valid_counts[:, -1].sum() > topk_counts[-1])

# %% 3f last-rank-missing
# says: The last rank's keys were not added.
# asks: How many ranks are there?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts[:-1].sum(0) > topk_counts).any())

# %% 3f smaller
# says: Turned round: this goes off where keys are missing.
# asks: Are keys that are held twice too many or too few?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) < topk_counts).any())

# %% 3f tensor
# says: A tensor came out where True or False is asked for.
# asks: What does any() of a tensor return?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return (valid_counts.sum(0) > topk_counts).any()

# %% 3f a-query
# says: An answer for each query came out; one for the batch is asked for.
# asks: How many alarms does the server have?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return valid_counts.sum(0) > topk_counts

# %% 3f count
# says: The number of queries came out where True or False is asked for.
# asks: What is the type of a comparison?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return int((valid_counts.sum(0) > topk_counts).sum())

# %% 3f no-queries
# says: A batch without queries ends in an error: it is no alarm.
# asks: What is the largest of no numbers?
# outcome: crashed
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) - topk_counts).max() > 0)

# %% 3f tolerant
# says: A fifth too many is let pass: one key that is held twice is an alarm.
# asks: By how many keys may the sum exceed what was asked for?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) > 1.2 * topk_counts).any())

# %% 3f more-than-two-copies
# says: Twice is too often already.
# asks: How often may a key be held?
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    return bool((valid_counts.sum(0) > 2 * topk_counts).any())

# %% 3g nothing
# says: Nothing is written: your own tokens belong in the pool.
# asks: Which line of the kernel changes the pool?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)

# %% 3g raw
# says: Every rank writes every token to the row with the loc's number: no owner.
# asks: If all ranks keep all tokens, what did sharding save?
# family: M1
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = loc >= 0
    row = loc
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g no-divide
# says: You kept the right tokens but stored them at their global address.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g no-filter
# says: D different tokens were written to one row: nothing selected an owner.
# asks: Which tokens of locs 8, 9, 10, 11 should rank 1 of 4 store?
# family: M3
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = loc >= 0
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc // DCP_SIZE == DCP_RANK)
    row = loc % DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g twice
# says: Divided twice: the row was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g padding-one-rank
# says: With one rank -1 % 1 is 0: padding is stored, one row before the pool.
# asks: Whose is -1 when there is only one rank?
# family: M8
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = loc % DCP_SIZE == DCP_RANK
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g padding-positive
# says: You made the remainder positive: padding is rank D-1's, in row 0.
# asks: Whose is -1 after (loc % D + D) % D?
# family: M8
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (token < n) & ((loc % DCP_SIZE + DCP_SIZE) % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g safe-row
# says: Row 0 was overwritten: a safe address says where, the mask says whether.
# asks: Which lanes does your store's mask let through?
# family: M9
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = tl.where(owned, loc // DCP_SIZE, 0)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=(token < n)[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(token < n)[:, None])

# %% 3g no-tail
# says: The last block has lanes past n: they read locs that are not there.
# asks: How many lanes have the programs together, and how many tokens are there?
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g tail-is-loc-zero
# says: Lanes past n load loc 0, which is rank 0's: they are stored as tokens.
# asks: What does other=0 say about a lane that has no token?
# family: M9
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=0)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g one-program
# says: Every program handles the first block: the others' tokens are never written.
# asks: Which tokens does program 1 handle?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g kv-stride-ignored
# says: Rows of the pool are kv_stride apart, not DIM: right only without gaps.
# asks: Where does row 1 of the pool begin?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * DIM + col[None, :], x, mask=owned[:, None])

# %% 3g src-by-loc
# says: The source is read from row loc; it has a row for each token of the batch.
# asks: How many rows has the source?
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + loc[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g bits
# says: loc & (D - 1) is the remainder only where D is a power of two.
# asks: What does loc & 2 give for three ranks?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & ((loc & (DCP_SIZE - 1)) == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g e5m2
# says: The conversion is to float8e5, which has two bits after the leading one.
# asks: Which of the two fp8 types does the pool have?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x.to(tl.float32).to(tl.float8e5).to(tl.float32).to(tl.float8e4nv), mask=owned[:, None])

# %% 3g int8
# says: The values were made integers first: their fractions are gone.
# asks: What is 1.5 as an int8?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x.to(tl.float32).to(tl.int32).to(tl.float32).to(tl.float8e4nv), mask=owned[:, None])

# %% 3g stride-in-source-bytes
# says: Strides count elements of their own buffer: fp8 has no factor of 4.
# asks: By how much does kv_ptr + 1 move?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride // 4 + col[None, :], x, mask=owned[:, None])

# %% 3g scaled
# says: The values were divided by a scale; this pool keeps none.
# asks: Who would multiply again when the row is read?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    scale = tl.max(tl.abs(x.to(tl.float32)), 1) / 448.0
    y = x.to(tl.float32) / tl.where(scale > 0, scale, 1.0)[:, None]
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], y.to(tl.float8e4nv), mask=owned[:, None])

# %% 3g clamped-to-one
# says: Values above 1 were cut off: e4m3 goes up to 448.
# asks: What is the largest number of float8_e4m3fn?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    y = tl.minimum(tl.maximum(x.to(tl.float32), -1.0), 1.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], y.to(tl.float8e4nv), mask=owned[:, None])

# %% 3g positive
# says: The signs are gone: e4m3 has one.
# asks: How many of the eight bits are the sign?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], tl.abs(x.to(tl.float32)).to(tl.float8e4nv), mask=owned[:, None])

# %% 3g src-stride-ignored
# says: Tokens of the source are src_stride apart, not DIM: right only without gaps.
# asks: Where does token 1 begin in the source?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * DIM + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g one-row
# says: The remainder is the owner, not the row: all your tokens share one row.
# asks: Which two numbers does loc give, and which of them is the row?
# family: M4
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc % DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 8 and 9 are in one page. Do they have one owner?
# family: M5
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc // 64 % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g load-unmasked
# says: The values are right, but lanes without a token read past the source.
# asks: What does a load do without a mask?
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3b int32-all-through
# says: The locs were made int32: past 2^31 they are other numbers.
# asks: How many bits has a loc?
# family: M16
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    locs = locs.int()
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]
