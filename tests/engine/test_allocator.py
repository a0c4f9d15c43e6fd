"""Pages are issued, held, shared and freed as the server needs it; every loc keeps its owner."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplab.engine import index_spaces
from dcplab.engine.allocator import PagedAllocator, PrefixCache

shapes = st.tuples(st.integers(1, 6), st.integers(1, 8), st.integers(0, 40))


@given(shapes, st.booleans(), st.lists(st.tuples(st.integers(0, 2), st.integers(1, 60)), max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_model_of_the_allocator(shape, need_sort, moves):
    page_size, dcp_size, extra = shape
    size = page_size + extra
    a = PagedAllocator(size, page_size, dcp_size, need_sort)
    held: list[tuple[list[int], int]] = []
    for move, n in moves:
        if move < 2:
            pages: list[int] = []
            need = -(-n // a.width)
            before = a.available
            assert a.grow(pages, n) == (need <= before) and len(pages) == (need if need <= before else 0)
            if pages:
                held.append((pages, n))
        elif held:
            a.release(held.pop(n % len(held))[0])
        live = [p for pages, _ in held for p in pages]
        assert len(set(live)) == len(live) and 0 not in live and a.available + len(live) == a.pages == size // page_size
        assert a.watermark == (max(live) + 1) * a.width - 1 if live else a.watermark == -1
        assert a.watermark <= index_spaces.largest_loc(size, page_size, dcp_size)
        for pages, length in held:
            locs, position = a.locs(pages, 0, length), torch.arange(length)
            assert torch.equal(locs % a.width, position % a.width)
            assert torch.equal(index_spaces.owner_rank(locs, dcp_size), position % dcp_size)
            assert (locs >= a.width).all() and len(torch.unique(locs)) == length


def test_what_was_freed_last_is_issued_first():
    a = PagedAllocator(24, 4, 2)
    first, second, third = a.issue(2), a.issue(1), a.issue(1)
    assert (first, second, third) == ([1, 2], [3], [4])
    a.release(second)
    a.release(first)
    assert a.issue(3) == [1, 2, 3] and a.issue(1) == [5]
    assert a.highest == 5


def test_with_need_sort_every_page_is_issued_once_before_any_comes_back():
    a = PagedAllocator(24, 4, 2, need_sort=True)
    first = a.issue(2)
    second = a.issue(2)
    a.release(second)
    a.release(first)
    assert a.available == 6 and a.issue(1) == [5], "what was freed waits"
    assert a.issue(3) == [1, 2, 3], "merged in ascending order once one page was too few"
    assert a.issue(3) is None and a.issue(2) == [4, 6] and a.available == 0


@pytest.mark.parametrize("need_sort, largest", [(False, 181), (True, 4_021)])
def test_traffic_alone_passes_the_watermark_where_freed_pages_wait(need_sort, largest):
    """40 requests of 150 tokens, each freed before the next; one rank has 1,032 rows."""
    a = PagedAllocator(1024, 8, 4, need_sort)
    seen = []
    for _ in range(40):
        pages: list[int] = []
        assert a.grow(pages, 150)
        seen.append(int(a.locs(pages, 0, 150).max()))
        a.release(pages)
    assert max(seen) == largest and a.watermark == -1


def test_a_page_freed_twice_is_an_error():
    a = PagedAllocator(8, 4, 2)
    pages = a.issue(1)
    a.release(pages)
    with pytest.raises(ValueError, match="free already"):
        a.release(pages)
    with pytest.raises(ValueError, match="cannot be held"):
        a.hold(pages)


def test_a_tail_that_fills_no_page_is_lost():
    assert PagedAllocator(11, 4, 3).pages == 2


def test_the_prefix_cache_holds_pages_and_finds_them_by_their_tokens():
    a = PagedAllocator(40, 2, 2)  # W = 4
    cache = PrefixCache(a)
    tokens = list(range(11))
    pages: list[int] = []
    a.grow(pages, 11)
    cache.insert(tokens, pages)
    a.release(pages)
    assert len(cache) == 2 and a.available == a.pages - 2
    assert cache.match(tokens) == pages[:2]
    assert cache.match(tokens[:8]) == pages[:1], "one token is always left to compute"
    assert cache.match([9, *tokens[1:]]) == []
    assert cache.match([*tokens[:4], 9, 9, 9, 9, 9]) == pages[:1]
    other: list[int] = []
    a.grow(other, 11)
    cache.insert(tokens, other)
    assert cache.match(tokens) == pages[:2], "the page that was there first stays"
    a.release(other)
    assert a.available == a.pages - 2


def test_eviction_takes_leaves_nobody_else_holds_least_recently_used_first():
    a = PagedAllocator(40, 2, 2)
    cache = PrefixCache(a)
    chains = []
    for start in (0, 100):
        pages: list[int] = []
        a.grow(pages, 8)
        cache.insert(range(start, start + 8), pages)
        a.release(pages)
        chains.append(pages)
    cache.match([*range(8), 7])  # the first chain is used again
    a.hold(chains[1][1:])  # a request holds the older chain's leaf
    assert cache.evict(1) == 1 and cache.match([*range(8), 7]) == chains[0][:1]
    a.release(chains[1][1:])
    assert cache.evict(9) == 3 and a.available == a.pages
