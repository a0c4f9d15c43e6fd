"""1b: Which row is it there?"""

from __future__ import annotations

from dcplab.course.cases import again
from dcplab.course.model import Part, Prediction, Shows

from .shared import mapping_cases, mapping_rows

PART = Part(
    id="1b",
    entry="local_row",
    title="Which row is it there?",
    points=5,
    minutes=5,
    cases=again(mapping_cases),
    rows=mapping_rows,
    question="How many locs with the same owner come before this one?",
    hints=(
        "On the owner, rows fill up without gaps. Count how many locs of the same owner are smaller.",
        "Each full group of D locs gives every rank exactly one row. So the row is the number of full groups before the "
        "loc. It must stay an integer: a true division makes a float, and floats lose odd numbers past 2^24 or 2^53.",
        "Divide loc by dcp_size with the operator that drops the remainder and stays in integers.",
    ),
    prediction=Prediction(
        question="D = 4. Loc 13 belongs to rank 1. In which row of rank 1's pool does it lie?",
        answer="3",
        because="Rank 1 owns locs 1, 5, 9 and 13. Three of them come before 13, and the first one is in row 0.",
        choices=("1", "3", "4", "13"),
    ),
    picture=Shows("number", {"loc": "loc"}),
)
