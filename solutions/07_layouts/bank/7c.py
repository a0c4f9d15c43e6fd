# Answers to 7c: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 7c plain
# outcome: passed
def local_lengths(seq_lens, dcp_size, interleave):
    turn = dcp_size * interleave
    full = seq_lens // turn
    rest = seq_lens % turn
    starts = torch.arange(dcp_size, device=seq_lens.device, dtype=seq_lens.dtype) * interleave
    last = (rest[:, None] - starts[None, :]).clamp(min=0, max=interleave)
    return full[:, None] * interleave + last

# %% 7c shared-out
# says: The length is shared out evenly; ranks take turns, and the last round is uneven.
# asks: Who has the second token of a request of two, at I = 2?
# family: M5
def local_lengths(seq_lens, dcp_size, interleave):
    return (seq_lens[:, None] // dcp_size).repeat(1, dcp_size)

# %% 7c rounded-up
# says: This is an even share, rounded up: ranks take turns, and do not share evenly.
# asks: What do the ranks' counts add up to?
def local_lengths(seq_lens, dcp_size, interleave):
    most = -(-seq_lens // dcp_size)
    return most[:, None].repeat(1, dcp_size)

# %% 7c one-token
# says: This deals the last tokens one by one, as if I were 1.
# asks: Who has the second token of a request, at I = 2?
# family: M5
def local_lengths(seq_lens, dcp_size, interleave):
    ranks = torch.arange(dcp_size, device=seq_lens.device, dtype=seq_lens.dtype)
    return seq_lens[:, None] // dcp_size + (ranks < seq_lens[:, None] % dcp_size).to(seq_lens.dtype)

# %% 7c full-only
# says: The last round is missing: a round that is not full has tokens too.
# asks: Where is the last token of a request?
# from: plain
- return full[:, None] * interleave + last
+ return full[:, None] * interleave + 0 * last

# %% 7c last-only
# says: Full rounds are missing: only what is left over was dealt.
# asks: What has rank 0 after one whole round?
# from: plain
- return full[:, None] * interleave + last
+ return last

# %% 7c rounds
# says: A full round gives a rank I tokens; here it counts as one.
# asks: How many tokens of a round are one rank's?
# from: plain
- return full[:, None] * interleave + last
+ return full[:, None] + last

# %% 7c all-to-rank-0
# says: All that is left went to rank 0; its run ends after I tokens.
# asks: Who has token I of a round?
# from: plain
- last = (rest[:, None] - starts[None, :]).clamp(min=0, max=interleave)
+ last = torch.where(starts[None, :] == 0, rest[:, None], 0)

# %% 7c all-to-last
# says: All that is left went to the last rank; a round begins with rank 0.
# asks: Who has the first token of a round?
# from: plain
- last = (rest[:, None] - starts[None, :]).clamp(min=0, max=interleave)
+ last = torch.where(starts[None, :] == starts[-1], rest[:, None], 0)

# %% 7c no-floor
# says: Ranks whose run does not begin any more got less than nothing.
# asks: What has a rank whose run begins behind the last token?
# from: plain
- last = (rest[:, None] - starts[None, :]).clamp(min=0, max=interleave)
+ last = (rest[:, None] - starts[None, :]).clamp(max=interleave)

# %% 7c no-ceiling
# says: A rank got all that lies behind its start; its run ends after I tokens.
# asks: What do the ranks' counts add up to?
# from: plain
- last = (rest[:, None] - starts[None, :]).clamp(min=0, max=interleave)
+ last = (rest[:, None] - starts[None, :]).clamp(min=0)

# %% 7c whole-runs
# says: A run that is begun counts whole here: that is room, and not tokens.
# asks: What has the rank in whose run the request ends?
# from: plain
- last = (rest[:, None] - starts[None, :]).clamp(min=0, max=interleave)
+ last = (rest[:, None] > starts[None, :]).to(seq_lens.dtype) * interleave

# %% 7c complete-runs
# says: A run that is not full is missing: its tokens are held too.
# asks: Who holds the last token?
# from: plain
- last = (rest[:, None] - starts[None, :]).clamp(min=0, max=interleave)
+ last = (rest[:, None] >= starts[None, :] + interleave).to(seq_lens.dtype) * interleave

# %% 7c starts-undealt
# says: Ranks' runs begin one token apart here; they begin I apart.
# asks: Where in a round does rank 1's run begin?
# family: M5
# from: plain
- starts = torch.arange(dcp_size, device=seq_lens.device, dtype=seq_lens.dtype) * interleave
+ starts = torch.arange(dcp_size, device=seq_lens.device, dtype=seq_lens.dtype)

# %% 7c ranks-from-one
# says: Runs are counted from 1: rank 0 gets what is rank 1's.
# asks: Where in a round does rank 0's run begin?
# from: plain
- starts = torch.arange(dcp_size, device=seq_lens.device, dtype=seq_lens.dtype) * interleave
+ starts = torch.arange(1, dcp_size + 1, device=seq_lens.device, dtype=seq_lens.dtype) * interleave

# %% 7c reversed
# says: The ranks are counted from the last one: a round begins with rank 0.
# asks: Who has the first token of a round?
# from: plain
- return full[:, None] * interleave + last
+ return (full[:, None] * interleave + last).flip(1)

# %% 7c one-before
# says: Each length is one too low: that is the last position, not the number.
# asks: How many tokens has a request whose last position is 0?
# from: plain
- full = seq_lens // turn
- rest = seq_lens % turn
+ full = (seq_lens - 1) // turn
+ rest = (seq_lens - 1) % turn

# %% 7c round-is-d
# says: A round counts D tokens here; each of D ranks gets I.
# asks: After how many tokens has rank 0 its turn again?
# from: plain
- turn = dcp_size * interleave
+ turn = dcp_size

# %% 7c round-is-i
# says: A round counts I tokens here; each of D ranks gets I.
# asks: After how many tokens has rank 0 its turn again?
# from: plain
- turn = dcp_size * interleave
+ turn = interleave

# %% 7c sizes-swapped
# says: D and I are exchanged: this is the layout of I ranks with runs of D.
# asks: How many columns has the result?
def local_lengths(seq_lens, dcp_size, interleave):
    turn = dcp_size * interleave
    starts = torch.arange(interleave, device=seq_lens.device, dtype=seq_lens.dtype) * dcp_size
    last = (seq_lens[:, None] % turn - starts).clamp(0, dcp_size)
    return seq_lens[:, None] // turn * dcp_size + last

# %% 7c transposed
# says: Ranks are down and requests across; a line a request is asked for.
# asks: Which of the two dimensions is the first, by the docstring?
# from: plain
- return full[:, None] * interleave + last
+ return (full[:, None] * interleave + last).T

# %% 7c summed
# says: One line came out, summed over the batch: each request has its own.
# asks: How many requests are there, and how many lines?
# from: plain
- return full[:, None] * interleave + last
+ return (full[:, None] * interleave + last).sum(0)

# %% 7c batch-dealt
# says: The batch was dealt as one long request; each one begins at rank 0.
# asks: Where does the second request begin?
# family: M14
def local_lengths(seq_lens, dcp_size, interleave):
    ends = seq_lens.cumsum(0)
    both = torch.stack([ends - seq_lens, ends])
    turn = dcp_size * interleave
    starts = torch.arange(dcp_size, device=seq_lens.device) * interleave
    held = both[..., None] // turn * interleave + (both[..., None] % turn - starts).clamp(0, interleave)
    return (held[1] - held[0]).to(seq_lens.dtype)

# %% 7c float32
# says: This goes through float32, which loses whole numbers past 2^24.
# asks: Which operator stays in integers?
# from: plain
- full = seq_lens // turn
+ full = (seq_lens / turn).floor().to(seq_lens.dtype)

# %% 7c float64
# says: This goes through float64, which loses whole numbers past 2^53.
# asks: Which operator stays in integers?
# from: plain
- full = seq_lens // turn
- rest = seq_lens % turn
+ full = (seq_lens.double() / turn).floor().to(seq_lens.dtype)
+ rest = (seq_lens.double() % turn).to(seq_lens.dtype)

# %% 7c int32
# says: Lengths were cut to 32 bits before they were divided.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
# from: plain
- full = seq_lens // turn
- rest = seq_lens % turn
+ full = (seq_lens.int() // turn).to(seq_lens.dtype)
+ rest = (seq_lens.int() % turn).to(seq_lens.dtype)

# %% 7c rounds-int32
# says: Full rounds were counted in 32 bits: 2^31 and more of them wrap.
# asks: How many rounds of 30 has a length of 2^58?
# family: M16
# from: plain
- return full[:, None] * interleave + last
+ return full.int()[:, None].to(seq_lens.dtype) * interleave + last

# %% 7c narrow
# says: The result was cut to int32 where the lengths are int64: past 2^31 counts wrap.
# asks: Who asked for another dtype?
# from: plain
- return full[:, None] * interleave + last
+ return (full[:, None] * interleave + last).int()

# %% 7c widen
# says: The result is int64 where the lengths are int32.
# asks: Which dtype does torch.arange have, if nothing is said?
# from: plain
- starts = torch.arange(dcp_size, device=seq_lens.device, dtype=seq_lens.dtype) * interleave
+ starts = torch.arange(dcp_size, device=seq_lens.device) * interleave

# %% 7c list
# says: A tensor went in and lists came out.
# asks: What will a kernel read its lengths from?
# from: plain
- return full[:, None] * interleave + last
+ return (full[:, None] * interleave + last).tolist()

# %% 7c in-place
# says: This changes the caller's lengths: the next reader gets what was left over.
# asks: What does %= do to the caller's tensor?
# outcome: unsafe
# from: plain
- rest = seq_lens % turn
+ seq_lens %= turn
+ rest = seq_lens.clone()

# %% 7c one-rank
# says: With one rank the result is a piece of the caller's own lengths.
# asks: What becomes of the lengths if somebody changes your result?
# outcome: unsafe
# from: plain
- full = seq_lens // turn
+ if dcp_size == 1:
+     return seq_lens[:, None]
+ full = seq_lens // turn

# %% 7c cumulative
# outcome: passed
def local_lengths(seq_lens, dcp_size, interleave):
    edges = torch.arange(dcp_size + 1, device=seq_lens.device, dtype=seq_lens.dtype) * interleave
    turn = dcp_size * interleave
    below = torch.minimum(seq_lens[:, None] % turn, edges[None, :])
    return below.diff(dim=1) + seq_lens[:, None] // turn * interleave

# %% 7c rank-by-rank
# outcome: passed
def local_lengths(seq_lens, dcp_size, interleave):
    turn = dcp_size * interleave
    columns = [(seq_lens + turn - (r + 1) * interleave) // turn * interleave for r in range(dcp_size)]
    for r in range(dcp_size):
        inside = (seq_lens % turn - r * interleave).clamp(min=0)
        columns[r] = seq_lens // turn * interleave + torch.where(inside < interleave, inside, interleave)
    return torch.stack(columns, dim=1)

# %% 7c one-by-one
# outcome: passed
def local_lengths(seq_lens, dcp_size, interleave):
    turn, found = dcp_size * interleave, []
    for n in seq_lens.tolist():
        found += [n // turn * interleave + min(max(n % turn - r * interleave, 0), interleave) for r in range(dcp_size)]
    return torch.tensor(found, dtype=seq_lens.dtype, device=seq_lens.device).reshape(-1, dcp_size)

# %% 7c zeros
# says: torch.zeros makes floats: the lengths' own dtype is asked for.
# asks: Which argument of torch.zeros says what it holds?
def local_lengths(seq_lens, dcp_size, interleave):
    held = torch.zeros(len(seq_lens), dcp_size)
    for b, n in enumerate(seq_lens.tolist()):
        for r in range(dcp_size):
            full, rest = divmod(n, dcp_size * interleave)
            held[b, r] = full * interleave + max(0, min(interleave, rest - r * interleave))
    return held

# %% 7c token-by-token
# says: It deals every token: full rounds need no dealing, and a length may be huge.
# asks: How many rounds has a request of 2^31 tokens, and what do they give a rank?
# outcome: timeout
def local_lengths(seq_lens, dcp_size, interleave):
    held = torch.zeros(len(seq_lens), dcp_size, dtype=seq_lens.dtype)
    for b, n in enumerate(seq_lens.tolist()):
        for position in range(n):
            held[b, position // interleave % dcp_size] += 1
    return held

# %% 7c room
# says: Each rank has as many as the fullest: that is room, and not tokens.
# asks: What do the ranks' counts add up to?
# from: plain
- last = (rest[:, None] - starts[None, :]).clamp(min=0, max=interleave)
+ last = (rest[:, None] - 0 * starts[None, :]).clamp(min=0, max=interleave)

# %% 7c wrapped
# says: Counts of 2^31 and more wrapped: they went through int32.
# asks: What is left of 2^31 + 5 in an int32?
# family: M16
# from: plain
- return full[:, None] * interleave + last
+ return (full[:, None] * interleave + last).int().to(seq_lens.dtype)
