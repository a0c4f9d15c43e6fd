# Answers to 2d: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 2d size
# says: The spare page is forgotten: the buffers have page_size more than size.
# asks: Is index size inside or outside when there are size + page_size?
# family: M10
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max(size * dcp_size if consumer == "draft" else size, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d never-issued
# says: This index is outside, but nobody gets it: the first loc issued is P * D.
# asks: In which allocator page does this loc lie?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = (size * dcp_size if consumer == "draft" else size) + page_size
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d no-end
# says: This loc is never issued: it lies beyond the largest one, so nothing breaks.
# asks: What is the largest loc when dcp_size is 1?
def first_loc_out(consumer, size, page_size, dcp_size):
    return max((size * dcp_size if consumer == "draft" else size) + page_size, page_size * dcp_size)

# %% 2d last-inside
# says: This is the last loc that still fits, one before the first that does not.
# asks: A buffer of 12 slots has indices 0 to 11. Which is the first outside?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max((size * dcp_size if consumer == "draft" else size) + page_size - 1, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d second-outside
# says: One too far: the index that equals the number of slots is outside already.
# asks: A buffer of 12 slots has indices 0 to 11. Which is the first outside?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max((size * dcp_size if consumer == "draft" else size) + page_size + 1, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d strict
# says: The largest loc counts as well: where it alone is outside, this says None.
# asks: Is the largest loc issued?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max((size * dcp_size if consumer == "draft" else size) + page_size, page_size * dcp_size)
    return first if first < largest_loc(size, page_size, dcp_size) else None

# %% 2d draft-as-rank
# says: The draft's pool was scaled by #32828: it has size * dcp_size + page_size rows.
# asks: Which of the three was made D times larger, and by how much too little?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max(size + page_size, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d draft-mended
# says: The last (D - 1) * P locs lie outside the draft as #32828 left it.
# asks: How long is the draft's spare page before its page size is scaled?
# family: M10
def first_loc_out(consumer, size, page_size, dcp_size):
    have = (size + page_size) * dcp_size if consumer == "draft" else size + page_size
    first = max(have, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d index-k-patched
# says: This is index-K after #36989; unpatched it has one rank's slots.
# asks: What does index_buf_size fall back to when nobody passes it on?
# family: M10
def first_loc_out(consumer, size, page_size, dcp_size):
    have = (size if consumer == "ckv_raw" else size * dcp_size) + page_size
    first = max(have, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d ckv-localized
# says: The c-KV is written raw here: without the division a loc is used as the row.
# asks: What does "raw" leave out?
# family: M1
def first_loc_out(consumer, size, page_size, dcp_size):
    if consumer == "ckv_raw":
        return None
    first = max((size * dcp_size if consumer == "draft" else size) + page_size, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d page-start
# says: This is where the page begins in which it breaks; part of that page still fits.
# asks: Which is the first loc of that page that has no slot?
def first_loc_out(consumer, size, page_size, dcp_size):
    width = page_size * dcp_size
    first = max((size * dcp_size if consumer == "draft" else size) + page_size, width)
    return first // width * width if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d next-page
# says: It breaks in the middle of a page, not where the next one begins.
# asks: Is the end of the buffer the end of an allocator page?
def first_loc_out(consumer, size, page_size, dcp_size):
    width = page_size * dcp_size
    first = -(-((size * dcp_size if consumer == "draft" else size) + page_size) // width) * width
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d page
# says: This is an allocator page; a loc is asked for.
# asks: Which loc of that page is the first that falls outside?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max((size * dcp_size if consumer == "draft" else size) + page_size, page_size * dcp_size)
    return first // (page_size * dcp_size) if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d not-whole-pages
# says: The tail of a size that fills no page is never issued: the last loc is lower.
# asks: What is largest_loc for a size that is no whole pages?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max((size * dcp_size if consumer == "draft" else size) + page_size, page_size * dcp_size)
    return first if first <= (size + page_size) * dcp_size - 1 else None

# %% 2d minus-one
# says: Where nothing falls outside the answer is None; -1 is padding, a number.
# asks: What would a comparison with -1 say?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max((size * dcp_size if consumer == "draft" else size) + page_size, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else -1

# %% 2d whole-pages-of-rows
# says: A pool has size + page_size rows, also where that is no whole pages.
# asks: How many rows are there, and how many of them are ever used?
def first_loc_out(consumer, size, page_size, dcp_size):
    whole = size // page_size * page_size
    first = max((whole * dcp_size if consumer == "draft" else whole) + page_size, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d ckv-scaled
# says: c-KV is sharded: the norope write meets size + page_size rows, not D times it.
# asks: Which of the three was made D times larger?
# family: M12
def first_loc_out(consumer, size, page_size, dcp_size):
    slots = size + page_size if consumer == "index_k" else size * dcp_size + page_size
    first = max(slots, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d clamped
# says: Where every loc fits the answer is None; the largest loc is one that fits.
# asks: What is the largest loc when dcp_size is 1, and does it have a slot?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max((size * dcp_size if consumer == "draft" else size) + page_size, page_size * dcp_size)
    return min(first, largest_loc(size, page_size, dcp_size))

# %% 2d max
# outcome: passed
def first_loc_out(consumer, size, page_size, dcp_size):
    slots = {"index_k": size + page_size, "ckv_raw": size + page_size, "draft": size * dcp_size + page_size}[consumer]
    first = max(slots, page_size * dcp_size)
    return first if first <= largest_loc(size, page_size, dcp_size) else None

# %% 2d range
# outcome: passed
def first_loc_out(consumer, size, page_size, dcp_size):
    have = (size * dcp_size if consumer == "draft" else size) + page_size
    width = page_size * dcp_size
    issued = range(width, (size // page_size + 1) * width)
    if have >= issued.stop:
        return None
    return have if have in issued else issued.start

# %% 2d pages-of-index-k
# outcome: passed
def first_loc_out(consumer, size, page_size, dcp_size):
    if consumer == "index_k":
        have = (size + page_size + 1) // page_size * page_size
    elif consumer == "ckv_raw":
        have = size + page_size
    else:
        have = size * dcp_size + page_size
    candidates = [have, page_size * dcp_size]
    candidates.sort()
    return None if candidates[1] > largest_loc(size, page_size, dcp_size) else candidates[1]

# %% 2d nopage
# says: The spare page was left out: a buffer has size + page_size places.
# asks: How many rows has one rank, the spare page too?
def first_loc_out(consumer, size, page_size, dcp_size):
    last = (size // page_size + 1) * page_size * dcp_size - 1
    have = size * dcp_size + page_size if consumer == "draft" else size
    first = max(have, page_size * dcp_size)
    return first if first <= last else None

# %% 2d last
# says: This is the largest loc; asked for is the first that does not fit.
# asks: Which of the locs that fall outside comes first?
def first_loc_out(consumer, size, page_size, dcp_size):
    last = (size // page_size + 1) * page_size * dcp_size - 1
    have = size * dcp_size + page_size if consumer == "draft" else size + page_size
    first = max(have, page_size * dcp_size)
    return last if first <= last else None

# %% 2d draftw
# says: The draft was taken for size * D places; #32828 left it with a spare page of P.
# asks: What stands in the table behind the draft?
def first_loc_out(consumer, size, page_size, dcp_size):
    last = (size // page_size + 1) * page_size * dcp_size - 1
    have = size * dcp_size if consumer == "draft" else size + page_size
    first = max(have, page_size * dcp_size)
    return first if first <= last else None

# %% 2d zero
# says: Where nothing falls outside the answer is None; 0 is a loc.
# asks: What does the docstring say for a server on which all fits?
def first_loc_out(consumer, size, page_size, dcp_size):
    last = (size // page_size + 1) * page_size * dcp_size - 1
    have = size * dcp_size + page_size if consumer == "draft" else size + page_size
    first = max(have, page_size * dcp_size)
    return first if first <= last else 0

# %% 2d one-after
# says: One too far: this comes after the first loc that falls outside.
# asks: A buffer of 12 slots has indices 0 to 11. Which is the first outside?
def first_loc_out(consumer, size, page_size, dcp_size):
    first = max((size * dcp_size if consumer == "draft" else size) + page_size, page_size * dcp_size) + 1
    return first if first <= largest_loc(size, page_size, dcp_size) else None
