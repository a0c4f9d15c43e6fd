# Answers to 3g: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 3g plain
# outcome: passed
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    col = tl.arange(0, DIM)
    x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g nothing
# says: Nothing is written: your own tokens belong in the pool.
# asks: Which line of the kernel changes the pool?
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g raw
# says: Every rank writes every token to the row with the loc's number: no owner.
# asks: If all ranks keep all tokens, what did sharding save?
# family: M1
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- row = loc // DCP_SIZE
+ owned = loc >= 0
+ row = loc

# %% 3g no-divide
# says: You kept the right tokens but stored them at their loc, undivided.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
# outcome: unsafe
# from: plain
- row = loc // DCP_SIZE
+ row = loc

# %% 3g no-filter
# says: D different tokens were written to one row: nothing selected an owner.
# asks: Which tokens of locs 8, 9, 10, 11 should rank 1 of 4 store?
# family: M3
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = loc >= 0

# %% 3g swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- row = loc // DCP_SIZE
+ owned = (loc >= 0) & (loc // DCP_SIZE == DCP_RANK)
+ row = loc % DCP_SIZE

# %% 3g twice
# says: Divided twice: the row was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
# from: plain
- row = loc // DCP_SIZE
+ row = loc // DCP_SIZE // DCP_SIZE

# %% 3g padding-one-rank
# says: With one rank -1 % 1 is 0: padding is stored, one row before the pool.
# asks: Whose is -1 when there is only one rank?
# family: M8
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = loc % DCP_SIZE == DCP_RANK

# %% 3g padding-positive
# says: You made the remainder positive: padding is rank D-1's, in row 0.
# asks: Whose is -1 after (loc % D + D) % D?
# family: M8
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (token < n) & ((loc % DCP_SIZE + DCP_SIZE) % DCP_SIZE == DCP_RANK)

# %% 3g safe-row
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

# %% 3g no-tail
# says: The last block has lanes past n: they read locs that are not there.
# asks: How many lanes have the programs together, and how many tokens are there?
# outcome: unsafe
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token)

# %% 3g tail-is-loc-zero
# says: Lanes past n load loc 0, which is rank 0's: they are stored as tokens.
# asks: What does other=0 say about a lane that has no token?
# family: M9
# outcome: unsafe
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token, mask=token < n, other=0)

# %% 3g one-program
# says: Every program handles the first block: the others' tokens are never written.
# asks: Which tokens does program 1 handle?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.arange(0, ROWS)

# %% 3g kv-stride-ignored
# says: Rows of the pool are kv_stride apart, not DIM: right only without gaps.
# asks: Where does row 1 of the pool begin?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * DIM + col[None, :], x, mask=owned[:, None])

# %% 3g src-by-loc
# says: The source is read from row loc; it has a row for each token of the batch.
# asks: How many rows has the source?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ x = tl.load(src_ptr + loc[:, None] * src_stride + col[None, :], mask=owned[:, None])

# %% 3g bits
# says: loc & (D - 1) is the remainder only where D is a power of two.
# asks: What does loc & 2 give for three ranks?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & ((loc & (DCP_SIZE - 1)) == DCP_RANK)

# %% 3g e5m2
# says: The conversion is to float8e5, which has two bits after the leading one.
# asks: Which of the two fp8 types does the pool have?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x.to(tl.float32).to(tl.float8e5).to(tl.float32).to(tl.float8e4nv), mask=owned[:, None])

# %% 3g int8
# says: The values were made integers first: their fractions are gone.
# asks: What is 1.5 as an int8?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x.to(tl.float32).to(tl.int32).to(tl.float32).to(tl.float8e4nv), mask=owned[:, None])

# %% 3g stride-in-source-bytes
# says: Strides count elements of their own buffer: fp8 has no factor of 4.
# asks: By how much does kv_ptr + 1 move?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride // 4 + col[None, :], x, mask=owned[:, None])

# %% 3g scaled
# says: The values were divided by a scale; this pool keeps none.
# asks: Who would multiply again when the row is read?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ scale = tl.max(tl.abs(x.to(tl.float32)), 1) / 448.0
+ y = x.to(tl.float32) / tl.where(scale > 0, scale, 1.0)[:, None]
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], y.to(tl.float8e4nv), mask=owned[:, None])

# %% 3g clamped-to-one
# says: Values above 1 were cut off: e4m3 goes up to 448.
# asks: What is the largest number of float8_e4m3fn?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ y = tl.minimum(tl.maximum(x.to(tl.float32), -1.0), 1.0)
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], y.to(tl.float8e4nv), mask=owned[:, None])

# %% 3g positive
# says: The signs are gone: e4m3 has one.
# asks: How many of the eight bits are the sign?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], tl.abs(x.to(tl.float32)).to(tl.float8e4nv), mask=owned[:, None])

# %% 3g src-stride-ignored
# says: Tokens of the source are src_stride apart, not DIM: right only without gaps.
# asks: Where does token 1 begin in the source?
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * DIM + col[None, :], mask=owned[:, None])

# %% 3g one-row
# says: The remainder is the owner, not the row: all your tokens share one row.
# asks: Which two numbers does loc give, and which of them is the row?
# family: M4
# from: plain
- row = loc // DCP_SIZE
+ row = loc % DCP_SIZE

# %% 3g pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 8 and 9 are in one page. Do they have one owner?
# family: M5
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (loc // 64 % DCP_SIZE == DCP_RANK)

# %% 3g load-unmasked
# says: The values are right, but lanes without a token read past the source.
# asks: What does a load do without a mask?
# outcome: unsafe
# from: plain
- x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :], mask=owned[:, None])
+ x = tl.load(src_ptr + token[:, None] * src_stride + col[None, :])

# %% 3g only-minus-one
# says: Only -1 is skipped here: any negative loc is padding.
# asks: Whose is loc -4 when rank 0 asks for the remainder by 4?
# outcome: unsafe
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc != -1) & (loc % DCP_SIZE == DCP_RANK)

# %% 3g loc-zero
# says: Loc 0 was taken for padding: only a negative loc is.
# asks: Is 0 negative?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc > 0) & (loc % DCP_SIZE == DCP_RANK)

# %% 3g row-zero
# says: Row 0 was left out: whether a token is stored says its loc, not its row.
# asks: Where does this rank's first loc lie?
# from: plain
- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=(owned & (row > 0))[:, None])

# %% 3g dim-tokens
# says: A program handles DIM tokens here; it is launched for ROWS of them.
# asks: What does ROWS count, and what does DIM count?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) * ROWS + tl.arange(0, DIM)

# %% 3g int32-address
# says: row * kv_stride in 32 bits wraps past 2^31 elements: the address is wrong.
# asks: How far from the pool's start is row 300,000 at 8,192 elements a row?
# outcome: unsafe
# from: plain
- row = loc // DCP_SIZE
+ row = (loc // DCP_SIZE).to(tl.int32)

# %% 3g the-store-casts
# outcome: passed
# from: plain
- row = loc // DCP_SIZE

- tl.store(kv_ptr + row[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])
+ tl.store(kv_ptr + (loc // DCP_SIZE)[:, None] * kv_stride + col[None, :], x, mask=owned[:, None])

# %% 3g own-element-type
# outcome: passed
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = token < n
    loc = tl.load(loc_ptr + token, mask=inside, other=-1)
    row = tl.where(loc >= 0, loc // DCP_SIZE, 0)
    mine = inside & (loc >= 0) & (loc - row * DCP_SIZE == DCP_RANK)
    for c in tl.static_range(DIM):
        x = tl.load(src_ptr + token * src_stride + c, mask=mine, other=0.0).to(tl.float32)
        tl.store(kv_ptr + row * kv_stride + c, x.to(kv_ptr.dtype.element_ty), mask=mine)

# %% 3g clamped
# outcome: passed
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = ((loc >= 0) & (loc % DCP_SIZE == DCP_RANK))[:, None]
    col = tl.arange(0, DIM)[None, :]
    x = tl.load(src_ptr + token[:, None] * src_stride + col, mask=owned, other=0.0).to(tl.float32)
    x = tl.minimum(tl.maximum(x, -448.0), 448.0)
    tl.store(kv_ptr + (loc // DCP_SIZE)[:, None] * kv_stride + col, x.to(tl.float8e4nv), mask=owned)

# %% 3g nosign
# says: Padding is not skipped: -1 becomes a row before the pool.
# asks: Which row is -1 // D, and whose memory lies there?
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inb = tok < n
    loc = tl.load(loc_ptr + tok, mask=inb, other=-1)
    ok = inb & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    d = tl.arange(0, DIM)
    val = tl.load(src_ptr + tok.to(tl.int64)[:, None] * src_stride + d[None, :], mask=ok[:, None], other=0.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + d[None, :], val.to(tl.float8e4nv), mask=ok[:, None])

# %% 3g scale
# says: The values were scaled; this pool keeps none, so nothing scales them back.
# asks: Who would multiply when the row is read?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inb = tok < n
    loc = tl.load(loc_ptr + tok, mask=inb, other=-1)
    ok = inb & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    d = tl.arange(0, DIM)
    val = tl.load(src_ptr + tok.to(tl.int64)[:, None] * src_stride + d[None, :], mask=ok[:, None], other=0.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + d[None, :], (val / 448).to(tl.float8e4nv), mask=ok[:, None])

# %% 3g inbmask
# says: Only lanes past n are off: padding and other ranks' tokens are stored too.
# asks: What must the mask of the store say?
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inb = tok < n
    loc = tl.load(loc_ptr + tok, mask=inb, other=-1)
    ok = inb & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    d = tl.arange(0, DIM)
    val = tl.load(src_ptr + tok.to(tl.int64)[:, None] * src_stride + d[None, :], mask=ok[:, None], other=0.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + d[None, :], val.to(tl.float8e4nv), mask=inb[:, None])

# %% 3g nolocmask
# says: The locs are read without a mask: lanes past n read what is not theirs.
# asks: How many locs are there for the last program?
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inb = tok < n
    loc = tl.load(loc_ptr + tok)
    ok = inb & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    d = tl.arange(0, DIM)
    val = tl.load(src_ptr + tok.to(tl.int64)[:, None] * src_stride + d[None, :], mask=ok[:, None], other=0.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + d[None, :], val.to(tl.float8e4nv), mask=ok[:, None])

# %% 3g mask1
# says: The store's mask has no [:, None]: it is laid over elements, not over tokens.
# asks: Which shape has the mask, and which the block?
# outcome: unsafe
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inb = tok < n
    loc = tl.load(loc_ptr + tok, mask=inb, other=-1)
    ok = inb & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    d = tl.arange(0, DIM)
    val = tl.load(src_ptr + tok.to(tl.int64)[:, None] * src_stride + d[None, :], mask=ok[:, None], other=0.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + d[None, :], val.to(tl.float8e4nv), mask=ok)

# %% 3g pid
# says: Blocks overlap by all but one token: program p begins at p, not p * ROWS.
# asks: With which token does program 1 begin?
@triton.jit
def write_ckv_fp8_kernel(kv_ptr, src_ptr, loc_ptr, n, kv_stride, src_stride, DIM: tl.constexpr, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) + tl.arange(0, ROWS)
    inb = tok < n
    loc = tl.load(loc_ptr + tok, mask=inb, other=-1)
    ok = inb & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    d = tl.arange(0, DIM)
    val = tl.load(src_ptr + tok.to(tl.int64)[:, None] * src_stride + d[None, :], mask=ok[:, None], other=0.0)
    tl.store(kv_ptr + row[:, None] * kv_stride + d[None, :], val.to(tl.float8e4nv), mask=ok[:, None])
