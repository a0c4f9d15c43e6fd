# Answers to 1b: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 1b swap
# says: Owner and row are swapped: this is the loc's rank, not its row.
# asks: Can a pool with a thousand rows use only D of them?
# family: M4
def local_row(loc, dcp_size):
    return loc % dcp_size

# %% 1b no-divide
# says: This is still the global loc: rows of a rank have no gaps of D.
# asks: Rank 2 of 4 owns 2, 6, 10. Does it need eleven rows for them?
# family: M2
def local_row(loc, dcp_size):
    return loc

# %% 1b twice
# says: Divided twice: a row was taken for a loc and localized again.
# asks: Which space is the argument in, and which the result?
# family: M6
def local_row(loc, dcp_size):
    return loc // dcp_size // dcp_size

# %% 1b page
# says: This is a page id, not a row: it has been divided by the page size too.
# asks: How many rows does one page have?
def local_row(loc, dcp_size):
    return loc // (64 * dcp_size)

# %% 1b group-start
# says: This is the first loc of the group, not the number of the group.
# asks: Locs 8 to 11 are the third group of four. Which row is that?
def local_row(loc, dcp_size):
    return loc - loc % dcp_size

# %% 1b ceil
# says: This rounds up: only rank 0 gets its rows right.
# asks: Which row has loc 1 on rank 1?
def local_row(loc, dcp_size):
    return (loc + dcp_size - 1) // dcp_size

# %% 1b from-one
# says: The rows are one too low, as if row 0 did not exist.
# asks: Which row has loc 0 on rank 0?
def local_row(loc, dcp_size):
    return loc // dcp_size - 1

# %% 1b shift
# says: The bit shift is right only where dcp_size is a power of two.
# asks: By how many bits would you shift for three ranks?
def local_row(loc, dcp_size):
    return loc >> (dcp_size.bit_length() - 1)

# %% 1b true-divide
# says: The result is a float: a row must be an integer.
# asks: Which division drops the remainder?
def local_row(loc, dcp_size):
    return loc / dcp_size

# %% 1b float32
# says: True division of a tensor is float32: rows past 2^24 come out wrong.
# asks: Which division never leaves the integers?
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return (loc / dcp_size).to(loc.dtype)

# %% 1b float64
# says: This goes through float64: rows past 2^53 come out wrong.
# asks: Which division never leaves the integers?
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return int(loc / dcp_size)
    return (loc.double() / dcp_size).floor().to(loc.dtype)

# %% 1b float32-long
# says: True division of a tensor is float32: rows past 2^24 come out wrong.
# asks: Which division never leaves the integers?
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return (loc / dcp_size).long()

# %% 1b float64-int
# says: int(loc / D) goes through float64, and it takes one number only.
# asks: Which division never leaves the integers, and takes a tensor too?
def local_row(loc, dcp_size):
    return int(loc / dcp_size)

# %% 1b int-to-tensor
# says: An int went in and a tensor came out.
# asks: Does the plain operator not work for both?
def local_row(loc, dcp_size):
    return torch.as_tensor(loc) // dcp_size

# %% 1b tensor-to-int
# says: This works for one number only; a tensor of locs must give a tensor.
# asks: What should a table of twelve locs give?
def local_row(loc, dcp_size):
    return int(loc // dcp_size)

# %% 1b list
# says: A tensor went in and a list came out.
# asks: What will index a pool with this result?
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return [x // dcp_size for x in loc.flatten().tolist()]

# %% 1b narrow
# says: The result was cut to int32 where the locs are int64: past 2^31 rows wrap.
# asks: How large can a row be if a loc is an int64?
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return (loc // dcp_size).to(torch.int32)

# %% 1b widen
# says: The result is int64 where the locs are int32.
# asks: Who asked for another dtype?
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return loc.long() // dcp_size

# %% 1b int32
# says: Locs were cut to 32 bits before the division.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return (loc.int() // dcp_size).to(loc.dtype)

# %% 1b flatten
# says: The rows are right, but the table lost its shape.
# asks: What shape has the input, and what shape the result?
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return loc.flatten() // dcp_size

# %% 1b view
# says: This works only for a contiguous tensor; a table may be a strided view.
# asks: What does .view() need of a tensor, and do you need it here?
# outcome: crashed
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return (loc.view(-1) // dcp_size).view(loc.shape)

# %% 1b loop
# says: The loop takes one-dimensional tensors only.
# asks: What does looping over a zero-dimensional tensor do?
# outcome: crashed
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return loc // dcp_size
    return torch.tensor([x // dcp_size for x in loc], dtype=loc.dtype)

# %% 1b in-place
# says: This overwrites the caller's locs; the next reader gets rows for locs.
# asks: What does the caller hold after //= on its tensor?
# outcome: unsafe
def local_row(loc, dcp_size):
    loc //= dcp_size
    return loc

# %% 1b one-rank
# says: With one rank you hand back the caller's own tensor, not a new one.
# asks: What happens to req_to_token when somebody changes your result?
# outcome: unsafe
def local_row(loc, dcp_size):
    if dcp_size == 1:
        return loc
    return loc // dcp_size

# %% 1b four
# says: 4 is written in it: dcp_size says how many ranks there are.
# asks: In which row is loc 4 when there are six ranks?
def local_row(loc, dcp_size):
    return loc // 4

# %% 1b too-high
# says: The rows are one too high: the first row is row 0.
# asks: In which row of its owner is loc 0?
def local_row(loc, dcp_size):
    return loc // dcp_size + 1

# %% 1b divmod
# outcome: passed
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        row, _ = divmod(loc, dcp_size)
        return row
    return torch.div(loc, dcp_size, rounding_mode="floor")

# %% 1b floor-divide
# outcome: passed
def local_row(loc, dcp_size):
    return torch.floor_divide(loc, dcp_size) if torch.is_tensor(loc) else loc // dcp_size

# %% 1b truncating
# outcome: passed
def local_row(loc, dcp_size):
    return torch.div(loc, dcp_size, rounding_mode="trunc") if torch.is_tensor(loc) else loc // dcp_size

# %% 1b exact-subtraction
# outcome: passed
def local_row(loc, dcp_size):
    return (loc - loc % dcp_size) // dcp_size

# %% 1b shift-where-possible
# outcome: passed
def local_row(loc, dcp_size):
    if dcp_size & (dcp_size - 1):
        return loc // dcp_size
    return loc >> dcp_size.bit_length() - 1

# %% 1b round
# says: Rounded to the nearest row: past the middle of a group it is one too high.
# asks: Which locs of four ranks are in row 0?
def local_row(loc, dcp_size):
    return round(loc / dcp_size) if isinstance(loc, int) else torch.round(loc / dcp_size).to(loc.dtype)

# %% 1b both
# says: A row alone is asked for; a pair of row and owner came out.
# asks: What does the docstring say that comes back?
def local_row(loc, dcp_size):
    return loc // dcp_size, loc % dcp_size

# %% 1b subsize
# says: One turn was taken away; the row is the number of whole turns before the loc.
# asks: How often does 4 fit into 11?
def local_row(loc, dcp_size):
    return loc - dcp_size

# %% 1b float-both
# says: `/` gives floats: ints past 2^53 and a tensor's rows past 2^24 come out wrong.
# asks: Which division never leaves the integers?
def local_row(loc, dcp_size):
    if isinstance(loc, int):
        return int(loc / dcp_size)
    return (loc / dcp_size).to(loc.dtype)
