"""Makes a part *Name the space*: eight drawn snippets, each a case, judged by what its own lines say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.course import own_cases
from dcplab.course.model import Case, Part, Table
from dcplab.course.seeded import Draw
from dcplab.name_the_space import drawing, wording


def of(identity: str, **about: Any) -> Part:
    """Make the part with this id; ``about`` are its points, minutes, hints and prediction, and more of `Part` if need be."""

    def says(case: Case, got: Any) -> str | None:
        n = case.args[0]
        return wording.name_of_the_mistake(n, _said(got)[n - 1], drawing.draw(identity, got["seed"])[n - 1])

    def table(case: Case, got: Any) -> Table:
        rows = []
        for n, (said, snippet) in enumerate(zip(_said(got), drawing.draw(identity, got["seed"]), strict=True), 1):
            halves = " and ".join(wording.not_right(said, snippet))
            why = " ".join(reason.partition(": ")[2] for reason in wording.reasons(said, snippet))
            rows.append((str(n), wording.as_text(said), halves, why))
        return Table(("snippet", "you said", "not right", "why"), tuple(rows), f"Snippets of seed {got['seed']}.")

    about = {"title": "Name the space", "entry": "name_the_space", "question": QUESTION} | about
    return own_cases.part(says, table, id=identity, cases=_cases, drive=named, **about)


QUESTION = "Where does that number come from, what was done to it on its way, and what does the one that takes it expect?"


def _cases(draw: Draw) -> list[Case]:
    return [Case((n,), label=f"snippet {n}", size=n) for n in draw.shuffled(range(1, drawing.COUNT + 1))]


def named(entry, n):
    """Return the seed of an answer, and what it says of each snippet. ``n`` says which of them the case is about."""
    seed, found = entry()
    return {"seed": seed, "found": [found.get(i) for i in range(1, 9)] if isinstance(found, dict) else [None] * 8}


def _said(got: Any) -> Sequence[Any]:
    """Return what an answer says of the eight; nothing where it cannot be read."""
    return got["found"] if isinstance(got["found"], list) else [None] * drawing.COUNT
