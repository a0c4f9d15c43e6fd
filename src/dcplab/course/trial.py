"""Records a program's behaviour on the cases of a part, as data. The sandbox writes it, the judge reads it, `present` words
it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GUARDED = ("outside", "again", "needless")  # kinds of events that the interpreter's guard reports
ONLY_IF_RIGHT = ("shares", "again", "needless")  # kinds that are told only where the values are right
LOGIC = "logic"  # a doubt: the interpreter kept one side of `and` or `or` between blocks, so accesses prove nothing


def accesses_known(record: Mapping[str, Any]) -> bool:
    """Return True if the interpreter ran a launch to its end as a compiler would, so that its events are all there are."""
    return "events" in record and "raised" not in record and all(kind != LOGIC for kind, _ in record.get("doubts", ()))


@dataclass
class Trial:
    """The records of one program, by case number, up to its end. ``status`` is "done" or the way its child ended (see
    ``pool.Run``).

    A record holds ``returned`` or ``written`` (by buffer or argument), or ``raised``. ``events``: accesses to forbidden memory.
    ``accesses``: of a small launch in the interpreter, which program read or wrote which elements (`access_record`).
    ``doubts``: ``(kind, dtype)`` of operations that the interpreter computes wrongly. ``too_large``: set if the result is too
    large to send.
    """

    records: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    load_error: Mapping[str, Any] | None = None
    status: str = "died"
    exit: int | None = None
    stdout: str = ""
    stderr: str = ""
    stuck: str = ""
    own_s: float = 0.0
    watched: Trial | None = None  # the same kernel's run in the interpreter, beside its run on a GPU
