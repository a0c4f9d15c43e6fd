# Lab 03, the single source of labs/03_norope_write/03_norope_write.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 03 · Right until then
#
# *100 points, about 97 minutes, 92 without what can wait. Nothing here needs a GPU; some cells show more where there is one.*
#
# In lab 02 a server broke although every index was in the right space. In this lab every answer is right although an index is
# in the wrong one.
#
# The c-KV of a token belongs to one rank. On the server of the report the write forgot to ask which, and the read forgot too.
# Both used the loc as a row. Below a certain loc nothing goes wrong at all: no error, no wrong word, no test that fails. You
# find out why, you find the number that gave it away all along, and you mend both sides.
#
# **Afterwards** you can write a kernel that keeps *where* and *whether* apart, and build the alarm that this server
# lacked. **You need** lab 01's 1c and 1h, and what a log-sum-exp is. **Short of time?** 3g can wait; no later part uses it.

# %%
import torch
import triton
import triton.language as tl

from dcplab import investigate, lab, viz
from dcplab.demos import norope

lab.start("03")

# %% [markdown]
# Five questions on what came before, half a minute each. Skip them if you like: nothing is graded, and nothing is kept.

# %%
lab.recall("03")

# %% [markdown]
# ## A test that passes
#
# Four ranks, and none of the patches. A note stands early in a long prompt, and the question at the end asks for it: the
# needle test, by which long-context servers are tried. The server has just been started.

# %%
norope.needle()

# %% [markdown]
# Right, and it would be right again tomorrow. c-KV is what attention reads, and four ranks are there to share it: each
# stores every fourth token. The server has stored 54 so far. Before you look: how many of them does rank 0 hold? Put a number
# for `None`; nobody grades it.

# %%
tokens_on_rank_0 = None

# %%
seen = norope.replicas()
print(f"You said {tokens_on_rank_0}.\n\n{seen}")

# %% [markdown]
# Every rank holds every token, in the row with the loc's number. The write took the loc for a row and asked nobody who owns it.
# So the same 54 rows are stored four times, and each rank attends to all keys that top-k selected: 50 on each, where 50
# were asked for in all.
#
# And then the results are merged. Each rank hands in an output and its **LSE**, the logarithm of the total weight of the keys
# it has seen. The merge is a weighted average of the outputs. Four equal outputs with four equal weights average to that same
# output, exactly. That is why the answer is right: not by luck but by arithmetic. What DCP was built for, four times the room,
# is gone, and nobody notices.
#
# Look at the last column, though. The merged LSE is too large by 2, that is log2(4), in every query. The mended server has 0.
# It was there from the first token on. You come back to it in 3f.

# %% [markdown]
# ## 3a · Where, and whether
#
# *15 points, 16 minutes.*
#
# First the write. Upstream there are two kernels for it: one for models whose keys have a rotary part, one for those without
# ("norope"). The first had the owner's filter and the division. The second did not, for it had never run with DCP.
#
# A program of this kernel takes `ROWS` tokens of the batch. For each of them there are two questions, and they are two
# different things to the end:
#
# * **whether** this rank stores the token. Padding (-1), other ranks' tokens and lanes past `n` are not stored.
# * **where**: in which row, and at which address.
#
# For lanes that store nothing it is tempting to choose a *safe* row, say row 0. A safe address says where, and only the mask
# says whether.
#
# `kv` and `src` have a stride: so many elements from one row to the next. What lies between the end of a row and the next is
# somebody else's. Page 0 is never handed out, so no token belongs in row 0.
#
# Join masks with `&`, each condition in parentheses. Triton's compiler would take `and` lane by lane, its interpreter does not.

# %%
viz.decode_step("write")

# %%
lab.predict("3a")

# %% [markdown]
# Write the kernel's body. About 7 lines.


# %% part="3a" role="answer"
@triton.jit
def write_ckv_norope_kernel(
    kv_ptr,
    src_ptr,
    loc_ptr,
    n,
    kv_stride,
    src_stride,
    DIM: tl.constexpr,
    DCP_RANK: tl.constexpr,
    DCP_SIZE: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Writes this rank's tokens of a batch into its rows of the pool; touches nothing
    else.

    kv_ptr: the pool, rows of DIM elements, kv_stride elements apart, indexed by row.
    src_ptr: n tokens of DIM elements, src_stride elements apart; unlike the pool, they
    span fewer than 2^31.
    loc_ptr: n int64 locs; a negative one is padding and is skipped. n >= 1.
    DIM, ROWS: powers of two.
    DCP_RANK, DCP_SIZE: this rank, and how many there are.
    Grid: cdiv(n, ROWS) programs.
    """
    ### BEGIN SOLUTION
    token = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = loc // DCP_SIZE
    column = tl.arange(0, DIM)
    value = tl.load(src_ptr + token[:, None] * src_stride + column[None, :], mask=owned[:, None])
    tl.store(kv_ptr + row[:, None] * kv_stride + column[None, :], value, mask=owned[:, None])
    ### END SOLUTION


# %% part="3a" role="check"
lab.check("3a")

# %% [markdown]
# Try it: three tokens with the values 1, 2 and 3, given to each of two ranks in turn. The arguments are the tokens, their locs,
# the rank, the ranks, the rows of the pool. A 7 is what the pool held before.

# %%
tokens, locs = torch.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), torch.tensor([4, 5, -1])
for rank in (0, 1):
    pool = lab.run("3a", tokens, locs, rank, 2, 4)
    if pool is not None:
        print(f"rank {rank}:", pool.tolist())

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Both ranks show `[[7.0, 7.0], [7.0, 7.0], [x, x], [7.0, 7.0]]`, with 1 for x on rank 0 and 2 on rank 1. Loc 4 is rank 0's,
# row 2; loc 5 is rank 1's, row 2; the third token is padding and is nowhere.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("3a")` gives the first of three hints; each next call gives another.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the caller handed in locs. If somebody divided before you, you divide twice, and every test of this kernel passes: see
# 3c. It proves nothing about speed, and on a CPU nothing about races. With eight ranks, seven lanes of eight
# do nothing here. The course's own kernel moves the owned tokens together first (`kernels/dcp_kernels/ckv_write.py`).
# </details>

# %% [markdown]
# ### The writer that must not be chosen
#
# Upstream's wrapper has a third writer: a bulk copy of the hardware (TMA), chosen for many rows at once (768 or more in #36989)
# whose widths are multiples of 16 bytes. It takes an address and a length and has no place for an owner's filter. So the line
# that picks the kernel is a part of the contract: with a sharded pool this writer must not be picked, however well it fits
# otherwise. (In the report's server it cannot be: a write without a rotary part has returned before that line.) The cell shows
# what it would do (about ten seconds).

# %%
norope.tma()

# %% [markdown]
# ## 3b · The twin that did half
#
# *15 points, 7 minutes.*
#
# Where Triton does not run, the pool writes with torch. Upstream that branch had the owner's filter and did not divide:
# the right tokens, in rows D times too far. Two twins of one contract drift apart, for hardly a server ever runs both.
#
# Here the twins have another trap for you: the division. Look what each way of computing makes of padding. Two compilers
# start for it: about fifteen seconds.

# %%
norope.minus_one()

# %% [markdown]
# One number, two answers. In C, and so in Triton, -1 % 8 is -1: no rank has this number, and padding is dropped without anybody
# having thought of it. torch and Python round down: -1 % 8 is 7, so rank 7, and only rank 7, takes padding for its own.
# TileLang writes the remainder out so that it rounds down too. And with one rank, -1 is everybody's. A test for the sign makes
# them all the same.

# %%
viz.decode_step("write")

# %%
lab.predict("3b")

# %% [markdown]
# Write `write_ckv_torch`. It changes `kv` in place, and what it returns is ignored. About 2 lines.


# %% part="3b" role="answer"
def write_ckv_torch(kv, src, locs, dcp_rank, dcp_size):
    """Writes this rank's tokens of a batch into its rows of the pool, in place.

    kv: [rows, DIM], the pool, indexed by row; may be a strided view.
    src: [n, DIM], the tokens, of kv's dtype.
    locs: [n], int64 or int32, locs; a negative one is padding and is skipped.
    dcp_rank, dcp_size: ints.
    Returns nothing.
    """
    ### BEGIN SOLUTION
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    kv[locs[mine] // dcp_size] = src[mine]
    ### END SOLUTION


# %% part="3b" role="check"
lab.check("3b")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# With `kv = torch.zeros(4, 1)`, `src = [[1.], [2.], [3.]]` and locs `[4, 5, -1]`, rank 1 of 2 leaves `[[0.], [0.], [2.],
# [0.]]`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("3b")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That it agrees with the kernel on locs that occur twice: then the order of the stores decides, and neither promises one. The
# allocator never hands out a loc twice.
# </details>

# %% [markdown]
# ## 3c · Who must not divide
#
# *10 points, 3 minutes.*
#
# One writer serves several pools, and not all of them want its new manners:
#
# | pool | stored how | is given |
# |---|---|---|
# | `"target"` | split over the ranks | locs |
# | `"draft"` | whole on every rank | locs |
# | `"unified_resolved"` | split over the ranks | rows: its caller has localized them |
#
# For the draft you met the reason in lab 02: it is replicated, and every rank reads it by loc. For the third the work is done
# already, and a row that is divided again is a row of somebody else.

# %%
viz.decode_step(["request", "index_k", "write"])

# %%
viz.question("3c")

# %%
lab.predict("3c")

# %% [markdown]
# Write `should_localize`: whether the write to this pool filters and divides. False wherever there is one rank. About 1 line.


# %% part="3c" role="answer"
def should_localize(pool_kind, dcp_size):
    """Whether a write to this pool must turn its ids from locs into rows of this rank.

    pool_kind: "target", "draft" or "unified_resolved".
    dcp_size: int, the number of ranks.
    Returns a bool.
    """
    ### BEGIN SOLUTION
    return pool_kind == "target" and dcp_size > 1
    ### END SOLUTION


# %% part="3c" role="check"
lab.check("3c")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `should_localize("target", 8)` is `True`. All other kinds, and one rank, give `False`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("3c")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a caller asks. A flag beside a tensor is forgotten sooner or later. It is safer if the space stands in the name of the
# function that is called, one for locs and one for rows, or in the type of the index, as in the engine's typed mode, where each
# index says what space it is in.
# </details>

# %% [markdown]
# ## Half a fix
#
# So the write is mended. Is that better than nothing? And what if only the read is mended? There are four combinations.
# Predict each of them *below the watermark*: the largest loc in use is still a row that every rank has, here 743 of 844. Put
# "right" or "wrong" for the question marks.

# %%
my_table = {  # (the write, the read): what does it answer below the watermark?
    ("loc as row", "loc as row"): "?",
    ("loc as row", "localized"): "?",
    ("localized", "loc as row"): "?",
    ("localized", "localized"): "?",
}

# %% [markdown]
# Now run them: eight servers, each with the whole story of lab 02. This takes ten to twenty seconds.

# %%
table = norope.half_fixes()
print(table)

# %%
for (write, read), guess in my_table.items():
    if out := table.outcomes.get((write, read, "below")):
        print(f"write {write:<11} read {read:<11} you: {guess:<6} it is: {'wrong' if out.wrong else 'right'}")

# %% [markdown]
# **Half a fix is worse than none.** Without a fix, the two mistakes cancel out: what was written to row 16 is read from row 16.
# Mend one side, and the read looks in a row that the write did not use: at once, on a fresh server, at the first question. Of
# eight answers not one is right.
#
# That is how such bugs survive. Somebody mends one side, sees the server break, and takes the fix back. The answers do not tell
# which side is at fault; the list below the tables does. Its first operation with an index of the wrong space names a side that
# is not mended, and it does so on the server without any fix too, where every answer is right.
#
# Above the watermark only both fixes together get all eight right. With neither, some answers still are: those whose rows
# nobody has overwritten.
#
# Follow one token through all of this. A cell holds what a row holds, so a wrong row is seen as a wrong word. First mend the
# write alone: where is the word stored, and where is it looked for? Then mend neither and raise the watermark: request B's
# rows lie beyond layer 0, and whose words do they replace in layer 1?

# %%
viz.token_journey()

# %% [markdown]
# ## 3d · What this rank can read
#
# *15 points, 12 minutes.*
#
# Now the read side. index-K is whole on every rank, so all ranks select the same keys, as locs. Each rank can attend only to
# those that it holds. #36989 replaces the others by -1. That is right, and wasteful: with eight ranks, seven entries of eight
# are holes, and every rank still walks all 2,048 places of top-k to find its 256.
#
# So move the rows to the front, keep their order, fill up with -1, and tell the kernel how many there are.

# %%
viz.decode_step(["top_k", "localize"])

# %%
lab.predict("3d")

# %% [markdown]
# Write `localize_topk`. It works along the last axis, whatever comes before it. Both results are int32. About 4 lines.


# %% part="3d" role="answer"
def localize_topk(topk_locs, dcp_rank, dcp_size):
    """The rows of this rank among the selected locs, to the front, and how many there
    are.

    topk_locs: integer tensor [..., k], locs, -1 for padding; k may be 0.
    dcp_rank, dcp_size: ints.
    Returns (rows, counts), int32: rows [..., k], this rank's rows in the order of
    topk_locs, then -1; counts [...], how many rows each query has.
    """
    ### BEGIN SOLUTION
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()
    ### END SOLUTION


# %% part="3d" role="check"
lab.check("3d")

# %% [markdown]
# What does it save? The same keys, with holes and compacted:

# %%
norope.times()

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `localize_topk(torch.tensor([[2, 5, 8, 10]]), 2, 4)` is `[[0, 2, -1, -1]]` and `[2]`; on rank 3 it is all -1, and `[0]`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("3d")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That every kernel may be given holes, or a compacted table. Some backends skip -1 anywhere, some read as far as the count and
# stop, and one puts row 0 for -1 and counts it as a key. Which one yours is belongs in the contract.
# </details>

# %% [markdown]
# ## 3e · What the ranks found, together
#
# *15 points, 16 minutes.*
#
# Each rank now has its keys, and attends to them alone. For a query and a head it hands in an output, the average of its
# values, and an LSE: the logarithm, to base 2, of the weight that was averaged over. 2 to the power of the LSE is that weight.
#
# Take two ranks with weights 2 and 8, outputs 0 and 10. Together: (2 * 0 + 8 * 10) / 10 = 8, and the weight is 10.
#
# Five things go wrong here, and each has gone wrong in a public repository:
#
# * **The base.** The kernel's LSE is to base 2. Merge it as if it were natural, and weights are raised to a power: 8.81
#   for 8. Convert it the wrong way: 7.23. Both look like answers.
# * **Overflow.** The LSEs of the server above are about 263, and in float32 2^263 is infinite.
# * **An empty rank.** A rank without a key for this query has the LSE -inf, weight 0. Its output is whatever the kernel left
#   there, NaN too. And 0 times NaN is NaN.
# * **Another word for empty.** FlashMLA says +inf for a rank without keys. Upstream has three merges: that of MLA
#   (`cp_lse_ag_out_rs_mla`) and the all-to-all one read +inf as -inf; that of multi-head attention takes it for a weight,
#   clears the NaN that comes of it, and hands on zeros without a sign.
# * **Nobody has a key.** All LSEs are -inf, and -inf - -inf is NaN. Asked for are output 0 and LSE -inf.

# %%
viz.decode_step(["attend", "merge"])

# %%
viz.question("3e")

# %%
lab.predict("3e")

# %% [markdown]
# Write `merge_lse`, in float32 whatever comes in. About 7 lines.


# %% part="3e" role="answer"
def merge_lse(outs, lses):
    """Attention over the keys of all ranks, from what each rank has over its own.

    outs: [D, T, H, V], each rank's output for T queries and H heads, float32 or bf16.
    lses: [D, T, H], base 2, of either dtype; -inf or +inf for a rank without keys,
    whose output may be anything.
    Returns (out [T, H, V], lse [T, H]), float32, lse base 2; where no rank has keys 0
    and -inf.
    """
    ### BEGIN SOLUTION
    outs, lses = outs.float(), lses.float()
    lses = torch.where(lses == float("inf"), -float("inf"), lses)
    top = lses.amax(0).clamp(min=-1e30)  # finite, also where nobody has a key
    weight = torch.exp2(lses - top)
    total = weight.sum(0)
    kept = torch.where((weight > 0)[..., None], outs, 0.0)
    out = (weight[..., None] * kept).sum(0) / total.clamp(min=1e-30)[..., None]
    return out, top + torch.log2(total)
    ### END SOLUTION


# %% part="3e" role="check"
lab.check("3e")

# %% [markdown]
# All pieces together, on the real kernels: the writers, then TileLang's sparse decode with its LSE on every rank, then the
# Triton merge, held against one dense attention in float64.

# %%
norope.real_decode()

# %% [markdown]
# <details><summary>Expected output</summary>
#
# For the example, `outs` 0 and 10 and `lses` 1 and 3: output `8.0`, LSE `3.3219`, which is log2(10).
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("3e")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the partial results belong to different keys. The merge cannot see that: it takes equal partials for D ranks with equal
# weight, and returns the right output. This is the next part.
# </details>

# %% [markdown]
# ## 3f · A number nobody looked at
#
# *15 points, 8 minutes.*
#
# Back to the test that passes. Every rank held every token, and every output was right. What was not?
#
# * The **counts**. Each rank knows how many valid keys it walked. Summed over the ranks they must give the number of keys that
#   were selected. They gave four times as many.
# * The **LSE**. A key that is counted D times weighs D times as much. The output is an average, so this cancels out; the
#   LSE is a sum, and it does not. It is too large by log2(D).
#
# The server computes the LSE in every layer of every step, uses it in the merge, and throws it away. Nobody looked.
#
# Not every replication is complete. Keys may be doubled in one query of a batch, on two ranks of four. And do not be misled by
# what cancels out: too few keys in one query, too many in another.

# %%
viz.decode_step(["attend", "merge"])

# %%
viz.question("3f")

# %%
lab.predict("3f")

# %% [markdown]
# Write `replication_alarm`. You get both witnesses; one is enough. About 1 line.


# %% part="3f" role="answer"
def replication_alarm(valid_counts, topk_counts, merged_lse, single_lse):
    """Whether some query's keys are held by more than one rank.

    valid_counts: [D, T], int, valid keys of each query on each rank.
    topk_counts: [T], int, keys selected for each query.
    merged_lse, single_lse: [T, H], base 2, after the merge, and of one rank that has
    all the keys: where keys are held twice the first is larger by at least 0.5,
    elsewhere they agree within 1e-3 or are both -inf.
    Returns a bool.
    """
    ### BEGIN SOLUTION
    return bool((valid_counts.sum(0) > topk_counts).any())
    ### END SOLUTION


# %% part="3f" role="check"
lab.check("3f")

# %% [markdown]
# Now let it look at the server of the first cell, whose needle test passed, and at the mended one:

# %%
for name, server in (("as it was", seen.unpatched), ("mended", seen.patched)):
    alarm = lab.run("3f", *server.arguments)
    if alarm is not None:
        print(f"{name:<10} alarm: {alarm}; merged LSE is off by {server.off:.4f}")

# %% [markdown]
# It goes off at the first token of a fresh server. A needle test needs the watermark to be passed, somebody to be overwritten,
# and a question about it. An **invariant** needs none of that: it is broken as soon as the index is wrong, whether or not
# anything is damaged yet.
#
# <details><summary>Expected output</summary>
#
# `True` and an offset of 2 for the server as it was, `False` and 0 for the mended one.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("3f")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the right keys are held. A server that reads the wrong rows, as many as it should, keeps the counts. The alarm is for
# replication; for wrong rows you need an oracle, or tokens that can be told apart.
# </details>

# %% [markdown]
# ## 3g · Bonus: the same write, in eight bits
#
# *5 points, 5 minutes. It can wait.*
#
# A pool can keep c-KV as fp8 without a scale, and let the store convert. Upstream that writer, too, had no owner's filter, so
# fp8 and DCP were refused together. A port added the filter. Can you?
#
# The arguments are those of 3a. `kv` is a float8_e4m3fn pool; `src` is bf16 or fp32; strides count elements of their own
# buffer.

# %%
viz.decode_step("write")

# %%
lab.predict("3g")

# %% [markdown]
# Write the kernel's body. About 7 lines.


# %% part="3g" role="answer"
@triton.jit
def write_ckv_fp8_kernel(
    kv_ptr,
    src_ptr,
    loc_ptr,
    n,
    kv_stride,
    src_stride,
    DIM: tl.constexpr,
    DCP_RANK: tl.constexpr,
    DCP_SIZE: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Writes this rank's tokens of a batch into its rows of an fp8 pool; touches
    nothing else.

    kv_ptr: float8_e4m3fn pool, rows of DIM elements, kv_stride elements apart.
    src_ptr: n tokens of DIM elements, bf16 or fp32, src_stride elements apart, none
    above 448 in size.
    loc_ptr: n int64 locs; a negative one is skipped. n >= 1. The rest as in 3a.
    """
    ### BEGIN SOLUTION
    token = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    owned = ((loc >= 0) & (loc % DCP_SIZE == DCP_RANK))[:, None]
    column = tl.arange(0, DIM)[None, :]
    value = tl.load(src_ptr + token[:, None] * src_stride + column, mask=owned).to(tl.float32)
    tl.store(kv_ptr + (loc // DCP_SIZE)[:, None] * kv_stride + column, value.to(tl.float8e4nv), mask=owned)
    ### END SOLUTION


# %% part="3g" role="check"
lab.check("3g")

# %% [markdown]
# On a CPU the check uses values that fp8 holds exactly, since Triton's interpreter does not round a conversion as a GPU does.
# So a pass there is about tokens and rows. The rounding is judged on a GPU only, and the result says how many cases that left
# out.
#
# <details><summary>Expected output</summary>
#
# `lab.run("3g", [[1.5, -8.0]], [5], 1, 2, 3)` shows `[[7., 7.], [7., 7.], [1.5, -8.]]`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("3g")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That fp8 without a scale is good enough for a model. Three bits after the leading one are an error of up to 6 %.
# </details>

# %% [markdown]
# ## 3h · Name the space
#
# *10 points, 14 minutes.*
#
# The skill of this lab, on code that is not yours. Eight snippets in the manner of three servers, drawn from your number:
# c-KV written and read by row, by page and number by number, in eight bits, and where nothing is divided. It works as 1i did.
# The list above the lines is true; all other names are made in the lines, and some of them lie.
#
# A **token** here is a place in the step, from 0: the entry of a list that has one for each new token. An **element** is a
# number of the pool, row after row, as a kernel with a stride counts them.
#
# Two questions a snippet. **In which space** is the index that is asked for: token, loc, row, rank, allocator page or element?
# And **which line mixes** two spaces, the first if several do, or 0 if none does? A line mixes two spaces if
#
# * it looks something up, or calls a function, with an index of another space than the one asked for;
# * it adds, joins or compares indices of two spaces, other than a start and a place in it;
# * it divides or multiplies an index by a size that does not belong to its space, as in `row // D`. `loc // P` is in order: it
#   makes an index-K page, and the line that then takes that for a row or an allocator page is the one that mixes.
#
# A wrong name alone mixes nothing.

# %%
lab.predict("3h")

# %%
investigate.snippets("3h")

# %% [markdown]
# Fill in your seed and, for each snippet, the space and the line: `"row, 3"`.


# %% part="3h" role="answer"
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
        1: "loc, 0",
        2: "token, 5",
        3: "row, 3",
        4: "loc, 4",
        5: "element, 0",
        6: "element, 5",
        7: "row, 4",
        8: "allocator page, 0",
    }
    ### END SOLUTION
    return seed, found


# %% part="3h" role="check"
lab.check("3h")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Each snippet counts on its own, if both of its answers are right: 1.25 points.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("3h")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a write asks who owns the loc. A line without a mask is in one space and may still store every token on every rank: that
# is the defect of this lab, and no line of it mixes anything. *Where* and *whether* are two questions, and this part asks one.
# </details>

# %% [markdown]
# ## Where you are now

# %%
lab.progress()

# %% [markdown]
# **You can now**
#
# * write a kernel that keeps *where* and *whether* apart, and say what a safe address does not do;
# * say on which rank an unguarded -1 does harm, in torch, Triton and TileLang;
# * explain why two wrong sides give right answers, and why mending one of them breaks the server at once;
# * merge what ranks have found, also when some have nothing, in the right base;
# * build an alarm that goes off at the first token, while every answer is still right.
#
# **This did not prove** that extend is right. There the keys of a prompt are gathered from all ranks into one buffer, and no
# merge takes place; an index must point into that buffer, and it is neither a loc nor a row. Nor did it prove anything about
# retraction, where ids change between a write and a read.
#
# **Next: [lab 04, ragged extend](../04_ragged_extend/04_ragged_extend.ipynb).** Which buffer does this index point
# into?
