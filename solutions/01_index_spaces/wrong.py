# Wrong answers to lab 01: what people type, and the sentence that each must get. One cell an answer.
# The first cell stands before every answer. docs/misconceptions.md describes the families M1 to M16.

# %% preamble
import math

import torch
import triton
import triton.language as tl

# %% 1a swap
# says: Owner and row are swapped: this is the loc's row, not its rank.
# asks: Who stores loc 5 when four ranks take turns?
# family: M4
def owner_rank(loc, dcp_size):
    return loc // dcp_size

# %% 1a loc
# says: This is the loc itself: with D ranks there are only owners 0 to D - 1.
# asks: Which rank does loc 5 go to when four ranks take turns?
# family: M1
def owner_rank(loc, dcp_size):
    return loc

# %% 1a constant
# says: Every loc gets the same owner; then the other ranks store nothing.
# asks: Who stores loc 1 when rank 0 stores loc 0?
def owner_rank(loc, dcp_size):
    return loc * 0

# %% 1a zero
# says: Every loc gets the same owner; then the other ranks store nothing.
# asks: Who stores loc 1 when rank 0 stores loc 0?
def owner_rank(loc, dcp_size):
    return 0

# %% 1a true-divide
# says: This is a fraction of the row; the owner is what the division leaves over.
# asks: What is left over when 5 is divided by 4?
# family: M4
def owner_rank(loc, dcp_size):
    return loc / dcp_size

# %% 1a pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 0 and 1 are in one page. Do they have one owner?
# family: M5
def owner_rank(loc, dcp_size):
    return loc // 64 % dcp_size

# %% 1a groups
# says: This gives D neighbours to one rank; interleaved, they go to D ranks.
# asks: With four ranks, who stores loc 1 and who stores loc 2?
# family: M5
def owner_rank(loc, dcp_size):
    return loc // dcp_size % dcp_size

# %% 1a bits
# says: The bit mask is right only where dcp_size is a power of two.
# asks: What does loc & 2 give for loc 4 when there are three ranks?
def owner_rank(loc, dcp_size):
    return loc & (dcp_size - 1)

# %% 1a from-one
# says: You count slots from 1: every owner is one rank too low.
# asks: Who stores loc 0?
def owner_rank(loc, dcp_size):
    return (loc - 1) % dcp_size

# %% 1a ranks-from-one
# says: You count ranks from 1; they go from 0 to D - 1.
# asks: Is there a rank number D?
def owner_rank(loc, dcp_size):
    return loc % dcp_size + 1

# %% 1a one-rank
# says: With one rank that rank owns every loc: its number is 0, not the loc.
# asks: What is the largest rank number when dcp_size is 1?
def owner_rank(loc, dcp_size):
    if dcp_size == 1:
        return loc
    return loc % dcp_size

# %% 1a reversed
# says: The two sides of % are exchanged: this divides D by the loc.
# asks: Which of the two numbers is dealt out, and over how many?
def owner_rank(loc, dcp_size):
    return dcp_size % loc

# %% 1a float32
# says: This goes through float32, which loses odd numbers past 2^24.
# asks: What is float(16777217) in float32?
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return loc % dcp_size
    return torch.fmod(loc.float(), dcp_size).to(loc.dtype)

# %% 1a float64
# says: This goes through float64, which loses odd numbers past 2^53.
# asks: Which operator stays in integers?
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return int(math.fmod(loc, dcp_size))
    return torch.fmod(loc.double(), dcp_size).to(loc.dtype)

# %% 1a float-int
# says: An int must give an int; this gives a float.
# asks: Which remainder keeps the type of what it divides?
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return math.fmod(loc, dcp_size)
    return loc % dcp_size

# %% 1a int-to-tensor
# says: An int went in and a tensor came out.
# asks: Does the plain operator not work for both?
def owner_rank(loc, dcp_size):
    return torch.as_tensor(loc) % dcp_size

# %% 1a tensor-to-int
# says: This works for one number only; a tensor of locs must give a tensor.
# asks: What should a table of twelve locs give?
def owner_rank(loc, dcp_size):
    return int(loc % dcp_size)

# %% 1a list
# says: A tensor went in and a list came out.
# asks: What will index a pool with this result?
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return loc % dcp_size
    return [x % dcp_size for x in loc.flatten().tolist()]

# %% 1a narrow
# says: The result is int32 where the locs are int64.
# asks: Who asked for another dtype?
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return loc % dcp_size
    return (loc % dcp_size).to(torch.int32)

# %% 1a widen
# says: The result is int64 where the locs are int32.
# asks: Who asked for another dtype?
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return loc % dcp_size
    return loc.long() % dcp_size

# %% 1a int32
# says: Locs were cut to 32 bits before the remainder was taken.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return loc % dcp_size
    return (loc.int() % dcp_size).to(loc.dtype)

# %% 1a flatten
# says: The owners are right, but the table lost its shape.
# asks: What shape has the input, and what shape the result?
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return loc % dcp_size
    return loc.flatten() % dcp_size

# %% 1a view
# says: This works only for a contiguous tensor; a table may be a strided view.
# asks: What does .view() need of a tensor, and do you need it here?
# outcome: crashed
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return loc % dcp_size
    return (loc.view(-1) % dcp_size).view(loc.shape)

# %% 1a loop
# says: The loop takes one-dimensional tensors only.
# asks: What does looping over a zero-dimensional tensor do?
# outcome: crashed
def owner_rank(loc, dcp_size):
    if isinstance(loc, int):
        return loc % dcp_size
    return torch.tensor([x % dcp_size for x in loc], dtype=loc.dtype)

# %% 1a in-place
# says: This overwrites the caller's locs; the next reader gets owners for locs.
# asks: What does the caller hold after %= on its tensor?
# outcome: unsafe
def owner_rank(loc, dcp_size):
    loc %= dcp_size
    return loc

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
# outcome: unsafe
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
# says: The result is int32 where the locs are int64.
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

# %% 1c raw
# says: These are still the global locs: nothing selected an owner.
# asks: If every rank keeps every loc, what did sharding save?
# family: M1
def localize(locs, dcp_rank, dcp_size):
    return locs.clone()

# %% 1c no-divide
# says: You kept the right locs but left them at their global address.
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
# says: The result is int32 where the locs are int64.
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
# says: The result is int32 where the rows are int64.
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

# %% 1e narrow-page
# says: This is a page of page_size slots: the allocator's page is D times wider.
# asks: How many locs give each of D ranks a full page of rows?
def page_locs(page, page_size, dcp_size):
    return torch.arange(page * page_size, (page + 1) * page_size)

# %% 1e narrow-start
# says: The page is wide enough, but it starts where a narrow page would.
# asks: Where does page 0 end, and so where does page 1 start?
def page_locs(page, page_size, dcp_size):
    start = page * page_size
    return torch.arange(start, start + page_size * dcp_size)

# %% 1e narrow-end
# says: The start is right, but the page ends after page_size locs.
# asks: How many rows of this page does each rank get?
def page_locs(page, page_size, dcp_size):
    start = page * page_size * dcp_size
    return torch.arange(start, start + page_size)

# %% 1e one-rank-only
# says: These are only the locs of rank 0: a page holds every rank's.
# asks: Who owns the loc after the first?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.arange(page * width, (page + 1) * width, dcp_size)

# %% 1e rank-major
# says: The right locs, sorted by rank: they must ascend.
# asks: Which loc follows the first one of the page?
# family: M14
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return (page * width + torch.arange(width)).reshape(page_size, dcp_size).T.flatten()

# %% 1e one-early
# says: This is the page before: page 0 exists even if nobody gets it.
# asks: Which page holds loc 0?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.arange((page - 1) * width, page * width)

# %% 1e one-late
# says: This is the page after: page 0 starts at loc 0.
# asks: Which page holds loc 0?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.arange((page + 1) * width, (page + 2) * width)

# %% 1e from-one
# says: Every loc is one too high, as if locs were counted from 1.
# asks: Which page holds loc 0?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.arange(page * width + 1, (page + 1) * width + 1)

# %% 1e inclusive
# says: One loc too many: the last one is the first of the next page.
# asks: How many locs has a page, and how many did you return?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.arange(page * width, (page + 1) * width + 1)

# %% 1e exclusive
# says: The last loc of the page is missing.
# asks: Does torch.arange include its end?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.arange(page * width, (page + 1) * width - 1)

# %% 1e sum
# says: The width was taken as page_size + dcp_size; it is their product.
# asks: Each of D ranks stores page_size rows of a page. How many rows is that?
def page_locs(page, page_size, dcp_size):
    width = page_size + dcp_size
    return torch.arange(page * width, (page + 1) * width)

# %% 1e descending
# says: The right locs, from last to first: they must ascend.
# asks: Which loc does the first token of the page get?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.arange((page + 1) * width - 1, page * width - 1, -1)

# %% 1e grid
# says: The locs are right, but a 1-D tensor was asked for, not a grid.
# asks: Who will use this page as a list of slots?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.arange(page * width, (page + 1) * width).reshape(page_size, dcp_size)

# %% 1e int32
# says: The result is int32: locs are int64.
# asks: What is the largest loc that an int32 holds?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return (page * width + torch.arange(width)).to(torch.int32)

# %% 1e wraps
# says: The locs were computed in 32 bits and wrapped.
# asks: What is 2^31 + 5 in an int32?
# family: M16
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return (page * width + torch.arange(width)).to(torch.int32).long()

# %% 1e float
# says: The result is a float tensor: a loc must be an integer.
# asks: Which dtype does torch.arange choose when an argument is a float?
def page_locs(page, page_size, dcp_size):
    width = float(page_size * dcp_size)
    return torch.arange(page * width, (page + 1) * width)

# %% 1e float32
# says: The locs went through float32, which is exact only below 2^24.
# asks: Does an index ever need a float?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return (torch.tensor(float(page * width)) + torch.arange(width)).long()

# %% 1e float64
# says: The locs went through float64, which is exact only below 2^53.
# asks: Does an index ever need a float?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return (float(page * width) + torch.arange(width, dtype=torch.float64)).long()

# %% 1e list
# says: A list came out where a tensor was asked for.
# asks: Which function of torch makes a range?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return list(range(page * width, (page + 1) * width))

# %% 1e start-only
# says: This is the page's first loc only, repeated.
# asks: How do the locs of a page differ from each other?
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.full((width,), page * width)

# %% 1e offsets-only
# says: These are offsets inside a page: the page's start is missing.
# asks: What differs between page 2 and page 3?
def page_locs(page, page_size, dcp_size):
    return torch.arange(page_size * dcp_size)

# %% 1e id-is-loc
# says: The page's number was taken for its first loc.
# asks: Where does page 1 start, if page 0 holds W locs?
def page_locs(page, page_size, dcp_size):
    return torch.arange(page, page + page_size * dcp_size)

# %% 1f swap
# says: The two tables are swapped: index-K comes first.
# asks: Which of the two has more pages for the same request?
# family: M4
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    return locs[::width] // width, locs[::page_size] // page_size

# %% 1f index-k-twice
# says: The c-KV table is an index-K table: c-KV pages span page_size * D locs.
# asks: How many rows of one rank do page_size * D locs fill?
# family: M1
def page_tables(locs, page_size, dcp_size):
    pages = locs[::page_size] // page_size
    return pages, pages.clone()

# %% 1f ckv-twice
# says: index-K was localized too: it is replicated, its page is loc // page_size.
# asks: Which consumer reads this table, and does it hold every token?
# family: M7
def page_tables(locs, page_size, dcp_size):
    pages = locs[:: page_size * dcp_size] // (page_size * dcp_size)
    return pages, pages.clone()

# %% 1f index-k-localized
# says: index-K was localized: its pages are full of other ranks' tokens too.
# asks: Does index-K use rows or locs?
# family: M7
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    return locs[::page_size] // width, locs[::width] // width

# %% 1f ckv-divisor
# says: Right step, wrong divisor: a c-KV page id is loc // (page_size * D).
# asks: Loc 24 with page_size 4 and two ranks: which row is it, and on which page?
def page_tables(locs, page_size, dcp_size):
    return locs[::page_size] // page_size, locs[:: page_size * dcp_size] // page_size

# %% 1f ckv-step
# says: Right ids, too often: each c-KV page is listed D times.
# asks: After how many locs does the next c-KV page begin?
def page_tables(locs, page_size, dcp_size):
    first = locs[::page_size]
    return first // page_size, first // (page_size * dcp_size)

# %% 1f ckv-twice-divided
# says: The c-KV page was localized twice.
# asks: Locs are divided by D once to get rows. What is left to divide by?
# family: M6
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    return locs[::page_size] // page_size, locs[::width] // dcp_size // width

# %% 1f ckv-row
# says: These are rows, not pages: the page size is missing.
# asks: How many rows has one page?
def page_tables(locs, page_size, dcp_size):
    return locs[::page_size] // page_size, locs[:: page_size * dcp_size] // dcp_size

# %% 1f page-starts
# says: These are the pages' first locs, not their numbers.
# asks: What must be divided to turn a loc into a page id?
def page_tables(locs, page_size, dcp_size):
    return locs[::page_size].clone(), locs[:: page_size * dcp_size].clone()

# %% 1f every-token
# says: This lists a page for every token; one id a page was asked for.
# asks: How long is a page table for six tokens and pages of four?
def page_tables(locs, page_size, dcp_size):
    return locs // page_size, locs // (page_size * dcp_size)

# %% 1f sorted
# says: The pages are sorted: they must stand in order of first use.
# asks: Which page holds position 0 of the request?
def page_tables(locs, page_size, dcp_size):
    return torch.unique(locs // page_size), torch.unique(locs // (page_size * dcp_size))

# %% 1f adjacent
# says: You counted on from the first page: a request's pages need not be adjacent.
# asks: Where does the allocator take the next page from?
def page_tables(locs, page_size, dcp_size):
    def count_on(width):
        ids = torch.arange(-(-locs.numel() // width), dtype=locs.dtype, device=locs.device)
        return ids + locs[:1] // width if locs.numel() else ids

    return count_on(page_size), count_on(page_size * dcp_size)

# %% 1f positions
# says: The pages were counted from positions; page ids come from locs.
# asks: What does position 0 say about the slot it is stored in?
def page_tables(locs, page_size, dcp_size):
    position = torch.arange(locs.numel(), dtype=locs.dtype, device=locs.device)
    return position[::page_size] // page_size, position[:: page_size * dcp_size] // (page_size * dcp_size)

# %% 1f whole-pages
# says: The last page is missing where it is only partly filled.
# asks: How many pages do six tokens need when a page holds four?
def page_tables(locs, page_size, dcp_size):
    def whole(width):
        return locs[: locs.numel() // width * width : width] // width

    return whole(page_size), whole(page_size * dcp_size)

# %% 1f one-page-more
# says: One page too many where the last page is exactly full.
# asks: How many pages do eight tokens need when a page holds four?
def page_tables(locs, page_size, dcp_size):
    def pages(width):
        firsts = [locs[min(i * width, locs.numel() - 1)] // width for i in range(locs.numel() // width + 1) if locs.numel()]
        return torch.stack(firsts) if firsts else locs.clone()

    return pages(page_size), pages(page_size * dcp_size)

# %% 1f first-page
# says: Only the first page of each table is there.
# asks: What happens to tokens on the second page?
def page_tables(locs, page_size, dcp_size):
    return locs[:1] // page_size, locs[:1] // (page_size * dcp_size)

# %% 1f sum
# says: The wide page was taken as page_size + dcp_size; it is their product.
# asks: Each of D ranks stores page_size rows of a page. How many locs is that?
def page_tables(locs, page_size, dcp_size):
    width = page_size + dcp_size
    return locs[::page_size] // page_size, locs[::width] // width

# %% 1f skips-page-zero
# says: Page ids are one too low: the reserved page 0 counts, too.
# asks: Which page holds loc 0?
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    return locs[::page_size] // page_size - 1, locs[::width] // width - 1

# %% 1f float32
# says: Page ids go through float32, which is exact only below 2^24.
# asks: Which division never leaves the integers?
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    return (locs[::page_size] / page_size).to(locs.dtype), (locs[::width] / width).to(locs.dtype)

# %% 1f narrow
# says: The result is int32 where the locs are int64.
# asks: Who asked for another dtype?
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    return (locs[::page_size] // page_size).int(), (locs[::width] // width).int()

# %% 1f widen
# says: The result is int64 where the locs are int32.
# asks: Which dtype does torch.tensor give to a list of ints?
def page_tables(locs, page_size, dcp_size):
    width, ids = page_size * dcp_size, locs.tolist()
    index_k, ckv = (list(dict.fromkeys(x // w for x in ids)) for w in (page_size, width))
    return torch.tensor(index_k, dtype=torch.int64), torch.tensor(ckv, dtype=torch.int64)

# %% 1f empty-float
# says: A request without tokens gives float tables: an empty list has no dtype.
# asks: Which dtype does torch.tensor([]) have?
def page_tables(locs, page_size, dcp_size):
    ids = locs.tolist()
    tables = [list(dict.fromkeys(x // w for x in ids)) for w in (page_size, page_size * dcp_size)]
    return tuple(torch.tensor(t).to(locs.dtype) if t else torch.tensor(t) for t in tables)

# %% 1f lists
# says: Lists came out where tensors were asked for.
# asks: What will index a pool with this result?
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    return (locs[::page_size] // page_size).tolist(), (locs[::width] // width).tolist()

# %% 1f full-pages-only
# says: This needs every page to be full; the last one may be partly filled.
# asks: Six tokens, pages of four: what shape would the reshape need?
# outcome: crashed
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    return locs.reshape(-1, page_size)[:, 0] // page_size, locs.reshape(-1, width)[:, 0] // width

# %% 1f in-place
# says: This divides the caller's own locs.
# asks: What does the second table read after the first one was made?
# outcome: unsafe
def page_tables(locs, page_size, dcp_size):
    width = page_size * dcp_size
    ckv = locs[::width] // width
    locs //= page_size
    return locs[::page_size].clone(), ckv

# %% 1f one-rank
# says: With one rank the two tables are one and the same tensor's view of locs.
# asks: What happens to the caller's locs when somebody changes a table?
# outcome: unsafe
def page_tables(locs, page_size, dcp_size):
    if dcp_size == 1:
        pages = locs[::page_size]
        pages //= page_size
        return pages, pages
    width = page_size * dcp_size
    return locs[::page_size] // page_size, locs[::width] // width

# %% 1f rows
# says: The c-KV table lists rows: page_size of them make a page.
# asks: How many rows of a rank lie on one c-KV page?
def page_tables(locs, page_size, dcp_size):
    return torch.unique_consecutive(locs // page_size), torch.unique_consecutive(locs // dcp_size)

# %% 1g padded
# says: Whole rows: what stands past a request's length is not its own.
# asks: What does seq_lens say about the row?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices].flatten()

# %% 1g to-longest
# says: Every request was cut at the longest one's length, not at its own.
# asks: What stands in a short request's row past its length?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices, : int(seq_lens.max())].flatten()

# %% 1g batch-row
# says: Row i was read for request i: its row is req_pool_indices[i].
# asks: Where is the second request of the batch stored in the table?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return torch.cat([req_to_token[i, :n] for i, n in enumerate(seq_lens.tolist())])

# %% 1g table-order
# says: The requests stand in the table's order, not in the batch's.
# asks: Which request comes first in req_pool_indices?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = sorted(zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True))
    return torch.cat([req_to_token[i, :n] for i, n in pairs])

# %% 1g lengths-order
# says: The rows were sorted but their lengths were not.
# asks: Which length belongs to which row?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    rows = sorted(req_pool_indices.tolist())
    return torch.cat([req_to_token[i, :n] for i, n in zip(rows, seq_lens.tolist(), strict=True)])

# %% 1g position-major
# says: Right locs, wrong order: request by request was asked for.
# asks: What follows the first token of the first request?
# family: M14
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    table = req_to_token[req_pool_indices]
    own = torch.arange(table.shape[1], device=table.device) < seq_lens[:, None]
    return table.T[own.T]

# %% 1g no-start
# says: Only the first request is right: positions must start at 0 for each.
# asks: What is the position of the second request's first token?
# family: M15
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    row = torch.repeat_interleave(req_pool_indices, seq_lens)
    return req_to_token[row, torch.arange(row.numel(), device=row.device)]

# %% 1g inclusive-start
# says: The starts are ends: this cumsum includes the request itself.
# asks: Where does the first request start, and what does cumsum put first?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    row = torch.repeat_interleave(req_pool_indices, seq_lens)
    start = torch.repeat_interleave(torch.cumsum(seq_lens, 0), seq_lens)
    return req_to_token[row, torch.arange(row.numel(), device=row.device) - start]

# %% 1g one-too-many
# says: One slot too many a request: length n means positions 0 to n - 1.
# asks: Which positions has a request of three tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, : n + 1] for i, n in pairs])

# %% 1g one-too-few
# says: The last token of every request is missing.
# asks: Which positions has a request of three tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, : max(n - 1, 0)] for i, n in pairs])

# %% 1g skips-first
# says: Position 0 of every request is missing.
# asks: Which positions has a request of three tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, 1:n] for i, n in pairs])

# %% 1g shifted
# says: Positions were counted from 1.
# asks: In which column is a request's first token?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, 1 : n + 1] for i, n in pairs])

# %% 1g first-column
# says: Only the first token of each request is there.
# asks: Does seq_lens play any part in your answer?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices, 0]

# %% 1g last-column
# says: Only the last token of each request is there.
# asks: How many locs does a request of three tokens have?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices, seq_lens.long() - 1]

# %% 1g one-length
# says: The first request's length was used for all.
# asks: Which length has the second request?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices, : int(seq_lens[0])].flatten()

# %% 1g first-request
# says: Only the first request is there.
# asks: How many requests has the batch?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices[0], : int(seq_lens[0])].clone()

# %% 1g stops-at-empty
# says: A request of length 0 ends your loop; the ones after it are missing.
# asks: What should follow an empty request?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    out = [req_to_token[0, :0]]
    for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True):
        if n == 0:
            break
        out.append(req_to_token[i, :n])
    return torch.cat(out)

# %% 1g empty-as-one
# says: A request of length 0 still gave a loc.
# asks: How many locs has a request without tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, : max(n, 1)] for i, n in pairs])

# %% 1g nonzero
# says: Zeros were taken for padding: only the lengths say where a request ends.
# asks: What stands past a request's length in a server that has run for a day?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    table = req_to_token[req_pool_indices]
    return table[table != 0]

# %% 1g nonzero-inside
# says: Loc 0 was dropped: for a mapping it is a loc like any other.
# asks: How long must the result be?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    locs = torch.cat([req_to_token[i, :n] for i, n in pairs])
    return locs[locs != 0]

# %% 1g sorted
# says: The locs are sorted: they must stand in position order.
# asks: Must a later token have a larger loc?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, :n] for i, n in pairs]).sort().values

# %% 1g positions
# says: These are positions, not locs: req_to_token was never read.
# asks: What does the table hold at [row, position]?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return torch.cat([torch.arange(n) for n in seq_lens.tolist()]).to(req_to_token.dtype)

# %% 1g transposed
# says: Rows and columns are swapped: a request is a row of the table.
# asks: Which index of req_to_token is the request, and which the position?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token.T[i, :n] for i, n in pairs])

# %% 1g narrow
# says: The result is int32 where the table is int64.
# asks: Which dtype has the table?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, :n] for i, n in pairs]).int()

# %% 1g widen
# says: The result is int64 where the table is int32.
# asks: Which dtype has the table?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, :n] for i, n in pairs]).long()

# %% 1g float32
# says: The locs went through float32, which is exact only below 2^24.
# asks: Does an index ever need a float?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    out = torch.zeros(int(seq_lens.sum()))
    at = 0
    for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True):
        out[at : at + n] = req_to_token[i, :n]
        at += n
    return out.to(req_to_token.dtype)

# %% 1g grid
# says: A padded grid came out where a flat list of locs was asked for.
# asks: What would a reader do with the -1s?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    table = req_to_token[req_pool_indices]
    own = torch.arange(table.shape[1], device=table.device) < seq_lens[:, None]
    return torch.where(own, table, -1)

# %% 1g list
# says: A list of tensors came out where one flat tensor was asked for.
# asks: What joins tensors end to end?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return [req_to_token[i, :n].clone() for i, n in pairs]

# %% 1g view-of-table
# says: For a single request you hand back a piece of the table itself.
# asks: What happens to req_to_token when somebody changes your result?
# outcome: unsafe
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    rows = [req_to_token[i, :n] for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)]
    return rows[0] if len(rows) == 1 else torch.cat(rows)

# %% 1g in-place
# says: This writes -1 into req_to_token: other requests read it, too.
# asks: Who else reads this table after you?
# outcome: unsafe
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True):
        req_to_token[i, n:] = -1
    locs = req_to_token[req_pool_indices].flatten()
    return locs[locs >= 0]

# %% 1h raw
# says: These are still the global locs: nothing selected an owner.
# asks: If every rank keeps every loc, what did sharding save?
# family: M1
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    tl.store(rows_ptr + at, loc, mask=mask)

# %% 1h no-divide
# says: You kept the right locs but left them at their global address.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc, -1), mask=mask)

# %% 1h no-filter
# says: D different locs now share one row: nothing selected an owner.
# asks: Which rank should answer for loc 5, and what should the others say?
# family: M3
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    tl.store(rows_ptr + at, tl.where(loc >= 0, loc // DCP_SIZE, -1), mask=mask)

# %% 1h swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc // DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc % DCP_SIZE, -1), mask=mask)

# %% 1h blocks
# says: Each program's block was given to one rank; the ranks take turns by loc.
# asks: Does the number of the program say who owns a loc?
# family: M5
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (pid % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h twice
# says: Divided twice: the result of a localize was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE // DCP_SIZE, -1), mask=mask)

# %% 1h padding-positive
# says: Padding is being treated as a token on rank D-1: -1 became row 0 there.
# asks: You made the remainder positive. Whose is -1 now?
# family: M8
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owner = (loc % DCP_SIZE + DCP_SIZE) % DCP_SIZE
    row = (loc - owner) // DCP_SIZE
    tl.store(rows_ptr + at, tl.where(owner == DCP_RANK, tl.maximum(row, 0), -1), mask=mask)

# %% 1h padding-clamped
# says: Padding was turned into loc 0, which is a real slot of rank 0.
# asks: After the clamp, can you still tell loc 0 from padding?
# family: M8
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.maximum(tl.load(locs_ptr + at, mask=mask), 0)
    tl.store(rows_ptr + at, tl.where(loc % DCP_SIZE == DCP_RANK, loc // DCP_SIZE, -1), mask=mask)

# %% 1h safe-address
# says: A loc of another rank became row 0: a safe address is not an answer.
# asks: How does the reader tell "not here" from row 0?
# family: M9
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    safe = tl.where(owned, loc, 0)
    tl.store(rows_ptr + at, safe // DCP_SIZE, mask=mask)

# %% 1h owned-only
# says: Entries of other ranks were left as they were: they must become -1.
# asks: What stands in the output where no lane stored anything?
# family: M9
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, loc // DCP_SIZE, mask=mask & owned)

# %% 1h loc-zero
# says: Loc 0 was taken for padding; for a mapping it is a loc like any other.
# asks: Is 0 negative?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc > 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h by-position
# says: The owner was taken from the entry's place in the table, not its loc.
# asks: In a shuffled table, what does the place of an entry say?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (at % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h rank-from-one
# says: You count ranks from 1: this is the row of the rank before.
# asks: Which rank owns loc 0?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK - 1)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h bits
# says: The bit mask is right only where DCP_SIZE is a power of two.
# asks: Which bits of a loc say who owns it when there are six ranks?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & ((loc & (DCP_SIZE - 1)) == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h int32
# says: Locs were cut to 32 bits before anything else.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask).to(tl.int32)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h float32
# says: The row goes through float32, which is exact only below 2^24.
# asks: Which division never leaves the integers?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    row = (loc.to(tl.float32) / DCP_SIZE).to(tl.int64)
    tl.store(rows_ptr + at, tl.where(owned, row, -1), mask=mask)

# %% 1h no-program
# says: Every program does the first block: the program's number is not used.
# asks: Which entries does program 1 have to handle?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h program-unscaled
# says: Programs overlap: program p starts at entry p, not at p * BLOCK.
# asks: How many entries does program 0 handle, and where must program 1 start?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h one-entry
# says: One entry a program: the other lanes of its block have nothing to do.
# asks: How many programs are launched, and how many entries are there?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK
    loc = tl.load(locs_ptr + at)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1))

# %% 1h whole-blocks
# says: The last block is skipped where it is only partly filled.
# asks: How many entries are left over when n is 20 and BLOCK is 16?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n // BLOCK * BLOCK
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h one-short
# says: The last entry is never written: the mask stops one too early.
# asks: Is entry n - 1 yours to write?
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n - 1
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h no-mask
# says: No mask on the tail: lanes past n wrote into somebody else's memory.
# asks: n is 5 and BLOCK is 8. What do the last three lanes do?
# outcome: unsafe
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    loc = tl.load(locs_ptr + at)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1))

# %% 1h store-unmasked
# says: The load is masked, the store is not: lanes past n wrote elsewhere.
# asks: n is 5 and BLOCK is 8. Where do the last three lanes write?
# outcome: unsafe
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    loc = tl.load(locs_ptr + at, mask=at < n, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1))

# %% 1h load-unmasked
# says: The store is masked, the load is not: lanes past n still read elsewhere.
# asks: n is 5 and BLOCK is 8. Whose memory do the last three lanes read?
# outcome: unsafe
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    loc = tl.load(locs_ptr + at)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=at < n)

# %% 1h one-past
# says: The mask lets one lane too many through: entry n belongs to somebody else.
# asks: Which is the last entry of a table of n?
# outcome: unsafe
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at <= n
    loc = tl.load(locs_ptr + at, mask=mask, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h in-place
# says: The rows went into the table of locs: the result belongs in rows_ptr.
# asks: Who else reads locs_ptr after this kernel?
# outcome: unsafe
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(locs_ptr + at, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)

# %% 1h scatter
# says: Rows were stored at the address of the loc: entry i belongs at place i.
# asks: What does loc say: where the answer goes, or what it is about?
# outcome: unsafe
@triton.jit
def localize_page_table_kernel(
    locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    loc = tl.load(locs_ptr + at, mask=mask, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + loc % (4 * BLOCK), tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
