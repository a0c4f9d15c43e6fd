# Lab 04, the single source of labs/04_ragged_extend/04_ragged_extend.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 04 · Which buffer does this index point into?
#
# *100 points, about 103 minutes, 77 without what can wait. Nothing here needs a GPU; two cells show more where there are some.*
#
# So far a token had one address. A loc named its slot, and owner and row followed from it. In this lab a token gets a second
# address, in a buffer that is made for one forward and then thrown away.
#
# The place is **extend**: a request brings new tokens, and the tokens before them, its **prefix**, are cached already. Each
# new token may attend to any of the prefix. But the prefix lies on D ranks. So the server fetches it from all of them, puts
# the new tokens behind it, and lets attention read the result, the **workspace**. Three steps, and each has its own way to
# give the right tokens to the wrong request.
#
# You write all of it: what a rank sends, how the pieces are put in order, the workspace, the ids that point into it, and the
# kernel that builds it.
#
# **Afterwards** you can say of an index which buffer it was made for. **You need** lab 01's 1c and lab 03's 3d. **Short
# of time?** 4f and 4g can wait; no later part uses them.

# %%
import torch
import triton
import triton.language as tl

from dcplab import investigate, lab, viz
from dcplab.demos import ragged
from dcplab.demos.server import replay

lab.start("04")

# %% [markdown]
# Five questions on what came before, half a minute each. Skip them if you like: nothing is graded, and nothing is kept.

# %%
lab.recall("04")

# %% [markdown]
# This is the step. Lines 1 to 3 you know from lab 01's picture. New are *gather*, *assemble* and *to ragged*: a second address,
# and a buffer for it. There is no merge at the end.

# %%
viz.extend_step()

# %% [markdown]
# ## First, see it happen
#
# Two requests, A and B, each with a cached prefix, in one extend step of the engine. Each prompt ends where it began to
# repeat itself, so everybody can say which words come next. Four servers answer: one without the extend patch, two with a
# half of it, one with all of it. Writes, index-K and decode are right in all four.

# %%
ragged.two_requests()

# %% [markdown]
# The first server gathers nothing. It reads its own rows, and takes locs for rows: both answers are wrong.
#
# The second is more interesting. It gathers, its workspace is right to the last row, top-k picks the right positions, and A
# answers correctly. B does not. Look at the table below it: B picked its position 7, *grey*. The id that attention was given
# is 7. In the workspace A stands first, so what lies at 7 is A's *old*. Position and workspace index are the same number for
# the first request, and for no other.
#
# A test with one request passes. So does one that only looks at the first.
#
# ### Why does no LSE merge help here?
#
# Decode lives with incomplete ranks: each attends to what it has, and the merge weighs the pieces. Would it help B? The third
# server tries. The words stay wrong, and the LSE grows by log2(D). A merge replaces what a rank *lacks*. Here no rank lacks
# anything: all have the same workspace, and all read the same wrong row of it.
#
# Could extend go without the gather, then, and merge as decode does? In principle. Count what would travel, for a layer with
# 16 heads, outputs of 512 numbers in fp32, and one LSE each:
#
# * one query: 16 * 513 * 4 = 32,832 bytes from each rank;
# * a chunk of 2,048 queries: 67,239,936 bytes from each rank;
# * a prefix of 8,192 tokens, gathered once for all of them: 8,192 rows of 512 numbers in bf16, 8,192 * 1,024 = 8,388,608
#   bytes in all.
#
# Many queries share one prefix. So decode sends results, and extend fetches keys.

# %% [markdown]
# ## 4a · My rows of everybody's prefix
#
# *15 points, 8 minutes.*
#
# First each rank looks up what it has to send. It knows the locs of all prefixes, one request after another, and it needs the
# rows that it holds itself, in that order.
#
# A prefix may be of any length, also 0. Two requests may share the beginning of theirs. And a long prefix may be fetched in
# pieces: then the list holds a piece of it, and that can begin at any position.

# %%
viz.extend_step("gather")

# %%
lab.predict("4a")

# %% [markdown]
# Write `local_prefix_rows`. It is lab 01's rule, without the -1: what is not here is not sent. About 2 lines.


# %% part="4a" role="answer"
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    """The rows of rank `dcp_rank` that hold the prefixes of a batch.

    prefix_locs: 1-D integer tensor, the locs of all prefixes, or of a piece of each,
    which may begin at any position; one request after another, in position order.
    prefix_lens: 1-D integer tensor, one length a request, or none, 0 allowed; their sum
    is the number of locs.
    dcp_rank, dcp_size: ints.
    Returns a new 1-D tensor of the dtype of prefix_locs: this rank's rows, request by
    request, in position order.
    """
    ### BEGIN SOLUTION
    mine = prefix_locs[prefix_locs % dcp_size == dcp_rank]
    return mine // dcp_size
    ### END SOLUTION


# %%
viz.question("localized", [16, 17, 18, 19, 20, 32, 33, 34], dcp_size=4)

# %% part="4a" role="check"
lab.check("4a")

# %% [markdown]
# ### The shortcut that is right on a slide
#
# Locs are dealt out in turn, so why not take every D-th entry, `[r::D]`? Upstream does it, on the list of all prefixes
# together. Three batches:

# %%
ragged.strided()

# %% [markdown]
# Prefixes of 8 and 4 are what one draws on a slide, and there it is right. With 5 and 3 rank 0 loses a row of B, and rank 3
# sends one that holds no token of this batch.
#
# Stay with 5 and 4 for a moment. Every rank picks wrong *locs*, and all *rows* are right. A test that looks at rows passes, a
# test that looks at the tokens passes, and the next batch is wrong. The shortcut has a precondition, that every prefix is a
# whole number of turns. It stood in a comment. Nothing checked it.
#
# One more row breaks it without any extend: in a mixed batch a decode request's prefix is its length less one, so it ends
# in the middle of a turn in D - 1 of D steps.
#
# <details><summary>Expected output of 4a</summary>
#
# `local_prefix_rows(torch.tensor([16, 17, 18, 19, 20, 32, 33, 34]), torch.tensor([5, 3]), 0, 4)` is `tensor([4, 5, 8])`; for
# rank 3 it is `tensor([4])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("4a")` gives the first of three hints; each next call gives another.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the rows hold what you think. If the writer of lab 03 had not localized, these rows would be a stranger's. And the
# lengths were not needed here; 4b will need them, for the receiver cannot see where one request's rows end.
# </details>

# %% [markdown]
# ## 4b · Un-interleave the gather
#
# *15 points, 19 minutes.*
#
# Now the ranks send. An all-gather wants the same number of rows from every rank, but ranks hold different numbers of tokens.
# So each request's rows are padded to full turns. A request begins on a widened page, so position p lies with rank p % D, as
# its loc does. Here a piece of A, 5 tokens from position 3 on, and 3 tokens of B from 0:

# %%
viz.question("shards_picture", [5, 3], [3, 0], dcp_size=4)

# %% [markdown]
# Position 3 is the last rank's turn. Ranks 0, 1 and 2 have nothing in A's first row: what is there is whatever the memory
# held before. The same at the end of B, for rank 3. Twelve rows travel for eight tokens.

# %%
viz.extend_step(["gather", "assemble"])

# %%
lab.predict("4b")

# %% [markdown]
# Write `interleave_shards`. Lengths, starts and D can be anything; here a request without a prefix sends no row at all
# (upstream one of garbage, where its start is no multiple of D). You cannot tell garbage by looking at it. About 7 lines.


# %% part="4b" role="answer"
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    """The tokens of gathered shards, in position order, request by request.

    shards: [dcp_size, rows, V], any dtype. Request i fills ceil((len + start %
    dcp_size) / dcp_size) rows of every shard, in request order, and none if its length
    is 0. Its token at position p is in shard p % dcp_size, in row p // dcp_size - start
    // dcp_size of the request's rows. A row that holds no token is garbage.
    prefix_lens, start_positions: 1-D integer tensors, one entry a request, or none: its
    tokens, the position of the first of them.
    Returns a new tensor [sum(prefix_lens), V] of the shards' dtype.
    """
    ### BEGIN SOLUTION
    first, pieces = 0, [shards[0, :0]]
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist(), strict=True):
        p = torch.arange(start, start + n, device=shards.device)
        pieces.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        if n:
            first += -(-(n + start % dcp_size) // dcp_size)
    return torch.cat(pieces)
    ### END SOLUTION


# %% part="4b" role="check"
lab.check("4b")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# The picture's lower half: A3, A4, A5, A6, A7, B0, B1, B2. Shards `torch.tensor([[[0], [2]], [[1], [9]]])` of one request
# with 3 tokens from position 0 give `tensor([[0], [1], [2]])`; the 9 is padding.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("4b")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That all ranks sent the same number of rows. If one rank counted a request's padding otherwise, an all-gather hangs, or
# mixes requests, and nothing in this function would see it.
# </details>

# %% [markdown]
# ## 4c · Prefix and new tokens, request by request
#
# *10 points, 6 minutes.*
#
# The new tokens' c-KV does not have to be fetched: every rank has just computed all of it. It goes into the same buffer, and
# there are two obvious ways.

# %%
lab.predict("4c")

# %%
viz.extend_step("assemble")

# %%
viz.workspace_picture([2, 3], [1, 1])

# %% [markdown]
# In **layout A** a request stays together, `[p0 e0 p1 e1]`, and all its tokens are where `cu_seqlens_k[request] + position`
# says. **Layout B**, `[p0 p1 e0 e1]`, is a plain concatenation, and a request is in two places: no single number added to a
# position leads to both. Both exist upstream, a few functions apart.
#
# Write `assemble_ragged`, layout A. Rows can have any shape. About 2 lines.


# %% part="4c" role="answer"
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    """The workspace of an extend: each request's prefix and, right behind it, its new
    tokens.

    prefix: [n, ...], all prefixes, one request after another.
    extend: [m, ...], all new tokens, likewise; same dtype and trailing shape.
    prefix_lens, extend_lens: 1-D integer tensors, one entry a request, or none, 0
    allowed; they sum to n and m.
    Returns a new tensor [n + m, ...], [prefix_0; extend_0; prefix_1; extend_1; ...]:
    its first dimension is the ragged index.
    """
    ### BEGIN SOLUTION
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([prefix[:0], *(piece for pair in zip(old, new, strict=True) for piece in pair)])
    ### END SOLUTION


# %% part="4c" role="check"
lab.check("4c")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Prefixes `[10, 11]` and `[20, 21, 22]`, new tokens `[12]` and `[23]`, as one-dimensional tensors: `tensor([10, 11, 12, 20,
# 21, 22, 23])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("4c")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That anybody reads it by the right index. The best workspace is wrong for an id of layout B, and the other way round.
# </details>

# %% [markdown]
# ## 4d · Two transforms of one selection
#
# *15 points, 10 minutes.*
#
# Top-k works inside a request: it picks *positions*. Attention needs an address in the buffer that it reads. There are two
# transforms, and their results look exactly alike, an integer tensor of the same shape:
#
# | transform | gives | fits |
# |---|---|---|
# | none | a position | no buffer at all |
# | **PAGED** | a loc, from `req_to_token` | index-K as it is; c-KV after localize |
# | **RAGGED** | `cu_seqlens_k[request] + position` | the workspace in layout A |
#
# A row of the selection is a query; `req_of_row` says which request it belongs to. A request has as many rows as it has new
# tokens, so row number and request number differ.

# %%
viz.extend_step(["top_k", "to_ragged"])

# %%
lab.predict("4d")

# %% [markdown]
# Write `topk_to_paged` and `topk_to_ragged`. -1 is padding in both. About 2 lines each.


# %% part="4d" role="answer"
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    """Selected positions to locs.

    topk_pos: [rows, k] integer tensor, positions in the row's request; -1 is padding.
    req_of_row: 1-D integer tensor, for each row the row of req_to_token of its request.
    req_to_token: 2-D integer tensor of locs, by request and position; it may be of
    another integer dtype.
    Returns a new tensor of the shape and dtype of topk_pos: locs, -1 where there was
    -1.
    """
    ### BEGIN SOLUTION
    locs = req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)]
    return torch.where(topk_pos >= 0, locs, -1).to(topk_pos.dtype)
    ### END SOLUTION


def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    """Selected positions to ragged indices.

    topk_pos: [rows, k] integer tensor, positions in the row's request; -1 is padding.
    req_of_row: 1-D integer tensor, each row's request.
    cu_seqlens_k: [requests + 1] integer tensor, of another dtype perhaps: the ragged
    index at which each request begins, then the end.
    Returns a new tensor of the shape and dtype of topk_pos: ragged indices, -1 where
    there was -1.
    """
    ### BEGIN SOLUTION
    begins = cu_seqlens_k[req_of_row][:, None]
    return torch.where(topk_pos >= 0, topk_pos + begins, -1).to(topk_pos.dtype)
    ### END SOLUTION


# %% part="4d" role="check"
lab.check("4d")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# With `cu_seqlens_k` `[0, 3, 7]`, `topk_to_ragged(torch.tensor([[1, -1], [3, 0]]), torch.tensor([0, 1]), ...)` is
# `tensor([[1, -1], [6, 3]])`. `topk_to_paged` with the table `[[16, 17, 18, 0], [32, 33, 34, 35]]` gives `tensor([[17, -1],
# [35, 32]])`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("4d")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That an id reaches the buffer it was made for. Both results are right, and each is nonsense in the other's place. Upstream
# one way of computing top-k hands out bare positions and leaves it to its caller to add the start. That is the second server
# of the opening, as read from the source of #36989; we have not run it there.
# </details>

# %% [markdown]
# ### Your four functions, put together
#
# Two ranks keep two prefixes. You look up the rows, the ranks "send" them with padding, you put them in order, assemble, and
# follow a selection. (The sending is a stack of tensors here; a real one comes below.)

# %%
WORDS = "the red fox hides under old bridge a blue whale sings below".split()


def words(ids):
    return " ".join(WORDS[int(i)] if i >= 0 else "-" for i in ids.flatten())


def tokens(text):
    return torch.tensor([[WORDS.index(word)] for word in text.split()])


ranks, prefix_lens, new_lens = 2, torch.tensor([5, 3]), torch.tensor([2, 3])
prefix_locs = torch.tensor([8, 9, 10, 11, 12, 24, 25, 26])
pools = torch.full((ranks, 16, 1), -1)
pools[prefix_locs % ranks, prefix_locs // ranks] = tokens("the red fox hides under a blue whale")


def shard(rank, rows):
    """What a rank sends: its rows, each request padded to full turns."""
    sent, rest = [], rows.tolist()
    for n in prefix_lens.tolist():
        have = len(range(rank, n, ranks))
        sent += [pools[rank, rest.pop(0)] for _ in range(have)] + [torch.tensor([-1])] * (-(-n // ranks) - have)
    return torch.stack(sent)


rows = [lab.run("4a", prefix_locs, prefix_lens, rank, ranks) for rank in range(ranks)]
try:
    shards = torch.stack([shard(rank, rows[rank]) for rank in range(ranks)])
    prefix = lab.run("4b", shards, prefix_lens, torch.tensor([0, 0]), ranks)
    workspace = lab.run("4c", prefix, tokens("the old sings a whale"), prefix_lens, new_lens)
    picked, req_of_row = torch.tensor([[4, 2, -1], [2, 5, 0]]), torch.tensor([0, 1])
    ids = lab.run("4d", picked, req_of_row, torch.tensor([0, 7, 13]), function="topk_to_ragged")
    print(f"\nprefixes   {words(prefix)}\nworkspace  {words(workspace)}")
    for row, (positions, at) in enumerate(zip(picked.tolist(), ids, strict=True)):
        print(f"row {row} of request {'AB'[req_of_row[row]]} picked {positions}: {words(workspace[at[at >= 0]])}")
except (AttributeError, TypeError, IndexError, RuntimeError):
    print("This needs 4a to 4d: come back when their checks pass.")

# %% [markdown]
# With all four solved the rows read *under fox* and *whale whale a*.
#
# ## All of it in one picture
#
# Choose a token and follow it: the pool that holds it, the shard it travels in, the prefixes in order, the workspace. Then
# choose what its id is *used as*, and see on whose token a wrong pair lands. Two questions to answer with it: for which
# request is a bare position a right index of the workspace? And which wrong pairs still read a token of the same request?

# %%
viz.workspace()

# %% [markdown]
# <details><summary>The two answers</summary>
#
# A position is right for A, which begins at 0. Another token of the same request is read with a loc as a row (A0, A1, B2), with
# a ragged index as a row (A4, A5), and with the prefix offset (B3, B4). And B4's loc is 12, as its ragged index is: there a
# wrong pair is right, by chance.
# </details>
#
# ## 4e · Which transform for which batch?
#
# *10 points, 5 minutes.*
#
# So the transform must fit the buffer that attention reads. Which buffer that is depends on the batch:
#
# | batch | its rows | how it sees the whole context, if c-KV is sharded |
# |---|---|---|
# | `decode` | one new token a request | each rank reads its pool, then they merge |
# | `target_verify` | a few draft tokens a request | the same |
# | `extend` | chunks of prompts | the prefixes are gathered into a workspace |
# | `mixed` | chunks of prompts, and one new token of requests that decode | the gather runs for the whole batch |
#
# Without sharding, every rank has all of c-KV in its pool, and nothing is gathered.

# %%
viz.extend_step(["to_ragged", "attend"])

# %%
viz.question("4e")

# %%
lab.predict("4e")

# %% [markdown]
# Write `choose_transform`. About 2 lines.


# %% part="4e" role="answer"
def choose_transform(mode, dcp_sharded):
    """The transform that fits the buffer which attention reads in a batch.

    mode: "decode", "target_verify", "extend" or "mixed".
    dcp_sharded: bool, whether c-KV is split over ranks.
    Returns "PAGED" or "RAGGED".
    """
    ### BEGIN SOLUTION
    gathers = dcp_sharded and mode in ("extend", "mixed")
    return "RAGGED" if gathers else "PAGED"
    ### END SOLUTION


# %% part="4e" role="check"
lab.check("4e")

# %% [markdown]
# ### What #36989 left
#
# The patch guards its gather with one test, true for extend and mixed, and chooses RAGGED with another, true for pure extend
# only. In a mixed batch it therefore gives *locs* to a buffer of a few dozen rows:

# %%
ragged.mixed()

# %% [markdown]
# Loc 31 in a workspace of some thirty rows points at nothing, loc 16 at somebody's word. Mixed batches have to be asked for
# (`--enable-mixed-chunk`), so a test that does not ask for them passes.
#
# The last lines are another story. The assert there is right to be in this place, and wrong in what it compares. It had stood
# in the code all along: without the extend patch it was never evaluated, and the server answered wrongly in silence. The
# first half of a fix made it *reachable*.
#
# In *typed* mode each index says what space it is in, and each buffer says what it takes. There the same server is refused at
# the first read, before any word is wrong, and the sentence names both:

# %%
replay("above", defects="mixed", typed=True)

# %% [markdown]
# <details><summary>Expected output of 4e</summary>
#
# `choose_transform("mixed", True)` is `"RAGGED"`; `choose_transform("decode", True)` and `choose_transform("extend", False)`
# are `"PAGED"`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("4e")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That whoever gathers asks the same function. Two tests of one fact drift apart; that is how this defect came about. One
# decision, made once and handed on, cannot.
# </details>

# %% [markdown]
# ## 4f · A check for the table that was just born
#
# *10 points, 10 minutes. It can wait.*
#
# With RAGGED comes a second table: the locs of all requests' tokens in one line, the *flattened page table*. Upstream builds
# it where there is a prefix, for RAGGED and for one more path (FP8 to a full attention). And with the table came its check,
# and the report's second surprise: max_idx = 2,937,855 against a bound of 382,976. You know these numbers from 2e: a loc,
# held against rows. (An older version counted instead: more tokens than slots was an error. But requests that share a prefix
# share slots, and nothing is wrong, #15086.)
#
# Who reads this table? Not the indexer: upstream gathers index keys by their pages. Its readers are those that turn FP8 rows of
# **c-KV** into bf16 before they attend. In the report's server, TileLang and bf16, there is none: the check guards a table that
# nobody reads there, and still it stopped the server. (The engine here is simpler and does gather index keys by it.)
#
# So the check's bound is that of locs, and it lets through what its reader must not take as it is. With C = 12, P = 4, D = 2
# the table may hold 31. A c-KV reader that takes it raw asks for row 31 of 16; it must localize first, as in 4a. One list, two
# consumers, two answers: your function is asked for both.
#
# Write the check as it should be. It has two ends. An index below 0 is wrong as well: in torch it reads from the end, in
# Triton from before the beginning. And it says only whether something is wrong; what to do about it is for the caller to
# decide.

# %%
viz.extend_step(["request", "top_k"])

# %%
viz.question("4f")

# %%
lab.predict("4f")

# %% [markdown]
# Write `capacity_ok`, with the bounds of 2e: `(size // page_size + 1) * page_size` for rows, `dcp_size` times as many for
# locs. About 4 lines.


# %% part="4f" role="answer"
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    """Whether every index is one that the consumer may be given.

    flat_locs: 1-D integer tensor, indices in the consumer's space, perhaps none.
    consumer: "ckv_write_loc", "ckv_row", "index_k_loc", "draft_loc" or
    "flattened_page_table".
    size: int, rows that one rank can hold (C).
    page_size, dcp_size: ints.
    Returns a bool.
    """
    ### BEGIN SOLUTION
    bound = (size // page_size + 1) * page_size
    if consumer != "ckv_row":
        bound *= dcp_size
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
    ### END SOLUTION


# %% part="4f" role="check"
lab.check("4f")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# For C = 12, P = 4, D = 2: `capacity_ok(torch.tensor([31]), "flattened_page_table", 12, 4, 2)` is `True`, with 32 `False`. As
# `"ckv_row"`, 31 is `False` and 15 the largest that is right. `torch.tensor([])` of int64 is right for everybody.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("4f")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That it is evaluated. Upstream takes the maximum only where a batch has more tokens than the bound, which its comment puts
# down to much reuse of KV. With the right bound only requests that share a prefix get there. Nor that the table's reader
# localizes: a table of legal locs passes, and rows past the pool are what a raw reader makes of it. Nor that a loc in range
# is the right one: 4d's wrong ids are all in range of something.
# </details>

# %% [markdown]
# ## Over the wire
#
# Now the same gather for real: four processes, each with its own arena, over gloo on this machine; over NCCL where there are
# several GPUs. They run an extend step of the engine. The question is the one that this lab began with: do all of them end up
# with the same workspace, byte for byte? And what did it cost?

# %%
ragged.over_gloo(ranks=4)

# %% [markdown]
# Every rank receives *all* prefixes, whatever top-k picks. Where a few new tokens follow long prefixes, most of it is never
# read. Fetching only what was picked would save that, and needs the selection before the gather, for every layer. The patch
# does not do it, and where a chunk has many tokens there is little to save: together they pick nearly everything.
#
# And between GPUs? Below is one layer's gather by length of the context. The bytes follow from the shapes: twice the context is
# twice the bytes. Whether they were also timed, and on what, stands under the picture. A hatched bar is computed.

# %%
viz.links("gather")

# %% [markdown]
# That is one layer. The report's server has 11, and each chunk of a prompt gathers again what the chunks before it stored. A
# short transfer brings fewer bytes a second: to start one costs the same however little it carries.

# %% [markdown]
# ## 4g · The assembly as a Triton kernel
#
# *15 points, 16 minutes. It can wait.*
#
# Your 4c goes through the requests in Python. On a GPU one launch does it for all of them. The batch is ragged, but a grid is a
# rectangle: one axis for requests, one for blocks of `ROWS` rows of the longest segment. Program (i, b) makes rows b * ROWS
# and on of request i's segment, its prefix and then its new tokens. In a short request most programs have nothing to do.
#
# Lengths arrive summed up: request i's prefix begins at row `cu_prefix[i]` of `prefix` and ends before `cu_prefix[i + 1]`;
# the same for `cu_extend`. The rows of the three buffers lie `prefix_stride`, `extend_stride` and `out_stride` elements
# apart, and what lies behind the first `DIM` of them belongs to somebody else.

# %%
viz.extend_step("assemble")

# %%
lab.predict("4g")

# %% [markdown]
# Write the kernel's body. About 9 lines. A lane that has no row reads nothing and writes nothing.


# %% part="4g" role="answer"
@triton.jit
def assemble_ragged_kernel(
    prefix_ptr,
    extend_ptr,
    out_ptr,
    cu_prefix_ptr,
    cu_extend_ptr,
    prefix_stride,
    extend_stride,
    out_stride,
    DIM: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Writes the workspace, [prefix_0; extend_0; prefix_1; extend_1; ...].

    Program (i, b) makes the rows b * ROWS and following of request i's segment, ROWS at
    most.
    prefix_ptr, extend_ptr: rows of DIM values, prefix_stride and extend_stride elements
    apart; read only.
    out_ptr: likewise, out_stride apart; every row is written, and nothing between the
    rows.
    cu_prefix_ptr, cu_extend_ptr: int64, requests + 1 cumulative lengths with a leading
    0.
    DIM and ROWS are powers of two. Grid: (requests, cdiv(longest segment, ROWS)).
    """
    ### BEGIN SOLUTION
    request = tl.program_id(0)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    column = tl.arange(0, DIM)[None, :]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
    ### END SOLUTION


# %% part="4g" role="check"
lab.check("4g")

# %% [markdown]
# Run it on something small. The arguments are prefix, extend, their lengths, and rows a program:

# %%
old, new = torch.tensor([[10.0, 0], [11, 0], [20, 0], [21, 0], [22, 0]]), torch.tensor([[12.0, 1], [23, 1]])
lab.run("4g", old, new, [2, 3], [1, 1], 2)

# %% [markdown]
# ### The real ones
#
# The course's own kernel goes a step further: it reads the gathered shards directly, so that 4b and 4c are one pass. Behind
# it runs the sparse extend, in TileLang, over the workspace. Both against dense attention in float64 that knows no workspace
# at all; then the same once more with ids that forget the start. The padding rows are NaN here: one that is read cannot hide.
# On a CPU this takes some twenty seconds.

# %%
ragged.real_extend()

# %% [markdown]
# <details><summary>Expected output of the kernel</summary>
#
# `lab.run` above gives the first numbers 10, 11, 12, 20, 21, 22, 23; the second are 1 for the new tokens, the third and the
# last.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("4g")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That it is fast: programs without a row are started all the same, and one long request among many short ones makes many of
# them. And not that its addresses fit: row times stride passes 2^31 in a large workspace. Here the rows are int64, since the
# cumulative lengths are; the buffers of the check are too small to show it.
# </details>

# %% [markdown]
# ## 4h · Name the space
#
# *10 points, 11 minutes.*
#
# The skill of this lab, on code that is not yours. Eight snippets in the manner of three servers, drawn from your number: a
# step of several requests, their prefixes gathered from the ranks, and the workspace of both. It works as 1i did. The list
# above the lines is true; all other names are made in the lines, and some of them lie.
#
# A **token** is a place in the step's list of new tokens, all requests end to end. A **request** is its number in the batch.
# A **ragged index** is a place in the workspace, a **gathered row** one in the shards that the gather brings. Here each prefix
# begins at position 0, so the token at position p lies in shard p % D.
#
# Two questions a snippet. **In which space** is the index that is asked for: request, position, token, loc, row, rank, ragged
# index or gathered row? And **which line mixes** two spaces, the first if several do, or 0 if none does? A line mixes two
# spaces if
#
# * it looks something up, or calls a function, with an index of another space than the one asked for;
# * it adds, subtracts, joins or compares indices of two spaces, other than a start and a place in it;
# * it divides or multiplies an index by a size that does not belong to its space.
#
# A wrong name alone mixes nothing.

# %%
lab.predict("4h")

# %%
investigate.snippets("4h")

# %% [markdown]
# Fill in your seed and, for each snippet, the space and the line: `"row, 3"`.


# %% part="4h" role="answer"
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
        1: "gathered row, 3",
        2: "position, 4",
        3: "rank, 4",
        4: "request, 0",
        5: "loc, 0",
        6: "row, 2",
        7: "ragged index, 4",
        8: "request, 0",
    }
    ### END SOLUTION
    return seed, found


# %% part="4h" role="check"
lab.check("4h")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Each snippet counts on its own, if both of its answers are right: 1.25 points.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("4h")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the buffer is the one of this step. A ragged index that is right for one batch is a number like any other in the next.
# Nor that a prefix begins where you think: here all begin at position 0, and 4b showed what happens where one does not.
# </details>

# %% [markdown]
# ## Where you are now

# %%
lab.progress()

# %% [markdown]
# **You can now**
#
# * say of an id which buffer it was made for, PAGED or RAGGED, layout A or B, and on whose token it lands elsewhere;
# * put a padded, interleaved gather back in order for any lengths, starts and D, and say why a shortcut was right on one
#   batch;
# * explain why decode merges and extend gathers, and what each costs on the wire;
# * see why a fix can make an old assert fail, and give the assert the bound of its own space;
# * ask the third question of this course: *the index is right and the buffer is large enough. Is it the buffer that the index
#   was made for?*
#
# **This did not prove** that the gathered rows were written where they were read, which was lab 03, or that all ranks pick
# the same tokens. If two ranks break a tie in top-k differently, each of them reads a workspace that is right.
#
# **Next: [lab 05, the full path](../05_full_path/05_full_path.ipynb).** All patches are switches there. Which of them
# cures which symptom, and which makes it worse?
