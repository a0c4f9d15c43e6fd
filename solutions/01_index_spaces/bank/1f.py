# Answers to 1f: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

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
# says: The result was cut to int32 where the locs are int64: past 2^31 pages wrap.
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

# %% 1f through-rows
# outcome: passed
def page_tables(locs, page_size, dcp_size):
    rows = locs // dcp_size
    return locs[::page_size] // page_size, rows[:: page_size * dcp_size] // page_size

# %% 1f one-rank-first
# outcome: passed
def page_tables(locs, page_size, dcp_size):
    mine = locs[::dcp_size] // dcp_size
    return locs[::page_size].div(page_size, rounding_mode="floor"), mine[::page_size] // page_size

# %% 1f unique-consecutive
# outcome: passed
# from: one-page-more
- firsts = [locs[min(i * width, locs.numel() - 1)] // width for i in range(locs.numel() // width + 1) if locs.numel()]
- return torch.stack(firsts) if firsts else locs.clone()
+ return torch.unique_consecutive(locs // width)

# %% 1f seen
# outcome: passed
def first_use(ids):
    seen = []
    for page in ids:
        if page not in seen:
            seen.append(page)
    return seen

def page_tables(locs, page_size, dcp_size):
    index_k = first_use([loc // page_size for loc in locs.tolist()])
    ckv = first_use([loc // dcp_size // page_size for loc in locs.tolist()])
    return tuple(torch.tensor(pages, dtype=locs.dtype, device=locs.device) for pages in (index_k, ckv))

# %% 1f gather
# outcome: passed
def page_tables(locs, page_size, dcp_size):
    tables = []
    for width in (page_size, page_size * dcp_size):
        at = torch.arange(0, locs.shape[0], width, device=locs.device)
        tables.append(locs.index_select(0, at) // width)
    return tables[0], tables[1]

# %% 1f moddiv
# says: These are places within a page, not the number of the page.
# asks: Which of // and % counts whole pages?
def page_tables(locs, page_size, dcp_size):
    w = page_size * dcp_size
    return locs[::page_size] % page_size, locs[::w] % w

# %% 1f mult
# says: One index-K page is listed for each c-KV page; a widened page has D of them.
# asks: How many pages of P locs does one widened page cover?
def page_tables(locs, page_size, dcp_size):
    w = page_size * dcp_size
    ckv = locs[::w] // w
    return (ckv * dcp_size), ckv

# %% 1f repeat
# says: Pages are listed that hold no token: the last widened page may be partly filled.
# asks: How many index-K pages do 9 locs take, with P = 4?
def page_tables(locs, page_size, dcp_size):
    w = page_size * dcp_size
    ckv = locs[::w] // w
    return (ckv[:, None] * dcp_size + torch.arange(dcp_size, device=locs.device)).flatten(), ckv

# %% 1f firstloc
# says: All pages between first and last are listed: a request's need not be in a row.
# asks: Where does the next page of a request lie?
# outcome: crashed
def page_tables(locs, page_size, dcp_size):
    ckv = locs[::page_size * dcp_size] // page_size // dcp_size
    return torch.arange(int(locs[0]) // page_size, int(locs[-1]) // page_size + 1), ckv
