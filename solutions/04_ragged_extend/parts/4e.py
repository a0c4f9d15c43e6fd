"""4e: Which transform for which batch?"""

from __future__ import annotations

from collections.abc import Sequence

from dcplab.course.cases import numbered
from dcplab.course.cells import DrawnCase, Groups
from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells

MODES = ("extend", "mixed", "decode", "target_verify")


def _mode_cases(draw: Draw) -> list[Case]:
    asked = [(mode, sharded) for sharded in (True, False) for mode in draw.shuffled(MODES)]
    return numbered([(f"{mode}, {'sharded' if sharded else 'not sharded'}", (mode, sharded)) for mode, sharded in asked])


def _place(case: Case) -> tuple[str, str]:
    mode, sharded = case.args
    return mode, "sharded" if sharded else "not sharded"


def _cells(tried: Sequence[DrawnCase]) -> Groups:
    return (grid_cells.grid("batch", sorted(tried, key=lambda t: MODES.index(t.case.args[0])), _place),)


PART = Part(
    id="4e",
    entry="choose_transform",
    title="Which transform for which batch?",
    points=10,
    minutes=5,
    cases=_mode_cases,
    question="In this batch, does attention read the pool, or a workspace that was gathered for it?",
    hints=(
        "The transform must fit the buffer that attention reads. So ask what it reads, not what the batch is called.",
        "A gather happens where there is a prefix on other ranks and no merge: in extend and in mixed, if c-KV is sharded. "
        "decode and target_verify read the pool, and merge.",
        'RAGGED if dcp_sharded and mode is one of "extend" and "mixed"; PAGED in every other case.',
    ),
    prediction=Prediction(
        question=(
            "A mixed batch, c-KV sharded: a prompt with 10 cached and 5 new tokens, and a request that decodes its 9th "
            "token. How many rows has the workspace?"
        ),
        answer="24",
        because=(
            "10 + 5 of the prompt, and 8 + 1 of the request that decodes: the gather runs for the whole batch. So the "
            "decode row reads the workspace too, and needs ragged indices."
        ),
        choices=("15", "16", "18", "24"),
    ),
    picture=Shows(whole=_cells, title="Which transform does each batch get?"),
)
