# Answers to 4g: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 4g plain
# outcome: passed
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g second-axis-ignored
# says: Every program of a request makes the first rows: the second axis is not used.
# asks: Which rows does program (0, 1) make?
# from: plain
- b = block * ROWS + tl.arange(0, ROWS)
+ b = tl.arange(0, ROWS)

# %% 4g block-step
# says: Blocks overlap by all but one row: block b begins at b * ROWS.
# asks: Which rows does program (0, 1) make?
# from: plain
- b = block * ROWS + tl.arange(0, ROWS)
+ b = block + tl.arange(0, ROWS)

# %% 4g axes-swapped
# says: The two axes of the grid are swapped: the first counts requests.
# asks: What does program (0, 1) stand for?
# family: M4
# outcome: unsafe
# from: plain
- request, block = tl.program_id(0), tl.program_id(1)
+ request, block = tl.program_id(1), tl.program_id(0)

# %% 4g layout-b
# says: All prefixes, then all new tokens: layout B, which RAGGED indices do not fit.
# asks: What stands behind the last prefix token of request 0?
# family: M14
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ requests = tl.num_programs(0)
+ at = tl.where(b < p, p0 + b, tl.load(cu_prefix_ptr + requests) + e0 + b - p)
+ tl.store(out_ptr + at[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g extend-first
# says: The new tokens stand before their prefix.
# asks: What is at position 0 of a request?
# family: M4
# from: plain
- old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ old, new = ((b >= e) & (b < p + e))[:, None], (b < e)[:, None]
+ x = tl.load(prefix_ptr + (p0 + b - e)[:, None] * prefix_stride + column, mask=old)
+ y = tl.load(extend_ptr + (e0 + b)[:, None] * extend_stride + column, mask=new)

# %% 4g no-prefix-start
# says: Every request reads the first request's prefix: its own start is missing.
# asks: In which row of prefix does request 1 begin?
# family: M15
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
+ x = tl.load(prefix_ptr + b[:, None] * prefix_stride + column, mask=old)

# %% 4g no-extend-start
# says: Every request reads the first request's new tokens: their start is missing.
# asks: In which row of extend do request 1's new tokens begin?
# family: M15
# from: plain
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ y = tl.load(extend_ptr + (b - p)[:, None] * extend_stride + column, mask=new)

# %% 4g no-starts
# says: Every request reads from row 0 of both: only the first is right.
# asks: In which row of prefix does request 1 begin?
# family: M15
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ x = tl.load(prefix_ptr + b[:, None] * prefix_stride + column, mask=old)
+ y = tl.load(extend_ptr + (b - p)[:, None] * extend_stride + column, mask=new)

# %% 4g no-out-start
# says: Every request writes to row 0: the last one wins.
# asks: At which ragged index does request 1 begin?
# family: M15
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + b[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g out-by-prefix
# says: The output begins at the prefixes' start: the new tokens before are forgotten.
# asks: How many rows stand before request 1?
# family: M15
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (p0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g out-by-extend
# says: The output begins at the new tokens' start: the prefixes before are forgotten.
# asks: How many rows stand before request 1?
# family: M15
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g prefix-by-total
# says: The prefix is read at the ragged index: cu_prefix alone counts its rows.
# asks: How many rows of prefix stand before request 1's?
# family: M15
# outcome: unsafe
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
+ x = tl.load(prefix_ptr + (p0 + e0 + b)[:, None] * prefix_stride + column, mask=old)

# %% 4g extend-by-prefix
# says: The new tokens are read where the prefixes begin: they have their own start.
# asks: How many new tokens come before those of request 1?
# family: M15
# outcome: unsafe
# from: plain
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ y = tl.load(extend_ptr + (p0 + b - p)[:, None] * extend_stride + column, mask=new)

# %% 4g extend-not-shifted
# says: New row b is read at row b of extend: the first new token is row 0 there.
# asks: Which row of extend does row p of the segment hold?
# outcome: unsafe
# from: plain
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ y = tl.load(extend_ptr + (e0 + b)[:, None] * extend_stride + column, mask=new)

# %% 4g next-request
# says: Starts are taken one entry too far: cu[i] is the start, cu[i + 1] the end.
# asks: What is cu_prefix[0]?
# family: M15
# outcome: unsafe
# from: plain
- p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
- p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
+ p0, e0 = tl.load(cu_prefix_ptr + request + 1), tl.load(cu_extend_ptr + request + 1)
+ p, e = p0 - tl.load(cu_prefix_ptr + request), e0 - tl.load(cu_extend_ptr + request)

# %% 4g end-as-length
# says: The end was taken for the length: later requests run into their neighbours.
# asks: What is cu_prefix[i + 1] - cu_prefix[i]?
# outcome: unsafe
# from: plain
- p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
+ p, e = tl.load(cu_prefix_ptr + request + 1), tl.load(cu_extend_ptr + request + 1)

# %% 4g start-as-length
# says: The start was taken for the length: request 0 gets none.
# asks: What is cu_prefix[i + 1] - cu_prefix[i]?
# outcome: unsafe
# from: plain
- p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
+ p, e = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)

# %% 4g no-prefix-stride
# says: Rows of prefix are taken to lie DIM apart; prefix_stride says how far.
# asks: Where does row 1 of prefix begin?
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
+ x = tl.load(prefix_ptr + (p0 + b)[:, None] * DIM + column, mask=old)

# %% 4g no-extend-stride
# says: Rows of extend are taken to lie DIM apart; extend_stride says how far.
# asks: Where does row 1 of extend begin?
# from: plain
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ y = tl.load(extend_ptr + (e0 + b - p)[:, None] * DIM + column, mask=new)

# %% 4g no-out-stride
# says: Rows of the output are taken to lie DIM apart; out_stride says how far.
# asks: Where does row 1 of the output begin?
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * DIM + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-strides
# says: All rows are taken to lie DIM apart: right for dense buffers only.
# asks: Where does row 1 begin when the stride is larger than DIM?
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ x = tl.load(prefix_ptr + (p0 + b)[:, None] * DIM + column, mask=old)
+ y = tl.load(extend_ptr + (e0 + b - p)[:, None] * DIM + column, mask=new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * DIM + column, tl.where(old, x, y), mask=old | new)

# %% 4g prefix-stride-for-all
# says: prefix_stride is used for all three buffers; each has its own.
# asks: How far apart do rows of the output lie?
# outcome: unsafe
# from: plain
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ y = tl.load(extend_ptr + (e0 + b - p)[:, None] * prefix_stride + column, mask=new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * prefix_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g out-stride-for-all
# says: out_stride is used for all three buffers; each has its own.
# asks: How far apart do rows of prefix lie?
# outcome: unsafe
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ x = tl.load(prefix_ptr + (p0 + b)[:, None] * out_stride + column, mask=old)
+ y = tl.load(extend_ptr + (e0 + b - p)[:, None] * out_stride + column, mask=new)

# %% 4g strides-swapped
# says: The strides of prefix and extend are mixed up.
# asks: How far apart do rows of prefix lie?
# family: M4
# outcome: unsafe
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ x = tl.load(prefix_ptr + (p0 + b)[:, None] * extend_stride + column, mask=old)
+ y = tl.load(extend_ptr + (e0 + b - p)[:, None] * prefix_stride + column, mask=new)

# %% 4g store-unmasked
# says: The store has no mask: lanes past a segment write over the next request.
# asks: Which lanes of a block have no row to make?
# outcome: unsafe
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y))

# %% 4g extend-unmasked
# says: The load of new tokens has no mask: old rows read before the start of extend.
# asks: What is e0 + b - p for row 0 of request 0?
# outcome: unsafe
# from: plain
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column)

# %% 4g prefix-unmasked
# says: The load of old tokens has no mask: new rows read past the end of prefix.
# asks: What is p0 + b for the last row of the last request?
# outcome: unsafe
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
+ x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column)

# %% 4g loads-unmasked
# says: Neither load has a mask: each lane reads both buffers, one of them outside.
# asks: Which of the two buffers has lane b's row?
# outcome: unsafe
# from: plain
- x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column)
+ y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column)

# %% 4g new-to-the-block-end
# says: The new tokens have no end: lanes past the segment copy the next request's.
# asks: How many new tokens has this request?
# outcome: unsafe
# from: plain
- old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
+ old, new = (b < p)[:, None], (b >= p)[:, None]

# %% 4g off-by-one
# says: Row p counts as old: the first new token is lost to the next request's prefix.
# asks: A prefix has 3 rows, 0 to 2. Is row 3 old or new?
# outcome: unsafe
# from: plain
- old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
+ old, new = (b <= p)[:, None], ((b > p) & (b < p + e))[:, None]

# %% 4g last-missing
# says: The last row of every segment is missing.
# asks: A segment has 5 rows. Is row 4 one of them?
# from: plain
- old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
+ old, new = (b < p)[:, None], ((b >= p) & (b < p + e - 1))[:, None]

# %% 4g first-new-missing
# says: The first new token of every request is missing.
# asks: A prefix has 3 rows, 0 to 2. Is row 3 old or new?
# from: plain
- old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
+ old, new = (b < p)[:, None], ((b > p) & (b < p + e))[:, None]

# %% 4g prefix-only
# says: The new tokens are never copied.
# asks: What are the rows from p on?
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old)

# %% 4g extend-only
# says: The prefixes are never copied.
# asks: What are the rows before p?
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=new)

# %% 4g no-prefix-skipped
# says: A request without a prefix is left out, with its new tokens.
# asks: What does a request bring that has just arrived?
# from: plain
- old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
+ old, new = (b < p)[:, None], ((b >= p) & (b < p + e) & (p > 0))[:, None]

# %% 4g no-extend-skipped
# says: A request without new tokens is left out, with its prefix.
# asks: Who reads the prefix of such a request?
# from: plain
- old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
+ old, new = ((b < p) & (e > 0))[:, None], ((b >= p) & (b < p + e))[:, None]

# %% 4g one-row
# says: Each program makes one row; it is launched for ROWS of them.
# asks: How many rows must each program make, when there are cdiv(longest, ROWS) blocks?
# from: plain
- b = block * ROWS + tl.arange(0, ROWS)
+ b = block * ROWS + tl.arange(0, 1)

# %% 4g row-a-program
# says: Block b makes row b; it is launched for ROWS rows each.
# asks: Which rows does program (0, 1) make?
# from: plain
- b = block * ROWS + tl.arange(0, ROWS)
+ b = block + tl.arange(0, 1)

# %% 4g first-column
# says: Only the first column is copied.
# asks: How many values has a row?
# from: plain
- column = tl.arange(0, DIM)[None, :]
+ column = tl.arange(0, 1)[None, :]

# %% 4g half-the-columns
# says: Half of the columns are missing.
# asks: How many values has a row?
# from: plain
- column = tl.arange(0, DIM)[None, :]
+ column = tl.arange(0, DIM // 2)[None, :]

# %% 4g columns-from-one
# says: Columns are counted from 1: the last one lies beyond the row.
# asks: Where does the first value of a row lie?
# outcome: unsafe
# from: plain
- column = tl.arange(0, DIM)[None, :]
+ column = 1 + tl.arange(0, DIM)[None, :]

# %% 4g old-and-new-swapped
# says: The choice is the wrong way round: new tokens where old ones belong.
# asks: What does tl.where pick where its condition holds?
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, y, x), mask=old | new)

# %% 4g new-from-row-0
# says: New tokens have no lower end: old rows read before the start of extend.
# asks: What is e0 + b - p for row 0 of request 0?
# outcome: unsafe
# from: plain
- old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
+ old, new = (b < p)[:, None], (b < p + e)[:, None]

# %% 4g store-one-too-far
# says: The store goes one row too far: row p + e is the next request's first.
# asks: A segment has 5 rows, 0 to 4. Is row 5 one of them?
# outcome: unsafe
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=(b <= p + e)[:, None])

# %% 4g prefix-stride-for-extend
# says: prefix_stride is used for extend too; each buffer has its own.
# asks: How far apart do rows of extend lie?
# outcome: unsafe
# from: plain
- y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
+ y = tl.load(extend_ptr + (e0 + b - p)[:, None] * prefix_stride + column, mask=new)

# %% 4g new-not-chosen
# says: New rows get what the load of old ones left: extend is read, and not used.
# asks: Which of the two loads has row p?
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, x, mask=old | new)

# %% 4g start-one-too-low
# says: Starts are taken one entry too low: cu begins with a 0, so cu[i] is the start.
# asks: What is cu_prefix[0]?
# outcome: unsafe
# from: plain
- p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
- p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
+ p0, e0 = tl.load(cu_prefix_ptr + request - 1), tl.load(cu_extend_ptr + request - 1)
+ p, e = tl.load(cu_prefix_ptr + request) - p0, tl.load(cu_extend_ptr + request) - e0

# %% 4g out-by-the-grid
# says: Every request was given the room of its programs: a ragged buffer has no gaps.
# asks: At which ragged index does request 1 begin?
# outcome: unsafe
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(out_ptr + (request * tl.num_programs(1) * ROWS + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g writes-nothing
# says: Nothing is written: the kernel ends before it stores.
# asks: Which buffer must your program fill, and with which of tl's functions?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request = tl.program_id(0)

# %% 4g writes-prefix
# says: It writes into prefix, which it may only read.
# asks: Which buffer is the workspace?
# outcome: unsafe
# from: plain
- tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
+ tl.store(prefix_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g two-stores
# outcome: passed
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    p_begin, p_end = tl.load(cu_prefix_ptr + i), tl.load(cu_prefix_ptr + i + 1)
    e_begin, e_end = tl.load(cu_extend_ptr + i), tl.load(cu_extend_ptr + i + 1)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, DIM)
    to = out_ptr + (p_begin + e_begin + row)[:, None] * out_stride + col[None, :]
    p_row = p_begin + row
    old = (p_row < p_end)[:, None]
    tl.store(to, tl.load(prefix_ptr + p_row[:, None] * prefix_stride + col[None, :], mask=old), mask=old)
    e_row = e_begin + row - (p_end - p_begin)
    new = ((e_row >= e_begin) & (e_row < e_end))[:, None]
    tl.store(to, tl.load(extend_ptr + e_row[:, None] * extend_stride + col[None, :], mask=new), mask=new)

# %% 4g other-as-second
# outcome: passed
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + i), tl.load(cu_extend_ptr + i)
    p = tl.load(cu_prefix_ptr + i + 1) - p0
    n = p + tl.load(cu_extend_ptr + i + 1) - e0
    r = block * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, DIM)[None, :]
    x = tl.load(extend_ptr + (e0 + r - p) * extend_stride + c, mask=(r >= p) & (r < n), other=0)
    x = tl.load(prefix_ptr + (p0 + r) * prefix_stride + c, mask=r < p, other=x)
    tl.store(out_ptr + (p0 + e0 + r) * out_stride + c, x, mask=r < n)

# %% 4g zero-and-add
# outcome: passed
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    p0 = tl.load(cu_prefix_ptr + i)
    p = tl.load(cu_prefix_ptr + i + 1) - p0
    e0 = tl.load(cu_extend_ptr + i)
    e = tl.load(cu_extend_ptr + i + 1) - e0
    r = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, DIM)
    old, new = r < p, (r >= p) & (r < p + e)
    x = tl.load(prefix_ptr + (p0 + r)[:, None] * prefix_stride + c[None, :], mask=old[:, None], other=0.0)
    y = tl.load(extend_ptr + (e0 + r - p)[:, None] * extend_stride + c[None, :], mask=new[:, None], other=0.0)
    tl.store(out_ptr + (p0 + e0 + r)[:, None] * out_stride + c[None, :], x + y, mask=(r < p + e)[:, None])

# %% 4g row-loop
# outcome: passed
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    p0, e0 = tl.load(cu_prefix_ptr + i), tl.load(cu_extend_ptr + i)
    p, e = tl.load(cu_prefix_ptr + i + 1) - p0, tl.load(cu_extend_ptr + i + 1) - e0
    c = tl.arange(0, DIM)
    for k in range(ROWS):
        r = tl.program_id(1) * ROWS + k
        if r < p:
            tl.store(out_ptr + (p0 + e0 + r) * out_stride + c, tl.load(prefix_ptr + (p0 + r) * prefix_stride + c))
        elif r < p + e:
            tl.store(out_ptr + (p0 + e0 + r) * out_stride + c, tl.load(extend_ptr + (e0 + r - p) * extend_stride + c))

# %% 4g pointer-moved
# outcome: passed
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    p0, p1 = tl.load(cu_prefix_ptr + i), tl.load(cu_prefix_ptr + i + 1)
    e0, e1 = tl.load(cu_extend_ptr + i), tl.load(cu_extend_ptr + i + 1)
    prefix_ptr += p0 * prefix_stride
    extend_ptr += (e0 - (p1 - p0)) * extend_stride  # so that row p of the segment is new token 0
    out_ptr += (p0 + e0) * out_stride
    r = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, DIM)[None, :]
    old, inside = r < p1 - p0, r < p1 - p0 + e1 - e0
    x = tl.load(prefix_ptr + r * prefix_stride + c, mask=old)
    y = tl.load(extend_ptr + r * extend_stride + c, mask=inside & (r >= p1 - p0))
    tl.store(out_ptr + r * out_stride + c, tl.where(old, x, y), mask=inside)

# %% 4g lene
# says: The segment's length takes the end of the new tokens for their count.
# asks: How many new tokens has request i?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    p0 = tl.load(cu_prefix_ptr + i)
    p1 = tl.load(cu_prefix_ptr + i + 1)
    e0 = tl.load(cu_extend_ptr + i)
    e1 = tl.load(cu_extend_ptr + i + 1)
    np = p1 - p0
    live = row < e1
    old = live & (row < np)
    new = live & (row >= np)
    d = tl.arange(0, DIM)[None, :]
    a = tl.load(prefix_ptr + (p0 + row)[:, None] * prefix_stride + d, mask=old[:, None], other=0)
    b = tl.load(extend_ptr + (e0 + row - np)[:, None] * extend_stride + d, mask=new[:, None], other=0)
    tl.store(out_ptr + (p0 + e0 + row)[:, None] * out_stride + d, tl.where(old[:, None], a, b), mask=live[:, None])

# %% 4g livemask
# says: The prefix is read for new tokens too: mask it by the prefix's length.
# asks: Which lanes have a row in the prefix?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    p0 = tl.load(cu_prefix_ptr + i)
    p1 = tl.load(cu_prefix_ptr + i + 1)
    e0 = tl.load(cu_extend_ptr + i)
    e1 = tl.load(cu_extend_ptr + i + 1)
    np = p1 - p0
    live = row < np + e1 - e0
    old = live & (row < np)
    new = live & (row >= np)
    d = tl.arange(0, DIM)[None, :]
    a = tl.load(prefix_ptr + (p0 + row)[:, None] * prefix_stride + d, mask=live[:, None], other=0)
    b = tl.load(extend_ptr + (e0 + row - np)[:, None] * extend_stride + d, mask=new[:, None], other=0)
    tl.store(out_ptr + (p0 + e0 + row)[:, None] * out_stride + d, tl.where(old[:, None], a, b), mask=live[:, None])

# %% 4g le2
# says: The first new token is read from the prefix as well: its last row is np - 1.
# asks: Is row np the prefix's?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    p0 = tl.load(cu_prefix_ptr + i)
    p1 = tl.load(cu_prefix_ptr + i + 1)
    e0 = tl.load(cu_extend_ptr + i)
    e1 = tl.load(cu_extend_ptr + i + 1)
    np = p1 - p0
    live = row < np + e1 - e0
    old = live & (row <= np)
    new = live & (row >= np)
    d = tl.arange(0, DIM)[None, :]
    a = tl.load(prefix_ptr + (p0 + row)[:, None] * prefix_stride + d, mask=old[:, None], other=0)
    b = tl.load(extend_ptr + (e0 + row - np)[:, None] * extend_stride + d, mask=new[:, None], other=0)
    tl.store(out_ptr + (p0 + e0 + row)[:, None] * out_stride + d, tl.where(old[:, None], a, b), mask=live[:, None])

# %% 4g mask1d
# says: The store's mask has no [:, None]: it is laid over elements, not over rows.
# asks: Which shape has the mask, and which the block?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    p0 = tl.load(cu_prefix_ptr + i)
    p1 = tl.load(cu_prefix_ptr + i + 1)
    e0 = tl.load(cu_extend_ptr + i)
    e1 = tl.load(cu_extend_ptr + i + 1)
    np = p1 - p0
    live = row < np + e1 - e0
    old = live & (row < np)
    new = live & (row >= np)
    d = tl.arange(0, DIM)[None, :]
    a = tl.load(prefix_ptr + (p0 + row)[:, None] * prefix_stride + d, mask=old[:, None], other=0)
    b = tl.load(extend_ptr + (e0 + row - np)[:, None] * extend_stride + d, mask=new[:, None], other=0)
    tl.store(out_ptr + (p0 + e0 + row)[:, None] * out_stride + d, tl.where(old[:, None], a, b), mask=live)
