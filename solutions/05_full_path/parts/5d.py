"""5d: Three servers, three faults"""

from __future__ import annotations

from typing import Any

from dcplab.course import own_cases
from dcplab.course.model import Case, Prediction, Table
from dcplab.course.seeded import Draw


def _hidden_cases(draw: Draw) -> list[Case]:
    return [Case((n,), label=f"case {n}", size=n) for n in draw.shuffled((1, 2, 3))]


def named(entry, n):
    """The seed of an answer, and what it says of case ``n``."""
    seed, found = entry()
    return {"seed": seed, "found": found.get(n) if isinstance(found, dict) else None}


def _misnamed(case: Case, got: Any) -> str | None:
    from dcplab import investigate
    from dcplab.investigate import diagnose_by_rule

    n, seed = case.args[0], got["seed"]
    config = investigate.case(n, seed).config
    return diagnose_by_rule.name_of_the_mistake(n, _said(got), diagnose_by_rule.truth(n, seed), config)


def _names_table(case: Case, got: Any) -> Table:
    from dcplab.investigate import diagnose_by_rule

    said = _said(got)
    marks = diagnose_by_rule.marks(said, diagnose_by_rule.truth(case.args[0], got["seed"]))
    rows = tuple((name, str(said.get(name)), "right" if ok else "not right") for name, ok in marks.items())
    return Table(("", "you said", ""), rows, f"Case {case.args[0]} of seed {got['seed']}.")


def _said(got: Any) -> dict:
    return got["found"] if isinstance(got["found"], dict) else {}


PART = own_cases.part(
    _misnamed,
    _names_table,
    id="5d",
    entry="first_wrong",
    title="Three servers, three faults",
    points=20,
    minutes=15,
    cases=_hidden_cases,
    drive=named,
    timeout_s=60.0,
    question="Which access in the trace is the first whose index is in another space than the buffer's, or beyond its end?",
    hints=(
        "Do not begin where it broke. Ask first whether the fresh server was right: that tells a fault of the "
        "watermark from one that is always there.",
        "layers() tells the layer, lse() whether ranks hold the same keys, typed() and strict() the step. With the "
        "step, look at the trace of that step and read each line: which index does this operation use, and in what "
        "does the buffer count?",
        "trace(step=...) shows the accesses of one step. A c-KV write of a rank should use loc // D of the locs with "
        "loc % D equal to the rank. The first line that does not is it: its loc is the one shown, its row the index "
        "that was used.",
    ),
    prediction=Prediction(
        question=(
            "Somebody compares the first three layers of a hybrid model with a single-rank run and finds no "
            "difference. What does that show?"
        ),
        answer="nothing about later layers",
        because=(
            "In the report's model the first three layers are linear attention and touch no paged cache. The fault can "
            "only begin where the first DSA layer reads."
        ),
        choices=(
            "index-K is right",
            "the c-KV write is right",
            "nothing about later layers",
            "the fault is in the scheduler",
        ),
    ),
)
