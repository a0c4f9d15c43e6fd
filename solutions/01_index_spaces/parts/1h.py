"""1h: The same rule as a Triton kernel"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course import luck
from dcplab.course.cases import again
from dcplab.course.model import Buf, Launch, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw

from .shared import LOC_HEADER, UNWRITTEN, edge_locs, entries_that_differ, owner_and_row


def _launch(label: str, size: int, locs: torch.Tensor, dcp_rank: int, dcp_size: int, block: int) -> Launch:
    n = locs.numel()
    return Launch(
        buffers={"locs": locs, "rows": torch.full((n,), UNWRITTEN)},
        args=(Buf("locs"), Buf("rows"), n),
        grid=(-(-n // block),),
        constexprs={"DCP_RANK": dcp_rank, "DCP_SIZE": dcp_size, "BLOCK": block},
        label=label,
        size=size,
        writes=("rows",),
    )


def _kernel_cases(draw: Draw) -> list[Launch]:
    few = torch.tensor(draw.shuffled([0, -1, *draw.sample(range(1, 16), 3)]))
    last = torch.tensor(draw.shuffled([-1, 3, 7, *draw.sample(range(8, 30), 4)]))
    launches = [
        ("one program, a partly filled block, rank 0", few, 0, 4, 8),
        ("one program, a partly filled block, last rank", last, 3, 4, 8),
        ("a full block", torch.tensor(draw.shuffled(range(4, 20))), draw.int(1, 2), 4, 16),
        ("two programs", edge_locs(draw, 6, pads=3), draw.int(1, 4), 6, 32),
        ("two programs, eleven locs", torch.tensor(draw.shuffled([-1, *draw.sample(range(40), 10)])), draw.int(0, 2), 3, 8),
        ("one loc", torch.tensor([3 * draw.int(20, 40) + 1]), 1, 3, 4),
        ("one rank", edge_locs(draw, 1, pads=2), 0, 1, 8),
        ("five programs, thousands of locs", torch.tensor(draw.sample(range(-1, 20_000), 4_500)), draw.int(0, 2), 3, 1024),
        ("two programs, the second partly filled", few, 0, 4, 4),
        ("three programs, past 2^31 and 2^53", edge_locs(draw, 8, pads=5), draw.choice([0, 5, 7]), 8, 16),
    ]
    return [_launch(label, i, *rest) for i, (label, *rest) in enumerate(launches)]


def _own_launch(locs, dcp_rank: int, dcp_size: int, block: int) -> Launch:
    """The launch for ``lab.run("1h", locs, dcp_rank, dcp_size, block)``."""
    return _launch("yours", 0, torch.as_tensor(locs, dtype=torch.int64).flatten(), dcp_rank, dcp_size, block)


def _kernel_oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    locs, size, rank = buffers["locs"], launch.constexprs["DCP_SIZE"], launch.constexprs["DCP_RANK"]
    return {"rows": torch.where((locs >= 0) & (locs % size == rank), locs.div(size, rounding_mode="floor"), -1)}


def _kernel_rows(case: Launch, got: Any, expected: Any) -> Table:
    locs, c = case.buffers["locs"].tolist(), case.constexprs
    caption = f"n {len(locs)}, DCP_RANK {c['DCP_RANK']}, DCP_SIZE {c['DCP_SIZE']}, BLOCK {c['BLOCK']}."
    mine, right = (value.get("rows") if isinstance(value, dict) else value for value in (got, expected))
    header = ("program", "lane", *LOC_HEADER)
    return entries_that_differ(
        header, lambda i: (*divmod(i, c["BLOCK"]), *owner_and_row(locs[i], c["DCP_SIZE"])), mine, right, caption
    )


def _but(source: str) -> str | None:
    if luck.masks_nothing(source):
        return "But no load or store has a mask: the lanes past the end repeat the work of another. Two that differ would race."
    if luck.asks_no_sign(source):
        return "But it never asks for the sign: padding stays -1 only by how % and // treat a negative number here."
    return None


PART = Part(
    id="1h",
    entry="localize_page_table_kernel",
    title="The same rule as a Triton kernel",
    points=15,
    minutes=15,
    cases=again(_kernel_cases),
    oracle=_kernel_oracle,
    launch=_own_launch,
    rows=_kernel_rows,
    timeout_s=60.0,
    question="For lane i of program p: which entry does it read, may it, and what does it write?",
    hints=(
        "Three steps: which entries are mine to handle, load them, store the answer for each. Only the second line of 1c "
        "is new syntax.",
        "Program p handles entries p*BLOCK to p*BLOCK + BLOCK - 1; some of them lie past n and must be masked in the load "
        "and in the store. An entry that another rank owns is inside n: it gets a -1, it is not skipped.",
        "offsets = program_id * BLOCK + arange; one mask compares them with n and serves load and store; tl.where picks "
        "the row or -1.",
    ),
    prediction=Prediction(
        question="Compiled Triton divides like C. With DCP_SIZE = 8, what is -1 % 8 inside the kernel?",
        answer="-1",
        because=(
            "C rounds the quotient towards zero: -1 // 8 is 0 and the remainder -1. torch rounds down: -1 and 7. One "
            "rule, two answers."
        ),
        choices=("-1", "0", "1", "7"),
    ),
    but=_but,
    picture=Shows("row", {"locs": "loc"}),
)
