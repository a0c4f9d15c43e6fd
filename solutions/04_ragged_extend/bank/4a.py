# Answers to 4a: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 4a strided
# says: Every D-th entry of all: right where each prefix is whole turns, and only there.
# asks: Prefixes of 5 and 3 tokens: is it rank 0's turn at entry 5 of the list?
# family: M15
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[dcp_rank::dcp_size] // dcp_size

# %% 4a strided-locs
# says: Every D-th entry of the whole list, and these are locs: nothing was divided.
# asks: What does this rank's pool hold at index 16, and what is loc 16's row?
# family: M15
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[dcp_rank::dcp_size].clone()

# %% 4a strided-per-request
# says: Every D-th token of each request: right only where the piece starts at rank 0.
# asks: A piece starts at loc 5. Whose turn is it there?
# family: M5
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return torch.cat([locs[dcp_rank::dcp_size] // dcp_size for locs in pieces_of(prefix_locs, prefix_lens)])

# %% 4a no-divide
# says: The right tokens, but as locs: this rank keeps loc 16 of four ranks in row 4.
# asks: In which row of this rank's pool does loc 16 lie?
# family: M2
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[prefix_locs % dcp_size == dcp_rank]

# %% 4a no-owner
# says: Divided, but no owner was chosen: D tokens of D ranks stand here as one row.
# asks: Which of these locs does this rank store?
# family: M3
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs // dcp_size

# %% 4a raw
# says: These are the locs as they came: no owner was chosen, and nothing divided.
# asks: How many rows has this rank's pool?
# family: M1
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs.clone()

# %% 4a swap
# says: Owner and row are swapped: the quotient was held against the rank.
# asks: Which rank stores loc 10 of four: 10 // 4 or 10 % 4?
# family: M4
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[prefix_locs // dcp_size == dcp_rank] % dcp_size

# %% 4a remainder
# says: These are owners, all of them dcp_rank: the row is the quotient.
# asks: What does a remainder by dcp_size tell of a loc?
# family: M4
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[prefix_locs % dcp_size == dcp_rank] % dcp_size

# %% 4a twice
# says: Divided twice: what was selected is a row already after the first time.
# asks: What is 16 // 4, and what would 16 // 4 // 4 be?
# family: M6
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows = prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size
    return rows // dcp_size

# %% 4a owner-of-the-row
# says: The locs were divided first, and the owner was asked of a row.
# asks: Which number tells the owner, and is it still there after the division?
# family: M6
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows = prefix_locs // dcp_size
    return rows[rows % dcp_size == dcp_rank]

# %% 4a blocks
# says: Ranks are given long runs of the list: here they take turns, loc by loc.
# asks: Who owns the loc after this rank's first one?
# family: M5
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    each = -(-len(prefix_locs) // dcp_size)
    return prefix_locs[dcp_rank * each : (dcp_rank + 1) * each] // dcp_size

# %% 4a blocks-per-request
# says: Each request is cut into D runs: the ranks take turns loc by loc instead.
# asks: Who owns the second token of a request?
# family: M5
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    out = [prefix_locs[:0]]
    for locs in pieces_of(prefix_locs, prefix_lens):
        each = -(-len(locs) // dcp_size)
        out.append(locs[dcp_rank * each : (dcp_rank + 1) * each] // dcp_size)
    return torch.cat(out)

# %% 4a by-request
# says: Whole requests were dealt to the ranks: each request is spread over all of them.
# asks: Which ranks hold a prefix of eight tokens?
# family: M5
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    request = torch.arange(len(prefix_lens), device=prefix_locs.device).repeat_interleave(prefix_lens.long())
    return prefix_locs[request % dcp_size == dcp_rank] // dcp_size

# %% 4a holes
# says: The others' tokens still stand there as -1: the pool has no such row to send.
# asks: How many rows does this rank hold of these prefixes?
# family: M9
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return torch.where(prefix_locs % dcp_size == dcp_rank, prefix_locs // dcp_size, -1)

# %% 4a zeros
# says: The others' tokens stand there as row 0, which belongs to somebody else.
# asks: How many rows does this rank hold of these prefixes?
# family: M9
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return torch.where(prefix_locs % dcp_size == dcp_rank, prefix_locs // dcp_size, 0)

# %% 4a sorted
# says: The rows are sorted; they must stay in the order of the tokens.
# asks: Must a later token have a larger loc?
# family: M14
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return (prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size).sort().values

# %% 4a reversed
# says: The right rows from the last to the first.
# asks: Which token of a request comes first?
# family: M14
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return (prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size).flip(0)

# %% 4a unique
# says: A row that two requests share is listed once: each needs it in its own place.
# asks: Two requests have the same first page. How many tokens have they together?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    seen = dict.fromkeys(prefix_locs[prefix_locs % dcp_size == dcp_rank].tolist())
    return torch.tensor(list(seen), dtype=prefix_locs.dtype, device=prefix_locs.device) // dcp_size

# %% 4a unique-sorted
# says: torch.unique sorts, and drops what two requests share.
# asks: In which order must the rows stand?
# family: M14
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return torch.unique(prefix_locs[prefix_locs % dcp_size == dcp_rank]) // dcp_size

# %% 4a first-request
# says: Only the first request is there.
# asks: Where do the locs of the second request begin?
# family: M15
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    locs = prefix_locs[: int(prefix_lens[0])]
    return locs[locs % dcp_size == dcp_rank] // dcp_size

# %% 4a no-start
# says: Every request was cut from the beginning of the list: only the first is right.
# asks: Where do the locs of the second request begin?
# family: M15
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    locs = torch.cat([prefix_locs[:n] for n in prefix_lens.tolist()])
    return locs[locs % dcp_size == dcp_rank] // dcp_size

# %% 4a stops-at-empty
# says: A prefix of length 0 ends your loop; the requests after it are missing.
# asks: What should follow an empty prefix?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    out = [prefix_locs[:0]]
    for locs in pieces_of(prefix_locs, prefix_lens):
        if len(locs) == 0:
            break
        out.append(locs[locs % dcp_size == dcp_rank] // dcp_size)
    return torch.cat(out)

# %% 4a empty-as-one
# says: A prefix of length 0 still took a loc, its neighbour's first.
# asks: How many tokens has a prefix of length 0?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    out, at = [prefix_locs[:0]], 0
    for n in prefix_lens.tolist():
        out.append(prefix_locs[at : at + max(n, 1)])
        at += n
    locs = torch.cat(out)
    return locs[locs % dcp_size == dcp_rank] // dcp_size

# %% 4a whole-turns
# says: Only whole turns of the ranks are read: the tail of each prefix is missing.
# asks: Which ranks hold the fifth token of five, when D is 4?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    locs = torch.cat([p[: len(p) // dcp_size * dcp_size] for p in pieces_of(prefix_locs, prefix_lens)])
    return locs[locs % dcp_size == dcp_rank] // dcp_size

# %% 4a same-count
# says: Every rank gives ceil(len / D) rows: ranks hold different numbers of tokens.
# asks: How many of five tokens does the last of four ranks hold?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    out = [prefix_locs[:0]]
    for locs in pieces_of(prefix_locs, prefix_lens):
        rows = locs[locs % dcp_size == dcp_rank] // dcp_size
        need = -(-len(locs) // dcp_size)
        out.append(torch.cat([rows, rows.new_full((max(need - len(rows), 0),), -1)]))
    return torch.cat(out)

# %% 4a counts-from-one
# says: Ranks were counted from 1.
# asks: Which rank owns loc 0?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[prefix_locs % dcp_size + 1 == dcp_rank] // dcp_size

# %% 4a rows-from-one
# says: Every row is one too high: the first row of a pool is row 0.
# asks: In which row does rank 0 keep loc 0?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size + 1

# %% 4a zero-dropped
# says: Loc 0 was dropped: for a mapping it is a loc like any other.
# asks: How many of the locs 0 to 4 does rank 0 of three own?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[(prefix_locs > 0) & (prefix_locs % dcp_size == dcp_rank)] // dcp_size

# %% 4a lens-as-locs
# says: The lengths were localized: the locs were never read.
# asks: Which of the two tensors says where a token is stored?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return (prefix_lens[prefix_lens % dcp_size == dcp_rank] // dcp_size).to(prefix_locs.dtype)

# %% 4a bits
# says: Bit tricks are right only where D is a power of two.
# asks: What does loc & 2 tell for three ranks?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[(prefix_locs & (dcp_size - 1)) == dcp_rank] // dcp_size

# %% 4a shift
# says: A shift divides by a power of two only.
# asks: By how many bits would you shift for three ranks?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[prefix_locs % dcp_size == dcp_rank] >> (dcp_size - 1).bit_length()

# %% 4a float32
# says: This goes through float32, which is exact only below 2^24.
# asks: Which division never leaves the integers?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return (prefix_locs[prefix_locs % dcp_size == dcp_rank] / dcp_size).to(prefix_locs.dtype)

# %% 4a float64
# says: This goes through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return (prefix_locs[prefix_locs % dcp_size == dcp_rank].double() / dcp_size).to(prefix_locs.dtype)

# %% 4a true-divide
# says: The rows are floats: a row is an index, an integer.
# asks: Which division drops the remainder?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs[prefix_locs % dcp_size == dcp_rank] / dcp_size

# %% 4a int32
# says: The rows are computed in 32 bits: past 2^31 they wrap.
# asks: How large can a loc be that fits int32?
# family: M16
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    locs = prefix_locs.int()
    return (locs[locs % dcp_size == dcp_rank] // dcp_size).to(prefix_locs.dtype)

# %% 4a narrow
# says: The result was cut to int32 where the locs are int64: past 2^31 rows wrap.
# asks: Which dtype have the locs?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return (prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size).int()

# %% 4a widen
# says: The result is int64 where the locs are int32.
# asks: Which dtype have the locs?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return (prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size).long()

# %% 4a list
# says: A list of tensors came out where one flat tensor was asked for.
# asks: What joins tensors end to end?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return [p[p % dcp_size == dcp_rank] // dcp_size for p in pieces_of(prefix_locs, prefix_lens)]

# %% 4a indices
# says: These are places in the list of locs, not rows of the pool.
# asks: What does nonzero give: the entries, or where they stand?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return (prefix_locs % dcp_size == dcp_rank).nonzero().flatten().to(prefix_locs.dtype)

# %% 4a mask
# says: This says which tokens are here, not in which rows.
# asks: What do you index the pool with?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs % dcp_size == dcp_rank

# %% 4a in-place
# says: This divides the caller's locs in place: the next layer reads them again.
# asks: Who else uses prefix_locs after you?
# outcome: unsafe
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    mine = prefix_locs % dcp_size == dcp_rank
    prefix_locs //= dcp_size
    return prefix_locs[mine]

# %% 4a view
# says: With one rank you hand back the caller's own tensor.
# asks: What happens to prefix_locs when somebody changes your result?
# outcome: unsafe
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    if dcp_size == 1:
        return prefix_locs
    return prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size

# %% 4a grid
# says: The list is folded into rows of D: that needs a length that D divides.
# asks: What becomes of eight locs and three ranks?
# outcome: crashed
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return prefix_locs.reshape(-1, dcp_size)[:, dcp_rank] // dcp_size

# %% 4a select
# outcome: passed
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return torch.masked_select(prefix_locs, prefix_locs % dcp_size == dcp_rank).div(dcp_size, rounding_mode="floor")

# %% 4a divide-first
# outcome: passed
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows, owner = prefix_locs // dcp_size, prefix_locs % dcp_size
    return rows[owner == dcp_rank]

# %% 4a by-request
# outcome: passed
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    out = []
    for locs in prefix_locs.split(prefix_lens.tolist()):
        out.append(locs[locs % dcp_size == dcp_rank] // dcp_size)
    return torch.cat(out) if out else prefix_locs.new_empty(0)

# %% 4a exact-division
# outcome: passed
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    offset = prefix_locs - dcp_rank
    return offset[offset % dcp_size == 0] // dcp_size

# %% 4a localize-and-drop
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs % dcp_size == dcp_rank, locs // dcp_size, -1)

def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows = localize(prefix_locs, dcp_rank, dcp_size)
    return rows[rows >= 0]

# %% 4a python
# outcome: passed
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows = [loc // dcp_size for loc in prefix_locs.tolist() if loc % dcp_size == dcp_rank]
    return torch.tensor(rows, dtype=prefix_locs.dtype, device=prefix_locs.device)

# %% 4a arange
# says: All rows between first and last are taken: pages need not be in a row.
# asks: Where does the next page of a request lie?
# outcome: crashed
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    parts = [torch.arange(int(p[0]) // dcp_size, int(p[-1]) // dcp_size + 1) for p in prefix_locs.split(prefix_lens.tolist()) if len(p)]
    return torch.cat(parts) if parts else prefix_locs.new_empty(0)

# %% 4a padded
# says: Each list was made equally long; what is not here is not sent.
# asks: How many rows does a rank with two of nine tokens send?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    n = -(-len(prefix_locs) // dcp_size)
    out = prefix_locs.new_full((n,), -1)
    m = prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size
    out[: len(m)] = m[:n]
    return out

# %% 4a chunk
# says: The list was cut into D pieces, one a rank; tokens go out by turns.
# asks: Which rank has the second token?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    n = len(prefix_locs) // dcp_size
    return prefix_locs[dcp_rank * n : (dcp_rank + 1) * n] // dcp_size

# %% 4a positionrow
# says: This divides the place in the list; a row is the loc divided by D.
# asks: In which row does loc 17 of four ranks stand?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    keep = prefix_locs % dcp_size == dcp_rank
    return torch.arange(len(prefix_locs), dtype=prefix_locs.dtype, device=prefix_locs.device)[keep] // dcp_size

# %% 4a neighbours-once
# says: Equal neighbours were dropped: two requests may begin with one token, and end.
# asks: What does a rank send of two requests whose prefix is the same one token?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    return torch.unique_consecutive(prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size)

# %% 4a row-zero-dropped
# says: Row 0 was dropped: it is a row like any other, and every rank has one.
# asks: In which row does rank 1 of three keep loc 1?
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    rows = prefix_locs[prefix_locs % dcp_size == dcp_rank] // dcp_size
    return rows[rows > 0]

# %% 4a strided-per-request-or-none
# says: Every D-th token of each request: right only where the piece starts at rank 0.
# asks: A piece starts at loc 5. Whose turn is it there?
# family: M5
def local_prefix_rows(prefix_locs, prefix_lens, dcp_rank, dcp_size):
    pieces = [locs[dcp_rank::dcp_size] // dcp_size for locs in pieces_of(prefix_locs, prefix_lens)]
    return torch.cat([prefix_locs[:0], *pieces])
