# Answers to 7e: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 7e plain
# outcome: passed
@triton.jit
def relayout_kernel(dst_ptr, src_ptr, dst_first, src_first, n, dst_stride, src_stride, DIM: tl.constexpr, DST_RANK: tl.constexpr, DST_SIZE: tl.constexpr, DST_INTERLEAVE: tl.constexpr, SRC_RANK: tl.constexpr, SRC_SIZE: tl.constexpr, SRC_INTERLEAVE: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS).to(tl.int64)
    inside = i < n
    a = src_first + i
    b = dst_first + i
    here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
    there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
    moves = inside & here & there
    of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
    to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
    tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 7e loop
# outcome: passed
@triton.jit
def relayout_kernel(dst_ptr, src_ptr, dst_first, src_first, n, dst_stride, src_stride,
                    DIM: tl.constexpr, DST_RANK: tl.constexpr, DST_SIZE: tl.constexpr, DST_INTERLEAVE: tl.constexpr,
                    SRC_RANK: tl.constexpr, SRC_SIZE: tl.constexpr, SRC_INTERLEAVE: tl.constexpr, ROWS: tl.constexpr):
    column = tl.arange(0, DIM).to(tl.int64)
    for k in range(ROWS):
        token = (tl.program_id(0) * ROWS + k).to(tl.int64)
        a = src_first + token
        b = dst_first + token
        moves = (token < n) & (a % (SRC_SIZE * SRC_INTERLEAVE) // SRC_INTERLEAVE == SRC_RANK)
        moves = moves & (b % (DST_SIZE * DST_INTERLEAVE) // DST_INTERLEAVE == DST_RANK)
        of = a // (SRC_SIZE * SRC_INTERLEAVE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
        to = b // (DST_SIZE * DST_INTERLEAVE) * DST_INTERLEAVE + b % DST_INTERLEAVE
        x = tl.load(src_ptr + of * src_stride + column, mask=moves)
        tl.store(dst_ptr + to * dst_stride + column, x, mask=moves)

# %% 7e by-run
# outcome: passed
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
- moves = inside & here & there
- of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ run_a = a // SRC_INTERLEAVE
+ run_b = b // DST_INTERLEAVE
+ here = run_a % SRC_SIZE == SRC_RANK
+ there = run_b % DST_SIZE == DST_RANK
+ moves = inside & here & there
+ of = run_a // SRC_SIZE * SRC_INTERLEAVE + (a - run_a * SRC_INTERLEAVE)
+ to = run_b // DST_SIZE * DST_INTERLEAVE + (b - run_b * DST_INTERLEAVE)

# %% 7e helper
# outcome: passed
@triton.jit
def _place(loc, SIZE: tl.constexpr, RUN: tl.constexpr):
    turn = loc // (SIZE * RUN)
    rest = loc - turn * (SIZE * RUN)
    return rest // RUN, turn * RUN + rest % RUN

@triton.jit
def relayout_kernel(dst_ptr, src_ptr, dst_first, src_first, n, dst_stride, src_stride,
                    DIM: tl.constexpr, DST_RANK: tl.constexpr, DST_SIZE: tl.constexpr, DST_INTERLEAVE: tl.constexpr,
                    SRC_RANK: tl.constexpr, SRC_SIZE: tl.constexpr, SRC_INTERLEAVE: tl.constexpr, ROWS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * ROWS
    token = first + tl.arange(0, ROWS)
    src_rank, src_row = _place(token + src_first, SRC_SIZE, SRC_INTERLEAVE)
    dst_rank, dst_row = _place(token + dst_first, DST_SIZE, DST_INTERLEAVE)
    moves = ((token < n) & (src_rank == SRC_RANK) & (dst_rank == DST_RANK))[:, None]
    column = tl.arange(0, DIM)[None, :]
    x = tl.load(src_ptr + src_row[:, None] * src_stride + column, mask=moves, other=0)
    tl.store(dst_ptr + dst_row[:, None] * dst_stride + column, x, mask=moves)

# %% 7e nothing
# says: Nothing is written: the rows of the tokens that move belong in dst.
# asks: Which line of the kernel changes the target's pool?
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 7e one-by-one-owner
# says: The ranks were asked as if one loc a turn were given: runs are interleave long.
# asks: With two locs a turn, which rank has loc 1?
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ here = a % SRC_SIZE == SRC_RANK
+ there = b % DST_SIZE == DST_RANK

# %% 7e one-by-one-source
# says: The source rank was asked as if one loc a turn were given.
# asks: With two locs a turn, which rank has loc 1?
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
+ here = a % SRC_SIZE == SRC_RANK

# %% 7e one-by-one-target
# says: The target rank was asked as if one loc a turn were given.
# asks: With two locs a turn, which rank has loc 1?
# from: plain
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ there = b % DST_SIZE == DST_RANK

# %% 7e turn-is-the-rank
# says: Whole rounds were dealt: a round is divided among the ranks, run by run.
# asks: Is loc // (I * D) the number of a run, or of a round?
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ here = a // (SRC_INTERLEAVE * SRC_SIZE) % SRC_SIZE == SRC_RANK
+ there = b // (DST_INTERLEAVE * DST_SIZE) % DST_SIZE == DST_RANK

# %% 7e lab-01-rows
# says: Rows are lab 01's, loc // D: with runs of I a row is round * I + place.
# asks: Four ranks, two locs a turn: which rows has rank 0 of locs 0, 1 and 8?
# from: plain
- of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ of = a // SRC_SIZE
+ to = b // DST_SIZE

# %% 7e lab-01-source
# says: Source rows are lab 01's, loc // D: with runs of I a row is round * I + place.
# asks: Four ranks, two locs a turn: which rows has rank 0 of locs 0, 1 and 8?
# from: plain
- of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
+ of = a // SRC_SIZE

# %% 7e lab-01-target
# says: Target rows are lab 01's, loc // D: with runs of I a row is round * I + place.
# asks: Four ranks, two locs a turn: which rows has rank 0 of locs 0, 1 and 8?
# from: plain
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ to = b // DST_SIZE

# %% 7e no-place
# says: The place in the run is left out: all tokens of a run share its first row.
# asks: In which rows are the two locs of one run?
# from: plain
- of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE
+ to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE

# %% 7e turn-is-the-row
# says: A round gives a rank interleave rows: its number alone is no row.
# asks: How many rows has a rank after one round?
# from: plain
- of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ of = a // (SRC_INTERLEAVE * SRC_SIZE) + a % SRC_INTERLEAVE
+ to = b // (DST_INTERLEAVE * DST_SIZE) + b % DST_INTERLEAVE

# %% 7e no-source-owner
# says: The source rank was not asked: rows of tokens that others hold are copied.
# asks: Which source rank holds this token?
# family: M3
# from: plain
- moves = inside & here & there
+ moves = inside & there

# %% 7e no-target-owner
# says: The target rank was not asked: it gets tokens that belong to others.
# asks: Which target rank must have this token?
# family: M3
# from: plain
- moves = inside & here & there
+ moves = inside & here

# %% 7e load-for-all
# says: Every launch reads a row for every token: the mask must stand before the load.
# asks: Whose row does a lane read whose token is on another source rank?
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=inside[:, None])

# %% 7e load-for-each-target
# says: Each target rank's launch reads all rows of the source rank: one needs it.
# asks: How many launches read a row, if the target is asked at the store only?
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=(inside & here)[:, None])

# %% 7e each-program-all
# says: Every program copies the whole piece: each row is read by all of them.
# asks: Which tokens are program 1's?
@triton.jit
def relayout_kernel(dst_ptr, src_ptr, dst_first, src_first, n, dst_stride, src_stride, DIM: tl.constexpr, DST_RANK: tl.constexpr, DST_SIZE: tl.constexpr, DST_INTERLEAVE: tl.constexpr, SRC_RANK: tl.constexpr, SRC_SIZE: tl.constexpr, SRC_INTERLEAVE: tl.constexpr, ROWS: tl.constexpr):
    for block in range(tl.num_programs(0)):
        i = block * ROWS + tl.arange(0, ROWS).to(tl.int64)
        a = src_first + i
        b = dst_first + i
        here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
        there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
        moves = (i < n) & here & there
        of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
        to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
        col = tl.arange(0, DIM)
        x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
        tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 7e one-program
# says: Every program handles the first block: the others' tokens never move.
# asks: Which tokens does program 1 handle?
# from: plain
- i = tl.program_id(0) * ROWS + tl.arange(0, ROWS).to(tl.int64)
+ i = tl.arange(0, ROWS).to(tl.int64)

# %% 7e no-tail
# says: The last block has lanes past n: what lies behind the piece is copied too.
# asks: How many lanes have the programs together, and how many tokens has the piece?
# outcome: unsafe
# from: plain
- moves = inside & here & there
+ moves = here & there

# %% 7e firsts-forgotten
# says: The piece was taken to begin at loc 0 on both sides: src_first and dst_first.
# asks: What is the source loc of the piece's first token?
# from: plain
- a = src_first + i
- b = dst_first + i
+ a = i
+ b = i

# %% 7e one-first
# says: Source locs were used on the target too: a token's locs differ on two nodes.
# asks: At which target loc does the piece begin?
# outcome: unsafe
# from: plain
- b = dst_first + i
+ b = src_first + i

# %% 7e firsts-swapped
# says: The firsts are swapped: the source's locs begin at src_first.
# asks: Where does the piece begin on the source?
# outcome: unsafe
# from: plain
- a = src_first + i
- b = dst_first + i
+ a = dst_first + i
+ b = src_first + i

# %% 7e nodes-swapped
# says: Source and target layouts are swapped: a loc goes by its own node's numbers.
# asks: Over how many ranks do the target's locs run?
# outcome: unsafe
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ here = a // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ there = b // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK

- of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ of = a // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + a % DST_INTERLEAVE
+ to = b // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + b % SRC_INTERLEAVE

# %% 7e one-layout
# says: The source's layout was used on the target too: each node has its own.
# asks: How many neighbours does the target give to a rank?
# outcome: unsafe
# from: plain
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ there = b // SRC_INTERLEAVE % SRC_SIZE == DST_RANK

- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ to = b // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + b % SRC_INTERLEAVE

# %% 7e one-interleave
# says: The source's interleave was used on the target too: each node has its own.
# asks: How many neighbours does the target give to a rank?
# outcome: unsafe
# from: plain
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ there = b // SRC_INTERLEAVE % DST_SIZE == DST_RANK

- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ to = b // (SRC_INTERLEAVE * DST_SIZE) * SRC_INTERLEAVE + b % SRC_INTERLEAVE

# %% 7e ranks-swapped
# says: The ranks are swapped: the source was asked for the target's.
# asks: Whose rank is SRC_RANK?
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ here = a // SRC_INTERLEAVE % SRC_SIZE == DST_RANK
+ there = b // DST_INTERLEAVE % DST_SIZE == SRC_RANK

# %% 7e same-row
# says: Rows were kept: a token's row is another one on the target.
# asks: Which of the two nodes' numbers give the row that is written?
# outcome: unsafe
# from: plain
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.store(dst_ptr + of[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 7e raw
# says: Pools are read and written at locs: a pool has rows.
# asks: How many locs share one row, on D ranks?
# family: M2
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ x = tl.load(src_ptr + a[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ tl.store(dst_ptr + b[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 7e packed
# says: The source is read by token: it is a pool, read by row.
# asks: What tells you where the source keeps a token?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + i[:, None] * src_stride + col[None, :], mask=moves[:, None])

# %% 7e narrow
# says: Addresses are computed in 32 bits: past 2^31 elements they wrap.
# asks: What is row 2^18 times 2^13 elements, in 32 bits?
# family: M16
# outcome: unsafe
# from: plain
- i = tl.program_id(0) * ROWS + tl.arange(0, ROWS).to(tl.int64)
+ i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)

# %% 7e narrow-locs
# says: Locs are added up in 32 bits: past 2^31 they are negative.
# asks: What is 2^31 - 3 plus 3, in 32 bits?
# family: M16
# from: plain
- i = tl.program_id(0) * ROWS + tl.arange(0, ROWS).to(tl.int64)
+ i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)

- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ x = tl.load(src_ptr + of.to(tl.int64)[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ tl.store(dst_ptr + to.to(tl.int64)[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 7e safe-row
# says: Row 0 was overwritten: a safe address says where, the mask says whether.
# asks: Which lanes does your store's mask let through?
# family: M9
# from: plain
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ to = tl.where(moves, to, 0)
+ tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=inside[:, None])

# %% 7e strides-swapped
# says: The strides are swapped: each pool's rows have their own distance.
# asks: Where does row 1 of the target begin?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ x = tl.load(src_ptr + of[:, None] * dst_stride + col[None, :], mask=moves[:, None])
+ tl.store(dst_ptr + to[:, None] * src_stride + col[None, :], x, mask=moves[:, None])

# %% 7e strides-ignored
# says: Rows lie a stride apart on both sides, not DIM: right only without gaps.
# asks: What lies between two rows of a pool that is a view?
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ x = tl.load(src_ptr + of[:, None] * DIM + col[None, :], mask=moves[:, None])
+ tl.store(dst_ptr + to[:, None] * DIM + col[None, :], x, mask=moves[:, None])

# %% 7e half-row
# says: Only the first element of each row is copied.
# asks: How many elements has a row?
# from: plain
- col = tl.arange(0, DIM)
+ col = tl.arange(0, 1)

# %% 7e bits
# says: run & (D - 1) is the remainder only where D is a power of two.
# asks: What does run & 2 give for three ranks?
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ here = (a // SRC_INTERLEAVE & (SRC_SIZE - 1)) == SRC_RANK
+ there = (b // DST_INTERLEAVE & (DST_SIZE - 1)) == DST_RANK

# %% 7e place-by-token
# says: The place in a run was counted from the piece's beginning: it is the loc's.
# asks: Does a piece begin where a run begins?
# from: plain
- of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + i % SRC_INTERLEAVE
+ to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + i % DST_INTERLEAVE

# %% 7e conditions-without-parentheses
# says: `&` binds before `==`: each condition needs parentheses of its own.
# asks: What is (inside & a // I % D) == r?
# outcome: unsafe
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
- moves = inside & here & there
+ moves = inside & a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK & (b // DST_INTERLEAVE % DST_SIZE == DST_RANK)

# %% 7e row-by-source
# says: The target's row was counted by the source's D and I: each node has its own.
# asks: Whose D and I say where the target keeps a loc?
# outcome: unsafe
# from: plain
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ to = b // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + b % SRC_INTERLEAVE

# %% 7e lab-01
# says: This is lab 01's rule on both sides, owner and row: runs are interleave long.
# asks: With two locs a turn, which rank has loc 1?
# family: M5
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
- there = b // DST_INTERLEAVE % DST_SIZE == DST_RANK
+ here = a % SRC_SIZE == SRC_RANK
+ there = b % DST_SIZE == DST_RANK

- of = a // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + a % SRC_INTERLEAVE
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ of = a // SRC_SIZE
+ to = b // DST_SIZE

# %% 7e store-for-all
# says: The store is masked by i < n alone: rows of tokens that do not move are written.
# asks: Which lanes does your store's mask let through?
# from: plain
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=inside[:, None])

# %% 7e row-narrow
# says: Source rows were cut to 32 bits before the stride: past 2^31 elements they wrap.
# asks: What is row 2^18 times 2^13 elements, in 32 bits?
# family: M16
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + of.to(tl.int32)[:, None] * src_stride + col[None, :], mask=moves[:, None])

# %% 7e owner-by-token
# says: The source's owner was taken from the token's number: it is the loc's.
# asks: What is the source loc of token 0?
# from: plain
- here = a // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
+ here = i // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK

# %% 7e next-rows
# says: Target rows were counted on from the first: other ranks have locs between.
# asks: Which row has the first loc of the next round?
# outcome: unsafe
# from: plain
- to = b // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + b % DST_INTERLEAVE
+ first = dst_first // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + dst_first % DST_INTERLEAVE
+ to = first + i

# %% 7e half
# says: Values went through float16: other dtypes hold values that it rounds.
# asks: Which dtype has src?
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = x.to(tl.float16)

# %% 7e single
# says: Values went through float32: a float64 pool holds values that it rounds.
# asks: Which dtype has src?
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = x.to(tl.float32)

# %% 7e added
# says: Values were added to what lay there: a row that moves is written over.
# asks: What does the target's pool hold before this launch?
# from: plain
- tl.store(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])
+ tl.atomic_add(dst_ptr + to[:, None] * dst_stride + col[None, :], x, mask=moves[:, None])

# %% 7e one-past-the-piece
# says: Token n is not one of the piece: its tokens are 0 to n - 1.
# asks: Which is the last token of a piece of n?
# from: plain
- inside = i < n
+ inside = i <= n

# %% 7e either-rank
# says: A token moved if one of the two ranks was right: both must be.
# asks: Which source rank has the token, and which target rank must have it?
# from: plain
- moves = inside & here & there
+ moves = inside & (here | there)

# %% 7e first-value-all-over
# says: The row's first value was read for all its columns.
# asks: At which address is the second value of a source row?
# from: plain
- x = tl.load(src_ptr + of[:, None] * src_stride + col[None, :], mask=moves[:, None])
+ x = tl.load(src_ptr + of[:, None] * src_stride + 0 * col[None, :], mask=moves[:, None])
