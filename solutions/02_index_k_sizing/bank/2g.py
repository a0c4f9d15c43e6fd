# Answers to 2g: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 2g whole-index-k
# says: This is all of index-K; one copy was paid for before, D - 1 are extra.
# asks: How many copies are there without DCP?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size * dcp_size

# %% 2g one-layer
# says: This is the bill of one layer; every DSA layer has an index-K of its own.
# asks: How many index-K buffers does a rank have?
def index_k_extra_bytes(layers, size, dcp_size):
    return 132 * size * (dcp_size - 1)

# %% 2g no-scales
# says: A slot is a key of 128 bytes and a scale of 4: the scales are forgotten.
# asks: How long is a page of 64 slots?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 128 * size * (dcp_size - 1)

# %% 2g shared-out
# says: The extra is not shared out over the ranks: every rank pays all of it.
# asks: Which part of index-K does rank 3 have?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size * (dcp_size - 1) // dcp_size

# %% 2g no-copies
# says: One more copy is counted; each rank has slots for the locs of all D ranks.
# asks: How many locs are there for each row of a rank?
# family: M10
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size

# %% 2g float-bytes
# says: Bytes are counted in whole numbers; this gives a float.
# asks: Which operation leaves the integers here?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132.0 * size * (dcp_size - 1)

# %% 2g gigabytes
# says: This is in gigabytes; bytes are asked for.
# asks: In which unit does an allocator count?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size * (dcp_size - 1) / 1e9

# %% 2g gain-d
# says: index-K was charged once, but every rank keeps a copy for all D: it is not D.
# asks: What does one more row cost a rank in index-K?
# family: M10
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    return float(dcp_size)

# %% 2g gain-d-int
# says: The gain is not D: index-K is not split. And it is a ratio, a float.
# asks: What does one more row cost a rank in index-K?
# family: M10
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    return dcp_size

# %% 2g gain-inverse
# says: The ratio is upside down: with DCP a server holds more tokens, not fewer.
# asks: Which of the two counts stands above the line?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return (c + dcp_size * k) / (dcp_size * (c + k))

# %% 2g gain-one-rank
# says: This compares the rows of one rank; the tokens of all D ranks are held.
# asks: How many tokens does one row of every rank make?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return (c + k) / (c + dcp_size * k)

# %% 2g gain-free-before
# says: Without DCP there is an index-K too: one copy of it.
# asks: What does one row cost without DCP?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * c / (c + dcp_size * k)

# %% 2g gain-extra-only
# says: With DCP a rank pays for D copies in all, not for D - 1.
# asks: Is the first copy free when there are others?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * (c + k) / (c + (dcp_size - 1) * k)

# %% 2g gain-no-scales
# says: A slot is a key of 128 bytes and a scale of 4: the scales are forgotten.
# asks: How long is a page of 64 slots?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 128
    return dcp_size * (c + k) / (c + dcp_size * k)

# %% 2g gain-layers
# says: The two layer counts are mixed up: not every layer with c-KV has an indexer.
# asks: How many layers have an index-K, and how many a c-KV?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = index_layers * row_bytes, ckv_layers * 132
    return dcp_size * (c + k) / (c + dcp_size * k)

# %% 2g gain-one-layer
# says: This compares one layer of each: where few layers have an indexer it is too low.
# asks: How many layers have an index-K, and how many a c-KV?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    return dcp_size * (row_bytes + 132) / (row_bytes + dcp_size * 132)

# %% 2g gain-whole
# says: The division drops what is behind the point: 4.446 becomes 4.
# asks: Which division keeps the fraction?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return float(dcp_size * (c + k) // (c + dcp_size * k))

# %% 2g gain-rounded
# says: The result is rounded: two places are for people, not for a planner.
# asks: Who rounds, and when?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return round(dcp_size * (c + k) / (c + dcp_size * k), 2)

# %% 2g gain-ckv-split
# says: c-KV is divided by D twice: a row holds one token already, of D.
# asks: What does one row of c-KV cost, and for how many tokens is it?
# family: M6
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * (c + k) / (c / dcp_size + dcp_size * k)

# %% 2g no-scales-twice
# says: A slot is a key of 128 bytes and a scale of 4: the scales are forgotten.
# asks: What belongs to a slot besides its key?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 128 * size * (dcp_size - 1)

def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 128
    return dcp_size * (c + k) / (c + dcp_size * k)

# %% 2g gain-both-ways
# says: c-KV is counted by the token and index-K by the row: take both by one of them.
# asks: What does one token cost a rank in c-KV, and what in index-K?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return (c + k) / (c / dcp_size + dcp_size * k)

# %% 2g gain-costs-over-costs
# says: This is how much dearer a row becomes; asked for is how many more tokens fit.
# asks: How many tokens does one row of every rank make, and for which price?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return (c + dcp_size * k) / (c + k)

# %% 2g per-token
# outcome: passed
SLOT = 128 + 4

def index_k_extra_bytes(layers, size, dcp_size):
    replicated, once = SLOT * size * dcp_size, SLOT * size
    return layers * (replicated - once)

def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    without = ckv_layers * row_bytes + index_layers * SLOT
    with_dcp = ckv_layers * row_bytes / dcp_size + index_layers * SLOT
    return without / with_dcp

# %% 2g fractions
# outcome: passed
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = Fraction(ckv_layers * row_bytes), Fraction(index_layers * 132)
    return float((c + k) * dcp_size / (c + k * dcp_size))

# %% 2g at-equal-memory
# outcome: passed
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    memory = 1e12
    without = memory / (ckv_layers * row_bytes + index_layers * 132)
    rows = memory / (ckv_layers * row_bytes + dcp_size * index_layers * 132)
    return dcp_size * rows / without

# %% 2g gainint
# says: The gain is cut to a whole number; it is a ratio.
# asks: Which division keeps what is behind the point?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * size * (dcp_size - 1) * 132

def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    without = ckv_layers * row_bytes + index_layers * 132
    with_dcp = ckv_layers * row_bytes + index_layers * 132 * dcp_size
    return dcp_size * without // with_dcp

# %% 2g gainlayers
# says: Each c-KV layer is charged an index-K; only index_layers of them have one.
# asks: How many layers have an indexer, if 21 of 78 do?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * size * (dcp_size - 1) * 132

def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    without = ckv_layers * row_bytes + index_layers * 132
    with_dcp = ckv_layers * row_bytes + ckv_layers * 132 * dcp_size
    return dcp_size * without / with_dcp

# %% 2g 128gain
# says: With DCP a slot is charged 128 bytes: the scale of 4 is forgotten.
# asks: How many bytes has one slot of index-K?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * size * (dcp_size - 1) * 132

def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    without = ckv_layers * row_bytes + index_layers * 132
    with_dcp = ckv_layers * row_bytes + index_layers * 128 * dcp_size
    return dcp_size * without / with_dcp

# %% 2g gainround
# says: The result is rounded; it is asked for as it is.
# asks: Who needs three digits only?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * size * (dcp_size - 1) * 132

def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    without = ckv_layers * row_bytes + index_layers * 132
    with_dcp = ckv_layers * row_bytes + index_layers * 132 * dcp_size
    return round(dcp_size * without / with_dcp, 3)
