# Answers to 2b: wrong ones, with what each must be told, and other right ones. docs/authoring.md says how one is written.

# %% 2b always-scaled
# says: The target is scaled too: its c-KV is sharded, so a rank needs C rows, not C*D.
# asks: Which of the two pools is whole on every rank?
# family: M12
def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size

# %% 2b never-scaled
# says: The draft is not scaled: whole on every rank, it needs room for every loc.
# asks: Where does rank 0 keep the draft's row for loc 7?
# family: M10
def loc_space_scale(is_draft_worker, dcp_size):
    return 1

# %% 2b inverted
# says: Target and draft are mixed up: it is the draft that is whole on every rank.
# asks: Which of the two pools is addressed by loc?
# family: M12
def loc_space_scale(is_draft_worker, dcp_size):
    return 1 if is_draft_worker else dcp_size

# %% 2b times-flag
# says: A target gets the scale 0, and with it a pool of no rows at all.
# asks: What is dcp_size * False?
def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size * is_draft_worker

# %% 2b flag
# says: A target gets False where the scale 1 is asked for.
# asks: What does `a and b` give when a is False?
def loc_space_scale(is_draft_worker, dcp_size):
    return is_draft_worker and dcp_size

# %% 2b extra-copies
# says: This counts the copies beyond the first; a pool must hold all D of them.
# asks: How many locs are there for each row of a rank?
def loc_space_scale(is_draft_worker, dcp_size):
    return max(dcp_size - 1, 1) if is_draft_worker else 1

# %% 2b page-unscaled
# says: The draft's size is scaled but its page is not: the last one is P long, not P*D.
# asks: How many slots of the allocator's last page have a row behind them?
# family: M10
def pool_page_size(page_size, scale):
    return page_size

# %% 2b page-divided
# says: The page is divided by the scale; counted in locs it grows by that factor.
# asks: Does a page of the allocator hold more locs than P, or fewer?
def pool_page_size(page_size, scale):
    return page_size // scale

# %% 2b page-added
# says: The scale is a factor: a page of P rows becomes P * D locs, not P + D.
# asks: How many locs fill a page on every rank?
def pool_page_size(page_size, scale):
    return page_size + scale

# %% 2b page-twice
# says: The page is scaled twice.
# asks: How many locs fill a page on every rank?
# family: M12
def pool_page_size(page_size, scale):
    return page_size * scale * scale

# %% 2b page-is-scale
# says: This is the factor, not the page that it widens.
# asks: How long is a page of the target's pool, whose scale is 1?
def pool_page_size(page_size, scale):
    return scale

# %% 2b as-it-was
# says: Nothing grows: this is the draft before both pull requests.
# asks: Where does rank 0 keep the draft's row for loc 7, and where does the last page end?
# family: M10
def loc_space_scale(is_draft_worker, dcp_size):
    return 1

def pool_page_size(page_size, scale):
    return page_size

# %% 2b words
# outcome: passed
def loc_space_scale(is_draft_worker, dcp_size):
    if is_draft_worker and dcp_size > 1:
        return dcp_size
    return 1

def pool_page_size(page_size, scale):
    return scale * page_size

# %% 2b power
# outcome: passed
def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size ** int(is_draft_worker)

# %% 2b table
# outcome: passed
def loc_space_scale(is_draft_worker, dcp_size):
    return {True: dcp_size, False: 1}[bool(is_draft_worker)]

# %% 2b and-or
# outcome: passed
def loc_space_scale(is_draft_worker, dcp_size):
    return is_draft_worker and dcp_size or 1

# %% 2b pagefloat
# says: The page is divided by the scale, and a float: counted in locs it grows.
# asks: How many locs does a page of the draft hold?
def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size if is_draft_worker else 1

def pool_page_size(page_size, scale):
    return page_size / scale

# %% 2b inv
# says: The draft gets a part of the pool: it is whole on every rank, times D.
# asks: Is the draft's pool larger or smaller than a rank's share?
def loc_space_scale(is_draft_worker, dcp_size):
    return 1 / dcp_size if is_draft_worker else 1

def pool_page_size(page_size, scale):
    return page_size * scale

# %% 2b const
# says: The page is 64 here, whatever page_size says.
# asks: Which page size do other servers use?
def loc_space_scale(is_draft_worker, dcp_size):
    return dcp_size if is_draft_worker else 1

def pool_page_size(page_size, scale):
    return 64 * scale

# %% 2b one-more
# says: The draft gets D + 1: its scale is D in place of 1, not added to it.
# asks: How many ranks' locs must a draft's pool have room for?
def loc_space_scale(is_draft_worker, dcp_size):
    return 1 + is_draft_worker * dcp_size

def pool_page_size(page_size, scale):
    return page_size * scale
