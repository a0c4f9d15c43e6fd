"""6d: What else was in the bed?"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from dcplab.course.cases import numbered
from dcplab.course.model import Case, Part, Prediction, Table
from dcplab.course.seeded import Draw

SERVERS = (
    ("c-KV only", {"ckv"}),
    ("c-KV and index-K", {"ckv", "index_k"}),
    ("with a draft", {"ckv", "index_k", "draft"}),
    ("with recurrent state", {"ckv", "index_k", "recurrent"}),
    ("with all four", {"ckv", "index_k", "draft", "recurrent"}),
    ("c-KV and recurrent state", {"ckv", "recurrent"}),
    ("c-KV and a draft", {"ckv", "draft"}),
)


def _cases(draw: Draw) -> list[Case]:
    """Every server, with every set that a restore on it can have written."""
    made = []
    for name, kinds in SERVERS:
        subsets = [set(some) for n in range(len(kinds) + 1) for some in combinations(sorted(kinds), n)]
        for one in draw.shuffled(subsets):
            made.append((f"{name}; restored: {', '.join(sorted(one)) or 'nothing'}", (one, set(kinds))))
    return numbered(made)


def _rows(case: Case, got: Any, expected: Any) -> Table:
    restored, kinds = case.args
    told = [", ".join(sorted(some)) or "nothing" for some in (kinds, restored)]
    return Table(("the server has", "restored by locs", "yours", "expected"), ((*told, repr(got), repr(expected)),))


PART = Part(
    id="6d",
    entry="restore_is_complete",
    title="What else was in the bed?",
    points=10,
    minutes=5,
    cases=_cases,
    rows=_rows,
    question="Which of this server's pools are read by loc, and which has ids of its own?",
    hints=(
        "Go through the four kinds. Which of them would a reader look up by a loc that changed?",
        "c-KV, index-K and the draft are addressed by loc. Recurrent state is addressed by the request's slot, and new "
        "locs say nothing about that.",
        'What must have been written is all the server has but "recurrent", and nothing else may have been. Compare two sets.',
    ),
    prediction=Prediction(
        question="c-KV came back to the new locs, index-K did not. Which sign do you see first?",
        answer="top-k chooses other positions",
        because=(
            "The indexer reads what the pages' last holder left at the new locs. Every index is in range and every c-KV row is "
            "right; only the set that top-k chose differs from what it was before."
        ),
        choices=("a crash", "NaN in the output", "top-k chooses other positions", "nothing ever"),
    ),
)
