"""1i: Name the space"""

from __future__ import annotations

from typing import Any

from dcplab.course.model import Case, Part, Prediction, Table
from dcplab.course.seeded import Draw

SNIPPETS = range(1, 9)


def _snippet_cases(draw: Draw) -> list[Case]:
    return [Case((n,), label=f"snippet {n}", size=n) for n in draw.shuffled(SNIPPETS)]


def named(entry, n):
    """The seed of an answer, and what it says of each snippet. ``n`` says which of them the case is about."""
    seed, found = entry()
    return {"seed": seed, "found": [found.get(i) for i in range(1, 9)] if isinstance(found, dict) else [None] * 8}


def _said(got: Any) -> list[Any]:
    """What an answer says of the eight; nothing where it cannot be read."""
    return got["found"] if isinstance(got["found"], list) else [None] * 8


def _misnamed(case: Case, got: Any, expected: Any) -> str | None:
    from dcplab.investigate import diagnose_by_rule
    from dcplab.investigate.name_the_space import drawing, wording

    n, seed = case.args[0], _seed_of(got)
    if says := diagnose_by_rule.seed_sentence(seed):
        return says
    return wording.name_of_the_mistake(n, _said(got)[n - 1], drawing.draw("1i", seed)[n - 1])


def _named_table(case: Case, got: Any, expected: Any) -> Table:
    from dcplab.investigate import diagnose_by_rule
    from dcplab.investigate.name_the_space import drawing, wording

    header = ("snippet", "you said", "not right", "why")
    if diagnose_by_rule.seed_sentence(_seed_of(got)):
        return Table(header, (("", wording.as_text(_seed_of(got)), "no seed", ""),))
    rows = []
    for n, (said, snippet) in enumerate(zip(_said(got), drawing.draw("1i", got["seed"]), strict=True), 1):
        halves = " and ".join(wording.not_right(said, snippet))
        says = wording.name_of_the_mistake(n, said, snippet) or ""
        rows.append((str(n), wording.as_text(said), halves, says.partition(": ")[2]))
    return Table(header, tuple(rows), f"Snippets of seed {got['seed']}.")


def _seed_of(got: Any) -> Any:
    return got["seed"] if isinstance(got, dict) else None


PART = Part(
    id="1i",
    entry="name_the_space",
    title="Name the space",
    points=10,
    minutes=8,
    cases=_snippet_cases,
    drive=named,
    oracle=lambda n: None,
    compare=_misnamed,
    rows=_named_table,
    seed_of=_seed_of,
    by_case=True,
    question="Where does that number come from, and what was it divided by, multiplied with or looked up in on its way?",
    hints=(
        "Do not read the name on the left. Read the right side: what was looked up, and by what was it divided?",
        "Write beside each line the space of what it makes. A table gives what it holds. // D of a loc makes a row, % D a "
        "rank, // P an index-K page, // W an allocator page; // P of a row, or // D of an index-K page, makes an allocator "
        "page too. The first line where the space that you wrote is not the one that is asked for is the line.",
        "For each pair of brackets and each function: the list above the lines says in which space it is read, as in "
        "kv_cache[row]. For each +, < and ==: both sides must be of one space, or base and place as in page * P + place. "
        "Where all of them agree, the answer is 0.",
    ),
    prediction=Prediction(
        question="A line reads rows = req_to_token[req, positions]. In which space are the numbers in rows?",
        answer="loc",
        because="The table decides, not the name: req_to_token holds locs. Nothing has divided them by D, so they are no rows.",
        choices=("position", "loc", "row", "one cannot know"),
    ),
)
