"""2g: The bill"""

from __future__ import annotations

from dcplab.course.cases import numbered
from dcplab.course.cells import Ruler
from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import REAL, few_pages


def _bill_cases(draw: Draw) -> list[Case]:
    extra = [
        ("a toy", (2, 4 * few_pages(draw), 3)),
        ("one rank", (draw.int(3, 9), 64, 1)),
        ("a real server", (11, REAL[0], 8)),
        ("past 2^53", (5, 2**57 + draw.int(1, 10**6), 7)),
    ]
    gain = [
        ("a toy", (3, 1, 256 * draw.int(1, 3), 4)),
        ("a real server", (11, 11, 1024, 8)),
        ("one rank", (11, 11, 1024, 1)),
        ("a model in which few layers have an indexer", (78, 21, 1152, draw.int(3, 7))),
    ]
    return numbered(extra) + numbered(gain, "capacity_gain", len(extra))


def _ruler(case: Case) -> Ruler | None:
    """A rank's copies of one rank's index-K. It paid for the first one before."""
    if case.call:
        return None
    layers, size, dcp_size = case.args
    names = tuple(f"of rank {r}" if r else "its own" for r in range(dcp_size))
    return Ruler("index-K", names, 132 * layers * size, counts=True, start=1)


PART = Part(
    id="2g",
    entry="index_k_extra_bytes",
    also=("capacity_gain",),
    title="The bill",
    points=5,
    minutes=7,
    can_wait=True,
    picture=Shows(ruler=_ruler),
    cases=_bill_cases,
    close=1e-9,
    question="For one row of size: how many bytes of c-KV does a rank pay, and how many of index-K, with DCP and without?",
    hints=(
        "Write down what one more row of C costs a rank: so many bytes of c-KV, and index-K slots for so many locs.",
        "A slot of index-K is 128 bytes of key and 4 of scale, a layer. With DCP a row of C means D locs, "
        "and each rank keeps "
        "index-K for all D. Tokens held are memory over bytes a row, times D with DCP.",
        "Extra: layers * 132 * size * (dcp_size - 1). Gain: with c = ckv_layers * row_bytes and k = index_layers * 132, "
        "D * (c + k) over c + D * k.",
    ),
    prediction=Prediction(
        question=(
            "11 layers, a c-KV row of 1,024 bytes, an index-K slot of 132, D = 8, the same memory a rank. "
            "How many times as many tokens does the server hold?"
        ),
        answer="about 4.4",
        because=(
            "c-KV is split by 8, index-K is not: 8 copies of 132 bytes cost more than one c-KV row. The lab computes 4.446."
        ),
        choices=("8", "about 7", "about 4.4", "1"),
    ),
)
