# Answers to 1a: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

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

# %% 1a four
# says: 4 is written in it: dcp_size says how many ranks there are.
# asks: Who owns loc 4 when there are six ranks?
def owner_rank(loc, dcp_size):
    return loc % 4

# %% 1a loop-free-subtraction
# outcome: passed
def owner_rank(loc, dcp_size):
    return loc - loc // dcp_size * dcp_size

# %% 1a by-type
# outcome: passed
def owner_rank(loc, dcp_size):
    if torch.is_tensor(loc):
        return torch.remainder(loc, dcp_size)
    return divmod(loc, dcp_size)[1]

# %% 1a fmod
# outcome: passed
def owner_rank(loc, dcp_size):
    return torch.fmod(loc, dcp_size) if isinstance(loc, torch.Tensor) else loc % dcp_size

# %% 1a helper-and-constant
# outcome: passed
LAYOUT = {"interleave": 1}

def group_of(loc, width):
    return loc // width

def owner_rank(loc, dcp_size, interleave=LAYOUT["interleave"]):
    return group_of(loc, interleave) % dcp_size

# %% 1a lambda
# outcome: passed
owner_rank = lambda loc, dcp_size: loc % dcp_size

# %% 1a tolist
# outcome: passed
def owner_rank(loc, dcp_size):
    if not isinstance(loc, torch.Tensor):
        return loc % dcp_size
    owners = [x % dcp_size for x in loc.flatten().tolist()]
    return torch.tensor(owners, dtype=loc.dtype, device=loc.device).reshape(loc.shape)

# %% 1a reverse
# says: The ranks are counted from the last one: loc 0 goes to rank 0.
# asks: In which order do the ranks take turns?
def owner_rank(loc, dcp_size):
    return dcp_size - 1 - loc % dcp_size

# %% 1a blocks
# says: Each rank gets one long stretch of locs; they go out by turns, one at a time.
# asks: Who stores loc 1, if rank 0 stores loc 0?
def owner_rank(loc, dcp_size):
    n = loc.numel() if isinstance(loc, torch.Tensor) else 1
    return loc // max(n // dcp_size, 1)

# %% 1a min
# says: All later locs go to the last rank: after it rank 0 has its turn.
# asks: Whose turn is it after the last rank's?
def owner_rank(loc, dcp_size):
    return min(loc, dcp_size - 1) if isinstance(loc, int) else loc.clamp(max=dcp_size - 1)

# %% 1a list-2
# says: It goes through the locs one by one; one number, and a table, are locs too.
# asks: What does a loop do with a tensor that has no dimension, or two?
# outcome: crashed
def owner_rank(loc, dcp_size):
    return [l % dcp_size for l in loc] if not isinstance(loc, int) else loc % dcp_size

# %% 1a tensoronly
# says: This works for a tensor only; a single int must do as well.
# asks: Which operator takes both an int and a tensor?
# outcome: crashed
def owner_rank(loc, dcp_size):
    return torch.remainder(loc, dcp_size)
