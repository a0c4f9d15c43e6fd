# Answers to 4c: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 4c layout-b
# says: All prefixes, then all new tokens: this is layout B, and asked for is A.
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
# from: prefix-starts-for-both
- at += p
+ at += p + e

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
# from: no-prefix-skipped
- if len(old):
+ if len(new):

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
# from: float-rows
- out, at = torch.zeros(len(prefix) + len(extend), *prefix.shape[1:]), 0
+ out, at = torch.empty(len(prefix) + len(extend), prefix.shape[1], dtype=prefix.dtype), 0

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

# %% 4c fill
# outcome: passed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out = prefix.new_empty((len(prefix) + len(extend), *prefix.shape[1:]))
    at = p_at = e_at = 0
    for p, e in zip(prefix_lens.tolist(), extend_lens.tolist()):
        out[at : at + p] = prefix[p_at : p_at + p]
        out[at + p : at + p + e] = extend[e_at : e_at + e]
        at, p_at, e_at = at + p + e, p_at + p, e_at + e
    return out

# %% 4c permutation
# outcome: passed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    both = torch.cat([prefix, extend])
    requests = torch.arange(len(prefix_lens), device=prefix_lens.device)
    owner = torch.cat([requests.repeat_interleave(prefix_lens.long()), requests.repeat_interleave(extend_lens.long())])
    return both[owner.argsort(stable=True).to(both.device)]

# %% 4c slices
# outcome: passed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    p_cu = list(accumulate(prefix_lens.tolist(), initial=0))
    e_cu = list(accumulate(extend_lens.tolist(), initial=0))
    pieces = [(prefix[a:b], extend[c:d]) for a, b, c, d in zip(p_cu, p_cu[1:], e_cu, e_cu[1:])]
    return torch.cat([prefix[:0], *chain.from_iterable(pieces)])

# %% 4c scatter
# outcome: passed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    p, e = prefix_lens.long(), extend_lens.long()
    begin = (p + e).cumsum(0) - (p + e)
    out = torch.empty(len(prefix) + len(extend), *prefix.shape[1:], dtype=prefix.dtype, device=prefix.device)
    for source, lens, shift in ((prefix, p, begin), (extend, e, begin + p)):
        request = torch.arange(len(lens), device=lens.device).repeat_interleave(lens)
        place = torch.arange(len(request), device=lens.device) - (lens.cumsum(0) - lens)[request]
        out[shift[request] + place] = source
    return out

# %% 4c consume
# outcome: passed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    parts = []
    for p, e in zip(prefix_lens.tolist(), extend_lens.tolist()):
        parts += [prefix[:p], extend[:e]]
        prefix, extend = prefix[p:], extend[e:]
    return torch.cat(parts + [prefix, extend])

# %% 4c stack
# says: Pieces of different lengths cannot be stacked: they go one behind the other.
# asks: What is the difference between torch.stack and torch.cat?
# outcome: crashed
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    p, e = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.stack([x for pair in zip(p, e) for x in pair]) if p else prefix.clone()

# %% 4c noadvance
# says: The start of a request forgets all requests but the one before.
# asks: Where does the third request's prefix begin?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out, i, j = [], 0, 0
    for a, b in zip(prefix_lens.tolist(), extend_lens.tolist()):
        out += [prefix[i : i + a], extend[j : j + b]]
        i, j = a, b
    return torch.cat(out) if out else prefix.clone()

# %% 4c interleave
# says: Rows of prefix and new tokens alternate; a request's prefix stays in one piece.
# asks: What stands behind the first row of a prefix of two?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    n = min(len(prefix), len(extend))
    return torch.cat([torch.stack([prefix[:n], extend[:n]], 1).flatten(0, 1), prefix[n:], extend[n:]])

# %% 4c extendlen
# says: Every request got the first one's new tokens.
# asks: Which new tokens belong to request 1?
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    p, e = prefix.split(prefix_lens.tolist()), extend.split(extend_lens.tolist())
    return torch.cat([x for pair in zip(p, e[:1] * len(p)) for x in pair]) if p else prefix.clone()

# %% 4c new-by-prefix-lengths
# says: The new tokens' start moves on by the prefix's length, not by their own.
# asks: How many new tokens come before those of request 1?
# family: M15
def assemble_ragged(prefix, extend, prefix_lens, extend_lens):
    out = prefix.new_zeros((len(prefix) + len(extend), *prefix.shape[1:]))
    a = b = 0
    for p, e in zip(prefix_lens.tolist(), extend_lens.tolist()):
        out[a + b : a + b + p] = prefix[a : a + p]
        out[a + b + p : a + b + p + e] = extend[b : b + e]
        a += p
        b += p
    return out
