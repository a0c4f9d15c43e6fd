# Answers to 4d: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 4d paged-no-sign
# says: -1 went through the table: it reads the last column, somebody's old loc.
# asks: What does table[row, -1] give?
# family: M8
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return req_to_token[req_of_row[:, None], topk_pos]

# %% 4d paged-gather-no-sign
# says: -1 went into gather, which refuses it: padding has no place in the table.
# asks: Which column would -1 be?
# family: M8
# outcome: crashed
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return req_to_token[req_of_row].gather(1, topk_pos)

# %% 4d paged-clamped
# says: -1 became position 0: padding now stands for the request's first token.
# asks: What must come out where a row selected fewer tokens than k?
# family: M9
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)]

# %% 4d paged-zero
# says: Padding became loc 0; it must stay -1.
# asks: What does the next kernel skip: 0 or -1?
# family: M9
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)], 0)

# %% 4d paged-row-index
# says: Row i of the selection was looked up in row i of the table, not its request's.
# asks: Which request does row i belong to?
# family: M15
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    row = torch.arange(len(topk_pos), device=topk_pos.device)
    return torch.where(topk_pos >= 0, req_to_token[row[:, None], topk_pos.clamp(min=0)], -1)

# %% 4d paged-first-request
# says: Every row was looked up in the first request's locs.
# asks: Which request does row i belong to?
# family: M15
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[0][topk_pos.clamp(min=0)], -1)

# %% 4d paged-first-row
# says: The request of the first row was used for all rows.
# asks: Which request does the second row belong to?
# family: M15
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    if not len(req_of_row):
        return topk_pos.clone()
    return torch.where(topk_pos >= 0, req_to_token[int(req_of_row[0])][topk_pos.clamp(min=0)], -1)

# %% 4d paged-transposed
# says: Rows and columns of the table are swapped: [request, position].
# asks: Which index of req_to_token is the position?
# family: M4
# outcome: crashed
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[topk_pos.clamp(min=0), req_of_row[:, None]], -1)

# %% 4d paged-positions
# says: These are still positions: req_to_token was never read.
# asks: What does the table hold at [request, position]?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return topk_pos.clone()

# %% 4d paged-ragged
# says: These are no locs: the request's first loc plus the position.
# asks: Do the locs of one request follow each other without a gap?
# family: M15
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[req_of_row, :1] + topk_pos, -1)

# %% 4d paged-position-zero
# says: Position 0 was taken for padding: it is the request's first token.
# asks: Which positions has a request of three tokens?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos > 0, req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)], -1)

# %% 4d paged-from-one
# says: Positions were counted from 1.
# asks: In which column is a request's first token?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[req_of_row[:, None], (topk_pos - 1).clamp(min=0)], -1)

# %% 4d paged-next
# says: Every loc is that of the next token.
# asks: In which column is a request's first token?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[req_of_row[:, None], topk_pos + 1], -1)

# %% 4d paged-sorted
# says: The selection was sorted: each entry must stay in its place.
# asks: Which entry of the result belongs to the first selected position?
# family: M14
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    locs = torch.where(topk_pos >= 0, req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)], -1)
    return locs.sort(dim=-1, descending=True).values

# %% 4d paged-packed
# says: The padding is gone, and with it the rows: the shape must stay [rows, k].
# asks: To which row does the third entry of your result belong?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    locs = req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)]
    return locs[topk_pos >= 0]

# %% 4d paged-one-axis
# says: Rows and places were paired one to one: each row has k places of its own.
# asks: What does table[rows, positions] give when both have one dimension?
# outcome: crashed
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[req_of_row, topk_pos.clamp(min=0)], -1)

# %% 4d paged-narrow
# says: The result is int32 whatever came in: past 2^31 it wraps.
# asks: Which dtype has topk_pos?
# family: M16
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)], -1).int()

# %% 4d paged-widen
# says: The result is int64 where int32 came in.
# asks: Which dtype has topk_pos?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)], -1).long()

# %% 4d paged-float
# says: The locs went through float32, which is exact only below 2^24.
# asks: Does an index ever need a float?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    locs = req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)].float()
    return torch.where(topk_pos >= 0, locs, -1.0).to(topk_pos.dtype)

# %% 4d paged-in-place
# says: This clamps the caller's selection in place: its padding is lost for others.
# asks: Who else reads topk_pos after you?
# outcome: unsafe
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    here = topk_pos >= 0
    return torch.where(here, req_to_token[req_of_row[:, None], topk_pos.clamp_(min=0)], -1)

# %% 4d ragged-no-start
# says: These are still positions: right for the first request only.
# asks: At which index of the workspace does request 1 begin?
# family: M15
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return topk_pos.clone()

# %% 4d ragged-no-sign
# says: The start was added to -1 too: padding points at the request before.
# asks: What is -1 + cu_seqlens_k[1], and whose token is that?
# family: M8
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return topk_pos + cu_seqlens_k[req_of_row][:, None]

# %% 4d ragged-clamped
# says: Padding became the request's first token; it must stay -1.
# asks: What must come out where a row selected fewer tokens than k?
# family: M9
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return topk_pos.clamp(min=0) + cu_seqlens_k[req_of_row][:, None]

# %% 4d ragged-zero
# says: Padding became index 0, which is a token of request 0; it must stay -1.
# asks: What does the attention kernel skip: 0 or -1?
# family: M9
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row][:, None], 0)

# %% 4d ragged-end
# says: The request's end was added: cu_seqlens_k[i] is the start, [i + 1] the end.
# asks: At which index does request 0 begin?
# family: M15
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row + 1][:, None], -1)

# %% 4d ragged-one-before
# says: The start of the request before was added.
# asks: How many tokens stand before request 1?
# family: M15
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[(req_of_row - 1).clamp(min=0)][:, None], -1)

# %% 4d ragged-row-index
# says: The number of the row was taken for its request.
# asks: Which request does row i belong to?
# family: M15
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    row = torch.arange(len(topk_pos), device=topk_pos.device).clamp(max=len(cu_seqlens_k) - 1)
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[row][:, None], -1)

# %% 4d ragged-request-added
# says: The request's number was added, not the index at which it begins.
# asks: How many tokens stand before request 1?
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + req_of_row[:, None], -1)

# %% 4d ragged-length
# says: The request's own length was added, not the lengths of those before it.
# asks: How many tokens stand before request 1?
# family: M15
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k.diff()[req_of_row][:, None], -1)

# %% 4d ragged-summed-twice
# says: cu_seqlens_k was summed again: it is cumulative already.
# asks: What does cu stand for?
# family: M12
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    starts = cu_seqlens_k.cumsum(0).to(cu_seqlens_k.dtype)
    return torch.where(topk_pos >= 0, topk_pos + starts[req_of_row][:, None], -1)

# %% 4d ragged-minus
# says: The start was taken away, not added.
# asks: Does request 1 begin after request 0, or before it?
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos - cu_seqlens_k[req_of_row][:, None], -1)

# %% 4d ragged-last-start
# says: The last row's start was added to every row.
# asks: Which request does the first row belong to?
# family: M15
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    if not len(req_of_row):
        return topk_pos.clone()
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[int(req_of_row[-1])], -1)

# %% 4d ragged-position-zero
# says: Position 0 was taken for padding: it is the request's first token.
# asks: Which positions has a request of three tokens?
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos > 0, topk_pos + cu_seqlens_k[req_of_row][:, None], -1)

# %% 4d ragged-from-one
# says: Every index is one too high.
# asks: Which ragged index has the very first token of the workspace?
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row][:, None] + 1, -1)

# %% 4d ragged-narrow
# says: The result is int32 whatever came in: past 2^31 it wraps.
# asks: Which dtype has topk_pos?
# family: M16
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row][:, None], -1).int()

# %% 4d ragged-widen
# says: The result is int64 where int32 came in.
# asks: Which dtype has topk_pos?
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row][:, None], -1).long()

# %% 4d ragged-float
# says: The indices went through float32, which is exact only below 2^24.
# asks: Does an index ever need a float?
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos.float() + cu_seqlens_k[req_of_row][:, None], -1.0).to(topk_pos.dtype)

# %% 4d ragged-packed
# says: The padding is gone, and with it the rows: the shape must stay [rows, k].
# asks: To which row does the third entry of your result belong?
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return (topk_pos + cu_seqlens_k[req_of_row][:, None])[topk_pos >= 0]

# %% 4d ragged-columns
# says: The starts went along the columns: each row has one start for all its places.
# asks: Which dimension of topk_pos counts queries?
# outcome: crashed
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row], -1)

# %% 4d ragged-in-place
# says: This adds to the caller's selection in place: the next layer reads it again.
# asks: Who else reads topk_pos after you?
# outcome: unsafe
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    here = topk_pos >= 0
    topk_pos += cu_seqlens_k[req_of_row][:, None]
    return torch.where(here, topk_pos, -1)

# %% 4d ragged-in-place-masked
# says: This adds the starts into the caller's selection and hands it back.
# asks: Who else reads topk_pos after you?
# outcome: unsafe
def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    starts = cu_seqlens_k[req_of_row][:, None].expand_as(topk_pos)
    here = topk_pos >= 0
    topk_pos[here] += starts[here]
    return topk_pos

# %% 4d table-dtype
# says: The result takes the table's dtype: asked for is that of topk_pos.
# asks: What is the dtype of int32 positions plus int64 starts?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    return torch.where(topk_pos >= 0, req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)], -1)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row][:, None], -1)

# %% 4d gather
# outcome: passed
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    rows = req_to_token[req_of_row]
    locs = rows.gather(1, topk_pos.clamp(min=0).long()).to(topk_pos.dtype)
    return locs.masked_fill(topk_pos < 0, -1)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    begin = cu_seqlens_k[req_of_row].unsqueeze(1)
    return (topk_pos + begin).masked_fill(topk_pos < 0, -1).to(topk_pos.dtype)

# %% 4d fill
# outcome: passed
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = torch.full_like(topk_pos, -1)
    row, place = (topk_pos >= 0).nonzero(as_tuple=True)
    out[row, place] = req_to_token[req_of_row[row].long(), topk_pos[row, place].long()].to(out.dtype)
    return out

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    out = torch.full_like(topk_pos, -1)
    here = topk_pos >= 0
    out[here] = (topk_pos + cu_seqlens_k[req_of_row][:, None])[here].to(out.dtype)
    return out

# %% 4d sign
# outcome: passed
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    locs = req_to_token[req_of_row.unsqueeze(-1), topk_pos]  # what -1 reads is replaced below
    return torch.where(topk_pos < 0, topk_pos, locs).type_as(topk_pos)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return topk_pos + (topk_pos >= 0) * cu_seqlens_k[req_of_row][:, None].to(topk_pos.dtype)

# %% 4d row-by-row
# outcome: passed
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = topk_pos.clone()
    for i, request in enumerate(req_of_row.tolist()):
        for j, p in enumerate(topk_pos[i].tolist()):
            out[i, j] = req_to_token[request, p] if p >= 0 else -1
    return out

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    out = topk_pos.clone()
    for i, request in enumerate(req_of_row.tolist()):
        out[i][topk_pos[i] >= 0] += int(cu_seqlens_k[request])
    return out

# %% 4d padded-column
# outcome: passed
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    table = F.pad(req_to_token, (0, 1), value=-1)  # so that position -1 reads a -1
    return table[req_of_row[:, None], topk_pos].to(topk_pos.dtype)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    shift = cu_seqlens_k[req_of_row][:, None].expand_as(topk_pos)
    return torch.where(topk_pos.ge(0), topk_pos + shift, torch.full_like(topk_pos, -1)).to(topk_pos.dtype)

# %% 4d rownumber
# says: The row's number was taken for its request; a request has several rows.
# asks: What does req_of_row say?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = req_to_token[req_of_row.long()[:, None], topk_pos.clamp(min=0).long()]
    return torch.where(topk_pos >= 0, out.to(topk_pos.dtype), -1)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[torch.arange(len(topk_pos))][:, None].to(topk_pos.dtype), -1)

# %% 4d paged_row
# says: The row's number was taken for its request; a request has several rows.
# asks: What does req_of_row say?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = req_to_token[torch.arange(len(topk_pos))[:, None], topk_pos.clamp(min=0).long()]
    return torch.where(topk_pos >= 0, out.to(topk_pos.dtype), -1)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row.long()][:, None].to(topk_pos.dtype), -1)

# %% 4d gt
# says: Position 0 was taken for padding; it is the first token of the request.
# asks: Which number is padding?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = req_to_token[req_of_row.long()[:, None], topk_pos.clamp(min=0).long()]
    return torch.where(topk_pos > 0, out.to(topk_pos.dtype), -1)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos > 0, topk_pos + cu_seqlens_k[req_of_row.long()][:, None].to(topk_pos.dtype), -1)

# %% 4d firstreq
# says: Every row reads the first request's locs.
# asks: What does req_of_row say?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = req_to_token[torch.zeros_like(req_of_row).long()[:, None], topk_pos.clamp(min=0).long()]
    return torch.where(topk_pos >= 0, out.to(topk_pos.dtype), -1)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row.long()][:, None].to(topk_pos.dtype), -1)

# %% 4d diff
# says: The length of the request was added, not the index at which it begins.
# asks: What do neighbours in cu_seqlens_k have between them?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = req_to_token[req_of_row.long()[:, None], topk_pos.clamp(min=0).long()]
    return torch.where(topk_pos >= 0, out.to(topk_pos.dtype), -1)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k.diff()[req_of_row.long()][:, None].to(topk_pos.dtype), -1)

# %% 4d pagedlast
# says: Padding reads the last position of the table: -1 counts from the end.
# asks: What does torch read at index -1?
def topk_to_paged(topk_pos, req_of_row, req_to_token):
    out = req_to_token[req_of_row.long()[:, None], topk_pos.long()]
    return out.to(topk_pos.dtype)

def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row.long()][:, None].to(topk_pos.dtype), -1)
