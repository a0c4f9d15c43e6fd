"""2i: Name the space"""

from __future__ import annotations

from dcplab.course.model import Prediction
from dcplab.name_the_space import part

PART = part.of(
    "2i",
    points=10,
    minutes=12,
    hints=(
        "Do not read the name on the left. Ask of each number what there is so much of, or what it is the number of: rows of "
        "one rank, slots of all ranks, pages of which kind, bytes, or floats?",
        "Begin with what is given and write the space beside each line. C and C + P count rows. // P of rows makes allocator "
        "pages; * D of rows makes locs, of allocator pages index-K pages. Index-K pages times the bytes of one make bytes, and "
        "bytes over the bytes of a float make floats.",
        "For each pair of brackets and each function: the list above the lines says what it takes, as in make_kv_cache(row). "
        "For each assert: index and bound must be of one space. For each +: bytes go with bytes, and floats with floats and "
        "places. Where all of them agree, the answer is 0.",
    ),
    prediction=Prediction(
        question="A line reads num_slots = size // page_size * dcp_size; size is C. What does num_slots count?",
        answer="index-K pages",
        because="C // P counts allocator pages, and each of them has room for D index-K pages. The name promises slots.",
        choices=("locs", "rows", "index-K pages", "allocator pages"),
    ),
)
