# Answers to 4e: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 4e mixed-as-decode
# says: A mixed batch gathers too: PAGED ids would point past its small workspace.
# asks: Which buffer does attention read in a mixed batch?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded and mode == "extend" else "PAGED"

# %% 4e extend-as-decode
# says: Only mixed is RAGGED here: a pure extend gathers just as well.
# asks: Where does an extend read its prefix when c-KV is sharded?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded and mode == "mixed" else "PAGED"

# %% 4e never
# says: PAGED for all: where a workspace was gathered, a loc is no index of it.
# asks: Which buffer does attention read in a sharded extend?
def choose_transform(mode, dcp_sharded):
    return "PAGED"

# %% 4e sharded-means-ragged
# says: decode and target_verify read the pool and merge: nothing is gathered there.
# asks: Which batches have a workspace?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded else "PAGED"

# %% 4e always
# says: RAGGED for all: a batch that gathers nothing has no ragged buffer.
# asks: Which batches have a workspace?
def choose_transform(mode, dcp_sharded):
    return "RAGGED"

# %% 4e sharding-ignored
# says: Without sharding every rank has the whole prefix: nothing is gathered.
# asks: What would a rank gather that has everything?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if mode in ("extend", "mixed") else "PAGED"

# %% 4e extend-always
# says: Nearly: an extend gathers only where c-KV is sharded, as a mixed batch does.
# asks: What would a rank gather that has everything?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if mode == "extend" or (mode == "mixed" and dcp_sharded) else "PAGED"

# %% 4e mixed-always
# says: Nearly: a mixed batch gathers only where c-KV is sharded, as an extend does.
# asks: What would a rank gather that has everything?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if mode == "mixed" or (mode == "extend" and dcp_sharded) else "PAGED"

# %% 4e verify-as-extend
# says: target_verify has several rows a request, but it reads the pool and merges.
# asks: What does target_verify do with the ranks' partial outputs?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded and mode != "decode" else "PAGED"

# %% 4e unsharded-extend-only
# says: Upside down: it is the sharded extend that gathers.
# asks: Who has to fetch a prefix from other ranks?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if not dcp_sharded and mode in ("extend", "mixed") else "PAGED"

# %% 4e inverted
# says: The two names are mixed up: RAGGED points into the workspace, PAGED to slots.
# asks: What does a PAGED id count?
# family: M4
def choose_transform(mode, dcp_sharded):
    return "PAGED" if dcp_sharded and mode in ("extend", "mixed") else "RAGGED"

# %% 4e unsharded-gathers
# says: PAGED only where ranks merge: without sharding nothing is gathered either.
# asks: What would a rank gather that has everything?
def choose_transform(mode, dcp_sharded):
    return "PAGED" if dcp_sharded and mode in ("decode", "target_verify") else "RAGGED"

# %% 4e decode-gathers
# says: It is decode that merges and extend that gathers.
# asks: Which of the two has so many queries that gathering keys is cheaper?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded and mode in ("decode", "target_verify") else "PAGED"

# %% 4e as-upstream-was
# says: RAGGED by mode alone, and for pure extend only: that is not what is asked.
# asks: What has sharding to do with it?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if mode == "extend" else "PAGED"

# %% 4e lower-case
# says: The names are written in capitals.
# asks: How does the caller compare the two strings?
def choose_transform(mode, dcp_sharded):
    return "ragged" if dcp_sharded and mode in ("extend", "mixed") else "paged"

# %% 4e bool
# says: This says whether it is RAGGED; the name of the transform was asked for.
# asks: What does the caller compare your result with?
def choose_transform(mode, dcp_sharded):
    return dcp_sharded and mode in ("extend", "mixed")

# %% 4e none
# says: Where nothing is gathered nothing comes out: a return is missing.
# asks: What does a function return that ends without a return?
def choose_transform(mode, dcp_sharded):
    if dcp_sharded and mode in ("extend", "mixed"):
        return "RAGGED"

# %% 4e both
# says: A mixed batch has one buffer and so one transform, not one for each half.
# asks: How many workspaces has a mixed batch?
def choose_transform(mode, dcp_sharded):
    if dcp_sharded and mode == "mixed":
        return ("RAGGED", "PAGED")
    return "RAGGED" if dcp_sharded and mode == "extend" else "PAGED"

# %% 4e refuses-mixed
# says: mixed is a legal batch: refusing it stops the server.
# asks: What is in a mixed batch?
# outcome: crashed
def choose_transform(mode, dcp_sharded):
    return {"decode": "PAGED", "target_verify": "PAGED", "extend": "RAGGED" if dcp_sharded else "PAGED"}[mode]

# %% 4e sharded-or-extend
# says: RAGGED needs both, a sharded c-KV and a batch that extends; here one is enough.
# asks: Does a decode step gather a workspace?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded or mode in ("extend", "mixed") else "PAGED"

# %% 4e sets
# outcome: passed
def choose_transform(mode, dcp_sharded):
    if mode in {"decode", "target_verify"} or not dcp_sharded:
        return "PAGED"
    return "RAGGED"

# %% 4e match
# outcome: passed
def choose_transform(mode, dcp_sharded):
    match mode, dcp_sharded:
        case ("extend" | "mixed"), True:
            return "RAGGED"
        case ("extend" | "mixed" | "decode" | "target_verify"), _:
            return "PAGED"
    raise ValueError(f"there is no mode called {mode}")

# %% 4e table
# outcome: passed
TRANSFORMS = {"extend": ("PAGED", "RAGGED"), "mixed": ("PAGED", "RAGGED")}

def choose_transform(mode, dcp_sharded):
    return TRANSFORMS.get(mode, ("PAGED", "PAGED"))[bool(dcp_sharded)]

# %% 4e index
# outcome: passed
def choose_transform(mode, dcp_sharded):
    gathers = ("extend", "mixed").count(mode) and dcp_sharded
    return ["PAGED", "RAGGED"][int(bool(gathers))]
