"""A part's driver as source text: what travels to the child where an entry cannot be called with data alone."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable


def source_of(drive: Callable | None) -> dict[str, str] | None:
    if drive is None:
        return None
    return {"name": drive.__name__, "source": textwrap.dedent(inspect.getsource(drive))}
