# %% [markdown]
# # A small lab

# %%
import torch
import triton
import triton.language as tl

from dcplab import lab

lab.start("91")


# %% part="91a" role="answer"
def localize(locs, dcp_rank, dcp_size):
    """Rows of the locs that are ours, -1 elsewhere."""
    ### BEGIN SOLUTION
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(mine, locs // dcp_size, -1)
    ### END SOLUTION


# %% part="91a" role="check"
lab.check("91a")


# %% part="91b" role="answer"
@triton.jit
def double_kernel(src, dst, n, BLOCK: tl.constexpr):
    ### BEGIN SOLUTION
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + at, tl.load(src + at, mask=at < n) * 2, mask=at < n)
    ### END SOLUTION


# %% part="91b" role="check"
lab.check("91b")


# %% part="91c" role="answer"
def write_rows(kv, src, rows):
    ### BEGIN SOLUTION
    kv[rows[rows >= 0]] = src[rows >= 0]
    ### END SOLUTION


# %% part="91c" role="check"
lab.check("91c")


# %% part="91d" role="answer"
def mean(x):
    ### BEGIN SOLUTION
    return x.double().mean().item()
    ### END SOLUTION


# %% part="91d" role="check"
lab.check("91d")


# %% part="91e" role="answer"
class Counter:
    def __init__(self, made):
        ### BEGIN SOLUTION
        made()
        self.steps = 0
        ### END SOLUTION

    def step(self):
        ### BEGIN SOLUTION
        self.steps += 1
        ### END SOLUTION


# %% part="91e" role="check"
lab.check("91e")


# %% part="91f" role="answer"
def pages(size, page_size):
    ### BEGIN SOLUTION
    if size % page_size:
        raise ValueError("size must be whole pages")
    return size // page_size
    ### END SOLUTION


# %% part="91f" role="check"
lab.check("91f")
