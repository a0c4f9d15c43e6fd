"""The index spaces and the arrows between them: plain exact functions.

Everything is integer arithmetic, so it is exact for every int64 value and for a ``dcp_size`` that is no power of two.
A function that takes a loc takes an int (and gives an int) or an integer tensor of any shape, device and layout (and gives
a new tensor of the same dtype and shape). -1 means "not here" or padding where a docstring says so; no other negative
index exists. The contract is that of SGLang's ``layers/dcp/layout.py`` (interleave 1) and ``allocator/paged.py``.
"""

from __future__ import annotations

from typing import TypeVar

import torch

Index = TypeVar("Index", int, torch.Tensor)


def owner_rank(loc: Index, dcp_size: int) -> Index:
    """Return the DCP rank that stores the c-KV of a loc: ``loc % dcp_size``. ``loc >= 0``: padding has no owner."""
    return loc % dcp_size


def local_row(loc: Index, dcp_size: int) -> Index:
    """Return a loc's row on its owner: ``loc // dcp_size``. On any other rank that row holds another token. ``loc >= 0``."""
    return loc // dcp_size


def localize(locs: Index, dcp_rank: int, dcp_size: int) -> Index:
    """Map locs to rows of ``dcp_rank``, or to -1 where another rank owns the loc. An input -1 stays -1 on every rank.

    torch and Python floor, C truncates: ``-1 % 8`` is 7 here and -1 in a compiled kernel. The test for a sign makes the rule
    the same in both.
    """
    if isinstance(locs, int):
        return locs // dcp_size if locs >= 0 and locs % dcp_size == dcp_rank else -1
    mine = (locs >= 0) & (locs % dcp_size == dcp_rank)
    return torch.where(mine, locs // dcp_size, -1)


def globalize(rows: Index, dcp_rank: int, dcp_size: int) -> Index:
    """Map rows of ``dcp_rank`` to locs: the inverse of `localize` on the rows that a rank owns. -1 stays -1."""
    if isinstance(rows, int):
        return rows * dcp_size + dcp_rank if rows >= 0 else -1
    return torch.where(rows >= 0, rows * dcp_size + dcp_rank, -1)


def widened_page(page_size: int, dcp_size: int) -> int:
    """Return ``W``, the slots in one page of the allocator: ``page_size * dcp_size`` locs."""
    return page_size * dcp_size


def allocator_page(loc: Index, page_size: int, dcp_size: int) -> Index:
    """Return a loc's allocator page, ``loc // (page_size * dcp_size)``. It is also the page of rows that holds the loc on its
    owner."""
    return loc // widened_page(page_size, dcp_size)


def index_k_page(loc: Index, page_size: int) -> Index:
    """Return a loc's index-K page, ``loc // page_size``: index-K is replicated and addressed by loc, so D plays no part."""
    return loc // page_size


def page_locs(page: int, page_size: int, dcp_size: int) -> torch.Tensor:
    """List the ``page_size * dcp_size`` locs of an allocator page, ascending. 1-D int64 on the CPU."""
    width = widened_page(page_size, dcp_size)
    return torch.arange(page * width, (page + 1) * width, dtype=torch.int64)


def largest_loc(size: int, page_size: int, dcp_size: int) -> int:
    """Return the largest loc that the allocator can issue. ``size`` is the capacity C of one rank in rows, spare page not
    counted.

    Page 0 is never issued and only whole pages are, so the last page is ``size // page_size``:
    C=455,744, P=64, D=8 gives 3,646,463.
    """
    return (size // page_size + 1) * widened_page(page_size, dcp_size) - 1


def loc_slots(size: int, page_size: int, dcp_size: int) -> int:
    """Count the slots that a buffer addressed by loc must have: `largest_loc` + 1, which is ``(C + P) * D`` where P divides
    C."""
    return largest_loc(size, page_size, dcp_size) + 1


def ckv_rows(size: int, page_size: int) -> int:
    """Count the rows that one rank's c-KV of one layer must have to hold every row of an issued loc: ``(C // P + 1) * P``.

    The pool itself is built with ``size + page_size`` rows, which is the same where P divides C and a few rows more where not.
    """
    return (size // page_size + 1) * page_size
