# Answers to 2h: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 2h plain
# outcome: passed
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h no-guard
# says: Padding is not skipped: -1 becomes an address before a page, and is written.
# asks: What are -1 // 64 and -1 % 64 in a compiled kernel?
# family: M8
# outcome: unsafe
# from: plain
- here = loc >= 0
+ here = token < n

# %% 2h row-zero
# says: Padding goes to slot 0 and is written there: where is not whether.
# asks: Which lanes store, and which only have a harmless address?
# family: M9
# from: plain
- here = loc >= 0
+ here = token < n
+ loc = tl.where(loc >= 0, loc, 0)

# %% 2h no-tail
# says: The last block has lanes past n: they read and write what is not theirs.
# asks: How many lanes have the programs together, and how many tokens are there?
# outcome: unsafe
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token)

# %% 2h one-program
# says: Every program handles the first block: the others' tokens are never written.
# asks: Which tokens does program 1 handle?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.arange(0, ROWS)

# %% 2h program-stride
# says: Blocks overlap by all but one token: program p begins at p, not p * ROWS.
# asks: Which tokens does program 1 handle?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) + tl.arange(0, ROWS)

# %% 2h interleaved
# says: Key and scale lie side by side; in a page all keys come first, then scales.
# asks: Where does the scale of slot 0 begin: after one key, or after all of them?
# from: plain
- key_at = start + slot * DIM
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ key_at = start + slot * (DIM + 4)
+ scale_at = (key_at + DIM) // 4

# %% 2h scales-first
# says: The scales stand before the keys; in a page they come after all of them.
# asks: Which byte of a page is the first of slot 0's key?
# from: plain
- key_at = start + slot * DIM
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ key_at = start + PAGE_SIZE * 4 + slot * DIM
+ scale_at = start // 4 + slot

# %% 2h scale-in-bytes
# says: The scale's place is in bytes; its pointer counts floats: four times too far.
# asks: By how many bytes does one step of a float pointer move?
# outcome: unsafe
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = start + PAGE_SIZE * DIM + 4 * slot

# %% 2h scale-slot-in-bytes
# says: Only the slot is counted in bytes: scales lie four apart, in floats.
# asks: By how many bytes does one step of a float pointer move?
# outcome: unsafe
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = (start + PAGE_SIZE * DIM) // 4 + 4 * slot

# %% 2h scale-as-byte
# says: The scale goes through the byte pointer: one byte, its value cut to 0 to 255.
# asks: Which of the two pointers writes four bytes?
# from: plain
- tl.store(buf_f32_ptr + scale_at, scale, mask=here)
+ tl.store(buf_ptr + 4 * scale_at, scale.to(tl.uint8), mask=here)

# %% 2h keys-only
# says: The scales are never written: each key keeps a stranger's scale.
# asks: What belongs to a slot besides its key?
# from: plain
- scale = tl.load(scale_ptr + token, mask=here)

- tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scales-only
# says: The keys are never written.
# asks: What belongs to a slot besides its scale?
# from: plain
- key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])

- tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])

# %% 2h no-scale-room
# says: The pages are taken for PAGE_SIZE * DIM bytes: their scales are forgotten.
# asks: How far apart do two pages begin?
# from: plain
- start = page * (PAGE_SIZE * (DIM + 4))
+ start = page * (PAGE_SIZE * DIM)

# %% 2h scale-at-end
# says: The scales of all pages go into page 0: the page's start is left out.
# asks: In which page does the scale of a loc of page 2 lie?
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = PAGE_SIZE * DIM // 4 + slot

# %% 2h loc-is-page
# says: The loc is used as a page id: dimension 0 of the buffer counts pages.
# asks: In which page is loc 9 when a page has 4 slots?
# outcome: unsafe
# from: plain
- page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
+ page, slot = loc, loc % PAGE_SIZE

# %% 2h swap
# says: Page and slot are swapped: quotient and remainder.
# asks: In which page is loc 9 when a page has 4 slots, and in which slot?
# family: M4
# outcome: unsafe
# from: plain
- page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
+ page, slot = loc % PAGE_SIZE, loc // PAGE_SIZE

# %% 2h bits
# says: Masks and shifts are right only where the page size is a power of two.
# asks: What does loc & 5 give for pages of 6 slots?
# from: plain
- page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
+ page, slot = loc // PAGE_SIZE, loc & (PAGE_SIZE - 1)

# %% 2h source-by-loc
# says: The key is read from row loc of the batch; the batch has a row a token.
# asks: How many rows has the key buffer?
# outcome: unsafe
# from: plain
- key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
+ key = tl.load(key_ptr + loc[:, None] * DIM + col[None, :], mask=here[:, None])

# %% 2h page-from-zero
# says: Pages are shifted down by one, as if page 0 were not in the buffer.
# asks: Does the buffer have a page 0?
# family: M10
# outcome: unsafe
# from: plain
- page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
+ page, slot = loc // PAGE_SIZE - 1, loc % PAGE_SIZE

# %% 2h key-unmasked
# says: The load of the keys has no mask: lanes past n read what is not theirs.
# asks: Which lanes may read?
# outcome: unsafe
# from: plain
- key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
+ key = tl.load(key_ptr + token[:, None] * DIM + col[None, :])

# %% 2h scale-unmasked
# says: The load of the scales has no mask: lanes past n read what is not theirs.
# asks: Which lanes may read?
# outcome: unsafe
# from: plain
- scale = tl.load(scale_ptr + token, mask=here)
+ scale = tl.load(scale_ptr + token)

# %% 2h first-byte
# says: Only the first byte of each key is written: a key has DIM of them.
# asks: How many lanes does it take to write ROWS keys?
# from: plain
- col = tl.arange(0, DIM)

- key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
+ key = tl.load(key_ptr + token * DIM, mask=here)

- tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
+ tl.store(buf_ptr + key_at, key, mask=here)

# %% 2h token-a-program
# says: One token a program; it is launched with one program for each ROWS tokens.
# asks: How many tokens must each program write, when there are cdiv(n, ROWS) of them?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0)
    loc = tl.load(loc_ptr + token)
    if loc >= 0:
        start = loc // PAGE_SIZE * (PAGE_SIZE * (DIM + 4))
        slot = loc % PAGE_SIZE
        col = tl.arange(0, DIM)
        tl.store(buf_ptr + start + slot * DIM + col, tl.load(key_ptr + token * DIM + col))
        tl.store(buf_f32_ptr + (start + PAGE_SIZE * DIM) // 4 + slot, tl.load(scale_ptr + token))

# %% 2h scale-page-in-bytes
# says: The page's start is in bytes and the rest in floats: pages lie four times apart.
# asks: How many floats is a page long?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    start = page * (PAGE_SIZE * (DIM + 4))
    col = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    tl.store(buf_ptr + (start + slot * DIM)[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + start + PAGE_SIZE * DIM // 4 + slot, tl.load(scale_ptr + token, mask=here), mask=here)

# %% 2h scale-as-a-byte
# says: Pages lie PAGE_SIZE * (DIM + 1) bytes apart: a scale is four bytes, not one.
# asks: How many bytes does the scale of one slot take?
# from: plain
- start = page * (PAGE_SIZE * (DIM + 4))
+ start = page * (PAGE_SIZE * DIM + PAGE_SIZE)

# %% 2h one-scale-a-page
# says: Pages lie PAGE_SIZE * DIM + 4 bytes apart: each slot has a scale of its own.
# asks: How many scales does a page hold?
# from: plain
- start = page * (PAGE_SIZE * (DIM + 4))
+ start = page * (PAGE_SIZE * DIM + 4)

# %% 2h scale-offset-in-bytes
# says: The keys' length is in bytes where floats are counted: it is a quarter of that.
# asks: How many floats are PAGE_SIZE keys of DIM bytes?
# outcome: unsafe
# from: scale-page-in-bytes
- tl.store(buf_f32_ptr + start + PAGE_SIZE * DIM // 4 + slot, tl.load(scale_ptr + token, mask=here), mask=here)
+ tl.store(buf_f32_ptr + start // 4 + PAGE_SIZE * DIM + slot, tl.load(scale_ptr + token, mask=here), mask=here)

# %% 2h keys-in-one-row
# says: Keys are taken from the batch as if each were PAGE_SIZE bytes long, not DIM.
# asks: How far apart do two keys of the batch begin?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    start = page * (PAGE_SIZE * (DIM + 4))
    col = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * PAGE_SIZE + col[None, :], mask=here[:, None])
    tl.store(buf_ptr + (start + slot * DIM)[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + (start + PAGE_SIZE * DIM) // 4 + slot, tl.load(scale_ptr + token, mask=here), mask=here)

# %% 2h loads-unmasked
# says: No load of keys and scales is masked: lanes past n read what is not theirs.
# asks: Which lanes may read?
# outcome: unsafe
# from: plain
- key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
- scale = tl.load(scale_ptr + token, mask=here)
+ key = tl.load(key_ptr + token[:, None] * DIM + col[None, :])
+ scale = tl.load(scale_ptr + token)

# %% 2h key-store-unmasked
# says: The store of the keys has no mask: padding and lanes past n are written.
# asks: Which lanes may write?
# outcome: unsafe
# from: plain
- tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
+ tl.store(buf_ptr + key_at[:, None] + col[None, :], key)

# %% 2h scale-store-unmasked
# says: The store of the scales has no mask: padding and lanes past n are written too.
# asks: Which lanes may write?
# from: plain
- tl.store(buf_f32_ptr + scale_at, scale, mask=here)
+ tl.store(buf_f32_ptr + scale_at, scale)

# %% 2h tail-is-loc-zero
# says: Lanes past n get loc 0, which is no padding: they read and write as tokens do.
# asks: Which value of other says that a lane has no token?
# outcome: unsafe
# from: plain
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token, mask=token < n, other=0)

# %% 2h keys-interleaved
# says: Keys are set DIM + 4 apart; in a page nothing lies between two keys.
# asks: Where does key 1 begin when a key has 4 bytes?
# from: plain
- key_at = start + slot * DIM
+ key_at = start + slot * (DIM + 4)

# %% 2h keys-flat
# says: The keys are placed as if pages had no scales: page 1 begins too early.
# asks: How far apart do two pages begin?
# from: plain
- key_at = start + slot * DIM
+ key_at = loc * DIM

# %% 2h slot-is-byte
# says: A key is taken for one byte: key number slot begins DIM * slot bytes on.
# asks: Where does key 1 begin when a key has 4 bytes?
# from: plain
- key_at = start + slot * DIM
+ key_at = start + slot

# %% 2h scale-among-keys
# says: The scales are written over the keys: in a page they come after all of them.
# asks: Where does the scale of slot 0 begin: at the page's start, or after the keys?
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = start // 4 + slot

# %% 2h scale-slot-a-quarter
# says: The slot is divided by 4 too: four slots share one scale.
# asks: How many floats lie between the scales of slots 0 and 1?
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = (start + PAGE_SIZE * DIM + slot) // 4

# %% 2h scale-page-of-scales
# says: Counted in floats a page is PAGE_SIZE * (DIM + 4) // 4 long, not PAGE_SIZE.
# asks: How many floats are the keys of a page?
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = page * PAGE_SIZE + PAGE_SIZE * DIM // 4 + slot

# %% 2h scale-bytes-but-slot
# says: Only the slot is counted in floats: start and keys must be divided by 4 too.
# asks: By how many bytes does one step of a float pointer move?
# outcome: unsafe
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = start + PAGE_SIZE * DIM + slot

# %% 2h scale-start-divided-only
# says: Only the page's start is divided by 4: keys and slot are still in bytes.
# asks: By how many bytes does one step of a float pointer move?
# outcome: unsafe
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = start // 4 + PAGE_SIZE * DIM + slot * 4

# %% 2h batch-with-scales
# says: The batch's keys are taken for DIM + 4 bytes each: the scales are elsewhere.
# asks: How far apart do two keys of the batch begin?
# outcome: unsafe
# from: plain
- key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
+ key = tl.load(key_ptr + token[:, None] * (DIM + 4) + col[None, :], mask=here[:, None])

# %% 2h sources-by-loc
# says: Key and scale are read from row loc of the batch; the batch has a row a token.
# asks: How many rows has the key buffer?
# outcome: unsafe
# from: plain
- key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
- scale = tl.load(scale_ptr + token, mask=here)
+ key = tl.load(key_ptr + loc[:, None] * DIM + col[None, :], mask=here[:, None])
+ scale = tl.load(scale_ptr + loc, mask=here)

# %% 2h page-of-one-slot
# says: A page is taken for one slot, DIM + 4 bytes: it has PAGE_SIZE of them.
# asks: How many bytes is a page of 2 slots with keys of 4?
# from: plain
- start = page * (PAGE_SIZE * (DIM + 4))
+ start = page * (DIM + 4)

# %% 2h true-divide
# says: In a kernel / gives a float, which is no place in memory.
# asks: Which division drops the remainder?
# outcome: crashed
# from: plain
- page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
+ page, slot = loc / PAGE_SIZE, loc % PAGE_SIZE

# %% 2h true-divide-address
# says: The page is a float, since / never drops the remainder: no address comes of it.
# asks: Which division drops the remainder?
# outcome: crashed
# from: plain
- page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
+ page, slot = loc / PAGE_SIZE, loc % PAGE_SIZE

- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot

- tl.store(buf_f32_ptr + scale_at, scale, mask=here)
+ tl.store(buf_f32_ptr + (start + PAGE_SIZE * DIM) // 4 + slot, scale, mask=here)

# %% 2h page-a-program
# says: A program takes PAGE_SIZE tokens; it is launched with one for each ROWS of them.
# asks: Which argument says how many tokens a program has?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) * PAGE_SIZE + tl.arange(0, ROWS)

# %% 2h blocks-of-a-page
# says: The blocks are PAGE_SIZE tokens long; a program is launched for each ROWS.
# asks: Which argument says how many tokens a program has?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) * PAGE_SIZE + tl.arange(0, PAGE_SIZE)

# %% 2h one-past-read
# says: token <= n lets one lane too many read: the last token is n - 1.
# asks: What is the largest token that there is?
# outcome: unsafe
# from: solution
- loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
+ loc = tl.load(loc_ptr + token, mask=token <= n, other=-1)

# %% 2h last-slot-missing
# says: The scale of the last slot of a page is not stored.
# asks: How many slots has a page, and what is the number of the last?
# from: solution
- tl.store(buf_f32_ptr + (first + PAGE_SIZE * DIM) // 4 + slot, scale, mask=here)
+ tl.store(buf_f32_ptr + (first + PAGE_SIZE * DIM) // 4 + slot, scale, mask=here & (slot < PAGE_SIZE - 1))

# %% 2h int32-address
# says: The address in 32 bits wraps past 2^31 bytes: the page is not where you write.
# asks: How many bytes is page 300,000 of 8,448 bytes away from the first?
# outcome: unsafe
# from: plain
- start = page * (PAGE_SIZE * (DIM + 4))
+ start = (page * (PAGE_SIZE * (DIM + 4))).to(tl.int32)

# %% 2h loc-zero
# says: Loc 0 was taken for padding: only a negative loc is.
# asks: Is 0 negative?
# from: plain
- here = loc >= 0
+ here = loc > 0

# %% 2h dim-tokens
# says: A program handles DIM tokens here; it is launched for ROWS of them.
# asks: What does ROWS count, and what does DIM count?
# from: plain
- token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
+ token = tl.program_id(0) * ROWS + tl.arange(0, DIM)

# %% 2h two-blocks
# outcome: passed
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = token < n
    loc = tl.load(loc_ptr + token, mask=inside, other=-1)
    here = inside & (loc >= 0)
    page = tl.where(here, loc, 0) // PAGE_SIZE
    slot = tl.where(here, loc, 0) % PAGE_SIZE
    start = page * (PAGE_SIZE * (DIM + 4))
    col = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    tl.store(buf_ptr + (start + slot * DIM)[:, None] + col[None, :], key, mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_f32_ptr + (start + PAGE_SIZE * DIM) // 4 + slot, scale, mask=here)

# %% 2h from-loc
# outcome: passed
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1).to(tl.int64)
    here = loc != -1
    page = loc // PAGE_SIZE
    col = tl.arange(0, DIM)[None, :]
    wide = here[:, None]
    key_at = loc * DIM + page * PAGE_SIZE * 4
    tl.store(buf_ptr + key_at[:, None] + col, tl.load(key_ptr + token[:, None] * DIM + col, mask=wide, other=0), mask=wide)
    scale_at = loc + (page + 1) * (PAGE_SIZE * DIM // 4)
    tl.store(buf_f32_ptr + scale_at, tl.load(scale_ptr + token, mask=here, other=0.0), mask=here)

# %% 2h helper
# outcome: passed
@triton.jit
def page_and_slot(loc, PAGE_SIZE: tl.constexpr):
    page = loc // PAGE_SIZE
    return page, loc - page * PAGE_SIZE

@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    FLOATS: tl.constexpr = PAGE_SIZE * (DIM + 4) // 4
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    page, slot = page_and_slot(loc, PAGE_SIZE)
    for d in tl.static_range(DIM):
        byte = tl.load(key_ptr + token * DIM + d, mask=loc >= 0)
        tl.store(buf_ptr + page * (4 * FLOATS) + slot * DIM + d, byte, mask=loc >= 0)
    tl.store(buf_f32_ptr + page * FLOATS + PAGE_SIZE * DIM // 4 + slot, tl.load(scale_ptr + token, mask=loc >= 0), mask=loc >= 0)

# %% 2h scaleloc
# says: The scale is read from place loc of the batch; it has one for each token.
# asks: How many scales come in, and how large can a loc be?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    live = tok < n
    loc = tl.load(loc_ptr + tok, mask=live, other=-1)
    ok = live & (loc >= 0)
    page = loc // PAGE_SIZE
    slot = loc % PAGE_SIZE
    base = page * (PAGE_SIZE * (DIM + 4))
    d = tl.arange(0, DIM)
    key = tl.load(key_ptr + tok[:, None] * DIM + d[None, :], mask=ok[:, None], other=0)
    tl.store(buf_ptr + (base + slot * DIM)[:, None] + d[None, :], key, mask=ok[:, None])
    scale = tl.load(scale_ptr + loc, mask=ok, other=0.0)
    tl.store(buf_f32_ptr + (base + PAGE_SIZE * DIM) // 4 + slot, scale, mask=ok)

# %% 2h page132
# says: 132 bytes a slot are written in; the key is DIM bytes long.
# asks: How many bytes has a slot if DIM is 8?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    live = tok < n
    loc = tl.load(loc_ptr + tok, mask=live, other=-1)
    ok = live & (loc >= 0)
    page = loc // PAGE_SIZE
    slot = loc % PAGE_SIZE
    base = page * (PAGE_SIZE * 132)
    d = tl.arange(0, DIM)
    key = tl.load(key_ptr + tok[:, None] * DIM + d[None, :], mask=ok[:, None], other=0)
    tl.store(buf_ptr + (base + slot * DIM)[:, None] + d[None, :], key, mask=ok[:, None])
    scale = tl.load(scale_ptr + tok, mask=ok, other=0.0)
    tl.store(buf_f32_ptr + (base + PAGE_SIZE * DIM) // 4 + slot, scale, mask=ok)

# %% 2h noload
# says: The locs are read without a mask: lanes past n read what is not theirs.
# asks: How many locs are there for the last program?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    tok = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    live = tok < n
    loc = tl.load(loc_ptr + tok)
    ok = live & (loc >= 0)
    page = loc // PAGE_SIZE
    slot = loc % PAGE_SIZE
    base = page * (PAGE_SIZE * (DIM + 4))
    d = tl.arange(0, DIM)
    key = tl.load(key_ptr + tok[:, None] * DIM + d[None, :], mask=ok[:, None], other=0)
    tl.store(buf_ptr + (base + slot * DIM)[:, None] + d[None, :], key, mask=ok[:, None])
    scale = tl.load(scale_ptr + tok, mask=ok, other=0.0)
    tl.store(buf_f32_ptr + (base + PAGE_SIZE * DIM) // 4 + slot, scale, mask=ok)

# %% 2h slot-of-token
# says: The slot was taken from the token's place in the batch; it follows from the loc.
# asks: In which slot of its page does loc 70 stand, if a page has 64?
# from: plain
- page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
+ page, slot = loc // PAGE_SIZE, token % PAGE_SIZE

# %% 2h scale-pages-of-keys
# says: The scales are placed as if a page were its keys alone: pages hold scales too.
# asks: How many floats lie between the scales of slot 0 in two neighbouring pages?
# from: plain
- scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
+ scale_at = (page * PAGE_SIZE * DIM + PAGE_SIZE * DIM) // 4 + slot
