# %% preamble
import torch
import triton
import triton.language as tl


# %% 91a no-filter
# says: Every rank took every loc: nothing selected an owner.
# asks: Who owns loc 1?
# family: M3
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs >= 0, locs // dcp_size, -1)


# %% 91a in-place
# says: The input itself was changed.
# asks: Who else reads these locs?
# outcome: unsafe
def localize(locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    locs.copy_(torch.where(mine, locs // dcp_size, -1))
    return locs.clone()


# %% 91a python-list
# says: A list is no tensor.
# asks: What did you return?
def localize(locs, dcp_rank, dcp_size):
    return [row // dcp_size if row >= 0 and row % dcp_size == dcp_rank else -1 for row in locs.flatten().tolist()]


# %% 91a raises
# says: dcp_size is an int, not a tensor.
# asks: What is the type of dcp_size?
# outcome: crashed
def localize(locs, dcp_rank, dcp_size):
    return locs // dcp_size.item()


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


# %% 91c pad-as-row
# says: Padding is being treated as a row.
# asks: Where does index -1 write?
def write_rows(kv, src, rows):
    kv[rows] = src


# %% 91c gap
# says: What lies between the rows belongs to somebody else.
# asks: How long is a row?
# outcome: unsafe
def write_rows(kv, src, rows):
    kv[rows[rows >= 0]] = src[rows >= 0]
    kv.as_strided((8, 5), (5, 1)).fill_(0)


# %% 91c endless
# says: The loop never ends.
# asks: What makes it stop?
# outcome: timeout
def write_rows(kv, src, rows):
    while True:
        pass


# %% 91d sum
# says: This is the sum.
# asks: By what is it divided?
def mean(x):
    return x.double().sum().item()


# %% 91d nan
# says: NaN is no number.
# asks: What is 0 / 0?
def mean(x):
    return float("nan")


# %% 91e twice
# says: It made its counter twice.
# asks: How often is made() called?
class Counter:
    def __init__(self, made):
        made()
        made()
        self.steps = 0

    def step(self):
        self.steps += 1


# %% 91f no-error
# says: A size that is no whole number of pages passed.
# asks: What is left of 9 after pages of 4?
def pages(size, page_size):
    return size // page_size
