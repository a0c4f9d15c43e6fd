"""3a: Where, and whether"""

from __future__ import annotations

import torch

from dcplab.course.cases import again, told_apart
from dcplab.course.model import Launch, Part, Prediction, Shows
from dcplab.course.seeded import Draw

from .shared import batch_locs, low_locs, own_write, pool_units, write_launch, write_oracle, write_rows


def _write_cases(draw: Draw) -> list[Launch]:
    def drawn(label, size, d, rank, rows, tokens, width, block, dtype=torch.float32, spare=0, **more):
        locs, pool = batch_locs(draw, rank, d, rows, *tokens), range(0, rows.stop + spare)
        return write_launch(label, size, told_apart(draw, len(locs), width, dtype), locs, pool, rank, d, block, **more)

    many = 2**30 + 1024 * draw.int(3, 99)  # float32 holds it, and rounds the last rank's locs up to the next row
    far = 2**18 + 4 * draw.int(1, 25)  # times 2^13 elements a row: past 2^31, and the buffer stays small
    far_locs = batch_locs(draw, 1, 4, range(far, far + 3), 3, 2, 1)
    far_values = told_apart(draw, len(far_locs), 8, torch.uint8)
    low = low_locs(draw, 4)
    return [
        drawn("one program, rank 1 of 4", 0, 4, 1, range(2, 8), (2, 2, 1), 4, 8),
        drawn("the last rank, two programs, a gap after each row", 1, 4, 3, range(2, 8), (2, 2, 2), 4, 4, gaps=(3, 0)),
        drawn("three ranks, a full block", 2, 3, draw.int(0, 2), range(2, 9), (3, 5), 8, 8),
        drawn("no token is this rank's", 3, 4, draw.int(1, 2), range(2, 8), (0, 4, 1), 4, 8),
        drawn("one rank, with padding", 4, 1, 0, range(2, 9), (4, 0, 2), 4, 4),
        drawn(
            "half precision, gaps on both sides", 5, 2, draw.int(0, 1), range(2, 12), (6, 5), 8, 4, torch.float16, gaps=(5, 3)
        ),
        drawn("a row of one element, one token a program", 6, 6, draw.int(1, 5), range(1, 6), (2, 2, 1), 1, 1),
        drawn(f"locs past 2^31: {many:,} ranks", 7, many, many - draw.int(1, 2), range(2, 6), (3, 2), 4, 4, spare=1),
        write_launch(
            "a pool of more than 2^31 elements", 8, far_values, far_locs, range(far, far + 3), 1, 4, 4, gaps=(2**13 - 8, 0)
        ),
        drawn("a server's row: 512 wide", 9, 8, draw.choice([0, 5, 7]), range(4, 9), (4, 7, 1), 512, 8),
        write_launch("row 0, loc 0 and every negative loc", 10, told_apart(draw, 7, 4, torch.float32), low, range(4), 0, 4, 8),
        drawn("every token is this rank's, a partly filled block", 11, 1, 0, range(2, 9), (5, 0), 4, 8),
        drawn("more tokens a program than elements a row", 12, 3, 1, range(0, 9), (9, 5, 1), 2, 16),
    ]


PART = Part(
    id="3a",
    entry="write_ckv_norope_kernel",
    title="Where, and whether",
    points=15,
    minutes=16,
    cases=again(_write_cases),
    oracle=write_oracle,
    launch=own_write,
    rows=write_rows,
    timeout_s=60.0,
    question=("For the token of one lane: is its loc this rank's, which row is it then, and which mask keeps the others out?"),
    hints=(
        "Two questions a token, and they stay apart to the end: whether it is stored here, and where.",
        "Load the loc under the mask token < n, with other=-1 for the lanes past the end. Owned is loc >= 0 "
        "and the remainder "
        "equal to DCP_RANK; the row is the quotient. Load the source and store the row under that one mask.",
        "The addresses are 2-D: kv_ptr + row[:, None] * kv_stride + tl.arange(0, DIM)[None, :], the source likewise "
        "with the token and src_stride. Both accesses take mask=owned[:, None].",
    ),
    prediction=Prediction(
        question=(
            "A kernel takes row 0 as a safe address for tokens of other ranks, and its store is masked by token < n only. "
            "Two ranks, rank 0, locs [8, 9]. What does it write?"
        ),
        answer="rows 4 and 0",
        because=(
            "Loc 8 goes to row 4. Loc 9 is rank 1's; its address was made safe, but nothing kept it from being stored. "
            "Row 0 now holds a stranger's token."
        ),
        choices=("row 4", "rows 4 and 0", "rows 8 and 0", "row 4, twice"),
    ),
    picture=Shows("content", {"src": "content", "loc": "loc"}, units=pool_units),
)
