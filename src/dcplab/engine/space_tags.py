"""Typed index spaces: a tensor of indices carries the space it is in, and using it in another space is an error.

SGLang has no such type: a plain int64 tensor can hold any of the spaces, and that is the root of this family of bugs. Here a
tensor is *tagged* where its meaning is known (the request table gives locs, `localize` gives rows) and *expected* where it is
used. A tag is an attribute of the Python object, so arithmetic on a tagged tensor gives an untagged one: a new meaning must be
stated. The engine tags always, at no cost; what a mismatch does is the watcher's choice (`watcher.py`): raise, note, or ignore.

Two spaces are families: rows are those *of* a rank, page ids are those *of* a page size. Such a tag says which, and another
one's is an error too. Locs and rows are moreover of a *layout*, so many ranks that take so many locs a turn: the same number is
another slot on a node where they take more.

A tag says what a number is and nothing of what lies there: a loc of the right space may lead to a slot that holds an older
token. That is asked elsewhere (`dcplab.investigate.identity`).

A tag is a statement, and a statement can be wrong: whoever writes ``tag(positions, Space.ROW)`` by hand is believed. Where the
request is known, at attention, a typed server therefore holds the values against the request table (`RankStep.attend`).
"""

from __future__ import annotations

from enum import Enum

import torch

from dcplab.engine.index_spaces import Layout

_TAG, _OF, _LAYOUT = "space", "space_of_which", "space_layout"  # the attributes of a tensor that hold it


class Space(Enum):
    """The spaces an index can be in. ``STATE`` is the recurrent state's own slot id, which is never translated, and
    ``WINDOW`` the sliding window's; ``POOLED`` counts groups of locs."""

    POSITION = "position"
    LOC = "loc"
    ROW = "row"
    INDEX_K_PAGE = "index-K page"
    ALLOCATOR_PAGE = "allocator page"
    RAGGED = "ragged index"
    STATE = "state slot"
    POOLED = "pooled key"
    WINDOW = "window slot"

    @property
    def an(self) -> str:
        """With its article, for sentences."""
        return f"an {self.value}" if self.value[0] in "aeiou" else f"a {self.value}"


class SpaceError(TypeError):
    """An index of one space was used in another. ``given`` and ``needed`` are the two spaces, ``where`` the place of use;
    ``of`` the given and the needed rank or page size, where the space is the same; ``layouts`` the given and the needed layout,
    where those are what differs."""

    def __init__(
        self,
        given: Space | None,
        needed: Space,
        where: str,
        why: str = "",
        of: tuple[int | None, int | None] = (None, None),
        layouts: tuple[Layout | None, Layout | None] = (None, None),
    ):
        self.given, self.needed, self.where, self.of, self.layouts = given, needed, where, of, layouts
        came = "an index of no stated space" if given is None else _of(given, of[0], layouts[0])
        super().__init__(f"{where} takes {_of(needed, of[1], layouts[1])} and was given {came}{': ' + why if why else ''}.")


class ExtentError(SpaceError):
    """A buffer or a bound counts another space than the one it is used with: too few (or too many) for what can be asked of
    it."""

    def __init__(self, where: str, has: int, space: Space, need: int):
        self.given, self.needed, self.where = None, space, where
        TypeError.__init__(self, f"{where} covers {has} of {space.value} space, which has {need}.")


class TagError(SpaceError):
    """An index has the right tag, and its values cannot be what it says."""

    def __init__(self, where: str, index: int, space: Space, why: str):
        self.given = self.needed = space
        self.where, self.of = where, (None, None)
        TypeError.__init__(self, f"{where} was given {index}, tagged {space.an}: {why}.")


def _of(space: Space, which: int | None, layout: Layout | None = None) -> str:
    """Name the space with its article, the rank or page size that it is of, and the layout."""
    of = [_FAMILY.get(space, "{}").format(which)] if which is not None else []
    of += [str(layout)] if layout is not None else []
    return " of ".join([space.an, *of])


_FAMILY = {Space.ROW: "rank {}", Space.INDEX_K_PAGE: "{} slots", Space.ALLOCATOR_PAGE: "{} rows"}


def tag(index: torch.Tensor, space: Space, of: int | None = None, layout: Layout | None = None) -> torch.Tensor:
    """State the space of ``index``, the rank or page size that it is ``of``, and of locs and rows the ``layout``; returns a
    tensor over the same memory, so that other names for it keep their own tag."""
    out = index.view(index.shape)
    setattr(out, _TAG, space)
    setattr(out, _OF, of)
    setattr(out, _LAYOUT, layout)
    return out


def space_of(index: torch.Tensor) -> Space | None:
    """Return the stated space of ``index``, or None."""
    return getattr(index, _TAG, None)


def of_which(index: torch.Tensor) -> int | None:
    """Return the rank whose rows ``index`` holds, or the page size that its page ids count in, or None where that was not
    stated."""
    return getattr(index, _OF, None)


def layout_of(index: torch.Tensor) -> Layout | None:
    """Return the layout whose loc or row ``index`` is, or None where that was not stated."""
    return getattr(index, _LAYOUT, None)


def retag(index: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """State of ``index`` what was stated of ``like``."""
    space = space_of(like)
    return index if space is None else tag(index, space, of_which(like), layout_of(like))
