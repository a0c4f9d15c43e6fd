"""4h: Name the space"""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.name_the_space import part

PART = part.of(
    "4h",
    points=10,
    minutes=11,
    hints=(
        "Do not read the name on the left. Ask of each number what it counts through: the step, one request, the workspace, a "
        "gathered shard, or the pool?",
        "Three tables say where a request begins: in the step (a token), in the workspace (a ragged index), in the shards "
        "(a gathered row). Start plus place stays in the space of the start: ragged start plus position, shard's start plus "
        "position // D. % D of a position or a loc is a rank. A difference of two ragged indices is a position.",
        "For each pair of brackets and each function: the list above the lines says in which space it is read, as in "
        "shards[rank, gathered row]. For each + and -: a place may be added to a start of its own buffer only. Where all of "
        "them agree, the answer is 0.",
    ),
    prediction=Prediction(
        question="A line reads idx = cu_seqlens_k[req] + positions. In which space are the numbers in idx?",
        answer="ragged index",
        because="The table says where each request begins in the workspace. A start and a place in it give an index there.",
        choices=("position", "token", "ragged index", "loc"),
    ),
)
