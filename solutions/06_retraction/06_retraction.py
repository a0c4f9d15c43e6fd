# Lab 06, the single source of labs/06_retraction/06_retraction.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 06 · The ids changed while you slept
#
# *100 points, about 90 minutes, 76 without what can wait. Nothing here needs a GPU; 6f is compiled for it where there is one.*
#
# Until now a token kept its loc for life. In this lab it does not. When a server runs out of pages it **retracts** a
# request: its rows are copied to the host's memory, its pages are given away, and later it comes back, to other pages.
# The request is the same, its tokens are the same, and every id it had is somebody else's.
#
# Who holds an id across such a night holds a stranger's. You write the way out and the way back, find what else must come
# along, free pages so that each is freed once, and move a request to a server with another number of ranks. All of it is
# one rule, lab 01's, asked anew each time with the locs of *now*.
#
# **Afterwards** you can say of a stored id until when it is true. **You need** lab 01's 1c and lab 03's 3c; 6f needs 3a.
# **Short of time?** 6f can wait; no later part uses it.

# %%
import torch
import triton
import triton.language as tl

from dcplab import investigate, lab, viz
from dcplab.demos import retraction

lab.start("06")

# %% [markdown]
# Five questions on labs 01 to 05, half a minute each. Skip them if you like: nothing is graded, and nothing is kept.

# %%
lab.recall("06")

# %% [markdown]
# ## A night on four servers
#
# Two requests ask the same question, which vault 17 opens for. The answer stands in each one's own prompt, and it is not
# the same. The *tenant* is answered and leaves. *Mine* says one word, is retracted, and comes back to the pages that the
# tenant had.

# %%
retraction.overnight()

# %% [markdown]
# Look at the second server. Mine asked for its own vault, and was told the tenant's secret, word for word. Nothing
# crashed, and every index was in range. The restore wrote mine's rows to the locs that they had been saved from, 96 and
# following. Those are somebody else's by now. Mine reads at 16 and following, where the tenant's rows still lie.
#
# The other two forgot something else: that a loc is no row. Rank 0 of the last server has 52 rows, and mine's locs go to
# 156. It asks for row 156, and dies with all its requests. That is SGLang #38645, a decode node with eight ranks. On the
# third the pool is larger, so row 156 exists. It is somebody else's, and what comes back is nonsense. The crash is the
# harmless case.
#
# Upstream mended it in #39487. Read what it does as you go: the mended line is short, and it has a precondition.
#
# Here is one such night in small, request A's. Go through its four moments, and choose where the restore writes. Which of A's
# ids changed, and whose is what it reads at the end?

# %%
viz.retraction()

# %% [markdown]
# ## 6a · The view and its precondition
#
# *15 points, 9 minutes.*
#
# Rank r's tokens of a run of locs are those with `loc % D == r`. A request begins on a widened page, and ranks take
# turns. So why compute a mask: every D-th entry, from entry r on, is the rank's. `locs[r::D] // D`: no mask, no
# data-dependent size.
#
# It is right for a run that begins at owner 0 and never skips a turn. Draw a thousand runs, half of them whole prefixes,
# half cut somewhere, as chunks and shared prefixes cut them:

# %%
retraction.strided_view()

# %% [markdown]
# Where the run begins at owner 0 the view was never wrong. Where it does not, it named other tokens nearly always, and
# other rows in three cases of four. (In the fourth the rank got the right rows by other tokens' locs, as in lab 04's 4a.)
# None of these rows is out of range.
#
# Upstream used to check a length, `numel % D == 0`. A retracted request has `seqlen - 1` tokens stored, which is rarely a
# multiple of D, so the check refused right runs and was taken out. The precondition that matters was never the length. It
# is now a sentence in a docstring: *the run starts page-aligned*.

# %%
viz.owner_strip(range(65, 75), dcp_size=4)

# %%
lab.predict("6a")

# %% [markdown]
# Write `kernel_rows` with the check. Any length is fine, an empty run too. About 4 lines.


# %% part="6a" role="answer"
def kernel_rows(locs, dcp_size, dcp_rank):
    """The rows that hold a run of locs on rank `dcp_rank`, by a strided view.

    locs: 1-D integer tensor, locs of a run of one request, in position order, perhaps
    none.
    dcp_size, dcp_rank: ints (D before the rank, as upstream).
    Returns a new tensor of the dtype of locs: every dcp_size-th loc from entry dcp_rank
    on, as rows. With one rank that is a copy of the locs.
    Raises ValueError unless locs[i] % dcp_size == i % dcp_size for every i.
    """
    ### BEGIN SOLUTION
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("the run does not begin at owner 0, or skips a turn")
    return locs[dcp_rank::dcp_size] // dcp_size
    ### END SOLUTION


# %% part="6a" role="check"
lab.check("6a")

# %% [markdown]
# ### What a check costs, and to whom
#
# You raised an exception. Upstream's old check was an `assert`. Lab 03's monitor was an alarm. The three differ in who
# hears of it:

# %%
retraction.what_a_check_costs()

# %% [markdown]
# The check of all locs costs more than the view saved, and as much as the mask. So on this path, which runs once a
# retraction, the mask is the better answer: it has no precondition. Where the view must stay, the first loc alone costs
# next to nothing and catches a run that begins late, though not one with a hole.
#
# <details><summary>Expected output of 6a</summary>
#
# `kernel_rows(torch.tensor([16, 17, 18, 19, 20]), dcp_size=4, dcp_rank=0)` is `tensor([4, 5])`; for rank 1 it is `tensor([4])`.
# With `[17, 18, 19, 20]` it raises ValueError.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("6a")` gives the first of three hints; each next call gives another.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the locs are the request's of now. A run of last night passes the check as well as one of this morning.
# </details>

# %% [markdown]
# ## 6b · Out and back
#
# *20 points, 13 minutes.*
#
# Now the two halves of a retraction. `backup` reads this rank's rows of the request's locs. `restore` writes them to the
# rows of its *new* locs. Between the two lies the night: what was computed for the one is no use for the other.
#
# Not every pool is addressed by locs of all ranks. Upstream has a pool whose ids have been turned into rows by whoever
# calls it (*unified, resolved*; you met it in 3c). A rank that divides such an id once more reads another token's row. So
# the pool says how many ranks its ids run over, its **span**: D for a pool that is given locs, 1 for one that is given
# rows. At span 1 the rank plays no part. One number, and the code for both is the same.
#
# How many rows come back is known before anything is written: as many as the rank owns of the new locs. If that is not
# the number that was saved, something is wrong, and the pool must not be touched. Torch helps in an odd way: one row is
# *spread* over all places without a word.

# %%
lab.predict("6b")

# %% [markdown]
# Write both. Use a mask: a run may begin anywhere here, and -1 is padding, nobody's. About 2 and 5 lines.


# %% part="6b" role="answer"
def backup(pool, locs, dcp_rank, span):
    """What this rank holds of a request, saved on the host.

    pool: [rows, V], any dtype, perhaps a strided view; not changed.
    locs: 1-D integer tensor, the request's locs, or rows if span is 1; -1 is padding.
    dcp_rank: int. span: int, D, or 1 for a pool whose ids are rows already.
    Returns a new CPU tensor [k, V]: the rows of those locs that are this rank's, in the
    order of locs.
    """
    ### BEGIN SOLUTION
    mine = (locs >= 0) & (locs % span == dcp_rank % span)
    return pool[locs[mine] // span].cpu()
    ### END SOLUTION


def restore(pool, saved, new_locs, dcp_rank, span):
    """Write a saved request to its new locs, in place.

    pool: [rows, V]; changed only in the rows of new_locs that are this rank's.
    saved: [k, V], what backup gave, of the pool's dtype, perhaps on another device.
    new_locs: 1-D integer tensor, the request's locs of now, in the order of the old
    ones.
    Raises ValueError, and changes nothing, if k is not the number of this rank's rows.
    """
    ### BEGIN SOLUTION
    mine = (new_locs >= 0) & (new_locs % span == dcp_rank % span)
    rows = new_locs[mine] // span
    if len(rows) != len(saved):
        raise ValueError(f"{len(saved)} rows were saved, and there is place for {len(rows)}")
    pool[rows] = saved.to(pool.device)
    ### END SOLUTION


# %% part="6b" role="check"
lab.check("6b")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# With `pool = torch.arange(8.)[:, None]` and locs `torch.tensor([8, 9, 10, 11, 12])`, `backup(pool, locs, 0, 4)` is
# `tensor([[2.], [3.]])`, and `backup(pool, torch.tensor([5, 6]), 3, 1)` is `tensor([[5.], [6.]])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("6b")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the copy has arrived. On a GPU a copy to pinned memory may still be on its way when the pages are given to somebody
# else; upstream waits for the device before and after. Nor that the span is right: a pool that says D and is given rows
# is divided twice, in range, and the counts may even agree.
#
# And one more thing that is open. #39487's author saw 4 of 48 restored requests repeat a token, with one rank too. So it
# is another fault, and this one hid it: before, those servers had crashed.
# </details>

# %% [markdown]
# ## 6c · A page freed twice
#
# *15 points, 9 minutes.*
#
# Between backup and restore the pages are given away. A request's locs are freed in pieces, since a part of it may stay,
# in the prefix cache say. Each piece is a range of positions, and each is freed *by its pages*.
#
# Pages are 512 positions here, P = 64 on eight ranks. Somewhere the code still cuts on a grid of 64. A piece ends at 576:

# %%
lab.predict("6c")

# %%
retraction.two_frees()

# %% [markdown]
# 576 is an edge of a 64-slot page and lies inside a 512-slot one. Both pieces touch the same page. With an assertion the
# server stops (SGLang #38941 is about that one). Without it the page stands in the free list twice, and two requests
# write to it. In the last lines a server does so: six words are right, and the seventh was read from a page that two
# requests share.
#
# The mend: join pieces that touch before anything is freed. Then look at what is left: a range that does not *start* on a
# widened page shares its first page with tokens that were not freed. The last one may *end* anywhere, since nothing behind
# a request's last position is anybody's. That an earlier one ends on an edge is up to who cuts; here it does.
#
# Write `merge_frees`. About 9 lines.


# %% part="6c" role="answer"
def merge_frees(segments, page_size, dcp_size):
    """The pieces of one request to be freed, joined where they touch or overlap.

    segments: list of tuples (start, end) of ints, positions, end not included; none is
    empty; in any order. Not changed.
    page_size, dcp_size: ints; a widened page is page_size * dcp_size positions.
    Returns a sorted list of tuples of which no two touch, [] for [].
    Raises ValueError if one of these does not start on a widened page.
    """
    ### BEGIN SOLUTION
    joined = []
    for start, end in sorted(segments):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    for start, _ in joined:
        if start % (page_size * dcp_size):
            raise ValueError(f"position {start} is not the first of a widened page")
    return joined
    ### END SOLUTION


# %% part="6c" role="check"
lab.check("6c")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `merge_frees([(576, 1000), (0, 576)], 64, 8)` is `[(0, 1000)]`. `merge_frees([(64, 600)], 64, 8)` raises ValueError: a
# page edge of one rank, not of all.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("6c")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That two calls do not free the same page. Pieces that come in two calls are joined by nobody.
# </details>

# %% [markdown]
# ### Traffic alone
#
# Retraction was seen on a decode node, one that gets its prefixes from elsewhere. There the allocator keeps freed pages
# apart and sorts them in when the free ones run out (`need_sort`), so that what travels lies in order. Lab 02 said that
# the watermark is about *held* pages. Here are forty small requests, one after another, never more than one of them held:

# %%
retraction.traffic()

# %% [markdown]
# Every page is issued once before any comes back. So on such a node each loc-for-row fault of this course shows after ten
# small requests, without a long one.

# %% [markdown]
# ## 6d · What else was in the bed?
#
# *10 points, 5 minutes.*
#
# c-KV is not all that a request leaves behind. index-K is read by loc; a draft's pool is too. Recurrent state (the KDA
# layers) is not: it has a place a *request*, and its id is the request's, not a token's. Upstream passes these ids
# through untouched. Divide one by D, and a request continues from another's state.

# %%
lab.predict("6d")

# %%
retraction.what_came_back()

# %% [markdown]
# The second server's c-KV is right to the last row. Its indexer reads what the tenant left at these locs, so top-k
# chooses other positions: one fixed query is asked before and after, in each layer on each rank, and 20 of its 192
# choices are gone. That set is all there is to see beside the words. The last server's words are right, since the target
# checks what a draft proposes; only the draft's own choices tell.
#
# Write `restore_is_complete`. About 1 line.


# %% part="6d" role="answer"
def restore_is_complete(restored, pool_kinds):
    """Whether a restore put back by locs all that is addressed by locs, and no more.

    restored: set out of "ckv", "index_k", "draft", "recurrent": what was written by
    locs, a subset of pool_kinds.
    pool_kinds: set of the same words: what this server has.
    Returns a bool.
    """
    ### BEGIN SOLUTION
    return restored == pool_kinds - {"recurrent"}
    ### END SOLUTION


# %% part="6d" role="check"
lab.check("6d")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `restore_is_complete({"ckv", "index_k"}, {"ckv", "index_k", "recurrent"})` is `True`; with `{"ckv"}` it is `False`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("6d")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That what was written is right. A set of names says who wrote, not what.
# </details>

# %% [markdown]
# ## 6e · From one layout to another
#
# *15 points, 11 minutes.*
#
# The request of a decode node was prefilled elsewhere: on a node with one rank, or two, and pages of its own. Its rows
# must land on the decode node's ranks. It looks like a new problem, and people write new code for it, which multiplies
# and divides by both sizes. It is the same rule, once on either side:
#
# * on the **source**, rank s of S holds the token if `src_loc % S == s`, in row `src_loc // S`;
# * on the **target**, rank t of T must have it if `dst_loc % T == t`, in row `dst_loc // T`.
#
# Nothing is said about S and T together. Each pair of ranks asks for itself, and what it gets may be nothing. A target
# loc of -1 says that the decode node has the token already, in its prefix cache.

# %%
lab.predict("6e")

# %%
retraction.two_layouts()

# %% [markdown]
# From two ranks to four, half of the pairs never meet: 2 divides 4, so an even position stays on even ranks. From three
# to four all meet. No rule for that has to be written down; it is what the two questions give.
#
# Write `transfer_rows`. About 2 lines.


# %% part="6e" role="answer"
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    """The rows that one source rank reads and one target rank writes, token by token.

    src_locs, dst_locs: 1-D integer tensors of one length, the locs of a request's
    tokens on the source and on the target, in position order. -1 in dst_locs: the
    target has the token already. They may differ in dtype.
    src_size, src_rank, dst_size, dst_rank: ints.
    Returns (src_rows, dst_rows), new 1-D tensors of one length, each of its locs'
    dtype, in position order: of the tokens that the source rank holds and the target
    rank must get.
    """
    ### BEGIN SOLUTION
    moves = (dst_locs >= 0) & (src_locs % src_size == src_rank) & (dst_locs % dst_size == dst_rank)
    return src_locs[moves] // src_size, dst_locs[moves] // dst_size
    ### END SOLUTION


# %% part="6e" role="check"
lab.check("6e")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `transfer_rows(torch.tensor([16, 17, 18, 19]), torch.tensor([40, 41, 42, 43]), 1, 0, 2, 1)` is `(tensor([17, 19]),
# tensor([20, 21]))`. From two ranks to four, source rank 0 and target rank 1 never meet.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("6e")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That rows fit rows: two nodes may store another width or dtype. And index-K is not sharded, so it travels whole, from
# one source rank to each target rank, by locs on both sides.
# </details>

# %% [markdown]
# ## 6f · The copy as a Triton kernel
#
# *15 points, 14 minutes. It can wait.*
#
# 6e makes two lists, and a gather and a scatter use them: two passes over the rows, and lists whose length the host must
# know. One kernel can do without. Each program takes `ROWS` tokens, asks 6e's three questions for each lane, and copies
# the row from one pool to the other. Here both pools are on one device; a restore from pinned memory is the same kernel
# with S = 1.
#
# Rows lie `dst_stride` and `src_stride` elements apart, and what lies between belongs to somebody else. A lane that does
# not move reads no row either. Join masks with `&`, each condition in parentheses.

# %%
lab.predict("6f")

# %% [markdown]
# Write the kernel's body. About 9 lines.


# %% part="6f" role="answer"
@triton.jit
def transfer_rows_kernel(
    dst_ptr,
    src_ptr,
    dst_loc_ptr,
    src_loc_ptr,
    n,
    dst_stride,
    src_stride,
    DIM: tl.constexpr,
    DST_RANK: tl.constexpr,
    DST_SIZE: tl.constexpr,
    SRC_RANK: tl.constexpr,
    SRC_SIZE: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Copies the rows of the tokens that move from one source rank to one target rank.

    dst_ptr, src_ptr: rows of DIM values, dst_stride and src_stride elements apart; one
    dtype.
    dst_loc_ptr, src_loc_ptr: n int64 locs, the same tokens' on either side; -1 in
    dst_loc: not moved.
    DIM and ROWS are powers of two. Grid: (cdiv(n, ROWS),).
    """
    ### BEGIN SOLUTION
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    src_loc = tl.load(src_loc_ptr + token, mask=token < n, other=0)
    dst_loc = tl.load(dst_loc_ptr + token, mask=token < n, other=-1)
    moves = (dst_loc >= 0) & (src_loc % SRC_SIZE == SRC_RANK) & (dst_loc % DST_SIZE == DST_RANK)
    column, moves = tl.arange(0, DIM)[None, :], moves[:, None]
    row = tl.load(src_ptr + (src_loc // SRC_SIZE)[:, None] * src_stride + column, mask=moves)
    tl.store(dst_ptr + (dst_loc // DST_SIZE)[:, None] * dst_stride + column, row, mask=moves)
    ### END SOLUTION


# %% part="6f" role="check"
lab.check("6f")

# %% [markdown]
# Run it on something small. The arguments are the source pool, the locs on both sides, size and rank of source and
# target, rows of the target's pool, and tokens a program:

# %%
lab.run("6f", torch.arange(8.0)[:, None].repeat(1, 2), [2, 3, 4, 5], [8, 9, 10, 11], 1, 0, 2, 1, 7, 4)

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Target rank 1 of two gets the tokens at locs 9 and 11: its rows 4 and 5 are the source's rows 3 and 5. The 7 stands for
# rows that nobody wrote.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("6f")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That it is fast: T launches look at all n tokens each, and D - 1 of D lanes are idle. Nor that source and target do not
# overlap: in one pool a row may be read after it was written.
# </details>

# %% [markdown]
# ## 6g · Name the space
#
# *10 points, 12 minutes.*
#
# The skill of this lab, on code that is not yours. Eight snippets in the manner of three servers, drawn from your number:
# a request that comes from a node with S ranks to this one with D. It works as 1i did. The list above the lines is true;
# all other names are made in the lines, and some of them lie.
#
# Both nodes have locs, rows and ranks. Those of the node that sends are called **source loc**, **source row**, **source
# rank**. A **sent row** is a place in the message of one source rank: it sends its tokens in position order, and here
# each request begins at position 0, so the token at position p is at p // S of the message of rank p % S.
#
# Two questions a snippet. **In which space** is the index that is asked for: position, loc, row, rank, source loc, source
# row, source rank or sent row? And **which line mixes** two spaces, the first if several do, or 0 if none does? A line
# mixes two spaces if
#
# * it looks something up, or calls a function, with an index of another space than the one asked for;
# * it adds, joins or compares indices of two spaces, other than a start and a place in it;
# * it divides or multiplies an index by a size that does not belong to its space: S by one node's, D by the other's.
#
# A wrong name alone mixes nothing, and neither does a copy of values from one node's buffer to the other's.

# %%
lab.predict("6g")

# %%
investigate.snippets("6g")

# %% [markdown]
# Fill in your seed and, for each snippet, the space and the line: `"source row, 3"`.


# %% part="6g" role="answer"
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
        1: "source rank, 4",
        2: "position, 2",
        3: "source loc, 0",
        4: "loc, 0",
        5: "source row, 4",
        6: "source loc, 2",
        7: "row, 0",
        8: "rank, 2",
    }
    ### END SOLUTION
    return seed, found


# %% part="6g" role="check"
lab.check("6g")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Each snippet counts on its own, if both of its answers are right: 1.25 points.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("6g")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That both nodes mean the same night. A source loc that was right when the message was packed names somebody else's token
# once the sender has freed the page.
# </details>

# %% [markdown]
# ## The fourth question
#
# Three questions brought you through five labs: in **which space** is this index, does the buffer have a **place** for it,
# and is it the **buffer** that the index was made for? Ask all three of a restore that left index-K behind.

# %%
investigate.night("index_k_stale")

# %% [markdown]
# Mine is told nonsense, and the typed spaces have nothing to say. They cannot: every index is a loc, and a loc of mine, and
# it lies inside index-K. A type knows what a number *is*. It does not know what lies there. So there is a fourth question:
#
# ***Is what lies here still what was put here, and did what belongs to it come along?***
#
# To answer it somebody has to note, at each write, for which token it was. `identity()` does: for each read of a token it says
# whether its slot was last written for that token. Before you run it: which of the two kinds of buffer finds another's?

# %%
investigate.night("index_k_stale").identity()

# %% [markdown]
# c-KV came along, index-K did not. Whose keys are they? One loc, from its first write on:

# %%
investigate.night("index_k_stale").identity(loc=21, buffer="index_k.0", rank=0)

# %% [markdown]
# The same of the server that restored to the old locs, `investigate.night("restore_old_locs")`, finds c-KV and index-K both
# another's. Lab 05's cases have `identity()` too. What it does not see: bytes that changed on their own, and a write of the
# right token with the wrong values.

# %% [markdown]
# ## Where you are now

# %%
lab.progress()

# %% [markdown]
# **You can now**
#
# * say of an id when it was true, and why a number saved before a retraction is a stranger's after it;
# * replace a view with a precondition by a mask, or check it, and say who hears of a broken one;
# * tell a pool that is given locs from one that is given rows, and divide once;
# * say what a request owns beside its c-KV, and by which ids;
# * move a request between two layouts with one rule, asked on either side;
# * ask the fourth question of this course, after space, place and buffer: *is what lies here still what was put here, and did
#   what belongs to it come along?*
#
# **This did not prove** that a copy had arrived before its pages were given away, or that the host had room. And the 4 of
# 48 requests that repeat a token are still open.
#
# **Next: [lab 07, other layouts](../07_layouts/07_layouts.ipynb).** Other servers deal their tokens otherwise: which of your
# rules were about DCP, and which only about one token at a time? The table at the end of lab 05 says where the lines of labs
# 01 to 06 stand upstream.
