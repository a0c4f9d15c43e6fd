"""5d: Three servers, three faults"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcplab.course import own_cases
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells


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
    rows = tuple((name, str(said.get(name))) for name in diagnose_by_rule.NAMES)
    return Table(("", "you said"), rows, f"Case {case.args[0]} of seed {got['seed']}.")


def _right(case: Case, got: Any) -> tuple[int, int] | None:
    """How many of the six names of a case are right, or None while one is missing."""
    from dcplab.investigate import diagnose_by_rule

    said = _said(got)
    if any(said.get(name) is None for name in diagnose_by_rule.NAMES):
        return None
    marks = diagnose_by_rule.marks(said, diagnose_by_rule.truth(case.args[0], got["seed"]))
    return sum(marks.values()), len(marks)


WHERE, WHICH = ("op", "buffer", "rank", "rows_available"), ("loc", "its owner", "its row there", "row")


def _cells(tried: Sequence[DrawnCase]) -> Groups:
    """Two lines for each case: the operation that it names, and beside its loc the owner and the row by lab 01's rule. Whether
    the case is named right, not which name is."""
    groups = []
    for one in sorted(tried, key=lambda t: t.case.size):
        said = _said(one.got) if one.got else {}
        loc, ranks = said.get("loc"), _ranks(one.case, one.got) if said else None
        if ranks and type(loc) is int:
            said = said | {"its owner": loc % ranks, "its row there": loc // ranks}
        named = DrawnCell("not yet", right="") if one.wrong else DrawnCell("yes") if one.got else grid_cells.BLANK
        for names, more in ((WHERE, {}), (WHICH, {"named": named})):
            cells = {name: grid_cells.word(said.get(name), None, False) for name in names} | more
            head = Strip(one.case.label, tuple(DrawnCell(name, "header") for name in cells))
            groups.append((head, Strip("yours", tuple(cells.values()))))
    return tuple(groups)


def _ranks(case: Case, got: Any) -> int | None:
    """The ranks of a case's server, or None where the answer names no seed."""
    from dcplab import investigate

    return None if own_cases.seed_sentence(got["seed"]) else investigate.case(case.args[0], got["seed"]).config.dcp_size


def _said(got: Any) -> dict:
    return got["found"] if isinstance(got["found"], dict) else {}


PART = own_cases.part(
    _misnamed,
    _names_table,
    _right,
    id="5d",
    entry="first_wrong",
    title="Three servers, three faults",
    points=20,
    minutes=15,
    cases=_hidden_cases,
    drive=named,
    timeout_s=60.0,
    picture=Shows(whole=_cells, title="Three servers, three faults"),
    question="Which access in the trace is the first whose index is in another space than the buffer's, or beyond its end?",
    hints=(
        "Do not begin where it broke. Ask first whether the fresh server was right: that tells a fault of the "
        "watermark from one that is always there.",
        "layers() tells the layer and the step in which something first differs, lse() whether ranks hold the same keys, "
        "typed() which two spaces met. Halve the steps with typed(until=...). What is left is one step of one layer: "
        "trace(step=..., layer=...).",
        "Hold the ranks of one operation against each other. Of its locs, rank r uses those with loc % D == r on c-KV, at "
        "row loc // D; on index-K every rank uses the loc itself. The first line that does not is it, or the first whose "
        "index is not below the number of places.",
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
