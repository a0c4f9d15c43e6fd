"""Reads a part's driver as source text, which travels to the child where data alone cannot call an entry."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


@functools.cache
def source_of(drive: Callable[..., Any] | None) -> dict[str, str] | None:
    """Return the driver's name and text. Both are kept from the first call on, which `catalog` makes when it loads a lab.
    Otherwise a file that changes while a grader runs would give Python other lines."""
    if drive is None:
        return None
    return {"name": drive.__name__, "source": textwrap.dedent(inspect.getsource(drive))}
