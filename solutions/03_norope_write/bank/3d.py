# Answers to 3d: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 3d holes
# says: Holes are kept: rows belong at the front, and -1 after them.
# asks: How many places must the kernel walk to find the last row?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    return rows.int(), owned.sum(-1).int()

# %% 3d holes-count-global
# says: Holes are kept, and the keys of other ranks are counted.
# asks: How many rows has this rank, and where does the kernel look for them?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    return rows.int(), (topk_locs >= 0).sum(-1).int()

# %% 3d tail-divided
# says: Behind the rows stand other ranks' locs, divided: -1 is asked for there.
# asks: What is left in the places past the count?
# family: M9
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return (topk_locs.gather(-1, front) // dcp_size).int(), owned.sum(-1).int()

# %% 3d sorted
# says: Rows were sorted by their number: the order of the keys is lost.
# asks: Which key comes first, the best one or the one in the lowest row?
# family: M14
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    return rows.sort(dim=-1, descending=True).values.int(), owned.sum(-1).int()

# %% 3d sorted-up
# says: Rows were sorted upwards: the order of the keys is lost.
# asks: Which key comes first, the best one or the one in the lowest row?
# family: M14
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    big = torch.where(owned, rows, 2**40).sort(dim=-1).values
    return torch.where(big == 2**40, -1, big).int(), owned.sum(-1).int()

# %% 3d reversed
# says: The rows stand in reverse order.
# asks: Which of a query's keys does the kernel meet first?
# family: M14
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    rows, owned = rows.flip(-1), owned.flip(-1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d back
# says: The rows stand at the end: the kernel reads the first `count` places.
# asks: Which places does a kernel read that is told count = 2?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)
- front = torch.argsort((~owned).int(), dim=-1, stable=True)
+ front = torch.argsort(owned.int(), dim=-1, stable=True)

# %% 3d count-all
# says: The count is that of all places, holes included.
# asks: How many rows of this rank are there?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), torch.full(topk_locs.shape[:-1], topk_locs.shape[-1]).int()

# %% 3d count-global
# says: Other ranks' keys were counted too: this is how many were selected in all.
# asks: What do the counts of all ranks add up to?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), (topk_locs >= 0).sum(-1).int()

# %% 3d count-holes
# says: The holes were counted, not the rows.
# asks: How many places are not -1?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), (rows < 0).sum(-1).int()

# %% 3d count-one-less
# says: The count is the place of the last row, one less than their number.
# asks: How many places are 0 to 2?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), (owned.sum(-1) - 1).int()

# %% 3d count-even
# says: The count is what D ranks would have on average, not what this one has.
# asks: Does every rank hold as many keys of a query?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), ((topk_locs >= 0).sum(-1) // dcp_size).int()

# %% 3d count-one-for-all
# says: One count for the whole batch; each query has its own.
# asks: How many rows has the second query?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), owned.sum().int()

# %% 3d count-keepdim
# says: The counts have a last axis of 1: one number a query is asked for.
# asks: What is the shape of a count for each query?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), owned.sum(-1, keepdim=True).int()

# %% 3d count-axis
# says: Counted along the wrong axis: how many queries, not how many keys.
# asks: Which axis holds the keys of one query?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), owned.sum(0).int()

# %% 3d count-padding
# says: Padding was counted on rank D-1: -1 % D is D-1 there.
# asks: Whose is -1 in torch?
# family: M8
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = topk_locs % dcp_size == dcp_rank
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((rows < 0).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d padding
# says: Padding is a key on rank D-1: -1 % D is D-1, so -1 stands among the rows.
# asks: Whose is -1 in torch?
# family: M8
# from: reversed
- owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
+ owned = topk_locs % dcp_size == dcp_rank

- rows, owned = rows.flip(-1), owned.flip(-1)

# %% 3d padding-truncated
# says: Padding became row 0 on rank D-1.
# asks: What is -1 / 4 rounded towards zero?
# family: M8
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = topk_locs % dcp_size == dcp_rank
    rows = torch.where(owned, topk_locs.div(dcp_size, rounding_mode="trunc"), -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d padding-clamped
# says: Padding was turned into loc 0, which is a key of rank 0.
# asks: After the clamp, can you still tell loc 0 from padding?
# family: M8
# from: reversed
  def localize_topk(topk_locs, dcp_rank, dcp_size):
+     topk_locs = topk_locs.clamp(min=0)

- rows, owned = rows.flip(-1), owned.flip(-1)

# %% 3d raw
# says: These are still the global locs: nothing selected an owner.
# asks: If every rank attends to every key, what does each key weigh in the end?
# family: M1
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = topk_locs >= 0
    rows = topk_locs
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d untouched
# says: The table came back as it was, with a count: that is the old server's read.
# asks: In which row of this rank is loc 10?
# family: M1
def localize_topk(topk_locs, dcp_rank, dcp_size):
    return topk_locs.int(), (topk_locs >= 0).sum(-1).int()

# %% 3d no-divide
# says: You kept the right keys but left them as locs, undivided.
# asks: How many rows has one rank, and how large is the largest loc?
# family: M2
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = topk_locs
    rows = torch.where(owned, rows, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d no-filter
# says: Other ranks' keys were divided too: each rank reads strangers' rows.
# asks: Which rank should answer for loc 5, and what should the others say?
# family: M3
# from: reversed
- owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
+ owned = topk_locs >= 0

- rows, owned = rows.flip(-1), owned.flip(-1)

# %% 3d swap
# says: Owner and row are swapped: filter by the remainder, divide for the row.
# asks: Which of % and // can be as large as the pool?
# family: M4
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs // dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs % dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d one-row
# says: The remainder is the owner, not the row.
# asks: Which two numbers does a loc give, and which of them is the row?
# family: M4
# from: reversed
- rows = torch.where(owned, topk_locs // dcp_size, -1)
- rows, owned = rows.flip(-1), owned.flip(-1)
+ rows = torch.where(owned, topk_locs % dcp_size, -1)

# %% 3d by-place
# says: The places of top-k were dealt out, not the locs.
# asks: Does the first place of every query belong to rank 0?
# family: M5
def localize_topk(topk_locs, dcp_rank, dcp_size):
    place = torch.arange(topk_locs.shape[-1], device=topk_locs.device).expand(topk_locs.shape)
    owned = (topk_locs >= 0) & (place % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d pages
# says: This deals out whole pages of 64; the ranks take turns loc by loc.
# asks: Locs 8 and 9 are in one page. Do they have one owner?
# family: M5
# from: by-place
- place = torch.arange(topk_locs.shape[-1], device=topk_locs.device).expand(topk_locs.shape)
- owned = (topk_locs >= 0) & (place % dcp_size == dcp_rank)
+ owned = (topk_locs >= 0) & (topk_locs // 64 % dcp_size == dcp_rank)

# %% 3d neighbours
# says: This gives D neighbours to one rank; interleaved, they go to D ranks.
# asks: With four ranks, who stores loc 9 and who stores loc 10?
# family: M5
# from: by-place
- place = torch.arange(topk_locs.shape[-1], device=topk_locs.device).expand(topk_locs.shape)
- owned = (topk_locs >= 0) & (place % dcp_size == dcp_rank)
+ owned = (topk_locs >= 0) & (topk_locs // dcp_size % dcp_size == dcp_rank)

# %% 3d twice
# says: Divided twice: the result of a localize was localized again.
# asks: Loc 37 of four ranks is row 9. What would make it 2?
# family: M6
# from: reversed
- rows = torch.where(owned, topk_locs // dcp_size, -1)
- rows, owned = rows.flip(-1), owned.flip(-1)
+ rows = torch.where(owned, topk_locs // dcp_size // dcp_size, -1)

# %% 3d row-zero
# says: Row 0 fills the rest: it is a row like any other, and would be read.
# asks: How does a reader tell "not here" from row 0?
# family: M9
# from: reversed
- rows = torch.where(owned, topk_locs // dcp_size, -1)
- rows, owned = rows.flip(-1), owned.flip(-1)
+ rows = torch.where(owned, topk_locs // dcp_size, 0)

# %% 3d repeated
# says: The first row fills the rest: a reader without a count meets it again.
# asks: What does a key weigh that is listed twice?
# family: M9
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    rows = rows.gather(-1, front)
    if rows.shape[-1]:
        rows = torch.where(rows < 0, rows[..., :1], rows)
    return rows.int(), owned.sum(-1).int()

# %% 3d places
# says: These are places in top-k, not rows: the order is there, the rows are not.
# asks: What does argsort return?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return torch.where(owned.gather(-1, front), front, -1).int(), owned.sum(-1).int()

# %% 3d int64-rows
# says: The values are right, but int32 is asked for.
# asks: Which dtype do kernels read a table in?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front), owned.sum(-1)

# %% 3d int64-counts
# says: The rows are int32 and the counts int64: both are asked for in int32.
# asks: Which dtype does sum give for integers?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int(), owned.sum(-1)

# %% 3d table-dtype
# says: The rows have the dtype of the locs; int32 is asked for.
# asks: Which dtype do kernels read a table in?
# from: reversed
- rows, owned = rows.flip(-1), owned.flip(-1)

- return rows.gather(-1, front).int(), owned.sum(-1).int()
+ return rows.gather(-1, front).to(topk_locs.dtype), owned.sum(-1).int()

# %% 3d int32-first
# says: The locs were cut to 32 bits before the division; only rows fit.
# asks: How large can a loc be whose row fits in int32?
# family: M16
# from: reversed
  def localize_topk(topk_locs, dcp_rank, dcp_size):
+     topk_locs = topk_locs.int().long()

- rows, owned = rows.flip(-1), owned.flip(-1)

# %% 3d float32
# says: The row goes through float32, exact to 2^24 only.
# asks: Which division never leaves the integers?
# from: reversed
- rows = torch.where(owned, topk_locs // dcp_size, -1)
- rows, owned = rows.flip(-1), owned.flip(-1)
+ rows = torch.where(owned, (topk_locs / dcp_size).long(), -1)

# %% 3d float64
# says: The row goes through float64, which rounds it up near a whole number.
# asks: Which division never leaves the integers?
# from: reversed
- rows = torch.where(owned, topk_locs // dcp_size, -1)
- rows, owned = rows.flip(-1), owned.flip(-1)
+ rows = torch.where(owned, (topk_locs.double() / dcp_size).long(), -1)

# %% 3d bits
# says: locs & (D - 1) is the remainder only where D is a power of two.
# asks: What does loc & 2 give for three ranks?
# from: by-place
- place = torch.arange(topk_locs.shape[-1], device=topk_locs.device).expand(topk_locs.shape)
- owned = (topk_locs >= 0) & (place % dcp_size == dcp_rank)
+ owned = (topk_locs >= 0) & ((topk_locs & (dcp_size - 1)) == dcp_rank)

# %% 3d loc-zero
# says: Loc 0 was taken for padding; for a mapping it is a loc like any other.
# asks: Is 0 negative?
# from: by-place
- place = torch.arange(topk_locs.shape[-1], device=topk_locs.device).expand(topk_locs.shape)
- owned = (topk_locs >= 0) & (place % dcp_size == dcp_rank)
+ owned = (topk_locs > 0) & (topk_locs % dcp_size == dcp_rank)

# %% 3d flat
# says: All queries were compacted together: rows moved from one query to another.
# asks: Whose keys are in the first line of the table?
# family: M15
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    flat = rows.reshape(-1)
    flat = torch.cat([flat[flat >= 0], flat[flat < 0]])
    return flat.reshape(rows.shape).int(), owned.sum(-1).int()

# %% 3d first-axis
# says: Compacted along the first axis: rows moved from one query to another.
# asks: Which axis holds the keys of one query?
# family: M15
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=0, stable=True)
    return rows.gather(0, front).int(), owned.sum(-1).int()

# %% 3d cut
# says: The table was cut to the longest query: the shape must stay.
# asks: How wide is the table that the kernel was compiled for?
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    rows = torch.where(owned, topk_locs // dcp_size, -1)
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    most = int(owned.sum(-1).max()) if owned.numel() else 0
    return rows.gather(-1, front)[..., :most].int(), owned.sum(-1).int()

# %% 3d only-rows
# says: The rows came alone: the counts are asked for too.
# asks: How does the kernel know where to stop?
# from: cut
- most = int(owned.sum(-1).max()) if owned.numel() else 0
- return rows.gather(-1, front)[..., :most].int(), owned.sum(-1).int()
+ return rows.gather(-1, front).int()

# %% 3d swapped-pair
# says: Rows and counts are swapped.
# asks: Which of the two comes first?
# family: M4
# from: cut
- most = int(owned.sum(-1).max()) if owned.numel() else 0
- return rows.gather(-1, front)[..., :most].int(), owned.sum(-1).int()
+ return owned.sum(-1).int(), rows.gather(-1, front).int()

# %% 3d in-place
# says: The caller's table was changed; the other ranks' code may share it.
# asks: Who else reads the selected locs?
# outcome: unsafe
def localize_topk(topk_locs, dcp_rank, dcp_size):
    owned = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    topk_locs[~owned] = -1
    rows = topk_locs.div(dcp_size, rounding_mode="floor")
    front = torch.argsort((~owned).int(), dim=-1, stable=True)
    return rows.gather(-1, front).int(), owned.sum(-1).int()

# %% 3d two-dims
# says: Right only for a table of two dimensions.
# asks: Along which axis does -1 count, whatever comes before it?
# outcome: crashed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    rows = torch.full(topk_locs.shape, -1, dtype=torch.int32, device=topk_locs.device)
    counts = torch.zeros(topk_locs.shape[0], dtype=torch.int32, device=topk_locs.device)
    for q in range(topk_locs.shape[0]):
        mine = [loc // dcp_size for loc in topk_locs[q].tolist() if loc >= 0 and loc % dcp_size == dcp_rank]
        rows[q, : len(mine)] = torch.tensor(mine, dtype=torch.int32)
        counts[q] = len(mine)
    return rows, counts

# %% 3d rank-from-one
# says: Ranks count from 0: loc 0 is rank 0's, and here it is rank 1's.
# asks: Which remainders are possible with four ranks?
# from: by-place
- place = torch.arange(topk_locs.shape[-1], device=topk_locs.device).expand(topk_locs.shape)
- owned = (topk_locs >= 0) & (place % dcp_size == dcp_rank)
+ owned = (topk_locs >= 0) & (topk_locs % dcp_size + 1 == dcp_rank)

# %% 3d mask-and-cumsum
# outcome: passed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    mine = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    counts = mine.sum(-1, dtype=torch.int32)
    rows = torch.full(topk_locs.shape, -1, dtype=torch.int32, device=topk_locs.device)
    front = torch.arange(topk_locs.shape[-1], device=topk_locs.device) < counts[..., None]
    rows[front] = (topk_locs[mine] // dcp_size).to(torch.int32)
    return rows, counts

# %% 3d scatter
# outcome: passed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    k = topk_locs.shape[-1]
    mine = (topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank)
    place = torch.where(mine, mine.cumsum(-1) - 1, k)
    out = torch.full((*topk_locs.shape[:-1], k + 1), -1, dtype=topk_locs.dtype, device=topk_locs.device)
    out.scatter_(-1, place, topk_locs // dcp_size)
    return out[..., :k].to(torch.int32, copy=True), mine.sum(-1).to(torch.int32)

# %% 3d sort-by-place
# outcome: passed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    k = topk_locs.shape[-1]
    rows = torch.where((topk_locs >= 0) & (topk_locs % dcp_size == dcp_rank), topk_locs // dcp_size, -1)
    key = torch.arange(k, device=rows.device) + k * (rows < 0)
    return rows.gather(-1, key.argsort(-1)).to(torch.int32), (rows != -1).sum(-1).to(torch.int32)

# %% 3d loop
# outcome: passed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    k = topk_locs.shape[-1]
    rows, counts = [], []
    for query in topk_locs.reshape(-1, k).tolist() if topk_locs.numel() else []:
        mine = [loc // dcp_size for loc in query if loc >= 0 and loc % dcp_size == dcp_rank]
        rows += mine + [-1] * (k - len(mine))
        counts.append(len(mine))
    counts = counts or [0] * math.prod(topk_locs.shape[:-1])
    return (
        torch.tensor(rows, dtype=torch.int32, device=topk_locs.device).reshape(topk_locs.shape),
        torch.tensor(counts, dtype=torch.int32, device=topk_locs.device).reshape(topk_locs.shape[:-1]),
    )

# %% 3d unguarded-division
# outcome: passed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    rows = torch.where(topk_locs % dcp_size == dcp_rank, topk_locs // dcp_size, -1)
    holes = rows < 0
    order = torch.sort(holes.to(torch.uint8), dim=-1, stable=True).indices
    return torch.take_along_dim(rows, order, dim=-1).int(), (~holes).sum(dim=-1).int()

# %% 3d loop2d
# says: It goes through rows and entries one by one: there may be any number of axes.
# asks: Which operations work along the last axis alone?
# outcome: crashed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    out = torch.full(topk_locs.shape, -1, dtype=torch.int32)
    counts = torch.zeros(topk_locs.shape[0], dtype=torch.int32)
    for t in range(topk_locs.shape[0]):
        sel = [int(l) // dcp_size for l in topk_locs[t] if l >= 0 and l % dcp_size == dcp_rank]
        out[t, : len(sel)] = torch.tensor(sel, dtype=torch.int32)
        counts[t] = len(sel)
    return out, counts

# %% 3d prec
# says: Conditions on tensors: each in parentheses, joined by &, never `and` or a chain.
# asks: Which binds tighter in Python, & or >=?
# outcome: crashed
def localize_topk(topk_locs, dcp_rank, dcp_size):
    mine = topk_locs >= 0 & topk_locs % dcp_size == dcp_rank
    rows = torch.where(mine, topk_locs // dcp_size, -1)
    order = torch.argsort(~mine, dim=-1, stable=True)
    return torch.gather(rows, -1, order).int(), mine.sum(-1).int()
