"""Answers filters from the list of accesses: the few that match, or, where many do, what there is to tell them apart by.

A list is never shown unasked: who looks at the first lines of a long list finds what stands there, and not what they look for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dcplab.investigate.access_list import Run, SeenAccess
from dcplab.present.display import Shown
from dcplab.present.text_with_table import Told

LISTED, MOST = 12, 24  # accesses that are listed at once: unless a page is asked for, and at most
PER_LINE = 8  # counts in a line of a summary

Span = int | tuple[int, int]  # a number, or the first and the last of some
Wanted = Mapping[str, int | str | tuple[int, int]]

# What the list can be asked by, in the order in which a summary has it.
BY = {
    "step": lambda s: [s.step],
    "phase": lambda s: [s.phase],
    "request": lambda s: s.requests,
    "layer": lambda s: [] if s.layer is None else [s.layer],
    "rank": lambda s: [s.rank],
    "op": lambda s: [s.op],
    "buffer": lambda s: [s.buffer],
}
HEADER = ("no.", "step", "phase", "rank", "operation", "buffer", "there are", "indices used", "loc of the first", "for")
NOTE = (
    "There are: how many places the buffer has, and what counts them. The loc is that of the token which the smallest index is "
    "for, where it is one that lasts."
)


def answer(head: str, seen: Sequence[SeenAccess], wanted: Wanted, start: int | None = None, count: int = LISTED) -> Shown:
    """Return the accesses that match ``wanted`` as a list, if they are at most LISTED or a page of them is asked for (from
    number ``start`` on), else a summary. ``wanted``: keys of BY, "loc" and "row"."""
    if not wanted:
        says = "Where do you want to look? Name one or more of these, such as trace(step=2, rank=0); loc= and row= too."
        return _summary(f"{head}, {len(seen)} accesses", seen, (), says)
    matching = [s for s in seen if all(matches(s, key, value) for key, value in wanted.items())]
    asked = ", ".join(f"{key}={value!r}" for key, value in wanted.items())
    if not matching:
        return _nothing(head, seen, wanted, asked)
    count = max(1, min(count, MOST))
    page = [s for s in matching if s.number >= (start or 0)][:count]
    if start is None and len(matching) > count:
        says = f"More than {count} match, so they are counted. Name one more, or turn pages with start=0."
        return _summary(f"{head}, {asked}: {len(matching)} of {len(seen)} accesses", matching, tuple(wanted), says)
    if not page:
        page = matching[-count:]
    of = f"{len(matching)} of {len(seen)} accesses match" if len(page) == len(matching) else f"{len(page)} of {len(matching)}"
    return Told(f"{head}, {asked}: {of}", HEADER, [_line(s) for s in page], NOTE)


def matches(seen: SeenAccess, key: str, value: int | str | tuple[int, int]) -> bool:
    """Return True if an access has this step, rank, loc, ...; "row" asks for an index as it was used. Numbers may be a pair,
    the first and the last; a buffer may be all layers' of a kind."""
    if key in ("loc", "row"):
        first, last = pair(value)
        return any(a <= last and first <= b for a, b in (seen.locs if key == "loc" else seen.runs))
    has = BY[key](seen)
    if isinstance(value, tuple):
        first, last = pair(value)
        return any(first <= one <= last for one in has)
    return value in has or (key == "buffer" and seen.buffer.partition(".")[0] == value)


def spans(runs: Sequence[Run], most: int = 3) -> str:
    """Write runs of numbers; of more than ``most`` runs the first ones and the end."""
    shown = ", ".join(f"{a}" if a == b else f"{a}..{b}" for a, b in runs[:most])
    return shown if len(runs) <= most else f"{shown}, ... {runs[-1][1]}"


def pair(value: Any) -> tuple[int, int]:
    """Return the first and the last number that are asked for."""
    first, last = value if isinstance(value, tuple) else (value, value)
    return first, last


def _line(s: SeenAccess) -> tuple:
    whose = "-" if s.loc is None else s.loc
    there = f"{s.slots}, by {s.space.value}"
    return s.number, s.step, s.phase, s.rank, s.op, s.buffer, there, spans(s.runs), whose, ", ".join(s.requests)


def _summary(head: str, matching: Sequence[SeenAccess], but: Sequence[str], says: str) -> Told:
    rows: list[tuple[str, str]] = []
    for name, values in BY.items():
        counts = Counter(value for s in matching for value in values(s))
        if name in but and len(counts) < 2:
            continue
        counted = [f"{value}: {n}" for value, n in sorted(counts.items(), key=lambda pair: (str(type(pair[0])), pair[0]))]
        for i in range(0, len(counted), PER_LINE):
            rows.append((name if i == 0 else "", ", ".join(counted[i : i + PER_LINE])))
    return Told(head, ("by", "accesses"), rows, says)


def _nothing(head: str, seen: Sequence[SeenAccess], wanted: Wanted, asked: str) -> Told:
    """Say what there is, where nothing matches: of the filter that matches nothing by itself, else of the others together."""
    alone = {key: [s for s in seen if matches(s, key, value)] for key, value in wanted.items()}
    missing = next((key for key, matching in alone.items() if not matching), None)
    if missing in ("loc", "row"):
        ends = [end for s in seen for run in (s.locs if missing == "loc" else s.runs) for end in run]
        there = [(missing, f"{min(ends)} to {max(ends)}")]
    elif missing:
        counts = Counter(value for s in seen for value in BY[missing](s))
        there = [(missing, ", ".join(map(str, sorted(counts))))]
    else:
        last = list(wanted)[-1]
        rest = {key: value for key, value in wanted.items() if key != last}
        left = [s for s in seen if all(matches(s, key, value) for key, value in rest.items())]
        if not left:
            return _nothing(head, seen, rest, asked)
        with_rest = ", ".join(f"{key}={value!r}" for key, value in rest.items())
        return _summary(f"{head}, {asked}: nothing matches", left, tuple(rest), f"That is what there is with {with_rest}.")
    return Told(f"{head}, {asked}: nothing matches", ("by", "there are"), there, f"No access has this {missing}.")
