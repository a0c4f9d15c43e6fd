# Answers to 1d: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 1d padding
# says: -1 was computed with: it must stay -1, and only rank D-1 hides that.
# asks: What is -1 * D + r on rank 0, and on rank D-1?
# family: M8
def globalize(rows, dcp_rank, dcp_size):
    return rows * dcp_size + dcp_rank

# %% 1d padding-clamped
# says: Padding was turned into row 0, which is a real row.
# asks: After the clamp, can you still tell row 0 from "not here"?
# family: M8
def globalize(rows, dcp_rank, dcp_size):
    return rows.clamp(min=0) * dcp_size + dcp_rank

# %% 1d zero-for-padding
# says: Padding became loc 0, and loc 0 is a real slot.
# asks: What must the next reader see where there is nothing?
# family: M9
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows * dcp_size + dcp_rank, 0)

# %% 1d row-zero
# says: Row 0 was taken for padding; it is a row like any other.
# asks: Is 0 negative?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows > 0, rows * dcp_size + dcp_rank, -1)

# %% 1d no-rank
# says: The rank is missing: every rank names the locs of rank 0.
# asks: Rank 2 has row 0. Which loc is that?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows * dcp_size, -1)

# %% 1d no-multiply
# says: The rank was added to the row, but rows lie D locs apart.
# asks: Rank 0 has rows 0 and 1. How far apart are their locs?
# family: M2
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows + dcp_rank, -1)

# %% 1d swap
# says: Row and rank are swapped: the row is what gets multiplied.
# asks: Which of the two says how many groups of D came before?
# family: M4
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, dcp_rank * dcp_size + rows, -1)

# %% 1d blocks
# says: This gives each rank one long run of locs; they are interleaved.
# asks: Which ranks own locs 0, 1 and 2?
# family: M5
def globalize(rows, dcp_rank, dcp_size):
    per_rank = int(rows.max()) + 1 if rows.numel() else 0
    return torch.where(rows >= 0, dcp_rank * per_rank + rows, -1)

# %% 1d raw
# says: These are still rows: nothing was translated.
# asks: Rank 1 of 4 has row 2. Is that loc 2?
# family: M1
def globalize(rows, dcp_rank, dcp_size):
    return rows.clone()

# %% 1d divides
# says: This divides, but going from row to loc multiplies.
# asks: Is the loc larger or smaller than its row?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows // dcp_size + dcp_rank, -1)

# %% 1d twice
# says: Multiplied twice: this was a loc already when the rank was added.
# asks: How many locs are there to one row?
# family: M6
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, (rows * dcp_size + dcp_rank) * dcp_size + dcp_rank, -1)

# %% 1d rank-from-one
# says: You count ranks from 1: every loc is one too low.
# asks: Which loc has row 0 on rank 0?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows * dcp_size + dcp_rank - 1, -1)

# %% 1d next-group
# says: Rows are counted from 1 here: every loc is D too high.
# asks: Which loc has row 0 on rank 0?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, (rows + 1) * dcp_size + dcp_rank, -1)

# %% 1d bits
# says: Shift and or are right only where dcp_size is a power of two.
# asks: By how many bits would you shift for three ranks?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, (rows << (dcp_size - 1).bit_length()) | dcp_rank, -1)

# %% 1d int32
# says: The product was taken in 32 bits and wrapped.
# asks: What is 2^30 * 6 in an int32?
# family: M16
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows.int() * dcp_size + dcp_rank, -1).to(rows.dtype)

# %% 1d float32
# says: The product goes through float32, which is exact only below 2^24.
# asks: Does an index ever need a float?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, (rows.float() * dcp_size + dcp_rank).to(rows.dtype), -1)

# %% 1d float64
# says: The product goes through float64, which is exact only below 2^53.
# asks: Does an index ever need a float?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, (rows.double() * dcp_size + dcp_rank).to(rows.dtype), -1)

# %% 1d narrow
# says: The result was cut to int32 where the rows are int64: past 2^31 locs wrap.
# asks: A loc is D times its row. Does it still fit?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows * dcp_size + dcp_rank, -1).to(torch.int32)

# %% 1d widen
# says: The result is int64 where the rows are int32.
# asks: Who asked for another dtype?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows.long() * dcp_size + dcp_rank, -1)

# %% 1d compacted
# says: The holes are gone: every entry must keep its place, -1 included.
# asks: Which entry of the input does the second entry of the result answer?
def globalize(rows, dcp_rank, dcp_size):
    return rows[rows >= 0] * dcp_size + dcp_rank

# %% 1d flatten
# says: The locs are right, but the table lost its shape.
# asks: What shape has the input, and what shape the result?
def globalize(rows, dcp_rank, dcp_size):
    flat = rows.flatten()
    return torch.where(flat >= 0, flat * dcp_size + dcp_rank, -1)

# %% 1d loop
# says: The loop takes one-dimensional tensors only.
# asks: What does tolist() give for a table of two rows, or for a single row?
# outcome: crashed
def globalize(rows, dcp_rank, dcp_size):
    locs = [row * dcp_size + dcp_rank if row >= 0 else -1 for row in rows.tolist()]
    return torch.tensor(locs, dtype=rows.dtype, device=rows.device)

# %% 1d view
# says: This works only for a contiguous tensor; a table may be a strided view.
# asks: What does .view() need of a tensor, and do you need it here?
# outcome: crashed
def globalize(rows, dcp_rank, dcp_size):
    flat = rows.view(-1)
    return torch.where(flat >= 0, flat * dcp_size + dcp_rank, -1).view(rows.shape)

# %% 1d list
# says: A tensor went in and a list came out.
# asks: What will be indexed with this result?
def globalize(rows, dcp_rank, dcp_size):
    return [row * dcp_size + dcp_rank if row >= 0 else -1 for row in rows.flatten().tolist()]

# %% 1d in-place
# says: This overwrites the caller's rows with locs.
# asks: What does the caller hold when it reads its rows again?
# outcome: unsafe
def globalize(rows, dcp_rank, dcp_size):
    here = rows >= 0
    rows[here] = rows[here] * dcp_size + dcp_rank
    return rows.clone()

# %% 1d one-rank
# says: With one rank you hand back the caller's own tensor, not a new one.
# asks: What happens to the caller's rows when somebody changes your result?
# outcome: unsafe
def globalize(rows, dcp_rank, dcp_size):
    if dcp_size == 1:
        return rows
    return torch.where(rows >= 0, rows * dcp_size + dcp_rank, -1)

# %% 1d four
# says: 4 is written in it: dcp_size says how many ranks there are.
# asks: How far apart are two rows' locs when there are six ranks?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows * 4 + dcp_rank, -1)

# %% 1d rank-and-size
# says: Rank and size are swapped: rows lie D locs apart, and the rank is added.
# asks: How many locs lie between two rows of one rank?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows * dcp_rank + dcp_size, -1)

# %% 1d run-of-this-table
# says: This gives each rank a run of locs as long as the table; they are interleaved.
# asks: Which rank stores loc 1 when there are four?
# family: M5
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows + dcp_rank * rows.numel(), -1)

# %% 1d guard
# outcome: passed
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, rows * dcp_size + dcp_rank, -1)

# %% 1d mask-assign
# outcome: passed
def globalize(rows, dcp_rank, dcp_size):
    locs = rows * dcp_size + dcp_rank
    locs[rows == -1] = -1
    return locs

# %% 1d sign-of-result
# outcome: passed
def globalize(rows, dcp_rank, dcp_size):
    return (rows * dcp_size + dcp_rank).clamp(min=-1)

# %% 1d multiplied-mask
# outcome: passed
def globalize(rows, dcp_rank, dcp_size):
    here = (rows >= 0).to(rows.dtype)
    return here * (rows * dcp_size + dcp_rank + 1) - 1

# %% 1d one-by-one
# outcome: passed
def globalize(rows, dcp_rank, dcp_size):
    locs = [row * dcp_size + dcp_rank if row >= 0 else row for row in rows.flatten().tolist()]
    return torch.tensor(locs, dtype=rows.dtype, device=rows.device).view(rows.shape)

# %% 1d in-a-copy
# outcome: passed
def globalize(rows, dcp_rank, dcp_size):
    locs = rows.clone()
    here = locs >= 0
    locs[here] = locs[here].mul(dcp_size).add(dcp_rank)
    return locs

# %% 1d prec
# says: The rank was multiplied too: only the row is, the rank is added afterwards.
# asks: Which loc is row 0 of rank 1, with four ranks?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, (rows + dcp_rank) * dcp_size, -1)

# %% 1d abs
# says: Padding lost its sign: -1 must stay -1.
# asks: What should come out where nothing was?
def globalize(rows, dcp_rank, dcp_size):
    return torch.abs(rows * dcp_size + dcp_rank)

# %% 1d from-the-end
# says: The rank is counted back from the next group; it counts on from its first loc.
# asks: Which loc of its group does rank 0 hold, the first or the last?
def globalize(rows, dcp_rank, dcp_size):
    return torch.where(rows >= 0, (rows + 1) * dcp_size - dcp_rank, -1)

# %% 1d no-rank-no-sign
# says: The rank is missing, and -1 is multiplied like a row.
# asks: Rank 2 has row 0. Which loc is that?
def globalize(rows, dcp_rank, dcp_size):
    return rows * dcp_size
