# %% 91b no-mask
# says: Lanes past n read and wrote.
# asks: What does the last lane of the last program do?
# outcome: unsafe
@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + at, tl.load(src + at) * 2)

# %% 91b wrong-buffer
# says: The result went into the source.
# asks: Which buffer is yours to write?
# outcome: unsafe
@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(src + at, tl.load(src + at, mask=at < n) * 2, mask=at < n)

# %% 91b one-program
# says: Only the first block was done.
# asks: What does program 1 do?
@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(dst + at, tl.load(src + at, mask=at < n) * 2, mask=at < n)

# %% 91b loop-free
# outcome: passed
@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(src + at, mask=inside)
    tl.store(dst + at, value + value, mask=inside)
