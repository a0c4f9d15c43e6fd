# Answers to 7d: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 7d plain
# outcome: passed
def kernel_block_table(block_table, block_size, kernel_block_size):
    if block_size % kernel_block_size != 0:
        raise ValueError("the sizes do not fit")
    k = block_size // kernel_block_size
    parts = torch.arange(k, dtype=block_table.dtype, device=block_table.device)
    wide = block_table.unsqueeze(-1) * k + parts
    wide = wide.masked_fill(block_table.unsqueeze(-1) < 0, -1)
    return wide.flatten(1)

def slot_mapping(block_table, req_indices, positions, block_size):
    column = positions.long() // block_size
    block = block_table[req_indices.long(), column].to(torch.int64)
    slot = block * block_size + positions % block_size
    slot[block < 0] = -1
    return slot

# %% 7d loops
# outcome: passed
def kernel_block_table(block_table, block_size, kernel_block_size):
    k, left = divmod(block_size, kernel_block_size)
    if left:
        raise ValueError(f"{left} tokens are left over")
    wide = torch.empty((block_table.shape[0], block_table.shape[1] * k), dtype=block_table.dtype, device=block_table.device)
    for part in range(k):
        wide[:, part::k] = torch.where(block_table < 0, block_table, block_table * k + part)
    return wide

def slot_mapping(block_table, req_indices, positions, block_size):
    slots = []
    for req, position in zip(req_indices.tolist(), positions.tolist()):
        block = int(block_table[req, position // block_size])
        slots.append(-1 if block < 0 else block * block_size + position % block_size)
    return torch.tensor(slots, dtype=torch.int64, device=block_table.device)

# %% 7d repeated
# outcome: passed
def kernel_block_table(block_table, block_size, kernel_block_size):
    if block_size % kernel_block_size:
        raise ValueError("no whole number")
    k = block_size // kernel_block_size
    wide = block_table.repeat_interleave(k, dim=1)
    parts = torch.arange(k, dtype=block_table.dtype, device=block_table.device).repeat(block_table.shape[1])
    return torch.where(wide >= 0, wide * k + parts, wide)

def slot_mapping(block_table, req_indices, positions, block_size):
    at = req_indices.long() * block_table.shape[1] + positions.long() // block_size
    block = block_table.reshape(-1)[at].long()
    return torch.where(block == -1, block, block * block_size + positions % block_size)

# %% 7d padding-multiplied
# says: Padding was multiplied like a block: -1 became -2 and others.
# asks: How does the kernel see that there is no block?
# family: M8
# from: plain
- wide = wide.masked_fill(block_table.unsqueeze(-1) < 0, -1)

# %% 7d padding-once
# says: Of a padded block only the first part is padding; all its parts are.
# asks: How many columns does one padded block become?
# family: M8
# from: plain
- wide = wide.masked_fill(block_table.unsqueeze(-1) < 0, -1)
+ wide[..., 0] = torch.where(block_table < 0, -1, wide[..., 0])

# %% 7d padding-to-zero
# says: Padding became block 0, which is a real block.
# asks: How does the kernel see that there is no block?
# family: M9
# from: plain
- wide = wide.masked_fill(block_table.unsqueeze(-1) < 0, -1)
+ wide = wide.masked_fill(block_table.unsqueeze(-1) < 0, 0)

# %% 7d block-zero
# says: Block 0 was taken for padding; it is a block like any other here.
# asks: Which number pads the table?
# from: plain
- wide = wide.masked_fill(block_table.unsqueeze(-1) < 0, -1)
+ wide = wide.masked_fill(block_table.unsqueeze(-1) <= 0, -1)

# %% 7d same-number
# says: Each part got the number of the whole: the kernel's blocks have their own.
# asks: Block 5 of 128 begins at slot 640. Which block of 64 begins there?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = block_table.unsqueeze(-1) + 0 * parts

# %% 7d first-part
# says: Each part got the number of the first one: they are next to each other.
# asks: Which slots has the second part of a block?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = block_table.unsqueeze(-1) * k + 0 * parts

# %% 7d not-multiplied
# says: Parts were counted on from the manager's number, which was not multiplied.
# asks: How many of the kernel's blocks stand before the manager's block 5?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = block_table.unsqueeze(-1) + parts

# %% 7d by-kernel-size
# says: Multiplied by the kernel's size: these are tokens; k blocks are asked for.
# asks: How many of the kernel's blocks make one of the manager's?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = block_table.unsqueeze(-1) * kernel_block_size + parts

# %% 7d first-slots
# says: These are slots, the first of each part; numbers of blocks are asked for.
# asks: What does the kernel multiply these numbers by?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = block_table.unsqueeze(-1) * block_size + parts * kernel_block_size

# %% 7d divided
# says: The number was divided: the kernel's blocks are smaller, so there are more.
# asks: Is block 5 of 128 a larger or a smaller number in blocks of 64?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = block_table.unsqueeze(-1) // k + parts

# %% 7d parts-from-one
# says: Parts are counted from 1: each one is the next block's.
# asks: With which of the kernel's blocks does the manager's block 0 begin?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = block_table.unsqueeze(-1) * k + parts + 1

# %% 7d backwards
# says: The parts of a block stand backwards: its first tokens come first.
# asks: In which column of the kernel's table is position 0?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = block_table.unsqueeze(-1) * k + parts.flip(0)

# %% 7d part-major
# says: First all first parts, then all second ones: parts of a block are neighbours.
# asks: In which column of the kernel's table is the second part of block 5?
# from: plain
- return wide.flatten(1)
+ return wide.transpose(1, 2).flatten(1)

# %% 7d three-dimensions
# says: The parts have a dimension of their own; a line a request is asked for.
# asks: What shape has a block table?
# from: plain
- return wide.flatten(1)
+ return wide

# %% 7d one-line
# says: All requests stand in one line; each has its own.
# asks: What shape has a block table?
# from: plain
- return wide.flatten(1)
+ return wide.flatten()

# %% 7d no-check
# says: No ValueError: it is due where block_size % kernel_block_size is not 0.
# asks: Which of the kernel's blocks of 48 has token 63 of a block of 64?
# from: plain
- if block_size % kernel_block_size != 0:
-     raise ValueError("the sizes do not fit")

# %% 7d no-check-at-least-one
# says: No check: where b does not divide B, tokens at a block's end have no block.
# asks: Which of the kernel's blocks of 48 has token 63 of a block of 64?
# from: plain
- if block_size % kernel_block_size != 0:
-     raise ValueError("the sizes do not fit")
- k = block_size // kernel_block_size
+ k = max(block_size // kernel_block_size, 1)

# %% 7d larger-only
# says: Only a kernel's block that is too large is refused; it must divide, too.
# asks: Which of the kernel's blocks of 48 has token 63 of a block of 64?
# from: plain
- if block_size % kernel_block_size != 0:
+ if kernel_block_size > block_size:

# %% 7d check-reversed
# says: The check is the other way round: B must be a multiple of b.
# asks: Which of 128 and 64 is a multiple of the other?
# outcome: crashed
# from: plain
- if block_size % kernel_block_size != 0:
+ if kernel_block_size % block_size != 0:

# %% 7d assert
# says: AssertionError is not ValueError, and python -O takes an assert out.
# asks: Which exception is asked for?
# from: plain
- if block_size % kernel_block_size != 0:
-     raise ValueError("the sizes do not fit")
+ assert block_size % kernel_block_size == 0

# %% 7d two-to-one
# says: 2 is written in it: the sizes say how many parts a block has.
# asks: How many blocks of 16 make one of 64?
# from: plain
- k = block_size // kernel_block_size
+ k = 2

# %% 7d table-narrow
# says: The table came back as int32: it has the dtype of the manager's.
# asks: Which dtype has the table that you were given?
# from: plain
- return wide.flatten(1)
+ return wide.flatten(1).int()

# %% 7d table-widen
# says: The table came back as int64: it has the dtype of the manager's.
# asks: Which dtype has torch.arange, if nothing is said?
# from: plain
- parts = torch.arange(k, dtype=block_table.dtype, device=block_table.device)
+ parts = torch.arange(k, device=block_table.device)

# %% 7d table-float
# says: Numbers go through float64, which loses them past 2^53.
# asks: Does a block's number ever need a float?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = (block_table.unsqueeze(-1).double() * k + parts).to(block_table.dtype)

# %% 7d table-itself
# says: Where the sizes are equal you hand back the manager's own table.
# asks: What does the manager hold after somebody changes your table?
# outcome: unsafe
# from: plain
- parts = torch.arange(k, dtype=block_table.dtype, device=block_table.device)
+ if k == 1:
+     return block_table
+ parts = torch.arange(k, dtype=block_table.dtype, device=block_table.device)

# %% 7d table-in-place
# says: The manager's table was changed: it still counts in its own blocks.
# asks: Who reads block_table after you?
# outcome: unsafe
# from: plain
- wide = wide.masked_fill(block_table.unsqueeze(-1) < 0, -1)
+ wide = wide.masked_fill(block_table.unsqueeze(-1) < 0, -1)
+ block_table[block_table >= 0] *= k

# %% 7d slot-padding
# says: Padding was multiplied: a token without a block got a negative slot, or one.
# asks: What is -1 * 16 + 15, and whose slot is it?
# family: M8
# from: plain
- slot[block < 0] = -1

# %% 7d slot-padding-clamped
# says: A token without a block was sent to block 0, where somebody else's lie.
# asks: After the clamp, can you still tell block 0 from padding?
# family: M8
# from: plain
- block = block_table[req_indices.long(), column].to(torch.int64)
+ block = block_table[req_indices.long(), column].to(torch.int64).clamp(min=0)

# %% 7d slot-padding-zero
# says: A token without a block got slot 0, which is a real slot.
# asks: What must a writer see where there is no block?
# family: M9
# from: plain
- slot[block < 0] = -1
+ slot[block < 0] = 0

# %% 7d slot-padding-dropped
# says: Tokens without a block are missing: each token keeps its place.
# asks: How many slots are asked for, if n tokens are given?
# outcome: wrong
# from: plain
- slot[block < 0] = -1
- return slot
+ return slot[block >= 0]

# %% 7d slot-block-zero
# says: Block 0 was taken for padding; it is a block like any other here.
# asks: Which number pads the table?
# from: plain
- slot[block < 0] = -1
+ slot[block <= 0] = -1

# %% 7d slot-zero
# says: Slot 0 was taken for padding; it is a slot like any other.
# asks: Which number pads the table, and what is a slot?
# from: plain
- slot[block < 0] = -1
+ slot[slot <= 0] = -1

# %% 7d block-alone
# says: These are blocks: the place in the block is missing, and the size.
# asks: How many tokens has one block?
# from: plain
- slot = block * block_size + positions % block_size
+ slot = block + 0 * positions

# %% 7d no-place
# says: The place in the block is missing: all its tokens get its first slot.
# asks: By how much do the slots of two neighbours differ?
# family: M3
# from: plain
- slot = block * block_size + positions % block_size
+ slot = block * block_size + 0 * positions

# %% 7d place-alone
# says: The block is missing: the place in it is not yet a slot.
# asks: In which block is this token?
# from: plain
- slot = block * block_size + positions % block_size
+ slot = 0 * block + positions % block_size

# %% 7d not-widened
# says: The block's number was not multiplied by its size.
# asks: With which slot does block 5 of 16 tokens begin?
# from: plain
- slot = block * block_size + positions % block_size
+ slot = block + positions % block_size

# %% 7d whole-position
# says: The whole position was added: only its place in the block is.
# asks: What of position 70 is counted already by its column?
# from: plain
- slot = block * block_size + positions % block_size
+ slot = block * block_size + positions

# %% 7d position-as-slot
# says: These are positions: the table was not asked where they lie.
# asks: Two requests have a position 3. Have they one slot?
# family: M1
def kernel_block_table(block_table, block_size, kernel_block_size):
    if block_size % kernel_block_size != 0:
        raise ValueError("the sizes do not fit")
    k = block_size // kernel_block_size
    parts = torch.arange(k, dtype=block_table.dtype, device=block_table.device)
    wide = block_table.unsqueeze(-1) * k + parts
    return wide.masked_fill(block_table.unsqueeze(-1) < 0, -1).flatten(1)

def slot_mapping(block_table, req_indices, positions, block_size):
    return positions.long().clone()

# %% 7d first-request
# says: All tokens were looked up in the first request's line.
# asks: Which line of the table is this token's?
# from: plain
- block = block_table[req_indices.long(), column].to(torch.int64)
+ block = block_table[0, column].to(torch.int64)

# %% 7d token-is-request
# says: The n-th token was taken for the n-th request's.
# asks: Which line of the table is this token's?
# outcome: crashed
# from: plain
- block = block_table[req_indices.long(), column].to(torch.int64)
+ block = block_table[torch.arange(len(positions), device=positions.device), column].to(torch.int64)

# %% 7d sorted
# says: Slots were sorted: each token keeps its place.
# asks: Must a later token have a larger slot?
# family: M14
# from: plain
- return slot
+ return slot.sort().values

# %% 7d int32
# says: The product was taken in the table's 32 bits, and wrapped.
# asks: What is 2^26 * 64 in an int32?
# family: M16
# from: plain
- block = block_table[req_indices.long(), column].to(torch.int64)
+ block = block_table[req_indices.long(), column]

- return slot
+ return slot.long()

# %% 7d slot-narrow
# says: Slots came back as int32: int64 is asked for.
# asks: How many tokens has a pool that int32 cannot count?
# family: M16
# from: plain
- return slot
+ return slot.int()

# %% 7d table-dtype
# says: Slots have the table's dtype; int64 is asked for, and a slot is B times larger.
# asks: Does B times a block's number still fit?
# family: M16
# from: plain
- return slot
+ return slot.to(block_table.dtype)

# %% 7d slot-float
# says: Slots go through float64, which loses them past 2^53.
# asks: Does a slot ever need a float?
# from: plain
- slot = block * block_size + positions % block_size
+ slot = (block.double() * block_size + positions % block_size).long()

# %% 7d slot-list
# says: A tensor is asked for, and a list came out.
# asks: What will a writer index its pool with?
# from: plain
- return slot
+ return slot.tolist()

# %% 7d bits
# says: Shift and mask are right only where the size is a power of two.
# asks: By how many bits would you shift for blocks of 48?
# outcome: wrong
# from: plain
- column = positions.long() // block_size
+ column = positions.long() >> (block_size - 1).bit_length()

# %% 7d positions-in-place
# says: The caller's positions were changed in place.
# asks: What does %= do to the caller's tensor?
# outcome: unsafe
# from: plain
- slot = block * block_size + positions % block_size
+ positions %= block_size
+ slot = block * block_size + positions

# %% 7d reshape
# says: reshape cannot work out a -1 where a table has no request.
# asks: How wide is the kernel's table, if you say it yourself?
# outcome: crashed
# from: plain
- return wide.flatten(1)
+ return wide.reshape(block_table.shape[0], -1)

# %% 7d slot-as-it-comes
# says: Padding was multiplied too, and in the table's 32 bits a product wraps.
# asks: What are -1 * 16 + 15, and 2^26 * 64 in an int32?
# family: M8
# from: plain
- block = block_table[req_indices.long(), column].to(torch.int64)
+ block = block_table[req_indices.long(), column]

- slot[block < 0] = -1

# %% 7d table-wrapped
# says: Numbers of 2^31 and more wrapped: they went through int32.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
# from: plain
- return wide.flatten(1)
+ return wide.flatten(1).int().to(block_table.dtype)

# %% 7d table-float32
# says: Numbers go through float32, which loses them past 2^24.
# asks: Does a block's number ever need a float?
# from: plain
- wide = block_table.unsqueeze(-1) * k + parts
+ wide = (block_table.unsqueeze(-1).float() * k + parts).to(block_table.dtype)

# %% 7d slot-wrapped
# says: Slots of 2^31 and more wrapped: they went through int32.
# asks: What is 2^26 * 64 in an int32?
# family: M16
# from: plain
- return slot
+ return slot.int().long()

# %% 7d slot-float32
# says: Slots go through float32, which loses them past 2^24.
# asks: Does a slot ever need a float?
# from: plain
- slot = block * block_size + positions % block_size
+ slot = (block.float() * block_size + positions % block_size).long()

# %% 7d position-before
# says: One was taken off each position: they count from 0 already.
# asks: In which slot of its first block is position 0?
# from: plain
- column = positions.long() // block_size
+ positions = positions - 1
+ column = positions.long() // block_size

# %% 7d requests-sorted
# says: Requests were sorted: each token keeps its own line.
# asks: Do the tokens of a batch stand request by request?
# family: M14
# from: plain
- block = block_table[req_indices.long(), column].to(torch.int64)
+ block = block_table[req_indices.long().sort().values, column].to(torch.int64)

# %% 7d line-by-order
# says: Lines were counted among this batch's requests: req_indices is the line.
# asks: Which line is request 2's, if request 1 has no token here?
# from: plain
- block = block_table[req_indices.long(), column].to(torch.int64)
+ block = block_table[torch.unique(req_indices, return_inverse=True)[1], column].to(torch.int64)

# %% 7d position-in-batch
# says: The token's place in the batch was taken for its position in the request.
# asks: What does positions say of the first token?
# family: M14
# from: plain
- column = positions.long() // block_size
+ positions = torch.arange(len(positions), device=positions.device)
+ column = positions // block_size
