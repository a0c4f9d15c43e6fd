# Lab 07, the single source of labs/07_layouts/07_layouts.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 07 · Other layouts, same questions
#
# *100 points, about 90 minutes, 75 without what can wait. Nothing here needs a GPU; 7e is compiled for it where there is
# one.*
#
# In six labs a token went to a rank alone: loc 0 to rank 0, loc 1 to rank 1. That is one layout of many, and the only one
# that this course has shown. Other servers give each rank a run of neighbours, keep blocks of two sizes, share out the
# indexer's keys as well, or hold five stores that count in five ways. What you learned does not change: ask of each index
# which space it is in. There are more spaces.
#
# A layout here is two numbers. **D** ranks, and **I** neighbours to a rank before the next has its turn: the *interleave*,
# which vLLM calls `cp_kv_cache_interleave_size` and SGLang `interleave_size`. The I neighbours are a **run**; D runs, one
# for each rank, are a **round**. I = 1 is lab 01. I = 64, a page, is *blocks by turns*: easy to copy, and one rank holds
# all of a short request.
#
# **Afterwards** you can read a server's layout off two numbers and say which of its ids another server may use. **You
# need** lab 01's 1a to 1d, lab 04's 4a and lab 06's 6e; 7e needs 6f. **Short of time?** 7e can wait; no later part uses it.

# %%
import torch
import triton
import triton.language as tl

from dcplab import lab, viz
from dcplab.demos import layout_servers, layouts

lab.start("07")

# %% [markdown]
# Five questions on labs 01 to 06, half a minute each. Skip them if you like: nothing is graded, and nothing is kept.

# %%
lab.recall("07")

# %% [markdown]
# ## Five servers
#
# One server, four ranks, pages of four. The first deals one loc a turn, the second four. Then the second three times more,
# each time with one rule of another server's. The questions are lab 05's; nothing is near a watermark.

# %%
layout_servers.five_servers()

# %% [markdown]
# Both layouts are right. A layout is a convention, and nobody outside can tell which one a server has. The last three are
# wrong in every answer, and no access is outside its buffer:
#
# * the third writes by runs of four and reads by turns of one: `interleave` has a default in too many signatures, and 1 is
#   right on most servers;
# * the fourth looks up a slot by the size of the wrong block: vLLM [#51031](https://github.com/vllm-project/vllm/pull/51031);
# * the fifth deals index-K to the ranks as it deals c-KV: [#57260](https://github.com/vllm-project/vllm/pull/57260).
#
# `./course incident --interleave 4 --defects interleave_other` runs the third one for you, with its trace.

# %% [markdown]
# ## 7a · I at a time
#
# *10 points, 8 minutes.*
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
# That a page stays in one piece, or that a request is dealt from rank 0 on. Both hold if I divides the page and a request
# begins at a page of all ranks; vLLM asks for the first at its start. Nothing in this function does.
# </details>

# %% [markdown]
# ## 7b · Back to the loc
#
# *10 points, 6 minutes.*
#
# A monitor, a transfer and a bug report all ask the other way: rank 1 has something in row 2, whose is it? At D = 4, I = 2
# row 2 is the first of rank 1's second run. One round of 8 locs came before, and in this round rank 0's two: loc 10.
#
# -1 means *not here*, and stays -1. It must be asked for: on the last rank the arithmetic gives -1 by itself, and a test on
# that rank sees nothing.

# %%
lab.predict("7b")

# %%
viz.question("7b")

# %% [markdown]
# Write `loc_of_row`. About 2 lines.


# %% part="7b" role="answer"
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    """The loc that lies in each row of rank dcp_rank: 7a the other way.

    row: integer tensor of any shape, rows of this rank; -1 means not here.
    dcp_rank, dcp_size, interleave: ints.
    Returns a new tensor of row's shape and dtype; -1 stays -1.
    """
    ### BEGIN SOLUTION
    rounds, place = row // interleave, row % interleave
    return torch.where(row >= 0, (rounds * dcp_size + dcp_rank) * interleave + place, -1)
    ### END SOLUTION


# %% part="7b" role="check"
lab.check("7b")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `loc_of_row(torch.tensor([2, 0, -1]), 1, 4, 2)` is `tensor([10, 2, -1])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("7b")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That somebody wrote to that row. Every row has a loc, an empty one too.
# </details>

# %% [markdown]
# ## 7c · Who holds how much
#
# *15 points, 9 minutes.*
#
# Each rank's attention kernel gets the number of keys that *this rank* has. Too small by one, and the newest token is not
# seen, whose own key weighs most; too large by one, and a row is read that nobody wrote. vLLM works these numbers out in
# `get_dcp_local_seq_lens`, with I as an argument.
#
# A request begins with rank 0's run, at a loc that is a multiple of I * D. Then full rounds give each rank I tokens, and the
# last round is uneven. With 8 ranks, a thousand requests of 1 to 4,000 tokens:

# %%
layouts.uneven()

# %% [markdown]
# All ranks wait for the longest; what is lost is their waiting, against the work itself. At I = 1 the longest has at most
# one token more than the shortest. At I = 512 a request of up to 512 tokens lies on one rank, and seven of eight have
# nothing to do. What a long run buys is copies: a page that one rank holds whole is one piece of memory.

# %%
lab.predict("7c")

# %%
viz.question("7c")

# %% [markdown]
# Write `local_lengths`. About 4 lines.


# %% part="7c" role="answer"
def local_lengths(seq_lens, dcp_size, interleave):
    """How many tokens of each request lie on each rank.

    seq_lens: 1-D integer tensor, tokens of B requests, 0 too; each request begins at a
    loc that is a multiple of interleave * dcp_size.
    dcp_size, interleave: ints.
    Returns a new tensor [B, dcp_size] of the dtype of seq_lens.
    """
    ### BEGIN SOLUTION
    full, rest = seq_lens[:, None] // (interleave * dcp_size), seq_lens[:, None] % (interleave * dcp_size)
    starts = torch.arange(dcp_size, dtype=seq_lens.dtype, device=seq_lens.device) * interleave
    return full * interleave + (rest - starts).clamp(0, interleave)
    ### END SOLUTION


# %% part="7c" role="check"
lab.check("7c")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `local_lengths(torch.tensor([300, 3]), 4, 64)` is `tensor([[108, 64, 64, 64], [3, 0, 0, 0]])`. Each line adds up to the
# length.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("7c")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the kernel asks each rank for its own keys only. With several queries a step, as a draft's verification has, each one
# sees a token more than the last, and at I > 1 that token is not on the next rank. vLLM refuses speculation with I > 1 for
# backends that have not said that they can (`supports_mtp_with_cp_non_trivial_interleave_size`).
# </details>

# %% [markdown]
# ## 7d · Two block sizes
#
# *15 points, 12 minutes.*
#
# vLLM has no `req_to_token`. A request has a line of a **block table**: for each block of B tokens the number of the block that
# holds them. What this course calls a loc is a **slot** there: `block * B + place`. The *slot mapping* is the list of slots at
# which a step's tokens are stored.
#
# Two sizes of block go by that one name. The **manager** hands out blocks of B tokens, say 128. The **kernel** may read
# blocks of another size b, say 64, since it was written for that. Then each of the manager's blocks is B / b of the
# kernel's, next to each other: block 5 is the kernel's 10 and 11. vLLM rewrites the table for the kernel (#24486).
#
# | | table of the manager | table of the kernel |
# |---|---|---|
# | a request | 5, 9 | 10, 11, 18, 19 |
# | position 70 is in column | 70 // 128 = 0 | 70 // 64 = 1 |
# | so at slot | 5 * 128 + 70 = 710 | 11 * 64 + 6 = 710 |
#
# A block, a table and a size belong together, and the slot is the same by either. Take the table of one and the size of the
# other: column 1 of the manager's is block 9, and 9 * 64 + 6 is 582. It is in range. Here are all tokens of a long request:

# %%
layouts.two_block_sizes()

# %% [markdown]
# This was in vLLM. A server with `--block-size 128 --cp-kv-cache-interleave-size 128`, whose attention reads blocks of 64,
# computed *owners* with the wrong one of the two: answers to GSM8K got worse, and nothing failed.
# [#51031](https://github.com/vllm-project/vllm/pull/51031) says which step is which's: the owner, and the place on its rank,
# by the manager's block; the slot, last of all, by the kernel's. In another house
# ([Lvllm #109](https://github.com/guqiong96/Lvllm/issues/109)) the slots to be written were computed in half pages.

# %%
lab.predict("7d")

# %%
viz.question("7d")

# %% [markdown]
# Write both. Padding in a table is -1, and 0 is a block like any other. About 4 and 3 lines.


# %% part="7d" role="answer"
def kernel_block_table(block_table, block_size, kernel_block_size):
    """The block table that a kernel reads, whose blocks are smaller than the manager's.

    block_table: [reqs, blocks] integer tensor, the manager's block numbers; -1 pads.
    block_size, kernel_block_size: ints, tokens in a block of each.
    Returns a new tensor [reqs, blocks * (block_size // kernel_block_size)] of the same
    dtype. Padding becomes as many times -1.
    Raises ValueError if block_size is no multiple of kernel_block_size.
    """
    ### BEGIN SOLUTION
    if block_size % kernel_block_size:
        raise ValueError(f"a block of {block_size} is no whole number of blocks of {kernel_block_size}")
    each = block_size // kernel_block_size
    inside = torch.arange(each, dtype=block_table.dtype, device=block_table.device)
    blocks = block_table[:, :, None]
    return torch.where(blocks >= 0, blocks * each + inside, -1).flatten(1)
    ### END SOLUTION


def slot_mapping(block_table, req_indices, positions, block_size):
    """The slot of each token: where in a pool of whole blocks it lies.

    block_table: [reqs, blocks] integer tensor, blocks of block_size tokens; -1 pads.
    req_indices, positions: 1-D integer tensors of one length: each token's line of the
    table, and its position in the request, which is within the line.
    block_size: int, of the blocks in this table.
    Returns a new 1-D int64 tensor; -1 where the table has padding.
    """
    ### BEGIN SOLUTION
    blocks = block_table[req_indices, positions // block_size].long()
    return torch.where(blocks >= 0, blocks * block_size + positions % block_size, -1)
    ### END SOLUTION


# %% part="7d" role="check"
lab.check("7d")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# With `table = torch.tensor([[5, 9], [2, -1]])`, `kernel_block_table(table, 128, 64)` is `tensor([[10, 11, 18, 19], [4, 5, -1,
# -1]])`, and `slot_mapping(table, torch.tensor([0, 1]), torch.tensor([70, 3]), 128)` is `tensor([710, 259])`, as it is with the
# kernel's table and 64.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("7d")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a position is within its line. One that is not reads the next request's blocks, or memory behind the table: vLLM
# [#54296](https://github.com/vllm-project/vllm/pull/54296). And with D ranks a line of the table has the blocks of *one* rank:
# the position must be made local first, by 7a, with the manager's size.
# </details>

# %% [markdown]
# ## 7e · Rows on the move
#
# *20 points, 15 minutes. It can wait.*
#
# A request was prefilled on a node with one layout and is to be decoded on a node with another. Lab 06 moved rows by two
# lists of locs. Here no list is needed: within a page locs have no gaps. A **piece** is a run of tokens that are neighbours
# on both nodes, so four numbers are enough: where it begins on either side, how long it is, and whose launch this is.
#
# One launch moves one piece from one source rank to one target rank. Both nodes have a D and an I of their own, and
# nothing is said about the two together: ask 7a for the source loc and for the target loc. There is no copy of the whole
# in between, and no row is read that this launch does not move. All pairs of ranks together then read each row once.
#
# Go through the token's way first. Which of its numbers are the same on both sides?

# %%
viz.layouts()

# %%
lab.predict("7e")

# %% [markdown]
# Write the kernel's body. `src_first` and `dst_first` are plain numbers, and lanes made of them count in 32 bits, as all
# that comes from `tl.arange` does, until you say otherwise: `.to(tl.int64)`. About 11 lines.


# %% part="7e" role="answer"
@triton.jit
def relayout_kernel(
    dst_ptr,
    src_ptr,
    dst_first,
    src_first,
    n,
    dst_stride,
    src_stride,
    DIM: tl.constexpr,
    DST_RANK: tl.constexpr,
    DST_SIZE: tl.constexpr,
    DST_INTERLEAVE: tl.constexpr,
    SRC_RANK: tl.constexpr,
    SRC_SIZE: tl.constexpr,
    SRC_INTERLEAVE: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Moves one piece's rows from one source rank to one target rank.

    dst_ptr, src_ptr: the two ranks' pools from row 0 on; rows of DIM values, dst_stride
    and src_stride elements apart; one dtype.
    src_first, dst_first: loc of the piece's first token on either node. Token i of n is
    at src_first + i and dst_first + i.
    SIZE and INTERLEAVE: D and I of a node. DIM and ROWS are powers of two.
    Reads the rows that move, each once, and no other. Grid: (cdiv(n, ROWS),).
    """
    ### BEGIN SOLUTION
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS).to(tl.int64)
    src_loc, dst_loc = src_first + token, dst_first + token
    here = src_loc // SRC_INTERLEAVE % SRC_SIZE == SRC_RANK
    there = dst_loc // DST_INTERLEAVE % DST_SIZE == DST_RANK
    src_row = src_loc // (SRC_INTERLEAVE * SRC_SIZE) * SRC_INTERLEAVE + src_loc % SRC_INTERLEAVE
    dst_row = dst_loc // (DST_INTERLEAVE * DST_SIZE) * DST_INTERLEAVE + dst_loc % DST_INTERLEAVE
    column, moves = tl.arange(0, DIM)[None, :], ((token < n) & here & there)[:, None]
    row = tl.load(src_ptr + src_row[:, None] * src_stride + column, mask=moves)
    tl.store(dst_ptr + dst_row[:, None] * dst_stride + column, row, mask=moves)
    ### END SOLUTION


# %% part="7e" role="check"
lab.check("7e")

# %% [markdown]
# Run it on something small. The arguments are the source rank's pool, the two first locs and the number of tokens, source
# and target as (rank, D, I), rows of the target's pool, and tokens a program:

# %%
lab.run("7e", torch.arange(8.0)[:, None].repeat(1, 2), 8, 12, 8, (1, 2, 4), (0, 2, 2), 12, 4)

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Source rank 1 has locs 12 to 15, in rows 4 to 7. They go to target locs 16 to 19, of which 16 and 17 are target rank 0's,
# rows 8 and 9. The 7 stands for rows that nobody wrote.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("7e")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That it is fast: a launch looks at all tokens of the piece and moves its share. Nor that the source still holds these
# tokens: lab 06's question stays.
# </details>

# %% [markdown]
# ## 7f · Who was chosen?
#
# *20 points, 15 minutes.*
#
# Lab 02 had a bill: index-K is complete on every rank, so eight ranks pay for it eight times. Other servers share it out as
# well. Then a rank scores its own keys only, and no rank has seen all scores when top-k is due. Two answers are in use:
#
# * **exact**: each rank takes its best `topk` keys and sends them, score and position. All ranks choose once more, of what
#   was sent. They read what one rank with all keys would read.
# * **union**: each rank keeps its own best `topk` and sends nothing. It reads them, and lab 03's merge puts the outputs
#   together. Up to D times as many keys are read, and which ones depends on D.
#
# In vLLM this is a switch, `--dcp-sparse-indexer-mode`, and exact is its default.

# %%
layouts.index_k_bill()

# %% [markdown]
# Two keys may score the same. Every rank must then choose the same one, on any layout: the smaller position wins.

# %%
lab.predict("7f")

# %%
viz.question("7f")

# %% [markdown]
# Write both. Say as well what each costs: how many candidates are sent, and how many keys are read beyond exact's. About
# 8 and 3 lines, with a function of your own for what one rank does.


# %% part="7f" role="answer"
def best_of_rank(scores, positions, topk):
    """A rank's topk best keys in the order of positions: their scores and positions."""
    ### BEGIN SOLUTION
    keep = torch.sort(scores, descending=True, stable=True).indices[:topk].sort().values
    return scores[keep], positions[keep]
    ### END SOLUTION


def exact_topk(scores_of_rank, positions_of_rank, topk):
    """The keys that one rank with all of them would choose, from what each rank sends.

    scores_of_rank: list of D 1-D float32 tensors, one query's scores of a rank's keys;
    finite; perhaps none.
    positions_of_rank: list of D 1-D integer tensors: the positions of these keys,
    ascending. No two ranks have the same.
    topk: int from 1 on.
    Returns (positions, sent): the topk best positions over all ranks, ascending, 1-D of
    positions' dtype, of equal scores the smaller positions, all if there are fewer; and
    how many candidates the ranks send together, an int.
    """
    ### BEGIN SOLUTION
    best = [best_of_rank(*rank, topk) for rank in zip(scores_of_rank, positions_of_rank, strict=True)]
    scores, positions = (torch.cat(side) for side in zip(*best, strict=True))
    order = positions.argsort()
    return best_of_rank(scores[order], positions[order], topk)[1], len(positions)
    ### END SOLUTION


def union_topk(scores_of_rank, positions_of_rank, topk):
    """The keys that each rank reads if it asks nobody.

    The arguments are those of exact_topk.
    Returns (positions_of_rank, extra): a list of D new tensors, each rank's topk best
    positions, ascending, of equal scores the smaller; and how many more keys all ranks
    read than with exact_topk, an int.
    """
    ### BEGIN SOLUTION
    chosen = [best_of_rank(*rank, topk)[1] for rank in zip(scores_of_rank, positions_of_rank, strict=True)]
    return chosen, sum(map(len, chosen)) - min(topk, sum(map(len, positions_of_rank)))
    ### END SOLUTION


# %% part="7f" role="check"
lab.check("7f")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# With scores `[torch.tensor([9., 2.]), torch.tensor([9., 1.])]`, positions `[torch.tensor([0, 2]), torch.tensor([1, 3])]`
# and topk 1, `exact_topk` gives `(tensor([0]), 2)` and `union_topk` gives `([tensor([0]), tensor([1])], 1)`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("7f")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That all ranks see the same scores. A score that is computed twice may differ in its last bit, and of two ranks that
# choose for themselves each may take another key. Exact sends scores once and compares the same numbers everywhere.
# </details>

# %% [markdown]
# ### On the real kernels
#
# The same with the course's indexer and top-k, rank by rank, each on its own pages of index-K: 7a's rows tell which key lies
# where. Where there is a GPU they run on it; elsewhere the reference does.

# %%
layouts.sharded_indexer()

# %% [markdown]
# ## 7g · Five stores, five ids
#
# *10 points, 10 minutes.*
#
# A server of today has more than one store, and they do not count alike. A token at position 37 of a request that has place 3
# in the batch's tables, at loc 101, on rank 1 of 4 with I = 1:
#
# | store | how it is kept | read by | here |
# |---|---|---|---|
# | c-KV | sharded, D and I | this rank's row, or not at all | row 25 |
# | index-K | replicated | loc | 101 |
# | pooled keys, one for 4 tokens | replicated | the number of the group of locs | 25 |
# | sliding window | replicated, its own pool | what a table has for the loc, -1 once the window has passed | ? |
# | recurrent state | one a request | what a table has for the request | ? |
#
# Two of these numbers are 25 and mean different things. GLM-5.3-Flash pools 4 keys to one (`index_kpool`); a window has an
# allocator of its own, since its pages come back while the request runs; a state belongs to no token at all.
#
# The rule of DCP is for the first line only. vLLM applied it to *every* group as soon as there was more than one rank:
# [#57260](https://github.com/vllm-project/vllm/pull/57260). Of the replicated stores each rank then dropped the tokens of the
# others, and moved those that it kept. No assert, no shape error. Reviewers found the same in the sizes of an offload
# ([#54735](https://github.com/vllm-project/vllm/pull/54735)) and of a cache server
# ([LMCache #4679](https://github.com/LMCache/LMCache/pull/4679)).

# %%
lab.predict("7g")

# %%
viz.question("7g")

# %% [markdown]
# Fill in the table: for each store the id by which this rank reads the token there. About 6 lines.


# %% part="7g" role="answer"
def read_ids(token, server):
    """The id by which this rank reads one token in each of its stores.

    token: dict of ints: "position" in its request, "loc", "req_pool_idx", the request's
    place in the tables.
    server: dict of the ints "dcp_rank", "dcp_size", "interleave" and "kpool", how many
    tokens' keys are pooled into one; and two lists: "window_slot_of", by loc, -1 if the
    window has passed; "state_slot_of", by req_pool_idx.
    Locs of one group of kpool are one request's.
    Returns a dict of five ints: "ckv", -1 if this rank has not got it, "index_k",
    "kpool", "window", "state".
    """
    ids = dict.fromkeys(("ckv", "index_k", "kpool", "window", "state"))
    ### BEGIN SOLUTION
    loc = token["loc"]
    rank, row = owner_and_row(loc, server["dcp_size"], server["interleave"])
    ids["ckv"] = row if rank == server["dcp_rank"] else -1
    ids["index_k"] = loc
    ids["kpool"] = loc // server["kpool"]
    ids["window"] = server["window_slot_of"][loc]
    ids["state"] = server["state_slot_of"][token["req_pool_idx"]]
    ### END SOLUTION
    return ids


# %% part="7g" role="check"
lab.check("7g")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# For the token above, with `window_slot_of[101] = 5` and `state_slot_of[3] = 7`: `{"ckv": 25, "index_k": 101, "kpool": 25,
# "window": 5, "state": 7}`. On rank 0 only "ckv" is another, -1.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("7g")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a store is large enough. Each has its own largest id, so each has a watermark of its own: lab 02 five times.
# </details>

# %% [markdown]
# ## Where you are now

# %%
lab.progress()

# %% [markdown]
# **You can now**
#
# * take a loc apart by (D, I) and put it together again, and say what I = 1 and I = a page are good for;
# * say how many tokens of a request each rank holds, and why the last round makes them uneven;
# * keep a block, its table and its size together, and name the step at which each of two sizes is used;
# * move rows from one layout to another, each read once, without a list of them and without a copy of the whole;
# * say what an exact and a union indexer read, and what each of the two costs;
# * list a server's stores and give each one its own ids;
# * ask the fifth question of this course: *the space is right, the buffer is large enough, it is the right buffer, it is still
#   the same night. Is it the same layout?*
#
# **This did not prove** anything about speed: how long a run should be is measured on a real link, not counted here.
#
# Lab 08 comes next, in a server that is not ours: `./course lab 08`. The table at the end of lab 05 says where the lines
# of labs 01 to 06 stand upstream.
