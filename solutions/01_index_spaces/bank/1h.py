# Answers to 1h: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 1h plain
# outcome: passed
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h raw
# says: These are still the global locs: nothing selected an owner.
# asks: If every rank keeps every loc, what did sharding save?
# family: M1
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, loc, mask=mask)

# %% 1h no-divide
# says: You kept the right locs but did not divide: these are locs still, and no rows.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
# from: plain
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, tl.where(owned, loc, -1), mask=mask)

# %% 1h no-filter
# says: D different locs now share one row: nothing selected an owner.
# asks: Which rank should answer for loc 5, and what should the others say?
# family: M3
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, tl.where(loc >= 0, loc // DCP_SIZE, -1), mask=mask)

# %% 1h swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ owned = (loc >= 0) & (loc // DCP_SIZE == DCP_RANK)
+ tl.store(rows_ptr + at, tl.where(owned, loc % DCP_SIZE, -1), mask=mask)

# %% 1h blocks
# says: Each program's block was given to one rank; the ranks take turns by loc.
# asks: Does the number of the program say who owns a loc?
# family: M5
# from: plain
- at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
+ pid = tl.program_id(0)
+ at = pid * BLOCK + tl.arange(0, BLOCK)

- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (pid % DCP_SIZE == DCP_RANK)

# %% 1h twice
# says: Divided twice: the result of a localize was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
# from: plain
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE // DCP_SIZE, -1), mask=mask)

# %% 1h padding-positive
# says: Padding is being treated as a token on rank D-1: -1 became row 0 there.
# asks: You made the remainder positive. Whose is -1 now?
# family: M8
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ owner = (loc % DCP_SIZE + DCP_SIZE) % DCP_SIZE
+ row = (loc - owner) // DCP_SIZE
+ tl.store(rows_ptr + at, tl.where(owner == DCP_RANK, tl.maximum(row, 0), -1), mask=mask)

# %% 1h padding-clamped
# says: Padding was turned into loc 0, which is a real slot of rank 0.
# asks: After the clamp, can you still tell loc 0 from padding?
# family: M8
# from: plain
- loc = tl.load(locs_ptr + at, mask=mask)
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ loc = tl.maximum(tl.load(locs_ptr + at, mask=mask), 0)
+ tl.store(rows_ptr + at, tl.where(loc % DCP_SIZE == DCP_RANK, loc // DCP_SIZE, -1), mask=mask)

# %% 1h safe-address
# says: A loc of another rank became row 0: a safe address is not an answer.
# asks: How does the reader tell "not here" from row 0?
# family: M9
# from: plain
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ safe = tl.where(owned, loc, 0)
+ tl.store(rows_ptr + at, safe // DCP_SIZE, mask=mask)

# %% 1h owned-only
# says: Entries of other ranks were left as they were: they must become -1.
# asks: What stands in the output where no lane stored anything?
# family: M9
# from: plain
- loc = tl.load(locs_ptr + at, mask=mask)
+ loc = tl.load(locs_ptr + at, mask=mask, other=-1)

- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, loc // DCP_SIZE, mask=mask & owned)

# %% 1h loc-zero
# says: Loc 0 was taken for padding; for a mapping it is a loc like any other.
# asks: Is 0 negative?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc > 0) & (loc % DCP_SIZE == DCP_RANK)

# %% 1h by-position
# says: The owner was taken from the entry's place in the table, not its loc.
# asks: In a shuffled table, what does the place of an entry say?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (at % DCP_SIZE == DCP_RANK)

# %% 1h rank-from-one
# says: You count ranks from 1: this is the row of the rank before.
# asks: Which rank owns loc 0?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK - 1)

# %% 1h bits
# says: The bit mask is right only where DCP_SIZE is a power of two.
# asks: Which bits of a loc say who owns it when there are six ranks?
# from: plain
- owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
+ owned = (loc >= 0) & ((loc & (DCP_SIZE - 1)) == DCP_RANK)

# %% 1h int32
# says: Locs were cut to 32 bits before anything else.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
# from: plain
- loc = tl.load(locs_ptr + at, mask=mask)
+ loc = tl.load(locs_ptr + at, mask=mask).to(tl.int32)

# %% 1h int32-row
# says: The row was cut to 32 bits: past 2^31 it is another row.
# asks: Which row has the largest loc of the cases?
# family: M16
# from: plain
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, tl.where(owned, (loc // DCP_SIZE).to(tl.int32), -1), mask=mask)

# %% 1h float32
# says: The row goes through float32, which is exact only below 2^24.
# asks: Which division never leaves the integers?
# from: plain
- loc = tl.load(locs_ptr + at, mask=mask)
+ loc = tl.load(locs_ptr + at, mask=mask, other=-1)

- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ row = (loc.to(tl.float32) / DCP_SIZE).to(tl.int64)
+ tl.store(rows_ptr + at, tl.where(owned, row, -1), mask=mask)

# %% 1h no-program
# says: Only the first block is answered: program p must begin at p * BLOCK.
# asks: Which entries does program 1 have to handle?
# from: plain
- at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
+ at = tl.arange(0, BLOCK)

# %% 1h program-unscaled
# says: Programs overlap: program p starts at entry p, not at p * BLOCK.
# asks: How many entries does program 0 handle, and where must program 1 start?
# from: plain
- at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
+ at = tl.program_id(0) + tl.arange(0, BLOCK)

# %% 1h one-entry
# says: One entry a program: the other lanes of its block have nothing to do.
# asks: How many programs are launched, and how many entries are there?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK
    loc = tl.load(locs_ptr + at)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1))

# %% 1h whole-blocks
# says: The last block is skipped where it is only partly filled.
# asks: How many entries are left over when n is 20 and BLOCK is 16?
# from: plain
- mask = at < n
+ mask = at < n // BLOCK * BLOCK

# %% 1h one-short
# says: The last entry is never written: the mask stops one too early.
# asks: Is entry n - 1 yours to write?
# from: plain
- mask = at < n
+ mask = at < n - 1

# %% 1h no-mask
# says: No mask on the tail: lanes past n wrote into somebody else's memory.
# asks: n is 5 and BLOCK is 8. What do the last three lanes do?
# outcome: unsafe
# from: plain
- mask = at < n
- loc = tl.load(locs_ptr + at, mask=mask)
+ loc = tl.load(locs_ptr + at)

- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1))

# %% 1h store-unmasked
# says: The load is masked, the store is not: lanes past n wrote elsewhere.
# asks: n is 5 and BLOCK is 8. Where do the last three lanes write?
# outcome: unsafe
# from: plain
- mask = at < n
- loc = tl.load(locs_ptr + at, mask=mask)
+ loc = tl.load(locs_ptr + at, mask=at < n, other=-1)

- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1))

# %% 1h load-unmasked
# says: The store is masked, the load is not: lanes past n still read elsewhere.
# asks: n is 5 and BLOCK is 8. Whose memory do the last three lanes read?
# outcome: unsafe
# from: plain
- mask = at < n
- loc = tl.load(locs_ptr + at, mask=mask)
+ loc = tl.load(locs_ptr + at)

- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=at < n)

# %% 1h one-past
# says: The mask lets one lane too many through: entry n belongs to somebody else.
# asks: Which is the last entry of a table of n?
# outcome: unsafe
# from: plain
- mask = at < n
- loc = tl.load(locs_ptr + at, mask=mask)
+ mask = at <= n
+ loc = tl.load(locs_ptr + at, mask=mask, other=-1)

# %% 1h in-place
# says: The rows went into the table of locs: the result belongs in rows_ptr.
# asks: Who else reads locs_ptr after this kernel?
# outcome: unsafe
# from: plain
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(locs_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h scatter
# says: Rows were stored at the address of the loc: entry i belongs at place i.
# asks: What does loc say: where the answer goes, or what it is about?
# outcome: unsafe
# from: plain
- loc = tl.load(locs_ptr + at, mask=mask)
+ loc = tl.load(locs_ptr + at, mask=mask, other=-1)

- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + loc % (4 * BLOCK), tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h nothing
# says: Nothing was stored: no tl.store ran, and what a kernel returns is lost.
# asks: Which line of the kernel changes rows_ptr?
# from: plain
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h guarded
# outcome: passed
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    loc = tl.load(locs_ptr + offsets, mask=inside, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + offsets, tl.where(owned, loc // DCP_SIZE, -1), mask=inside)

# %% 1h unguarded
# outcome: passed
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    loc = tl.load(locs_ptr + offsets, mask=offsets < n)
    tl.store(rows_ptr + offsets, tl.where(loc % DCP_SIZE == DCP_RANK, loc // DCP_SIZE, -1), mask=offsets < n)

# %% 1h two-stores
# outcome: passed
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    loc = tl.load(locs_ptr + offsets, mask=mask, other=-1)
    owned = mask & (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + offsets, loc // DCP_SIZE, mask=owned)
    tl.store(rows_ptr + offsets, -1, mask=mask & ~owned)

# %% 1h exact-quotient
# outcome: passed
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = lanes < n
    loc = tl.load(locs_ptr + lanes, mask, other=0).to(tl.int64)
    row = loc // DCP_SIZE
    rest = loc - row * DCP_SIZE
    row = tl.where(rest == DCP_RANK, row, -1)
    tl.store(rows_ptr + lanes, tl.where(loc < 0, -1, row), mask)

# %% 1h helper
# outcome: passed
@triton.jit
def row_or_absent(loc, rank, size):
    return tl.where((loc >= 0) & (loc % size == rank), loc // size, -1)

@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    start = tl.program_id(0) * BLOCK
    lane = tl.arange(0, BLOCK)
    loc = tl.load(locs_ptr + start + lane, mask=start + lane < n, other=-1)
    tl.store(rows_ptr + start + lane, row_or_absent(loc, DCP_RANK, DCP_SIZE), mask=start + lane < n)

# %% 1h keep
# says: Locs of other ranks were kept as they were: they must become -1.
# asks: What would the next kernel read at a loc that is left standing?
@triton.jit
def localize_page_table_kernel(locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    idx = pid * BLOCK + tl.arange(0, BLOCK)
    mask = idx < n
    loc = tl.load(locs_ptr + idx, mask=mask, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + idx, tl.where(owned, loc // DCP_SIZE, loc), mask=mask)

# %% 1h storeatrow
# says: The row is stored at its own number: entry i of the table belongs at place i.
# asks: Where does the next kernel look for the answer about entry i?
# outcome: unsafe
@triton.jit
def localize_page_table_kernel(locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    idx = pid * BLOCK + tl.arange(0, BLOCK)
    mask = idx < n
    loc = tl.load(locs_ptr + idx, mask=mask, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + loc // DCP_SIZE, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h int32-2
# says: A loc past 2^31 was cut to 32 bits, and came out as another row, or none.
# asks: Which dtype do the locs come in?
@triton.jit
def localize_page_table_kernel(locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    idx = pid * BLOCK + tl.arange(0, BLOCK)
    mask = idx < n
    loc = tl.load(locs_ptr + idx, mask=mask, other=-1)
    owned = (loc.to(tl.int32) >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + idx, tl.where(owned, loc.to(tl.int32) // DCP_SIZE, -1), mask=mask)

# %% 1h stored-into-first
# says: Every program stores into the first block: its own begins at p * BLOCK.
# asks: Which entries of rows are program 1's to write?
# from: plain
- tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
+ tl.store(rows_ptr + tl.arange(0, BLOCK), tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
