# Answers to 6f: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 6f plain
# outcome: passed
@triton.jit
def transfer_rows_kernel(dst_ptr, src_ptr, dst_loc_ptr, src_loc_ptr, n, dst_stride, src_stride, DIM: tl.constexpr, DST_RANK: tl.constexpr, DST_SIZE: tl.constexpr, SRC_RANK: tl.constexpr, SRC_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = token < n
    a = tl.load(src_loc_ptr + token, mask=inside, other=0)
    b = tl.load(dst_loc_ptr + token, mask=inside, other=-1)
    here = a % SRC_SIZE == SRC_RANK
    there = (b >= 0) & (b % DST_SIZE == DST_RANK)
    moves = here & there
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
    tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 6f loop
# outcome: passed
@triton.jit
def transfer_rows_kernel(dst_ptr, src_ptr, dst_loc_ptr, src_loc_ptr, n, dst_stride, src_stride,
                         DIM: tl.constexpr, DST_RANK: tl.constexpr, DST_SIZE: tl.constexpr,
                         SRC_RANK: tl.constexpr, SRC_SIZE: tl.constexpr, ROWS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    column = tl.arange(0, DIM)
    for i in range(ROWS):
        token = first + i
        a = tl.load(src_loc_ptr + token, mask=token < n, other=0)
        b = tl.load(dst_loc_ptr + token, mask=token < n, other=-1)
        moves = (b >= 0) & (a % SRC_SIZE == SRC_RANK) & (b % DST_SIZE == DST_RANK)
        row = tl.load(src_ptr + a // SRC_SIZE * src_stride + column, mask=moves)
        tl.store(dst_ptr + b // DST_SIZE * dst_stride + column, row, mask=moves)

# %% 6f nothing
# says: Nothing is written: the rows of the tokens that move belong in dst.
# asks: Which line of the kernel changes the target's pool?
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 6f no-source-owner
# says: The source rank was not asked: rows of tokens that others hold are copied.
# asks: Which source rank holds this token?
# family: M3
# outcome: unsafe
# from: plain
- moves = here & there
+ moves = there

# %% 6f no-target-owner
# says: The target rank was not asked: it gets tokens that belong to others.
# asks: Which target rank must have this token?
# family: M3
# from: plain
- moves = here & there
+ moves = here & (b >= 0)

# %% 6f source-raw
# says: The source is read at its locs, undivided.
# asks: In which row does rank 1 of two keep loc 17?
# family: M2
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + a[:, None] * src_stride + col[None, :], mask=moves[:, None])

# %% 6f target-raw
# says: The target is written at its locs, undivided.
# asks: In which row does rank 1 of four keep loc 133?
# family: M2
# outcome: unsafe
# from: plain
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.store(dst_ptr + b[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 6f source-size-twice
# says: The target's locs were divided by the source's size.
# asks: Over how many ranks do the target's locs run?
# outcome: unsafe
# from: plain
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.store(dst_ptr + (b // SRC_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 6f target-size-twice
# says: The source's locs were divided by the target's size.
# asks: Over how many ranks do the source's locs run?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + (a // DST_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])

# %% 6f cached-moves
# says: With one target rank -1 % 1 is 0: a cached token is written before the pool.
# asks: Whose is -1 when there is only one rank?
# family: M8
# outcome: unsafe
# from: plain
- there = (b >= 0) & (b % DST_SIZE == DST_RANK)
+ there = b % DST_SIZE == DST_RANK

# %% 6f cached-positive
# says: The remainder was made positive: -1 is the last rank's, in row 0.
# asks: Whose is -1 after (b % D + D) % D?
# family: M8
# outcome: unsafe
# from: plain
- there = (b >= 0) & (b % DST_SIZE == DST_RANK)
+ there = inside & ((b % DST_SIZE + DST_SIZE) % DST_SIZE == DST_RANK)

# %% 6f safe-row
# says: Row 0 was overwritten: a safe address says where, the mask says whether.
# asks: Which lanes does your store's mask let through?
# family: M9
# from: plain
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ row = tl.where(moves, b // DST_SIZE, 0)
+ tl.store(dst_ptr + row[:, None] * dst_stride + col[None, :], x, mask=inside[:, None])

# %% 6f no-tail
# says: The last block has lanes past n: they read locs that are not there.
# asks: How many lanes have the programs together, and how many tokens are there?
# outcome: unsafe
# from: plain
- a = tl.load(src_loc_ptr + token, mask=inside, other=0)
- b = tl.load(dst_loc_ptr + token, mask=inside, other=-1)
+ a = tl.load(src_loc_ptr + token)
+ b = tl.load(dst_loc_ptr + token)

# %% 6f tail-is-loc-zero
# says: Lanes past n load target loc 0, which is rank 0's: they are copied.
# asks: What does other=0 say about a lane that has no token?
# family: M9
# from: plain
- b = tl.load(dst_loc_ptr + token, mask=inside, other=-1)
+ b = tl.load(dst_loc_ptr + token, mask=inside, other=0)

# %% 6f one-program
# says: Every program handles the first block: the others' tokens never move.
# asks: Which tokens does program 1 handle?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.arange(0, ROWS)

# %% 6f strides-swapped
# says: The strides are swapped: each pool's rows have their own distance.
# asks: Where does row 1 of the target begin?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * dst_stride + col[None, :], mask=moves[:, None])
+ tl.store(dst_ptr + (b // DST_SIZE)[:, None] * src_stride + col[None, :], x, mask=moves[:, None])

# %% 6f dst-stride-ignored
# says: Rows of the target are dst_stride apart, not DIM: right only without gaps.
# asks: Where does row 1 of the target begin?
# from: plain
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.store(dst_ptr + (b // DST_SIZE)[:, None] * DIM + col[None, :], x, mask=moves[:, None])

# %% 6f src-stride-ignored
# says: Rows of the source are src_stride apart, not DIM: right only without gaps.
# asks: Where does row 1 of the source begin?
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * DIM + col[None, :], mask=moves[:, None])

# %% 6f src-by-token
# says: The source is read by token: it is a pool, read by row.
# asks: What tells you where the source keeps a token?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=moves[:, None])

# %% 6f unmasked-load
# says: Rows are loaded for every lane: those that do not move have no row here.
# asks: Which row does a lane read whose token is another rank's?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :])

# %% 6f bits
# says: loc & (D - 1) is the remainder only where D is a power of two.
# asks: What does loc & 2 give for three ranks?
# from: plain
- there = (b >= 0) & (b % DST_SIZE == DST_RANK)
+ there = (b >= 0) & ((b & (DST_SIZE - 1)) == DST_RANK)

# %% 6f source-bits
# says: loc & (S - 1) is the remainder only where S is a power of two.
# asks: What does loc & 2 give for three ranks?
# outcome: unsafe
# from: plain
- here = a % SRC_SIZE == SRC_RANK
+ here = (a & (SRC_SIZE - 1)) == SRC_RANK

# %% 6f ranks-swapped
# says: The ranks are swapped: the source was asked for the target's.
# asks: Whose rank is SRC_RANK?
# outcome: unsafe
# from: plain
- here = a % SRC_SIZE == SRC_RANK
- there = (b >= 0) & (b % DST_SIZE == DST_RANK)
+ here = a % SRC_SIZE == DST_RANK
+ there = (b >= 0) & (b % DST_SIZE == SRC_RANK)

# %% 6f swap
# says: Owner and row are swapped on the target.
# asks: Which of % and // can be as large as the pool?
# family: M4
# from: plain
- there = (b >= 0) & (b % DST_SIZE == DST_RANK)
+ there = (b >= 0) & (b // DST_SIZE == DST_RANK)

- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.store(dst_ptr + (b % DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 6f twice
# says: Divided twice on the target: after the first time it is a row.
# asks: What is 133 // 4 // 4?
# family: M6
# from: plain
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.store(dst_ptr + (b // DST_SIZE // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 6f relayout
# says: The target's row was computed from the source's loc: it has locs of its own.
# asks: Are a token's locs the same number on both nodes?
# outcome: unsafe
# from: plain
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.store(dst_ptr + (a // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 6f narrow
# says: Addresses are computed in 32 bits: past 2^31 elements they wrap.
# asks: What is row 2^18 times 2^13 elements, in 32 bits?
# family: M16
# outcome: unsafe
# from: plain
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ at = (b // DST_SIZE).to(tl.int32) * dst_stride
+ tl.store(dst_ptr + at[:, None] + col[None, :], x, mask=moves[:, None])

# %% 6f narrow-locs
# says: Locs are cut to 32 bits: past 2^31 they are other locs.
# asks: How large can a loc be that fits int32?
# family: M16
# from: plain
- here = a % SRC_SIZE == SRC_RANK
+ a = a.to(tl.int32)
+ here = a % SRC_SIZE == SRC_RANK

# %% 6f narrow-target-locs
# says: Locs are cut to 32 bits: past 2^31 they are other locs.
# asks: How large can a loc be that fits int32?
# family: M16
# outcome: unsafe
# from: plain
- b = tl.load(dst_loc_ptr + token, mask=inside, other=-1)
+ b = tl.load(dst_loc_ptr + token, mask=inside, other=-1).to(tl.int32)

# %% 6f narrow-locs-on-both-sides
# says: Locs are cut to 32 bits: past 2^31 they are other locs.
# asks: How large can a loc be that fits int32?
# family: M16
# outcome: unsafe
# from: plain
- a = tl.load(src_loc_ptr + token, mask=inside, other=0)
- b = tl.load(dst_loc_ptr + token, mask=inside, other=-1)
+ a = tl.load(src_loc_ptr + token, mask=inside, other=0).to(tl.int32)
+ b = tl.load(dst_loc_ptr + token, mask=inside, other=-1).to(tl.int32)

# %% 6f no-sign-no-tail
# says: Without a sign test -1 is before the pool, and lanes past n copy loc 0.
# asks: Which lanes have no target, and what do they load in place of one?
# family: M8
# outcome: unsafe
# from: plain
- b = tl.load(dst_loc_ptr + token, mask=inside, other=-1)
+ b = tl.load(dst_loc_ptr + token, mask=inside, other=0)

- there = (b >= 0) & (b % DST_SIZE == DST_RANK)
+ there = b % DST_SIZE == DST_RANK

# %% 6f half-row
# says: Only the first element of each row is copied.
# asks: How many elements has a row?
# from: plain
- col = tl.arange(0, DIM)
+ col = tl.arange(0, 1)

# %% 6f strides-ignored
# says: Rows lie a stride apart on both sides, not DIM: right only without gaps.
# asks: What lies between two rows of a pool that is a view?
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * DIM + col[None, :], mask=moves[:, None])
+ tl.store(dst_ptr + (b // DST_SIZE)[:, None] * DIM + col[None, :], x, mask=moves[:, None])

# %% 6f sizes-swapped
# says: Each side's locs were divided by the other side's size.
# asks: Over how many ranks do the source's locs run?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ x = tl.load(src_ptr + (a // DST_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ tl.store(dst_ptr + (b // SRC_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 6f one-parenthesis-less
# says: `&` binds before `>=`: each condition needs parentheses of its own.
# asks: What is (inside & d) >= 0?
# outcome: unsafe
@triton.jit
def transfer_rows_kernel(dst_ptr, src_ptr, dst_loc_ptr, src_loc_ptr, n, dst_stride, src_stride, DIM: tl.constexpr, DST_RANK: tl.constexpr, DST_SIZE: tl.constexpr, SRC_RANK: tl.constexpr, SRC_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = token < n
    b = tl.load(dst_loc_ptr + token, mask=inside, other=-1)
    a = tl.load(src_loc_ptr + token, mask=inside, other=0)
    moves = inside & b >= 0 & (b % DST_SIZE == DST_RANK) & (a % SRC_SIZE == SRC_RANK)
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + (a // SRC_SIZE)[:, None] * src_stride + col[None, :], mask=moves[:, None])
    tl.store(dst_ptr + (b // DST_SIZE)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
