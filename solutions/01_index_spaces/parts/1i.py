"""1i: Name the space"""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.name_the_space import part

PART = part.of(
    "1i",
    points=10,
    minutes=14,
    hints=(
        "Do not read the name on the left. Read the right side: what was looked up, and by what was it divided?",
        "Write beside each line the space of what it makes. A table gives what it holds. // D of a loc makes a row, % D a "
        "rank, // P an index-K page, // W an allocator page; // P of a row, or // D of an index-K page, makes an allocator "
        "page too. The first line where the space that you wrote is not the one that is asked for is the line.",
        "For each pair of brackets and each function: the list above the lines says in which space it is read, as in "
        "kv_cache[row]. For each +, < and ==: both sides must be of one space, or base and place as in page * P + place. "
        "Where all of them agree, the answer is 0.",
    ),
    prediction=Prediction(
        question="A line reads rows = req_to_token[req, positions]. In which space are the numbers in rows?",
        answer="loc",
        because="The table decides, not the name: req_to_token holds locs. Nothing has divided them by D, so they are no rows.",
        choices=("position", "loc", "row", "one cannot know"),
    ),
)
