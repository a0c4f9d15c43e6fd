# Answers to 4f: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 4f rows-for-all
# says: Locs are held against a rank's rows: a false alarm for legal locs.
# asks: Which of the five has been divided by D?
# family: M11
# from: solution
- if consumer != "ckv_row":
-     bound *= dcp_size

# %% 4f pool-rows-for-all
# says: Everything is held against C + P, as the unpatched server does.
# asks: Which of the five has been divided by D?
# family: M11
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    return bool(((flat_locs >= 0) & (flat_locs < size + page_size)).all())

# %% 4f upstream
# says: C * D + P rejects the last (D - 1) * P legal locs, as #36989 does.
# asks: How long is the spare page of a buffer that is addressed by loc?
# family: M11
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size if consumer == "ckv_row" else size * dcp_size + page_size
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f locs-for-all
# says: A row is held against the bound for locs: it never fires.
# asks: What is the largest row that a rank has?
# family: M11
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    return bool(((flat_locs >= 0) & (flat_locs < (size // page_size + 1) * page_size * dcp_size)).all())

# %% 4f page-table-as-rows
# says: The flattened page table holds locs: its bound is index-K's, not c-KV's.
# asks: Who reads the flattened page table, and by which index?
# family: M11
# from: solution
- if consumer != "ckv_row":
+ if consumer not in ("ckv_row", "flattened_page_table"):

# %% 4f write-as-rows
# says: Before the c-KV write the index is a loc still: the kernel divides, later.
# asks: Who divides: the caller of the write, or the write itself?
# family: M11
# from: solution
- if consumer != "ckv_row":
+ if consumer not in ("ckv_row", "ckv_write_loc"):

# %% 4f index-k-as-rows
# says: index-K is whole on every rank and addressed by loc: its bound counts locs.
# asks: Who divides before index-K is read?
# family: M7
# from: solution
- if consumer != "ckv_row":
+ if consumer not in ("ckv_row", "index_k_loc"):

# %% 4f draft-as-rows
# says: The draft's pool is whole on every rank and addressed by loc.
# asks: Is the draft's pool split over the ranks?
# family: M11
# from: solution
- if consumer != "ckv_row":
+ if consumer not in ("ckv_row", "draft_loc"):

# %% 4f draft-and-table-as-rows
# says: The draft's pool and the page table are addressed by loc, both of them.
# asks: Which of the five has been divided by D?
# family: M11
# from: solution
- if consumer != "ckv_row":
+ if consumer in ("ckv_write_loc", "index_k_loc"):

# %% 4f draft-twice
# says: For the draft dcp_size is multiplied in twice: the check never fires.
# asks: How far do the locs go that the draft is given?
# family: M12
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size
    bound *= {"ckv_row": 1, "draft_loc": dcp_size * dcp_size}.get(consumer, dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f no-spare-page
# says: The spare page is forgotten: page 0 is never issued, but takes up numbers.
# asks: What is the last loc of the last page?
# family: M10
# from: solution
- bound = (size // page_size + 1) * page_size
+ bound = size // page_size * page_size

# %% 4f not-whole-pages
# says: A tail of size that fills no page is never issued: the bound is too loose.
# asks: How many whole pages do 14 rows make when a page has 4?
# family: M10
# from: solution
- bound = (size // page_size + 1) * page_size
+ bound = size + page_size

# %% 4f rounded-up
# says: A page that is only begun is counted: the bound is a page too loose.
# asks: How many whole pages do 14 rows make when a page has 4?
# family: M10
# from: solution
- bound = (size // page_size + 1) * page_size
+ bound = (-(-size // page_size) + 1) * page_size

# %% 4f inclusive
# says: The bound is exclusive: an index that equals it is outside already.
# asks: A buffer of 12 slots has indices 0 to 11. Is 12 in range?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool(((flat_locs >= 0) & (flat_locs <= bound)).all())

# %% 4f too-tight
# says: The largest legal index is rejected.
# asks: A buffer of 12 slots has indices 0 to 11. Is 11 in range?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool(((flat_locs >= 0) & (flat_locs < bound - 1)).all())

# %% 4f negative
# says: Negative indices pass: in torch they read from the end, in Triton before it.
# asks: Which slot does index -1 reach?
# family: M8
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool((flat_locs < bound).all())

# %% 4f minus-one
# says: -1 passes as padding, but this table has none: every entry is a token.
# asks: What is a -1 doing in a list of all requests' tokens?
# family: M8
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool(((flat_locs >= -1) & (flat_locs < bound)).all())

# %% 4f abs
# says: The sign was dropped: a negative index passes for a positive one.
# asks: Which slot does index -1 reach?
# family: M8
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool((flat_locs.abs() < bound).all())

# %% 4f zero
# says: Index 0 is rejected: it is an index like any other.
# asks: Which is the smallest index of a buffer?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool(((flat_locs > 0) & (flat_locs < bound)).all())

# %% 4f empty-crashes
# says: A batch without tokens fails: nothing has no maximum.
# asks: Is there an index in an empty list that is out of range?
# outcome: crashed
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return int(flat_locs.max()) < bound and int(flat_locs.min()) >= 0

# %% 4f empty-crashes-min
# says: A batch without tokens fails: nothing has no minimum.
# asks: Is there an index in an empty list that is out of range?
# outcome: crashed
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return int(flat_locs.min()) >= 0 and int(flat_locs.max()) < bound

# %% 4f max-only
# says: Only the largest is looked at: negative ones pass, and an empty list fails.
# asks: Which index is the worst of [9, -1, 10]?
# family: M8
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return int(flat_locs.max()) < bound

# %% 4f empty-is-false
# says: An empty list is reported as out of range.
# asks: Is there an index in an empty list that is out of range?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return flat_locs.numel() > 0 and bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f any
# says: One legal index is enough here: all of them must be.
# asks: What does any() say of one legal and one illegal index?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return not flat_locs.numel() or bool(((flat_locs >= 0) & (flat_locs < bound)).any())

# %% 4f first-only
# says: Only the first index is looked at.
# asks: Must the largest loc stand first?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return not flat_locs.numel() or 0 <= int(flat_locs[0]) < bound

# %% 4f last-only
# says: Only the last index is looked at: pages need not come in order.
# asks: Must the largest loc stand last?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return not flat_locs.numel() or 0 <= int(flat_locs[-1]) < bound

# %% 4f smallest-only
# says: The smallest index was held against the bound; the largest decides.
# asks: Which of the indices can be too large?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return not flat_locs.numel() or 0 <= int(flat_locs.min()) < bound

# %% 4f counts-tokens
# says: The number of tokens was compared: what must fit is the largest index.
# asks: Three tokens sit at loc 4000. Does a buffer of 32 slots have them?
# family: M10
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return flat_locs.numel() <= bound and bool((flat_locs >= 0).all())

# %% 4f counts-tokens-alone
# says: The number of tokens was compared: what must fit is the largest index.
# asks: Three tokens sit at loc 4000. Does a buffer of 32 slots have them?
# family: M10
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    return flat_locs.numel() <= (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)

# %% 4f only-when-full
# says: The check is skipped unless there are more tokens than slots, as upstream does.
# asks: Can one token alone have a loc that is too large?
# family: M10
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return flat_locs.numel() <= bound or bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f too-many
# says: Requests may share a prefix: more entries than slots are no fault.
# asks: Four requests share one page. How many entries has the table, how many slots?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return flat_locs.numel() <= bound and bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f no-repeats
# says: The same loc twice is no fault: requests may share a prefix.
# asks: Two requests have the same first page. What does the table hold?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return len(flat_locs.unique()) == len(flat_locs) and bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f int32
# says: The locs were cut to 32 bits: one past 2^32 wraps to a small legal one.
# asks: What is 2^32 + 9 in 32 bits?
# family: M16
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool(((flat_locs >= 0) & (flat_locs.int() >= 0) & (flat_locs.int() < min(bound, 2**31 - 1))).all())

# %% 4f float32
# says: Compared as float32, which cannot tell neighbours past 2^24.
# asks: Does an index ever need a float?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool(((flat_locs >= 0) & (flat_locs.float() < float(bound))).all())

# %% 4f float64
# says: The bound went through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
# from: solution
- bound = (size // page_size + 1) * page_size
+ bound = (int(size / page_size) + 1) * page_size

# %% 4f tensor
# says: A tensor came out where a bool was asked for.
# asks: What turns a tensor of one value into a bool?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return ((flat_locs >= 0) & (flat_locs < bound)).all()

# %% 4f one-by-one
# says: This says of each index whether it fits: one bool for all was asked for.
# asks: What does the caller do with your result: `if capacity_ok(...)`?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return (flat_locs >= 0) & (flat_locs < bound)

# %% 4f chained
# says: 0 <= locs < bound asks a whole tensor for one truth value: it takes two masks.
# asks: What does Python make of a <= b < c, and what joins two masks?
# outcome: crashed
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return bool((0 <= flat_locs < bound).all())

# %% 4f inverted
# says: True and False are swapped: this says whether something is wrong.
# asks: What does ok mean for a list of legal locs?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ return not bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f raises
# says: It stops the server where it should say False.
# asks: Who decides what to do about an index that is out of range?
# outcome: crashed
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ assert bool(((flat_locs >= 0) & (flat_locs < bound)).all()), "an index is out of range"
+ return True

# %% 4f mean
# says: The mean was held against the bound: one index beyond it is enough.
# asks: Three indices are small and one is outside. What is their mean?
# from: solution
- return bool(((flat_locs >= 0) & (flat_locs < bound)).all())
+ if not flat_locs.numel():
+     return True
+ return bool(flat_locs.min() >= 0) and sum(flat_locs.tolist()) / flat_locs.numel() < bound

# %% 4f always
# says: It says yes to everything, negative indices and those past the end.
# asks: Which index does it refuse?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    return True

# %% 4f min-max
# outcome: passed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    if flat_locs.numel() == 0:
        return True
    rows = (size // page_size + 1) * page_size
    bound = rows if consumer == "ckv_row" else rows * dcp_size
    return 0 <= int(flat_locs.min()) and int(flat_locs.max()) < bound

# %% 4f any-bad
# outcome: passed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size - size % page_size + page_size) * (1 if consumer == "ckv_row" else dcp_size)
    bad = (flat_locs < 0) | (flat_locs >= bound)
    return not bad.any().item()

# %% 4f python
# outcome: passed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    per_row = {"ckv_row": 1}.get(consumer, dcp_size)
    legal = range((size // page_size + 1) * page_size * per_row)
    return all(loc in legal for loc in flat_locs.tolist())

# %% 4f by-page
# outcome: passed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    width = page_size if consumer == "ckv_row" else page_size * dcp_size
    pages = flat_locs.div(width, rounding_mode="floor")
    return bool(((pages >= 0) & (pages <= size // page_size)).all())

# %% 4f numpy
# outcome: passed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size
    if consumer in ("ckv_write_loc", "index_k_loc", "draft_loc", "flattened_page_table"):
        bound *= dcp_size
    locs = flat_locs.cpu().numpy().astype(np.int64)
    return bool(np.all(locs >= 0) and np.all(locs < bound))
