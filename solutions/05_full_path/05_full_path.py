# Lab 05, the single source of labs/05_full_path/05_full_path.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 05 · The whole fixed path
#
# *100 points, about 85 minutes. Nothing here needs a GPU; one cell shows more where there is one.*
#
# Four labs, four pieces: who owns a loc, how many slots it takes, where a token is written, which buffer an index points
# into. Each was right by itself. On a server they have to be right *together*, in three kinds of batches, on every rank, and
# five patches of one pull request touch them in four files.
#
# In this lab you wire the whole path yourself, out of your own functions if you like, and hold it against one rank, word for
# word. Then you turn it round. You predict what each half of the fix does, and run it. You get servers that misbehave and find
# out which operation was wrong first. And you write down what happened so that somebody else can check every number.
#
# **Afterwards** you can find the first wrong operation of a server by its symptoms. **You need** labs 01 to 04, or the
# course's answers to them. **Short of time?** 5c and 5d do not need each other, and 5e needs only 5c: one part in full
# teaches more than a half of each.

# %%
from dcplab import investigate, lab, viz

lab.start("05")

# %% [markdown]
# Five questions on what came before, half a minute each. Skip them if you like: nothing is graded, and nothing is kept.

# %%
lab.recall("05")

# %% [markdown]
# ## Your own functions
#
# The path below calls operations: write, select, localize, merge. Under them the course's functions do the work, or yours.
# This cell looks into your notebooks of labs 01 to 04, checks what it finds, and takes along what passes. What is missing is
# replaced, and it says so. Skip it, or go back with `lab.mine("none")`, and everything runs on the course's functions.

# %%
lab.mine()

# %% [markdown]
# ## 5a · Wire the decode
#
# *25 points, 13 minutes.*
#
# A decode step has one new token for each request. In every DSA layer, on every rank, six things happen to it:
#
#     write → index → select → localize → attend → merge
#
# *Write* stores its c-KV, *index* its index key, and *select* gives the locs of the keys that it will read.
#
# Your function gets one layer of such a step. `step.batch.out_cache_loc`, which is SGLang's name for it too, holds the locs of
# the new tokens. `step.ranks` are the ranks, and each of them knows these operations:
#
# | operation of a rank | is given | gives |
# |---|---|---|
# | `write_ckv(locs)` | locs | stores this step's c-KV: the kernel keeps this rank's locs and divides them |
# | `write_index_k(locs)` | locs | stores this step's index keys |
# | `select_paged()` | | top-k of each new token: **positions** in its request, -1 behind |
# | `to_locs(positions)` | positions | **locs** (the PAGED transform) |
# | `localize(locs)` | locs | `(rows, counts)`: this rank's **rows** in front, -1 behind, and how many |
# | `as_rows(locs)` | locs | `(locs, counts)`: the same numbers, taken for rows as they are |
# | `attend(rows, counts)` | rows | `(out, lse)`: attention over this rank's rows, and how much they weigh |
#
# `step.merge(parts)` takes one `(out, lse)` for each rank and gives a list: the merged output, once for each rank. That list
# is what your function returns. `rank.rank` and `rank.dcp_size` are r and D, should you need them.

# %%
viz.decode_step(["write", "index_k", "indexer", "top_k", "localize", "attend", "merge"])

# %%
viz.question("5a")

# %%
lab.predict("5a")

# %% [markdown]
# Write `decode_path`. About 8 lines.


# %% part="5a" role="answer"
def decode_path(step):
    """One layer of a decode step, on all ranks.

    step: the layer, with step.ranks, step.batch.out_cache_loc and step.merge.
    Returns a list: for each rank of step.ranks the merged attention output [T, heads,
    512].
    """
    ### BEGIN SOLUTION
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        locs = rank.to_locs(rank.select_paged())
        rows, counts = rank.localize(locs)
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)
    ### END SOLUTION


# %% part="5a" role="check"
lab.check("5a")

# %% [markdown]
# The check starts a small server with your wiring, once with pools so large that every loc fits and once with pools so small
# that most locs lie beyond one rank's rows. It compares each word with what one rank says, where nothing has to be localized.
# And it looks at what no word shows: whether each selected key was read once over all ranks, and whether every token lies
# where it belongs. `lab.explain("5a")` also tells what the typed spaces say of your wiring: which index is of another space
# than the operation takes. They know what a number is, not what lies there: a slot that holds an older token passes them.
#
# <details><summary>Expected output</summary>
#
# "Right on all 6 cases": on one rank, two, three, four and five of them, with high locs and with low ones.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("5a")` gives the first of three hints; each next call gives another.
# </details>
# <details><summary>What this does not prove</summary>
#
# That it is fast. A real path captures a CUDA graph, overlaps the merge with the next projection, and splits heads over
# ranks. And on a CPU the operations are the torch twins of the kernels, unless yours are kernels: then they run in the
# interpreter.
# </details>

# %% [markdown]
# ## 5b · Wire extend, verify and draft
#
# *25 points, 15 minutes.*
#
# **Extend** adds a chunk of a prompt to a prefix that is there already. Its queries need the whole context, and this path
# merges nothing. So each rank gets the whole context in front of it: a *workspace*, `[prefix_0; extend_0; prefix_1; extend_1;
# ...]`.
#
# | operation | is given | gives |
# |---|---|---|
# | `rank.read_prefix()` | | this rank's share of every prefix, padded to whole rows of D |
# | `step.all_gather(parts)` | one tensor a rank | `[D, ...]`: everybody's |
# | `step.interleave(shards)` | `[D, rows, 512]` | the prefixes, in position order, request by request |
# | `rank.latent` | | the c-KV of this step's tokens, request by request |
# | `step.join(prefix, latent)` | both | `[prefix_0; extend_0; prefix_1; extend_1; ...]` |
# | `rank.fill(rows)` | rows of a workspace | puts them into this rank's workspace |
# | `rank.select_ragged()` | | top-k of each token: **positions** |
# | `rank.to_ragged(positions)` | positions | **ragged indices** into the workspace |
# | `rank.attend_ragged(indices)` | ragged indices | the output of attention over the workspace |
#
# A *mixed* batch, in which some requests decode, is an extend too.
#
# **Target verify** checks what a draft model has guessed: for each request its last word and the guesses, all at once, read
# from the pools like a decode.
#
# The **draft** guesses word by word. It has one layer and its own pools, which are whole on every rank and addressed by loc.
# Its `rank` has the operations of 5a.

# %%
viz.extend_step()

# %%
viz.question("5b")

# %%
lab.predict("5b")

# %% [markdown]
# Write the three paths. About 9 lines, 1 line (your `decode_path` may help) and 6 lines.


# %% part="5b" role="answer"
def extend_path(step):
    """One layer of an extend step, on all ranks; mixed batches come here too.

    step: the layer, with the operations above.
    Returns a list: for each rank of step.ranks its output [T, heads, 512].
    """
    ### BEGIN SOLUTION
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    prefix = step.interleave(shards)
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs
    ### END SOLUTION


def verify_path(step):
    """One layer of a target verify, on all ranks: for each request its last word and
    the draft's guesses.

    step: the layer, with the operations of 5a. Returns what decode_path returns.
    """
    ### BEGIN SOLUTION
    return decode_path(step)
    ### END SOLUTION


def draft_path(step):
    """The draft's layer, on all ranks: one word for each request, pools that are whole
    on every rank.

    step: the layer, with the operations of 5a.
    Returns a list: for each rank of step.ranks its attention output.
    """
    ### BEGIN SOLUTION
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_cache_loc)
        rank.write_index_k(step.batch.out_cache_loc)
        rows, counts = rank.as_rows(rank.to_locs(rank.select_paged()))
        outs.append(rank.attend(rows, counts)[0])
    return outs
    ### END SOLUTION


# %% part="5b" role="check"
lab.check("5b")

# %% [markdown]
# ### On the real kernels
#
# On a GPU the check has just run the course's Triton and TileLang kernels. On a CPU it ran their torch twins, which are fast.
# Here the whole of your wiring runs on the real kernels on a CPU too, Triton's interpreted and TileLang's through its C
# target: two prompts, a draft of two words, on two ranks. Before it, the same on one rank. It takes about a quarter of a
# minute.
#
# In a cell of your own, `lab.full_path(ranks="gloo", processes=2)` goes further: the whole incident on your wiring, with all
# ranks in one process and then in two, and every word held against the other. `gpus=2` takes two GPUs. It takes a minute.

# %%
prompts = [[[0, 1, 2, 3, 4, 5, 1, 2], [0, 7, 8, 9, 7]]]  # token ids
for dcp_size, kernels in ((1, False), (2, True)):
    told = lab.run("5b", "whole", prompts, 5, dcp_size, {"chunk": 8, "draft": 2, "kernels": kernels})
    if told:
        print(f"D {dcp_size}: {told['tokens']}")

# %% [markdown]
# <details><summary>Expected output</summary>
#
# "Right on all 9 cases". The last runs all three at once: cached pages, chunks, four ranks, a draft of three words and high
# locs.
# </details>
# <details><summary>Stuck?</summary>
#
# `lab.hint("5b")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a gather is the best way. It moves every prefix row to every rank, in every layer, to read a few of them (lab 04 has
# the bytes). Newer work lets extend join the LSE merge instead; with the operations here you can write that too, and it
# passes.
# </details>

# %% [markdown]
# ## 5c · Which patch fixes which symptom?
#
# *15 points, 14 minutes.*
#
# #36989 changes five things. Published tests show a server with none of them or with all. What does each of them do alone?
#
# | name | the patch |
# |---|---|
# | `index_k_size` | index-K gets a slot for every loc |
# | `ckv_write` | the c-KV write keeps this rank's locs and divides |
# | `read` | decode and verify localize what they selected |
# | `extend` | extend gathers the prefixes into a workspace |
# | `assert` | the capacity assert holds locs against the number of locs |
#
# Below are 18 servers: a subset of the patches, and how far the long requests push the watermark. *Below* one rank's rows,
# *above* them, or to the last page: *full*. Each is asked three questions, then two long requests, then the same questions
# again. What does it come to?
#
# | verdict | |
# |---|---|
# | `right` | every answer is right |
# | `silent` | a wrong answer, and no error |
# | `alarm` | a check stops the server, on a loc that is legal |
# | `crash` | memory that is not mapped is touched |

# %%
viz.decode_step(["write", "index_k", "localize"])

# %%
viz.extend_step(["gather", "assemble", "to_ragged"])

# %%
lab.predict("5c")

# %% [markdown]
# Fill in what you expect, all rows, before you run any. A wrong row costs its share of the points until you mend it.


# %% part="5c" role="answer"
def isolation():
    """What each server of the matrix comes to: a dict from row to "right", "silent",
    "alarm" or "crash".

    A row is named by the patches that are in force and by the watermark: "write+read,
    above".
    """
    said = {
        "none, below": None,
        "none, above": None,
        "size, below": None,
        "size, above": None,
        "write, below": None,
        "write, above": None,
        "extend, below": None,
        "extend, above": None,
        "write+read, below": None,
        "write+read, above": None,
        "all but size, below": None,
        "all but size, above": None,
        "all but size, full": None,
        "all but assert, below": None,
        "all but assert, above": None,
        "all but assert, full": None,
        "all, below": None,
        "all, above": None,
    }
    ### BEGIN SOLUTION
    said |= dict.fromkeys(("none, below", "size, below", "all, below", "all, above"), "right")
    said |= dict.fromkeys(("all but size, below", "all but assert, below"), "right")
    said |= dict.fromkeys(("none, above", "size, above", "all but size, above"), "silent")
    said |= dict.fromkeys(("write, below", "write, above", "write+read, below", "write+read, above"), "silent")
    said |= {"extend, below": "silent", "extend, above": "alarm"}
    said |= {"all but size, full": "crash", "all but assert, above": "alarm", "all but assert, full": "alarm"}
    ### END SOLUTION
    return said


# %% [markdown]
# Now run them, before you check. The table fills row by row, says how many you have right, and explains each surprise. It
# takes about half a minute and can be stopped.

# %%
investigate.matrix(lab.run("5c"))

# %% part="5c" role="check"
lab.check("5c")

# %% [markdown]
# The check has run all rows, so the table is full now.

# %%
investigate.matrix(lab.run("5c"))

# %% [markdown]
# Three things to take away:
#
# * **The three c-KV patches come together or not at all.** A server with one or two of them is wrong below the watermark too:
#   from its first requests, or as soon as a prompt finds a cached prefix. The bug needed a watermark. A partial fix is worse
#   than the bug.
# * **The size patch alone mends nothing that you can see.** The other four without it are right until the watermark.
# * **The assert can only fire behind the extend patch**, which makes the table that it checks. The author of the report met
#   it only after the first fix.
#
# All 32 subsets are in `docs/isolation.md`, and `./course isolate` runs them.
#
# <details><summary>Stuck?</summary>
#
# `lab.hint("5c")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That a real server does the same in each row. What an overflow hits depends on who lies next to whom in memory, and whether
# a read outside gives the neighbour or a zero depends on the kernel (lab 02). Which rows are right does not.
# </details>

# %% [markdown]
# ## 5d · Three servers, three faults
#
# *20 points, 15 minutes.*
#
# Now the other way round. Here are three servers that misbehave, each in one way of its own. The faults, the sizes and the
# words come from a number that is yours: nobody else has the same three. First what a user sees.

# %%
case = {n: investigate.case(n) for n in (1, 2, 3)}
case[1]

# %%
case[2]

# %%
case[3]

# %% [markdown]
# A server that "took a request off the device" was short of memory: it **retracts** the request, copies what it stored to the
# host (`get_cpu_copy`), and puts it back later at other locs (`load_cpu_copy`). Lab 06 is about that.
#
# "Which kernel crashed?" is the wrong question: what crashes is often the next reader of what somebody else spoiled. Ask
# which operation was the *first* whose index did not belong. Five tools ask the server. Each tells one thing, and what a
# server did is kept: asked again, a tool answers at once.
#
# | tool | tells |
# |---|---|
# | `case[1].layers()` | layer by layer against one rank: index keys, c-KV, top-k, output. Which differs first, where? |
# | `case[1].lse()` | how often a selected key was read over all ranks, and whether ranks have different LSEs |
# | `case[1].typed()` | which space was first used as another; `typed(until=8)` whether by the end of step 8 |
# | `case[1].strict()` | when an index first leaves its buffer |
# | `case[1].trace(step=3, rank=0)` | the accesses of a step and a rank, in order, with the indices used |
#
# A server makes about a thousand accesses, and the trace does not know which you want. Without a filter it says what there
# is to ask by, and how many accesses each has: `step=`, `phase=`, `request=`, `layer=`, `rank=`, `op=`, `buffer=`, and
# `loc=` and `row=`, each also as a pair, first and last. Up to twelve are listed, more are counted.
#
# Beside the five, `case[1].identity()` asks another question: did a read find what had been put there for its token? It counts
# by buffer; `identity(loc=14)` tells one loc's story. Lab 06 is about what it sees and a type cannot.
#
# Four ways to look, and each case falls to another one: **halve the steps**, **compare the ranks** of one operation, ask
# **which layer** differs first, and hold what was used against **the watermark**. Write down what you expect before you ask.
#
# Start with the layers, after one question about them.

# %%
viz.decode_step(["write", "index_k", "localize", "attend"])

# %%
viz.question("5d")

# %%
lab.predict("5d")

# %%
case[1].layers()

# %%
case[1].lse()

# %%
# case[1].typed()  # yours to ask: take away the first #, once you expect something

# %%
case[1].trace()

# %% [markdown]
# Where would you look first? Go on as you like; add cells for the others.

# %%
# case[2].strict()  # yours to ask: take away the first #, once you expect something

# %%
case[2].layers()

# %%
case[3].lse()

# %%
case[3].layers()

# %% [markdown]
# Name the first wrong operation of each: the `buffer` that it used, its name (`op`), the `rank`, the `loc` of the token that
# its first wrong index was for, the `row` it used for it (the index as it was), and how many rows or slots that buffer has.
#
# You will be told how many names of each case were right at your first hand-in, and not which; points do not depend on it. Once
# you change a case's names, you are told what is wrong with one of them, and the part can be passed at any time.


# %% part="5d" role="answer"
def first_wrong():
    """The first wrong operation of each of your three cases.

    Returns the seed that your cases show, an int, and a dict from the case's number to
    its six names. buffer and op are strings as the trace shows them, the others are
    ints.
    """
    seed = None
    found = {
        1: {"buffer": None, "op": None, "rank": None, "loc": None, "row": None, "rows_available": None},
        2: {"buffer": None, "op": None, "rank": None, "loc": None, "row": None, "rows_available": None},
        3: {"buffer": None, "op": None, "rank": None, "loc": None, "row": None, "rows_available": None},
    }
    ### BEGIN SOLUTION
    seed = 36886
    found |= {
        1: {"buffer": "ckv.2", "op": "write_ckv", "rank": 0, "loc": 12, "row": 12, "rows_available": 816},
        2: {"buffer": "index_k.0", "op": "write_index_k", "rank": 0, "loc": 876, "row": 876, "rows_available": 876},
        3: {"buffer": "ckv.2", "op": "sparse_mla_decode", "rank": 1, "loc": 14, "row": 14, "rows_available": 903},
    }
    ### END SOLUTION
    return seed, found


# %% part="5d" role="check"
lab.check("5d")

# %% [markdown]
# <details><summary>Stuck?</summary>
#
# `lab.hint("5d")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That there is only one fault on a server in the field. When the first wrong operation is mended, look again from the start.
# </details>

# %% [markdown]
# ## 5e · The incident record
#
# *15 points, 16 minutes.*
#
# A finding that nobody can check is an opinion. The report of #36886 was worth so much because it had numbers: which
# revision, how many GPUs, which requests, which index against which bound, what came before and what after. Others could hold
# their own server against it.
#
# This server is yours: sizes, words, and which of the five patches it has come from your number, and it does not say
# which those are. It answers rightly at first, and wrongly from the long requests on. Predict, then let it show what it did.

# %%
viz.decode_step(["write", "index_k"])

# %%
lab.predict("5e")

# %%
investigate.incident()

# %% [markdown]
# Write its record. Some figures stand in the run above, most are for you to decide: which number of several is asked for,
# what follows from D, P and C, which patches such a run must have had, and whether one more would have been enough. The five
# are, in the order of #36989: `index_k_size`, `ckv_write`, `read`, `extend`, `assert`. 5c's table says what a server without
# one of them does: hold your run against it. An index is *wrong* if it is of the wrong space or beyond its buffer; the first
# such operation is asked for, whichever of the two it was. Words count in any of the forms that this lab uses: `silent` or
# `silent corruption`, `0/3` or `0 of 3`, `bf16` or `bfloat16`, `write` or `ckv_write`. The versions you ask for yourself,
# `dcplab.__version__` and `torch.__version__`. What stands behind a `#` says what is asked for.


# %% part="5e" role="answer"
def incident_record():
    """The record of your incident.

    Returns the seed that your cases show, an int, and the record as text: a line "key:
    value" for each figure. What stands behind a # is ignored.
    """
    seed = None
    record = """
## Revision of code and model
dcplab:                           # the version of this course
torch:                            # torch's version

## Hardware, parallelism, backend, dtype
device:                           # cpu or cuda
dcp_size:                         # D, ranks
page_size:                        # P, rows in a page of one rank
size:                             # C, rows one rank's c-KV can hold, spare page not counted
ckv_dtype:                        # the dtype of c-KV rows

## Requests, cache and phase
tokens_cached:                    # tokens found in the prefix cache

## Global locs
smallest_loc:                     # the smallest loc the allocator issues: W
largest_loc:                      # the watermark: the largest loc a token was stored at
largest_legal_loc:                # the largest loc the allocator can issue

## Local indices and the shapes there are
ckv_rows:                         # rows of c-KV that one rank has in a layer
ckv_highest:                      # the largest row that was used on any layer's c-KV
index_k_slots:                    # slots of index-K in a layer
index_k_needed:                   # slots it needs for every legal loc
index_k_highest:                  # the largest index on any index-K, which is read in whole pages

## First abnormal operation, and what it did
first_wrong_step:                 # step of the first operation with an index of the wrong space or beyond its buffer
first_wrong_rank:                 # its rank
first_wrong_op:                   # its name
first_wrong_buffer:               # the buffer it used
first_wrong_index:                # the smallest index that is wrong in it
first_outside_step:               # step of the first operation outside its buffer
first_outside_op:                 # its name
first_outside_buffer:             # the buffer it left
first_outside_index:              # the first index beyond it
bytes_outside:                    # bytes that all ranks meant to write beyond their buffers: places times bytes
canaries_changed:                 # canary bands of rank 0 that changed

## Patches in force
patches:                          # which of the five are in force, in the order of #36989; none if none is
patch_for_first:                  # the patch that mends the first wrong operation
patch_enough:                     # with that patch too, is this server right? yes or no

## Result and comparison
verdict:                          # right, silent corruption, alarm or crash
fresh:                            # right answers of those the fresh server gave, as 3/3; - for none
long:                             # the same of the long requests
again:                            # the same of the questions asked again
first_wrong_answer:               # the first wrong answer, word for word
fixed_long:                       # the same of the long requests, with every patch
fixed_again:                      # the same of the questions asked again, with every patch
"""
    ### BEGIN SOLUTION
    seed = 36886
    mine = """
## Revision of code and model
dcplab:               0.1.0
torch:                2.13.0+cpu

## Hardware, parallelism, backend, dtype
device:               cpu
dcp_size:             3
page_size:            5
size:                 840
ckv_dtype:            bfloat16

## Requests, cache and phase
tokens_cached:        180

## Global locs
smallest_loc:         15
largest_loc:          1121
largest_legal_loc:    2534

## Local indices and the shapes there are
ckv_rows:             845
ckv_highest:          1121
index_k_slots:        845
index_k_needed:       2535
index_k_highest:      1124

## First abnormal operation, and what it did
first_wrong_step:     1
first_wrong_rank:     0
first_wrong_op:       write_ckv
first_wrong_buffer:   ckv.0
first_wrong_index:    15
first_outside_step:   14
first_outside_op:     write_ckv
first_outside_buffer: ckv.0
first_outside_index:  845
bytes_outside:        2840292
canaries_changed:     7

## Patches in force
patches:              none
patch_for_first:      ckv_write
patch_enough:         no

## Result and comparison
verdict:              silent corruption
fresh:                3/3
long:                 0/2
again:                0/3
first_wrong_answer:   hides hides hides hides
fixed_long:           2/2
fixed_again:          3/3
"""
    record = mine
    ### END SOLUTION
    return seed, record


# %% part="5e" role="check"
lab.check("5e")

# %% [markdown]
# <details><summary>Stuck?</summary>
#
# `lab.hint("5e")`.
# </details>
# <details><summary>What this does not prove</summary>
#
# That the figures are those of another machine, another model, another layout of memory. That is what the first two headings
# are for.
# </details>

# %% [markdown]
# ## At the report's own size
#
# C = 455,744, P = 64, D = 8. One button, and one to stop. On a GPU this is the report's geometry, on a CPU the same story on
# a small server, in less than a minute.

# %%
investigate.at_scale()

# %% [markdown]
# ## What the fix costs
#
# A right answer is the first thing, and then somebody asks what it takes. On several GPUs each decode step merges every
# layer's partial outputs. Here are three ways to send them. After an all-gather each rank has all heads; after the other two it
# has only its own share of the heads, merged, which is enough where the next matrix is split by head.

# %%
viz.links("merge")

# %% [markdown]
# Fewest bytes is not least time. Where a time was measured, hold the ways against each other: a short transfer is mostly its
# start, and a reduce-scatter takes two calls, one of them for the LSEs.
#
# On one GPU a kernel has two limits: what the memory brings, and what the tensor cores compute. A copy and a matmul, timed in
# the same run, are the roofs. How close does each of the course's kernels come? The picture is read from what the benches
# wrote (`bench/results`); run the cell, and you can point at a case.

# %%
viz.roofline()

# %% [markdown]
# A kernel far below both roofs waits for something else: for a launch, for the chain from one block to the next, for scattered
# entries of a table. `bench/README.md` says of each what it was, and what was tried.

# %% [markdown]
# ## The museum, once more
#
# Lab 01 began with a server that was asked for a museum's hours. Here it is again, and every index in it goes through your
# wiring, and through those of your functions that you put into it: two ranks, a draft of two words, chunks of eight. In the
# hour between, two longer requests fill the pool, so that most locs lie beyond one rank's rows.

# %%
said = "start the museum opens at nine . closed on monday . when ? the museum".split()
words = list(dict.fromkeys(said))
question = [words.index(word) for word in said]
longer = [[0, *range(20, 60)], [0, *range(60, 110)]]
told = lab.run("5b", "whole", [[question], longer, [question]], 4, 2, {"chunk": 8, "draft": 2, "high": True})
if told:
    for when, tokens in (("just started:  ", told["tokens"][0]), ("an hour later: ", told["tokens"][-1])):
        print(when, *(words[token] if token < len(words) else "?" for token in tokens))

# %% [markdown]
# With 5b solved it says *opens at nine .* twice. It runs on torch here; `{"kernels": True}` asks the real ones.

# %% [markdown]
# ## Where you are now

# %%
lab.progress()

# %% [markdown]
# ### What you wrote, and where it lives upstream
#
# SGLang's files as they were in #36989 (head `017d5cb6`), a pull request against the day-0 branch of the model. It was closed
# unmerged, and #37487 took decode context parallelism for this model out again. #39117, #40433, #40434 and #39330 would bring
# it back; all four were open when they were read (22 September 2026).
#
# | you wrote | upstream | patch |
# |---|---|---|
# | 1a to 1d, 1h: owner, row, localize | `layers/dcp/layout.py` | |
# | 1e, 1f: pages and page tables | `mem_cache/allocator/paged.py`, `dsa_backend.py` | |
# | 1g, 4f: flattened locs, capacity | `dsa_backend.py`, `init_forward_metadata` | #15086, #36989 |
# | 2a to 2d: largest loc, scale, slots | `mem_cache/kv_cache_configurator.py` | #32828, #33348, #36989 |
# | 2e: bounds | `mem_cache/memory_pool.py`, `maybe_detect_oob` | #33432 |
# | 2f: the wrapper | `mem_cache/memory_pool.py`, `HybridLinearKVPool` | #36989 |
# | 2g: the bill | `pool_configurator.py` | #39330 |
# | 2h: the index-K write | `kernels/ops/attention/dsa/index_buf_accessor.py` | |
# | 3a, 3b: the norope write | `kernels/ops/kvcache/mla_buffer.py`, `memory_pool.py` | #36989 |
# | 3c: who localizes | `memory_pool.py`, `dcp_localized_writes` | #36989 |
# | 3d: the read side | `dsa_backend.py`, `_dcp_localize_page_table` | #36989 |
# | 3e: the merge | `layers/dcp/comm.py` | #33065 |
# | 3f: the monitor | nothing | |
# | 3g: the fp8 write | `mla_buffer.py`, the fp8 writer | #36904 |
# | 4a to 4c, 4g: gather, assemble | `layers/dcp/comm.py`, `all_gather_kv_cache_for_mha_extend` | #36989 |
# | 4d, 4e: transforms | `transform_index.py`, `dsa_topk_backend.py` | #36989 |
# | 5a, 5b: the wiring | `dsa_backend.py`, `forward_decode` and `forward_extend` | #36989 |
#
# And what is still open in these versions, as far as reading them shows:
#
# | part | open |
# |---|---|
# | 1a | one variant computes owners in float32, which is exact below 2^24 |
# | 1g, 2c, 4f | the target's index-K and the capacity bound are `C * D + P`: short by `(D - 1) * P` |
# | 4f | the flattened table has no reader with TileLang and bf16; elsewhere it is read for c-KV, not for index-K |
# | 2b, 2c | a DSA draft gets pages of 64 and a larger size, and its index-K is exact: only the target's is short |
# | 2e | the bound is D times too loose for a draft; `move_kv_cache` is held against rows |
# | 2f | the backend reads `dcp_localized_writes` once, when it is built |
# | 2g | index-K is charged once and not D times |
# | 2h | no mask and no bound in the kernel |
# | 3a, 3b | a later Triton kernel has no owner filter, its torch twin has one |
# | 3d | not compacted: every rank walks all of top-k |
# | 3e | of three merges `mla` and a2a do not clear the output of an empty rank, which may be NaN |
# | 3e | a2a gives NaN where all ranks are empty; `mha` takes +inf for a weight |
# | 3f | nothing compares counts or LSEs over ranks |
# | 3g | no owner filter; the pull request refuses DCP instead |
# | 4a | `planner.py` strides over the whole batch: right only where every prefix is a multiple of D long |
# | 4a | so it is wrong for mixed batches, too: a decoding request's prefix is its length less 1 |
# | 4d, 4e | mixed batches gather and get PAGED; unfused top-k adds no start |
# | 5a | TileLang only: trtllm returns before the localization, the other backends localize and ask for no LSE |
# | 5a | fa3 with kpool makes slot 0 of a -1 |
#
# None of this was reproduced on SGLang itself. Look up what became of it before you rely on it.
#
# **You can now**
#
# * wire a sharded sparse-attention path, batch by batch, and say of every index which space it is in;
# * tell from a symptom whether it is a fault of the watermark or one that is always there;
# * find the first wrong operation of a server, and not the last one that fell over it;
# * say which half of a fix is worse than none, before you ship it;
# * write a record that somebody else can hold against their own run.
#
# **This did not prove** that a real server is free of it. The engine has one model, one layout of memory, and ranks in one
# process. Its faults are those that were put there.
#
# **Next: [lab 06, retraction](../06_retraction/06_retraction.ipynb).** The ids changed while you slept: what did you restore?
