"""6g: Name the space"""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.name_the_space import part

PART = part.of(
    "6g",
    points=10,
    minutes=12,
    hints=(
        "First say of each number on which node it is at home. Two nodes have locs, rows and ranks, and "
        "nothing in a number says "
        "whose it is.",
        "S belongs to the node that sends and D to this one. % S or // S of a source loc makes a source rank "
        "or a source row; of a "
        "position it makes a source rank or a place in that rank's message. Sent rows times S, and the "
        "sender's rank added, are "
        "positions again.",
        "For each pair of brackets and each function: the list above the lines says in which space it is "
        "read. The one way from "
        "one node to the other is by position. Where all of them agree, the answer is 0.",
    ),
    prediction=Prediction(
        question=(
            "A line reads rows = remote_slot_of[positions] // cp_size; cp_size is D, the list holds source locs. What is rows?"
        ),
        answer="in no space: the line mixes two",
        because="Source locs run over the S ranks of the node that sends. Divided by this node's D they are a row of neither.",
        choices=("a row", "a source row", "a source loc", "in no space: the line mixes two"),
    ),
)
