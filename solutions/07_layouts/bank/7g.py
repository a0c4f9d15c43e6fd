# Answers to 7g: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 7g plain
# outcome: passed
def read_ids(token, server):
    loc, req = token["loc"], token["req_pool_idx"]
    d, i = server["dcp_size"], server["interleave"]
    mine = loc // i % d == server["dcp_rank"]
    row = loc // (i * d) * i + loc % i
    return {
        "ckv": row if mine else -1,
        "index_k": loc,
        "kpool": loc // server["kpool"],
        "window": server["window_slot_of"][loc],
        "state": server["state_slot_of"][req],
    }

# %% 7g one-by-one
# outcome: passed
def read_ids(token, server):
    ids = dict(state=server["state_slot_of"][token["req_pool_idx"]], index_k=token["loc"])
    run, place = divmod(ids["index_k"], server["interleave"])
    turn, owner = divmod(run, server["dcp_size"])
    ids["ckv"] = -1
    if owner == server["dcp_rank"]:
        ids["ckv"] = turn * server["interleave"] + place
    ids["kpool"] = (ids["index_k"] - ids["index_k"] % server["kpool"]) // server["kpool"]
    ids["window"] = server["window_slot_of"][ids["index_k"]]
    return ids

# %% 7g ckv-everywhere
# says: Every rank has a row of c-KV here: whose token is it on the others?
# asks: On how many ranks does one token's c-KV lie?
# family: M3
# from: plain
- "ckv": row if mine else -1,
+ "ckv": row,

# %% 7g ckv-loc
# says: c-KV is read by this rank's row, and here by the loc.
# asks: How many rows has a rank, and how large is the largest loc?
# family: M2
# from: plain
- "ckv": row if mine else -1,
+ "ckv": loc if mine else -1,

# %% 7g ckv-raw
# says: c-KV is read by the loc on every rank: no owner, no row.
# asks: Which store is dealt to the ranks?
# family: M1
# from: plain
- "ckv": row if mine else -1,
+ "ckv": loc,

# %% 7g ckv-one-loc
# says: c-KV was localized as if the ranks took turns loc by loc.
# asks: What does interleave say?
# family: M5
def read_ids(token, server):
    loc, d = token["loc"], server["dcp_size"]
    return {
        "ckv": loc // d if loc % d == server["dcp_rank"] else -1,
        "index_k": loc,
        "kpool": loc // server["kpool"],
        "window": server["window_slot_of"][loc],
        "state": server["state_slot_of"][token["req_pool_idx"]],
    }

# %% 7g ckv-by-position
# says: c-KV's row was computed from the position: it is the loc's.
# asks: Where does this request begin?
# from: plain
- row = loc // (i * d) * i + loc % i
+ row = token["position"] // (i * d) * i + token["position"] % i

# %% 7g ckv-none
# says: Where this rank has no row, None came out: -1 says "not here".
# asks: What stands in a table for a kernel where there is nothing?
# from: plain
- "ckv": row if mine else -1,
+ "ckv": row if mine else None,

# %% 7g ckv-zero
# says: Where this rank has no row, 0 came out, which is a real row.
# asks: What stands in a table for a kernel where there is nothing?
# family: M9
# from: plain
- "ckv": row if mine else -1,
+ "ckv": row if mine else 0,

# %% 7g all-localized
# says: The replicated stores were localized too: each rank drops the others' tokens.
# asks: Which stores does every rank have whole?
# family: M7
def read_ids(token, server):
    loc, d, i = token["loc"], server["dcp_size"], server["interleave"]
    row = loc // (i * d) * i + loc % i if loc // i % d == server["dcp_rank"] else -1
    return {
        "ckv": row,
        "index_k": row,
        "kpool": row // server["kpool"] if row >= 0 else -1,
        "window": server["window_slot_of"][row] if row >= 0 else -1,
        "state": server["state_slot_of"][token["req_pool_idx"]],
    }

# %% 7g index-k-row
# says: index-K was localized: it is replicated, and read by loc.
# asks: Which keys does the indexer of one rank score?
# family: M7
# from: plain
- "index_k": loc,
+ "index_k": row if mine else -1,

# %% 7g index-k-divided
# says: index-K was divided: it is replicated, and has a place for every loc.
# asks: How many places has index-K on each rank?
# family: M7
# from: plain
- "index_k": loc,
+ "index_k": row,

# %% 7g index-k-position
# says: index-K is read by loc, and here by the position in the request.
# asks: Two requests have a position 3. Have they one key?
# from: plain
- "index_k": loc,
+ "index_k": token["position"],

# %% 7g kpool-loc
# says: A pooled key stands for several tokens, and here each token has its own.
# asks: How many pooled keys are there, if 4 tokens share one?
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": loc,

# %% 7g kpool-place
# says: This is the token's place in its group, and not the number of the group.
# asks: Do two neighbours in one group read one pooled key?
# family: M4
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": loc % server["kpool"],

# %% 7g kpool-position
# says: Groups were counted in the request: the store counts those of all requests.
# asks: Where do this request's pooled keys begin?
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": token["position"] // server["kpool"],

# %% 7g kpool-row
# says: Groups were counted in this rank's rows: pooled keys are replicated.
# asks: Which tokens go into one pooled key: this rank's, or the request's neighbours?
# family: M7
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": row // server["kpool"],

# %% 7g kpool-ranks
# says: Pooled keys were shared out over the ranks: each has all of them.
# asks: Which of this server's numbers has a pooled key to do with?
# family: M7
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": loc // server["kpool"] // d,

# %% 7g kpool-first
# says: This is the first loc of the group, and not the number of the group.
# asks: By how much do the numbers of two neighbouring groups differ?
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": loc // server["kpool"] * server["kpool"],

# %% 7g window-loc
# says: The window has a pool of its own: a loc is not its slot.
# asks: What does window_slot_of say of this loc?
# family: M1
# from: plain
- "window": server["window_slot_of"][loc],
+ "window": loc,

# %% 7g window-position
# says: The window's table is asked by loc, and here by position.
# asks: By what is window_slot_of indexed?
# from: plain
- "window": server["window_slot_of"][loc],
+ "window": server["window_slot_of"][token["position"]],

# %% 7g window-row
# says: The window's table is asked by loc, and here by this rank's row.
# asks: By what is window_slot_of indexed?
# family: M7
# from: plain
- "window": server["window_slot_of"][loc],
+ "window": server["window_slot_of"][row],

# %% 7g window-localized
# says: The window's slot was localized: its pool is replicated.
# asks: Which tokens of the window does each rank have?
# family: M6
# from: plain
- "window": server["window_slot_of"][loc],
+ "window": server["window_slot_of"][loc] if mine else -1,

# %% 7g window-clamped
# says: Where the window has passed, -1 became slot 0, which is somebody's.
# asks: What must a reader see of a token that the window has left behind?
# family: M8
# from: plain
- "window": server["window_slot_of"][loc],
+ "window": max(server["window_slot_of"][loc], 0),

# %% 7g state-req
# says: The request's place in the tables is not yet its state's slot.
# asks: What does state_slot_of say of this request?
# family: M1
# from: plain
- "state": server["state_slot_of"][req],
+ "state": req,

# %% 7g state-loc
# says: A state belongs to a request; its table was asked by something of a token's.
# asks: By what is state_slot_of indexed?
# from: plain
- "state": server["state_slot_of"][req],
+ "state": server["state_slot_of"][loc % len(server["state_slot_of"])],

# %% 7g state-divided
# says: The state's slot was divided: a request continues from another's state.
# asks: Over how many ranks are states shared out?
# family: M6
# from: plain
- "state": server["state_slot_of"][req],
+ "state": server["state_slot_of"][req] // d,

# %% 7g state-localized
# says: The state was given to one rank only: every rank has one of each request.
# asks: Over how many ranks are states shared out?
# family: M6
# from: plain
- "state": server["state_slot_of"][req],
+ "state": server["state_slot_of"][req] if server["state_slot_of"][req] % d == server["dcp_rank"] else -1,

# %% 7g tables-swapped
# says: The two tables were exchanged: one is asked by loc, one by request.
# asks: How many entries has a table by req_pool_idx?
# outcome: wrong
# from: plain
- "window": server["window_slot_of"][loc],
- "state": server["state_slot_of"][req],
+ "window": server["state_slot_of"][req],
+ "state": server["window_slot_of"][loc],

# %% 7g empty-state
# says: One store has no id yet: all five are asked for.
# asks: By what is state_slot_of indexed?
# from: plain
- "state": server["state_slot_of"][req],
+ "state": None,

# %% 7g a-list
# says: A list came out; a dict says which id is whose.
# asks: Which names are the keys?
def read_ids(token, server):
    loc, d, i = token["loc"], server["dcp_size"], server["interleave"]
    row = loc // (i * d) * i + loc % i if loc // i % d == server["dcp_rank"] else -1
    state = server["state_slot_of"][token["req_pool_idx"]]
    return [row, loc, loc // server["kpool"], server["window_slot_of"][loc], state]

# %% 7g floats
# says: / makes a float of an int: ids are ints.
# asks: Which operator divides two ints and gives an int?
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": float(loc // server["kpool"]),

# %% 7g page-width
# says: The row was taken in runs of another size: I is interleave, not kpool.
# asks: Which number says how many neighbours stay on one rank?
# from: plain
- d, i = server["dcp_size"], server["interleave"]
+ d, i = server["dcp_size"], server["kpool"]

# %% 7g ckv-row-of-one
# says: c-KV's owner is right; its row is that of I = 1.
# asks: Locs 0 and 1 are both rank 0's. In which rows?
# from: plain
- row = loc // (i * d) * i + loc % i
+ row = loc // d

# %% 7g ckv-owner-of-one
# says: c-KV's row is right; its owner is that of I = 1.
# asks: Who has loc 1, if two neighbours go to rank 0?
# from: plain
- mine = loc // i % d == server["dcp_rank"]
+ mine = loc % d == server["dcp_rank"]

# %% 7g position-for-loc
# says: The position was taken for the loc: a request does not begin at loc 0.
# asks: Two requests have a position 3. Have they one loc?
# from: plain
- loc, req = token["loc"], token["req_pool_idx"]
+ loc, req = token["position"], token["req_pool_idx"]

# %% 7g kpool-four
# says: 4 is written in it: kpool says how many tokens share a pooled key.
# asks: How many tokens share a pooled key on this server?
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": loc // 4,

# %% 7g kpool-by-ranks
# says: Locs were divided by D: kpool says how many tokens share a pooled key.
# asks: Which of this server's numbers has a pooled key to do with?
# from: plain
- "kpool": loc // server["kpool"],
+ "kpool": loc // d,

# %% 7g window-passed-loc
# says: Where the window has passed, the loc came out: -1 says so.
# asks: What must a reader see of a token that the window has left behind?
# from: plain
- "window": server["window_slot_of"][loc],
+ "window": loc if server["window_slot_of"][loc] < 0 else server["window_slot_of"][loc],

# %% 7g state-on-owner
# says: The state was given to the owner only: every rank has one of each request.
# asks: Over how many ranks are states shared out?
# from: plain
- "state": server["state_slot_of"][req],
+ "state": server["state_slot_of"][req] if mine else -1,

# %% 7g no-state
# says: One of the five keys is missing: the state.
# asks: How many ids does a token have here?
# from: plain
- "state": server["state_slot_of"][req],

# %% 7g one-more
# says: A key came out that nobody asked for: five are.
# asks: Which names are the keys?
# from: plain
- "state": server["state_slot_of"][req],
+ "state": server["state_slot_of"][req],
+ "loc": loc,

# %% 7g all-passed
# says: Where the window has passed, all became -1: others have the token still.
# asks: Which store lets go of a token when the window has passed?
def read_ids(token, server):
    loc, d, i = token["loc"], server["dcp_size"], server["interleave"]
    names = "ckv", "index_k", "kpool", "window", "state"
    window = server["window_slot_of"][loc]
    if window < 0:
        return dict.fromkeys(names, -1)
    row = loc // (i * d) * i + loc % i if loc // i % d == server["dcp_rank"] else -1
    return dict(zip(names, (row, loc, loc // server["kpool"], window, server["state_slot_of"][token["req_pool_idx"]])))

# %% 7g index-k-owned
# says: index-K was asked of the owner alone: it is replicated, and every rank has all.
# asks: Which ranks score a token's key?
# from: plain
- "index_k": loc,
+ "index_k": loc if mine else -1,
