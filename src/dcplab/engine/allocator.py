"""The paged allocator and the prefix cache that holds its pages. Everything here is in locs and allocator pages, on the host.

Stands for SGLang's ``PagedTokenToKVPoolAllocator(size * D, page_size * D)`` and its radix cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dcplab.engine import index_spaces
from dcplab.engine.space_tags import Space, tag


class DoubleFree(ValueError):
    """A page that nobody holds was freed."""


class PagedAllocator:
    """Issues allocator pages 1 .. ``size // page_size``; page 0 is never issued, for padding tokens may write there.

    Freed pages come back first (last freed, first issued), so the watermark rises only while low pages stay held. With
    ``need_sort``, as on the prefill and decode nodes of a disaggregated server, they wait, and join the free ones in ascending
    order when these run short: then every page is issued once before any comes back, and traffic alone raises the watermark.
    A page has a count of holders, requests and the prefix cache alike, and is free again when the last one lets go. Not
    ``counted``, it is a free list that takes what it is given, a page that is in it already too. The ``interleave`` changes
    no loc and no page: it says only whose a loc is.
    """

    def __init__(
        self, size: int, page_size: int, dcp_size: int, need_sort: bool = False, counted: bool = True, interleave: int = 1
    ):
        self.size, self.page_size, self.dcp_size, self.need_sort = size, page_size, dcp_size, need_sort
        self.counted = counted
        self.width = index_spaces.widened_page(page_size, dcp_size)
        self.layout = index_spaces.Layout.of(dcp_size, interleave)
        self.pages = size // page_size
        self._free = list(range(self.pages, 0, -1))  # issued from the end
        self._staged: list[int] = []  # freed, and not yet among the free ones: with need_sort only
        self._holders = [0] * (self.pages + 1)
        self.highest = 0  # the largest page ever issued

    @property
    def available(self) -> int:
        """Free pages, those that wait among them."""
        return len(self._free) + len(self._staged)

    @property
    def watermark(self) -> int:
        """The largest live loc: the last one of the largest page that somebody holds, or -1."""
        for page in range(self.pages, 0, -1):
            if self._holders[page]:
                return (page + 1) * self.width - 1
        return -1

    def issue(self, count: int) -> list[int] | None:
        """Issue ``count`` pages, each with one holder; None, and nothing issued, if there are not so many."""
        if count > self.available:
            return None
        if count > len(self._free):
            self._free, self._staged = sorted(self._free + self._staged, reverse=True), []
        pages = [self._free.pop() for _ in range(count)]
        for page in pages:
            self._holders[page] = 1
        self.highest = max([self.highest, *pages])
        return pages

    def hold(self, pages: Sequence[int]) -> None:
        """Add a holder to each of these pages."""
        for page in pages:
            if self.counted and not self._holders[page]:
                raise ValueError(f"Allocator page {page} is free and cannot be held.")
            self._holders[page] += 1

    def release(self, pages: Sequence[int]) -> None:
        """Take a holder from each of these pages, and free a page that has none left. DoubleFree for one that is free: it would
        be issued to two requests."""
        freed = []
        for page in pages:
            if self.counted and not self._holders[page]:
                raise DoubleFree(f"Allocator page {page} is free already.")
            self._holders[page] = max(0, self._holders[page] - 1)
            if not self._holders[page]:
                freed.append(page)
        (self._staged if self.need_sort else self._free).extend(sorted(freed, reverse=True))

    def holders(self, page: int) -> int:
        return self._holders[page]

    def pages_needed(self, held: int, length: int) -> int:
        """Count the pages that a request with ``held`` pages lacks for ``length`` positions."""
        return max(0, -(-length // self.width) - held)

    def grow(self, pages: list[int], length: int) -> bool:
        """Append to ``pages`` what ``length`` positions need: the allocation of extend and decode. False, and no change, if
        short."""
        new = self.issue(self.pages_needed(len(pages), length))
        if new is None:
            return False
        pages.extend(new)
        return True

    def locs(self, pages: Sequence[int], start: int, end: int) -> torch.Tensor:
        """Return the locs of positions ``start .. end - 1`` of a request that holds ``pages``: int64 on the host, tagged.

        Position p is at offset ``p % W`` of page ``p // W`` of the request, so ``loc % W == p % W``, and the owner of a
        loc is the owner of its position, whatever divisor of the page the interleave is.
        """
        position = torch.arange(start, end, dtype=torch.int64)
        page = torch.tensor(pages, dtype=torch.int64)[position // self.width] if end > start else position
        return tag(page * self.width + position % self.width, Space.LOC, layout=self.layout)


@dataclass
class _Node:
    page: int
    parent: int
    key: tuple[Any, ...]
    children: int = 0
    used: int = 0


class PrefixCache:
    """Whole pages of finished requests, found again by their tokens. It is a holder of its pages, and lets go when asked to.

    A page is known by the page before it and its own ``W`` tokens, so a chain of pages is a prefix.
    """

    def __init__(self, allocator: PagedAllocator):
        self.allocator = allocator
        self._nodes: dict[tuple[Any, ...], _Node] = {}
        self._by_page: dict[int, _Node] = {}
        self._clock = 0

    def __len__(self) -> int:
        return len(self._nodes)

    def match(self, tokens: Sequence[int]) -> list[int]:
        """Return the pages of the longest cached prefix. At least one token is left over: a request must compute something."""
        width, pages, parent = self.allocator.width, [], 0
        for start in range(0, (len(tokens) - 1) // width * width, width):
            node = self._nodes.get((parent, tuple(tokens[start : start + width])))
            if node is None:
                break
            self._clock += 1
            node.used = self._clock
            parent = node.page
            pages.append(parent)
        return pages

    def insert(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        """Keep the whole pages of a request; where a page with these tokens is cached already, the old one stays."""
        width, parent = self.allocator.width, 0
        for i in range(len(tokens) // width):
            key = (parent, tuple(tokens[i * width : (i + 1) * width]))
            node = self._nodes.get(key)
            if node is None:
                self._clock += 1
                node = _Node(pages[i], parent, key, used=self._clock)
                self.allocator.hold([node.page])
                self._nodes[key] = self._by_page[node.page] = node
                if parent:
                    self._by_page[parent].children += 1
            parent = node.page

    def evict(self, count: int) -> int:
        """Free up to ``count`` pages that nobody else holds, least recently used first, leaves before their parents."""
        freed = 0
        while freed < count:
            leaves = [n for n in self._nodes.values() if not n.children and self.allocator.holders(n.page) == 1]
            if not leaves:
                break
            self._drop(min(leaves, key=lambda n: n.used))
            freed += 1
        return freed

    def clear(self) -> None:
        """Let go of every page."""
        while self._nodes:
            self._drop(next(n for n in self._nodes.values() if not n.children))

    def _drop(self, node: _Node) -> None:
        del self._nodes[node.key], self._by_page[node.page]
        if node.parent:
            self._by_page[node.parent].children -= 1
        self.allocator.release([node.page])
