# Answers to 6a: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 6a no-check
# says: No check: a run that begins late gets other tokens' rows, in range.
# asks: Whose is entry 0 of a run that begins at loc 17 of four ranks?
# family: M5
def kernel_rows(locs, dcp_size, dcp_rank):
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a mask-no-check
# says: A mask gives these rows, and asked for is the view's check besides.
# asks: Which runs must raise, and what does a mask say of them?
def kernel_rows(locs, dcp_size, dcp_rank):
    return locs[locs % dcp_size == dcp_rank] // dcp_size

# %% 6a first-only
# says: Only the first loc is checked: a run with a hole passes.
# asks: Whose turn is it after a token that was left out?
def kernel_rows(locs, dcp_size, dcp_rank):
    if len(locs) and int(locs[0]) % dcp_size:
        raise ValueError("begins late")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a first-and-last
# says: First and last are in turn, and between them two may have changed places.
# asks: What does the check say of locs 16, 18, 17, 19 of four ranks?
def kernel_rows(locs, dcp_size, dcp_rank):
    if len(locs) and (int(locs[0]) % dcp_size or int(locs[-1]) % dcp_size != (len(locs) - 1) % dcp_size):
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a own-only
# says: Only this rank's entries are checked; another one's out of turn slips through.
# asks: For which i must locs[i] % D be i % D?
def kernel_rows(locs, dcp_size, dcp_rank):
    mine = locs[dcp_rank::dcp_size]
    if (mine % dcp_size != dcp_rank).any():
        raise ValueError("not this rank's")
    return mine // dcp_size

# %% 6a length
# says: The length is checked, which may be anything: a retracted one is seqlen - 1.
# asks: How many tokens has a request stored whose last one was just sampled?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    if len(locs) % dcp_size:
        raise ValueError("not whole turns")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a length-and-turns
# says: Right runs are refused for their length: any length is fine.
# asks: What is wrong with five locs that begin at owner 0 of four?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if len(locs) % dcp_size or (locs % dcp_size != turn).any():
        raise ValueError("not whole turns")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a assert
# says: AssertionError is not ValueError, and python -O takes an assert out.
# asks: Which exception is asked for?
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    assert (locs % dcp_size == turn).all()
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a ascending
# says: Pages need not be adjacent: only turns must follow each other, not locs.
# asks: May a request's second page be page 2 after page 9?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    if len(locs) and not torch.equal(locs, int(locs[0]) + torch.arange(len(locs), device=locs.device, dtype=locs.dtype)):
        raise ValueError("not one run")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a page-start-missing
# says: Neighbours are compared and the start is not: a run that begins late passes.
# asks: Which owner must entry 0 have?
def kernel_rows(locs, dcp_size, dcp_rank):
    if len(locs) > 1 and ((locs[1:] - locs[:-1]) % dcp_size != 1 % dcp_size).any():
        raise ValueError("skips a turn")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a swapped
# says: The run is held against the wrong owner: i % D, not dcp_rank.
# asks: Which owner has entry 1 of a run, and does it depend on who asks?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    if (locs % dcp_size != dcp_rank).any():
        raise ValueError("not this rank's")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a arguments
# says: Size and rank are swapped: D stands before the rank here, as upstream.
# asks: Which of the two is the second argument?
def kernel_rows(locs, dcp_rank, dcp_size):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a no-divide
# says: The right locs, undivided: a row is the quotient.
# asks: In which row does rank 1 of four keep loc 17?
# family: M2
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size].clone()

# %% 6a no-owner
# says: Every loc was divided: no owner was chosen.
# asks: How many of four locs are one rank's?
# family: M3
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs // dcp_size

# %% 6a twice
# says: Divided twice: after the first time it is a row.
# asks: What is 37 // 4 // 4, and whose row is it?
# family: M6
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size] // dcp_size // dcp_size

# %% 6a remainder
# says: These are owners; the row is the quotient.
# asks: What does loc % D tell?
# family: M4
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size] % dcp_size

# %% 6a blocks
# says: Each rank gets a long run of the list: the ranks take turns loc by loc.
# asks: Who has the second entry?
# family: M5
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    each = -(-len(locs) // dcp_size)
    return locs[dcp_rank * each : (dcp_rank + 1) * each] // dcp_size

# %% 6a from-zero
# says: Every rank takes the entries of rank 0: the view begins at dcp_rank.
# asks: Which is the first entry that rank 2 owns?
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[::dcp_size] // dcp_size

# %% 6a whole-turns-only
# says: The last, unfinished turn is left out.
# asks: Which ranks hold the last two tokens of ten, when D is 4?
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[: len(locs) // dcp_size * dcp_size][dcp_rank::dcp_size] // dcp_size

# %% 6a view
# says: With one rank you hand back the caller's own tensor: a copy is asked for.
# asks: What becomes of the locs if somebody changes your result?
# outcome: unsafe
def kernel_rows(locs, dcp_size, dcp_rank):
    if dcp_size == 1:
        return locs
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a in-place
# says: This divides the caller's locs in place: the request's table is gone.
# asks: Who reads locs after you?
# outcome: unsafe
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    locs //= dcp_size
    return locs[dcp_rank::dcp_size].clone()

# %% 6a float
# says: This goes through float32, which is exact only below 2^24.
# asks: Which division never leaves the integers?
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return (locs[dcp_rank::dcp_size] / dcp_size).to(locs.dtype)

# %% 6a float64
# says: This goes through float64, which loses odd numbers past 2^53.
# asks: Which division never leaves the integers?
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return (locs[dcp_rank::dcp_size].double() / dcp_size).to(locs.dtype)

# %% 6a narrow
# says: The rows are computed in 32 bits: past 2^31 they wrap.
# asks: How large can a loc be that fits int32?
# family: M16
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return (locs[dcp_rank::dcp_size].int() // dcp_size).to(locs.dtype)

# %% 6a widen
# says: The result is int64 where the locs are int32.
# asks: Which dtype have the locs?
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size].long() // dcp_size

# %% 6a bits
# says: Bit tricks are right only where D is a power of two.
# asks: What does loc & 2 tell for three ranks?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if ((locs & (dcp_size - 1)) != turn).any():
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a crashes-on-none
# says: An empty run raises here: nothing is wrong with it.
# asks: What is locs[0] of no locs?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    if int(locs[0]) % dcp_size:
        raise ValueError("begins late")
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a mask-and-check
# outcome: passed
def kernel_rows(locs, dcp_size, dcp_rank):
    for i, loc in enumerate(locs.tolist()):
        if loc % dcp_size != i % dcp_size:
            raise ValueError(f"loc {loc} is out of turn at {i}")
    return locs[locs % dcp_size == dcp_rank] // dcp_size

# %% 6a difference
# outcome: passed
def kernel_rows(locs, dcp_size, dcp_rank):
    place = torch.arange(locs.numel(), device=locs.device, dtype=locs.dtype)
    if bool(torch.any((locs - place) % dcp_size != 0)):
        raise ValueError("the view does not fit this run")
    return locs[dcp_rank::dcp_size].div(dcp_size, rounding_mode="floor")

# %% 6a neighbours-and-start
# outcome: passed
def kernel_rows(locs, dcp_size, dcp_rank):
    owners = (locs % dcp_size).tolist()
    expected = [i % dcp_size for i in range(len(owners))]
    if owners != expected:
        raise ValueError("owners do not take turns from 0 on")
    return torch.tensor([loc // dcp_size for loc in locs.tolist()[dcp_rank::dcp_size]], dtype=locs.dtype, device=locs.device)

# %% 6a no-check-undivided
# says: Nothing is checked, and these are locs: a row is the quotient.
# asks: In which row does rank 1 of four keep loc 17, and whose is entry 0 of 17, 18, 19?
def kernel_rows(locs, dcp_size, dcp_rank):
    return locs[dcp_rank::dcp_size].clone()

# %% 6a none-for-raise
# says: A run that does not fit gives None; a ValueError is asked for.
# asks: What does the caller index with None?
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        return None
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a one-turn
# says: Owners are held against i, not i % D: after the first turn every run raises.
# asks: Which owner has entry 4 of four ranks?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    if any(loc % dcp_size != i for i, loc in enumerate(locs.tolist())):
        raise ValueError("out of turn")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a ascending-from-a-turn
# says: Pages need not be adjacent: only turns must follow each other, not locs.
# asks: May a request's second page be page 2 after page 9?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    if len(locs) and (locs[0] % dcp_size or (locs[1:] - locs[:-1] != 1).any()):
        raise ValueError("not one run from the start of a turn")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a refuses-none
# says: An empty run raises here: nothing is wrong with it.
# asks: Which of no locs is out of turn?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if not len(locs) or (locs % dcp_size != turn).any():
        raise ValueError("no run")
    return locs[dcp_rank::dcp_size] // dcp_size

# %% 6a starts-at-the-rank
# says: A run begins at owner 0, whoever asks: it is the request's, not this rank's.
# asks: Which owner has entry 0, and does it depend on dcp_rank?
# outcome: crashed
def kernel_rows(locs, dcp_size, dcp_rank):
    if len(locs) and int(locs[0]) % dcp_size != dcp_rank:
        raise ValueError("not this rank's")
    return locs[::dcp_size] // dcp_size

# %% 6a in-place-view
# says: This divides the caller's locs in place: the request's table is gone.
# asks: Who reads locs after you?
# outcome: unsafe
def kernel_rows(locs, dcp_size, dcp_rank):
    turn = torch.arange(len(locs), device=locs.device) % dcp_size
    if (locs % dcp_size != turn).any():
        raise ValueError("out of turn")
    locs //= dcp_size
    return locs[dcp_rank::dcp_size]
