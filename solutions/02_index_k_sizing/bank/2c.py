# Answers to 2c: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

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

# %% 2c report
# says: This is the line of the report, C + P: one rank's rows, not a slot for each loc.
# asks: How many locs does the allocator issue with eight ranks, and how many slots are these?
# family: M7
def index_k_slots(size, page_size, dcp_size, scale):
    return size + page_size

# %% 2c from-two-a
# outcome: passed
def index_k_slots(size, page_size, dcp_size, scale):
    return largest_loc(size // scale, page_size, dcp_size) + 1

# %% 2c pages
# outcome: passed
def index_k_slots(size, page_size, dcp_size, scale):
    pages = size // (page_size * scale) + 1
    return pages * page_size * dcp_size

# %% 2c rounded-up
# outcome: passed
def index_k_slots(size, page_size, dcp_size, scale):
    last = largest_loc(size // scale, page_size, dcp_size)
    return -(-(last + 1) // page_size) * page_size

# %% 2c page-of-last
# outcome: passed
def index_k_slots(size, page_size, dcp_size, scale):
    capacity = size // scale
    last = (capacity // page_size + 1) * page_size * dcp_size - 1
    return (last // page_size + 1) * page_size

# %% 2c upstream-literal
# says: This is the published line: it has P slots for the last page, which takes P * D.
# asks: How many legal locs lie beyond C * D + P?
def index_k_slots(size, page_size, dcp_size, scale):
    return size * (dcp_size // scale) + page_size

# %% 2c cd
# says: C * D counts the locs, but page 0 is never issued and its numbers take up room.
# asks: What is the smallest loc that the allocator issues?
def index_k_slots(size, page_size, dcp_size, scale):
    return size * dcp_size // scale

# %% 2c mulscale
# says: size is multiplied by scale once more: it comes in multiplied already.
# asks: What does a draft's size count?
def index_k_slots(size, page_size, dcp_size, scale):
    return (size * scale // page_size + 1) * page_size * dcp_size

# %% 2c rounded-up-no-spare
# says: Rounded up, and page 0 is left out: its numbers take up room as well.
# asks: What is the first loc that a request can get?
# family: M10
def index_k_slots(size, page_size, dcp_size, scale):
    return -(-(size // scale) // page_size) * page_size * dcp_size
