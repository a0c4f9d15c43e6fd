# %% 91a no-filter
# says: Every rank took every loc: nothing selected an owner.
# asks: Who owns loc 1?
# family: M3
def localize(locs, dcp_rank, dcp_size):
    return torch.where(locs >= 0, locs // dcp_size, -1)

# %% 91a in-place
# says: The input itself was changed.
# asks: Who else reads these locs?
# outcome: unsafe
def localize(locs, dcp_rank, dcp_size):
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    locs.copy_(torch.where(mine, locs // dcp_size, -1))
    return locs.clone()

# %% 91a python-list
# says: A list is no tensor.
# asks: What did you return?
def localize(locs, dcp_rank, dcp_size):
    return [row // dcp_size if row >= 0 and row % dcp_size == dcp_rank else -1 for row in locs.flatten().tolist()]

# %% 91a raises
# says: dcp_size is an int, not a tensor.
# asks: What is the type of dcp_size?
# outcome: crashed
def localize(locs, dcp_rank, dcp_size):
    return locs // dcp_size.item()

# %% 91a divide-first
# outcome: passed
def localize(locs, dcp_rank, dcp_size):
    rows = locs.div(dcp_size, rounding_mode="floor")
    return torch.where(rows * dcp_size + dcp_rank == locs, rows, torch.full_like(rows, -1))
