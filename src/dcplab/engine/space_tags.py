"""Typed index spaces: a tensor of indices carries the space it is in, and using it in another space is an error.

SGLang has no such type: a plain int64 tensor can hold any of the spaces, and that is the root of this family of bugs. Here a
tensor is *tagged* where its meaning is known (the request table gives locs, `localize` gives rows) and *expected* where it is
used. A tag is an attribute of the Python object, so arithmetic on a tagged tensor gives an untagged one: a new meaning must be
stated. The engine tags always, at no cost; what a mismatch does is the watcher's choice (`watcher.py`): raise, note, or ignore.
"""

from __future__ import annotations

from enum import Enum

import torch

_TAG = "space"  # the attribute of a tensor that holds it


class Space(Enum):
    """The spaces an index can be in. ``STATE`` is the recurrent state's own slot id, which is never translated."""

    POSITION = "position"
    LOC = "loc"
    ROW = "row"
    INDEX_K_PAGE = "index-K page"
    ALLOCATOR_PAGE = "allocator page"
    RAGGED = "ragged index"
    STATE = "state slot"

    @property
    def an(self) -> str:
        """With its article, for sentences."""
        return f"an {self.value}" if self.value[0] in "aeiou" else f"a {self.value}"


class SpaceError(TypeError):
    """An index of one space was used in another. ``given`` and ``needed`` are the two spaces, ``where`` the place of use."""

    def __init__(self, given: Space | None, needed: Space, where: str, why: str = ""):
        self.given, self.needed, self.where = given, needed, where
        came = "an index of no stated space" if given is None else given.an
        super().__init__(f"{where} takes {needed.an} and was given {came}{': ' + why if why else ''}.")


class ExtentError(SpaceError):
    """A buffer or a bound counts another space than the one it is used with: too few (or too many) for what can be asked of
    it."""

    def __init__(self, where: str, has: int, space: Space, need: int):
        self.given, self.needed, self.where = None, space, where
        TypeError.__init__(self, f"{where} covers {has} of {space.value} space, which has {need}.")


def tag(index: torch.Tensor, space: Space) -> torch.Tensor:
    """State the space of ``index``; returns a tensor over the same memory, so that other names for it keep their own tag."""
    out = index.view(index.shape)
    setattr(out, _TAG, space)
    return out


def space_of(index: torch.Tensor) -> Space | None:
    """The stated space of ``index``, or None."""
    return getattr(index, _TAG, None)
