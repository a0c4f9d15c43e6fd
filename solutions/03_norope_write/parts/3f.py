"""3f: A number nobody looked at"""

from __future__ import annotations

import math
from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells
from dcplab.present.entries import SHOWN
from dcplab.present.values import short


def _alarm_cases(draw: Draw) -> list[Case]:
    g = draw.torch()

    def server(*queries, ranks=4, heads=2, level=0.0):
        """A batch. A query is (its keys, valid keys on each rank, by how much the merged LSE is too large)."""
        topk = torch.tensor([k for k, *_ in queries], dtype=torch.int32).reshape(-1)
        valid = torch.tensor([counts for _, counts, _ in queries], dtype=torch.int32).reshape(-1, ranks).T
        single = level + 4 * torch.randn(len(queries), heads, generator=g)
        noise = (torch.rand(len(queries), heads, generator=g) * 2 - 1) * 9e-4
        merged = single + noise
        for t, (k, _, excess) in enumerate(queries):
            if excess:
                merged[t] = single[t] + torch.tensor(excess) + noise[t].abs()
            if k == 0:
                single[t] = merged[t] = -math.inf
        return valid, topk, merged, single

    def split(k, ranks=4):
        cuts = sorted(draw.int(0, k) for _ in range(ranks - 1))
        return [b - a for a, b in zip([0, *cuts], [*cuts, k], strict=True)]

    def sound(ranks=4):
        k = draw.int(5, 12)
        return k, split(k, ranks), 0.0

    k = draw.int(6, 12)
    all_four, none = (k, [k] * 4, 2.0), (0, [0] * 4, 0.0)
    two_of_four = (k, [0, k, k, 0], 1.0)
    part = (k, [k, 1, 0, 0], 0.51)
    lost = (k, split(k - draw.int(1, 2)), 0.0)
    share = draw.int(2, 4)
    even = (4 * share, [share] * 4, 0.0)
    below = server(even)
    below = (*below[:2], below[3] - 5e-4, below[3])  # summed in another order, it came out a little smaller
    above = server(even)
    above = (*above[:2], above[3] + 5e-4, above[3])
    return numbered(
        [
            ("every rank holds every key", server(all_four)),
            ("a sound server", server(sound(), sound())),
            ("one query of four", server(sound(), sound(), all_four, sound())),
            ("one rank", server((k, [k], 0.0), ranks=1)),
            ("a query without keys", server(none, sound())),
            ("two ranks of four hold every key", server(sound(), two_of_four)),
            ("a few keys twice", server(part, sound(), sound())),
            ("an even share", server(even, sound())),
            ("rounding, downwards", below),
            ("half of the weight twice", server((k, [k, draw.int(4, 5)], math.log(2)), ranks=2)),
            ("two ranks, all keys twice", server((k, [k, k], 1.0), ranks=2)),
            ("a query without keys beside keys twice", server(none, sound(), two_of_four)),
            ("a key that weighs nothing is missing", server(lost, sound())),
            ("keys twice in one query, some missing in others", server(lost, lost, (k, [k, 1, 0, 0], 0.6), lost)),
            ("LSEs about 590, all keys twice", server((k, [k, k], 1.0), (k, [k, k], 1.0), ranks=2, level=590.0)),
            ("LSEs about -590, a sound server", server(sound(), none, level=-590.0)),
            ("LSEs about -590, all keys twice", server(sound(2), (k, [k, k], 1.0), ranks=2, level=-590.0)),
            ("all keys on one rank", server((k, [0, 0, k, 0], 0.0), (k, [k, 0, 0, 0], 0.0))),
            ("nothing but queries without keys", server(none, none)),
            ("rounding, upwards", above),
            ("sums past 2^15, every rank holds every key", server((40_000, [40_000] * 4, 2.0))),
            ("three ranks hold nearly every key", server((k, [k - 1, k - 1, k - 2, 2], 1.3))),
            ("one key of twelve twice", server((12, [12, 1, 0, 0], 0.51))),
            ("no queries", server()),
        ]
    )


def _alarm_rows(case: Case, got: Any, expected: Any) -> Table:
    valid, topk, merged, single = case.args
    header = ("query", "keys asked for", "valid on each rank", "merged LSE", "single LSE")
    rows = [
        (str(t), str(int(topk[t])), " ".join(map(str, valid[:, t].tolist())), *(f"{lse[t, 0]:.4f}" for lse in (merged, single)))
        for t in range(len(topk))
    ]
    return Table(header, tuple(rows[:SHOWN]), f"Yours: {short(got)}; expected: {expected}. The LSEs are head 0's.")


def _alarm_cells(tried: DrawnCase) -> Groups:
    """A column for each query, a line for each rank; then the one answer about all of them."""
    valid, topk, merged, single = tried.case.args
    queries = range(len(topk))
    lines = [Strip("query", tuple(DrawnCell(str(t), "header") for t in queries))]
    lines.append(Strip("keys selected", tuple(DrawnCell(str(int(n))) for n in topk)))
    for rank, counts in enumerate(valid.tolist()):
        lines.append(Strip(f"valid on rank {rank}", tuple(DrawnCell(str(n), f"owner{rank}", f"r{rank}") for n in counts)))
    for label, lse in (("LSE, merged", merged), ("LSE of one rank", single)):
        lines.append(Strip(label, tuple(DrawnCell(f"{float(value):.4f}") for value in lse[:, 0])))
    wrong = tried.got is not None and tried.got is not tried.expected
    return tuple(lines), (Strip("your alarm", (grid_cells.word(tried.got, tried.expected, wrong),)),)


PART = Part(
    id="3f",
    entry="replication_alarm",
    title="A number nobody looked at",
    points=15,
    minutes=8,
    cases=again(_alarm_cases),
    rows=_alarm_rows,
    question="If D ranks share a query's keys, what do their counts add up to? And if each has them all?",
    hints=(
        "Two witnesses see the same thing: the counts of keys, and the LSE. One is enough.",
        "Add the valid keys over the ranks, query by query, and hold the sum against the keys asked for. Add nothing over "
        "queries: keys that are missing in one would hide keys that are double in another.",
        "(valid_counts.sum(0) > topk_counts).any(), as a Python bool. By the LSE: merged above single by "
        "more than, say, 0.1 "
        "anywhere; a difference of -inf and -inf is NaN, and NaN > 0.1 is False.",
    ),
    prediction=Prediction(
        question=("Four ranks. Two of them hold all keys of a query, two hold none. By how much is its merged LSE too large?"),
        answer="1",
        because=(
            "Every key weighs twice as much, and log2 of 2 is 1. How many ranks there are plays no part, nor does the output."
        ),
        choices=("0", "0.5", "1", "2"),
    ),
    picture=Shows(drawn=_alarm_cells, asks=2),
)
