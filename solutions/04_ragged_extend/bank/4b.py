# Answers to 4b: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 4b plain
# outcome: passed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, first = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        p = torch.arange(start, start + n)
        out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
        first += padded_rows(n, start, dcp_size)
    return torch.cat(out)

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
# from: plain
- p = torch.arange(start, start + n)
- out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
+ for rank in range(dcp_size):
+     p = torch.arange(start, start + n)
+     p = p[p % dcp_size == rank]
+     out.append(shards[rank, first + p // dcp_size - start // dcp_size])

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
# from: left-padding-kept
- out.append(whole[first * dcp_size : first * dcp_size + n])
+ at = first * dcp_size + start
+ out.append(whole[at : at + n])

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
# from: plain
- first += padded_rows(n, start, dcp_size)
+ first += -(-n // dcp_size)

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
# from: plain
- first += padded_rows(n, start, dcp_size)
+ first += -(-(n + start) // dcp_size) if n else 0

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
# from: plain
- out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
+ out.append(shards[p % dcp_size, first + (p - start) // dcp_size])

# %% 4b piece-ranks
# says: The ranks' turns begin anew with each piece: they go by position.
# asks: Which rank holds position 3 when D is 4, wherever the piece starts?
# from: plain
- out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
+ out.append(shards[(p - start) % dcp_size, first + p // dcp_size - start // dcp_size])

# %% 4b absolute-row
# says: The row counts from position 0, but a request's rows begin at its start.
# asks: In which of its rows is the first token of a piece that starts at position 7?
# outcome: crashed
# from: plain
- out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
+ out.append(shards[p % dcp_size, first + p // dcp_size])

# %% 4b empty-takes-a-row
# says: A request without a prefix takes a row where its start is no multiple of D.
# asks: What does an empty prefix send?
# from: whole-start-in-rows
- first += -(-(n + start) // dcp_size) if n else 0
+ first += -(-(n + start % dcp_size) // dcp_size)

# %% 4b empty-takes-a-row-indexed
# says: A request without a prefix takes a row where its start is no multiple of D.
# asks: What does an empty prefix send?
# outcome: crashed
# from: plain
- first += padded_rows(n, start, dcp_size)
+ first += -(-(n + start % dcp_size) // dcp_size)

# %% 4b empty-always-a-row
# says: Every request takes at least one row; one without a prefix takes none.
# asks: What does an empty prefix send?
# from: whole-start-in-rows
- first += -(-(n + start) // dcp_size) if n else 0
+ first += max(1, -(-(n + start % dcp_size) // dcp_size))

# %% 4b empty-always-a-row-indexed
# says: Every request takes at least one row; one without a prefix takes none.
# asks: What does an empty prefix send?
# outcome: crashed
# from: plain
- first += padded_rows(n, start, dcp_size)
+ first += max(1, -(-(n + start % dcp_size) // dcp_size))

# %% 4b flat-places
# outcome: passed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole = shards.transpose(0, 1).reshape(-1, *shards.shape[2:])
    places, first = [torch.arange(0)], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        skip = start % dcp_size
        places.append(torch.arange(n) + first * dcp_size + skip)
        first += padded_rows(n, start, dcp_size)
    return whole[torch.cat(places)]

# %% 4b empty-takes-a-row-flat
# says: A request without a prefix takes a row where its start is no multiple of D.
# asks: What does an empty prefix send?
# outcome: crashed
# from: flat-places
- first += padded_rows(n, start, dcp_size)
+ first += -(-(n + start % dcp_size) // dcp_size)

# %% 4b empty-always-a-row-flat
# says: Every request takes at least one row; one without a prefix takes none.
# asks: What does an empty prefix send?
# outcome: crashed
# from: flat-places
- first += padded_rows(n, start, dcp_size)
+ first += max(1, -(-(n + start % dcp_size) // dcp_size))

# %% 4b whole-start-in-rows-flat
# says: The count of rows adds the whole start, not its remainder by D.
# asks: How many rows do 2 tokens take that start at position 100?
# outcome: crashed
# from: flat-places
- first += padded_rows(n, start, dcp_size)
+ first += -(-(n + start) // dcp_size) if n else 0

# %% 4b one-row-too-many-flat
# says: One row too many where the last turn is full.
# asks: How many rows do six tokens of three ranks take?
# outcome: crashed
# from: flat-places
- first += padded_rows(n, start, dcp_size)
+ first += (n + start % dcp_size) // dcp_size + 1 if n else 0

# %% 4b stops-at-empty
# says: A request without a prefix ends your loop; those after it are missing.
# asks: What should follow an empty prefix?
# from: plain
  for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
+     if n == 0:
+         break

# %% 4b rounded-down
# says: Rows were rounded down: a turn that is only begun needs a row too.
# asks: How many rows do five tokens of four ranks take?
# from: plain
- first += padded_rows(n, start, dcp_size)
+ first += (n + start % dcp_size) // dcp_size

# %% 4b one-row-too-many
# says: One row too many where the last turn is full.
# asks: How many rows do six tokens of three ranks take?
# from: whole-start-in-rows
- first += -(-(n + start) // dcp_size) if n else 0
+ first += (n + start % dcp_size) // dcp_size + 1 if n else 0

# %% 4b one-row-too-many-indexed
# says: One row too many where the last turn is full.
# asks: How many rows do six tokens of three ranks take?
# outcome: crashed
# from: plain
- first += padded_rows(n, start, dcp_size)
+ first += (n + start % dcp_size) // dcp_size + 1 if n else 0

# %% 4b inclusive-start
# says: A request begins where it ends: this sum includes its own rows.
# asks: In which row does the first request begin?
# from: whole-start-in-rows
  for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
+     first += padded_rows(n, start, dcp_size)

- first += -(-(n + start) // dcp_size) if n else 0

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
# from: plain
- p = torch.arange(start, start + n)
+ p = torch.arange(start, start + n // dcp_size * dcp_size)

# %% 4b last-missing
# says: The last token of every prefix is missing.
# asks: Which positions has a piece of 5 tokens that starts at 3?
# from: plain
- p = torch.arange(start, start + n)
+ p = torch.arange(start, start + max(n - 1, 0))

# %% 4b reversed-ranks
# says: The ranks are taken from the last to the first.
# asks: Which shard holds position 0?
# family: M14
# from: plain
- out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
+ out.append(shards[dcp_size - 1 - p % dcp_size, first + p // dcp_size - start // dcp_size])

# %% 4b swap
# says: Quotient and remainder are swapped: p % D is the shard, p // D leads to the row.
# asks: Which rank holds position 5 when D is 4?
# family: M4
# outcome: crashed
# from: plain
- out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
+ out.append(shards[p // dcp_size - start // dcp_size, first + p % dcp_size])

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
# from: plain
- out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
+ out.append(shards[first + p // dcp_size - start // dcp_size, p % dcp_size])

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
# from: plain
- out.append(shards[p % dcp_size, first + p // dcp_size - start // dcp_size])
+ out.append(shards[p & (dcp_size - 1), first + p // dcp_size - start // dcp_size])

# %% 4b int32
# says: Positions are computed in 32 bits: past 2^31 they wrap.
# asks: How large can a position be that fits int32?
# family: M16
# from: plain
- for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
+ for n, start in zip(prefix_lens.tolist(), start_positions.int().tolist()):

# %% 4b float64
# says: Positions go through float64, which loses odd numbers past 2^53.
# asks: Which dtype gives torch.arange for ints?
# from: plain
- for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
+ for n, start in zip(prefix_lens.tolist(), start_positions.double().tolist()):
+     start = int(start)

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
# from: plain
- out, first = [shards[0, :0]], 0
+ out, first = [], 0

- return torch.cat(out)
+ return out

# %% 4b no-pieces
# says: A batch of empty prefixes fails: torch.cat wants at least one tensor.
# asks: What should come out when there is no prefix at all?
# outcome: crashed
# from: plain
- out, first = [shards[0, :0]], 0
+ out, first = [], 0

  for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
+     if n == 0:
+         continue

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
# from: plain
  def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
+     if dcp_size == 1 and len(prefix_lens) == 1:
+         return shards[0]

# %% 4b in-place
# says: This turns the caller's lengths into rows in place: others still read them.
# asks: Who else uses prefix_lens after you?
# outcome: unsafe
# from: plain
  def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
+     lens = prefix_lens.tolist()
+     prefix_lens += start_positions % dcp_size

- for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
+ for n, start in zip(lens, start_positions.tolist()):

# %% 4b gather-by-request
# outcome: passed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    lens, starts = prefix_lens.long(), start_positions.long()
    rows = torch.where(lens > 0, (lens + starts % dcp_size + dcp_size - 1) // dcp_size, 0)
    request = torch.arange(len(lens), device=lens.device).repeat_interleave(lens)
    first = rows.cumsum(0) - rows
    place = torch.arange(len(request), device=lens.device) - (lens.cumsum(0) - lens)[request]
    p = starts[request] + place
    return shards[p % dcp_size, first[request] + p // dcp_size - starts[request] // dcp_size]

# %% 4b transpose-and-slice
# outcome: passed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    whole = shards.transpose(0, 1).reshape(-1, shards.shape[2])
    out, at = [whole[:0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        skip = start % dcp_size
        out.append(whole[at + skip : at + skip + n])
        at += -(-(n + skip) // dcp_size) * dcp_size if n else 0
    return torch.cat(out)

# %% 4b piece-by-piece
# outcome: passed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, row = [shards[0, :0]], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        rows = 0 if n == 0 else (n + start % dcp_size + dcp_size - 1) // dcp_size
        piece = shards[:, row : row + rows].transpose(0, 1).flatten(0, 1)
        out.append(piece[start % dcp_size :][:n])
        row += rows
    return torch.cat(out)

# %% 4b token-by-token
# outcome: passed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, row = shards.new_empty(int(prefix_lens.sum()), shards.shape[2]), 0
    at = 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        for p in range(start, start + n):
            out[at] = shards[p % dcp_size, row + p // dcp_size - start // dcp_size]
            at += 1
        row += len({p // dcp_size for p in range(start, start + n)})
    return out

# %% 4b rank-by-rank
# outcome: passed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out = torch.empty(int(prefix_lens.sum()), shards.shape[2], dtype=shards.dtype, device=shards.device)
    row = at = 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        for rank in range(dcp_size):
            first = (rank - start) % dcp_size
            mine = len(range(first, n, dcp_size))
            skip = 1 if rank < start % dcp_size else 0
            out[at + first : at + n : dcp_size] = shards[rank, row + skip : row + skip + mine]
        row += (n + start % dcp_size + dcp_size - 1) // dcp_size if n else 0
        at += n
    return out

# %% 4b flat-index
# outcome: passed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    flat, index, row = shards.flatten(0, 1), [], 0
    for n, start in zip(prefix_lens.tolist(), start_positions.tolist()):
        index += [(p % dcp_size) * shards.shape[1] + row + p // dcp_size - start // dcp_size for p in range(start, start + n)]
        row += (start + n - 1) // dcp_size - start // dcp_size + 1 if n else 0
    return flat[torch.tensor(index, dtype=torch.int64, device=shards.device)]

# %% 4b swapdiv
# says: Shard and row are swapped: the remainder is the shard, the quotient the row.
# asks: Which of % and // can be as large as D - 1?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, base = [], 0
    for n, s in zip(prefix_lens.tolist(), start_positions.tolist()):
        if n == 0:
            continue
        pos = torch.arange(s, s + n)
        out.append(shards[pos // dcp_size % dcp_size, base + pos % dcp_size])
        base += -(-(n + s % dcp_size) // dcp_size)
    return torch.cat(out) if out else shards.new_empty(0, shards.shape[-1])

# %% 4b basen
# says: The next request begins after n rows; it takes a row only for each turn of D.
# asks: How many rows do 5 tokens on four ranks take?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, base = [], 0
    for n, s in zip(prefix_lens.tolist(), start_positions.tolist()):
        if n == 0:
            continue
        pos = torch.arange(s, s + n)
        out.append(shards[pos % dcp_size, base + pos // dcp_size - s // dcp_size])
        base += n
    return torch.cat(out) if out else shards.new_empty(0, shards.shape[-1])

# %% 4b roundtwice
# says: Length and start were rounded up apart: together they may fill one turn.
# asks: How many turns do a start of 1 and 3 tokens make, with D = 4?
# outcome: crashed
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, base = [], 0
    for n, s in zip(prefix_lens.tolist(), start_positions.tolist()):
        if n == 0:
            continue
        pos = torch.arange(s, s + n)
        out.append(shards[pos % dcp_size, base + pos // dcp_size - s // dcp_size])
        base += -(-n // dcp_size) + -(-(s % dcp_size) // dcp_size)
    return torch.cat(out) if out else shards.new_empty(0, shards.shape[-1])

# %% 4b first
# says: The start of a request forgets all requests but the one before.
# asks: Which rows do the third request's tokens begin at?
def interleave_shards(shards, prefix_lens, start_positions, dcp_size):
    out, base = [], 0
    for n, s in zip(prefix_lens.tolist(), start_positions.tolist()):
        if n == 0:
            continue
        pos = torch.arange(s, s + n)
        out.append(shards[pos % dcp_size, base + pos // dcp_size - s // dcp_size])
        base =  -(-(n + s % dcp_size) // dcp_size)
    return torch.cat(out) if out else shards.new_empty(0, shards.shape[-1])
