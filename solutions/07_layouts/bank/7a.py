# Answers to 7a: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 7a one-loc
# says: This is lab 01's rule: it deals locs one by one, whatever the interleave.
# asks: Who has loc 1, if two neighbours go to rank 0?
# family: M5
def owner_and_row(loc, dcp_size, interleave):
    return loc % dcp_size, loc // dcp_size

# %% 7a row-of-one
# says: The rank is right; the row is lab 01's, which leaves holes in a run.
# asks: Locs 0 and 1 are both rank 0's. In which rows?
# family: M5
def owner_and_row(loc, dcp_size, interleave):
    return loc // interleave % dcp_size, loc // dcp_size

# %% 7a rank-of-one
# says: The row is right; the rank is lab 01's, who dealt one loc at a time.
# asks: Who has loc 1, if two neighbours go to rank 0?
# family: M5
def owner_and_row(loc, dcp_size, interleave):
    return loc % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a swap
# says: Rank and row are swapped.
# asks: Which of the two comes first, by the docstring?
# family: M4
def owner_and_row(loc, dcp_size, interleave):
    return loc // (interleave * dcp_size) * interleave + loc % interleave, loc // interleave % dcp_size

# %% 7a sizes-swapped
# says: D and I are exchanged: this deals runs of D to I ranks.
# asks: Which of the two says how many neighbours stay together?
def owner_and_row(loc, dcp_size, interleave):
    return loc // dcp_size % interleave, loc // (interleave * dcp_size) * dcp_size + loc % dcp_size

# %% 7a round-only
# says: This is the round, not the row: each run has I rows, and here they share one.
# asks: How many rows does one round give a rank?
# family: M3
def owner_and_row(loc, dcp_size, interleave):
    return loc // interleave % dcp_size, loc // (interleave * dcp_size)

# %% 7a no-place
# says: The place in the run is missing: all locs of a run get its first row.
# asks: By how much do the rows of two neighbours in a run differ?
# family: M3
def owner_and_row(loc, dcp_size, interleave):
    return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave

# %% 7a round-not-widened
# says: Rounds were added and not rounds times I: rows of later rounds overlap.
# asks: How many rows has rank 0 after one round?
def owner_and_row(loc, dcp_size, interleave):
    return loc // interleave % dcp_size, loc // (interleave * dcp_size) + loc % interleave

# %% 7a place-in-round
# says: The place in the whole round was added, not the place in the rank's own run.
# asks: Of the D * I locs of a round, how many has one rank?
def owner_and_row(loc, dcp_size, interleave):
    turn = interleave * dcp_size
    return loc // interleave % dcp_size, loc // turn * interleave + loc % turn

# %% 7a raw
# says: The row is the loc itself: nothing was divided.
# asks: How many rows has a rank, if D ranks share the locs?
# family: M2
def owner_and_row(loc, dcp_size, interleave):
    return loc // interleave % dcp_size, loc + 0

# %% 7a no-wrap
# says: The run's number is no rank: after rank D-1 comes rank 0 again.
# asks: Who has run D?
def owner_and_row(loc, dcp_size, interleave):
    return loc // interleave, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a blocks
# says: The remainder by I is the place in a run, no rank.
# asks: Two neighbours in one run: have they one owner?
# family: M4
def owner_and_row(loc, dcp_size, interleave):
    return loc % interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a in-round
# says: The place in the round was taken for the rank: it must be divided by I too.
# asks: How many places has a round, and how many ranks are there?
def owner_and_row(loc, dcp_size, interleave):
    turn = interleave * dcp_size
    return loc % turn, loc // turn * interleave + loc % interleave

# %% 7a page-64
# says: 64 is written in it: interleave says how many neighbours stay together.
# asks: Who has loc 2 where two neighbours go to a rank?
def owner_and_row(loc, dcp_size, interleave):
    return loc // 64 % dcp_size, loc // (64 * dcp_size) * 64 + loc % 64

# %% 7a from-the-last
# says: The ranks are counted from the last one: the first run is rank 0's.
# asks: Who has loc 0?
def owner_and_row(loc, dcp_size, interleave):
    rank = dcp_size - 1 - loc // interleave % dcp_size
    return rank, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a zigzag
# says: Every second round goes backwards here; each begins with rank 0.
# asks: After rank D-1, whose turn is it?
def owner_and_row(loc, dcp_size, interleave):
    run = loc // interleave
    back = run // dcp_size % 2
    rank = run % dcp_size * (1 - back) + (dcp_size - 1 - run % dcp_size) * back
    return rank, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a bits
# says: Shifts and masks are right only where both sizes are powers of two.
# asks: By how many bits would you shift for runs of five?
def owner_and_row(loc, dcp_size, interleave):
    by = (interleave - 1).bit_length()
    over = (dcp_size - 1).bit_length()
    rank = (loc >> by) & (dcp_size - 1)
    return rank, ((loc >> (by + over)) << by) | (loc & (interleave - 1))

# %% 7a float32
# says: This goes through float32, which loses odd numbers past 2^24.
# asks: Which operator stays in integers?
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    run = (loc / interleave).floor().to(loc.dtype)
    turn = (loc / (interleave * dcp_size)).floor().to(loc.dtype)
    return run % dcp_size, turn * interleave + loc % interleave

# %% 7a float64
# says: This goes through float64, which loses odd numbers past 2^53.
# asks: Which operator stays in integers?
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    run = (loc.double() / interleave).floor().to(loc.dtype)
    turn = (loc.double() / (interleave * dcp_size)).floor().to(loc.dtype)
    return run % dcp_size, turn * interleave + loc % interleave

# %% 7a float-int
# says: / makes a float of an int, and past 2^53 a wrong one.
# asks: Which operator divides two ints and gives an int?
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        turn = int(loc / (interleave * dcp_size))
        return int(loc / interleave) % dcp_size, turn * interleave + loc % interleave
    return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a int32
# says: Locs were cut to 32 bits before they were divided.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
def owner_and_row(loc, dcp_size, interleave):
    narrow = loc if isinstance(loc, int) else loc.int()
    rank, row = narrow // interleave % dcp_size, narrow // (interleave * dcp_size) * interleave + narrow % interleave
    return (rank, row) if isinstance(loc, int) else (rank.to(loc.dtype), row.to(loc.dtype))

# %% 7a narrow
# says: The results were cut to int32 where the locs are int64: past 2^31 rows wrap.
# asks: Who asked for another dtype?
def owner_and_row(loc, dcp_size, interleave):
    rank, row = loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    return (rank, row) if isinstance(loc, int) else (rank.int(), row.int())

# %% 7a widen
# says: The results are int64 where the locs are int32.
# asks: Who asked for another dtype?
def owner_and_row(loc, dcp_size, interleave):
    rank, row = loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    return (rank, row) if isinstance(loc, int) else (rank.long(), row.long())

# %% 7a int-to-tensor
# says: An int went in and tensors came out.
# asks: Do the plain operators not work for both?
def owner_and_row(loc, dcp_size, interleave):
    loc = torch.as_tensor(loc)
    return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a stacked
# says: One tensor came out; a pair is asked for, the rank and the row.
# asks: What does the caller write left of the equals sign?
def owner_and_row(loc, dcp_size, interleave):
    pair = loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    return pair if isinstance(loc, int) else torch.stack(pair)

# %% 7a row-alone
# says: Only the row came out: the rank belongs to it.
# asks: On which rank is this row?
def owner_and_row(loc, dcp_size, interleave):
    return loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a flatten
# says: The numbers are right, but the table lost its shape.
# asks: What shape has the input, and what shape the result?
def owner_and_row(loc, dcp_size, interleave):
    if not isinstance(loc, int):
        loc = loc.flatten()
    return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a view
# says: This works only for a contiguous tensor; a table may be a strided view.
# asks: What does .view() need of a tensor, and do you need it here?
# outcome: crashed
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    runs = loc.view(-1)
    rank, row = runs // interleave % dcp_size, runs // (interleave * dcp_size) * interleave + runs % interleave
    return rank.view(loc.shape), row.view(loc.shape)

# %% 7a tensor-only
# says: This works for a tensor only; a single int must do as well.
# asks: Which operators take both an int and a tensor?
# outcome: crashed
def owner_and_row(loc, dcp_size, interleave):
    rank = torch.remainder(loc.div(interleave, rounding_mode="floor"), dcp_size)
    return rank, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a one-rank
# says: With one rank you hand back the caller's own locs, not a new tensor.
# asks: What becomes of the locs if somebody changes your result?
# outcome: unsafe
def owner_and_row(loc, dcp_size, interleave):
    if dcp_size == 1:
        return loc * 0, loc
    return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave

# %% 7a in-place
# says: This overwrites the caller's locs; the next reader gets runs for locs.
# asks: What does the caller hold after //= on its tensor?
# outcome: unsafe
def owner_and_row(loc, dcp_size, interleave):
    row = loc // (interleave * dcp_size) * interleave + loc % interleave
    loc //= interleave
    return loc % dcp_size, row

# %% 7a digits
# outcome: passed
def owner_and_row(loc, dcp_size, interleave):
    run, place = loc // interleave, loc % interleave
    return run % dcp_size, run // dcp_size * interleave + place

# %% 7a from-the-round
# outcome: passed
def owner_and_row(loc, dcp_size, interleave):
    turn = interleave * dcp_size
    in_turn = loc % turn
    rank = in_turn // interleave
    return rank, (loc - in_turn) // dcp_size + in_turn - rank * interleave

# %% 7a by-type
# outcome: passed
def owner_and_row(loc, dcp_size, interleave):
    if not torch.is_tensor(loc):
        run, place = divmod(loc, interleave)
        turn, rank = divmod(run, dcp_size)
        return rank, turn * interleave + place
    run = torch.div(loc, interleave, rounding_mode="floor")
    return run.remainder(dcp_size), run.div(dcp_size, rounding_mode="floor") * interleave + loc.fmod(interleave)

# %% 7a a-list
# outcome: passed
def owner_and_row(loc, dcp_size, interleave):
    return [loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave]

# %% 7a tolist
# outcome: passed
def owner_and_row(loc, dcp_size, interleave):
    def one(l):
        return l // interleave % dcp_size, l // (interleave * dcp_size) * interleave + l % interleave

    if isinstance(loc, int):
        return one(loc)
    pairs = [one(l) for l in loc.reshape(-1).tolist()]
    return tuple(torch.tensor([p[k] for p in pairs], dtype=loc.dtype, device=loc.device).reshape(loc.shape) for k in (0, 1))

# %% 7a ranks-then-runs
# says: Divided by D first, then by I: a run is cut before it is dealt.
# asks: Which is in one piece, a run of I locs or a group of D?
# family: M5
def owner_and_row(loc, dcp_size, interleave):
    return loc % dcp_size // interleave, loc // dcp_size

# %% 7a place-by-d
# says: The place in the run was taken by D: a run has I places.
# asks: How many rows does one run take?
def owner_and_row(loc, dcp_size, interleave):
    run = loc // interleave
    return run % dcp_size, run // dcp_size * interleave + loc % dcp_size

# %% 7a float32-run
# says: The run goes through float32, which loses odd numbers past 2^24.
# asks: Which operator stays in integers?
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    run = (loc / interleave).floor().to(loc.dtype)
    return run % dcp_size, run // dcp_size * interleave + loc % interleave

# %% 7a float64-run
# says: The run goes through float64, which loses odd numbers past 2^53.
# asks: Which operator stays in integers?
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    run = (loc.double() / interleave).floor().to(loc.dtype)
    return run % dcp_size, run // dcp_size * interleave + loc % interleave

# %% 7a float-floored
# says: / makes floats: they lose locs, and ranks and rows came back as floats.
# asks: Which operator divides two integers and gives one?
def owner_and_row(loc, dcp_size, interleave):
    run = loc / interleave
    run = math.floor(run) if isinstance(loc, int) else run.floor()
    return run % dcp_size, run // dcp_size * interleave + loc % interleave

# %% 7a floored-back
# says: / makes a float of an int and of a tensor: neither holds all locs.
# asks: Which operator divides two integers and gives one?
def owner_and_row(loc, dcp_size, interleave):
    run = loc / interleave
    run = math.floor(run) if isinstance(loc, int) else run.floor().to(loc.dtype)
    return run % dcp_size, run // dcp_size * interleave + loc % interleave

# %% 7a d-as-i
# says: D stands where I belongs: a run has I locs.
# asks: How many neighbours go to one rank?
def owner_and_row(loc, dcp_size, interleave):
    return loc // dcp_size % dcp_size, loc // (dcp_size * dcp_size) * dcp_size + loc % dcp_size

# %% 7a rank-of-round
# says: The rank was taken of the round: in one round every rank has its run.
# asks: How many runs has one round, and whose are they?
def owner_and_row(loc, dcp_size, interleave):
    turn = loc // (interleave * dcp_size)
    return turn % dcp_size, turn * interleave + loc % interleave

# %% 7a wrapped
# says: Rows of 2^31 and more wrapped: they went through int32.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    rank, row = loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    return rank.int().to(loc.dtype), row.int().to(loc.dtype)

# %% 7a owner-into-locs
# says: The ranks are right, but they were written over the caller's locs.
# asks: What does the caller hold when it reads its locs again?
# outcome: unsafe
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    rank, row = loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    loc.copy_(rank)
    return rank, row

# %% 7a locs-as-owner
# says: The ranks came back in the caller's own locs, which are lost.
# asks: What does the caller hold when it reads its locs again?
# outcome: unsafe
def owner_and_row(loc, dcp_size, interleave):
    if isinstance(loc, int):
        return loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    rank, row = loc // interleave % dcp_size, loc // (interleave * dcp_size) * interleave + loc % interleave
    loc.copy_(rank)
    return loc, row
