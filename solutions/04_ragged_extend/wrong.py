# Wrong answers to lab 04: what people type, and the sentence that each must get. One cell an answer.
# The first cell stands before every answer. docs/misconceptions.md describes the families M1 to M16.

# %% preamble
from itertools import accumulate

import torch
import triton
import triton.language as tl


def pieces_of(locs, lens):
    return locs.split(lens.tolist())


def padded_rows(n, start, dcp_size):
    return -(-(n + start % dcp_size) // dcp_size) if n else 0


def topk_to_paged(topk_pos, req_of_row, req_to_token):
    locs = req_to_token[req_of_row[:, None], topk_pos.clamp(min=0)]
    return torch.where(topk_pos >= 0, locs, -1)


def topk_to_ragged(topk_pos, req_of_row, cu_seqlens_k):
    return torch.where(topk_pos >= 0, topk_pos + cu_seqlens_k[req_of_row][:, None], -1)


# %% 4a strided
# says: Every D-th entry of the whole list: right on a slide, wrong once lengths differ.
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
# says: The result is int32 where the locs are int64.
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

# %% 4b rank-order
# says: The shards stand one after another: tokens of one rank, then of the next.
# asks: Where is position 1, if position 0 is in shard 0?
# family: M14
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    return shards.flatten(0, 1)[: int(prefix_lens.sum())].clone()

# %% 4b rank-order-per-request
# says: Each request's tokens stand rank by rank: the ranks' turns are still apart.
# asks: Where is position 1, if position 0 is in shard 0?
# family: M14
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        for rank in range(dcp_size):
            p = torch.arange(start, start + n)
            p = p[p % dcp_size == rank]
            out.append(shards[rank, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b no-padding-cut
# says: The padding rows are still there: rows that hold no token are garbage.
# asks: How many tokens are there, and how many rows did you return?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    return shards.transpose(0, 1).flatten(0, 1).clone()

# %% 4b cut-at-the-end
# says: All padding was cut at the end, but each request has its own: the later shift.
# asks: Where does the padding of the first request stand?
# family: M15
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    return shards.transpose(0, 1).flatten(0, 1)[: int(prefix_lens.sum())].clone()

# %% 4b cut-at-the-end-view
# says: All padding was cut at the end, but each request has its own: the later shift.
# asks: Where does the padding of the first request stand?
# family: M15
# outcome: unsafe
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    return shards.transpose(0, 1).flatten(0, 1)[: int(prefix_lens.sum())]

# %% 4b left-padding-kept
# says: Each piece is cut from its first row on: the start's own padding comes first.
# asks: A piece starts at position 3 of D = 4. What is in row 0 of shards 0, 1 and 2?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.transpose(0, 1).flatten(0, 1), [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        out.append(whole[first * dcp_size : first * dcp_size + n])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b whole-start-skipped
# says: The whole start was skipped: a piece's rows begin at its own first turn.
# asks: How many rows of garbage come before a piece that starts at position 100?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.transpose(0, 1).flatten(0, 1), [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        at = first * dcp_size + start
        out.append(whole[at : at + n])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b no-start
# says: Every position is counted from 0: start_positions were not used.
# asks: Which rank holds the first token of a piece that starts at position 3?
# family: M15
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n in prefix_lens.tolist():
        p = torch.arange(n)
        out.append(shards[p % dcp_size, first + p // dcp_size])
        first += -(-n // dcp_size)
    return torch.cat(out)

# %% 4b start-not-in-rows
# says: The count of rows forgets start % D: the next request begins a row too early.
# asks: How many rows do 5 tokens take that start at position 3 of D = 4?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += -(-n // dcp_size)
    return torch.cat(out)

# %% 4b whole-start-in-rows
# says: The count of rows adds the whole start, not its remainder by D.
# asks: How many rows do 2 tokens take that start at position 100?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.transpose(0, 1).flatten(0, 1), [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        at = first * dcp_size + start % dcp_size
        out.append(whole[at : at + n])
        first += -(-(n + start) // dcp_size) if n else 0
    return torch.cat(out)

# %% 4b whole-start-in-rows-indexed
# says: The count of rows adds the whole start, not its remainder by D.
# asks: How many rows do 2 tokens take that start at position 100?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += -(-(n + start) // dcp_size) if n else 0
    return torch.cat(out)

# %% 4b request-start-forgotten
# says: Every request is read from row 0 of the shards: only the first is right.
# asks: In which row do the second request's rows begin?
# family: M15
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out = [shards[0, :0]]
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, p // dcp_size - start // dcp_size])
    return torch.cat(out)

# %% 4b piece-turns
# says: The row steps after every D tokens of the piece; it must where p % D is 0.
# asks: A piece starts at position 3 of D = 4. In which row is position 4?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + (p - start) // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b piece-ranks
# says: The ranks' turns begin anew with each piece: they go by position.
# asks: Which rank holds position 3 when D is 4, wherever the piece starts?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[(p - start) % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b absolute-row
# says: The row counts from position 0, but a request's rows begin at its start.
# asks: In which of its rows is the first token of a piece that starts at position 7?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b empty-takes-a-row
# says: A request without a prefix still takes a row, where its start is no multiple.
# asks: What does an empty prefix send?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.transpose(0, 1).flatten(0, 1), [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        at = first * dcp_size + start % dcp_size
        out.append(whole[at : at + n])
        first += -(-(n + start % dcp_size) // dcp_size)
    return torch.cat(out)

# %% 4b empty-takes-a-row-indexed
# says: A request without a prefix still takes a row, where its start is no multiple.
# asks: What does an empty prefix send?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += -(-(n + start % dcp_size) // dcp_size)
    return torch.cat(out)

# %% 4b empty-always-a-row
# says: Every request takes at least one row; one without a prefix takes none.
# asks: What does an empty prefix send?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.transpose(0, 1).flatten(0, 1), [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        at = first * dcp_size + start % dcp_size
        out.append(whole[at : at + n])
        first += max(1, -(-(n + start % dcp_size) // dcp_size))
    return torch.cat(out)

# %% 4b empty-always-a-row-indexed
# says: Every request takes at least one row; one without a prefix takes none.
# asks: What does an empty prefix send?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += max(1, -(-(n + start % dcp_size) // dcp_size))
    return torch.cat(out)

# %% 4b stops-at-empty
# says: A request without a prefix ends your loop; those after it are missing.
# asks: What should follow an empty prefix?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        if n == 0:
            break
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b rounded-down
# says: Rows were rounded down: a turn that is only begun needs a row too.
# asks: How many rows do five tokens of four ranks take?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += (n + start % dcp_size) // dcp_size
    return torch.cat(out)

# %% 4b one-row-too-many
# says: One row too many where the last turn is full.
# asks: How many rows do six tokens of three ranks take?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.transpose(0, 1).flatten(0, 1), [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        at = first * dcp_size + start % dcp_size
        out.append(whole[at : at + n])
        first += (n + start % dcp_size) // dcp_size + 1 if n else 0
    return torch.cat(out)

# %% 4b one-row-too-many-indexed
# says: One row too many where the last turn is full.
# asks: How many rows do six tokens of three ranks take?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += (n + start % dcp_size) // dcp_size + 1 if n else 0
    return torch.cat(out)

# %% 4b inclusive-start
# says: A request begins where it ends: this sum includes its own rows.
# asks: In which row does the first request begin?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.transpose(0, 1).flatten(0, 1), [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        first += padded_rows(n, start, dcp_size)
        at = first * dcp_size + start % dcp_size
        out.append(whole[at : at + n])
    return torch.cat(out)

# %% 4b inclusive-start-indexed
# says: A request begins where it ends: this sum includes its own rows.
# asks: In which row does the first request begin?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        first += padded_rows(n, start, dcp_size)
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
    return torch.cat(out)

# %% 4b whole-turns
# says: Only whole turns of the ranks came back: the tail of each prefix is missing.
# asks: How many tokens has a prefix of length 5?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n // dcp_size * dcp_size)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b last-missing
# says: The last token of every prefix is missing.
# asks: Which positions has a piece of 5 tokens that starts at 3?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + max(n - 1, 0))
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b reversed-ranks
# says: The ranks are taken from the last to the first.
# asks: Which shard holds position 0?
# family: M14
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[dcp_size - 1 - p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b swap
# says: Quotient and remainder are swapped: p % D is the shard, p // D leads to the row.
# asks: Which rank holds position 5 when D is 4?
# family: M4
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p // dcp_size - start // dcp_size, first + p % dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b blocks
# says: Each shard is taken for a run of neighbours: the ranks take turns, one by one.
# asks: Which shard holds position 1?
# family: M5
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        rows, at = padded_rows(n, start, dcp_size), torch.arange(n) + start % dcp_size
        out.append(shards[at // max(rows, 1), first + at % max(rows, 1)])
        first += rows
    return torch.cat(out)

# %% 4b dimensions
# says: The two dimensions are mixed up: shards is [rank, row, ...].
# asks: What does the first dimension of shards count?
# family: M4
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[first + p // dcp_size - start // dcp_size, p % dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b folded
# says: The shards were reshaped, not transposed: reshape reads rank 0 to its end first.
# asks: In which order does reshape read [D, rows, V]?
# family: M14
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole, out, first = shards.reshape(-1, dcp_size, shards.shape[2]).flatten(0, 1), [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        at = first * dcp_size + start % dcp_size
        out.append(whole[at : at + n])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b first-request
# says: Only the first request came back.
# asks: How many requests has the batch?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    n, start = int(prefix_lens[0]), int(start_positions[0])
    p = torch.arange(start, start + n)
    return shards[p % dcp_size, p // dcp_size - start // dcp_size]

# %% 4b by-length
# says: The requests stand by length: the batch's order was asked for.
# asks: Which request comes first in prefix_lens?
# family: M14
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    pieces, first = [], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        pieces.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat([shards[0, :0], *sorted(pieces, key=len)])

# %% 4b longest
# says: Every request has as many rows as the longest: what is too much is garbage.
# asks: How many rows must the result have?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    longest = int(prefix_lens.max())
    out = torch.zeros(len(prefix_lens), longest, shards.shape[2], dtype=shards.dtype)
    first = 0
    for i, (n, start) in enumerate(zip(prefix_lens.tolist(), start_positions.tolist())):
        p = torch.arange(start, start + n)
        out[i, :n] = shards[p % dcp_size, first + p // dcp_size - start // dcp_size]
        first += padded_rows(n, start, dcp_size)
    return out.flatten(0, 1)

# %% 4b bits
# says: p & (D - 1) is the rank only where D is a power of two.
# asks: What does p & 2 tell for three ranks?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p & (dcp_size - 1), first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b int32
# says: Positions are computed in 32 bits: past 2^31 they wrap.
# asks: How large can a position be that fits int32?
# family: M16
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.int().tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b float64
# says: Positions go through float64, which loses odd numbers past 2^53.
# asks: Which dtype gives torch.arange for ints?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.double().tolist()):
        start = int(start)
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b float-rows
# says: The result is float32, whatever dtype the shards have.
# asks: Which dtype gives torch.zeros when you do not say one?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first, at = torch.zeros(int(prefix_lens.sum()), shards.shape[2]), 0, 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out[at : at + n] = shards[p % dcp_size, first + p // dcp_size - start // dcp_size]
        first, at = first + padded_rows(n, start, dcp_size), at + n
    return out

# %% 4b list
# says: A list of pieces came out where one tensor was asked for.
# asks: What joins tensors end to end?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return out

# %% 4b no-pieces
# says: A batch of empty prefixes fails: torch.cat wants at least one tensor.
# asks: What should come out when there is no prefix at all?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        if n == 0:
            continue
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b padding-as-mark
# says: Garbage cannot be told by its value: where a token stands, only lengths say.
# asks: What would you do if the garbage were an older token?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole = shards.transpose(0, 1).flatten(0, 1)
    return whole[~(whole[:, 0].isnan() | (whole[:, 0] == 0))].clone()

# %% 4b view
# says: With one rank and one request you hand back a piece of the shards themselves.
# asks: What happens to shards when somebody changes your result?
# outcome: unsafe
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    if dcp_size == 1 and len(prefix_lens) == 1:
        return shards[0]
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4b in-place
# says: This turns the caller's lengths into rows in place: others still read them.
# asks: Who else uses prefix_lens after you?
# outcome: unsafe
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    lens = prefix_lens.tolist()
    prefix_lens += start_positions % dcp_size
    out, first = [shards[0, :0]], 0
    for n, start in zip(lens, start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

# %% 4c layout-b
# says: All prefixes, then all new tokens: layout B, which RAGGED indices do not fit.
# asks: What stands behind the last prefix token of request 0?
# family: M14
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    return torch.cat([prefix, extend])

# %% 4c extend-first
# says: The new tokens stand before their prefix: position 0 is the prefix's first.
# asks: What is at position 0 of a request?
# family: M4
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([prefix[:0], *(piece for o, n in zip(old, new) for piece in (n, o))])

# %% 4c layout-b-swapped
# says: All new tokens, then all prefixes: neither order fits a request's positions.
# asks: What is at position 0 of request 0?
# family: M14
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    return torch.cat([extend, prefix])

# %% 4c no-start
# says: Every request was cut from the beginning: only the first is right.
# asks: Where in prefix does the second request begin?
# family: M15
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    pairs = zip(prefix_lens.tolist(), extend_lens.tolist())
    return torch.cat([prefix[:0], *(piece for p, e in pairs for piece in (prefix[:p], extend[:e]))])

# %% 4c no-prefix-start
# says: The prefixes were all cut from the beginning; only the new tokens move on.
# asks: Where in prefix does the second request begin?
# family: M15
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    new = extend.split(extend_lens.tolist())
    return torch.cat([prefix[:0], *(piece for p, e in zip(prefix_lens.tolist(), new) for piece in (prefix[:p], e))])

# %% 4c no-extend-start
# says: The new tokens were all cut from the beginning; only the prefixes move on.
# asks: Where in extend does the second request begin?
# family: M15
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old = prefix.split(prefix_lens.tolist())
    return torch.cat([prefix[:0], *(piece for p, e in zip(old, extend_lens.tolist()) for piece in (p, extend[:e]))])

# %% 4c prefix-starts-for-both
# says: The new tokens were cut where the prefixes begin: they have starts of their own.
# asks: How many new tokens come before those of request 1?
# family: M15
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out, at = [prefix[:0]], 0
    for p, e in zip(prefix_lens.tolist(), extend_lens.tolist()):
        out += [prefix[at : at + p], extend[at : at + e]]
        at += p
    return torch.cat(out)

# %% 4c total-starts
# says: Both were cut where the requests begin in the result: each has its own starts.
# asks: What do you count when you look for request 1 in prefix?
# family: M15
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out, at = [prefix[:0]], 0
    for p, e in zip(prefix_lens.tolist(), extend_lens.tolist()):
        out += [prefix[at : at + p], extend[at : at + e]]
        at += p + e
    return torch.cat(out)

# %% 4c inclusive-start
# says: The pieces begin where they end: this cumsum includes the request itself.
# asks: Where does the first request begin, and what does cumsum put first?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out, p_at, e_at = [prefix[:0]], prefix_lens.cumsum(0).tolist(), extend_lens.cumsum(0).tolist()
    for p, e, a, b in zip(prefix_lens.tolist(), extend_lens.tolist(), p_at, e_at):
        out += [prefix[a : a + p], extend[b : b + e]]
    return torch.cat(out)

# %% 4c end-as-length
# says: Every piece was cut from the beginning to its end: earlier requests come along.
# asks: Which rows of prefix are request 1's, if cumsum gives [2, 5]?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    ends = zip(prefix_lens.cumsum(0).tolist(), extend_lens.cumsum(0).tolist())
    return torch.cat([prefix[:0], *(piece for p, e in ends for piece in (prefix[:p], extend[:e]))])

# %% 4c one-new-token
# says: One new token a request was taken, as in a decode; an extend brings several.
# asks: How many new tokens has a request in a chunk of its prompt?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old = prefix.split(prefix_lens.tolist())
    return torch.cat([prefix[:0], *(piece for i, p in enumerate(old) for piece in (p, extend[i : i + 1]))])

# %% 4c lengths-swapped
# says: The two lengths are mixed up.
# asks: Which length belongs to prefix?
# family: M4
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out, a, b = [prefix[:0]], 0, 0
    for e, p in zip(prefix_lens.tolist(), extend_lens.tolist()):
        out += [prefix[a : a + p], extend[b : b + e]]
        a, b = a + p, b + e
    return torch.cat(out)

# %% 4c token-by-token
# says: Old and new tokens take turns one by one: a request's prefix comes whole.
# asks: How many tokens of the prefix come before the first new one?
# family: M14
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out = [prefix[:0]]
    for old, new in zip(prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())):
        for i in range(max(len(old), len(new))):
            out += [old[i : i + 1], new[i : i + 1]]
    return torch.cat(out)

# %% 4c no-prefix-skipped
# says: A request without a prefix was left out, with its new tokens.
# asks: What does a request bring that has just arrived?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out = [prefix[:0]]
    for old, new in zip(prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())):
        if len(old):
            out += [old, new]
    return torch.cat(out)

# %% 4c no-prefix-jumped
# says: A request without a prefix was jumped over: the next one gets its new tokens.
# asks: What does a request bring that has just arrived?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out, p0, e0 = [prefix[:0]], 0, 0
    for p, e in zip(prefix_lens.tolist(), extend_lens.tolist()):
        if p == 0:
            continue
        out += [prefix[p0 : p0 + p], extend[e0 : e0 + e]]
        p0, e0 = p0 + p, e0 + e
    return torch.cat(out)

# %% 4c no-extend-skipped
# says: A request without new tokens was left out, with its prefix.
# asks: Where must the requests after it begin?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out = [prefix[:0]]
    for old, new in zip(prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())):
        if len(new):
            out += [old, new]
    return torch.cat(out)

# %% 4c stops-at-empty
# says: A request without a prefix ends your loop; those after it are missing.
# asks: What should follow a request without a prefix?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out = [prefix[:0]]
    for old, new in zip(prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())):
        if not len(old):
            break
        out += [old, new]
    return torch.cat(out)

# %% 4c prefix-only
# says: The new tokens are missing.
# asks: What does an extend compute attention for?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    return prefix.clone()

# %% 4c extend-only
# says: The prefixes are missing.
# asks: What were they gathered for?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    return extend.clone()

# %% 4c first-request
# says: Only the first request is there.
# asks: How many requests has the batch?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    p, e = (int(lens[0]) if len(lens) else 0 for lens in (prefix_lens, extend_lens))
    return torch.cat([prefix[:p], extend[:e]])

# %% 4c last-request-missing
# says: The last request is missing.
# asks: How many requests are there, if cu_seqlens_k has one entry more?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([prefix[:0], *(piece for pair in list(zip(old, new))[:-1] for piece in pair)])

# %% 4c reversed
# says: The requests stand from the last to the first.
# asks: At which index must request 0 begin?
# family: M14
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([prefix[:0], *(piece for pair in list(zip(old, new))[::-1] for piece in pair)])

# %% 4c by-length
# says: The requests stand by length: the batch's order was asked for.
# asks: At which index must request 0 begin?
# family: M14
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([prefix[:0], *sorted((torch.cat(pair) for pair in zip(old, new)), key=len)])

# %% 4c longest
# says: Every request was padded to the longest: a ragged buffer has no padding.
# asks: At which index does request 1 begin, if request 0 has three tokens?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    whole = [torch.cat(pair) for pair in zip(old, new)]
    out = prefix.new_zeros((len(whole), max(map(len, whole), default=0), *prefix.shape[1:]))
    for i, piece in enumerate(whole):
        out[i, : len(piece)] = piece
    return out.flatten(0, 1)

# %% 4c float-rows
# says: The result is float32, whatever dtype came in.
# asks: Which dtype gives torch.zeros when you do not say one?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out, at = torch.zeros(len(prefix) + len(extend), *prefix.shape[1:]), 0
    for old, new in zip(prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())):
        for piece in (old, new):
            out[at : at + len(piece)] = piece
            at += len(piece)
    return out

# %% 4c flattened
# says: The rows lost their shape: only the first dimension changes.
# asks: What is one row of prefix?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([prefix[:0].flatten(), *(piece.flatten() for pair in zip(old, new) for piece in pair)])

# %% 4c two-dimensions
# says: Right for two dimensions only: rows may have any shape, also none.
# asks: What is one row of a tensor of token ids?
# outcome: crashed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out, at = torch.empty(len(prefix) + len(extend), prefix.shape[1], dtype=prefix.dtype), 0
    for old, new in zip(prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())):
        for piece in (old, new):
            out[at : at + len(piece)] = piece
            at += len(piece)
    return out

# %% 4c vstack
# says: vstack makes rows two-dimensional; they may have any shape, also none.
# asks: What does torch.vstack make of a tensor with one dimension?
# outcome: crashed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    pairs = zip(prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist()))
    return torch.vstack([prefix[:0], *(piece for pair in pairs for piece in pair)])

# %% 4c list
# says: A list of pieces came out where one tensor was asked for.
# asks: What joins tensors end to end?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return [torch.cat(pair) for pair in zip(old, new)]

# %% 4c no-request
# says: A batch without requests fails: torch.cat wants at least one tensor.
# asks: What should come out when nobody asks?
# outcome: crashed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([piece for pair in zip(old, new) for piece in pair])

# %% 4c view
# says: Without new tokens you hand back the caller's prefix itself.
# asks: What happens to prefix when somebody changes your result?
# outcome: unsafe
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    if not len(extend):
        return prefix
    old, new = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([piece for pair in zip(old, new) for piece in pair])

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

# %% 4e mixed-as-decode
# says: A mixed batch gathers too: PAGED ids would point past its small workspace.
# asks: Which buffer does attention read in a mixed batch?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded and mode == "extend" else "PAGED"

# %% 4e extend-as-decode
# says: Only mixed is RAGGED here: a pure extend gathers just as well.
# asks: Where does an extend read its prefix when c-KV is sharded?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded and mode == "mixed" else "PAGED"

# %% 4e never
# says: PAGED for all: where a workspace was gathered, a loc is no index of it.
# asks: Which buffer does attention read in a sharded extend?
def choose_transform(mode, dcp_sharded):
    return "PAGED"

# %% 4e sharded-means-ragged
# says: decode and target_verify read the pool and merge: nothing is gathered there.
# asks: Which batches have a workspace?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded else "PAGED"

# %% 4e always
# says: RAGGED for all: a batch that gathers nothing has no ragged buffer.
# asks: Which batches have a workspace?
def choose_transform(mode, dcp_sharded):
    return "RAGGED"

# %% 4e sharding-ignored
# says: Without sharding every rank has the whole prefix: nothing is gathered.
# asks: What would a rank gather that has everything?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if mode in ("extend", "mixed") else "PAGED"

# %% 4e extend-always
# says: Nearly: an extend gathers only where c-KV is sharded, as a mixed batch does.
# asks: What would a rank gather that has everything?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if mode == "extend" or (mode == "mixed" and dcp_sharded) else "PAGED"

# %% 4e mixed-always
# says: Nearly: a mixed batch gathers only where c-KV is sharded, as an extend does.
# asks: What would a rank gather that has everything?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if mode == "mixed" or (mode == "extend" and dcp_sharded) else "PAGED"

# %% 4e verify-as-extend
# says: target_verify has several rows a request, but it reads the pool and merges.
# asks: What does target_verify do with the ranks' partial outputs?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded and mode != "decode" else "PAGED"

# %% 4e unsharded-extend-only
# says: Upside down: it is the sharded extend that gathers.
# asks: Who has to fetch a prefix from other ranks?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if not dcp_sharded and mode in ("extend", "mixed") else "PAGED"

# %% 4e inverted
# says: The two names are mixed up: RAGGED points into the workspace, PAGED to slots.
# asks: What does a PAGED id count?
# family: M4
def choose_transform(mode, dcp_sharded):
    return "PAGED" if dcp_sharded and mode in ("extend", "mixed") else "RAGGED"

# %% 4e unsharded-gathers
# says: PAGED only where ranks merge: without sharding nothing is gathered either.
# asks: What would a rank gather that has everything?
def choose_transform(mode, dcp_sharded):
    return "PAGED" if dcp_sharded and mode in ("decode", "target_verify") else "RAGGED"

# %% 4e decode-gathers
# says: It is decode that merges and extend that gathers.
# asks: Which of the two has so many queries that gathering keys is cheaper?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if dcp_sharded and mode in ("decode", "target_verify") else "PAGED"

# %% 4e as-upstream-was
# says: RAGGED by mode alone, and for pure extend only: that is not what is asked.
# asks: What has sharding to do with it?
def choose_transform(mode, dcp_sharded):
    return "RAGGED" if mode == "extend" else "PAGED"

# %% 4e lower-case
# says: The names are written in capitals.
# asks: How does the caller compare the two strings?
def choose_transform(mode, dcp_sharded):
    return "ragged" if dcp_sharded and mode in ("extend", "mixed") else "paged"

# %% 4e bool
# says: This says whether it is RAGGED; the name of the transform was asked for.
# asks: What does the caller compare your result with?
def choose_transform(mode, dcp_sharded):
    return dcp_sharded and mode in ("extend", "mixed")

# %% 4e none
# says: Where nothing is gathered nothing comes out: a return is missing.
# asks: What does a function return that ends without a return?
def choose_transform(mode, dcp_sharded):
    if dcp_sharded and mode in ("extend", "mixed"):
        return "RAGGED"

# %% 4e both
# says: A mixed batch has one buffer and so one transform, not one for each half.
# asks: How many workspaces has a mixed batch?
def choose_transform(mode, dcp_sharded):
    if dcp_sharded and mode == "mixed":
        return ("RAGGED", "PAGED")
    return "RAGGED" if dcp_sharded and mode == "extend" else "PAGED"

# %% 4e refuses-mixed
# says: mixed is a legal batch: refusing it stops the server.
# asks: What is in a mixed batch?
# outcome: crashed
def choose_transform(mode, dcp_sharded):
    return {"decode": "PAGED", "target_verify": "PAGED", "extend": "RAGGED" if dcp_sharded else "PAGED"}[mode]

# %% 4f rows-for-all
# says: Locs are held against a rank's rows: a false alarm for legal locs.
# asks: Which of the five has been divided by D?
# family: M11
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    return bool(((flat_locs >= 0) & (flat_locs < (size // page_size + 1) * page_size)).all())

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
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size
    bound *= 1 if consumer in ("ckv_row", "flattened_page_table") else dcp_size
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f write-as-rows
# says: Before the c-KV write the index is a loc still: the kernel divides, later.
# asks: Who divides: the caller of the write, or the write itself?
# family: M11
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size
    bound *= 1 if consumer in ("ckv_row", "ckv_write_loc") else dcp_size
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f index-k-as-rows
# says: index-K is whole on every rank and addressed by loc: its bound counts locs.
# asks: Who divides before index-K is read?
# family: M7
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size
    bound *= 1 if consumer in ("ckv_row", "index_k_loc") else dcp_size
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f draft-as-rows
# says: The draft's pool is whole on every rank and addressed by loc.
# asks: Is the draft's pool split over the ranks?
# family: M11
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size
    bound *= 1 if consumer in ("ckv_row", "draft_loc") else dcp_size
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

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
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = size // page_size * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f not-whole-pages
# says: A tail of size that fills no page is never issued: the bound is too loose.
# asks: How many whole pages do 14 rows make when a page has 4?
# family: M10
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size + page_size) * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f rounded-up
# says: A page that is only begun is counted: the bound is a page too loose.
# asks: How many whole pages do 14 rows make when a page has 4?
# family: M10
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (-(-size // page_size) + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f inclusive
# says: The bound is exclusive: an index that equals it is outside already.
# asks: A buffer of 12 slots has indices 0 to 11. Is 12 in range?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs <= bound)).all())

# %% 4f too-tight
# says: The largest legal index is rejected.
# asks: A buffer of 12 slots has indices 0 to 11. Is 11 in range?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs < bound - 1)).all())

# %% 4f negative
# says: Negative indices pass: in torch they read from the end, in Triton before it.
# asks: Which slot does index -1 reach?
# family: M8
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool((flat_locs < bound).all())

# %% 4f minus-one
# says: -1 passes as padding, but this table has none: every entry is a token.
# asks: What is a -1 doing in a list of all requests' tokens?
# family: M8
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= -1) & (flat_locs < bound)).all())

# %% 4f abs
# says: The sign was dropped: a negative index passes for a positive one.
# asks: Which slot does index -1 reach?
# family: M8
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool((flat_locs.abs() < bound).all())

# %% 4f zero
# says: Index 0 is rejected: it is an index like any other.
# asks: Which is the smallest index of a buffer?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs > 0) & (flat_locs < bound)).all())

# %% 4f empty-crashes
# says: A batch without tokens fails: nothing has no maximum.
# asks: Is there an index in an empty list that is out of range?
# outcome: crashed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return int(flat_locs.max()) < bound and int(flat_locs.min()) >= 0

# %% 4f empty-crashes-min
# says: A batch without tokens fails: nothing has no minimum.
# asks: Is there an index in an empty list that is out of range?
# outcome: crashed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return int(flat_locs.min()) >= 0 and int(flat_locs.max()) < bound

# %% 4f max-only
# says: Only the largest is looked at: negative ones pass, and an empty list fails.
# asks: Which index is the worst of [9, -1, 10]?
# family: M8
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return int(flat_locs.max()) < bound

# %% 4f empty-is-false
# says: An empty list is reported as out of range.
# asks: Is there an index in an empty list that is out of range?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return flat_locs.numel() > 0 and bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f any
# says: One legal index is enough here: all of them must be.
# asks: What does any() say of one legal and one illegal index?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return not flat_locs.numel() or bool(((flat_locs >= 0) & (flat_locs < bound)).any())

# %% 4f first-only
# says: Only the first index is looked at.
# asks: Must the largest loc stand first?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return not flat_locs.numel() or 0 <= int(flat_locs[0]) < bound

# %% 4f last-only
# says: Only the last index is looked at: pages need not come in order.
# asks: Must the largest loc stand last?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return not flat_locs.numel() or 0 <= int(flat_locs[-1]) < bound

# %% 4f smallest-only
# says: The smallest index was held against the bound; the largest decides.
# asks: Which of the indices can be too large?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return not flat_locs.numel() or 0 <= int(flat_locs.min()) < bound

# %% 4f counts-tokens
# says: The number of tokens was compared: what must fit is the largest index.
# asks: Three tokens sit at loc 4000. Does a buffer of 32 slots have them?
# family: M10
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return flat_locs.numel() <= bound and bool((flat_locs >= 0).all())

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
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return flat_locs.numel() <= bound or bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f too-many
# says: Requests may share a prefix: more entries than slots are no fault.
# asks: Four requests share one page. How many entries has the table, how many slots?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return flat_locs.numel() <= bound and bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f no-repeats
# says: The same loc twice is no fault: requests may share a prefix.
# asks: Two requests have the same first page. What does the table hold?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return len(flat_locs.unique()) == len(flat_locs) and bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f int32
# says: The locs were cut to 32 bits: one past 2^32 wraps to a small legal one.
# asks: What is 2^32 + 9 in 32 bits?
# family: M16
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs.int() >= 0) & (flat_locs.int() < min(bound, 2**31 - 1))).all())

# %% 4f float32
# says: Compared as float32, which cannot tell neighbours past 2^24.
# asks: Does an index ever need a float?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs.float() < float(bound))).all())

# %% 4f float64
# says: The bound went through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (int(size / page_size) + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f tensor
# says: A tensor came out where a bool was asked for.
# asks: What turns a tensor of one value into a bool?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return ((flat_locs >= 0) & (flat_locs < bound)).all()

# %% 4f one-by-one
# says: This says of each index whether it fits: one bool for all was asked for.
# asks: What does the caller do with your result: `if capacity_ok(...)`?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return (flat_locs >= 0) & (flat_locs < bound)

# %% 4f chained
# says: 0 <= locs < bound asks a whole tensor for one truth value: it takes two masks.
# asks: What does Python make of a <= b < c, and what joins two masks?
# outcome: crashed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return bool((0 <= flat_locs < bound).all())

# %% 4f inverted
# says: True and False are swapped: this says whether something is wrong.
# asks: What does ok mean for a list of legal locs?
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    return not bool(((flat_locs >= 0) & (flat_locs < bound)).all())

# %% 4f raises
# says: It stops the server where it should say False.
# asks: Who decides what to do about an index that is out of range?
# outcome: crashed
def capacity_ok(flat_locs, consumer, size, page_size, dcp_size):
    bound = (size // page_size + 1) * page_size * (1 if consumer == "ckv_row" else dcp_size)
    assert bool(((flat_locs >= 0) & (flat_locs < bound)).all()), "an index is out of range"
    return True

# %% 4g second-axis-ignored
# says: Every program of a request makes the first rows: the second axis is not used.
# asks: Which rows does program (0, 1) make?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g block-step
# says: Blocks overlap by all but one row: block b begins at b * ROWS.
# asks: Which rows does program (0, 1) make?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g axes-swapped
# says: The two axes of the grid are swapped: the first counts requests.
# asks: What does program (0, 1) stand for?
# family: M4
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(1), tl.program_id(0)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g layout-b
# says: All prefixes, then all new tokens: layout B, which RAGGED indices do not fit.
# asks: What stands behind the last prefix token of request 0?
# family: M14
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    requests = tl.num_programs(0)
    at = tl.where(b < p, p0 + b, tl.load(cu_prefix_ptr + requests) + e0 + b - p)
    tl.store(out_ptr + at[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g extend-first
# says: The new tokens stand before their prefix.
# asks: What is at position 0 of a request?
# family: M4
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = ((b >= e) & (b < p + e))[:, None], (b < e)[:, None]
    x = tl.load(prefix_ptr + (p0 + b - e)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-prefix-start
# says: Every request reads the first request's prefix: its own start is missing.
# asks: In which row of prefix does request 1 begin?
# family: M15
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + b[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-extend-start
# says: Every request reads the first request's new tokens: their start is missing.
# asks: In which row of extend do request 1's new tokens begin?
# family: M15
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-starts
# says: Every request reads from row 0 of both: only the first is right.
# asks: In which row of prefix does request 1 begin?
# family: M15
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + b[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-out-start
# says: Every request writes to row 0: the last one wins.
# asks: At which ragged index does request 1 begin?
# family: M15
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + b[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g out-by-prefix
# says: The output begins at the prefixes' start: the new tokens before are forgotten.
# asks: How many rows stand before request 1?
# family: M15
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g out-by-extend
# says: The output begins at the new tokens' start: the prefixes before are forgotten.
# asks: How many rows stand before request 1?
# family: M15
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g prefix-by-total
# says: The prefix is read at the ragged index: cu_prefix alone counts its rows.
# asks: How many rows of prefix stand before request 1's?
# family: M15
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + e0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g extend-by-prefix
# says: The new tokens are read where the prefixes begin: they have their own start.
# asks: How many new tokens come before those of request 1?
# family: M15
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (p0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g extend-not-shifted
# says: New row b is read at row b of extend: the first new token is row 0 there.
# asks: Which row of extend does row p of the segment hold?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g next-request
# says: Starts are taken one entry too far: cu[i] is the start, cu[i + 1] the end.
# asks: What is cu_prefix[0]?
# family: M15
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request + 1), tl.load(cu_extend_ptr + request + 1)
    p, e = p0 - tl.load(cu_prefix_ptr + request), e0 - tl.load(cu_extend_ptr + request)
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g end-as-length
# says: The end was taken for the length: later requests run into their neighbours.
# asks: What is cu_prefix[i + 1] - cu_prefix[i]?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1), tl.load(cu_extend_ptr + request + 1)
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g start-as-length
# says: The start was taken for the length: request 0 gets none.
# asks: What is cu_prefix[i + 1] - cu_prefix[i]?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-prefix-stride
# says: Rows of prefix are taken to lie DIM apart; prefix_stride says how far.
# asks: Where does row 1 of prefix begin?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * DIM + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-extend-stride
# says: Rows of extend are taken to lie DIM apart; extend_stride says how far.
# asks: Where does row 1 of extend begin?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * DIM + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-out-stride
# says: Rows of the output are taken to lie DIM apart; out_stride says how far.
# asks: Where does row 1 of the output begin?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * DIM + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-strides
# says: All rows are taken to lie DIM apart: right for dense buffers only.
# asks: Where does row 1 begin when the stride is larger than DIM?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * DIM + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * DIM + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * DIM + column, tl.where(old, x, y), mask=old | new)

# %% 4g prefix-stride-for-all
# says: prefix_stride is used for all three buffers; each has its own.
# asks: How far apart do rows of the output lie?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * prefix_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * prefix_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g out-stride-for-all
# says: out_stride is used for all three buffers; each has its own.
# asks: How far apart do rows of prefix lie?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * out_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * out_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g strides-swapped
# says: The strides of prefix and extend are mixed up.
# asks: How far apart do rows of prefix lie?
# family: M4
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * extend_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * prefix_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g store-unmasked
# says: The store has no mask: lanes past a segment write over the next request.
# asks: Which lanes of a block have no row to make?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y))

# %% 4g extend-unmasked
# says: The load of new tokens has no mask: old rows read before the start of extend.
# asks: What is e0 + b - p for row 0 of request 0?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g prefix-unmasked
# says: The load of old tokens has no mask: new rows read past the end of prefix.
# asks: What is p0 + b for the last row of the last request?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g loads-unmasked
# says: Neither load has a mask: each lane reads both buffers, one of them outside.
# asks: Which of the two buffers has lane b's row?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g new-to-the-block-end
# says: The new tokens have no end: lanes past the segment copy the next request's.
# asks: How many new tokens has this request?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], (b >= p)[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g off-by-one
# says: Row p counts as old: the first new token is lost to the next request's prefix.
# asks: A prefix has 3 rows, 0 to 2. Is row 3 old or new?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b <= p)[:, None], ((b > p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g last-missing
# says: The last row of every segment is missing.
# asks: A segment has 5 rows. Is row 4 one of them?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e - 1))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g first-new-missing
# says: The first new token of every request is missing.
# asks: A prefix has 3 rows, 0 to 2. Is row 3 old or new?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b > p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g prefix-only
# says: The new tokens are never copied.
# asks: What are the rows from p on?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old)

# %% 4g extend-only
# says: The prefixes are never copied.
# asks: What are the rows before p?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=new)

# %% 4g no-prefix-skipped
# says: A request without a prefix is left out, with its new tokens.
# asks: What does a request bring that has just arrived?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e) & (p > 0))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g no-extend-skipped
# says: A request without new tokens is left out, with its prefix.
# asks: Who reads the prefix of such a request?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = ((b < p) & (e > 0))[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g one-row
# says: Each program makes one row; it is launched for ROWS of them.
# asks: How many rows must each program make, when there are cdiv(longest, ROWS) blocks?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, 1)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g row-a-program
# says: Block b makes row b; it is launched for ROWS rows each.
# asks: Which rows does program (0, 1) make?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block + tl.arange(0, 1)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g first-column
# says: Only the first column is copied.
# asks: How many values has a row?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, 1)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g half-the-columns
# says: Half of the columns are missing.
# asks: How many values has a row?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM // 2)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g columns-from-one
# says: Columns are counted from 1: the last one lies beyond the row.
# asks: Where does the first value of a row lie?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = 1 + tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g old-and-new-swapped
# says: The choice is the wrong way round: new tokens where old ones belong.
# asks: What does tl.where pick where its condition holds?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, y, x), mask=old | new)

# %% 4g new-from-row-0
# says: New tokens have no lower end: old rows read before the start of extend.
# asks: What is e0 + b - p for row 0 of request 0?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], (b < p + e)[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g store-one-too-far
# says: The store goes one row too far: row p + e is the next request's first.
# asks: A segment has 5 rows, 0 to 4. Is row 5 one of them?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=(b <= p + e)[:, None])

# %% 4g prefix-stride-for-extend
# says: prefix_stride is used for extend too; each buffer has its own.
# asks: How far apart do rows of extend lie?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * prefix_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g new-not-chosen
# says: New rows get what the load of old ones left: extend is read, and not used.
# asks: Which of the two loads has row p?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, x, mask=old | new)

# %% 4g start-one-too-low
# says: Starts are taken one entry too low: cu begins with a 0, so cu[i] is the start.
# asks: What is cu_prefix[0]?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request - 1), tl.load(cu_extend_ptr + request - 1)
    p, e = tl.load(cu_prefix_ptr + request) - p0, tl.load(cu_extend_ptr + request) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g out-by-the-grid
# says: Every request was given the room of its programs: a ragged buffer has no gaps.
# asks: At which ragged index does request 1 begin?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(out_ptr + (request * tl.num_programs(1) * ROWS + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)

# %% 4g writes-nothing
# says: Nothing is written: the kernel ends before it stores.
# asks: Which buffer must your program fill, and with which of tl's functions?
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request = tl.program_id(0)

# %% 4g writes-prefix
# says: It writes into prefix, which it may only read.
# asks: Which buffer is the workspace?
# outcome: unsafe
@triton.jit
def assemble_ragged_kernel(prefix_ptr, extend_ptr, out_ptr, cu_prefix_ptr, cu_extend_ptr, prefix_stride, extend_stride, out_stride, DIM: tl.constexpr, ROWS: tl.constexpr):
    request, block = tl.program_id(0), tl.program_id(1)
    p0, e0 = tl.load(cu_prefix_ptr + request), tl.load(cu_extend_ptr + request)
    p, e = tl.load(cu_prefix_ptr + request + 1) - p0, tl.load(cu_extend_ptr + request + 1) - e0
    b = block * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, DIM)[None, :]
    old, new = (b < p)[:, None], ((b >= p) & (b < p + e))[:, None]
    x = tl.load(prefix_ptr + (p0 + b)[:, None] * prefix_stride + column, mask=old)
    y = tl.load(extend_ptr + (e0 + b - p)[:, None] * extend_stride + column, mask=new)
    tl.store(prefix_ptr + (p0 + e0 + b)[:, None] * out_stride + column, tl.where(old, x, y), mask=old | new)
