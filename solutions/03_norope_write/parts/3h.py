"""3h: Name the space"""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.name_the_space import part

PART = part.of(
    "3h",
    points=10,
    minutes=14,
    hints=(
        "Do not read the name on the left. Read the right side: which list was it looked up in, and what does that list hold?",
        "A token of the step is the way into the lists that are read by token; they give its loc, row or position. // D of "
        "a loc makes a row, % D a rank; a list of rows has been divided already. Rows times the stride make elements, and "
        "// P of a row makes an allocator page. // P of a loc mixes nothing either: it makes an index-K page, which fits no "
        "pool of c-KV. A mask leaves an index in its space.",
        "For each pair of brackets and each function: the list above the lines says in which space it is read. What stands in "
        "the brackets of the pool is a row or an element, in those of the source a token. Where all of them agree, the answer "
        "is 0.",
    ),
    prediction=Prediction(
        question="A line reads rows = cache_loc_of_token[tokens][mine]; mine is a mask. In which space is rows?",
        answer="loc",
        because="The list holds locs, and a mask only leaves some of them out. Choosing is not dividing: whether is not where.",
        choices=("token", "loc", "row", "rank"),
    ),
)
