"""7c: Who holds how much"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different

from .shared import held


def _cases(draw: Draw) -> list[Case]:
    def lengths(*some: int) -> torch.Tensor:
        return torch.tensor(draw.shuffled(some))

    def about(rounds: int, d: int, i: int) -> torch.Tensor:
        """Lengths that end at an edge of a run, one before and one after it, in a later round."""
        edges = [rounds * d * i + run * i for run in range(d + 1)]
        return lengths(*(edge + by for edge in draw.sample(edges, 3) for by in (-1, 0, 1)))

    far = [edge + draw.int(5000, 9000) for edge in (2**24, 2**31, 2**58)]
    return numbered(
        [
            ("two requests, 2 tokens a turn", (torch.tensor([draw.int(9, 11), draw.int(13, 15)]), 4, 2)),
            ("shorter than one run", (lengths(1, 3, 7), 4, 8)),
            ("whole rounds", (lengths(8, 16, 40), 4, 2)),
            ("about the edges of the first runs", (about(0, 3, 5).clamp(min=0), 3, 5)),
            ("about the edges of later runs", (about(draw.int(2, 5), 6, 3), 6, 3)),
            ("one token a turn, as in lab 04", (lengths(1, 2, 3, 4, 5, draw.int(20, 40)), 4, 1)),
            ("a page of 64 a turn", (torch.tensor(draw.sample(range(1, 4000), 5)), 8, 64)),
            ("a run longer than any request", (torch.tensor(draw.sample(range(1, 4000), 4)), 4, 4096)),
            ("one rank", (torch.tensor(draw.sample(range(1, 300), 4)), 1, 16)),
            ("int32 lengths", (torch.tensor(draw.sample(range(1, 10**6), 4), dtype=torch.int32), 5, 7)),
            ("a column of a table", (as_column(torch.tensor(draw.sample(range(1, 200), 5))), 3, 4)),
            ("past 2^31 and 2^53", (lengths(*far), 6, 5)),
            ("an empty request among others", (lengths(0, draw.int(5, 9), 0, draw.int(30, 50)), 4, 4)),
            ("in no order, a length twice", (torch.tensor([7, 30, 2, 30, 13]), 3, 4)),
            ("no request", (torch.empty(0, dtype=torch.int64), 4, 2)),
        ]
    )


def _oracle(seq_lens: torch.Tensor, dcp_size: int, interleave: int) -> torch.Tensor:
    """Deal the tokens of the last round one by one; each full round gave every rank a run."""
    whole = dcp_size * interleave
    counts = []
    for length in seq_lens.tolist():
        over, rest = divmod(length, whole)
        owners = [position // interleave for position in range(rest)]
        counts.append([over * interleave + owners.count(rank) for rank in range(dcp_size)])
    return torch.tensor(counts, dtype=seq_lens.dtype).reshape(len(counts), dcp_size)


def _rows(case: Case, got: Any, expected: Any) -> Table:
    seq_lens, dcp_size, interleave = case.args
    caption = f"dcp_size {dcp_size}, interleave {interleave}: tokens on each rank."
    return different(("length", "yours", "expected"), lambda i: (seq_lens.tolist()[i],), got, expected, caption)


def _cells(tried: DrawnCase) -> Groups:
    seq_lens, dcp_size, interleave = tried.case.args
    right = tried.expected if tried.expected is not None else _oracle(*tried.case.args)
    alike = isinstance(tried.got, torch.Tensor) and tried.got.shape == right.shape
    mine = tried.got.tolist() if alike else [None] * len(right)
    names = tuple(DrawnCell(f"rank {rank}", f"owner{rank}") for rank in range(dcp_size))
    lines = [
        Strip(f"{length} tokens, {interleave} a turn", held(counts, due))
        for length, counts, due in zip(seq_lens.tolist(), mine, right.tolist(), strict=True)
    ]
    return ((Strip("held by", names), *lines),)


PART = Part(
    id="7c",
    entry="local_lengths",
    title="Who holds how much",
    points=15,
    minutes=9,
    cases=again(_cases),
    oracle=_oracle,
    rows=_rows,
    question="How many rounds are full, and of the round that is not, where does the last token fall in each rank's run?",
    hints=(
        "Full rounds give every rank the same. Only the rest of the length, less than a round, has to be dealt.",
        "Rank r's run in the last round begins r * interleave tokens into it. Of the rest, it gets what lies beyond that "
        "start, but no less than 0 and no more than interleave.",
        "rest = seq_lens[:, None] % (interleave * dcp_size); starts = torch.arange(dcp_size) * interleave, in the dtype and on "
        "the device of seq_lens. (rest - starts).clamp(0, interleave), and full rounds * interleave besides.",
    ),
    prediction=Prediction(
        question="300 tokens on four ranks, a page of 64 to a rank at a time. How many has each?",
        answer="108, 64, 64, 64",
        because=(
            "A round is 256 tokens and gives each rank 64. Of the 44 that are left, all fall into rank 0's run. With I = 1 it "
            "would be 75 each. Attention waits for the longest."
        ),
        choices=("75, 75, 75, 75", "108, 64, 64, 64", "128, 64, 64, 44", "64, 64, 64, 108"),
    ),
    picture=Shows(drawn=_cells, title="How many tokens has each rank?"),
)
