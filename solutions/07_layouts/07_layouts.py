# Lab 07, the single source of labs/07_layouts/07_layouts.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 07 · Other layouts, same questions
#
# *100 points, about 75 minutes. Nothing here needs a GPU.*
#
# In six labs a token went to a rank alone: loc 0 to rank 0, loc 1 to rank 1. That is one layout of many, and the only one
# that this course has shown. Other servers give each rank a run of neighbours, keep blocks of two sizes, share out the
# indexer's keys as well, or hold five stores that count in five ways. What you learned does not change: ask of each index
# which space it is in. There are more spaces.
#
# A layout here is two numbers. **D** ranks, and **I** neighbours to a rank before the next has its turn: the *interleave*.
# vLLM calls it `cp_kv_cache_interleave_size`, SGLang `interleave_size`. I = 1 is lab 01. I = 64, a page, is *blocks by
# turns*: easy to copy, and one rank holds all of a short request.
#
# **Afterwards** you can read a server's layout off two numbers and say which of its ids another server may use. **You
# need** lab 01's 1a to 1d, lab 04's 4a and lab 06's 6e.

# %%
from dcplab import lab, viz

lab.start("07")

# %% [markdown]
# Five questions on labs 01 to 06, half a minute each. Skip them if you like: nothing is graded, and nothing is kept.

# %%
lab.recall("07")

# %% [markdown]
# ## 7a · I at a time
#
# *100 points, 8 minutes.*
#
# Cut the locs into runs of I and deal the *runs*. A rank keeps its runs one behind the other, so its rows have no holes.
#
# Four ranks, I = 2: locs 8 and 9 are in run 4, which is rank 0's again. Rank 0 has the rows 0 and 1 filled, by locs 0 and
# 1, so 8 and 9 go to its rows 2 and 3.

# %%
lab.predict("7a")

# %%
viz.question("7a")

# %% [markdown]
# Write `owner_and_row`. At I = 1 it must be what you wrote in lab 01. About 2 lines.


# %% part="7a" role="answer"
def owner_and_row(loc, dcp_size, interleave):
    """The rank that stores each loc's c-KV, and its row there.

    The ranks take turns, and each gets a run of interleave neighbours.

    loc: an int, or an integer tensor of any shape; no padding.
    dcp_size, interleave: ints from 1 on.
    Returns (rank, row): two ints for an int, else two new tensors of loc's shape and
    dtype.
    """
    ### BEGIN SOLUTION
    rank = loc // interleave % dcp_size
    return rank, loc // (interleave * dcp_size) * interleave + loc % interleave
    ### END SOLUTION


# %% part="7a" role="check"
lab.check("7a")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `owner_and_row(10, 4, 2)` is `(1, 2)`, `owner_and_row(10, 4, 1)` is `(2, 2)`, and `owner_and_row(torch.arange(6), 2, 2)`
# is `(tensor([0, 0, 1, 1, 0, 0]), tensor([0, 1, 0, 1, 2, 3]))`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("7a")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the locs of a request are dealt from rank 0 on. They are if it begins at a multiple of I * D, and nothing in this
# function asks.
# </details>

# %% [markdown]
# ## Where you are now

# %%
lab.progress()
