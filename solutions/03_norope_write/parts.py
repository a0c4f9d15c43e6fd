"""Lab 03, part by part: points, cases, predictions, hints.

Pools and batches hold distinct values, so that a table can say whose value lies in a row. What must come to light: padding on
the last rank and on the only one, row 0, gaps between rows, a dcp_size that is no power of two or far past 2^31, an address
past 2^31 elements, empty ranks whose output is NaN, LSEs whose powers overflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from dcplab.course.model import Buf, Case, Launch, Part, Prediction, Table
from dcplab.course.seeded import Draw
from dcplab.judge.compare import short

LAB = dict(id="03", name="03_norope_write", title="Right until then", minutes=75)

UNWRITTEN, GAP = 7, 9  # what a pool holds before a write; what lies between the rows of a batch
FIRST = 10  # the smallest value of a token
SHOWN = 6  # rows of a failure table
FP8 = torch.float8_e4m3fn


# ---- inputs -----------------------------------------------------------------------------------------------------------


def _numbered(cases: Sequence[tuple[str, tuple]], **more: Any) -> list[Case]:
    """Cases in the order in which a failure should be shown: ``size`` is the place in the list."""
    return [Case(args=args, label=label, size=i, **more) for i, (label, args) in enumerate(cases)]


def _batch(draw: Draw, dcp_rank: int, dcp_size: int, rows: range, mine: int, others: int, pads: int = 0) -> torch.Tensor:
    """Shuffled locs of a batch: ``mine`` of this rank, in ``rows``, ``others`` of other ranks, ``pads`` times -1."""
    other_ranks = [r for r in {*range(min(dcp_size, 8)), dcp_size - 1, (dcp_rank + 1) % dcp_size} if r != dcp_rank]
    strangers = [row * dcp_size + r for row in rows for r in other_ranks] if others else []
    locs = [row * dcp_size + dcp_rank for row in draw.sample(rows, mine)] + draw.sample(strangers, others) + [-1] * pads
    return torch.tensor(draw.shuffled(locs))


def _values(draw: Draw, n: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    """``[n, width]``, every value another one, none of them UNWRITTEN or GAP."""
    return (FIRST + torch.randperm(n * width, generator=draw.torch())).reshape(n, width).to(dtype)


def _e4m3(draw: Draw, n: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    """``[n, width]`` of normal numbers that float8_e4m3fn holds exactly, every one another."""
    numbers = [m * 2.0**e for e in range(-9, 6) for m in range(8, 16) if m * 2.0**e <= 448]
    both = [sign * x for x in numbers for sign in (1, -1) if x not in (UNWRITTEN, GAP)]
    return torch.tensor(draw.sample(both, n * width), dtype=dtype).reshape(n, width)


def _spread(values: torch.Tensor, stride: int, fill: float) -> torch.Tensor:
    """Rows ``stride`` apart in one flat tensor that ends with the last row; between them lies ``fill``."""
    n, width = values.shape
    flat = torch.full(((n - 1) * stride + width,), fill, dtype=values.dtype)
    flat.as_strided((n, width), (stride, 1)).copy_(values)
    return flat


def _launch(
    label: str,
    size: int,
    values: torch.Tensor,
    locs: torch.Tensor,
    rows: range,
    dcp_rank: int,
    dcp_size: int,
    block: int,
    gaps: tuple[int, int] = (0, 0),
    pool: torch.dtype | None = None,
    **more: Any,
) -> Launch:
    """Writes ``values`` into a pool with ``rows``; if they do not start at 0, those before them are out of reach."""
    n, width = values.shape
    kv_stride, src_stride = width + gaps[0], width + gaps[1]
    blank = torch.full((len(rows), width), float(UNWRITTEN)).to(pool or values.dtype)
    return Launch(
        buffers={"kv": _spread(blank, kv_stride, UNWRITTEN), "src": _spread(values, src_stride, GAP), "loc": locs},
        args=(Buf("kv", before=rows.start * kv_stride), Buf("src"), Buf("loc"), n, kv_stride, src_stride),
        grid=(-(-n // block),),
        constexprs={"DIM": width, "DCP_RANK": dcp_rank, "DCP_SIZE": dcp_size, "ROWS": block},
        label=label,
        size=size,
        writes=("kv",),
        **more,
    )


def _write_cases(draw: Draw) -> list[Launch]:
    def drawn(label, size, d, rank, rows, tokens, width, block, dtype=torch.float32, spare=0, **more):
        locs, pool = _batch(draw, rank, d, rows, *tokens), range(0, rows.stop + spare)
        return _launch(label, size, _values(draw, len(locs), width, dtype), locs, pool, rank, d, block, **more)

    many = 2**30 + 1024 * draw.int(3, 99)  # float32 holds it, and rounds the last rank's locs up to the next row
    far = 2**18 + 4 * draw.int(1, 25)  # times 2^13 elements a row: past 2^31, and the buffer stays small
    far_locs = _batch(draw, 1, 4, range(far, far + 3), 3, 2, 1)
    far_values = _values(draw, len(far_locs), 8, torch.uint8)
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
        _launch(
            "a pool of more than 2^31 elements", 8, far_values, far_locs, range(far, far + 3), 1, 4, 4, gaps=(2**13 - 8, 0)
        ),
        drawn("a server's row: 512 wide", 9, 8, draw.choice([0, 5, 7]), range(4, 9), (4, 7, 1), 512, 8),
    ]


def _fp8_cases(draw: Draw) -> list[Launch]:
    def drawn(label, size, d, rank, rows, tokens, width, block, dtype, values=_e4m3, **more):
        locs = _batch(draw, rank, d, rows, *tokens)
        here = range(0, rows.stop)
        return _launch(label, size, values(draw, len(locs), width, dtype), locs, here, rank, d, block, pool=FP8, **more)

    def any_values(draw, n, width, dtype):
        scale = 2.0 ** torch.randint(-9, 9, (n, width), generator=draw.torch())
        return (torch.rand(n, width, generator=draw.torch()) * scale).clamp(max=448).to(dtype)

    rounded = dict(values=any_values, modes=("gpu",))
    return [
        drawn("one program, rank 1 of 4", 0, 4, 1, range(2, 8), (2, 2, 1), 4, 8, torch.float32, exact=True),
        drawn("the last rank, bf16", 1, 4, 3, range(2, 8), (2, 2, 2), 8, 4, torch.bfloat16, gaps=(3, 0), exact=True),
        drawn("one rank, with padding", 2, 1, 0, range(2, 9), (4, 0, 2), 4, 4, torch.float32, exact=True),
        drawn("three ranks, gaps", 3, 3, draw.int(0, 2), range(2, 12), (5, 6), 16, 4, torch.bfloat16, gaps=(5, 3), exact=True),
        drawn("no token is this rank's", 4, 4, 2, range(2, 8), (0, 4, 1), 4, 8, torch.float32, exact=True),
        drawn("values that must be rounded, fp32", 5, 4, 1, range(2, 20), (12, 7), 64, 8, torch.float32, **rounded),
        drawn("values that must be rounded, bf16", 6, 8, 7, range(2, 20), (12, 7, 2), 64, 8, torch.bfloat16, **rounded),
    ]


def _own_launch(src, locs, dcp_rank: int, dcp_size: int, rows: int, block: int = 4, pool: torch.dtype | None = None) -> Launch:
    """The launch for ``lab.run("3a", src, locs, dcp_rank, dcp_size, rows, block)``: a pool of ``rows`` rows, without gaps."""
    src, locs = torch.as_tensor(src, dtype=torch.float32), torch.as_tensor(locs, dtype=torch.int64)
    if src.dim() != 2 or locs.dim() != 1 or len(src) != len(locs):
        raise ValueError("src is [n, DIM]; locs has n entries")
    made = _launch("yours", 0, src, locs, range(rows), dcp_rank, dcp_size, block, pool=pool)
    kv = made.buffers["kv"].reshape(rows, src.shape[1])
    return Launch(**{**vars(made), "buffers": {**made.buffers, "kv": kv}})


def _own_fp8_launch(src, locs, dcp_rank: int, dcp_size: int, rows: int, block: int = 4) -> Launch:
    """The launch for ``lab.run("3g", src, locs, dcp_rank, dcp_size, rows, block)``: as 3a's, into a float8_e4m3fn pool."""
    return _own_launch(src, locs, dcp_rank, dcp_size, rows, block, FP8)


def _write_oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    """Row by row, in Python's own integers."""
    kv_at, _, _, n, kv_stride, src_stride = launch.args
    c, kv = launch.constexprs, buffers["kv"]
    flat, src = kv.reshape(-1), buffers["src"].reshape(-1)
    for token, loc in enumerate(buffers["loc"].tolist()[:n]):
        if loc >= 0 and loc % c["DCP_SIZE"] == c["DCP_RANK"]:
            at = loc // c["DCP_SIZE"] * kv_stride - kv_at.before
            flat[at : at + c["DIM"]] = src[token * src_stride : token * src_stride + c["DIM"]].to(kv.dtype)
    return {"kv": flat.reshape(kv.shape)}


def _torch_write_cases(draw: Draw) -> list[Case]:
    def drawn(d, rank, rows, tokens, width, pool_rows, dtype=torch.float32, view="", index=torch.int64):
        locs = _batch(draw, rank, d, rows, *tokens).to(index)
        src = _values(draw, len(locs), width, dtype)
        kv = torch.full((pool_rows, 2 * width + 1), float(UNWRITTEN)).to(dtype)
        kv = {"": kv[:, :width].contiguous(), "gap": kv[:, 1 : width + 1], "every other": kv[:, 1::2]}[view]
        if view:  # the batch too: a slice of something larger
            src = torch.stack([src, src], dim=1)[:, 0]
            locs = torch.stack([locs, locs], dim=1)[:, 1]
        return kv, src, locs, rank, d

    # float32 and float64 round locs up there. In 32 bits the first is negative: else loc and D would wrap and fit.
    large, many = 2**32 + 2**31 + 2 * draw.int(3, 999) + 1, 2**56 + 64 * draw.int(3, 999)
    return _numbered(
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
            ("no tokens", drawn(4, 1, range(2, 6), (0, 0), 3, 6)),
        ],
        writes=(0,),
    )


def _localize_pool_cases(draw: Draw) -> list[Case]:
    kinds = ("target", "draft", "unified_resolved")
    sizes = [("two ranks", 2), ("one rank", 1), (f"{(odd := 2 * draw.int(1, 6) + 1)} ranks", odd), ("eight ranks", 8)]
    return _numbered([(f"{kind}, {label}", (kind, d)) for label, d in sizes for kind in kinds])


def _topk_cases(draw: Draw) -> list[Case]:
    def drawn(shape, rank, d, pads=0, dtype=torch.int64, rows=range(0, 64)):
        """A table of distinct locs; this rank has another number of them in each query."""
        *queries, k = shape
        table = []
        for number in range(math.prod(queries)):
            mine = min(1 + number % 3, k - pads)
            table.append(_batch(draw, rank, d, rows, mine, (k - pads - mine) if d > 1 else 0, pads))
            if d == 1:
                table[-1] = torch.tensor(draw.shuffled([*draw.sample(rows, k - pads), *[-1] * pads]))
        return torch.stack(table).reshape(shape).to(dtype), rank, d

    wide = drawn((2, 3, 12), draw.int(1, 6), 8, pads=2)
    many = 2**40 + 64 * draw.int(3, 999)  # with rows past 2^14 float64 rounds the last rank's locs up to the next row
    zero = torch.tensor([draw.shuffled([0, 4 * draw.int(1, 9), 5, 10, -1])])
    whole = torch.tensor([draw.shuffled([3, 7, 11, 15]), draw.shuffled([1, 2, 4, 8])])
    return _numbered(
        [
            ("one query, rank 0", (zero, 0, 4)),
            ("two queries, the last rank, padding", drawn((2, 6), 3, 4, pads=2)),
            ("all of one query, none of another", (whole, 3, 4)),
            ("int32 locs, three ranks", drawn((3, 8), draw.int(0, 2), 3, pads=1, dtype=torch.int32)),
            ("one rank", drawn((2, 5), 0, 1, pads=2)),
            ("a single query, one-dimensional", drawn((7,), draw.int(1, 2), 4, pads=1)),
            (
                "a strided table of queries and steps",
                (torch.stack([wide[0], wide[0]], -1)[..., 1].transpose(0, 1), *wide[1:]),
            ),
            ("rows up to 2^31", drawn((2, 6), 5, 6, rows=range(2**31 - 40, 2**31))),
            ("locs past 2^31 and 2^53", drawn((2, 6), many - draw.int(1, 2), many, pads=1, rows=range(2**14, 2**14 + 30))),
            ("many keys", drawn((4, 40), draw.choice([0, 5, 7]), 8, pads=3)),
            ("no keys", (torch.empty(3, 0, dtype=torch.int64), 1, 4)),
            ("no queries", (torch.empty(0, 4, dtype=torch.int64), 1, 4)),
        ]
    )


def _merge_cases(draw: Draw) -> list[Case]:
    g = draw.torch()

    def drawn(ranks, queries, heads, width, level=0.0, spread=2.0, dtype=torch.float32):
        outs = 3 * torch.randn(ranks, queries, heads, width, generator=g)
        lses = level + spread * torch.randn(ranks, queries, heads, generator=g)
        return outs.to(dtype), lses.clamp(-600, 600).to(dtype)

    def emptied(outs, lses, where, fill):
        """The given (rank, query) pairs hold no key; what the kernel left there is ``fill``."""
        outs, lses = outs.clone(), lses.clone()
        for rank, query in where:
            outs[rank, query], lses[rank, query] = fill, -math.inf
        return outs, lses

    nan, nobody = math.nan, draw.int(0, 1)
    example = torch.tensor([0.0, 10.0]).reshape(2, 1, 1, 1), torch.tensor([1.0, 3.0]).reshape(2, 1, 1)
    apart = drawn(3, 4, 2, 3, spread=1.0)
    apart = apart[0], apart[1] + torch.tensor([600.0, -590.0, 0.0, 300.0]).reshape(1, 4, 1) * 0.99
    one = drawn(1, 1, 2, 2)
    wide = drawn(3, 2, 4, 6)
    strided = wide[0].transpose(1, 2)[..., ::2], wide[1].transpose(1, 2)
    ones = torch.ones(3, 1, 2, 2) * draw.int(2, 5), torch.full((3, 1, 2), draw.int(3, 9) / 2)
    return _numbered(
        [
            ("masses 2 and 8, outputs 0 and 10", example),
            ("three equal partials", ones),
            ("three ranks, two queries", drawn(3, 2, 2, 4)),
            ("a rank without keys, its output is 0", emptied(*drawn(3, 2, 2, 3), [(draw.int(1, 2), 0)], 0.0)),
            ("a rank without keys, its output is NaN", emptied(*drawn(4, 2, 2, 3), [(draw.int(1, 3), 1)], nan)),
            ("a query that no rank has keys for", emptied(*drawn(2, 2, 1, 3), [(0, nobody), (1, nobody)], nan)),
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
            held = [d for d in range(ranks) if z[d][t][h] > -math.inf]
            if not held:
                continue
            top = max(z[d][t][h] for d in held)
            weight = {d: 2.0 ** (z[d][t][h] - top) for d in held}
            total = math.fsum(weight.values())
            for c in range(width):
                out[t, h, c] = math.fsum(weight[d] * o[d][t][h][c] for d in held) / total
            lse[t, h] = top + math.log2(total)
    return out.float(), lse.float()


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
    return _numbered(
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
            ("no queries", server()),
        ]
    )


# ---- the smallest failure, as a table -----------------------------------------------------------------------------------


def _whose(value: float, tokens: dict[float, tuple[int, int]]) -> str:
    if value == UNWRITTEN:
        return "not written"
    if value == GAP:
        return "from between two rows of src"
    return "token {}, element {}".format(*tokens[value]) if value in tokens else f"{value:g}"


def _row_of_pool(values: list[float], src: list[list[float]], tokens: dict, other: list[float]) -> str:
    """What lies in a row: a token, nothing, or the first element at which it differs from ``other``."""
    if values in src:
        return f"token {src.index(values)}"
    if all(v == UNWRITTEN for v in values):
        return "not written"
    column = next(i for i, (a, b) in enumerate(zip(values, other, strict=True)) if a != b)
    return f"at {column}: {_whose(values[column], tokens)}"


def _write_rows(case: Launch, got: Any, expected: Any) -> Table:
    """Row by row of the pool: which loc belongs there, what is there, what should be."""
    c, n, kv_stride, src_stride = case.constexprs, *case.args[3:]
    width, first = c["DIM"], case.args[0].before // kv_stride
    locs = case.buffers["loc"].tolist()
    src = case.buffers["src"].float().reshape(-1).as_strided((n, width), (src_stride, 1)).tolist()
    tokens = {value: (t, i) for t, row in enumerate(src) for i, value in enumerate(row)}
    header = ("row", "loc of this rank", "yours", "expected")
    caption = f"locs {locs[:8]}, DCP_RANK {c['DCP_RANK']}, DCP_SIZE {c['DCP_SIZE']}, ROWS {c['ROWS']}."
    mine, right = (value.get("kv") if isinstance(value, dict) else None for value in (got, expected))
    if mine is None or right is None or mine.shape != right.shape:
        return Table(header, (), caption)
    mine, right = (t.float().reshape(-1).tolist() for t in (mine, right))
    found = []
    for start in range(0, len(right), kv_stride):
        row = first + start // kv_stride
        loc = row * c["DCP_SIZE"] + c["DCP_RANK"]
        here, asked = mine[start : start + width], right[start : start + width]
        if here != asked:
            whose = f"{loc}, token {locs.index(loc)}" if loc in locs else f"{loc}, which is not in locs"
            found.append((str(row), whose, _row_of_pool(here, src, tokens, asked), _row_of_pool(asked, src, tokens, here)))
        gap = mine[start + width : start + kv_stride]
        if gap != right[start + width : start + kv_stride]:
            wrong = next(v for v in gap if v != UNWRITTEN)
            found.append((f"after {row}", "nobody's: a gap", _whose(wrong, tokens), "not written"))
    more = f" The first {SHOWN} of {len(found)}:" if len(found) > SHOWN else ""
    return Table(header, tuple(found[:SHOWN]), caption + more)


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
            found.append((str(row), whose, _row_of_pool(here, rows, tokens, asked), _row_of_pool(asked, rows, tokens, here)))
    return Table(header, tuple(found[:SHOWN]), caption)


def _topk_rows(case: Case, got: Any, expected: Any) -> Table:
    topk, dcp_rank, dcp_size = case.args
    header = ("query", "its locs", "yours", "expected")
    caption = f"dcp_rank {dcp_rank}, dcp_size {dcp_size}; rows, then the count."
    if not (isinstance(got, tuple) and len(got) == 2 and all(isinstance(t, torch.Tensor) for t in got)):
        return Table(("yours", "expected"), ((short(got), short(expected)),), caption)
    if any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(got, expected, strict=True)):
        names = ("rows", "counts")
        said = [
            (n, *(f"{list(t.shape)} {str(t.dtype)[6:]}" for t in pair)) for n, *pair in zip(names, got, expected, strict=True)
        ]
        return Table(("result", "yours", "expected"), tuple(said), caption)
    k = topk.shape[-1]
    said = [
        [f"{_few(r)}, {n}" for r, n in zip(rows.reshape(-1, k).tolist(), counts.reshape(-1).tolist(), strict=True)]
        for rows, counts in (got, expected)
    ]
    locs = topk.reshape(-1, k).tolist()
    found = [(str(i), _few(locs[i]), mine, right) for i, (mine, right) in enumerate(zip(*said, strict=True)) if mine != right]
    return Table(header, tuple(found[:3]), caption)


def _few(values: list) -> str:
    return f"[{', '.join(map(str, values[:8]))}{', ...' if len(values) > 8 else ''}]"


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


def _alarm_rows(case: Case, got: Any, expected: Any) -> Table:
    valid, topk, merged, single = case.args
    header = ("query", "keys asked for", "valid on each rank", "merged LSE", "single LSE")
    rows = [
        (str(t), str(int(topk[t])), " ".join(map(str, valid[:, t].tolist())), *(f"{lse[t, 0]:.4f}" for lse in (merged, single)))
        for t in range(len(topk))
    ]
    return Table(header, tuple(rows[:SHOWN]), f"Yours: {short(got)}; expected: {expected}. The LSEs are head 0's.")


# ---- the parts ----------------------------------------------------------------------------------------------------------

PARTS = [
    Part(
        id="3a",
        entry="write_ckv_norope_kernel",
        title="Where, and whether",
        points=20,
        minutes=15,
        cases=_write_cases,
        oracle=_write_oracle,
        launch=_own_launch,
        rows=_write_rows,
        timeout_s=60.0,
        question=(
            "For the token of one lane: is its loc this rank's, which row is it then, and which mask keeps the others out?"
        ),
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
    ),
    Part(
        id="3b",
        entry="write_ckv_torch",
        title="The twin that did half",
        points=15,
        minutes=8,
        cases=_torch_write_cases,
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
            question=(
                "Four ranks. In torch -1 % 4 is 3 and -1 // 4 is -1. Nobody tests the sign. What happens to a padded token?"
            ),
            answer="it overwrites rank 3's last row",
            because="The last rank takes -1 for its own, and row -1 of a tensor is its last. On the other ranks all is well.",
            choices=("nothing", "it overwrites rank 3's row 0", "it overwrites rank 3's last row", "an IndexError on rank 3"),
        ),
    ),
    Part(
        id="3c",
        entry="should_localize",
        title="Who must not divide",
        points=10,
        minutes=5,
        cases=_localize_pool_cases,
        question=(
            "What are the ids that this pool is written by: locs of all ranks, or rows of this one? And is it split at all?"
        ),
        hints=(
            "Localizing is right once, and only for a pool that is split. Go through the three kinds.",
            "The target's c-KV is split and is given locs. The draft's is whole on every rank. The unified pool is split "
            "too, but its caller has turned the ids into rows already.",
            'Only "target" localizes, and only where there is more than one rank. Make it a bool with a comparison.',
        ),
        prediction=Prediction(
            question=(
                "Four ranks. Somebody localizes the writes to the draft's pool, which every rank reads by loc. What is lost?"
            ),
            answer="most of the draft's tokens, and it guesses worse",
            because=(
                "A rank stores only its own quarter, in other rows than are read. The draft then proposes nonsense; the target "
                "rejects it, so answers stay right and the server becomes slow."
            ),
            choices=(
                "nothing",
                "the answer's first word",
                "most of the draft's tokens, and it guesses worse",
                "the target's c-KV",
            ),
        ),
    ),
    Part(
        id="3d",
        entry="localize_topk",
        title="What this rank can read",
        points=15,
        minutes=10,
        cases=_topk_cases,
        rows=_topk_rows,
        question="Of the locs of one query: which does this rank hold, in which order, and how many are they?",
        hints=(
            "Three steps: rows or -1, as in 1c; the rows to the front; how many there are.",
            "Sorting by the row would change the order of the keys. Sort by whether it is a hole: 0 for a row, 1 for -1. "
            "A stable sort keeps the order among equals.",
            "order = torch.argsort((rows < 0).int(), dim=-1, stable=True), then rows.gather(-1, order). The "
            "count is the sum of "
            "rows >= 0 along the last axis. Convert both to int32 at the end.",
        ),
        prediction=Prediction(
            question="D = 4. The top-k chose locs [10, 5, 8, 2], the best first. What does rank 2 walk after compaction?",
            answer="[2, 0, -1, -1], count 2",
            because=(
                "Locs 10 and 2 are rank 2's, in rows 2 and 0; they keep their order. The count tells the kernel to stop there."
            ),
            choices=(
                "[2, -1, -1, 0], count 2",
                "[2, 0, -1, -1], count 2",
                "[0, 2, -1, -1], count 2",
                "[2, 0, -1, -1], count 4",
            ),
        ),
    ),
    Part(
        id="3e",
        entry="merge_lse",
        title="What the ranks found, together",
        points=20,
        minutes=12,
        cases=_merge_cases,
        oracle=_merge_oracle,
        rows=_merge_rows,
        close=1e-4,
        question="How much of all the weight does one rank hold, and what is that for a rank that holds no key?",
        hints=(
            "2 to the power of a rank's LSE is the weight of all its keys. The outputs are averaged by these weights.",
            "2^595 does not fit a float32: subtract the largest LSE of the query and head first, and add it "
            "again at the end. Where "
            "every rank is empty the largest is -inf, and -inf - -inf is NaN: put 0 in its place.",
            "weight = exp2(lses - top), which is 0 for -inf. Zero times NaN is NaN, so choose 0 with torch.where "
            "where the weight "
            "is 0, before you multiply. Divide by the sum where it is positive; the LSE is top + log2(sum).",
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
    ),
    Part(
        id="3f",
        entry="replication_alarm",
        title="A number nobody looked at",
        points=15,
        minutes=10,
        cases=_alarm_cases,
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
            question=(
                "Four ranks. Two of them hold all keys of a query, two hold none. By how much is its merged LSE too large?"
            ),
            answer="1",
            because=(
                "Every key weighs twice as much, and log2 of 2 is 1. How many ranks there are plays no part, nor "
                "does the output."
            ),
            choices=("0", "0.5", "1", "2"),
        ),
    ),
    Part(
        id="3g",
        entry="write_ckv_fp8_kernel",
        title="Bonus: the same write, in eight bits",
        points=5,
        minutes=10,
        cases=_fp8_cases,
        oracle=_write_oracle,
        launch=_own_fp8_launch,
        rows=_write_rows,
        timeout_s=60.0,
        question="What changes in the kernel of 3a when the pool's elements are narrower than the source's?",
        hints=(
            "Rows, strides and masks count elements, not bytes. Which of them change?",
            "tl.store converts to the element type of the pointer. If you convert yourself, do it to float8e4nv, "
            "and as a number.",
            "The body of 3a does it as it is, if the value is loaded as a number and stored through kv_ptr.",
        ),
        prediction=Prediction(
            question=(
                "float8_e4m3fn has three bits after the leading one: from 16 to 32 it goes in steps of 2. What becomes of 31.1?"
            ),
            answer="32",
            because="32 is 0.9 away, 30 is 1.1 away. Rounding to nearest takes 32, although that is the next power of two.",
            choices=("16", "30", "31", "32"),
        ),
    ),
]
