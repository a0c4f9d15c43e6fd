# Answers to 1c: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 1c raw
# says: These are still the global locs: nothing selected an owner.
# asks: If every rank keeps every loc, what did sharding save?
# family: M1
def localize(locs, dcp_rank, dcp_size):
    return locs.clone()

# %% 1c no-divide
# says: You kept the right locs but did not divide: these are locs still, and no rows.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs % dcp_size == dcp_rank, locs, -1)

# %% 1c no-filter
# says: D different locs now share one row: nothing selected an owner.
# asks: Which rank should answer for loc 5, and what should the others say?
# family: M3
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs >= 0, locs // dcp_size, -1)

# %% 1c swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs // dcp_size == dcp_rank, locs % dcp_size, -1)

# %% 1c pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 0 and 1 are in one page. Do they have one owner?
# family: M5
def localize(locs, dcp_rank, dcp_size):
    return torch.where((locs >= 0) & (locs // 64 % dcp_size == dcp_rank), locs // dcp_size, -1)

# %% 1c groups
# says: This gives D neighbours to one rank; interleaved, they go to D ranks.
# asks: With four ranks, who stores loc 1 and who stores loc 2?
# family: M5
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs // dcp_size % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)

# %% 1c twice
# says: Divided twice: the result of a localize was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size // dcp_size, -1)

# %% 1c padding-truncated
# says: Padding is being treated as a token on rank D-1: -1 became row 0 there.
# asks: What is -1 % 4 in torch, and what is -1 / 4 rounded towards zero?
# family: M8
def localize(locs, dcp_rank, dcp_size):
    rows = torch.div(locs, dcp_size, rounding_mode="trunc")
    return torch.where(locs % dcp_size == dcp_rank, rows, -1)

# %% 1c padding-clamped
# says: Padding was turned into loc 0, which is a real slot of rank 0.
# asks: After the clamp, can you still tell loc 0 from padding?
# family: M8
def localize(locs, dcp_rank, dcp_size):
    locs = locs.clamp(min=0)
    return torch.where(locs % dcp_size == dcp_rank, locs // dcp_size, -1)

# %% 1c zero-for-holes
# says: A loc of another rank became row 0, and row 0 is a real row.
# asks: How does the reader tell "not here" from row 0?
# family: M9
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, 0)

# %% 1c zero-unguarded
# says: A loc of another rank became row 0, and row 0 is a real row.
# asks: How does the reader tell "not here" from row 0?
# family: M9
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs % dcp_size == dcp_rank, locs // dcp_size, 0)

# %% 1c loc-zero
# says: Loc 0 was taken for padding; for a mapping it is a loc like any other.
# asks: Is 0 negative?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs > 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)

# %% 1c compacted
# says: The holes are gone: every entry must keep its place, with -1 for others.
# asks: Which query position does the second entry of the result belong to?
def localize(locs, dcp_rank, dcp_size):
    return locs[(locs >= 0) & (locs % dcp_size == dcp_rank)] // dcp_size

# %% 1c compacted-unguarded
# says: The holes are gone: every entry must keep its place, with -1 for others.
# asks: Which query position does the second entry of the result belong to?
def localize(locs, dcp_rank, dcp_size):
    return locs[locs % dcp_size == dcp_rank] // dcp_size

# %% 1c strided
# says: You took every D-th entry of the table; owners depend on the loc instead.
# asks: Does the entry at place r of any table belong to rank r?
def localize(locs, dcp_rank, dcp_size):
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 1c by-position
# says: The owner was taken from the entry's place in the table, not its loc.
# asks: In a shuffled table, what does the place of an entry say?
def localize(locs, dcp_rank, dcp_size):
    place = torch.arange(locs.numel(), device=locs.device).reshape(locs.shape)
    owned = (locs >= 0) & (place % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)

# %% 1c rank-from-one
# says: You count ranks from 1: this is the row of the rank before.
# asks: Which rank owns loc 0?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank - 1)
    return torch.where(owned, locs // dcp_size, -1)

# %% 1c other-ranks
# says: The filter is upside down: you kept what the other ranks own.
# asks: For which entries does your mask hold?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size != dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)

# %% 1c bits
# says: Bit mask and shift are right only where dcp_size is a power of two.
# asks: Which bits of a loc say who owns it when there are three ranks?
def localize(locs, dcp_rank, dcp_size):
    shift = dcp_size.bit_length() - 1
    return torch.where(locs & (dcp_size - 1) == dcp_rank, locs >> shift, -1)

# %% 1c float32
# says: The row goes through float32, which is exact only below 2^24.
# asks: Which division never leaves the integers?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, (locs / dcp_size).floor().to(locs.dtype), -1)

# %% 1c float32-owner
# says: The owner is computed in float32, which is exact only below 2^24.
# asks: What is 16777217 in float32, and who owns it then?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (torch.remainder(locs.float(), dcp_size) == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)

# %% 1c float64
# says: The row goes through float64, which is exact only below 2^53.
# asks: Which division never leaves the integers?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, (locs.double() / dcp_size).floor().to(locs.dtype), -1)

# %% 1c padding-float
# says: The cast rounds towards zero: on rank D-1 padding became row 0.
# asks: What does .long() make of -0.25?
# family: M8
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs % dcp_size == dcp_rank, (locs / dcp_size).to(locs.dtype), -1)

# %% 1c int32
# says: Locs were cut to 32 bits before anything else.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
def localize(locs, dcp_rank, dcp_size):
    short = locs.int()
    owned = (short >= 0) & (short % dcp_size == dcp_rank)
    return torch.where(owned, short // dcp_size, -1).to(locs.dtype)

# %% 1c narrow
# says: The result was cut to int32 where the locs are int64: past 2^31 rows wrap.
# asks: How large can a row be if a loc is an int64?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1).to(torch.int32)

# %% 1c widen
# says: The result is int64 where the locs are int32.
# asks: Which dtype has the -1 that you put in?
def localize(locs, dcp_rank, dcp_size):
    rows = torch.full(locs.shape, -1, device=locs.device)
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    rows[owned] = locs[owned].long() // dcp_size
    return rows

# %% 1c true-divide
# says: The result is a float: a row must be an integer.
# asks: Which division drops the remainder?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs / dcp_size, -1.0)

# %% 1c true-divide-unguarded
# says: The result is a float: a row must be an integer.
# asks: Which division drops the remainder?
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs % dcp_size == dcp_rank, locs / dcp_size, -1)

# %% 1c loop
# says: The loop takes one-dimensional tensors only.
# asks: What does tolist() give for a table of two rows, or for a single loc?
# outcome: crashed
def localize(locs, dcp_rank, dcp_size):
    rows = [x // dcp_size if x >= 0 and x % dcp_size == dcp_rank else -1 for x in locs.tolist()]
    return torch.tensor(rows, dtype=locs.dtype, device=locs.device)

# %% 1c view
# says: This works only for a contiguous tensor; a table may be a strided view.
# asks: What does .view() need of a tensor, and do you need it here?
# outcome: crashed
def localize(locs, dcp_rank, dcp_size):
    flat = locs.view(-1)
    owned = (flat >= 0) & (flat % dcp_size == dcp_rank)
    return torch.where(owned, flat // dcp_size, -1).view(locs.shape)

# %% 1c flatten
# says: The rows are right, but the table lost its shape.
# asks: What shape has the input, and what shape the result?
def localize(locs, dcp_rank, dcp_size):
    flat = locs.flatten()
    return torch.where((flat >= 0) & (flat % dcp_size == dcp_rank), flat // dcp_size, -1)

# %% 1c list
# says: A tensor went in and a list came out.
# asks: What will index a pool with this result?
def localize(locs, dcp_rank, dcp_size):
    flat = locs.flatten().tolist()
    return [x // dcp_size if x >= 0 and x % dcp_size == dcp_rank else -1 for x in flat]

# %% 1c in-place
# says: This writes -1 into the caller's table; the next rank finds nothing there.
# asks: What does the other consumer of this table, index-K, read now?
# outcome: unsafe
def localize(locs, dcp_rank, dcp_size):
    locs[locs % dcp_size != dcp_rank] = -1
    return locs // dcp_size

# %% 1c one-rank
# says: With one rank you hand back the caller's own tensor, not a new one.
# asks: What happens to req_to_token when somebody changes your result?
# outcome: unsafe
def localize(locs, dcp_rank, dcp_size):
    if dcp_size == 1:
        return locs
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)

# %% 1c four
# says: 4 is written in it: dcp_size says how many ranks there are.
# asks: Who owns loc 4 when there are six ranks?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % 4 == dcp_rank)
    return torch.where(owned, locs // 4, -1)

# %% 1c guard
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)

# %% 1c unguarded-floor
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs % dcp_size == dcp_rank, locs // dcp_size, -1)

# %% 1c mask-assign
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    rows = torch.div(locs, dcp_size, rounding_mode="floor")
    rows[locs % dcp_size != dcp_rank] = -1
    return rows

# %% 1c full-then-fill
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    rows = torch.full_like(locs, -1)
    owned = (locs % dcp_size == dcp_rank) & (locs != -1)
    rows[owned] = locs[owned] // dcp_size
    return rows

# %% 1c masked-fill
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    return (locs // dcp_size).masked_fill((locs < 0) | (locs % dcp_size != dcp_rank), -1)

# %% 1c fmod-and-truncation
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    owned = (torch.fmod(locs, dcp_size) == dcp_rank) & (locs > -1)
    return torch.where(owned, torch.div(locs, dcp_size, rounding_mode="trunc"), torch.full_like(locs, -1))

# %% 1c exact-quotient
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    rows = (locs - dcp_rank) // dcp_size
    return torch.where((rows * dcp_size + dcp_rank == locs) & (locs >= 0), rows, -1)

# %% 1c arithmetic
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    owned = ((locs >= 0) & (locs % dcp_size == dcp_rank)).to(locs.dtype)
    return (locs // dcp_size + 1) * owned - 1

# %% 1c one-by-one
# outcome: passed
ABSENT = -1

def one(loc, rank, size):
    return loc // size if loc != ABSENT and loc % size == rank else ABSENT

def localize(locs, dcp_rank, dcp_size):
    rows = [one(loc, dcp_rank, dcp_size) for loc in locs.flatten().tolist()]
    return torch.tensor(rows, dtype=locs.dtype, device=locs.device).reshape(locs.shape)

# %% 1c keeploc
# says: Locs of other ranks were kept as they were: they must become -1.
# asks: What would the kernel read at a loc that is left standing?
def localize(locs, dcp_rank, dcp_size):
    return torch.where((locs >= 0) & (locs % dcp_size == dcp_rank), locs // dcp_size, locs)

# %% 1c minusrank
# says: The rank was taken away, but nothing was divided: rows have no gaps of D.
# asks: Which rows do a rank's locs 2, 6 and 10 stand in?
def localize(locs, dcp_rank, dcp_size):
    return torch.where((locs >= 0) & (locs % dcp_size == dcp_rank), locs - dcp_rank, -1)

# %% 1c loop1d
# says: It goes through the locs one by one: a table has rows, or no dimension at all.
# asks: Does torch have an operation that does all entries at once?
# outcome: crashed
def localize(locs, dcp_rank, dcp_size):
    out = locs.clone()
    for i, l in enumerate(locs):
        out[i] = l // dcp_size if l >= 0 and l % dcp_size == dcp_rank else -1
    return out

# %% 1c prec
# says: Conditions on tensors: each in parentheses, joined by &, never `and` or a chain.
# asks: Which binds tighter in Python, & or >=?
# outcome: crashed
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs >= 0 & locs % dcp_size == dcp_rank, locs // dcp_size, -1)

# %% 1c runs
# says: The locs were cut into D runs, one a rank; the ranks take turns, loc by loc.
# asks: Which ranks store locs 0, 1 and 2 when there are four?
# family: M4
def localize(locs, dcp_rank, dcp_size):
    share = (int(locs.max()) + 1) // dcp_size if locs.numel() else 1
    mine = (locs >= dcp_rank * share) & (locs < (dcp_rank + 1) * share)
    return torch.where(mine, locs - dcp_rank * share, -1)

# %% 1c mask-alone
# says: This says which locs are this rank's; asked for is in which row each is.
# asks: In which row does rank 1 of four keep loc 9?
def localize(locs, dcp_rank, dcp_size):
    return ((locs >= 0) & (locs % dcp_size == dcp_rank)).to(locs.dtype)

# %% 1c mask-as-bool
# says: This says which locs are this rank's; asked for is in which row each is.
# asks: In which row does rank 1 of four keep loc 9?
def localize(locs, dcp_rank, dcp_size):
    return (locs >= 0) & (locs % dcp_size == dcp_rank)

# %% 1c next-rank
# says: The ranks are counted from the wrong one: loc 0 is rank 0's, loc 1 is rank 1's.
# asks: Which rank stores loc 0?
def localize(locs, dcp_rank, dcp_size):
    owned = (locs >= 0) & ((locs + 1) % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1)
