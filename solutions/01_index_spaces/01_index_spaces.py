# Lab 01, the single source of labs/01_index_spaces/01_index_spaces.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 01 · One number, five meanings
#
# *100 points, about 95 minutes, 81 without what can wait. Nothing here needs a GPU.*
#
# A server starts. You ask it a question, and the answer is right. It serves long requests for a while. You ask the same
# question again: no error, no warning, and the answer is wrong. You restart it, and the answer is right again.
#
# That is SGLang issue #36886. An index that was right in one place was used in another, and nobody could see it, because
# both are just integers. In this lab you learn to tell these integers apart, and you write the arithmetic that carries one
# over to the other, up to a Triton kernel of the kind that the real fix needed. You finish with lines of other servers.
#
# **How to work.** Each part has a question, a cell for your answer, and a check. Commit to a prediction first; it costs
# nothing to be wrong. Run a check as often as you like: the inputs are new each time. Where you are stuck, `lab.hint("1a")`
# gives one of three hints, `lab.explain("1a")` tells more about the last failure, and `lab.reset("1a")` gives you the
# empty cell again and keeps yours. `lab.progress()` shows where you stand.
#
# **Afterwards** you can say of any loc who stores it and where, in Python and in a kernel. **You need** Python, torch
# tensors and, for 1h, a small Triton kernel written once: if not, do [Triton's vector
# addition](https://triton-lang.org/main/getting-started/tutorials/01-vector-add.html) first. **Short of time?** 1d and
# 1g can wait; no later part uses them.

# %%
import torch
import triton
import triton.language as tl

from dcplab import investigate, lab, viz

lab.start("01")

# %% [markdown]
# ## One token, from a request to an answer
#
# A server writes an answer token by token. For each it runs one **decode step**.
#
# Attention needs something of every earlier token: a row of 512 numbers in each layer, its **c-KV** (compressed keys
# and values). One GPU has room for 455,744 of them. Eight GPUs that keep different tokens have room for eight times as
# many, 3,645,952. That is decode context parallelism, **DCP**, and each of the eight is a **rank**.
#
# Reading 300,000 rows for every new token would take too long. So a small model, the **indexer**, first scores all
# tokens by a short key of each, its **index-K**, and attention reads only the best 2,048: the **top-k**. That is
# DeepSeek sparse attention, **DSA**. Every rank holds the index keys of all tokens, so all ranks choose the same ones.
# Then each attends to those that it keeps, and the outputs are merged, each with a weight: its **LSE**, the logarithm
# of the sum of its scores' exponentials.
#
# On this way a token is named by a number, and from one line of the picture to the next the number means something
# else. Four ranks and a top-k of 3 are enough to see it; kernels take tables of four places, so the last is -1. Parts of
# the picture come back where a part of the lab is about them.

# %%
viz.decode_step()

# %% [markdown]
# ## First, see it happen
#
# Here is a server small enough to read. It is a **toy**: there is no attention, and a "token" is a word that is stored and
# read back. (Lab 05 replays the incident with real kernels and a model.) What it shares with the real thing is its memory:
#
# * Two ranks keep the tokens' c-KV between them. A rank has 16 rows a layer, and two layers, one right behind the other. Behind
#   the second layer lies somebody else's memory.
# * The allocator hands out slot numbers for *both* ranks together, so they go up to 31. Such a number is called a **loc**.
# * Prompts stay cached, as in a prefix cache, so their slots stay taken.
#
# `where` says in which row a rank keeps a loc, -1 for "not on this rank". The first version answers: in the row with the
# same number.

# %%
D, ROWS, SLOTS = 2, 16, 8  # ranks, rows of a layer on a rank, slots that are handed out at a time


class Server:
    def __init__(self, where):
        self.where = where  # (locs, rank) -> the row in which the rank keeps each loc, or -1
        self.memory = torch.zeros(D, 3 * ROWS, dtype=torch.int64)  # a rank: layer 0 | layer 1 | somebody else's
        self.next_loc, self.cache, self.words = SLOTS, {}, [""]  # the first 8 slots are never handed out

    def touch(self, layer, locs, tokens=None):
        found = torch.zeros_like(locs)
        for rank in range(D):
            rows = self.where(locs, rank)
            mine = rows >= 0
            at = layer * ROWS + rows[mine]
            if tokens is not None:
                self.memory[rank, at] = tokens[mine]
            found[mine] = self.memory[rank, at]
        return found

    def ask(self, prompt):
        if prompt not in self.cache:  # new: take slots, store every word in both layers
            self.words += prompt.split()
            tokens = torch.arange(len(self.words))[-len(prompt.split()) :]
            locs = self.cache[prompt] = self.next_loc + torch.arange(len(tokens))
            self.next_loc += -(-len(tokens) // SLOTS) * SLOTS
            for layer in (0, 1):
                self.touch(layer, locs, tokens)
        return " ".join(self.words[i] for i in self.touch(1, self.cache[prompt]))  # what layer 1 reads back


# %%
question = "the museum opens at nine"
longer = ["once upon a time a king lived here", "the museum closes at midnight on new year"]

old = Server(where=lambda locs, rank: locs)
print("just started:  ", old.ask(question))
for prompt in longer:
    old.ask(prompt)
print("an hour later: ", old.ask(question))
print("restarted:     ", Server(where=lambda locs, rank: locs).ask(question))

# %% [markdown]
# Nothing crashed. The answer is fluent, and wrong.
#
# Follow the numbers. The question got locs 8 to 12, and layer 1 kept it in rows 8 to 12 of its own, which are rows 24 to 28
# of the rank's memory. The second long request got locs 24 to 31. Layer 0 has 16 rows, but it stored that request in "row
# 24" and on: in layer 1's rows, over the museum's opening time.
#
# On the real server the same thing begins at loc 455,808, because a rank has 455,744 rows and a spare page of 64, while the
# allocator hands out locs up to 3,646,463. Below loc 455,808 everything looks right.
#
# So a loc is not a row. There are five kinds of number in this story:
#
# | name | counts | an example |
# |---|---|---|
# | **position** | tokens in one request, from 0 | the 3rd token is at position 2 |
# | **loc** | slots of all ranks together; what the allocator hands out | 10 |
# | **row** | rows of one rank's pool | 2, on rank 2 |
# | **page** | groups of locs or rows; there are two kinds, see 1e and 1f | 6, or 3 |
# | **ragged index** | tokens in a temporary buffer; lab 04 | 17 |
#
# And four sizes: **D** ranks (`dcp_size`), numbered by `dcp_rank`; **P** rows in a page (`page_size`); **C** rows that a
# rank can hold. The fourth, the width of the allocator's page, you will find in 1e.

# %% [markdown]
# ## 1a · Whose slot is it?
#
# *5 points, 5 minutes.*
#
# The ranks share the slots out by turns, one loc at a time: loc 0 goes to rank 0, loc 1 to rank 1, and after the last rank
# it is rank 0's turn again. This is called *interleaved*.

# %%
viz.decode_step("request")

# %%
lab.predict("1a")

# %% [markdown]
# Write `owner_rank`. It is used with single ints and with whole tensors of locs, so it must take both. About 1 line.


# %% part="1a" role="answer"
def owner_rank(loc, dcp_size):
    """The rank that stores the c-KV of each loc.

    loc: an int or an integer tensor of any shape, locs >= 0.
    dcp_size: int, the number of ranks.
    Returns an int for an int, and for a tensor a new tensor of the same shape and
    dtype: ranks, 0 to dcp_size - 1.
    """
    ### BEGIN SOLUTION
    return loc % dcp_size
    ### END SOLUTION


# %%
viz.question("owner_strip", range(12), dcp_size=4)

# %% part="1a" role="check"
lab.check("1a")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `owner_rank(10, 4)` is `2`. `owner_rank(torch.tensor([0, 1, 2, 3, 4]), 3)` is `tensor([0, 1, 2, 0, 1])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1a")` gives the first of three hints; each next call gives another.
# </details>
# <details><summary>What this does not prove</summary>
#
# That every engine shares slots out this way. Some give a rank 64 neighbours before the next has its turn. Both are fine,
# as long as the writer and the reader mean the same one.
# </details>

# %% [markdown]
# ## 1b · Which row is it there?
#
# *5 points, 5 minutes.*
#
# Rank 2 of four owns locs 2, 6, 10, 14 and so on. Its pool has no use for the gaps between them: it fills its rows one after
# another, from row 0.

# %%
viz.decode_step("write")

# %%
lab.predict("1b")

# %% [markdown]
# Write `local_row`. Again for ints and tensors, and exact: a loc can be larger than a float can count. About 1 line.


# %% part="1b" role="answer"
def local_row(loc, dcp_size):
    """The row in which the owner of each loc keeps it.

    loc: an int or an integer tensor of any shape, locs >= 0.
    dcp_size: int, the number of ranks.
    Returns an int for an int, and for a tensor a new tensor of the same shape and
    dtype: rows of the owner's pool.
    """
    ### BEGIN SOLUTION
    return loc // dcp_size
    ### END SOLUTION


# %%
viz.question("rank_table", range(12), dcp_size=4)

# %% part="1b" role="check"
lab.check("1b")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `local_row(10, 4)` is `2`, and so are `local_row(8, 4)` and `local_row(11, 4)`: one row number, four ranks, four different
# tokens.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1b")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a row number is of any use alone. Row 2 is a row of *some* rank. Whoever passes a row on must know of which.
# </details>

# %% [markdown]
# ## 1c · Mine, or -1
#
# *15 points, 10 minutes.*
#
# Sparse attention picks the tokens it wants to read, as a table of locs. Each rank gets the same table and reads only what
# it has. So each rank makes a table of its own, of the same shape: the row where it owns the loc, and **-1** where it does
# not. The kernel skips -1.
#
# The table has -1 in it already, where a query has fewer tokens than the table has places. That is *padding*, and it
# belongs to nobody.

# %%
viz.decode_step(["top_k", "localize"])

# %%
lab.predict("1c")

# %% [markdown]
# Write `localize`. About 2 lines.
#
# Try your arithmetic on -1 before you check. torch rounds down: `-1 // 4` is -1, and `-1 % 4` is 3, which looks very much
# like a rank.


# %% part="1c" role="answer"
def localize(locs, dcp_rank, dcp_size):
    """A table of locs as rank `dcp_rank` sees it.

    locs: an integer tensor of any shape; -1 is padding. dcp_rank, dcp_size: ints.
    Returns a new tensor of the same shape and dtype: the row where this rank owns the
    loc, else -1. Padding stays -1.
    """
    ### BEGIN SOLUTION
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)
    ### END SOLUTION


# %%
viz.question("localized", [2, 5, 8, 10], dcp_size=4)

# %% part="1c" role="check"
lab.check("1c")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `localize(torch.tensor([2, 5, 8, 10]), 0, 4)` is `tensor([-1, -1, 2, -1])`; for rank 2 it is `tensor([0, -1, -1, 2])`, and
# for rank 3, which owns none of them, `tensor([-1, -1, -1, -1])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1c")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That you looked at the sign. If you did not, the last rank took padding for its own, and its row came out as -1 // D, which
# is -1 again: luck, to which 1h comes back. Nor that -1 is understood downstream: it is a promise between this function and
# one kernel; another kernel may take -1 for an address. It also says nothing about the *writer*: if tokens were stored by
# another rule, this reads the wrong ones with great confidence.
# </details>

# %% [markdown]
# ### Your function in the toy server
#
# Back to the museum. The same server and the same three requests, only `where` is now your answer. (`lab.run` runs the
# answer cell of a part in a process of its own, as the check does.)

# %%
rows_of = [lab.run("1c", torch.arange(32), rank, D) for rank in range(D)]  # your rows of all 32 locs, on either rank
mended = Server(where=lambda locs, rank: rows_of[rank][locs])
try:
    print("just started:  ", mended.ask(question))
    for prompt in longer:
        mended.ask(prompt)
    print("an hour later: ", mended.ask(question))
except (TypeError, IndexError, RuntimeError):
    print("The toy needs the table that 1c asks for: come back when its check passes.")

# %% [markdown]
# With 1c solved it reads *the museum opens at nine* twice: two ranks with half of the rows each, and no row above 15.
#
# Both the write and the read went through your function. What if only one of them did? Change `touch` and try; lab 03 asks
# for the answer.

# %% [markdown]
# ## 1d · And back
#
# *10 points, 5 minutes. It can wait.*
#
# A rank found something in row 2 and wants to tell the others about it. Row 2 means nothing to them; the loc does. Write
# the way back.

# %%
viz.decode_step("attend")

# %%
lab.predict("1d")

# %% [markdown]
# Write `globalize`. It undoes 1c on the rows that a rank owns, and leaves -1 alone. About 1 line.


# %% part="1d" role="answer"
def globalize(rows, dcp_rank, dcp_size):
    """The locs of rows of rank `dcp_rank`: the inverse of localize on owned rows.

    rows: an integer tensor of any shape; -1 is "not here". dcp_rank, dcp_size: ints.
    Returns a new tensor of the same shape and dtype: locs, and -1 where the row was -1.
    """
    ### BEGIN SOLUTION
    return torch.where(rows >= 0, rows * dcp_size + dcp_rank, -1)
    ### END SOLUTION


# %% [markdown]
# The question of 1b, asked the other way round:

# %%
viz.question("rank_table", range(8, 20), dcp_size=4)

# %% part="1d" role="check"
lab.check("1d")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `globalize(torch.tensor([0, 1, -1, 2]), 1, 4)` is `tensor([1, 5, -1, 9])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1d")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a round trip returns everything. From locs to rows and back gives each rank its own locs only; the others' come back
# as -1. To have all of them you must ask all ranks.
# </details>

# %% [markdown]
# ## 1e · A page that is wider than a page
#
# *10 points, 6 minutes.*
#
# Memory is handed out in pages. A page of a rank's pool has P rows. But when the allocator hands out a page, every rank
# should get a whole one, or a page would be shared by strangers. So the allocator's page must cover more locs than P.
#
# With P = 4 and D = 2: how many locs does it take to fill one page of 4 rows on both ranks?

# %%
lab.predict("1e")

# %% [markdown]
# Write `page_locs`: all locs of one page of the allocator. About 2 lines.


# %% part="1e" role="answer"
def page_locs(page, page_size, dcp_size):
    """The locs of one widened page, the allocator's page.

    page: int, the allocator's page id, from 0.
    page_size: int, rows of a page on one rank.
    dcp_size: int, the number of ranks.
    Returns a 1-D int64 tensor of locs, ascending.
    """
    ### BEGIN SOLUTION
    width = page_size * dcp_size
    return torch.arange(page * width, (page + 1) * width)
    ### END SOLUTION


# %%
viz.question("widened_page", 3, page_size=4, dcp_size=2)

# %% part="1e" role="check"
lab.check("1e")

# %% [markdown]
# The width that you just found is the fourth size, **W**.
#
# <details><summary>Expected output</summary>
#
# `page_locs(3, 4, 2)` is `tensor([24, 25, 26, 27, 28, 29, 30, 31])`. On a server with P = 64 and D = 8 the first page that is
# handed out, page 1, starts at loc 512.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1e")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That every loc of a page holds a token. A request that needs 9 slots takes two pages of 8 and leaves 7 unused; they stay
# its own.
# </details>

# %% [markdown]
# ## 1f · Two page tables for one request
#
# *15 points, 13 minutes.*
#
# Two caches hold something about each token, and they are stored differently:
#
# * **c-KV** is split over the ranks. Each rank reads whole pages of its own *rows*.
# * **index-K**, the small keys by which tokens are picked, is the same on every rank and complete on every rank. It is read
#   by *loc*, in pages of P locs.
#
# So one request has two page tables, and they do not even have the same length. A c-KV page is what one rank has of a page
# of the allocator, P of its P * D locs, so it has that page's id.

# %%
viz.decode_step(["request", "index_k", "write"])

# %%
lab.predict("1f")

# %% [markdown]
# Write `page_tables`. The locs are those of one request in the order of its positions. They start on a widened page and use
# up a page before they go on to the next one, which may be anywhere. The last page may be partly filled. About 2 lines.


# %% part="1f" role="answer"
def page_tables(locs, page_size, dcp_size):
    """The two page tables of one request.

    locs: 1-D integer tensor, a request's locs in position order.
    page_size: int, locs of an index-K page, rows of a c-KV page.
    dcp_size: int, the number of ranks.
    Returns (index_k_pages, ckv_pages), two 1-D tensors of the dtype of locs, both in
    order of first use: an id for each index-K page, and one for each c-KV page (the
    page of the owner's rows, which is the same on every rank).
    """
    ### BEGIN SOLUTION
    width = page_size * dcp_size
    return locs[::page_size] // page_size, locs[::width] // width
    ### END SOLUTION


# %%
viz.question("two_page_tables", list(range(24, 32)) + list(range(8, 11)), page_size=4, dcp_size=2)

# %% part="1f" role="check"
lab.check("1f")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# For the 11 locs of the picture, 24 to 31 and then 8 to 10, with P = 4 and D = 2: `(tensor([6, 7, 2]), tensor([3, 1]))`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1f")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That index-K has room for page 7. If somebody made it as large as a rank's share of c-KV, these ids are right and the
# buffer is too small. That is the crash of issue #36886, and lab 02.
# </details>

# %% [markdown]
# ## All of it in one picture
#
# Pick a loc and see it everywhere: its owner, its row there, its page of either kind, and the request that holds it. Change
# D, P or C. Two questions to answer with it: at D = 4, which locs share row 4 with loc 18? And which of D, P and C can you
# change without changing any owner?

# %%
viz.owner_table(dcp_size=2, page_size=4, size=12, selected=25)

# %% [markdown]
# ## 1g · From requests to locs
#
# *15 points, 9 minutes. It can wait.*
#
# Where do the locs come from? From `req_to_token`, a table with a row for each request that the server can hold: entry
# `[row, position]` is the loc of that token. A batch is a list of such rows (`req_pool_indices`) and a length for each
# (`seq_lens`).
#
# Rows are used again and again, and nobody wipes them.

# %%
viz.decode_step(["request", "indexer"])

# %%
lab.predict("1g")

# %% [markdown]
# Write `flatten_request_locs`. Lengths can be 0. About 2 lines.


# %% part="1g" role="answer"
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    """The locs of a batch, request after request, without padding.

    req_to_token: 2-D integer tensor [rows, positions] of locs; of a request's row only
    the first seq_lens[i] are its own.
    req_pool_indices, seq_lens: 1-D integer tensors, one entry a request, or none: its
    row, its length in tokens (0 or more).
    Returns a new 1-D tensor of locs of the table's dtype, in the order of
    req_pool_indices.
    """
    ### BEGIN SOLUTION
    table = req_to_token[req_pool_indices]
    own = torch.arange(table.shape[1], device=table.device) < seq_lens[:, None]
    return table[own]
    ### END SOLUTION


# %%
table = torch.tensor([[40, 41, 42, 17, 18, 0], [0, 0, 0, 0, 0, 0], [16, 17, 18, 19, 20, 21], [8, 9, 33, 34, 35, 36]])
viz.question("flattened", table, req_pool_indices=torch.tensor([3, 0]), seq_lens=torch.tensor([2, 3]))

# %% part="1g" role="check"
lab.check("1g")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# For the picture's table, rows 3 and 0 with lengths 2 and 3: `tensor([8, 9, 40, 41, 42])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1g")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# In which space the numbers of the table are. They are locs here because the allocator put locs in. Nothing in an int64
# tensor says so, and a name like `page_table` says it still less.
# </details>

# %% [markdown]
# ## 1h · The same rule as a Triton kernel
#
# *15 points, 15 minutes.*
#
# The server translates tables between two kernels, thousands of times a second, so it does it on the GPU. The rule is that
# of 1c; what is new is that you say which program handles which entry.
#
# The kernel is launched with as many programs as it takes for blocks of `BLOCK` entries. With n = 11 and BLOCK = 8 there
# are two: program 1 is there for entries 8 to 15, and its last five lanes have none. Two different things must not be mixed
# up:
#
# * A lane **past n** has nothing to read and nothing to write. It is switched off with `mask=`, in the load *and* in the
#   store. An address that happens to be harmless does not help: the store would still happen.
# * A lane whose loc **belongs to another rank** is not switched off. Its entry needs an answer, and the answer is -1.
#
# **Interpreted or compiled.** Without a GPU the check runs your kernel in Triton's interpreter, slowly, in a process of its
# own, where every address is watched. With a GPU it compiles the same source for it, and runs it in the interpreter beside,
# because a GPU does not show who reads outside a buffer. `lab.start` told you which it is here. A pass in the interpreter
# shows that the arithmetic and the masks are right; it says nothing about speed, and nothing about how programs that run at
# the same time disturb each other.

# %%
viz.decode_step(["top_k", "localize"])

# %%
lab.predict("1h")

# %% [markdown]
# Write the kernel's body. About 5 lines. You will need `tl.program_id`, `tl.arange`, `tl.load`, `tl.where` and `tl.store`.


# %% part="1h" role="answer"
@triton.jit
def localize_page_table_kernel(
    locs_ptr,
    rows_ptr,
    n,
    DCP_RANK: tl.constexpr,
    DCP_SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Rows of rank DCP_RANK for a table of locs, by the rule of localize.

    locs_ptr: n int64 locs, -1 is padding; read only.
    rows_ptr: n int64, every entry is written: a row, or -1.
    n: entries of both, n >= 1.
    BLOCK: entries a program handles, a power of two.
    Grid: cdiv(n, BLOCK) programs.
    """
    ### BEGIN SOLUTION
    entry = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = entry < n
    loc = tl.load(locs_ptr + entry, mask=mask, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + entry, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
    ### END SOLUTION


# %%
viz.question("kernel_lanes", [2, 5, 8, 10, -1, 0, 13, 4, 7, 6, 12], dcp_rank=0, dcp_size=4, block=8)

# %% part="1h" role="check"
lab.check("1h")

# %% [markdown]
# Run it on the table of 1c, or on one of your own:

# %%
lab.run("1h", torch.tensor([2, 5, 8, 10]), 0, 4, 4)

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `tensor([-1, -1, 2, -1])`, as in 1c.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1h")`.
# </details>
# <details><summary>Is -1 safe without a test for it?</summary>
#
# Here you get away without it, twice, and for two different reasons. Compiled Triton rounds towards zero, as C does: -1 % 8
# is -1, which is no rank, so nobody takes padding for its own. torch rounds down: -1 % 8 is 7, so rank 7 does take it, and
# only because -1 // 8 happens to be -1 does nothing come of it. Move the line to where something is *written* at that row,
# and on rank 7 padding overwrites a token. So the real code tests for the sign.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the kernel is fast, or that the server calls it with locs. If a table of *rows* comes in, it divides a second time,
# and the result is a table of quite plausible, wrong rows.
# </details>

# %% [markdown]
# ## 1i · Name the space
#
# *10 points, 14 minutes.*
#
# The skill of this lab, on code that is not yours. Here are eight snippets in the manner of three servers, whose words
# they use and add to. They are drawn from a number that is yours; nobody else has the same eight.
#
# Above each stands what its lines are given. `kv_cache[row]` is a buffer that is read by row; behind a name stands what it
# holds. That list is true. All other names are made in the lines, and some of them lie.
#
# Two questions a snippet. **In which space** is one of its indices: position, loc, row, index-K page, allocator page or
# rank? And **which line mixes** two spaces, the first if several do, or 0 if none does? A line mixes two spaces if
#
# * it looks something up, or calls a function, with an index of another space than the one asked for;
# * it adds, joins or compares indices of two spaces, other than a start and a place in it, as in `page * P + place`;
# * it divides or multiplies an index by a size that does not belong to its space, as in `row // D`.
#
# A wrong name alone mixes nothing. And one place has two names: a request begins on an allocator page, so `position % P` and
# `loc % P` are the same number, and so are `position % W` and `loc % W`. Either may stand for a place in a page of locs;
# `row % P`, a place in a page of rows, is another number.

# %%
lab.predict("1i")

# %%
investigate.snippets("1i")

# %% [markdown]
# Fill in your seed and, for each snippet, the space and the line: `"row, 3"`.


# %% part="1i" role="answer"
def name_the_space():
    """The space asked for in each of your eight snippets, and the line that mixes two.

    Returns the seed that your snippets show, an int, and a dict from a snippet's number
    to a string: the space, a comma, the line (0: none).
    """
    seed = None
    found = {
        1: "?",
        2: "?",
        3: "?",
        4: "?",
        5: "?",
        6: "?",
        7: "?",
        8: "?",
    }
    ### BEGIN SOLUTION
    seed = 36886
    found |= {
        1: "position, 0",
        2: "loc, 2",
        3: "index-K page, 2",
        4: "rank, 3",
        5: "allocator page, 4",
        6: "loc, 5",
        7: "index-K page, 0",
        8: "row, 2",
    }
    ### END SOLUTION
    return seed, found


# %% part="1i" role="check"
lab.check("1i")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Each snippet counts on its own, if both of its answers are right: 1.25 points.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("1i")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a line that mixes nothing is right. `ckv[loc // D]` without a look at the owner reads a row in the right space, and on
# D - 1 of D ranks another token. Nor that the list above real code is there, or true: that is what you will write first.
# </details>

# %% [markdown]
# ## Where you are now

# %%
lab.progress()

# %% [markdown]
# **You can now**
#
# * say for any loc who stores it, in which row, and on which page of either kind, with D no power of two and locs past 2^31;
# * turn a request into its locs, and a table of locs into each rank's rows and back, without taking padding for a token;
# * write it as a kernel that touches nothing else;
# * look at an index in a stranger's code, whatever it is called, and answer the first question of this course: *which space
#   is it in, and which does its reader expect?*
#
# **This did not prove** that any buffer is large enough, that the writer and the reader follow one rule, or that your
# kernel is fast. The toy showed one way in which a wrong space becomes a wrong word. The real server has a second one:
# there the index was right and the buffer too small.
#
# **Next: [lab 02, index-K sizing](../02_index_k_sizing/02_index_k_sizing.ipynb).** Why does the same server crash only
# after *two* long requests, and never after one?
