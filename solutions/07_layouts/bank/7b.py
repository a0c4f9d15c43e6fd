# Answers to 7b: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 7b plain
# outcome: passed
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    turn = row // interleave
    place = row % interleave
    loc = (turn * dcp_size + dcp_rank) * interleave + place
    here = row >= 0
    return torch.where(here, loc, -1)

# %% 7b one-loc
# says: This is lab 01's rule: rows of one rank lie D locs apart only at interleave 1.
# asks: Rank 0 has locs 0 and 1 at I = 2. In which rows, and how far apart?
# family: M5
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    return torch.where(row >= 0, row * dcp_size + dcp_rank, -1)

# %% 7b padding
# says: -1 was computed with: it must stay -1, and only rank D-1 hides that.
# asks: What comes out for -1 on rank 0, and what on rank D-1?
# family: M8
# from: plain
- here = row >= 0
- return torch.where(here, loc, -1)
+ return loc

# %% 7b padding-clamped
# says: Padding was turned into row 0, which is a real row.
# asks: After the clamp, can you still tell row 0 from "not here"?
# family: M8
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    row = row.clamp(min=0)
    return (row // interleave * dcp_size + dcp_rank) * interleave + row % interleave

# %% 7b zero-for-padding
# says: Padding became loc 0, and loc 0 is a real slot.
# asks: What must the next reader see where there is nothing?
# family: M9
# from: plain
- return torch.where(here, loc, -1)
+ return torch.where(here, loc, 0)

# %% 7b row-zero
# says: Row 0 was taken for padding; it is a row like any other.
# asks: Is 0 negative?
# from: plain
- here = row >= 0
+ here = row > 0

# %% 7b no-rank
# says: The rank is missing: every rank names the locs of rank 0.
# asks: Rank 1 has row 0. Which loc is that, if rank 0 has the first I?
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = turn * dcp_size * interleave + place

# %% 7b rank-alone
# says: The rank was added as one loc; its run begins dcp_rank times I later.
# asks: With which loc does rank 1's first run begin?
# family: M5
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = turn * dcp_size * interleave + dcp_rank + place

# %% 7b no-place
# says: The place in the run is missing: the rows of a run all name its first loc.
# asks: By how much do the locs of two neighbouring rows differ, in one run?
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = (turn * dcp_size + dcp_rank) * interleave

# %% 7b row-times
# says: The row itself was widened, and then its place was added once more.
# asks: How many rounds are over before row I?
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = row * dcp_size + dcp_rank * interleave + place

# %% 7b round-not-widened
# says: A round counts I locs here; it is I for each of D ranks.
# asks: How many locs lie between the first rows of two rounds?
# family: M3
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = (turn + dcp_rank) * interleave + place

# %% 7b round-of-d
# says: A round counts D locs here; each rank has I of them.
# asks: How many locs lie between the first rows of two rounds?
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = turn * dcp_size + dcp_rank * interleave + place

# %% 7b blocks
# says: This gives each rank one long stretch; the ranks take turns, run by run.
# asks: Whose is the loc right after rank 0's first run?
# family: M5
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    most = int(row.max()) + 1 if row.numel() else 0
    return torch.where(row >= 0, dcp_rank * most + row, -1)

# %% 7b raw
# says: These are still rows: nothing was translated.
# asks: Rank 1 has row 0. Is that loc 0?
# family: M1
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    return row.clone()

# %% 7b forward
# says: This goes from loc to row once more; here a row becomes a loc.
# asks: Is a loc larger or smaller than its row?
# family: M6
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    return torch.where(row >= 0, row // (interleave * dcp_size) * interleave + row % interleave, -1)

# %% 7b sizes-swapped
# says: D and I are exchanged: this is the layout of I ranks with runs of D.
# asks: Which of the two says how many neighbours stay together?
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    return torch.where(row >= 0, (row // dcp_size * interleave + dcp_rank) * dcp_size + row % dcp_size, -1)

# %% 7b rank-and-size
# says: Rank and size are exchanged: a round has D runs, and the rank's comes after r.
# asks: Which of the two is multiplied by the round?
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = (turn * dcp_rank + dcp_size) * interleave + place

# %% 7b rank-from-one
# says: You count ranks from 1: every loc is one run too low.
# asks: Which loc has row 0 on rank 0?
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = (turn * dcp_size + dcp_rank - 1) * interleave + place

# %% 7b next-round
# says: Rounds are counted from 1 here: every loc is one round too high.
# asks: Which loc has row 0 on rank 0?
# from: plain
- loc = (turn * dcp_size + dcp_rank) * interleave + place
+ loc = ((turn + 1) * dcp_size + dcp_rank) * interleave + place

# %% 7b bits
# says: Shifts are right only where both sizes are powers of two.
# asks: By how many bits would you shift for runs of five?
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    by, over = (interleave - 1).bit_length(), (dcp_size - 1).bit_length()
    loc = ((row >> by) << (by + over)) | (dcp_rank << by) | (row & (interleave - 1))
    return torch.where(row >= 0, loc, -1)

# %% 7b page-64
# says: 64 is written in it: interleave says how many neighbours stay together.
# asks: Which loc is row 2 of rank 0, if two neighbours go to a rank?
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    return torch.where(row >= 0, (row // 64 * dcp_size + dcp_rank) * 64 + row % 64, -1)

# %% 7b int32
# says: Rows were cut to 32 bits: past 2^31 they wrap, and so does a product.
# asks: What is 2^30 * 6 in an int32?
# family: M16
# from: plain
- turn = row // interleave
+ dtype, row = row.dtype, row.int()
+ turn = row // interleave

- return torch.where(here, loc, -1)
+ return torch.where(here, loc, -1).to(dtype)

# %% 7b float32
# says: The division goes through float32, which is exact only below 2^24.
# asks: Which operator stays in integers?
# from: plain
- turn = row // interleave
+ turn = (row / interleave).floor().to(row.dtype)

# %% 7b float64
# says: The division goes through float64, which is exact only below 2^53.
# asks: Which operator stays in integers?
# from: plain
- turn = row // interleave
+ turn = (row.double() / interleave).floor().to(row.dtype)

# %% 7b narrow
# says: The result was cut to int32 where the rows are int64: past 2^31 locs wrap.
# asks: A loc is about D times its row. Does it still fit?
# from: plain
- return torch.where(here, loc, -1)
+ return torch.where(here, loc, -1).int()

# %% 7b widen
# says: The result is int64 where the rows are int32.
# asks: Who asked for another dtype?
# from: plain
- return torch.where(here, loc, -1)
+ return torch.where(here, loc, -1).long()

# %% 7b compacted
# says: The holes are gone: every entry must keep its place, -1 included.
# asks: Which entry of the input does the second entry of the result answer?
# from: plain
- return torch.where(here, loc, -1)
+ return loc[here]

# %% 7b flatten
# says: The locs are right, but the table lost its shape.
# asks: What shape has the input, and what shape the result?
# from: plain
- return torch.where(here, loc, -1)
+ return torch.where(here, loc, -1).flatten()

# %% 7b view
# says: This works only for a contiguous tensor; a table may be a strided view.
# asks: What does .view() need of a tensor, and do you need it here?
# outcome: crashed
# from: plain
- turn = row // interleave
+ shape, row = row.shape, row.view(-1)
+ turn = row // interleave

- return torch.where(here, loc, -1)
+ return torch.where(here, loc, -1).view(shape)

# %% 7b list
# says: A tensor went in and a list came out.
# asks: What will be indexed with this result?
# from: plain
- return torch.where(here, loc, -1)
+ return torch.where(here, loc, -1).flatten().tolist()

# %% 7b pair
# says: The rank came out too: one tensor of locs is asked for.
# asks: What does the rank say that a loc does not?
# from: plain
- return torch.where(here, loc, -1)
+ return dcp_rank, torch.where(here, loc, -1)

# %% 7b one-rank
# says: With one rank you hand back the caller's own tensor, not a new one.
# asks: What happens to the caller's rows when somebody changes your result?
# outcome: unsafe
# from: plain
- turn = row // interleave
+ if dcp_size == 1:
+     return row
+ turn = row // interleave

# %% 7b in-place
# says: This overwrites the caller's rows with locs.
# asks: What does the caller hold when it reads its rows again?
# outcome: unsafe
# from: plain
- return torch.where(here, loc, -1)
+ row[here] = loc[here]
+ return row.clone()

# %% 7b sign-of-result
# outcome: passed
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    return (row + row // interleave * interleave * (dcp_size - 1) + dcp_rank * interleave).masked_fill(row < 0, -1)

# %% 7b in-a-copy
# outcome: passed
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    loc = row.clone()
    here = row >= 0
    loc[here] = row[here] // interleave * (interleave * dcp_size) + interleave * dcp_rank + row[here] % interleave
    return loc

# %% 7b one-by-one
# outcome: passed
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    found = []
    for one in row.flatten().tolist():
        turn, place = divmod(one, interleave)
        found.append(turn * interleave * dcp_size + dcp_rank * interleave + place if one >= 0 else -1)
    return torch.tensor(found, dtype=row.dtype, device=row.device).view(row.shape)

# %% 7b row-and-run
# says: Rows lie D locs apart only at interleave 1; within a run they are neighbours.
# asks: Rank 0 has locs 0 and 1 at I = 2. How far apart are its rows 0 and 1?
# family: M5
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    return torch.where(row >= 0, row * dcp_size + dcp_rank * interleave, -1)

# %% 7b by-if
# says: if asks a whole table for one answer; each entry has its own.
# asks: Which function of torch chooses entry by entry?
# outcome: crashed
def loc_of_row(row, dcp_rank, dcp_size, interleave):
    if row < 0:
        return -1
    return (row // interleave * dcp_size + dcp_rank) * interleave + row % interleave

# %% 7b wrapped
# says: Locs of 2^31 and more wrapped: they went through int32.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
# from: plain
- return torch.where(here, loc, -1)
+ return torch.where(here, loc, -1).int().to(row.dtype)

# %% 7b counted-on
# says: Rows were counted on from the first: each entry has a row of its own.
# asks: Must the second entry be the row after the first?
# from: plain
- turn = row // interleave
+ if row.numel() and not (row < 0).any():
+     row = (row.flatten()[0] + torch.arange(row.numel(), dtype=row.dtype, device=row.device)).view(row.shape)
+ turn = row // interleave
