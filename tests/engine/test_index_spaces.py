"""The arrows between the index spaces, held against counting and against the figures of the incident."""

import pytest
import torch

from dcplab.engine import index_spaces

SIZES = (1, 2, 3, 4, 8)


@pytest.mark.parametrize("dcp_size", SIZES)
def test_every_loc_has_one_owner_and_comes_back(dcp_size):
    locs = torch.cat([torch.arange(100), torch.arange(2**31 - 3, 2**31 + 9), torch.tensor([2**52 + 1])])
    rows = torch.stack([index_spaces.localize(locs, r, dcp_size) for r in range(dcp_size)])
    assert ((rows >= 0).sum(0) == 1).all()
    for rank in range(dcp_size):
        back = index_spaces.globalize(rows[rank], rank, dcp_size)
        mine = rows[rank] >= 0
        assert torch.equal(back[mine], locs[mine]) and (back[~mine] == -1).all()
    for i, loc in enumerate(locs.tolist()):
        owner = index_spaces.owner_rank(loc, dcp_size)
        assert rows[owner, i] == index_spaces.local_row(loc, dcp_size) == index_spaces.localize(loc, owner, dcp_size)
        assert index_spaces.globalize(index_spaces.local_row(loc, dcp_size), owner, dcp_size) == loc


def test_padding_is_nobodys():
    for rank in range(8):
        assert index_spaces.localize(-1, rank, 8) == -1 == index_spaces.globalize(-1, rank, 8)
        assert index_spaces.localize(torch.tensor([-1]), rank, 8).item() == -1


def test_int32_stays_int32_and_layout_does_not_matter():
    locs = torch.arange(24, dtype=torch.int32).view(4, 6).t()
    got = index_spaces.localize(locs, 1, 3)
    assert got.dtype == torch.int32 and got.shape == (6, 4) and got[4, 0] == 1


@pytest.mark.parametrize(
    ("size", "page_size", "dcp_size", "largest"), [(12, 4, 2, 31), (8, 4, 2, 23), (455_744, 64, 8, 3_646_463), (10, 4, 3, 35)]
)
def test_largest_loc(size, page_size, dcp_size, largest):
    assert index_spaces.largest_loc(size, page_size, dcp_size) == largest
    assert index_spaces.page_locs(size // page_size, page_size, dcp_size)[-1] == largest
    assert index_spaces.local_row(largest, dcp_size) == index_spaces.ckv_rows(size, page_size) - 1


def test_two_page_ids_of_one_loc():
    # P=4, D=2, loc 29: index-K page 7, allocator page 3, whose rows on the owner are 12..15.
    assert (index_spaces.index_k_page(29, 4), index_spaces.allocator_page(29, 4, 2)) == (7, 3)
    assert index_spaces.local_row(29, 2) == 14
    locs = index_spaces.page_locs(3, 4, 2)
    assert locs.tolist() == list(range(24, 32)) and set((locs // 2).tolist()) == {12, 13, 14, 15}
