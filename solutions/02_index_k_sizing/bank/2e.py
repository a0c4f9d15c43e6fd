# Answers to 2e: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

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
# says: The flattened page table holds locs as the allocator gave them: not yet rows.
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
# says: The draft's size is multiplied twice: its bound is nearly D times too large.
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

# %% 2e sets
# outcome: passed
def check_bound(consumer, size, page_size, dcp_size):
    rows = (size // page_size + 1) * page_size
    return rows if consumer == "ckv_row" else rows * dcp_size

# %% 2e match
# outcome: passed
def check_bound(consumer, size, page_size, dcp_size):
    match consumer:
        case "ckv_row":
            return size - size % page_size + page_size
        case "ckv_write_loc" | "index_k_loc" | "draft_loc" | "flattened_page_table":
            return largest_loc(size, page_size, dcp_size) + 1
        case _:
            raise ValueError(f"there is no consumer called {consumer}")

# %% 2e table
# outcome: passed
LOCS = {"ckv_write_loc", "index_k_loc", "draft_loc", "flattened_page_table"}

def check_bound(consumer, size, page_size, dcp_size):
    largest = largest_loc(size, page_size, dcp_size)
    return 1 + (largest if consumer in LOCS else largest // dcp_size)
