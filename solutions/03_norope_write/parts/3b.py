"""3b: The twin that did half"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import UNWRITTEN, again, numbered, told_apart
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN

from .shared import batch_locs, low_locs, pool_row_words


def _torch_write_cases(draw: Draw) -> list[Case]:
    def drawn(d, rank, rows, tokens, width, pool_rows, dtype=torch.float32, view="", index=torch.int64):
        locs = (batch_locs(draw, rank, d, rows, *tokens) if rows else low_locs(draw, d)).to(index)
        src = told_apart(draw, len(locs), width, dtype)
        kv = torch.full((pool_rows, 2 * width + 1), float(UNWRITTEN)).to(dtype)
        kv = {"": kv[:, :width].contiguous(), "gap": kv[:, 1 : width + 1], "every other": kv[:, 1::2]}[view]
        if view:  # the batch too: a slice of something larger
            src = torch.stack([src, src], dim=1)[:, 0]
            locs = torch.stack([locs, locs], dim=1)[:, 1]
        return kv, src, locs, rank, d

    # float32 and float64 round locs up there. In 32 bits the first is negative: else loc and D would wrap and fit.
    large, many = 2**32 + 2**31 + 2 * draw.int(3, 999) + 1, 2**56 + 64 * draw.int(3, 999)
    return numbered(
        [
            ("rank 1 of 4", drawn(4, 1, range(2, 6), (2, 2), 3, 24)),
            ("the last rank, with padding", drawn(4, 3, range(2, 6), (2, 2, 2), 3, 24)),
            ("three ranks, int32 locs", drawn(3, draw.int(0, 2), range(2, 8), (3, 4), 2, 24, index=torch.int32)),
            ("no token is this rank's", drawn(4, draw.int(0, 2), range(2, 6), (0, 4), 3, 24)),
            ("one rank, with padding", drawn(1, 0, range(2, 9), (4, 0, 2), 3, 10)),
            ("a pool with gaps, bf16", drawn(6, draw.int(1, 4), range(2, 9), (4, 5, 1), 4, 9, torch.bfloat16, view="gap")),
            ("a pool of every other column", drawn(8, draw.int(0, 6), range(2, 9), (5, 7), 3, 9, view="every other")),
            ("rows of bytes, past the pool if not divided", drawn(8, 7, range(2, 12), (6, 9, 1), 8, 13, torch.uint8)),
            ("locs past 2^31", drawn(large, large - draw.int(1, 2), range(2, 6), (3, 2), 3, 6)),
            ("locs past 2^53", drawn(many, many - draw.int(1, 2), range(2, 6), (3, 2), 3, 6)),
            ("row 0, loc 0 and every negative loc", drawn(4, 0, None, (), 3, 6)),
            ("no tokens", drawn(4, 1, range(2, 6), (0, 0), 3, 6)),
        ],
        writes=(0,),
    )


def _torch_write_rows(case: Case, got: Any, expected: Any) -> Table:
    src, locs, dcp_rank, dcp_size = case.args[1:]
    tokens = {value: (t, i) for t, row in enumerate(src.float().tolist()) for i, value in enumerate(row)}
    header = ("row", "loc of this rank", "yours", "expected")
    caption = f"locs {locs.tolist()[:8]}, dcp_rank {dcp_rank}, dcp_size {dcp_size}."
    mine, right = (value.get(0) if isinstance(value, dict) else None for value in (got, expected))
    if not isinstance(mine, torch.Tensor) or mine.shape != right.shape:
        return Table(header, (), caption)
    found, rows = [], src.float().tolist()
    for row, (here, asked) in enumerate(zip(mine.float().tolist(), right.float().tolist(), strict=True)):
        if here != asked:
            loc = row * dcp_size + dcp_rank
            place = (locs == loc).nonzero().flatten().tolist()
            whose = f"{loc}, token {place[0]}" if place else f"{loc}, which is not in locs"
            found.append(
                (str(row), whose, pool_row_words(here, rows, tokens, asked), pool_row_words(asked, rows, tokens, here))
            )
    return Table(header, tuple(found[:SHOWN]), caption)


PART = Part(
    id="3b",
    entry="write_ckv_torch",
    title="The twin that did half",
    points=15,
    minutes=7,
    cases=again(_torch_write_cases),
    rows=_torch_write_rows,
    question="Which tokens of the batch does this rank keep, and in which row of kv does each of them belong?",
    hints=(
        "Make a mask over the tokens first. With it you pick from two tensors: from the locs and from the source.",
        "A token is this rank's if its loc is not negative and leaves dcp_rank as its remainder. Its row is the quotient. "
        "Without the test for the sign, look at -1 % 4 and -1 // 4 in Python: which rank, and which row, is that?",
        "kv is indexed by locs[mine] // dcp_size and takes src[mine]. Index assignment on kv itself writes "
        "in place, through "
        "a view too.",
    ),
    prediction=Prediction(
        question=("Four ranks. In torch -1 % 4 is 3 and -1 // 4 is -1. Nobody tests the sign. What happens to a padded token?"),
        answer="it overwrites rank 3's last row",
        because="The last rank takes -1 for its own, and row -1 of a tensor is its last. On the other ranks all is well.",
        choices=("nothing", "it overwrites rank 3's row 0", "it overwrites rank 3's last row", "an IndexError on rank 3"),
    ),
    picture=Shows("content", {"src": "content", "locs": "loc"}),
)
