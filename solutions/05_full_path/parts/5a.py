"""5a: Wire the decode"""

from __future__ import annotations

from dcplab.course.model import Case, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import (
    WORDS,
    one_rank,
    recall_prompt,
    said_otherwise,
    serve_with,
    served_cells,
    served_rows,
    serving,
    wants_kernels,
)


def _decode_cases(draw: Draw) -> list[Case]:
    def served(label, size, rounds, new, dcp_size, **options):
        return serving(label, size, "decode", rounds, new, dcp_size, **options)

    first = [recall_prompt(draw, 13, 5), recall_prompt(draw, 22, 7), recall_prompt(draw, 31, 4)]
    again = [[*first[2][:27], *recall_prompt(draw, 9, 3)[1:]], recall_prompt(draw, 8, 4)]
    short = [[0, *draw.sample(WORDS, 2)], recall_prompt(draw, 14, 3)]
    long = [recall_prompt(draw, 81, 40), recall_prompt(draw, 10, 3)]
    return [
        served("one request of 12 tokens, two ranks", 0, [[recall_prompt(draw, 9, 3)]], 6, 2),
        served("two requests, two ranks, most locs beyond one rank's rows", 1, [first[:2]], 7, 2, high=True),
        served("three requests, then two, one with cached pages; three ranks", 2, [first, again], 7, 3),
        served("more ranks than the first request has tokens", 3, [short], 6, 5),
        served("a longer one, four ranks, pages of 6, high locs", 4, [long, again], 9, 4, high=True, page_size=6),
        served("one rank", 5, [first[:1]], 7, 1),
    ]


PART = Part(
    id="5a",
    entry="decode_path",
    title="Wire the decode",
    points=25,
    minutes=13,
    cases=_decode_cases,
    drive=serve_with,
    compiles=wants_kernels,
    oracle=one_rank,
    compare=said_otherwise,
    rows=served_rows,
    picture=Shows(drawn=served_cells, title="What the check looks at, by layer and rank"),
    carries=True,
    timeout_s=90.0,
    question="What does each operation need from those before it, and in which space is the index that it is given?",
    hints=(
        "Go through the table of operations and write down, for each, which space it takes and which it gives. The order "
        "follows from that.",
        "Both writers take locs, on every rank: the c-KV writer keeps and divides by itself, index-K keeps all. Top-k "
        "gives positions; one step makes them locs, the next makes rows of them.",
        "For each rank: write_ckv, write_index_k, select_paged, to_locs, localize, attend. Keep what attend gives for "
        "every rank in a list, and return step.merge of it.",
    ),
    prediction=Prediction(
        question=(
            "Four ranks. A query's top-k picks 64 tokens of a long context. How many keys does one rank read, once the "
            "path is right?"
        ),
        answer="about 16",
        because=(
            "Each key lies on one rank, so the four counts add up to 64. With the raw wiring each rank read all 64, "
            "and the answers were right all the same."
        ),
        choices=("16 exactly", "about 16", "64", "256"),
    ),
)
