"""4g: The assembly as a Triton kernel"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch

from dcplab.course.cases import again
from dcplab.course.model import Buf, Launch, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different

from .shared import both_sides, ints, who

UNWRITTEN = -4444  # in a workspace, before a launch
GAP = -3333  # between a row's last number and the next row: somebody else's


def _launch(label: str, size: int, sides, lens, rows: int, strides=None, dtype=torch.float32) -> Launch:
    """The launch for prefixes and new tokens ``[n, DIM]``; rows lie ``strides`` apart, with others' memory between them."""
    (prefix, extend), dim = sides, sides[0].shape[1]
    strides = strides or (dim, dim, dim)
    cu = [ints(accumulate(side, initial=0)) for side in lens]
    total = int(cu[0][-1] + cu[1][-1])

    def buffer(values: torch.Tensor, stride: int) -> torch.Tensor:
        held = torch.full((len(values), stride), GAP, dtype=dtype)
        held[:, :dim] = values
        return held

    longest = max(p + e for p, e in zip(*lens, strict=True))
    return Launch(
        buffers={
            "prefix": buffer(prefix, strides[0]),
            "extend": buffer(extend, strides[1]),
            "out": buffer(torch.full((total, dim), UNWRITTEN), strides[2]),
            "cu_prefix": cu[0],
            "cu_extend": cu[1],
        },
        args=(Buf("prefix"), Buf("extend"), Buf("out"), Buf("cu_prefix"), Buf("cu_extend"), *strides),
        grid=(len(lens[0]), -(-longest // rows)),
        constexprs={"DIM": dim, "ROWS": rows},
        label=label,
        size=size,
        writes=("out",),
    )


def _kernel_cases(draw: Draw) -> list[Launch]:
    def drawn(prefix_lens, extend_lens, dim, noise_from=10):
        """Sides ``[n, dim]``: request, position, then noise."""
        sides = both_sides(draw, prefix_lens, extend_lens)
        noise = (torch.randint(noise_from, 10 * noise_from, (len(side), dim - 2), generator=draw.torch()) for side in sides)
        return [torch.cat([side[:, :2], more], dim=1) for side, more in zip(sides, noise, strict=True)], (
            prefix_lens,
            extend_lens,
        )

    shapes = [
        ("one request, one program", drawn([3], [2], 4), 8, None),
        ("two requests, partly filled blocks", drawn([2, 3], [1, 2], 4), 8, None),
        ("several programs a request", drawn([5, 2], [4, 3], 4), 2, None),
        ("a block full to its last row, numbers past 65,504", drawn([3, 6], [1, 2], 8, 10**6), 4, None),
        ("requests without a prefix, and without new tokens", drawn([0, 4, 3, 0], [3, 0, 2, 0], 4), 4, None),
        ("rows that lie further apart", drawn([3, 2], [2, draw.int(2, 3)], 4), 4, (7, 5, 6)),
        ("rows of 32, float16", drawn([7, 1, 6], [1, 5, 3], 32), 4, (40, 32, 33)),
        ("new tokens only", drawn([0, 0], [draw.int(3, 4), 2], 4), 4, None),
    ]
    return [
        _launch(label, i, sides, lens, rows, strides, torch.float16 if "float16" in label else torch.float32)
        for i, (label, (sides, lens), rows, strides) in enumerate(shapes)
    ]


def _own_launch(prefix, extend, prefix_lens, extend_lens, rows: int) -> Launch:
    """The launch for ``lab.run("4g", prefix, extend, prefix_lens, extend_lens, rows)``."""
    prefix, extend = torch.as_tensor(prefix), torch.as_tensor(extend)
    lens = tuple(torch.as_tensor(side).tolist() for side in (prefix_lens, extend_lens))
    if prefix.dim() != 2 or extend.dim() != 2 or prefix.shape[1] != extend.shape[1]:
        raise ValueError("prefix is [n, DIM] and extend [m, DIM]")
    if len(lens[0]) != len(lens[1]) or (sum(lens[0]), sum(lens[1])) != (len(prefix), len(extend)) or not sum(map(sum, lens)):
        raise ValueError("prefix_lens and extend_lens have an entry a request and sum to the rows there are, at least one")
    return _launch("yours", 0, (prefix.float(), extend.float()), lens, rows)


def _kernel_oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    dim, out = launch.constexprs["DIM"], buffers["out"].clone()
    lens = (buffers[name].diff().tolist() for name in ("cu_prefix", "cu_extend"))
    sides = [buffers[name][:, :dim].split(n) for name, n in zip(("prefix", "extend"), lens, strict=True)]
    out[:, :dim] = torch.cat([piece for pair in zip(*sides, strict=True) for piece in pair])
    return {"out": out}


def _written(row: list, dim: int) -> str:
    """A row of a workspace after a launch, and what lies behind it, in words."""
    own, gap = row[:dim], row[dim:]
    if UNWRITTEN in own:
        said = "not written" if set(own) == {UNWRITTEN} else "partly written"
    else:
        said = "what lies between rows" if GAP in own else who(own)
    return said if set(gap) <= {GAP} else f"{said}; written behind it"


def _kernel_rows(case: Launch, got: Any, expected: Any) -> Table:
    dim, rows = case.constexprs["DIM"], case.constexprs["ROWS"]
    lens = [case.buffers[name].diff().tolist() for name in ("cu_prefix", "cu_extend")]
    caption = f"prefix lengths {lens[0]}, new tokens {lens[1]}, DIM {dim}, ROWS {rows}, strides {list(case.args[5:])}."
    mine, right = (value.get("out") if isinstance(value, dict) else value for value in (got, expected))
    whose = [(i, b // rows) for i, (p, e) in enumerate(zip(*lens, strict=True)) for b in range(p + e)]
    header = ("ragged index", "program whose row it is", "yours", "expected")
    return different(header, lambda i: (i, whose[i]), mine, right, caption, lambda row: _written(row, dim))


PART = Part(
    id="4g",
    entry="assemble_ragged_kernel",
    title="The assembly as a Triton kernel",
    points=15,
    minutes=16,
    can_wait=True,
    cases=again(_kernel_cases),
    oracle=_kernel_oracle,
    launch=_own_launch,
    rows=_kernel_rows,
    timeout_s=60.0,
    question="Row b of request i's segment: is it an old token or a new one, and where do you read it?",
    hints=(
        "Each lane is one row of a segment. Decide first which of three it is: an old token, a new one, or past the end.",
        "The request's prefix begins at p0 = cu_prefix[i] and has p rows; its new tokens at e0 = cu_extend[i], e rows. "
        "Row b is prefix row p0 + b while b < p, then extend row e0 + b - p. It goes to row p0 + e0 + b of the output.",
        "Load twice, under the masks b < p and (b >= p) & (b < p + e), take tl.where of the two and store under "
        "b < p + e. Multiply each row by the stride of its own buffer.",
    ),
    prediction=Prediction(
        question="Two requests, 2 + 1 and 3 + 2 tokens, ROWS = 2. How many programs are launched?",
        answer="6",
        because=(
            "The longest segment has 5 rows: three blocks of 2. The grid is 2 by 3, and program (0, 2) has nothing to do: "
            "a rectangle over a ragged batch."
        ),
        choices=("2", "4", "5", "6"),
    ),
    picture=Shows("token", {"prefix": "token", "extend": "token"}),
)
