"""What a program did on the cases of a part, as data: the sandbox writes it, the judge reads it, `present` words it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LOGIC = "logic"  # a doubt: the interpreter kept one side of `and` or `or` between blocks, so what was touched proves nothing


@dataclass
class Trial:
    """``records`` by case number, as far as it got. ``status`` is "done" or how its child ended (see ``pool.Run``).

    A record holds ``returned`` or ``written`` (by buffer or argument), or ``raised``; ``events``: memory touched that must not
    be; ``doubts``: ``(kind, dtype)`` of what the interpreter computes wrongly; ``too_large`` where the result cannot travel.
    """

    records: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    load_error: Mapping[str, Any] | None = None
    status: str = "died"
    exit: int | None = None
    stdout: str = ""
    stderr: str = ""
    stuck: str = ""
    wall_s: float = 0.0
    watched: Trial | None = None  # a kernel's run in the interpreter, beside the one on a GPU
