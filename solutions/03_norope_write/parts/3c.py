"""3c: Who must not divide"""

from __future__ import annotations

from collections.abc import Sequence

from dcplab.course.cases import numbered
from dcplab.course.cells import DrawnCase, Groups
from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells


def _localize_pool_cases(draw: Draw) -> list[Case]:
    kinds = ("target", "draft", "unified_resolved")
    sizes = [("two ranks", 2), ("one rank", 1), (f"{(odd := 2 * draw.int(1, 6) + 1)} ranks", odd), ("eight ranks", 8)]
    return numbered([(f"{kind}, {label}", (kind, d)) for label, d in sizes for kind in kinds])


def _place(case: Case) -> tuple[str, str]:
    kind, ranks = case.args
    return kind, f"{ranks} rank{'s' * (ranks > 1)}"


def _cells(tried: Sequence[DrawnCase]) -> Groups:
    return (grid_cells.grid("pool", sorted(tried, key=lambda t: t.case.args[1]), _place),)


PART = Part(
    id="3c",
    entry="should_localize",
    title="Who must not divide",
    points=10,
    minutes=3,
    cases=_localize_pool_cases,
    question=("What are the ids that this pool is written by: locs of all ranks, or rows of this one? And is it split at all?"),
    hints=(
        "Localizing is right once, and only for a pool that is split. Go through the three kinds.",
        "The target's c-KV is split and is given locs. The draft's is whole on every rank. The unified pool is split "
        "too, but its caller has turned the ids into rows already.",
        'Only "target" localizes, and only where there is more than one rank. Make it a bool with a comparison.',
    ),
    prediction=Prediction(
        question=(
            "Four ranks. Somebody localizes the writes to the draft's pool, which every rank reads by loc. What is lost?"
        ),
        answer="most of the draft's tokens, and it guesses worse",
        because=(
            "A rank stores only its own quarter, in other rows than are read. The draft then proposes nonsense; the target "
            "rejects it, so answers stay right and the server becomes slow."
        ),
        choices=(
            "nothing",
            "the answer's first word",
            "most of the draft's tokens, and it guesses worse",
            "the target's c-KV",
        ),
    ),
    picture=Shows(whole=_cells, title="Is this write localized?"),
)
