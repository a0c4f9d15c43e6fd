# Answers to 6d: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 6d all
# says: Recurrent state must not be written by locs: its id is the request's own.
# asks: Which id does recurrent state have?
def restore_is_complete(restored, pool_kinds):
    return restored == pool_kinds

# %% 6d enough
# says: All that is addressed by locs is there, but recurrent state was written too.
# asks: What happens to a state that is written at a loc divided by D?
def restore_is_complete(restored, pool_kinds):
    return pool_kinds - {"recurrent"} <= restored

# %% 6d ckv-only
# says: c-KV alone does not do: index-K and the draft are read by loc, too.
# asks: What does top-k read first?
def restore_is_complete(restored, pool_kinds):
    return "ckv" in restored and "recurrent" not in restored

# %% 6d no-draft
# says: The draft's pool is addressed by locs as well: it must come back.
# asks: By which ids does a draft read its keys?
# family: M7
def restore_is_complete(restored, pool_kinds):
    return restored - {"draft"} == pool_kinds - {"recurrent", "draft"}

# %% 6d no-index-k
# says: index-K is replicated, and still read by loc: it must come back.
# asks: Whose keys would top-k see at the new locs?
# family: M7
def restore_is_complete(restored, pool_kinds):
    return restored - {"index_k"} == pool_kinds - {"recurrent", "index_k"}

# %% 6d fixed-set
# says: Only what this server has must be there: not every one has a draft.
# asks: What must come back on a server with c-KV only?
def restore_is_complete(restored, pool_kinds):
    return restored == {"ckv", "index_k", "draft"}

# %% 6d fixed-pair
# says: c-KV and index-K are asked for whatever the server has.
# asks: Which kinds does this server have?
def restore_is_complete(restored, pool_kinds):
    return restored == {"ckv", "index_k"}

# %% 6d no-state
# says: Only recurrent state is looked at; something may still be missing.
# asks: What is left of a request whose c-KV did not come back?
def restore_is_complete(restored, pool_kinds):
    return "recurrent" not in restored

# %% 6d something
# says: A part of it is taken for all of it.
# asks: Which pools would be read stale?
def restore_is_complete(restored, pool_kinds):
    return bool(restored) and restored <= pool_kinds - {"recurrent"}

# %% 6d count
# says: Numbers are compared, and one kind can stand for another.
# asks: Is it the same three that were written?
def restore_is_complete(restored, pool_kinds):
    return len(restored) == len(pool_kinds) - ("recurrent" in pool_kinds)

# %% 6d inverted
# says: True and False are swapped.
# asks: What does True say of a restore?
def restore_is_complete(restored, pool_kinds):
    return restored != pool_kinds - {"recurrent"}

# %% 6d always
# says: Every restore passes: something that is missing is read stale.
# asks: What lies at the new locs, if nothing was written there?
def restore_is_complete(restored, pool_kinds):
    return True

# %% 6d never
# says: No restore passes here, complete ones neither.
# asks: What is missing from c-KV, on a server that has only c-KV?
def restore_is_complete(restored, pool_kinds):
    return False

# %% 6d missing
# says: A set came out, of what is missing; a bool is asked for.
# asks: What is bool(set())?
def restore_is_complete(restored, pool_kinds):
    return pool_kinds - {"recurrent"} - restored

# %% 6d changes
# says: The server's set was changed: the next restore finds no recurrent state.
# asks: What does set.discard do with its set?
# outcome: unsafe
def restore_is_complete(restored, pool_kinds):
    pool_kinds.discard("recurrent")
    return restored == pool_kinds

# %% 6d raises
# says: remove() raises where the server has no recurrent state.
# asks: What does discard do that remove does not?
# outcome: crashed
def restore_is_complete(restored, pool_kinds):
    kinds = set(pool_kinds)
    kinds.remove("recurrent")
    return restored == kinds

# %% 6d loop
# outcome: passed
def restore_is_complete(restored, pool_kinds):
    for kind in ("ckv", "index_k", "draft"):
        if kind in pool_kinds and kind not in restored:
            return False
    return "recurrent" not in restored

# %% 6d each
# outcome: passed
def restore_is_complete(restored, pool_kinds):
    by_locs = {"ckv", "index_k", "draft"} & pool_kinds
    return by_locs.issubset(restored) and not restored - by_locs

# %% 6d difference
# outcome: passed
def restore_is_complete(restored, pool_kinds):
    return pool_kinds.difference({"recurrent"}) ^ restored == set()
