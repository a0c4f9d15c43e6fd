"""A part's driver as source text: what travels to the child where an entry cannot be called with data alone."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable


@functools.cache
def source_of(drive: Callable | None) -> dict[str, str] | None:
    """The driver's name and text. Kept from the first call on, which `catalog` makes when it loads a lab: the file may change
    while a grader runs, and what Python then reads out of it are other lines."""
    if drive is None:
        return None
    return {"name": drive.__name__, "source": textwrap.dedent(inspect.getsource(drive))}
