# Answers to 1e: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

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
# says: The result was cut to int32: locs are int64, and past 2^31 they wrap.
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

# %% 1e offset
# outcome: passed
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return page * width + torch.arange(width)

# %% 1e rows-and-ranks
# outcome: passed
def page_locs(page, page_size, dcp_size):
    rows = page * page_size + torch.arange(page_size)[:, None]
    return (rows * dcp_size + torch.arange(dcp_size)).flatten()

# %% 1e from-a-list
# outcome: passed
def page_locs(page, page_size, dcp_size):
    width = page_size * dcp_size
    return torch.tensor(list(range(page * width, page * width + width)), dtype=torch.long)

# %% 1e ones
# outcome: passed
def page_locs(page, page_size, dcp_size):
    return torch.ones(page_size * dcp_size, dtype=torch.int64).cumsum(0) - 1 + page * page_size * dcp_size

# %% 1e strided
# says: These locs are D apart: they are one rank's share of the pages, not a page.
# asks: How many neighbours in a row does the allocator hand out?
def page_locs(page, page_size, dcp_size):
    return torch.arange(page, page + page_size * dcp_size * dcp_size, dcp_size)

# %% 1e twod
# says: The locs stand in a table, a line a rank: one line of all is asked for.
# asks: How many dimensions does the docstring promise?
def page_locs(page, page_size, dcp_size):
    w = page_size * dcp_size
    return torch.arange(page * w, (page + 1) * w).reshape(dcp_size, page_size)

# %% 1e mulsq
# says: The page starts D times too far on: its number was multiplied by D twice.
# asks: At which loc does page 1 start?
def page_locs(page, page_size, dcp_size):
    w = page_size * dcp_size
    return torch.arange(page * w * dcp_size, page * w * dcp_size + w)

# %% 1e strided-short
# says: These locs are D apart: one rank's share, and a page holds every rank's.
# asks: How many neighbours in a row does the allocator hand out?
def page_locs(page, page_size, dcp_size):
    return torch.arange(page, page + page_size * dcp_size, dcp_size)
