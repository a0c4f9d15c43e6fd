"""6b: Out and back"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from dcplab.course.cases import UNWRITTEN, again, numbered, told_apart
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN, different, whose
from dcplab.present.values import short

from .shared import run

FAR_SIZE = 2**56  # ranks; their rows are few, and their locs past 2^53


def _owned(locs: torch.Tensor, rank: int, span: int) -> list[int]:
    return [loc for loc in locs.tolist() if loc >= 0 and loc % span == rank % span]


def _pool(draw: Draw, rows: int, width: int, dtype=torch.float32, view: str = "") -> torch.Tensor:
    values = told_apart(draw, rows, 2 * width + 1, dtype)
    return {"": values[:, :width].contiguous(), "gap": values[:, 1 : width + 1], "every other": values[:, 1::2]}[view]


def _backup_cases(draw: Draw) -> list[Case]:
    def case(locs, rank, span, width=3, dtype=torch.float32, view="", spare=4):
        owned = _owned(locs, rank, span)
        rows = max([loc // span for loc in owned], default=0) + 1 + spare
        return _pool(draw, rows, width, dtype, view), locs, rank, span

    padded = torch.tensor(draw.shuffled([*run(draw, 9, 2, 4).tolist(), -1, -1]))
    far = torch.tensor([row * FAR_SIZE + r for row in (4, 2, 3) for r in (FAR_SIZE - 2, FAR_SIZE - 1)])
    return numbered(
        [
            ("two turns of four ranks", case(run(draw, 8, 2, 4), 1, 4)),
            ("pages that do not ascend", case(run(draw, 19, 2, 3), draw.int(0, 2), 3)),
            ("a run that begins in a turn: rank 0", case(run(draw, 7, 2, 4, start=3), 0, 4)),
            ("a run that begins in a turn: the last rank", case(run(draw, 6, 4, 4, start=1), 3, 4)),
            ("ids that are rows already, rank 2", case(torch.tensor(draw.sample(range(2, 20), 5)), 2, 1)),
            ("ids that are rows already, rank 0", case(torch.tensor(draw.sample(range(2, 20), 6)), 0, 1)),
            ("padding, the last rank", case(padded, 3, 4)),
            ("padding among rows", case(torch.tensor([5, -1, 3, 9]), 1, 1)),
            ("no token is this rank's", case(run(draw, 2, 4, 4), 3, 4)),
            ("a pool with gaps, bf16", case(run(draw, 10, 2, 3), 1, 3, 4, torch.bfloat16, "gap")),
            ("every other column of a pool", case(run(draw, 9, 2, 2), 1, 2, view="every other")),
            ("rows of bytes, int32 locs", case(run(draw, 9, 1, 2).int(), 0, 2, 4, torch.uint8)),
            ("locs past 2^53", case(far, FAR_SIZE - 1, FAR_SIZE)),
            ("loc 0 and its neighbours", case(torch.arange(5), 0, 3)),
            ("no locs", case(torch.empty(0, dtype=torch.int64), 1, 4)),
        ],
        call="backup",
    )


def _restore_cases(draw: Draw, start: int) -> list[Case]:
    def case(locs, rank, span, width=3, dtype=torch.float32, view="", saved_rows=None):
        owned = _owned(locs, rank, span)
        rows = max([loc // span for loc in owned], default=0) + 3
        held = torch.full((rows, 2 * width + 1), float(UNWRITTEN)).to(dtype)
        pool = {"": held[:, :width].contiguous(), "gap": held[:, 1 : width + 1], "every other": held[:, 1::2]}[view]
        count = len(owned) if saved_rows is None else saved_rows
        return pool, told_apart(draw, count, width, dtype), locs, rank, span

    far = torch.tensor([row * FAR_SIZE + r for row in (1, 3, 2) for r in (FAR_SIZE - 1, FAR_SIZE - 2)])
    padded = torch.tensor(draw.shuffled([*run(draw, 9, 2, 4).tolist(), -1, -1]))
    right = [
        ("two turns of four ranks, new locs", case(run(draw, 8, 2, 4), 1, 4)),
        ("new pages that do not ascend", case(run(draw, 19, 2, 3), draw.int(0, 2), 3)),
        ("a run that begins in a turn", case(run(draw, 7, 2, 4, start=3), 0, 4)),
        ("ids that are rows already, rank 2", case(torch.tensor(draw.sample(range(2, 20), 5)), 2, 1)),
        ("padding, the last rank", case(padded, 3, 4)),
        ("no token is this rank's", case(run(draw, 2, 4, 4), 3, 4)),
        ("a pool with gaps, bf16", case(run(draw, 10, 2, 3), 1, 3, 4, torch.bfloat16, "gap")),
        ("every other column of a pool", case(run(draw, 9, 2, 2), 1, 2, view="every other")),
        ("locs past 2^53", case(far, FAR_SIZE - 1, FAR_SIZE)),
        ("row 0", case(torch.arange(5), 0, 3)),
        ("no locs", case(torch.empty(0, dtype=torch.int64), 1, 4)),
    ]
    refused = [
        ("one row was saved and two have room", case(run(draw, 8, 2, 4), 1, 4, saved_rows=1)),
        ("more rows were saved than have room", case(run(draw, 8, 2, 4), 2, 4, saved_rows=3)),
        ("fewer rows were saved than have room", case(run(draw, 12, 2, 4), 0, 4, saved_rows=2)),
        ("a row was saved and none has room", case(run(draw, 2, 4, 4), 3, 4, saved_rows=1)),
        ("as many rows as locs, which are all ranks'", case(run(draw, 6, 2, 3), 1, 3, saved_rows=6)),
        ("ids that are rows: one too few saved", case(torch.tensor([4, 9, 6]), 1, 1, saved_rows=2)),
        ("padding takes no row", case(torch.tensor([8, 9, -1, 10]), 3, 4, saved_rows=1)),
    ]
    made = numbered(right, call="restore", start=start, writes=(0,))
    bad = numbered(refused, call="restore", start=start + len(right))
    return made + [replace(one, raises="ValueError") for one in bad]


def _cases(draw: Draw) -> list[Case]:
    saved = _backup_cases(draw)
    return saved + _restore_cases(draw, len(saved))


def _rows(case: Case, got: Any, expected: Any) -> Table:
    *_, locs, rank, span = case.args
    caption = f"dcp_rank {rank}, span {span}, locs {short(locs)}."
    owned = _owned(locs, rank, span)
    if case.call == "backup":
        known = case.args[0].float().tolist()

        def say(row: Any) -> str:
            return whose(row, known, "row") if isinstance(row, list) else str(row)

        def where(i: int) -> tuple:
            return (i, owned[i] if i < len(owned) else "-")

        return different(("entry", "loc of this rank", "yours", "expected"), where, got, expected, caption, say)
    header = ("row", "new loc of this rank", "yours", "expected")
    mine, right = (value.get(0) if isinstance(value, dict) else None for value in (got, expected))
    if not isinstance(mine, torch.Tensor) or not isinstance(right, torch.Tensor) or mine.shape != right.shape:
        return Table(header, (), caption)
    saved, found = case.args[1].float().tolist(), []
    for row, (here, asked) in enumerate(zip(mine.float().tolist(), right.float().tolist(), strict=True)):
        if here != asked:
            place = next((str(loc) for loc in owned if loc // span == row), "none")
            found.append((str(row), place, whose(here, saved, "saved row"), whose(asked, saved, "saved row")))
    return Table(header, tuple(found[:SHOWN]), caption)


PART = Part(
    id="6b",
    entry="backup",
    also=("restore",),
    title="Out and back",
    points=20,
    minutes=13,
    cases=again(_cases),
    rows=_rows,
    question="Which rows does this rank hold of the locs that you were given now, and how many?",
    hints=(
        "Both do the same first: from the locs in hand to this rank's rows, in their order. They have different locs in hand.",
        "A loc is this rank's if it is not negative and leaves dcp_rank as its remainder by span; at span 1 every id leaves 0, "
        "whatever the rank is. The row is the quotient by span. Write that once and call it twice.",
        "restore: find the rows of new_locs, hold their number against len(saved), raise ValueError if they differ, and only "
        "then pool[rows] = saved.to(pool.device). One saved row would be spread over all places without a word.",
    ),
    prediction=Prediction(
        question=(
            "D = 4, rank 1. A request of 7 tokens had locs 32 to 38; it returns to locs 80 to 86. Rows to read, rows to write?"
        ),
        answer="8 and 9; 20 and 21",
        because=(
            "Rank 1 owned 33 and 37, rows 8 and 9. Now it owns 81 and 85, rows 20 and 21. Written back to 8 and 9 they would "
            "overwrite whoever was given those pages meanwhile."
        ),
        choices=("8 and 9; 20 and 21", "8 and 9; 8 and 9", "33 and 37; 81 and 85", "8 and 9; 81 and 85"),
    ),
    picture=Shows("content", {"pool": "content", "saved": "content", "locs": "loc", "new_locs": "loc"}),
)
