import torch

from dcplab.engine import index_spaces
from dcplab.engine.allocator import PagedAllocator, PrefixCache


def test_pages_are_issued_from_the_first_and_come_back():
    pages = PagedAllocator(24, 4, 2)
    assert pages.issue(2) == [1, 2]
    assert pages.issue(5) is None
    pages.release([1, 2])
    assert pages.available == pages.pages == 6


def test_two_holders_of_a_page():
    pages = PagedAllocator(24, 4, 2)
    held = pages.issue(1)
    pages.hold(held)
    pages.release(held)
    assert pages.available == 5
    pages.release(held)
    assert pages.available == 6


def test_locs_keep_the_owner_of_their_position():
    pages = PagedAllocator(24, 4, 2)
    locs = pages.locs([3, 1], 0, 16)
    assert locs.tolist() == [*range(24, 32), *range(8, 16)]
    assert torch.equal(locs % 2, torch.arange(16) % 2)


def test_a_prefix_is_found_again():
    pages = PagedAllocator(24, 4, 1)
    cache = PrefixCache(pages)
    held = pages.issue(2)
    cache.insert(list(range(8)), held)
    pages.release(held)
    assert cache.match(list(range(9))) == held
    assert cache.match([9, *range(8)]) == []
    cache.clear()
    assert pages.available == 6


def test_rows_and_locs_are_each_others_inverse():
    locs = torch.arange(16)
    for rank in range(2):
        rows = index_spaces.localize(locs, rank, 2)
        assert torch.equal(index_spaces.globalize(rows[rows >= 0], rank, 2), locs[locs % 2 == rank])
