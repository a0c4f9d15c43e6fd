# Lab 05, the single source of labs/05_full_path/05_full_path.ipynb. `python -m dcplab build` makes the notebook.

# %% [markdown]
# # Lab 05 · The whole fixed path

# %%
from dcplab import lab

lab.start("05")

# %% part="5a" role="answer"
def decode_path(step):
    """One layer of a decode step, on every rank.

    step: the layer's operations; see the table above. Returns a list, for each rank of step.ranks the merged attention output
    [T, heads, 512].
    """
    ### BEGIN SOLUTION
    parts = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        locs = rank.to_locs(rank.select_paged())
        rows, counts = rank.localize(locs)
        parts.append(rank.attend(rows, counts))
    return step.merge(parts)
    ### END SOLUTION


# %% part="5a" role="check"
lab.check("5a")

# %% part="5b" role="answer"
def extend_path(step):
    """One layer of an extend step, on every rank; mixed batches come here too.

    step: the layer's operations. Returns a list, for each rank of step.ranks the attention output [T, heads, 512].
    """
    ### BEGIN SOLUTION
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
    shards = step.all_gather([rank.read_prefix() for rank in step.ranks])
    prefix = step.interleave(shards)
    outs = []
    for rank in step.ranks:
        rank.fill(step.join(prefix, rank.latent))
        outs.append(rank.attend_ragged(rank.to_ragged(rank.select_ragged())))
    return outs
    ### END SOLUTION


def verify_path(step):
    """One layer of a target verify: as many rows a request as the draft has guessed tokens, and one. Returns as extend_path."""
    ### BEGIN SOLUTION
    return decode_path(step)
    ### END SOLUTION


def draft_path(step):
    """The draft's one layer, a decode step over its own pools, which are whole on every rank. Returns as extend_path."""
    ### BEGIN SOLUTION
    outs = []
    for rank in step.ranks:
        rank.write_ckv(step.batch.out_locs)
        rank.write_index_k(step.batch.out_locs)
        rows, counts = rank.as_rows(rank.to_locs(rank.select_paged()))
        outs.append(rank.attend(rows, counts)[0])
    return outs
    ### END SOLUTION


# %% part="5b" role="check"
lab.check("5b")
