"""Asks of every read: is what lies here still what was put here, and did what belongs to it come along?

Typed spaces cannot ask it. A loc of the right space, inside its buffer, may lead to a slot that holds another token: one that
was there before (stale), one that was written over it, or none. So each write is noted with the token that it was for, and each
read is held against the last write of its slot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dcplab.investigate import trace_filters
from dcplab.investigate.access_list import KeptToken, SeenAccess
from dcplab.investigate.trace_filters import Wanted
from dcplab.present.display import Shown
from dcplab.present.text_with_table import Told

OWN, ANOTHER, NOBODY = "its own", "another token's", "nobody's"
OUTCOMES = (OWN, ANOTHER, NOBODY)
MOST = 24  # lines of a history


class Write(NamedTuple):
    """The last write of a slot. ``token``: what it was for; None where no running request held that loc."""

    step: int
    op: str
    buffer: str
    token: KeptToken | None


class SlotUse(NamedTuple):
    """One slot in one access: who wrote there last (None: nobody so far), and for a read what it found, one of OUTCOMES."""

    access: SeenAccess
    slot: int
    token: KeptToken | None
    last: Write | None
    outcome: str


def uses(seen: Sequence[SeenAccess]) -> Iterator[SlotUse]:
    """Go through the accesses in order, slot by slot. A read whose slot is for no token (the end of a page, a buffer of one
    step) is left out."""
    wrote: dict[tuple[int, str, int], Write] = {}
    for access in seen:
        leads = {index: (buffer, slot) for index, buffer, slot in access.beyond}
        for first, last in access.runs:
            for index in range(first, last + 1):
                token = access.tokens.get(index)
                buffer, slot = leads.get(index, (access.buffer, index))
                place = (access.rank, buffer, slot)
                before = wrote.get(place)
                if access.write:
                    wrote[place] = Write(access.step, access.op, access.buffer, token)
                    yield SlotUse(access, index, token, before, "")
                elif token is not None:
                    yield SlotUse(access, index, token, before, _outcome(token, before))


def answer(head: str, seen: Sequence[SeenAccess], wanted: Wanted) -> Shown:
    """Say of each buffer how many reads found what was put there for them; of what is ``wanted`` (keys of
    `trace_filters.matches`) each write, and each read that found something else than the read before."""
    return _history(head, seen, wanted) if wanted else _counts(head, seen)


def counts(seen: Sequence[SeenAccess]) -> dict[str, Counter[str]]:
    """Count, by buffer, what reads found: see OUTCOMES."""
    by: dict[str, Counter[str]] = {}
    for use in uses(seen):
        if use.outcome:
            by.setdefault(use.access.buffer, Counter())[use.outcome] += 1
    return by


def _outcome(token: KeptToken, last: Write | None) -> str:
    if last is None:
        return NOBODY
    was = last.token
    if was is None or was.position != token.position:
        return ANOTHER
    return OWN if was.text == token.text or (was.text is None and was.request == token.request) else ANOTHER


def _counts(head: str, seen: Sequence[SeenAccess]) -> Told:
    rows = [(buffer, *(each[what] for what in OUTCOMES)) for buffer, each in sorted(counts(seen).items())]
    return Told(
        f"{head}: what lies where a token is read",
        ("buffer", *OUTCOMES),
        rows,
        "Slots that were read for a token, on all ranks. Its own: last written for the same position after the same words. "
        "Ask on with loc=, row=, rank=, buffer=, step= or request=.",
    )


def _history(head: str, seen: Sequence[SeenAccess], wanted: Wanted) -> Told:
    rows: list[tuple] = []
    before: dict[tuple[int, str, int], tuple] = {}
    for use in uses(seen):
        a, place = use.access, (use.access.rank, use.access.buffer, use.slot)
        if not all(_asked(use, key, value) for key, value in wanted.items()):
            continue
        state = (a.write, use.token, use.last)
        if not a.write and before.get(place) == state:
            continue
        before[place] = state
        rows.append((a.step, a.rank, a.op, a.buffer, use.slot, _words(use.token), _lay(use.last), use.outcome or "written"))
    asked = ", ".join(f"{key}={value!r}" for key, value in wanted.items())
    note = f"The first {MOST} of {len(rows)}." if len(rows) > MOST else "A read is shown where it found something new."
    return Told(
        f"{head}, {asked}",
        ("step", "rank", "operation", "buffer", "index", "for", "what lay there", "found"),
        rows[:MOST] or [("-",) * 8],
        note if rows else "Nothing matches: identity() says which buffers there are, trace() the rest.",
    )


def _asked(use: SlotUse, key: str, value: int | str | tuple[int, int]) -> bool:
    """Return True if one slot of an access is asked for; "loc" is asked of the slot's own."""
    if key not in ("loc", "row"):
        return trace_filters.matches(use.access, key, value)
    number = use.slot if key == "row" else use.access.loc_of(use.slot)
    first, last = trace_filters.pair(value)
    return number is not None and first <= number <= last


def _lay(last: Write | None) -> str:
    return "nothing" if last is None else f"{_words(last.token)}, {last.op} on {last.buffer}, step {last.step}"


def _words(token: KeptToken | None) -> str:
    return "no request's" if token is None else f"{token.name}, position {token.position}"
