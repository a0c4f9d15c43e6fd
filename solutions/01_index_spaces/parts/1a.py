"""1a: Whose slot is it?"""

from __future__ import annotations

from dcplab.course.cases import again
from dcplab.course.model import Part, Prediction, Shows

from .shared import mapping_cases, mapping_rows

PART = Part(
    id="1a",
    entry="owner_rank",
    title="Whose slot is it?",
    points=5,
    minutes=5,
    cases=again(mapping_cases),
    rows=mapping_rows,
    question="Deal locs 0, 1, 2 and on to D ranks like cards. Who holds loc D?",
    hints=(
        "Write the first dozen locs in a line and deal them out, one to each rank in turn.",
        "With D ranks the pattern repeats after D locs, so the owner depends only on where a loc stands in its group of "
        "D. Ints and tensors share the operator that says so, and it is exact for both.",
        "The owner is the remainder of loc by dcp_size. Python's remainder operator takes ints and tensors alike and "
        "keeps the dtype.",
    ),
    prediction=Prediction(
        question="Four ranks share the slots, interleaved: 0, 1, 2, 3, 0, 1, ... Which rank stores the c-KV of loc 10?",
        answer="2",
        because="Locs 8, 9, 10, 11 go to ranks 0, 1, 2, 3. Ten is two past a multiple of four.",
        choices=("0", "1", "2", "3"),
    ),
    picture=Shows("rank", {"loc": "number"}),
)
