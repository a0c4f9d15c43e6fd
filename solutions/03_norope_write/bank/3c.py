# Answers to 3c: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 3c always
# says: Every pool localizes here, but the draft is whole on every rank.
# asks: Which of the three pools is split, and which is given locs?
# family: M7
def should_localize(pool_kind, dcp_size):
    return True

# %% 3c never
# says: Nothing localizes: then every rank stores every token, as on the old server.
# asks: Whose rows did the needle test read?
# family: M1
def should_localize(pool_kind, dcp_size):
    return False

# %% 3c sharded-only
# says: Sharding alone decides here; the kind of pool does too.
# asks: Is the draft split when there are eight ranks?
# family: M7
def should_localize(pool_kind, dcp_size):
    return dcp_size > 1

# %% 3c not-draft
# says: The unified pool's ids are rows already: it would be localized twice.
# asks: What does `resolved` say about its ids?
# family: M6
def should_localize(pool_kind, dcp_size):
    return pool_kind != "draft" and dcp_size > 1

# %% 3c not-unified
# says: The draft would drop the tokens of other ranks: it is whole on every rank.
# asks: How many ranks store the draft's row of a loc?
# family: M7
def should_localize(pool_kind, dcp_size):
    return pool_kind != "unified_resolved" and dcp_size > 1

# %% 3c inverted
# says: Inverted: the target is split and given locs, so it is the one.
# asks: Which pool broke on the server of the report?
def should_localize(pool_kind, dcp_size):
    return pool_kind != "target" and dcp_size > 1

# %% 3c draft
# says: Target and draft are mixed up: the draft is whole on every rank.
# asks: Which pool does every rank read by loc?
# family: M7
def should_localize(pool_kind, dcp_size):
    return pool_kind == "draft" and dcp_size > 1

# %% 3c unified
# says: Only the unified pool localizes here, and its ids are rows already.
# asks: What does `resolved` say about its ids?
# family: M6
def should_localize(pool_kind, dcp_size):
    return pool_kind == "unified_resolved" and dcp_size > 1

# %% 3c target-one-rank
# says: With one rank there is nothing to localize: asked for is False.
# asks: What is the owner of every loc when D is 1?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target"

# %% 3c not-draft-one-rank
# says: Neither one rank nor rows that are resolved already need a division.
# asks: Which of the three is split and given locs?
# family: M6
def should_localize(pool_kind, dcp_size):
    return pool_kind != "draft"

# %% 3c not-unified-one-rank
# says: The draft is whole on every rank, and one rank has nothing to divide.
# asks: Which of the three is split and given locs?
# family: M7
def should_localize(pool_kind, dcp_size):
    return pool_kind != "unified_resolved"

# %% 3c more-than-two
# says: Two ranks share the pool too.
# asks: Whose is loc 9 of two ranks?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size > 2

# %% 3c even
# says: Three ranks share the pool too: D need not be even.
# asks: Whose is loc 9 of three ranks?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size % 2 == 0

# %% 3c eight
# says: The number of ranks of the report is not the only one.
# asks: From how many ranks on is a pool split?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size == 8

# %% 3c inverted-size
# says: One rank localizes here and several do not.
# asks: For how many ranks is loc // D another number?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size == 1

# %% 3c an-int
# says: A number came out where True or False is asked for.
# asks: What does `a and b` give when a is True?
def should_localize(pool_kind, dcp_size):
    return pool_kind == "target" and dcp_size - 1

# %% 3c the-size
# says: For the target this gives the number of ranks, not a bool.
# asks: What does `a and b` give when a is True?
def should_localize(pool_kind, dcp_size):
    return dcp_size > 1 and pool_kind == "target" and dcp_size

# %% 3c one-or-zero
# says: 1 and 0 came out; asked for is True or False.
# asks: What is the type of a comparison?
def should_localize(pool_kind, dcp_size):
    return int(pool_kind == "target" and dcp_size > 1)

# %% 3c none
# says: Where it does not localize there is no result at all: None is no bool.
# asks: What does a function return that ends without return?
def should_localize(pool_kind, dcp_size):
    if pool_kind == "target" and dcp_size > 1:
        return True

# %% 3c kind
# says: The name of a pool came out where True or False is asked for.
# asks: What does `a and b` give when a is True?
def should_localize(pool_kind, dcp_size):
    return dcp_size > 1 and pool_kind

# %% 3c tensor
# says: A tensor came out where True or False is asked for.
# asks: What is asked about: one pool, or many locs?
def should_localize(pool_kind, dcp_size):
    return torch.tensor(pool_kind == "target" and dcp_size > 1)

# %% 3c words
# outcome: passed
def should_localize(pool_kind, dcp_size):
    if dcp_size == 1:
        return False
    return pool_kind == "target"

# %% 3c table
# outcome: passed
def should_localize(pool_kind, dcp_size):
    return {"target": dcp_size > 1, "draft": False, "unified_resolved": False}[pool_kind]

# %% 3c not-in
# outcome: passed
def should_localize(pool_kind, dcp_size):
    return dcp_size != 1 and pool_kind not in ("draft", "unified_resolved")

# %% 3c bool
# outcome: passed
def should_localize(pool_kind, dcp_size):
    given_locs, split = pool_kind != "unified_resolved", pool_kind != "draft"
    return bool(given_locs and split and dcp_size - 1)

# %% 3c not
# says: True and False are swapped.
# asks: What does True tell the writer to do?
def should_localize(pool_kind, dcp_size):
    return not (pool_kind == "target" and dcp_size > 1)
