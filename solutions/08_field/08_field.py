# Lab 08, the single source of labs/08_field/08_field.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 08 · Somebody else's server
#
# *100 points, about 135 minutes: 45 for one case that we solve together, 90 for the examination. Nothing here needs a GPU.*
#
# In seven labs the server was ours, and it helped: typed spaces, a watcher, `trace()`, `identity()`. A bug that you meet at
# work comes with none of these. You get a report, a checkout and an afternoon.
#
# Here is another server. It is called **quay**, has 1,000 lines, and you can read it in an hour. It answers as ours does,
# token for token. It uses other words, another layout, and it has no tools at all. Each case plants one fault in it, or in
# our own engine without its tools. You find it, mend it, and leave a test behind.
#
# **Afterwards** you can go from a bug report to the first wrong operation in code that you have never seen. **You need**
# labs 01 to 04, lab 06's fourth question and lab 07's 7a to 7c. **Short of time?** The case below and the examination are two
# sittings.

# %%
from dcplab import exam, lab

lab.start("08")

# %% [markdown]
# Five questions on what came before, half a minute each. Skip them if you like: nothing is graded, and nothing is kept.

# %%
lab.recall("08")

# %% [markdown]
# ## Its words and ours
#
# | quay says | this course says | and |
# |---|---|---|
# | `cp_size`, `cp_rank` | D, r | *cp* is context parallel |
# | `cp_interleave` | `interleave`, I | positions in a *turn*; ours was 1 until lab 07 |
# | block | allocator page | one id for all ranks |
# | `block_size` | P | tokens that **one** rank stores of a block |
# | `tokens_per_block` | W = P * D | tokens that all ranks store of it |
# | position | position | |
# | local index | lab 07's row, before any page | how many earlier positions of the request its rank stores |
# | slot | row | a place in one rank's cache; the drafter's slots are like locs |
# | block table | `req_to_token`, a page an entry | block of each `tokens_per_block` positions |
# | slot mapping | `localize` | -1 on every other rank |
# | `num_computed_tokens` | the prefix | tokens whose keys lie in the cache |
# | sequence; its row in the batch | request; `req_pool_idx` | rows **move** when somebody leaves |
# | prefix cache by hash | prefix cache | a free block keeps its hash until it is handed out |
# | host tier | lab 06's backup | block contents in host memory, found by hash |
# | preempt | retract | the request is computed anew from what is still stored |
# | proposal, drafter | draft | one layer, one rank, not sharded |
# | captured step | CUDA graph | fixed buffers; entries behind the last one are padding |
# | LSE, natural | LSE, base 2 | |
#
# One layout rule for all of it stands at the head of `quay/layout.py`: tokens are dealt to ranks in turns of
# `cp_interleave`. Dealt are *positions*, not locs: there is no loc in this server.

# %% [markdown]
# ## Four questions
#
# They are the course's, and they are all that you take along:
#
# 1. In **which space** is this index, and which does its reader expect?
# 2. Has the buffer a **place** for it?
# 3. Is it the **buffer** that the index was made for?
# 4. ***Is what lies here still what was put here, and did what belongs to it come along?***
#
# A report tells a symptom. Go back from it: a wrong word, a read that found something else, a write that put it there. The
# **first** operation that was wrong is the one to mend; whatever comes after it does as it is told.

# %% [markdown]
# ## A case that we solve together
#
# It counts for nothing, and no examination has a case of its kind. `exam.guided()` makes a folder `cases/guided` beside this
# notebook, with all that a case has.

# %%
case = exam.guided()
case.report()

# %% [markdown]
# ### Read it, and reproduce it
#
# What does the report say is *right*? With turns of one. That is worth more than what is wrong. Run it before you believe it:
# `reproduce()` serves the report's traffic with the checkout, in a process of its own.

# %%
case.reproduce()

# %% [markdown]
# ### Narrow it down, without reading
#
# `reproduce(name=value)` serves the same traffic with another size. An answer does not depend on the layout, so the same words
# are right. Two of them, before you run them:

# %%
lab.predict("8a")

# %%
case.reproduce(cp_size=1)

# %%
case.reproduce(cp_interleave=1)

# %% [markdown]
# Not the scheduler, then, not the prefix cache, not attention: they work with both. Which lines speak of turns at all?

# %%
case.find("cp_interleave")

# %% [markdown]
# One file, and four functions of it are about turns *and* ranks. Read it: it is short, and its head is the contract.

# %%
case.read("quay/layout.py")

# %% [markdown]
# ### A small case, by hand
#
# Two ranks, turns of two, eight positions. Write down what lab 07's 7a says: positions 0 and 1 go to rank 0, 2 and 3 to rank 1,
# 4 and 5 to rank 0 again. Then ask the server. `run` starts a new Python beside the checkout.

# %%
eight = """
import torch
from quay import config, layout

cfg = config.QuayConfig(cp_size=2, cp_interleave=2)
positions = torch.arange(8)
owner, index = layout.owner_of(positions, cfg), layout.local_index(positions, cfg)
for position, rank, local in zip(positions.tolist(), owner.tolist(), index.tolist()):
    print(f"position {position}: rank {rank}, local index {local}")
"""
case.run(eight)

# %% [markdown]
# Which two positions have one rank and one local index? What will lie there?
#
# ### The fourth question, with no tool for it
#
# Nobody notes here who wrote a slot. So note it yourself: put a function of yours in the place of one of the server's, where
# it writes and where it reads. No file is changed. This is the cell to copy when you sit alone.

# %%
who_wrote = """
from types import SimpleNamespace
from quay import config, layout, runner, worker
from quay.server import QuayServer

put, others = {}, set()

def writes(tables, positions, rank, cfg):
    slots = layout.slot_mapping(tables, positions, rank, cfg)
    put.update({(rank, s): p for p, s in zip(positions.flatten().tolist(), slots.flatten().tolist()) if s >= 0})
    return slots

def reads(tables, positions, rank, cfg):
    slots = layout.slot_mapping(tables, positions, rank, cfg)
    for p, s in zip(positions.flatten().tolist(), slots.flatten().tolist()):
        if s >= 0 and put.get((rank, s)) != p:
            others.add((rank, s, p, put.get((rank, s))))
    return slots

runner.layout = SimpleNamespace(**{**vars(layout), "slot_mapping": writes})
worker.layout = SimpleNamespace(**{**vars(layout), "slot_mapping": reads})
server = QuayServer(config.QuayConfig(cp_size=2, cp_interleave=2))
server.add_request([0, 5, 9, 3, 7, 2, 8, 4, 5, 9], 4)  # one request: whatever is another's is its own
server.run(50)
for rank, slot, read, wrote in sorted(others):
    print(f"rank {rank}, slot {slot}: read for position {read}, put there for position {wrote}")
print(f"{len(others)} reads found what was put there for another position")
"""
case.run(who_wrote)

# %% [markdown]
# Every index is a slot, and inside its buffer; typed spaces would say nothing. Two positions of one request share a slot, and
# the later one stays. That is wrong when it is **written**, so look at the write: `slot_mapping` asks `owner_of` and
# `local_index`. Both got a position. One of them deals turns.

# %% [markdown]
# ## 8a · The first wrong operation
#
# *20 points in each case of the examination, about 20 minutes; none here.*
#
# A diagnosis says five things, in the checkout **as you got it**: `file`, `line`, the `index` by its name in that line, the
# space that it **was** in, and the space that its reader **expected**. Spaces are words of a list; some are states of what
# an index leads to, for the fourth question.

# %%
case.spaces()

# %% [markdown]
# *Was* is what the number is as it stands there. *Expected* is what the line's result is taken for. Here a position goes
# through a rule that makes something else of it: of what?


# %% part="8a" role="answer"
def first_wrong():
    """The first operation that was wrong.

    Returns a dict: "file" as "quay/layout.py", "line" an int, "index" a name in that
    line, "was" and "expected" words of case.spaces().
    """
    ### BEGIN SOLUTION
    return dict(file="quay/layout.py", line=16, index="positions", was="position", expected="rank")
    ### END SOLUTION


# %%
case.diagnose(first_wrong)

# %% [markdown]
# <details><summary>Stuck?</summary>
#
# `case.hint()` asks a question. In the examination it takes 3 points. The first two questions are the same in every case;
# the third is about the kind.
# </details>

# %% [markdown]
# ## 8b · The patch
#
# *18 points in each case of the examination, about 10 minutes; none here.*

# %%
lab.predict("8b")

# %% [markdown]
# Mend the server where it lies: open `cases/guided/case_1/checkout/quay/layout.py` in the file browser on the left, or give
# the change here. A patch is tried on three traffics that nobody has seen, and the server's own tests must pass. To switch
# something off mends nothing: hits, accepted proposals, steps and captured steps are counted.


# %% part="8b" role="answer"
def mend():
    """One change of one file.

    Returns (file, before, after): before is text that stands once in the file, after
    what stands there instead.
    """
    ### BEGIN SOLUTION
    return (
        "quay/layout.py",
        "    return positions % cfg.cp_size",
        "    return positions // cfg.cp_interleave % cfg.cp_size",
    )
    ### END SOLUTION


# %%
case.patch(mend)

# %% [markdown]
# Now the three things that you have: the small case, the note-taker, the report.

# %%
case.run(eight)

# %%
case.run(who_wrote)

# %%
case.reproduce()

# %% [markdown]
# ## 8c · The regression test
#
# *12 points in each case of the examination, about 15 minutes; none here.*
#
# Plain functions `test_*` with `assert`. They must pass on a right server, in another spelling too, and fail on the fault: 6
# points. The other 6 are for failing on **other** faults of its kind. So test what the layout promises, and not the line.

# %%
lab.predict("8c")


# %% part="8c" role="answer"
def test_layout():
    """Passes on a right server. Fails on this fault and on others of its kind.

    Its imports stand inside it, as from quay.server import QuayServer.
    """
    ### BEGIN SOLUTION
    import random

    from quay.config import QuayConfig
    from quay.server import QuayServer

    draw = random.Random(4)
    stories = [[0, *(draw.randrange(1, 200) for _ in range(draw.randint(20, 50)))] for _ in range(4)]
    prompts = [story + story[7:9] for story in stories]

    def words(**layout):
        server = QuayServer(QuayConfig(num_blocks=60, max_model_len=128, index_topk=12, **layout))
        requests = [server.add_request(prompt, 10) for prompt in prompts]
        server.run()
        return [request.output_token_ids for request in requests]

    right = words(cp_size=1)
    for cp_size, cp_interleave in ((2, 1), (2, 2), (4, 1), (4, 2)):
        assert words(cp_size=cp_size, cp_interleave=cp_interleave) == right
    ### END SOLUTION


# %%
case.test(test_layout)

# %% [markdown]
# Red on the server as you got it and green on yours: that is a regression test. Whether it is red on its kind's other faults
# is told when you hand in.

# %%
case.unit_tests()

# %% [markdown]
# ### Hand it in
#
# All three parts go together, up to three times a case. What is right for the first time in the second hand-in counts three
# quarters, in the third half. While hand-ins are left, you hear of 8a only whether *all* of it is right. This cell hands in
# as soon as all three parts are there.

# %%
case.hand_in(sure=case.complete())

# %% [markdown]
# <details><summary>Expected output</summary>
#
# Three times right, then the place as whoever planted it names it, and a public report of its kind: vLLM's Ascend plugin
# [#11492](https://github.com/vllm-project/vllm-ascend/pull/11492).
# </details>

# %% [markdown]
# ## Practise, as often as you like
#
# `exam.practice(2)`, `exam.practice(3)`: each seed is a case, neighbouring seeds are of other kinds, and there is no limit of
# time. Hints and hand-ins count as in the examination, so that you know what they would have cost. Do one or two before you
# begin.

# %%
practice = exam.practice(1)
practice.report()

# %% [markdown]
# Add cells here with the plus sign above. What you have:
#
# | call | does |
# |---|---|
# | `practice.report()` | shows the report |
# | `practice.reproduce()`, `practice.reproduce(cp_size=1)` | serves its traffic, of another size too (our engine: `dcp_size`) |
# | `practice.find("slot_mapping")` | lines of the server that hold a text |
# | `practice.read("quay/runner.py", 60, 90)` | lines of a file |
# | `practice.run(who_wrote)` | your Python beside the checkout |
# | `practice.spaces()`, `practice.diagnose({"file": ..., ...})` | 8a |
# | `practice.patch(("quay/layout.py", "before", "after"))`, `practice.changes()` | 8b, or an editor |
# | `practice.test(test_mine)` | 8c, or an editor: `checkout/tests/test_regression.py` |
# | `practice.hint()` | a question, for 3 points |
# | `practice.hand_in(sure=True)` | hands in all three parts |
# | `practice.status()` | what is left |
#
# The same in a terminal: `./course exam status labs/08_field/cases/practice_1`, `./course exam --help`. A kernel may be
# restarted at any time: the folder stays, and what was handed in is kept with your progress.

# %% [markdown]
# ## The examination
#
# Two cases of different kinds, 50 points each: 20 for the diagnosis, 18 for the patch, 12 for the test. 90 minutes by the
# clock, from the moment that you write `True`. Closing the notebook does not stop it; running this cell again shows what is
# left.
#
# Split the time: half an hour to find the first one, ten minutes to mend it and test it, then the other. A diagnosis that is
# half right has half its points; a patch without a diagnosis has all of its own. Hand in what you have before the time ends.

# %%
sitting = exam.examination(begin=False)
sitting.status()

# %%
sitting.case(1)

# %%
sitting.case(2)

# %% [markdown]
# Add cells as above: `one = sitting.case(1)`, then `one.reproduce()` and so on; the last is `one.hand_in(sure=True)`. Parts 8a
# to 8c of your board are case 1, 8d to 8f are case 2. A case enters the board when it is closed: all right, or handed in three
# times.

# %% [markdown]
# ## Where you are now

# %%
lab.progress()

# %% [markdown]
# **You can now**
#
# * translate a stranger's words for blocks, slots and ranks into five numbers, and see where two of them meet;
# * narrow a report down by what is *right*, before you read a line;
# * ask the fourth question where no tool asks it, with twelve lines of your own;
# * say which operation was wrong first, in which space its index was, and which was expected;
# * mend it without switching anything off, and leave a test that knows the kind and not the line.
#
# **This did not prove** that you would find a fault of two places at once, a race, or one that needs a GPU to show. The
# server here does one thing after the other.
#
# That was the last lab. The reports behind the cases are public: a case that is closed names its own.
