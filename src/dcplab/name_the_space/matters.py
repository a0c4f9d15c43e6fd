"""Says what the snippets of each part are about."""

from __future__ import annotations

from dcplab.name_the_space import index_spaces
from dcplab.name_the_space.words import Matter

MATTERS = {
    "1i": index_spaces.MATTER,
}


def of(part: str) -> Matter:
    """Return what the snippets of a part, such as "1i", are about."""
    return MATTERS[part]
