# Answers to 6e: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 6e plain
# outcome: passed
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    here = src_locs % src_size == src_rank
    there = (dst_locs >= 0) & (dst_locs % dst_size == dst_rank)
    both = here & there
    return src_locs[both] // src_size, dst_locs[both] // dst_size

# %% 6e loop
# outcome: passed
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    pairs = [
        (a // src_size, b // dst_size)
        for a, b in zip(src_locs.tolist(), dst_locs.tolist())
        if b != -1 and a % src_size == src_rank and b % dst_size == dst_rank
    ]
    return tuple(
        torch.tensor([pair[side] for pair in pairs], dtype=locs.dtype, device=locs.device)
        for side, locs in enumerate((src_locs, dst_locs))
    )

# %% 6e places
# outcome: passed
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    keep = dst_locs.ge(0) & src_locs.remainder(src_size).eq(src_rank) & dst_locs.remainder(dst_size).eq(dst_rank)
    at = keep.nonzero().flatten()
    return src_locs[at].div(src_size, rounding_mode="floor"), dst_locs[at].div(dst_size, rounding_mode="floor")

# %% 6e no-source-owner
# says: The source rank was not asked: it reads rows of tokens that others hold.
# asks: Which source rank holds this token?
# family: M3
# from: plain
- both = here & there
+ both = there

# %% 6e no-target-owner
# says: The target rank was not asked: it gets tokens that belong to others.
# asks: Which target rank must have this token?
# family: M3
# from: plain
- both = here & there
+ both = here & (dst_locs >= 0)

# %% 6e no-owner
# says: No rank was asked, on either side: every token moves.
# asks: Which two ranks were you asked about?
# family: M3
# from: plain
- both = here & there
+ both = dst_locs >= 0

# %% 6e source-raw
# says: The source is read at its locs: its rows are these divided by its size.
# asks: In which row does rank 1 of two keep loc 17?
# family: M2
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[both], dst_locs[both] // dst_size

# %% 6e target-raw
# says: The target is written at its locs: its rows are these divided by its size.
# asks: In which row does rank 1 of four keep loc 133?
# family: M2
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[both] // src_size, dst_locs[both]

# %% 6e raw
# says: The right tokens, and locs on both sides: nothing was divided.
# asks: How many rows has a rank, and how large is the largest loc?
# family: M2
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[both], dst_locs[both]

# %% 6e source-size-twice
# says: The target's locs were divided by the source's size.
# asks: Over how many ranks do the target's locs run?
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[both] // src_size, dst_locs[both] // src_size

# %% 6e target-size-twice
# says: The source's locs were divided by the target's size.
# asks: Over how many ranks do the source's locs run?
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[both] // dst_size, dst_locs[both] // dst_size

# %% 6e sizes-swapped
# says: The sizes are swapped: each side divides by its own.
# asks: Which size belongs to src_locs?
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    both = (dst_locs >= 0) & (src_locs % dst_size == src_rank) & (dst_locs % src_size == dst_rank)
    return src_locs[both] // dst_size, dst_locs[both] // src_size

# %% 6e sides-swapped
# says: Rows read and rows written are swapped.
# asks: Which of the two comes first: where it is read, or where it is written?
# family: M4
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return dst_locs[both] // dst_size, src_locs[both] // src_size

# %% 6e ranks-swapped
# says: The ranks are swapped: the source was asked for the target's.
# asks: Whose rank is src_rank?
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    both = (dst_locs >= 0) & (src_locs % src_size == dst_rank) & (dst_locs % dst_size == src_rank)
    return src_locs[both] // src_size, dst_locs[both] // dst_size

# %% 6e relayout
# says: The target's row was computed from the source's loc: it has locs of its own.
# asks: Are a token's locs the same number on both nodes?
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[both] // src_size, src_locs[both] // dst_size

# %% 6e source-locs-only
# says: Both sides were computed from the source's locs: the pages differ.
# asks: Which page did the decode node give this request?
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    both = (dst_locs >= 0) & (src_locs % src_size == src_rank) & (src_locs % dst_size == dst_rank)
    return src_locs[both] // src_size, src_locs[both] // dst_size

# %% 6e same-rank
# says: Only pairs of one rank number meet here: 5 of 8 and 1 of 4 meet as well.
# asks: Which target rank gets what source rank 5 of 8 holds?
# from: plain
- both = here & there
+ both = here & there
+ if src_rank != dst_rank:
+     both = both & False

# %% 6e product
# says: The sizes were multiplied: each side asks for itself.
# asks: What does the source's rank know of the target's size?
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    n = src_size * dst_size
    both = (dst_locs >= 0) & (src_locs % n == src_rank) & (dst_locs % n == dst_rank)
    return src_locs[both] // src_size, dst_locs[both] // dst_size

# %% 6e separate-masks
# says: Each side has a mask of its own: the two lists no longer belong together.
# asks: Which token is entry 1 of either list?
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[here] // src_size, dst_locs[there] // dst_size

# %% 6e cached-moves
# says: A target loc of -1 moves too: -1 % T is the last rank, row -1.
# asks: Which target rank does torch give for -1?
# family: M8
# from: plain
- there = (dst_locs >= 0) & (dst_locs % dst_size == dst_rank)
+ there = dst_locs % dst_size == dst_rank

# %% 6e cached-clamped
# says: -1 became loc 0, which is rank 0's: cached tokens overwrite its row 0.
# asks: After the clamp, can you still tell loc 0 from -1?
# family: M8
# from: plain
- here = src_locs % src_size == src_rank
+ dst_locs = dst_locs.clamp(min=0)
+ here = src_locs % src_size == src_rank

# %% 6e zero-dropped
# says: Loc 0 of the target was dropped: it is a loc like any other here.
# asks: Which target loc says that a token does not move?
# from: plain
- there = (dst_locs >= 0) & (dst_locs % dst_size == dst_rank)
+ there = (dst_locs > 0) & (dst_locs % dst_size == dst_rank)

# %% 6e source-zero-dropped
# says: Loc 0 of the source was dropped: it is a loc like any other here.
# asks: What does loc 0 of the source hold?
# from: plain
- here = src_locs % src_size == src_rank
+ here = (src_locs > 0) & (src_locs % src_size == src_rank)

# %% 6e views
# says: Every D-th entry on both sides: right only for runs that begin at owner 0.
# asks: Whose is entry 0 of a chunk that begins in the middle of a turn?
# family: M5
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    place = torch.arange(len(src_locs), device=src_locs.device)
    both = (dst_locs >= 0) & (place % src_size == src_rank) & (place % dst_size == dst_rank)
    return src_locs[both] // src_size, dst_locs[both] // dst_size

# %% 6e source-view
# says: The source's owner was taken from the place in the list, not from the loc.
# asks: Whose is entry 0 of a chunk that begins in the middle of a turn?
# family: M5
# from: plain
- here = src_locs % src_size == src_rank
+ here = torch.arange(len(src_locs), device=src_locs.device) % src_size == src_rank

# %% 6e quotient
# says: Owner and row are swapped on both sides.
# asks: Which of % and // can be as large as the pool?
# family: M4
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    both = (dst_locs >= 0) & (src_locs // src_size == src_rank) & (dst_locs // dst_size == dst_rank)
    return src_locs[both] % src_size, dst_locs[both] % dst_size

# %% 6e twice
# says: Divided twice on the target: after the first time it is a row.
# asks: What is 133 // 4 // 4?
# family: M6
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[both] // src_size, dst_locs[both] // dst_size // dst_size

# %% 6e holes
# says: Others' tokens stand there as -1: only those that move are asked for.
# asks: How many tokens move between these two ranks?
# family: M9
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return torch.where(both, src_locs // src_size, -1), torch.where(both, dst_locs // dst_size, -1)

# %% 6e sorted
# says: The target's rows are sorted: the tokens on the two sides no longer agree.
# asks: Must a later token have a larger loc?
# family: M14
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return src_locs[both] // src_size, (dst_locs[both] // dst_size).sort().values

# %% 6e one-list
# says: One list of pairs came out; two lists of rows are asked for.
# asks: What does a gather take, and what does a scatter?
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return torch.stack([src_locs[both] // src_size, dst_locs[both] // dst_size])

# %% 6e a-list
# outcome: passed
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return [src_locs[both] // src_size, dst_locs[both] // dst_size]

# %% 6e one-dtype
# says: Both lists have one dtype: each has that of its own locs.
# asks: Which dtype have the source's locs?
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return (src_locs[both] // src_size).long(), (dst_locs[both] // dst_size).long()

# %% 6e narrow
# says: Rows are computed in 32 bits: past 2^31 they wrap.
# asks: How large can a loc be that fits int32?
# family: M16
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return (src_locs[both].int() // src_size).to(src_locs.dtype), (dst_locs[both].int() // dst_size).to(dst_locs.dtype)

# %% 6e float
# says: The division goes through floats, which lose large numbers.
# asks: Which division never leaves the integers?
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ return (src_locs[both] / src_size).to(src_locs.dtype), (dst_locs[both] / dst_size).to(dst_locs.dtype)

# %% 6e bits
# says: Bit tricks are right only where the sizes are powers of two.
# asks: What does loc & 2 tell for three ranks?
# from: plain
- there = (dst_locs >= 0) & (dst_locs % dst_size == dst_rank)
+ there = (dst_locs >= 0) & ((dst_locs & (dst_size - 1)) == dst_rank)

# %% 6e view-of-one
# says: With one rank on both sides you hand back the caller's own tensors.
# asks: What becomes of the locs if somebody changes your result?
# outcome: unsafe
# from: plain
- here = src_locs % src_size == src_rank
+ if src_size == dst_size == 1 and (dst_locs >= 0).all():
+     return src_locs, dst_locs
+ here = src_locs % src_size == src_rank

# %% 6e in-place
# says: The target's locs were changed in place: its table still needs them.
# asks: Who reads dst_locs after you?
# outcome: unsafe
# from: plain
- return src_locs[both] // src_size, dst_locs[both] // dst_size
+ dst_locs //= dst_size
+ return src_locs[both] // src_size, dst_locs[both]

# %% 6e either-mask
# says: A token moves if both ranks hold it: here one of the two is enough.
# asks: Which row does a source rank read of a token that another one holds?
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    move = (dst_locs >= 0) & ((src_locs % src_size == src_rank) | (dst_locs % dst_size == dst_rank))
    return src_locs[move] // src_size, dst_locs[move] // dst_size

# %% 6e remainders
# says: These are owners on both sides; a row is the quotient.
# asks: What does loc % S tell?
def transfer_rows(src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank):
    move = (dst_locs >= 0) & (src_locs % src_size == src_rank) & (dst_locs % dst_size == dst_rank)
    return src_locs[move] % src_size, dst_locs[move] % dst_size
