"""3e: What the ranks found, together"""

from __future__ import annotations

import math
from typing import Any

import torch

from dcplab.course.cases import again, numbered
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present import grid_cells
from dcplab.present.values import short


def _merge_cases(draw: Draw) -> list[Case]:
    g = draw.torch()

    def drawn(ranks, queries, heads, width, level=0.0, spread=2.0, dtype=torch.float32):
        outs = 3 * torch.randn(ranks, queries, heads, width, generator=g)
        lses = level + spread * torch.randn(ranks, queries, heads, generator=g)
        return outs.to(dtype), lses.clamp(-600, 600).to(dtype)

    def emptied(outs, lses, where, fill, said=-math.inf):
        """The given (rank, query) pairs hold no key; what the kernel left there is ``fill``, and its LSE is ``said``."""
        outs, lses = outs.clone(), lses.clone()
        for rank, query in where:
            outs[rank, query], lses[rank, query] = fill, said
        return outs, lses

    nan, nobody = math.nan, draw.int(0, 1)
    example = torch.tensor([0.0, 10.0]).reshape(2, 1, 1, 1), torch.tensor([1.0, 3.0]).reshape(2, 1, 1)
    apart = drawn(3, 4, 2, 3, spread=1.0)
    apart = apart[0], apart[1] + torch.tensor([600.0, -590.0, 0.0, 300.0]).reshape(1, 4, 1) * 0.99
    one = drawn(1, 1, 2, 2)
    wide = drawn(3, 2, 4, 6)
    strided = wide[0].transpose(1, 2)[..., ::2], wide[1].transpose(1, 2)
    ones = torch.ones(3, 1, 2, 2) * draw.int(2, 5), torch.full((3, 1, 2), draw.int(3, 9) / 2)
    return numbered(
        [
            ("masses 2 and 8, outputs 0 and 10", example),
            ("three equal partials", ones),
            ("three ranks, two queries", drawn(3, 2, 2, 4)),
            ("a rank without keys, its output is 0", emptied(*drawn(3, 2, 2, 3), [(draw.int(1, 2), 0)], 0.0)),
            ("a rank without keys, its output is NaN", emptied(*drawn(4, 2, 2, 3), [(draw.int(1, 3), 1)], nan)),
            ("a query that no rank has keys for", emptied(*drawn(2, 2, 1, 3), [(0, nobody), (1, nobody)], nan)),
            ("a rank without keys, its LSE is +inf", emptied(*drawn(3, 2, 2, 3), [(draw.int(0, 2), 0)], 0.0, math.inf)),
            (
                "+inf, -inf and NaN outputs",
                emptied(*emptied(*drawn(4, 2, 2, 3), [(0, 0)], nan), [(2, 0), (1, 1)], nan, math.inf),
            ),
            ("nobody has keys, and all say +inf", emptied(*drawn(2, 2, 1, 3), [(0, nobody), (1, nobody)], 0.0, math.inf)),
            ("keys on the last rank only", emptied(*drawn(4, 1, 2, 3), [(0, 0), (1, 0), (2, 0)], 1e4)),
            ("one rank", one),
            ("LSEs about 595", drawn(3, 2, 2, 3, level=595.0)),
            ("LSEs about -595", drawn(3, 2, 2, 3, level=-595.0)),
            ("queries whose LSEs lie 1,100 apart", apart),
            ("bf16", drawn(8, 3, 2, 8, dtype=torch.bfloat16)),
            ("bf16, a rank without keys", emptied(*drawn(3, 2, 2, 4, 20.0, dtype=torch.bfloat16), [(0, 0)], nan)),
            ("strided tensors", strided),
            ("no queries", drawn(3, 0, 2, 4)),
        ]
    )


def _merge_oracle(outs: torch.Tensor, lses: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Number by number in Python's float64."""
    (ranks, queries, heads, width), o, z = outs.shape, outs.double().tolist(), lses.double().tolist()
    out, lse = torch.zeros(queries, heads, width, dtype=torch.float64), torch.full((queries, heads), -math.inf).double()
    for t in range(queries):
        for h in range(heads):
            held = [d for d in range(ranks) if math.isfinite(z[d][t][h])]
            if not held:
                continue
            top = max(z[d][t][h] for d in held)
            weight = {d: 2.0 ** (z[d][t][h] - top) for d in held}
            total = math.fsum(weight.values())
            for c in range(width):
                out[t, h, c] = math.fsum(weight[d] * o[d][t][h][c] for d in held) / total
            lse[t, h] = top + math.log2(total)
    return out.float(), lse.float()


def _merge_rows(case: Case, got: Any, expected: Any) -> Table:
    """The queries and heads that differ: what each rank brought, and what came of it."""
    outs, lses = (t.float() for t in case.args)
    header = ("query, head", "LSE of each rank", "first output of each", "yours", "expected")
    if not (
        isinstance(got, tuple)
        and len(got) == 2
        and all(isinstance(t, torch.Tensor) for t in got)
        and [(t.shape, t.dtype) for t in got] == [(t.shape, t.dtype) for t in expected]
    ):
        return Table(("yours", "expected"), ((short(got), short(expected)),))
    found = []
    for t in range(outs.shape[1]):
        for h in range(outs.shape[2]):
            pairs = [(g[t, h].reshape(-1).double(), e[t, h].reshape(-1).double()) for g, e in zip(got, expected, strict=True)]
            if all(torch.allclose(g, e, rtol=1e-4, atol=1e-4) for g, e in pairs):
                continue
            said = [f"out {out[0]:.4g}, lse {lse[0]:.4g}" for out, lse in zip(*pairs, strict=True)]
            ranks = [" ".join(f"{x:.3g}" for x in column.tolist()) for column in (lses[:, t, h], outs[:, t, h, 0])]
            found.append((f"{t}, {h}", *ranks, *said))
    return Table(header, tuple(found[:3]))


def _weight(lse: float) -> str:
    """2 to the power of a rank's LSE, where it is short enough to be read."""
    return "no keys" if math.isinf(lse) else f"weight {2**lse:.3g}" if abs(lse) < 16 else ""


def _merge_cells(tried: DrawnCase) -> Groups:
    """A column for each query and head: what the ranks brought, then what came of it. Of each output the first number that
    differs, or the first."""
    outs, lses = (t.float() for t in tried.case.args)
    places = [(t, h) for t in range(outs.shape[1]) for h in range(outs.shape[2])]
    mine = _results_of(tried.got, tried.expected)
    above = [Strip("query, head", tuple(DrawnCell(f"{t}, {h}", "header") for t, h in places))]
    below: list[list[DrawnCell]] = [[], []]
    shown = []
    for t, h in places:
        if mine is None or tried.expected is None:
            shown.append(0)
            below = [[*line, grid_cells.BLANK] for line in below]
            continue
        near = torch.isclose(mine[0][t, h], tried.expected[0][t, h], rtol=1e-4, atol=1e-4)
        column = int(near.int().argmin()) if not near.all() else 0
        shown.append(column)
        pairs = [(mine[0][t, h, column], tried.expected[0][t, h, column]), (mine[1][t, h], tried.expected[1][t, h])]
        for line, (got, right) in zip(below, pairs, strict=True):
            same = bool(torch.isclose(got, right, rtol=1e-4, atol=1e-4)) or bool(got == right)
            line.append(DrawnCell(f"{got:.4g}", right=None if same else f"{right:.4g}"))
    for rank in range(len(outs)):
        held = zip(places, shown, strict=True)
        cells = [(float(lses[rank, t, h]), float(outs[rank, t, h, column])) for (t, h), column in held]
        above.append(
            Strip(f"rank {rank}: LSE", tuple(DrawnCell(f"{lse:.4g}", f"owner{rank}", _weight(lse)) for lse, _ in cells))
        )
        above.append(Strip(f"rank {rank}: output", tuple(DrawnCell(f"{out:.4g}", f"owner{rank}") for _, out in cells)))
    return ((*above, Strip("your output", tuple(below[0])), Strip("your LSE", tuple(below[1]))),)


def _results_of(got: Any, expected: Any) -> list[torch.Tensor] | None:
    if not isinstance(got, tuple | list) or expected is None or len(got) != 2:
        return None
    if not all(isinstance(g, torch.Tensor) and g.shape == e.shape for g, e in zip(got, expected, strict=True)):
        return None
    return [g.float() for g in got]


PART = Part(
    id="3e",
    entry="merge_lse",
    title="What the ranks found, together",
    points=15,
    minutes=16,
    cases=again(_merge_cases),
    oracle=_merge_oracle,
    rows=_merge_rows,
    close=1e-4,
    question="How much of all the weight does one rank hold, and what is that for a rank that holds no key?",
    hints=(
        "2 to the power of a rank's LSE is the weight of all its keys. The outputs are averaged by these weights.",
        "2^595 does not fit a float32: subtract the largest LSE of the query and head first, and add it "
        "again at the end. Where "
        "every rank is empty the largest is -inf, and -inf - -inf is NaN: put 0 in its place.",
        "Put -inf for +inf first. weight = exp2(lses - top), which is 0 for -inf. Zero times NaN is NaN, so choose 0 with "
        "torch.where where the weight is 0, before you multiply. Divide by the sum where it is positive; the LSE is top + "
        "log2(sum).",
    ),
    prediction=Prediction(
        question="Three ranks: LSEs 5, 5 and 6, outputs 0, 0 and 10. What is the merged output?",
        answer="5",
        because=(
            "The weights are 32, 32 and 64: the last rank has half of all. The natural base would give 5.76; the "
            "LSEs for weights 3.75."
        ),
        choices=("3.33", "3.75", "5", "5.76", "10"),
    ),
    picture=Shows(drawn=_merge_cells, asks=3),
)
