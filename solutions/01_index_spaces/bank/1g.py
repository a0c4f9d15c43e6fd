# Answers to 1g: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 1g padded
# says: Whole rows: what stands past a request's length is not its own.
# asks: What does seq_lens say about the row?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices].flatten()

# %% 1g to-longest
# says: Every request was cut at the longest one's length, not at its own.
# asks: What stands in a short request's row past its length?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices, : int(seq_lens.max())].flatten()

# %% 1g batch-row
# says: Row i was read for request i: its row is req_pool_indices[i].
# asks: Which row of the table does req_pool_indices give a request of the batch?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return torch.cat([req_to_token[i, :n] for i, n in enumerate(seq_lens.tolist())])

# %% 1g table-order
# says: The requests stand in the table's order, not in the batch's.
# asks: Which request comes first in req_pool_indices?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = sorted(zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True))
    return torch.cat([req_to_token[i, :n] for i, n in pairs])

# %% 1g lengths-order
# says: The rows were sorted but their lengths were not.
# asks: Which length belongs to which row?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    rows = sorted(req_pool_indices.tolist())
    return torch.cat([req_to_token[i, :n] for i, n in zip(rows, seq_lens.tolist(), strict=True)])

# %% 1g position-major
# says: Right locs, wrong order: request by request was asked for.
# asks: What follows the first token of the first request?
# family: M14
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    table = req_to_token[req_pool_indices]
    own = torch.arange(table.shape[1], device=table.device) < seq_lens[:, None]
    return table.T[own.T]

# %% 1g no-start
# says: Only the first request is right: positions must start at 0 for each.
# asks: What is the position of the second request's first token?
# family: M15
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    row = torch.repeat_interleave(req_pool_indices, seq_lens)
    return req_to_token[row, torch.arange(row.numel(), device=row.device)]

# %% 1g inclusive-start
# says: Rows are read from their ends: a request's first position is not 0 here.
# asks: Where does the first request start, and what does cumsum put first?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    row = torch.repeat_interleave(req_pool_indices, seq_lens)
    start = torch.repeat_interleave(torch.cumsum(seq_lens, 0), seq_lens)
    return req_to_token[row, torch.arange(row.numel(), device=row.device) - start]

# %% 1g one-too-many
# says: One slot too many a request: length n means positions 0 to n - 1.
# asks: Which positions has a request of three tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, : n + 1] for i, n in pairs])

# %% 1g one-too-few
# says: The last token of every request is missing.
# asks: Which positions has a request of three tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, : max(n - 1, 0)] for i, n in pairs])

# %% 1g skips-first
# says: Position 0 of every request is missing.
# asks: Which positions has a request of three tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, 1:n] for i, n in pairs])

# %% 1g shifted
# says: Positions were counted from 1.
# asks: In which column is a request's first token?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, 1 : n + 1] for i, n in pairs])

# %% 1g first-column
# says: Only the first token of each request is there.
# asks: Does seq_lens play any part in your answer?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices, 0]

# %% 1g last-column
# says: Only the last token of each request is there.
# asks: How many locs does a request of three tokens have?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices, seq_lens.long() - 1]

# %% 1g one-length
# says: The first request's length was used for all.
# asks: Which length has the second request?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices, : int(seq_lens[0])].flatten()

# %% 1g first-request
# says: Only the first request is there.
# asks: How many requests has the batch?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token[req_pool_indices[0], : int(seq_lens[0])].clone()

# %% 1g stops-at-empty
# says: A request of length 0 ends your loop; the ones after it are missing.
# asks: What should follow an empty request?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    out = [req_to_token[0, :0]]
    for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True):
        if n == 0:
            break
        out.append(req_to_token[i, :n])
    return torch.cat(out)

# %% 1g empty-as-one
# says: A request of length 0 still gave a loc.
# asks: How many locs has a request without tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, : max(n, 1)] for i, n in pairs])

# %% 1g nonzero
# says: Zeros were taken for padding: only the lengths say where a request ends.
# asks: What stands past a request's length in a server that has run for a day?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    table = req_to_token[req_pool_indices]
    return table[table != 0]

# %% 1g nonzero-inside
# says: Loc 0 was dropped: for a mapping it is a loc like any other.
# asks: How long must the result be?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    locs = torch.cat([req_to_token[i, :n] for i, n in pairs])
    return locs[locs != 0]

# %% 1g sorted
# says: The locs are sorted: they must stand in position order.
# asks: Must a later token have a larger loc?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, :n] for i, n in pairs]).sort().values

# %% 1g positions
# says: These are positions, not locs: req_to_token was never read.
# asks: What does the table hold at [row, position]?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return torch.cat([torch.arange(n) for n in seq_lens.tolist()]).to(req_to_token.dtype)

# %% 1g transposed
# says: Rows and columns are swapped: a request is a row of the table.
# asks: Which index of req_to_token is the request, and which the position?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token.T[i, :n] for i, n in pairs])

# %% 1g narrow
# says: The result was cut to int32 where the table is int64: past 2^31 locs wrap.
# asks: Which dtype has the table?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, :n] for i, n in pairs]).int()

# %% 1g widen
# says: The result is int64 where the table is int32.
# asks: Which dtype has the table?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return torch.cat([req_to_token[i, :n] for i, n in pairs]).long()

# %% 1g float32
# says: The locs went through float32, which is exact only below 2^24.
# asks: Does an index ever need a float?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    out = torch.zeros(int(seq_lens.sum()))
    at = 0
    for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True):
        out[at : at + n] = req_to_token[i, :n]
        at += n
    return out.to(req_to_token.dtype)

# %% 1g grid
# says: A padded grid came out where a flat list of locs was asked for.
# asks: What would a reader do with the -1s?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    table = req_to_token[req_pool_indices]
    own = torch.arange(table.shape[1], device=table.device) < seq_lens[:, None]
    return torch.where(own, table, -1)

# %% 1g list
# says: A list of tensors came out where one flat tensor was asked for.
# asks: What joins tensors end to end?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pairs = zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)
    return [req_to_token[i, :n].clone() for i, n in pairs]

# %% 1g view-of-table
# says: For a single request you hand back a piece of the table itself.
# asks: What happens to req_to_token when somebody changes your result?
# outcome: unsafe
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    rows = [req_to_token[i, :n] for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True)]
    return rows[0] if len(rows) == 1 else torch.cat(rows)

# %% 1g in-place
# says: This writes -1 into req_to_token: other requests read it, too.
# asks: Who else reads this table after you?
# outcome: unsafe
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    for i, n in zip(req_pool_indices.tolist(), seq_lens.tolist(), strict=True):
        req_to_token[i, n:] = -1
    locs = req_to_token[req_pool_indices].flatten()
    return locs[locs >= 0]

# %% 1g no-request
# says: A batch without requests fails: torch.cat wants at least one tensor.
# asks: What does torch.cat make of an empty list?
# outcome: crashed
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return torch.cat([req_to_token[i, :n] for i, n in zip(req_pool_indices, seq_lens, strict=True)])

# %% 1g slices
# outcome: passed
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    pieces = [req_to_token[i, :n] for i, n in zip(req_pool_indices, seq_lens, strict=True)]
    return torch.cat([req_to_token.new_empty(0), *pieces])

# %% 1g mask
# outcome: passed
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    table = req_to_token[req_pool_indices]
    return table[torch.arange(table.shape[1], device=table.device) < seq_lens[:, None]]

# %% 1g ragged-index
# outcome: passed
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    request = torch.repeat_interleave(torch.arange(len(seq_lens), device=seq_lens.device), seq_lens)
    start = torch.cumsum(seq_lens, 0) - seq_lens
    position = torch.arange(len(request), device=seq_lens.device) - start[request]
    return req_to_token[req_pool_indices[request], position]

# %% 1g loop
# outcome: passed
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    locs = []
    for row, length in zip(req_pool_indices.tolist(), seq_lens.tolist()):
        for position in range(length):
            locs.append(int(req_to_token[row, position]))
    return torch.tensor(locs, dtype=req_to_token.dtype, device=req_to_token.device)

# %% 1g filled
# outcome: passed
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    out = req_to_token.new_empty(int(seq_lens.sum()))
    at = 0
    for row, length in zip(req_pool_indices.tolist(), seq_lens.tolist()):
        out[at : at + length] = req_to_token[row, :length]
        at += length
    return out

# %% 1g nm1
# says: The last token of each request is missing: positions go from 0 to n - 1.
# asks: Is the end of a slice in it?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    parts = [req_to_token[r, : n - 1] for r, n in zip(req_pool_indices.tolist(), seq_lens.tolist())]
    return torch.cat(parts) if parts else req_to_token.new_empty(0)

# %% 1g padded-2
# says: The padding is still there: only the requests' own locs are asked for.
# asks: How many locs do lengths 2 and 3 make?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    m = req_to_token.shape[1]
    t = req_to_token[req_pool_indices].clone()
    t[torch.arange(m, device=t.device)[None] >= seq_lens[:, None]] = -1
    return t.flatten()

# %% 1g last
# says: These are the last tokens of the row, not the first: the request begins at 0.
# asks: At which position does a request's row begin?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    parts = [req_to_token[r, -n:] for r, n in zip(req_pool_indices.tolist(), seq_lens.tolist())]
    return torch.cat(parts) if parts else req_to_token.new_empty(0)

# %% 1g flatcum
# says: All rows were read as one line: a request begins where its own row does.
# asks: Which locs stand at the beginning of row 3?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    return req_to_token.flatten()[: int(seq_lens.sum())]

# %% 1g unique
# says: The locs are sorted, and those that two requests share are listed once.
# asks: In which order does the batch want its tokens?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    parts = [req_to_token[r, :n] for r, n in zip(req_pool_indices.tolist(), seq_lens.tolist())]
    return torch.unique(torch.cat(parts)) if parts else req_to_token.new_empty(0)

# %% 1g nonzero-to-longest
# says: Zeros were taken for padding: only the lengths say where a request ends.
# asks: What stands past a request's length in a server that has run for a day?
def flatten_request_locs(req_to_token, req_pool_indices, seq_lens):
    table = req_to_token[req_pool_indices][:, : int(seq_lens.max()) if len(seq_lens) else 0]
    return table[table > 0]
