# Answers to 2a: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

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

# %% 2a by-page
# outcome: passed
def largest_loc(size, page_size, dcp_size):
    width = page_size * dcp_size
    last_page = size // page_size
    return last_page * width + width - 1

# %% 2a by-row
# outcome: passed
def largest_loc(size, page_size, dcp_size):
    rows = size - size % page_size + page_size
    return rows * dcp_size - 1

# %% 2a divmod
# outcome: passed
def largest_loc(size, page_size, dcp_size):
    pages, _ = divmod(size, page_size)
    return (pages + 1) * (page_size * dcp_size) - 1

# %% 2a last-owner
# outcome: passed
def largest_loc(size, page_size, dcp_size):
    last_row = (size // page_size + 1) * page_size - 1
    return last_row * dcp_size + (dcp_size - 1)

# %% 2a range
# outcome: passed
def pages(size, page_size):
    return range(1, size // page_size + 1)

def largest_loc(size, page_size, dcp_size):
    width = page_size * dcp_size
    return range(pages(size, page_size)[-1] * width, (pages(size, page_size)[-1] + 1) * width)[-1]

# %% 2a roundfirst
# says: The tail that fills no page was counted: first make whole pages of size.
# asks: How many pages do 14 rows make, with P = 4?
def largest_loc(size, page_size, dcp_size):
    return size * dcp_size // page_size * page_size + page_size * dcp_size - 1

# %% 2a plus1loc
# says: The spare page was taken for one row: it is P rows on each rank.
# asks: How long is page 0?
def largest_loc(size, page_size, dcp_size):
    return (size + 1) * dcp_size - 1

# %% 2a intfloat
# says: It divides without rounding down: rows that fill no page count as a part of one.
# asks: How many pages do 14 rows make, with P = 4?
def largest_loc(size, page_size, dcp_size):
    return int((size / page_size + 1) * page_size * dcp_size) - 1
