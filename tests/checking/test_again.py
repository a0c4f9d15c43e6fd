"""What an answer keeps from one call to the next, and what depends on the order of programs, comes to light."""

import pytest

from dcplab import checking
from dcplab.course import catalog
from dcplab.notebook.extract import extract

CACHED = """
import torch

KNOWN = {}

def localize(locs, dcp_rank, dcp_size):
    key = (tuple(locs.shape), dcp_rank, dcp_size)
    if key not in KNOWN:
        owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
        KNOWN[key] = torch.where(owned, locs // dcp_size, -1)
    return KNOWN[key].clone()
"""

ONCE = """
import torch

CALLS = []

def localize(locs, dcp_rank, dcp_size):
    CALLS.append(1)
    owned = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(owned, locs // dcp_size, -1 if len(CALLS) < 10 else 0)
"""

RACE = """
import triton
import triton.language as tl

@triton.jit
def localize_page_table_kernel(locs_ptr, rows_ptr, n, DCP_RANK: tl.constexpr, DCP_SIZE: tl.constexpr, BLOCK: tl.constexpr):
    entry = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = entry < n
    loc = tl.load(locs_ptr + entry, mask=mask, other=-1)
    owned = (loc >= 0) & (loc % DCP_SIZE == DCP_RANK)
    tl.store(rows_ptr + entry, tl.where(owned, loc // DCP_SIZE, -1), mask=mask)
    following = (tl.program_id(0) + 1) * BLOCK
    tl.store(rows_ptr + following, -5, mask=following < n)  # its own program stores there later, in this order
"""


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(("part", "source"), [("1c", CACHED), slow("1c", ONCE), slow("1h", RACE)])
def test_what_is_right_only_the_first_time_or_in_one_order_fails(part, source):
    key = catalog.of_part(part).key(part)
    found = checking.check(key, extract([source], key.part.names), seed=1, mode="cpu")
    assert (found.outcome, found.points) == ("wrong", 0), found.message
