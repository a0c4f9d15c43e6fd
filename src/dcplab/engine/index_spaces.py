"""The index spaces and the arrows between them: plain exact functions.

Everything is integer arithmetic, so it is exact for every int64 value and for a ``dcp_size`` that is no power of two.
A function that takes a loc takes an int (and gives an int) or an integer tensor of any shape, device and layout (and gives
a new tensor of the same dtype and shape). -1 means "not here" or padding where a docstring says so; no other negative
index exists. The contract is that of SGLang's ``layers/dcp/layout.py`` and ``allocator/paged.py``.

Ranks take ``interleave`` locs a turn: 1 in SGLang, any divisor of the page elsewhere (vLLM's ``cp_kv_cache_interleave_size``).
D and the interleave together are a *layout*: they say whose a loc is, and where.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import torch

Index = TypeVar("Index", int, torch.Tensor)


class Layout(NamedTuple):
    """How locs are dealt to ranks: ``interleave`` of them to each of ``dcp_size`` ranks in turn. On one rank any interleave is
    the same; `of` says so."""

    dcp_size: int = 1
    interleave: int = 1

    @classmethod
    def of(cls, dcp_size: int, interleave: int) -> Layout:
        """Return the layout; of one rank always the same one."""
        return cls(dcp_size, interleave if dcp_size > 1 else 1)

    def __str__(self) -> str:
        return f"(D = {self.dcp_size}, I = {self.interleave})"


def owner_rank(loc: Index, dcp_size: int, interleave: int = 1) -> Index:
    """Return the DCP rank that stores the c-KV of a loc: ``loc // interleave % dcp_size``. ``loc >= 0``: padding has none."""
    return loc % dcp_size if interleave == 1 else loc // interleave % dcp_size


def local_row(loc: Index, dcp_size: int, interleave: int = 1) -> Index:
    """Return a loc's row on its owner: the rows of whole rounds before it, ``loc // (interleave * dcp_size) * interleave``, and
    its place in its turn. With one loc a turn that is ``loc // dcp_size``. On any other rank that row holds another token.
    ``loc >= 0``."""
    if interleave == 1:
        return loc // dcp_size
    return loc // (interleave * dcp_size) * interleave + loc % interleave


def loc_of(row: Index, dcp_rank: int, dcp_size: int, interleave: int = 1) -> Index:
    """Return the loc in a row of ``dcp_rank``. ``row >= 0``. By the same rule position follows from the row in a request's own
    share, since a request begins on a widened page."""
    if interleave == 1:
        return row * dcp_size + dcp_rank
    return row // interleave * (interleave * dcp_size) + dcp_rank * interleave + row % interleave


def held(length: Index, dcp_rank: int, dcp_size: int, interleave: int = 1) -> Index:
    """Count the positions below ``length`` whose c-KV is on ``dcp_rank``: whole rounds, and its part of the last. Rank 0 has
    the most, up to ``interleave`` more than the last. Ints, or tensors of any shape."""
    if interleave == 1:
        return (length - dcp_rank + dcp_size - 1) // dcp_size
    a_round = interleave * dcp_size
    rest = length % a_round - dcp_rank * interleave
    rest = min(max(rest, 0), interleave) if isinstance(rest, int) else rest.clamp(0, interleave)
    return length // a_round * interleave + rest


def localize(locs: Index, dcp_rank: int, dcp_size: int, interleave: int = 1) -> Index:
    """Map locs to rows of ``dcp_rank``, or to -1 where another rank owns the loc. An input -1 stays -1 on every rank.

    torch and Python floor, C truncates: ``-1 % 8`` is 7 here and -1 in a compiled kernel. The test for a sign makes the rule
    the same in both.
    """
    if isinstance(locs, int):
        mine = locs >= 0 and owner_rank(locs, dcp_size, interleave) == dcp_rank
        return local_row(locs, dcp_size, interleave) if mine else -1
    mine = (locs >= 0) & (owner_rank(locs, dcp_size, interleave) == dcp_rank)
    return torch.where(mine, local_row(locs, dcp_size, interleave), -1)


def globalize(rows: Index, dcp_rank: int, dcp_size: int, interleave: int = 1) -> Index:
    """Map rows of ``dcp_rank`` to locs: the inverse of `localize` on the rows that a rank owns. -1 stays -1."""
    if isinstance(rows, int):
        return loc_of(rows, dcp_rank, dcp_size, interleave) if rows >= 0 else -1
    return torch.where(rows >= 0, loc_of(rows, dcp_rank, dcp_size, interleave), -1)


def widened_page(page_size: int, dcp_size: int) -> int:
    """Return ``W``, the slots in one page of the allocator: ``page_size * dcp_size`` locs."""
    return page_size * dcp_size


def allocator_page(loc: Index, page_size: int, dcp_size: int) -> Index:
    """Return a loc's allocator page, ``loc // (page_size * dcp_size)``. It is also the page of rows that holds the loc on its
    owner, where the interleave divides ``page_size``."""
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
