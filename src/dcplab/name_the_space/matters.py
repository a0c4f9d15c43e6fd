"""Says what the snippets of each part are about."""

from __future__ import annotations

from dcplab.name_the_space import index_spaces, norope_write, ragged_extend, retraction, sizing
from dcplab.name_the_space.words import Matter

MATTERS = {
    "1i": index_spaces.MATTER,
    "2i": sizing.MATTER,
    "3h": norope_write.MATTER,
    "4h": ragged_extend.MATTER,
    "6g": retraction.MATTER,
}


def of(part: str) -> Matter:
    """Return what the snippets of a part, such as "1i", are about."""
    return MATTERS[part]
