# Wrong answers to lab 02: what people type, and the sentence that each must get. One cell an answer.
# The first cell stands before every answer. docs/misconceptions.md describes the families M1 to M16.

# %% preamble
import math

import torch
import triton
import triton.language as tl


def largest_loc(size, page_size, dcp_size):
    return (size // page_size + 1) * page_size * dcp_size - 1


def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size if is_draft_worker else 1


def pool_page_size(page_size, scale):
    return page_size * scale


def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size * (dcp_size - 1)


def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * (c + k) / (c + dcp_size * k)


# %% 2a capacity
# says: C * D counts the locs, but they do not start at 0: page 0 is never issued.
# asks: What is the first loc that a request can get?
# family: M10
def largest_loc(size, page_size, dcp_size):
    return size * dcp_size - 1

# %% 2a capacity-count
# says: C * D is a count of slots, neither the largest loc nor shifted by page 0.
# asks: What is the first loc that a request can get?
# family: M10
def largest_loc(size, page_size, dcp_size):
    return size * dcp_size

# %% 2a size
# says: size is one rank's rows; locs count the slots of all ranks together.
# asks: How many locs does one row of every rank make?
# family: M10
def largest_loc(size, page_size, dcp_size):
    return size - 1

# %% 2a size-itself
# says: size is a capacity in rows, no loc: the first one past it is not the last.
# asks: How many locs does one row of every rank make?
# family: M10
def largest_loc(size, page_size, dcp_size):
    return size

# %% 2a rows
# says: This is the largest row of a rank. A row holds D locs, one on each rank.
# asks: Which locs lie in the last row of the last page?
# family: M11
def largest_loc(size, page_size, dcp_size):
    return (size // page_size + 1) * page_size - 1

# %% 2a pool-rows
# says: size + page_size is how many rows a rank's pool has, not how far locs go.
# asks: Which locs lie in the last row of the last page?
# family: M11
def largest_loc(size, page_size, dcp_size):
    return size + page_size - 1

# %% 2a narrow-page
# says: The spare page is counted in rows: an allocator page is P * D locs wide.
# asks: How many locs does page 0 take up?
# family: M10
def largest_loc(size, page_size, dcp_size):
    return size * dcp_size + page_size - 1

# %% 2a not-whole-pages
# says: Right where P divides C; a tail that fills no page is never issued.
# asks: How many whole pages do 14 rows make when a page has 4?
def largest_loc(size, page_size, dcp_size):
    return (size + page_size) * dcp_size - 1

# %% 2a no-page-zero
# says: Pages are counted from 0, but page 0 is never issued: the last is C // P.
# asks: Which page does the allocator give first?
# family: M10
def largest_loc(size, page_size, dcp_size):
    return size // page_size * page_size * dcp_size - 1

# %% 2a rounded-up
# says: A page that is only begun is counted: the allocator issues whole pages only.
# asks: How many whole pages do 14 rows make when a page has 4?
def largest_loc(size, page_size, dcp_size):
    return (-(-size // page_size) + 1) * page_size * dcp_size - 1

# %% 2a count
# says: This is one past the largest loc: a count, not the last index.
# asks: Locs 8 to 15 are one page. Which is its largest?
def largest_loc(size, page_size, dcp_size):
    return (size // page_size + 1) * page_size * dcp_size

# %% 2a first-of-last-page
# says: This is the first loc of the last page, not its last.
# asks: Locs 24 to 31 are page 3. Which is its largest?
def largest_loc(size, page_size, dcp_size):
    return size // page_size * page_size * dcp_size

# %% 2a one-rank
# says: This is the largest loc of rank 0; the last rank owns one that is larger.
# asks: Who owns the last loc of a page?
def largest_loc(size, page_size, dcp_size):
    return ((size // page_size + 1) * page_size - 1) * dcp_size

# %% 2a pages-of-p
# says: Pages of P locs are counted; the allocator's page is P * D locs wide.
# asks: How many locs does one allocator page have?
# family: M10
def largest_loc(size, page_size, dcp_size):
    return (size * dcp_size // page_size + 1) * page_size - 1

# %% 2a bits
# says: The bit mask rounds down only where the page size is a power of two.
# asks: What does size & ~(P - 1) give for pages of 5 rows?
def largest_loc(size, page_size, dcp_size):
    return ((size & ~(page_size - 1)) + page_size) * dcp_size - 1

# %% 2a float64
# says: This goes through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
def largest_loc(size, page_size, dcp_size):
    return (int(size / page_size) + 1) * page_size * dcp_size - 1

# %% 2a true-divide
# says: The result is a float: a loc must be an integer.
# asks: Which division drops the remainder?
def largest_loc(size, page_size, dcp_size):
    return (size / page_size + 1) * page_size * dcp_size - 1

# %% 2a tensor
# says: Ints went in and a tensor came out.
# asks: What should be compared with this number later?
def largest_loc(size, page_size, dcp_size):
    return torch.tensor((size // page_size + 1) * page_size * dcp_size - 1)

# %% 2a widened-division
# says: size counts a rank's rows: it fills size // P pages, not size // (P * D).
# asks: How many rows of one rank does an allocator page take?
# family: M10
def largest_loc(size, page_size, dcp_size):
    width = page_size * dcp_size
    return (size // width + 1) * width - 1

# %% 2a page-id
# says: This is the last page that is issued; its last loc is asked for.
# asks: Page 3 of a pool with P * D = 8 is locs 24 to 31. Which is its largest?
def largest_loc(size, page_size, dcp_size):
    return size // page_size

# %% 2a float64-sum
# says: The 1 is added in float64, where it is lost in numbers past 2^53.
# asks: Which division never leaves the integers?
def largest_loc(size, page_size, dcp_size):
    return int(size / page_size + 1) * page_size * dcp_size - 1

# %% 2b always-scaled
# says: The target is scaled too: its c-KV is sharded, so a rank needs C rows, not C*D.
# asks: Which of the two pools is whole on every rank?
# family: M12
def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size

# %% 2b never-scaled
# says: The draft is not scaled: whole on every rank, it needs room for every loc.
# asks: Where does rank 0 keep the draft's row for loc 7?
# family: M10
def loc_space_scale(is_draft_worker, dcp_size):
    return 1

# %% 2b inverted
# says: Target and draft are mixed up: it is the draft that is whole on every rank.
# asks: Which of the two pools is addressed by loc?
# family: M12
def loc_space_scale(is_draft_worker, dcp_size):
    return 1 if is_draft_worker else dcp_size

# %% 2b times-flag
# says: A target gets the scale 0, and with it a pool of no rows at all.
# asks: What is dcp_size * False?
def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size * is_draft_worker

# %% 2b flag
# says: A target gets False where the scale 1 is asked for.
# asks: What does `a and b` give when a is False?
def loc_space_scale(is_draft_worker, dcp_size):
    return is_draft_worker and dcp_size

# %% 2b extra-copies
# says: This counts the copies beyond the first; a pool must hold all D of them.
# asks: How many locs are there for each row of a rank?
def loc_space_scale(is_draft_worker, dcp_size):
    return max(dcp_size - 1, 1) if is_draft_worker else 1

# %% 2b page-unscaled
# says: The draft's size is scaled but its page is not: the last one is P long, not P*D.
# asks: How many slots of the allocator's last page have a row behind them?
# family: M10
def pool_page_size(page_size, scale):
    return page_size

# %% 2b page-divided
# says: The page is divided by the scale; counted in locs it grows by that factor.
# asks: Does a page of the allocator hold more locs than P, or fewer?
def pool_page_size(page_size, scale):
    return page_size // scale

# %% 2b page-added
# says: The scale is a factor: a page of P rows becomes P * D locs, not P + D.
# asks: How many locs fill a page on every rank?
def pool_page_size(page_size, scale):
    return page_size + scale

# %% 2b page-twice
# says: The page is scaled twice.
# asks: How many locs fill a page on every rank?
# family: M12
def pool_page_size(page_size, scale):
    return page_size * scale * scale

# %% 2b page-is-scale
# says: This is the factor, not the page that it widens.
# asks: How long is a page of the target's pool, whose scale is 1?
def pool_page_size(page_size, scale):
    return scale

# %% 2b as-it-was
# says: Nothing grows: this is the draft before both pull requests.
# asks: Where does rank 0 keep the draft's row for loc 7, and where does the last page end?
# family: M10
def loc_space_scale(is_draft_worker, dcp_size):
    return 1

def pool_page_size(page_size, scale):
    return page_size

# %% 2c default
# says: This is one rank's c-KV again, C + P: index-K is addressed by loc on every rank.
# asks: Where does loc C + P go?
# family: M10
def index_k_slots(size, page_size, dcp_size, scale):
    return (size + page_size) // page_size * page_size

# %% 2c rows
# says: These are one rank's rows. index-K is not split: it has a slot for every loc.
# asks: Who reads a key of index-K, and by which index?
# family: M7
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // scale // page_size + 1) * page_size

# %% 2c upstream
# says: The last allocator page is P*D slots long here; this has room for P of them.
# asks: How many legal locs lie beyond C * D + P?
# family: M10
def index_k_slots(size, page_size, dcp_size, scale):
    return (size * (dcp_size // scale) + page_size) // page_size * page_size

# %% 2c upstream-whole-pages
# says: Whole pages, but the spare one is P slots; counted in locs it is P * D.
# asks: How many legal locs lie beyond C * D + P?
# family: M10
def index_k_slots(size, page_size, dcp_size, scale):
    return size // scale // page_size * page_size * dcp_size + page_size

# %% 2c target-only
# says: Right for a target. A draft's last page is P*D slots too, and this leaves P.
# asks: The draft's size is scaled. Is its spare page?
# family: M10
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // page_size + 1) * page_size * (dcp_size // scale)

# %% 2c scaled-twice
# says: A draft's size is scaled already: this multiplies by D once more.
# asks: What is size // scale for a draft?
# family: M12
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // page_size + 1) * page_size * dcp_size

# %% 2c scale-for-d
# says: scale says what size was multiplied by; how many locs a row has is dcp_size.
# asks: For a target, scale is 1. How many slots does it need for a row?
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // page_size + 1) * page_size * scale

# %% 2c no-spare
# says: Page 0 is missing: it is never issued, but its numbers take up room.
# asks: What is the first loc that a request can get?
# family: M10
def index_k_slots(size, page_size, dcp_size, scale):
    return size // scale // page_size * page_size * dcp_size

# %% 2c not-whole-pages
# says: Too many: a tail of size that fills no page is never issued.
# asks: How many whole pages do 14 rows make when a page has 4?
def index_k_slots(size, page_size, dcp_size, scale):
    return -(-(size // scale + page_size) * dcp_size // page_size) * page_size

# %% 2c not-a-multiple
# says: Slots come in whole pages of index-K; an unaligned size gives a piece of one.
# asks: What does a piece of a page hold when keys come first and scales after them?
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // scale + page_size) * dcp_size

# %% 2c largest
# says: This is the largest loc; a buffer that has it needs one slot more.
# asks: How many slots does it take to have slot 31?
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // scale // page_size + 1) * page_size * dcp_size - 1

# %% 2c one-page-too-many
# says: One page of index-K too many: whole allocator pages need no rounding.
# asks: Is largest_loc + 1 a multiple of the page size?
def index_k_slots(size, page_size, dcp_size, scale):
    return (largest_loc(size // scale, page_size, dcp_size) // page_size + 2) * page_size

# %% 2c two-spare-pages
# says: One allocator page too many: page 0 is counted twice.
# asks: Which pages are there beside 1 to C // P?
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // scale // page_size + 2) * page_size * dcp_size

# %% 2c pages
# says: These are pages of index-K; slots are asked for.
# asks: How many slots does a page have?
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // scale // page_size + 1) * dcp_size

# %% 2c bytes
# says: These are bytes: 132 a slot. Slots are asked for.
# asks: What is a slot, and what does it cost?
def index_k_slots(size, page_size, dcp_size, scale):
    return (size // scale // page_size + 1) * page_size * dcp_size * 132

# %% 2c float64
# says: This goes through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
def index_k_slots(size, page_size, dcp_size, scale):
    return (int(size / scale / page_size) + 1) * page_size * dcp_size

# %% 2c true-divide
# says: The result is a float: slots are counted in integers.
# asks: Which division drops the remainder?
def index_k_slots(size, page_size, dcp_size, scale):
    return (size / scale // page_size + 1) * page_size * dcp_size

# %% 2c times-d-plus-page
# says: The spare page is P long, not P*D; and a draft's size is scaled once more.
# asks: How long is the last allocator page, and what is size for a draft?
# family: M12
def index_k_slots(size, page_size, dcp_size, scale):
    return size * dcp_size + page_size

# %% 2c all-times-d
# says: All is multiplied by D: a draft's size again, and a tail that fills no page.
# asks: What is size // scale for a draft?
# family: M12
def index_k_slots(size, page_size, dcp_size, scale):
    return (size + page_size) * dcp_size

# %% 2c draft-rests
# says: Right for a target. A draft's leftover rows add up to pages nobody issues.
# asks: How many whole pages do 14 rows of a rank make when a page has 4, whatever D is?
def index_k_slots(size, page_size, dcp_size, scale):
    if scale > 1:
        return (size // page_size + dcp_size) * page_size
    return (size // page_size + 1) * page_size * dcp_size

# %% 2c float64-size
# says: The size goes through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
def index_k_slots(size, page_size, dcp_size, scale):
    return (int(size / scale) // page_size + 1) * page_size * dcp_size

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
# says: This is the draft after #33348; as #32828 left it, its page was still P.
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

# %% 2e all-times-d
# says: Not every assert is multiplied by D: ckv_row has been divided already.
# asks: What is the largest row that a rank has?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    return largest_loc(size, page_size, dcp_size) + 1

# %% 2e all-rows
# says: Four of these are locs, and the bound is one for rows: a false alarm above it.
# asks: Which of the five has been divided by D?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    return (size // page_size + 1) * page_size

# %% 2e all-pool-rows
# says: A loc is held against a rank's rows, C + P, as on the unpatched server.
# asks: Which of the five has been divided by D?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    return size + page_size

# %% 2e upstream
# says: C * D + P rejects the last (D - 1) * P legal locs: the spare page is P * D wide.
# asks: What does this say to the largest loc?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    return (size // page_size + 1) * page_size if consumer == "ckv_row" else size * dcp_size + page_size

# %% 2e upstream-everywhere
# says: C * D + P for all five: too small for locs, and far too large for rows.
# asks: Which space is each of the five in?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    return size * dcp_size + page_size

# %% 2e page-table-as-rows
# says: The flattened page table holds locs: it is read by the indexer, not by c-KV.
# asks: Who reads the flattened page table, and by which index?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    return rows if consumer in ("ckv_row", "flattened_page_table") else rows * dcp_size

# %% 2e write-as-rows
# says: Before the c-KV write the index is a loc still: the kernel divides, later.
# asks: Who divides: the caller of the write, or the write itself?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    return rows if consumer in ("ckv_row", "ckv_write_loc") else rows * dcp_size

# %% 2e ckv-by-name
# says: A name that begins with ckv says nothing of its space: the write sees locs.
# asks: At which moment of the write is the index checked?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    return size + page_size if consumer.startswith("ckv") else largest_loc(size, page_size, dcp_size) + 1

# %% 2e draft-as-rows
# says: The draft's pool is whole on every rank and addressed by loc, not by row.
# asks: Is the draft's pool sharded?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    return rows if consumer in ("ckv_row", "draft_loc") else rows * dcp_size

# %% 2e index-k-as-rows
# says: index-K is addressed by loc on every rank: this bound is one for rows.
# asks: Does anybody divide an index-K loc by D?
# family: M7
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    return rows if consumer in ("ckv_row", "index_k_loc") else rows * dcp_size

# %% 2e draft-twice
# says: The draft's bound is multiplied by D twice: no loc is that large.
# asks: How many locs are there, whoever reads them?
# family: M12
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    factor = {"ckv_row": 1, "draft_loc": dcp_size * dcp_size}.get(consumer, dcp_size)
    return rows * factor

# %% 2e largest
# says: This is the largest legal index itself; an exclusive bound is one more.
# asks: Does `index < bound` let the largest legal one pass?
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    return (rows if consumer == "ckv_row" else rows * dcp_size) - 1

# %% 2e no-spare
# says: Page 0 is missing: the legal locs and rows of the last page are rejected.
# asks: Which page is the last, when the first that is issued is page 1?
# family: M10
def check_bound(consumer, size, page_size, dcp_size):
    rows = size // page_size * page_size
    return rows if consumer == "ckv_row" else rows * dcp_size

# %% 2e not-whole-pages
# says: Too loose where size is no whole pages: rows that exist but are never used pass.
# asks: What is the largest row that any loc leads to?
def check_bound(consumer, size, page_size, dcp_size):
    return size + page_size if consumer == "ckv_row" else (size + page_size) * dcp_size

# %% 2e allocated-rows
# says: The pool has C + P rows, but a bound is the largest legal row + 1.
# asks: What is the largest row that any loc leads to?
def check_bound(consumer, size, page_size, dcp_size):
    return size + page_size if consumer == "ckv_row" else largest_loc(size, page_size, dcp_size) + 1

# %% 2e float64
# says: This goes through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
def check_bound(consumer, size, page_size, dcp_size):
    rows = (int(size / page_size) + 1) * page_size
    return rows if consumer == "ckv_row" else rows * dcp_size

# %% 2e page-table-as-pool
# says: The flattened page table has locs; C + P, which the report met, counts rows.
# asks: Who reads the flattened page table, and by which index?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    return size + page_size if consumer == "flattened_page_table" else rows if consumer == "ckv_row" else rows * dcp_size

# %% 2e page-table-as-pages
# says: The flattened page table is taken for a table of pages; its entries are locs.
# asks: What does the last row of the table of consumers say of its entries?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    pages = size // page_size + 1
    factor = {"ckv_row": page_size, "flattened_page_table": 1}.get(consumer, page_size * dcp_size)
    return pages * factor

# %% 2e draft-size-scaled
# says: The draft's size is multiplied first: its bound is D times too large.
# asks: How many locs are there, whoever reads them?
# family: M12
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    if consumer == "draft_loc":
        return (size * dcp_size // page_size + 1) * page_size * dcp_size
    return rows if consumer == "ckv_row" else rows * dcp_size

# %% 2e all-capacity
# says: (C + P) * D for all: no bound for rows, and too loose where C is no whole pages.
# asks: Which of the five has been divided by D?
# family: M11
def check_bound(consumer, size, page_size, dcp_size):
    return (size + page_size) * dcp_size

# %% 2e row-size
# says: size leaves out page 0, so the rows of the last page are rejected.
# asks: Which page is the last, when the first that is issued is page 1?
# family: M10
def check_bound(consumer, size, page_size, dcp_size):
    return size if consumer == "ckv_row" else largest_loc(size, page_size, dcp_size) + 1

# %% 2f forgot
# says: The size was not passed on: the inner pool falls back to its own default.
# asks: Which arguments does the inner pool get, and which of yours is missing?
# family: M10
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f forgot-but-says-so
# says: It reports the size that it was given, and the inner pool never heard of it.
# asks: Does the number that is shown come from the buffer itself?
# family: M10
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size)
        self._index_buf_size = index_buf_size

    @property
    def index_buf_size(self):
        return self._index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f argument
# says: It shows the argument, which may be None, and not what the inner pool has.
# asks: What is shown when nobody gave a size?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self._index_buf_size = index_buf_size

    @property
    def index_buf_size(self):
        return self._index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f copied
# says: Both values are copies of the moment of building: they go stale.
# asks: What does a copy show after the inner pool has changed?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self._index_buf_size = pool.index_buf_size
        self._dcp_localized_writes = pool.dcp_localized_writes

    @property
    def index_buf_size(self):
        return self._index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._dcp_localized_writes

# %% 2f flag-copied
# says: dcp_localized_writes is a copy: the builder turns it off later, for drafts.
# asks: When is dcp_localized_writes decided?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self._dcp_localized_writes = self._pool.dcp_localized_writes

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._dcp_localized_writes

# %% 2f size-copied
# says: index_buf_size is a copy of the moment of building: it goes stale.
# asks: What does a copy show after the inner pool has changed?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self._index_buf_size = self._pool.index_buf_size

    @property
    def index_buf_size(self):
        return self._index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f attributes
# says: Plain attributes: copies that go stale, and that anybody can set.
# asks: What forbids setting an attribute of an object?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self.pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self.index_buf_size = self.pool.index_buf_size
        self.dcp_localized_writes = self.pool.dcp_localized_writes

# %% 2f own-attributes
# says: It keeps its own arguments as attributes; the inner pool's values are not asked.
# asks: What is shown when nobody gave a size?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self.pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self.index_buf_size = index_buf_size
        self.dcp_localized_writes = True

# %% 2f setters
# says: The properties have setters: a caller can change the inner pool from outside.
# asks: Does the buffer grow when somebody sets its size?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @index_buf_size.setter
    def index_buf_size(self, value):
        self._pool.index_buf_size = value

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

    @dcp_localized_writes.setter
    def dcp_localized_writes(self, value):
        self._pool.dcp_localized_writes = value

# %% 2f deaf-setters
# says: Setting is ignored without a word; the caller believes that it worked.
# asks: What should somebody see who sets a value that cannot be set?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @index_buf_size.setter
    def index_buf_size(self, value):
        pass

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

    @dcp_localized_writes.setter
    def dcp_localized_writes(self, value):
        pass

# %% 2f other-error
# says: Setting raises, but not an AttributeError, which is what a caller looks for.
# asks: What does a property without a setter raise by itself?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @index_buf_size.setter
    def index_buf_size(self, value):
        raise ValueError("cannot be set")

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

    @dcp_localized_writes.setter
    def dcp_localized_writes(self, value):
        raise ValueError("cannot be set")

# %% 2f getattr
# says: __getattr__ forwards reading only; setting makes an attribute that hides it.
# asks: Does setting an attribute ever ask __getattr__?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    def __getattr__(self, name):
        return getattr(self._pool, name)

# %% 2f anew
# says: The inner pool is built again at each look: each is another buffer.
# asks: How many buffers does one server have?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._make = lambda: make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._make().index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._make().dcp_localized_writes

# %% 2f built-twice
# says: The inner pool is built twice: the first one holds memory that nobody uses.
# asks: How often does __init__ call make_pool?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._size = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size).index_buf_size
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f shared
# says: The inner pool is kept on the class: a second server takes the first one's.
# asks: Who else sees an attribute of the class?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        HybridPool.pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return HybridPool.pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return HybridPool.pool.dcp_localized_writes

# %% 2f fills-in
# says: None means that the inner pool decides; filled in here, its default is lost.
# asks: Who knows best how large the inner pool's index-K is by default?
# family: M10
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        if index_buf_size is None:
            index_buf_size = size
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f enlarges-all
# says: The whole pool is built as large as index-K: c-KV grows D times too.
# asks: Which of the two buffers is index_buf_size for?
# family: M12
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=index_buf_size or size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f always-localized
# says: dcp_localized_writes is always True here: a draft's pool is not sharded.
# asks: Who turns dcp_localized_writes off, and on which object?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return True

# %% 2f no-flag
# says: dcp_localized_writes is missing: whoever asks the wrapper gets an error.
# asks: Which two values does the wrapper show?
# outcome: crashed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

# %% 2f methods
# says: These are methods, not properties: without a call, a bound method is shown.
# asks: How does a caller read pool.index_buf_size, with brackets or without?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    def index_buf_size(self):
        return self._pool.index_buf_size

    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f by-position
# says: The inner pool takes its arguments by keyword only.
# asks: Which three names does make_pool take?
# outcome: crashed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size, page_size, index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f inherits
# says: make_pool is called and its pool thrown away: the wrapper has no inner pool.
# asks: Where does the wrapper keep what make_pool returned?
# outcome: crashed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f no-properties
# says: The wrapper keeps its pool and shows nothing of it: no property is there.
# asks: Which two values does the wrapper show?
# outcome: crashed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

# %% 2f fills-in-rows
# says: None means that the inner pool decides; this decides for it: one rank's rows.
# asks: Who knows best how large the inner pool's index-K is by default?
# family: M10
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        if index_buf_size is None:
            index_buf_size = size + page_size
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f size-setter
# says: index_buf_size has a setter: a caller can change the inner pool from outside.
# asks: Does the buffer grow when somebody sets its size?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @index_buf_size.setter
    def index_buf_size(self, value):
        self._pool.index_buf_size = value

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f flag-setter
# says: dcp_localized_writes has a setter: a caller can change the pool from outside.
# asks: Whose decision is dcp_localized_writes?
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

    @dcp_localized_writes.setter
    def dcp_localized_writes(self, value):
        self._pool.dcp_localized_writes = value

# %% 2f sets-its-own-property
# says: __init__ sets index_buf_size, which is a property without a setter: it raises.
# asks: Where does the property get its value from, if __init__ keeps none?
# outcome: crashed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)
        self.index_buf_size = index_buf_size

    @property
    def index_buf_size(self):
        return self._pool.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self._pool.dcp_localized_writes

# %% 2f asks-itself
# says: The property reads itself, again and again: it must ask the inner pool.
# asks: What does self.index_buf_size do inside the property index_buf_size?
# outcome: crashed
class HybridPool:
    def __init__(self, make_pool, size, page_size, index_buf_size=None):
        self._pool = make_pool(size=size, page_size=page_size, index_buf_size=index_buf_size)

    @property
    def index_buf_size(self):
        return self.index_buf_size

    @property
    def dcp_localized_writes(self):
        return self.dcp_localized_writes

# %% 2g whole-index-k
# says: This is all of index-K; one copy was paid for before, D - 1 are extra.
# asks: How many copies are there without DCP?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size * dcp_size

# %% 2g one-layer
# says: This is the bill of one layer; every DSA layer has an index-K of its own.
# asks: How many index-K buffers does a rank have?
def index_k_extra_bytes(layers, size, dcp_size):
    return 132 * size * (dcp_size - 1)

# %% 2g no-scales
# says: A slot is a key of 128 bytes and a scale of 4: the scales are forgotten.
# asks: How long is a page of 64 slots?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 128 * size * (dcp_size - 1)

# %% 2g shared-out
# says: The extra is not shared out over the ranks: every rank pays all of it.
# asks: Which part of index-K does rank 3 have?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size * (dcp_size - 1) // dcp_size

# %% 2g no-copies
# says: One more copy is counted; each rank has slots for the locs of all D ranks.
# asks: How many locs are there for each row of a rank?
# family: M10
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size

# %% 2g float-bytes
# says: Bytes are counted in whole numbers; this gives a float.
# asks: Which operation leaves the integers here?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132.0 * size * (dcp_size - 1)

# %% 2g gigabytes
# says: This is in gigabytes; bytes are asked for.
# asks: In which unit does an allocator count?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 132 * size * (dcp_size - 1) / 1e9

# %% 2g gain-d
# says: index-K was charged once, but every rank keeps a copy for all D: it is not D.
# asks: What does one more row cost a rank in index-K?
# family: M10
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    return float(dcp_size)

# %% 2g gain-d-int
# says: The gain is not D: index-K is not split. And it is a ratio, a float.
# asks: What does one more row cost a rank in index-K?
# family: M10
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    return dcp_size

# %% 2g gain-inverse
# says: The ratio is upside down: with DCP a server holds more tokens, not fewer.
# asks: Which of the two counts stands above the line?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return (c + dcp_size * k) / (dcp_size * (c + k))

# %% 2g gain-one-rank
# says: This compares the rows of one rank; the tokens of all D ranks are held.
# asks: How many tokens does one row of every rank make?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return (c + k) / (c + dcp_size * k)

# %% 2g gain-free-before
# says: Without DCP there is an index-K too: one copy of it.
# asks: What does one row cost without DCP?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * c / (c + dcp_size * k)

# %% 2g gain-extra-only
# says: With DCP a rank pays for D copies in all, not for D - 1.
# asks: Is the first copy free when there are others?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * (c + k) / (c + (dcp_size - 1) * k)

# %% 2g gain-no-scales
# says: A slot is a key of 128 bytes and a scale of 4: the scales are forgotten.
# asks: How long is a page of 64 slots?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 128
    return dcp_size * (c + k) / (c + dcp_size * k)

# %% 2g gain-layers
# says: The two layer counts are mixed up: not every layer with c-KV has an indexer.
# asks: How many layers have an index-K, and how many a c-KV?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = index_layers * row_bytes, ckv_layers * 132
    return dcp_size * (c + k) / (c + dcp_size * k)

# %% 2g gain-one-layer
# says: This compares one layer of each: where few layers have an indexer it is too low.
# asks: How many layers have an index-K, and how many a c-KV?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    return dcp_size * (row_bytes + 132) / (row_bytes + dcp_size * 132)

# %% 2g gain-whole
# says: The division drops what is behind the point: 4.446 becomes 4.
# asks: Which division keeps the fraction?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return float(dcp_size * (c + k) // (c + dcp_size * k))

# %% 2g gain-rounded
# says: The result is rounded: two places are for people, not for a planner.
# asks: Who rounds, and when?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return round(dcp_size * (c + k) / (c + dcp_size * k), 2)

# %% 2g gain-ckv-split
# says: c-KV is divided by D twice: a row holds one token already, of D.
# asks: What does one row of c-KV cost, and for how many tokens is it?
# family: M6
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return dcp_size * (c + k) / (c / dcp_size + dcp_size * k)

# %% 2g no-scales-twice
# says: A slot is 128 bytes of key and 4 of scale: both functions forget the scales.
# asks: What belongs to a slot besides its key?
def index_k_extra_bytes(layers, size, dcp_size):
    return layers * 128 * size * (dcp_size - 1)

def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 128
    return dcp_size * (c + k) / (c + dcp_size * k)

# %% 2g gain-both-ways
# says: c-KV is counted by the token and index-K by the row: take both by one of them.
# asks: What does one token cost a rank in c-KV, and what in index-K?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return (c + k) / (c / dcp_size + dcp_size * k)

# %% 2g gain-costs-over-costs
# says: This is how much dearer a row becomes; asked for is how many more tokens fit.
# asks: How many tokens does one row of every rank make, and for which price?
def capacity_gain(ckv_layers, index_layers, row_bytes, dcp_size):
    c, k = ckv_layers * row_bytes, index_layers * 132
    return (c + dcp_size * k) / (c + k)

# %% 2h no-guard
# says: Padding is not skipped: -1 becomes an address before a page, and is written.
# asks: What are -1 // 64 and -1 % 64 in a compiled kernel?
# family: M8
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = token < n
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h row-zero
# says: Padding goes to slot 0 and is written there: where is not whether.
# asks: Which lanes store, and which only have a harmless address?
# family: M9
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = token < n
    loc = tl.where(loc >= 0, loc, 0)
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h no-tail
# says: The last block has lanes past n: they read and write what is not theirs.
# asks: How many lanes have the programs together, and how many tokens are there?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h one-program
# says: Every program handles the first block: the others' tokens are never written.
# asks: Which tokens does program 1 handle?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h program-stride
# says: Blocks overlap by all but one token: program p begins at p, not p * ROWS.
# asks: Which tokens does program 1 handle?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h interleaved
# says: Key and scale lie side by side; in a page all keys come first, then scales.
# asks: Where does the scale of slot 0 begin: after one key, or after all of them?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * (DIM + 4)
    scale_at = (key_at + DIM) // 4
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scales-first
# says: The scales stand before the keys; in a page they come after all of them.
# asks: Which byte of a page is the first of slot 0's key?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + PAGE_SIZE * 4 + slot * DIM
    scale_at = start // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-in-bytes
# says: The scale's place is in bytes; its pointer counts floats: four times too far.
# asks: By how many bytes does one step of a float pointer move?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = start + PAGE_SIZE * DIM + 4 * slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-slot-in-bytes
# says: Only the slot is counted in bytes: scales lie four apart, in floats.
# asks: By how many bytes does one step of a float pointer move?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + 4 * slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-as-byte
# says: The scale goes through the byte pointer: one byte, its value cut to 0 to 255.
# asks: Which of the two pointers writes four bytes?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_ptr + 4 * scale_at, scale.to(tl.uint8), mask=here)

# %% 2h keys-only
# says: The scales are never written: each key keeps a stranger's scale.
# asks: What belongs to a slot besides its key?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])

# %% 2h scales-only
# says: The keys are never written.
# asks: What belongs to a slot besides its scale?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h no-scale-room
# says: The pages are taken for PAGE_SIZE * DIM bytes: their scales are forgotten.
# asks: How far apart do two pages begin?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * DIM)
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-at-end
# says: The scales of all pages go into page 0: the page's start is left out.
# asks: In which page does the scale of a loc of page 2 lie?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = PAGE_SIZE * DIM // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h loc-is-page
# says: The loc is used as a page id: dimension 0 of the buffer counts pages.
# asks: In which page is loc 9 when a page has 4 slots?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h swap
# says: Page and slot are swapped: quotient and remainder.
# asks: In which page is loc 9 when a page has 4 slots, and in which slot?
# family: M4
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc % PAGE_SIZE, loc // PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h bits
# says: Masks and shifts are right only where the page size is a power of two.
# asks: What does loc & 5 give for pages of 6 slots?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc & (PAGE_SIZE - 1)
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h source-by-loc
# says: The key is read from row loc of the batch; the batch has a row a token.
# asks: How many rows has the key buffer?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + loc[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h page-from-zero
# says: Pages are shifted down by one, as if page 0 were not in the buffer.
# asks: Does the buffer have a page 0?
# family: M10
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE - 1, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h key-unmasked
# says: The load of the keys has no mask: lanes past n read what is not theirs.
# asks: Which lanes may read?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-unmasked
# says: The load of the scales has no mask: lanes past n read what is not theirs.
# asks: Which lanes may read?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h first-byte
# says: Only the first byte of each key is written: a key has DIM of them.
# asks: How many lanes does it take to write ROWS keys?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token * DIM, mask=here)
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at, key, mask=here)
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h token-a-program
# says: One token a program; it is launched with one program for each ROWS tokens.
# asks: How many tokens must each program write, when there are cdiv(n, ROWS) of them?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0)
    loc = tl.load(loc_ptr + token)
    if loc >= 0:
        start = loc // PAGE_SIZE * (PAGE_SIZE * (DIM + 4))
        slot = loc % PAGE_SIZE
        col = tl.arange(0, DIM)
        tl.store(buf_ptr + start + slot * DIM + col, tl.load(key_ptr + token * DIM + col))
        tl.store(buf_f32_ptr + (start + PAGE_SIZE * DIM) // 4 + slot, tl.load(scale_ptr + token))

# %% 2h scale-page-in-bytes
# says: The page's start is in bytes and the rest in floats: pages lie four times apart.
# asks: How many floats is a page long?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    start = page * (PAGE_SIZE * (DIM + 4))
    col = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    tl.store(buf_ptr + (start + slot * DIM)[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + start + PAGE_SIZE * DIM // 4 + slot, tl.load(scale_ptr + token, mask=here), mask=here)

# %% 2h scale-offset-in-bytes
# says: The keys' length is in bytes where floats are counted: it is a quarter of that.
# asks: How many floats are PAGE_SIZE keys of DIM bytes?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    start = page * (PAGE_SIZE * (DIM + 4))
    col = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    tl.store(buf_ptr + (start + slot * DIM)[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + start // 4 + PAGE_SIZE * DIM + slot, tl.load(scale_ptr + token, mask=here), mask=here)

# %% 2h keys-in-one-row
# says: Keys are taken from the batch as if each were PAGE_SIZE bytes long, not DIM.
# asks: How far apart do two keys of the batch begin?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    start = page * (PAGE_SIZE * (DIM + 4))
    col = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * PAGE_SIZE + col[None, :], mask=here[:, None])
    tl.store(buf_ptr + (start + slot * DIM)[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + (start + PAGE_SIZE * DIM) // 4 + slot, tl.load(scale_ptr + token, mask=here), mask=here)

# %% 2h loads-unmasked
# says: No load of keys and scales is masked: lanes past n read what is not theirs.
# asks: Which lanes may read?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :])
    scale = tl.load(scale_ptr + token)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h key-store-unmasked
# says: The store of the keys has no mask: padding and lanes past n are written.
# asks: Which lanes may write?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key)
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-store-unmasked
# says: The store of the scales has no mask: padding and lanes past n are written too.
# asks: Which lanes may write?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale)

# %% 2h tail-is-loc-zero
# says: Lanes past n get loc 0, which is no padding: they read and write as tokens do.
# asks: Which value of other says that a lane has no token?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=0)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h keys-interleaved
# says: Keys are set DIM + 4 apart; in a page nothing lies between two keys.
# asks: Where does key 1 begin when a key has 4 bytes?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * (DIM + 4)
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h keys-flat
# says: The keys are placed as if pages had no scales: page 1 begins too early.
# asks: How far apart do two pages begin?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = loc * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h slot-is-byte
# says: A key is taken for one byte: key number slot begins DIM * slot bytes on.
# asks: Where does key 1 begin when a key has 4 bytes?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-among-keys
# says: The scales are written over the keys: in a page they come after all of them.
# asks: Where does the scale of slot 0 begin: at the page's start, or after the keys?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = start // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-slot-a-quarter
# says: The slot is divided by 4 too: four slots share one scale.
# asks: How many floats lie between the scales of slots 0 and 1?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM + slot) // 4
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-page-of-scales
# says: Counted in floats a page is PAGE_SIZE * (DIM + 4) // 4 long, not PAGE_SIZE.
# asks: How many floats are the keys of a page?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = page * PAGE_SIZE + PAGE_SIZE * DIM // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-bytes-but-slot
# says: Only the slot is counted in floats: start and keys must be divided by 4 too.
# asks: By how many bytes does one step of a float pointer move?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = start + PAGE_SIZE * DIM + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h scale-start-divided-only
# says: Only the page's start is divided by 4: keys and slot are still in bytes.
# asks: By how many bytes does one step of a float pointer move?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = start // 4 + PAGE_SIZE * DIM + slot * 4
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h batch-with-scales
# says: The batch's keys are taken for DIM + 4 bytes each: the scales are elsewhere.
# asks: How far apart do two keys of the batch begin?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * (DIM + 4) + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h sources-by-loc
# says: Key and scale are read from row loc of the batch; the batch has a row a token.
# asks: How many rows has the key buffer?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + loc[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + loc, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h page-of-one-slot
# says: A page is taken for one slot, DIM + 4 bytes: it has PAGE_SIZE of them.
# asks: How many bytes is a page of 2 slots with keys of 4?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (DIM + 4)
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h true-divide
# says: In a kernel / gives a float, which is no place in memory.
# asks: Which division drops the remainder?
# outcome: crashed
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc / PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h true-divide-address
# says: The page is a float, since / never drops the remainder: no address comes of it.
# asks: Which division drops the remainder?
# outcome: crashed
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc / PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + (start + PAGE_SIZE * DIM) // 4 + slot, scale, mask=here)

# %% 2h page-a-program
# says: A program takes PAGE_SIZE tokens; it is launched with one for each ROWS of them.
# asks: Which argument says how many tokens a program has?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * PAGE_SIZE + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h blocks-of-a-page
# says: The blocks are PAGE_SIZE tokens long; a program is launched for each ROWS.
# asks: Which argument says how many tokens a program has?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * PAGE_SIZE + tl.arange(0, PAGE_SIZE)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    col = tl.arange(0, DIM)
    start = page * (PAGE_SIZE * (DIM + 4))
    key_at = start + slot * DIM
    scale_at = (start + PAGE_SIZE * DIM) // 4 + slot
    key = tl.load(key_ptr + token[:, None] * DIM + col[None, :], mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_ptr + key_at[:, None] + col[None, :], key, mask=here[:, None])
    tl.store(buf_f32_ptr + scale_at, scale, mask=here)

# %% 2h one-past-read
# says: token <= n lets one lane too many read: the last token is n - 1.
# asks: What is the largest token that there is?
# outcome: unsafe
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token <= n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    first = page * (PAGE_SIZE * (DIM + 4))
    column = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * DIM + column[None, :], mask=here[:, None])
    tl.store(buf_ptr + (first + slot * DIM)[:, None] + column[None, :], key, mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_f32_ptr + (first + PAGE_SIZE * DIM) // 4 + slot, scale, mask=here)

# %% 2h last-slot-missing
# says: The scale of the last slot of a page is not stored.
# asks: How many slots has a page, and what is the number of the last?
@triton.jit
def write_index_k_kernel(buf_ptr, buf_f32_ptr, key_ptr, scale_ptr, loc_ptr, n, PAGE_SIZE: tl.constexpr, DIM: tl.constexpr, ROWS: tl.constexpr):
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    loc = tl.load(loc_ptr + token, mask=token < n, other=-1)
    here = loc >= 0
    page, slot = loc // PAGE_SIZE, loc % PAGE_SIZE
    first = page * (PAGE_SIZE * (DIM + 4))
    column = tl.arange(0, DIM)
    key = tl.load(key_ptr + token[:, None] * DIM + column[None, :], mask=here[:, None])
    tl.store(buf_ptr + (first + slot * DIM)[:, None] + column[None, :], key, mask=here[:, None])
    scale = tl.load(scale_ptr + token, mask=here)
    tl.store(buf_f32_ptr + (first + PAGE_SIZE * DIM) // 4 + slot, scale, mask=here & (slot < PAGE_SIZE - 1))
