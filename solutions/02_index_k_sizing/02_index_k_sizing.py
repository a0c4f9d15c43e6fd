# Lab 02, the single source of labs/02_index_k_sizing/02_index_k_sizing.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 02 · A legal loc, a buffer too small
#
# *100 points, about 89 minutes, 75 without what can wait, and half an hour more if you like. Nothing here needs a GPU; two
# cells of that half hour show more where there is one.*
#
# In lab 01 a number was used in the wrong space. In this lab every number is in the right space, and the server crashes all
# the same.
#
# index-K, the small keys by which sparse attention picks its tokens, is whole on every rank and is read by *loc*. It was built
# as large as one rank's share of c-KV. So a legal loc can have no slot. The write happens anyway, and somebody else pays.
#
# You find out how far locs go, which buffer breaks at which loc, and how large each must be; that the published fix is still
# 448 slots short; and you write the kernel that does the writing. You finish with lines of other servers.
#
# **Afterwards** you can size a buffer by its readers' indices and test the size where it breaks. **You need** lab 01's
# 1a, 1b and 1e. **Short of time?** A part that can wait says so under its heading: no later part uses it.

# %%
import torch
import triton
import triton.language as tl

from dcplab import investigate, lab, viz
from dcplab.demos.memcheck import memcheck
from dcplab.demos.server import replay, traffic
from dcplab.demos.three_faces import faces, guard
from dcplab.engine.allocator import PagedAllocator

lab.start("02")

# %% [markdown]
# Five questions on what came before, half a minute each. Skip them if you like: nothing is graded, and nothing is kept.

# %%
lab.recall("02")

# %% [markdown]
# ## First, see it happen
#
# This is the engine of the course: an allocator, a prefix cache, two ranks, and a model of two sparse-attention layers that
# recites, finds and counts. Its ranks share the tokens' **c-KV**, the row of each token that attention reads. Each
# rank has 768 rows of it, C, and one spare page of 4, P: C + P = 772. The server has one defect: its index-K has only as many
# slots, 772.
#
# It gets three questions, then two long requests, then the same questions again. In the tables, *slots* is what a buffer has
# and *legal* how many it needs; a **canary** is a band of known bytes between two buffers, and if it has changed, somebody
# wrote across a border. First with long requests that stay below loc 772:

# %%
replay("below")

# %% [markdown]
# Now with slightly longer ones. Read the last lines first.

# %%
above = replay("above")
print(above)

# %% [markdown]
# The long requests got locs past 771. Layer 0's index-K has no such slots, so their keys were written where layer 1's index-K
# begins: over the keys of the questions. Asked again, layer 1 looks with a stranger's keys and finds the wrong tokens. Nothing
# raised an error.
#
# If the pool fills up to its last page, what overflows runs on into memory that is not mapped, and only that is a crash. One
# defect has three symptoms, right, wrong and dead, by how high the locs go. Lab 01's museum told a wrong hour; filled to the
# last page it would have told nothing. (The lab's last section runs it.)

# %% [markdown]
# ## Why does it take two long requests?
#
# The report saw the server break after about 640,000 tokens, and has a recipe with 600,000: two prompts of 300,000 each. It is
# tempting to read that as "after so much traffic". Here are eight requests, one after another, each freed when it is finished:
# 1,216 tokens in all. Before you run it: what is the largest loc that was used?

# %%
traffic(keep=False)

# %% [markdown]
# Freed pages come back first: the second request lives where the first one lived. Now the same requests, but the prefix cache
# keeps what is finished.

# %%
traffic(keep=True)

# %% [markdown]
# What counts is the largest *live* loc, the **watermark**. The recipe's two prompts, both kept by the prefix cache, hold 1,172
# pages together, and page 890 crosses the line, 455,808 locs up. One such prompt holds 586 pages: no crash, however often you
# send it. So of 640,000 tokens or 600,000 the number of *live* ones decides, and the rest is history.
#
# Let requests arrive, hold, leave, and watch which line the watermark crosses first. The real numbers are one click away.

# %%
viz.watermark(20, 5, 2)  # C, P, D

# %% [markdown]
# ## 2a · The largest loc there is
#
# *10 points, 5 minutes.*
#
# How large a buffer must be follows from the largest index that may come. The allocator counts in widened pages of P * D locs
# and hands out pages 1 to C // P. Page 0 is never issued: for its sake each pool has a spare page. C, the rows that one rank
# can hold, need not be a multiple of P; what fills no page is never handed out.

# %%
viz.decode_step("request")

# %%
lab.predict("2a")

# %% [markdown]
# Write `largest_loc`. Exact for any size. About 1 line.


# %% part="2a" role="answer"
def largest_loc(size, page_size, dcp_size):
    """The largest loc that the allocator can issue.

    size: int, rows that one rank can hold (C, the spare page not counted), size >=
    page_size.
    page_size: int, rows of a page.
    dcp_size: int, the number of ranks. Returns an int, a loc.
    """
    ### BEGIN SOLUTION
    return (size // page_size + 1) * page_size * dcp_size - 1
    ### END SOLUTION


# %% part="2a" role="check"
lab.check("2a")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `largest_loc(12, 4, 2)` is `31`, and so is `largest_loc(14, 4, 2)`: two rows more make no page. For the server of the report,
# `largest_loc(455_744, 64, 8)` is `3646463`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2a")` gives the first of three hints; each next call gives another.
# </details>
# <details><summary>What this does not prove</summary>
#
# That this loc is ever used. It takes a pool that is full to its last page. A test that never fills the pool cannot tell a
# buffer that is large enough from one that is nearly so.
# </details>

# %% [markdown]
# ## 2b · Who else reads locs?
#
# *10 points, 6 minutes.*
#
# A server with speculative decoding has a small **draft** model with a pool of its own. It gets the same locs, but its pool is
# not split over the ranks: every rank has all of it. So one kind of pool is *sharded* and needs C rows on a rank; the other is
# *replicated* and needs a row for every loc. Call the factor between them the **scale**.
#
# Upstream multiplied the draft's size by the scale (#32828), and later its page too (#33348): a pool keeps one spare page, and
# the allocator's last page is P * D locs long.

# %%
viz.decode_step(["request", "index_k"])

# %%
lab.predict("2b")

# %% [markdown]
# Write `loc_space_scale` and `pool_page_size`. About 1 line each.


# %% part="2b" role="answer"
def loc_space_scale(is_draft_worker, dcp_size):
    """By how much the pool of a worker is larger than one rank's share.

    is_draft_worker: bool; a draft's pool is whole on every rank.
    dcp_size: int, the number of ranks.
    Returns an int.
    """
    ### BEGIN SOLUTION
    return dcp_size if is_draft_worker else 1
    ### END SOLUTION


def pool_page_size(page_size, scale):
    """The page of a pool whose size was multiplied by scale, in rows of that pool.

    page_size: int, rows of a page on one rank.
    scale: int, from loc_space_scale.
    Returns an int.
    """
    ### BEGIN SOLUTION
    return page_size * scale
    ### END SOLUTION


# %% part="2b" role="check"
lab.check("2b")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `loc_space_scale(True, 8)` is `8` and `loc_space_scale(False, 8)` is `1`; `pool_page_size(64, 8)` is `512`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2b")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That every replicated pool may have wide pages. A draft may have sparse attention (DSA) and an index-K of its own, whose
# kernel insists on pages of 64. There the page stays and the size grows instead; what has to come out is the same number of
# slots.
# </details>

# %% [markdown]
# ## 2c · How much index-K is enough?
#
# *15 points, 9 minutes.*
#
# Now the buffer of the incident. index-K is stored in pages of P slots, on every rank, for every loc: all ranks must pick the
# same tokens, so all need all keys. Your function gets a pool's size as 2b left it:
#
# | pool of | `size` | `scale` |
# |---|---|---|
# | a target | C | 1 |
# | a draft | C * D | D |
#
# The fix of the report, #36989, gives the target C * D + P slots: the size times D, and a spare page. Is that enough?

# %%
viz.decode_step("index_k")

# %%
lab.predict("2c")

# %% [markdown]
# Write `index_k_slots`: the fewest slots, in whole pages, with which every legal loc has one. About 1 line.


# %% part="2c" role="answer"
def index_k_slots(size, page_size, dcp_size, scale):
    """Slots that index-K must have on every rank so that every legal loc fits.

    size: int, the pool's size in its own rows, that is C * scale.
    page_size: int, slots of an index-K page.
    dcp_size: int, the number of ranks.
    scale: int, what size was multiplied by: 1, or dcp_size for a draft.
    Returns an int, a multiple of page_size.
    """
    ### BEGIN SOLUTION
    return (size // (page_size * scale) + 1) * page_size * dcp_size
    ### END SOLUTION


# %%
viz.question("pages", 12, page_size=4, dcp_size=2, slots=28)  # C * D + P of them

# %% part="2c" role="check"
lab.check("2c")

# %% [markdown]
# ### The boundary test
#
# A formula is an opinion. Ask the engine's allocator: take every page that it has, and look whether the buffer has a slot for
# every loc.


# %%
def locs_without_a_slot(slots, size, page_size, dcp_size):
    allocator = PagedAllocator(size, page_size, dcp_size)
    pages = allocator.issue(allocator.available)  # all there are
    locs = allocator.locs(pages, 0, len(pages) * page_size * dcp_size)
    return len(locs), int((locs >= slots).sum())


C, P, D = 455_744, 64, 8
yours = lab.run("2c", C, P, D, 1)
for who, slots in (("the report", C + P), ("#36989", C * D + P), ("yours", yours)):
    if slots is not None:
        legal, lost = locs_without_a_slot(slots, C, P, D)
        print(f"{who:<12}{slots:>10,} slots{lost:>11,} of {legal:,} locs have none")

# %% [markdown]
# The fix leaves 448 of the target's locs, (D - 1) * P, out of 3.6 million, all in the very last allocator page. A load test
# would have to fill the pool to the last page to meet them. A boundary test goes where traffic hardly ever does.

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `index_k_slots(12, 4, 2, 1)` is `32`, and so is `index_k_slots(24, 4, 2, 2)`, the same server's draft. For the report's
# server it is `3646464`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2c")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the number arrives. It still has to be passed on through every layer of constructors, see 2f; and the memory has to be
# there, see 2g. The fix itself gives a DSA draft C * D + (D - 1) * P: its page stays 64, the size takes up the difference, and
# the draft's index-K is exact. Only the target's is short.
# </details>

# %% [markdown]
# ## 2d · Where it breaks first
#
# *15 points, 9 minutes.*
#
# The unpatched server has three buffers that meet raw locs:
#
# | consumer | addressed by | indices it has |
# |---|---|---|
# | `"index_k"` | loc | `size + page_size` |
# | `"ckv_raw"`, the norope write of lab 03, which forgot to divide | loc, used as a row | `size + page_size` |
# | `"draft"`, as #32828 left it | loc | `size * dcp_size + page_size` |
#
# Which is the first loc, of those that the allocator really issues, that falls outside?

# %%
viz.decode_step(["write", "index_k"])

# %%
lab.predict("2d")

# %% [markdown]
# Write `first_loc_out`. Where no issued loc falls outside, it gives `None`. About 4 lines. You may use your `largest_loc`.


# %% part="2d" role="answer"
def first_loc_out(consumer, size, page_size, dcp_size):
    """The first loc that is issued and falls outside a buffer of the unpatched server.

    consumer: "index_k", "ckv_raw" or "draft".
    size: int, rows that one rank can hold (C).
    page_size, dcp_size: ints.
    Returns an int, a loc, or None if every loc that can be issued fits.
    """
    ### BEGIN SOLUTION
    slots = size * (dcp_size if consumer == "draft" else 1) + page_size
    first = max(slots, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None
    ### END SOLUTION


# %%
viz.question("pages", 12, page_size=4, dcp_size=2, slots=16)  # C + P of them

# %% part="2d" role="check"
lab.check("2d")

# %%
firsts = {consumer: lab.run("2d", consumer, C, P, D) for consumer in ("index_k", "ckv_raw", "draft")}
for consumer, loc in firsts.items():
    if loc is not None:
        page, pages = loc // (P * D), C // P
        print(f"{consumer:<8} breaks at loc {loc:>9,}: allocator page {page:,} of {pages:,}, {page / pages:.1%} of the pool")

# %% [markdown]
# One eighth of the pool, then, or 1/D: on the report's server two buffers break at the very same loc, and one at the end.
#
# <details><summary>Expected output</summary>
#
# `first_loc_out("index_k", 12, 4, 2)` is `16`; `first_loc_out("draft", 12, 4, 2)` is `28`; with one rank all are `None`. For
# the report's server `"index_k"` and `"ckv_raw"` give `455808` and `"draft"` gives `3646016`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2d")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the server crashes there. At this loc it begins to write into somebody else's memory, and reads it back. Whether that
# shows depends on who it belongs to.
# </details>

# %% [markdown]
# ## 2e · An assert for each consumer
#
# *10 points, 6 minutes.*
#
# "Check the index before you use it" sounds easy. After the first fix the report met an assert that held locs against a number
# of rows: loc 2,937,855 against a bound of 382,976. Made C * D + P, it still rejects the last (D - 1) * P legal locs. Another
# check's bound was multiplied by D; for a draft, whose size is multiplied already, it never fires.
#
# The bound must fit the index that is checked. Five places, two spaces:
#
# | consumer | what is checked |
# |---|---|
# | `"ckv_write_loc"` | the index that the c-KV write is *given*; the kernel divides afterwards |
# | `"ckv_row"` | the row after the division |
# | `"index_k_loc"` | what index-K is addressed by |
# | `"draft_loc"` | what the draft's pool is addressed by |
# | `"flattened_page_table"` | entries of the table of all requests' tokens, as the allocator gave them |

# %%
viz.decode_step(["request", "write", "index_k"])

# %%
lab.predict("2e")

# %% [markdown]
# Write `check_bound`: the largest legal index + 1, no looser and no tighter. About 3 lines. You may use your `largest_loc`.


# %% part="2e" role="answer"
def check_bound(consumer, size, page_size, dcp_size):
    """The exclusive upper bound that an assert must use.

    consumer: "ckv_write_loc", "ckv_row", "index_k_loc", "draft_loc" or
    "flattened_page_table".
    size: int, rows that one rank can hold (C).
    page_size, dcp_size: ints.
    Returns an int: the largest legal index of that consumer, plus 1.
    """
    ### BEGIN SOLUTION
    rows = (size // page_size + 1) * page_size
    return rows if consumer == "ckv_row" else rows * dcp_size
    ### END SOLUTION


# %% part="2e" role="check"
lab.check("2e")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# For C = 12, P = 4, D = 2: `"ckv_row"` gives `16`, the four others `32`. With the report's first numbers, C = 382,912, P = 64,
# D = 8, locs go below `3063808`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2e")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the buffer is as large as the bound. An assert that is right about legal indices lets a legal loc through to a buffer
# that is too small. It also never sees an index that is legal and wrong.
# </details>

# %% [markdown]
# ## 2f · The wrapper that did not pass it on
#
# *10 points, 7 minutes. It can wait.*
#
# The right size must also arrive. The report's pool is a wrapper around an inner pool, which had a parameter for the size of
# index-K, with a default. The wrapper did not have it: the default, one rank's size, won without a word.
#
# And others ask the wrapper how large index-K is, and whether c-KV writes are localized (turned into rows of this rank), while
# the builder may change the inner pool after the wrapper was built.

# %%
viz.decode_step("index_k")

# %%
lab.predict("2f")

# %% [markdown]
# Write `HybridPool`. It builds its inner pool once. Its two properties (`@property`) always show the inner pool's present
# values, never a copy, and setting them raises `AttributeError`. About 8 lines.


# %% part="2f" role="answer"
class HybridPool:
    """A pool around an inner pool.

    make_pool: called once, make_pool(size=, page_size=, index_buf_size=), gives the
    inner pool, which has the attributes index_buf_size and dcp_localized_writes.
    size: int, rows of c-KV.
    page_size: int.
    index_buf_size: int, slots of index-K, or None where the inner pool shall decide.
    Properties: index_buf_size, dcp_localized_writes, the inner pool's, read only.
    """

    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        ### BEGIN SOLUTION
        self._inner = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._inner.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._inner.dcp_localized_writes
        ### END SOLUTION


# %% part="2f" role="check"
lab.check("2f")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# A pool built with `index_buf_size=4096` shows 4096; after somebody sets 8192 on the inner pool it shows 8192;
# `pool.index_buf_size = 1` raises `AttributeError`.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2f")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That nobody else takes a copy. The attention backend reads `dcp_localized_writes` once, when it is built. If that is before
# the builder changes it, the copy is merely somewhere else.
# </details>

# %% [markdown]
# ## 2g · The bill
#
# *5 points, 7 minutes. It can wait.*
#
# The planner charged a token's index-K once, 132 bytes a layer: 128 of key, 4 of scale. But each rank keeps index-K for all D
# ranks' tokens, so a row of C costs it D slots. And what does DCP gain, then? Eight ranks hold eight times the c-KV; with
# index-K on the bill it is less.

# %%
viz.decode_step(["write", "index_k"])

# %%
lab.predict("2g")

# %% [markdown]
# Say 11 layers with rows of 1,024 bytes, all with an index-K. Alone, a rank pays 11 * 1,024 + 11 * 132 = 12,716 bytes for a
# token. As one of eight it pays 11 * 1,024 + 11 * 132 * 8 = 22,880 bytes for *eight* tokens, 2,860 each. At equal memory the
# gain is 12,716 over 2,860.
#
# Write `index_k_extra_bytes` and `capacity_gain`. About 1 line and 3 lines. Count slots by C; the spare page is not counted.


# %% part="2g" role="answer"
def index_k_extra_bytes(layers, size, dcp_size):
    """Bytes that a rank pays for index-K above what one unreplicated copy costs it.

    layers: int, layers with an index-K.
    size: int, rows that one rank can hold (C).
    dcp_size: int, the number of ranks.
    Returns an int, bytes.
    """
    ### BEGIN SOLUTION
    return layers * 132 * size * (dcp_size - 1)
    ### END SOLUTION


def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    """Tokens that a server holds with DCP, over tokens held without, at equal memory.

    ckv_layers, index_layers: ints, layers with c-KV, with an index-K.
    row_bytes: int, bytes of a c-KV row of one layer.
    dcp_size: int, the number of ranks. Returns a float.
    """
    ### BEGIN SOLUTION
    sharded, replicated = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * (sharded + replicated) / (sharded + dcp_size * replicated)
    ### END SOLUTION


# %% part="2g" role="check"
lab.check("2g")

# %% [markdown]
# The report says that the fix cost "about 5 GB" a GPU: 11 layers, C = 455,744, D = 8. Try a D of 64 too: where does it end?

# %%
extra = lab.run("2g", 11, C, D)
if extra is not None:
    print(f"{extra:,} bytes, {extra / 1e9:.2f} GB")
    gain = lab.run("2g", 11, 11, 1024, D, function="capacity_gain")
    print(f"{D} ranks hold {gain:.2f} times the tokens")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# `index_k_extra_bytes(11, 455_744, 8)` is `4632182016`. `capacity_gain(11, 11, 1024, 8)` is about `4.446`: index-K costs a rank
# 11,616 bytes for each row, more than the 11,264 of c-KV. In a model where only 21 of 78 layers have an indexer the gain is
# better. With D = 64 it is about `7.811`. It ends at 1156 / 132, about 8.76: then index-K is the whole bill.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2g")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That replicating is wrong. Sharding index-K too would need each rank's best tokens to be gathered and merged at every layer.
# Memory is paid for here with memory, there with communication.
# </details>

# %% [markdown]
# ## 2h · The write that meets the end
#
# *15 points, 14 minutes.*
#
# Now the kernel that does it. A page of index-K is bytes: first the keys of all its slots, then the scales of all its slots,
# four bytes each. Keys are 128 bytes of fp8 on the server; here they are bytes, so that nothing is rounded. With 2 slots and
# keys of 4 bytes a page looks like this:
#
#     byte   0 1 2 3       | 4 5 6 7       | 8 9 10 11       | 12 13 14 15
#            key of slot 0 | key of slot 1 | scale of slot 0 | scale of slot 1
#
# The kernel gets the same memory twice: `buf_ptr` counts bytes and `buf_f32_ptr` counts floats. It is given raw locs, -1 for
# padding, which is skipped. A program has `ROWS` tokens. `PAGE_SIZE` can be any number; `DIM` and `ROWS` are powers of two.

# %%
viz.decode_step("index_k")

# %%
lab.predict("2h")

# %% [markdown]
# Write the kernel's body. About 10 lines. Nothing outside what the arguments describe may be touched, also not read.


# %% part="2h" role="answer"
@triton.jit
def write_index_k_kernel(
    buf_ptr,
    buf_f32_ptr,
    key_ptr,
    scale_ptr,
    loc_ptr,
    n,
    PAGE_SIZE: tl.constexpr,
    DIM: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Writes each token's key and scale into the slot of its loc.

    buf_ptr, buf_f32_ptr: index-K as bytes and as floats, [pages, PAGE_SIZE * (DIM + 4)]
    bytes; in a page first all keys, then all scales.
    key_ptr: n keys of DIM bytes.
    scale_ptr: n floats.
    loc_ptr: n int64 locs, -1 is skipped. n >= 1 tokens.
    Grid: cdiv(n, ROWS) programs.
    """
    ### BEGIN SOLUTION
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    first = page * (PAGE_SIZE * (DIM + 4))
    column = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * DIM + column[None, :], mask=here[:, None])
    tl.store(buf_ptr + (first + slot * DIM)[:, None] + column[None, :], key, mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_f32_ptr + (first + PAGE_SIZE * DIM) // 4 + slot, scale, mask=here)
    ### END SOLUTION


# %% part="2h" role="check"
lab.check("2h")

# %% [markdown]
# ### Past the end
#
# Your kernel is right, and so was the server's. Give it a legal loc and a buffer that is one page too small. The arguments are
# keys, scales, locs, pages, page size and rows a program.

# %%
keys, scales = torch.full((2, 8), 7), torch.tensor([0.5, 0.25])
_ = lab.run("2h", keys, scales, torch.tensor([5, 9]), 2, 4, 2)  # loc 9 is in page 2; the buffer has pages 0 and 1

# %% [markdown]
# The kernel cannot know where its buffer ends: it gets an address, not a size. Triton stores, and says nothing. The lines
# above are by this course's checker, which knows where each buffer ends; on a server nobody speaks. What torch and TileLang
# make of the same index, and what a sanitizer sees of it, the lab's last section shows.
#
# <details><summary>Expected output of the kernel</summary>
#
# `lab.run("2h", torch.full((1, 4), 7), [0.5], [1], 1, 2, 1)` writes key 1 and its scale: bytes 4 to 7 are 7, bytes 12 to 15
# are `0, 0, 0, 63`, which is 0.5 as a float. All others keep what was there, 170.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2h")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the buffer is large enough: no kernel can see that. That the address fits where it is computed: 132 bytes
# a loc pass 2^31 at 16 million locs, and the buffers here are too small to show it. And nothing about speed.
# </details>

# %% [markdown]
# ## 2i · Name the space
#
# *10 points, 12 minutes.*
#
# The skill of this lab, on code that is not yours: eight snippets, as in 1i. The list above the lines is true; all other names
# are made in the lines, and some of them lie.
#
# New is that a number may be *how many* there are of something. It stands in the space of what it counts: C and C + P count
# rows, `(C + P) * D` counts locs, `C // P` allocator pages. index-K comes as bytes and as floats too, as in 2h.
#
# Two questions a snippet. **In which space** is the number that is asked for: loc, row, index-K page, allocator page, byte or
# float? And **which line mixes** two spaces, the first if several do, or 0 if none does? A line mixes two spaces if
#
# * it looks something up, calls a function or builds a buffer with a number of another space than the one asked for;
# * it adds or compares numbers of two spaces, other than a start and a place in it, both in bytes or both in floats;
# * it divides or multiplies by a size that does not belong to the space, as in `loc * bytes_of_a_page`.
#
# A wrong name alone mixes nothing, and neither does a number that is merely too small.

# %%
lab.predict("2i")

# %%
investigate.snippets("2i")

# %% [markdown]
# Fill in your seed and, for each snippet, the space and the line: `"row, 3"`.


# %% part="2i" role="answer"
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
        1: "row, 0",
        2: "index-K page, 5",
        3: "byte, 5",
        4: "allocator page, 0",
        5: "allocator page, 3",
        6: "row, 3",
        7: "byte, 4",
        8: "loc, 0",
    }
    ### END SOLUTION
    return seed, found


# %% part="2i" role="check"
lab.check("2i")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Each snippet counts on its own, if both of its answers are right: 1.25 points.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("2i")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a buffer is large enough. C * D + P slots are slots, and 448 too few; every line of that fix is in one space. A size that
# is in the right space still has to be held against the largest index there is, as 2c did.
# </details>

# %% [markdown]
# ## If you have another half hour: the engine's side of it
#
# Nothing here is graded, and no later lab needs it. Each run is one that the parts above spoke of.
#
# **Filled to the last page.** The server of the beginning, whose index-K has C + P slots, with long requests that take every
# page that there is:

# %%
replay("full")

# %% [markdown]
# Layer 1's index-K is the last large buffer of a rank. What overflows *there* runs into a recurrent state (`conv_state`, of
# the model's linear layers), then into memory that nobody uses, and in the end into memory that is not mapped.
#
# Here is one rank's memory after the run before, `replay("above")`, region by region, with what was written across the borders.

# %%
viz.arena_map(above.engine)

# %% [markdown]
# A canary tells you afterwards. **Strict mode** tells you at once: the first index outside its buffer is refused, before any
# byte is wrong. In **typed mode** every size and every index says what space it counts, and a buffer that is too small for its
# space is refused when it is built, before any request:

# %%
replay("above", strict=True)

# %%
replay("above", typed=True)

# %% [markdown]
# **Freed, on another kind of server.** Where prefill and decode run on nodes of their own, SGLang's allocator has `need_sort`:
# freed pages wait, and join the free ones, in ascending order, only when these run short. So every page is issued once before
# any comes back.

# %%
traffic(keep=False, need_sort=True)

# %% [markdown]
# With `need_sort` traffic alone is enough, and no cache is needed. The report's server did not have it.
#
# **Half-fixes.** Between the two pull requests of 2b the draft's pool had C * D + P rows. #36989 gives the target's index-K as
# many slots; look at the answers first, and then at the canaries. Last 2e's two checks: the one before the c-KV write as it
# was, and the capacity assert as #36989 left it, on a server that has no other defect.

# %%
replay("full", defects="draft_page")

# %%
replay("full", defects="index_k_short")

# %%
replay("above", defects="oob_bound")

# %%
replay("full", defects="assert_short")

# %% [markdown]
# **2d's numbers in a picture**, with the accesses that go astray:

# %%
rows = C + P  # of one layer of c-KV on a rank; slots of one layer of unpatched index-K
viz.memory_map(
    [("index-K, layer 3", 0, rows), ("index-K, layer 7", rows, 2 * rows), ("index-K, layer 11", 2 * rows, 3 * rows)],
    [
        ("first loc", "index-K, layer 3", P * D),
        ("the last that fits", "index-K, layer 3", rows - 1),
        ("the first that does not", "index-K, layer 3", rows),
        ("page 1,800", "index-K, layer 3", 1800 * P * D),
        ("the largest loc", "index-K, layer 3", 3_646_463),
    ],
    unit="slot",
)

# %% [markdown]
# Here three layers are drawn, as if they lay one behind the other. The server has eleven, and only the allocator of the day
# knows what lies behind which. That is why the traceback of the report named another kernel each time.

# %% [markdown]
# ### Past the end, in three languages
#
# What becomes of a store past the end depends on who makes it. Four operations of the kind that a server does, each with an
# index in range and with one past the end. They run in a process of their own, so that what dies does not take this notebook
# along. This takes about half a minute the first time.

# %%
faces()

# %% [markdown]
# One wrong index, three faces:
#
# * **torch** checks an index on the host, or by an assert on the device, and **raises**. The good case: you learn where.
# * **Triton** computes an address and stores. It **overwrites**, and all is quiet.
# * **TileLang** reads **zero**. The course's indexer is stricter and gives -inf for a page that does not exist, so top-k
#   never picks its tokens: a server that forgets without an error.
#
# Why zero? Nobody wrote that into the kernel. The compiler did: it puts a test around every access by index that it cannot
# prove to be in range. Here is the CUDA that it emits for `out[i, j] = pool[ids[i], j]`, and what changes when the pass is
# switched off. No GPU is needed to look.

# %%
guard()

# %% [markdown]
# A guard makes the memory safe and the answer wrong. So "no crash" is no evidence, and the same defect looks different on two
# backends of one server.
#
# ### What a sanitizer sees
#
# compute-sanitizer watches every access on a GPU and reports those outside an allocation. It is run twice on one store past
# the end of index-K: as PyTorch allocates, and with `PYTORCH_NO_CUDA_MEMORY_CACHING=1`.

# %%
memcheck()

# %% [markdown]
# The 0 is no mistake of the tool. PyTorch asks the driver for large blocks and cuts tensors out of them. A store that leaves
# a tensor but not the block is a store into an allocation, as far as the driver knows. Without the cache each tensor is an
# allocation of its own, and the same store is caught. Canaries and strict mode see it in either case, since they know what
# the driver does not: where one buffer ends and the next begins.

# %% [markdown]
# ## Where you are now

# %%
lab.progress()

# %% [markdown]
# **You can now**
#
# * say how far locs go on any server, and at which loc, which page and which share of the pool each buffer breaks;
# * size a replicated buffer, and give each assert the bound of the space that it checks;
# * test a size at its boundary, where the last 448 slots show, and explain why traffic does not show them;
# * say of a size in a stranger's code what it counts, and whether what is held against it counts the same;
# * after the half hour: tell the three faces of one index past the end, and what canaries, strict mode and a sanitizer see;
# * ask the second question of this course: *how far can this index go, and does the buffer go as far?*
#
# **This did not prove** that the keys in index-K are the right ones, or that c-KV is read where it was written. The engine of
# this lab had a c-KV that was right all along.
#
# **Next: [lab 03, the norope write](../03_norope_write/03_norope_write.ipynb).** There the space is wrong as well, and
# below the watermark every answer is right.
