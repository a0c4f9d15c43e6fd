"""Lab 03: batches of locs, values that tell whose they are, and what a launch of a writer (3a, 3g) does to a pool."""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import GAP, UNWRITTEN, spread_rows
from dcplab.course.model import Buf, Launch, Table, Unit
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN


def batch_locs(draw: Draw, dcp_rank: int, dcp_size: int, rows: range, mine: int, others: int, pads: int = 0) -> torch.Tensor:
    """Shuffled locs of a batch: ``mine`` of this rank, in ``rows``, ``others`` of other ranks, ``pads`` times -1."""
    other_ranks = [r for r in {*range(min(dcp_size, 8)), dcp_size - 1, (dcp_rank + 1) % dcp_size} if r != dcp_rank]
    strangers = [row * dcp_size + r for row in rows for r in other_ranks] if others else []
    locs = [row * dcp_size + dcp_rank for row in draw.sample(rows, mine)] + draw.sample(strangers, others) + [-1] * pads
    return torch.tensor(draw.shuffled(locs))


def low_locs(draw: Draw, dcp_size: int) -> torch.Tensor:
    """Shuffled locs of a batch for rank 0: its rows 0 and 1, strangers beside them, and negative ones of every remainder."""
    negative = [-1, -dcp_size, -2 * dcp_size - draw.int(0, dcp_size - 1)]
    return torch.tensor(draw.shuffled([0, dcp_size, 1, 2 * dcp_size - 1, *negative]))


def write_launch(
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
        buffers={"kv": spread_rows(blank, kv_stride, UNWRITTEN), "src": spread_rows(values, src_stride, GAP), "loc": locs},
        args=(Buf("kv", before=rows.start * kv_stride), Buf("src"), Buf("loc"), n, kv_stride, src_stride),
        grid=(-(-n // block),),
        constexprs={"DIM": width, "DCP_RANK": dcp_rank, "DCP_SIZE": dcp_size, "ROWS": block},
        label=label,
        size=size,
        writes=("kv",),
        **more,
    )


def own_write(src, locs, dcp_rank: int, dcp_size: int, rows: int, block: int = 4, pool: torch.dtype | None = None) -> Launch:
    """The launch for ``lab.run("3a", src, locs, dcp_rank, dcp_size, rows, block)``: a pool of ``rows`` rows, without gaps."""
    src, locs = torch.as_tensor(src, dtype=torch.float32), torch.as_tensor(locs, dtype=torch.int64)
    if src.dim() != 2 or locs.dim() != 1 or len(src) != len(locs):
        raise ValueError("src is [n, DIM]; locs has n entries")
    made = write_launch("yours", 0, src, locs, range(rows), dcp_rank, dcp_size, block, pool=pool)
    kv = made.buffers["kv"].reshape(rows, src.shape[1])
    return Launch(**{**vars(made), "buffers": {**made.buffers, "kv": kv}})


def pool_units(launch: Launch) -> dict[str, list[Unit]]:
    """One cell a row of the pool and of the batch. What lies between rows belongs to the row before it."""
    n, kv_stride, src_stride = launch.args[3:]
    last = launch.buffers["kv"].numel()
    rows = range(0, last, kv_stride)
    return {
        "kv": [(start, min(kv_stride, last - start), str(i)) for i, start in enumerate(rows)],
        "src": [(i * src_stride, launch.constexprs["DIM"], str(i)) for i in range(n)],
    }


def write_oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    """Row by row, in Python's own integers."""
    kv_at, _, _, n, kv_stride, src_stride = launch.args
    c, kv = launch.constexprs, buffers["kv"]
    flat, src = kv.reshape(-1), buffers["src"].reshape(-1)
    for token, loc in enumerate(buffers["loc"].tolist()[:n]):
        if loc >= 0 and loc % c["DCP_SIZE"] == c["DCP_RANK"]:
            at = loc // c["DCP_SIZE"] * kv_stride - kv_at.before
            flat[at : at + c["DIM"]] = src[token * src_stride : token * src_stride + c["DIM"]].to(kv.dtype)
    return {"kv": flat.reshape(kv.shape)}


def value_words(value: float, tokens: dict[float, tuple[int, int]]) -> str:
    if value == UNWRITTEN:
        return "not written"
    if value == GAP:
        return "from between two rows of src"
    return "token {}'s element {}".format(*tokens[value]) if value in tokens else f"{value:g}"


def pool_row_words(values: list[float], src: list[list[float]], tokens: dict, other: list[float]) -> str:
    """What lies in a row: a token, nothing, or the first element at which it differs from ``other``."""
    if values in src:
        return f"token {src.index(values)}"
    if all(v == UNWRITTEN for v in values):
        return "not written"
    column = next(i for i, (a, b) in enumerate(zip(values, other, strict=True)) if a != b)
    return f"its element {column}: {value_words(values[column], tokens)}"


def write_rows(case: Launch, got: Any, expected: Any) -> Table:
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
            found.append((str(row), whose, pool_row_words(here, src, tokens, asked), pool_row_words(asked, src, tokens, here)))
        gap = mine[start + width : start + kv_stride]
        if gap != right[start + width : start + kv_stride]:
            wrong = next(v for v in gap if v != UNWRITTEN)
            found.append((f"gap behind {row}", "nobody's", value_words(wrong, tokens), "not written"))
    more = f" The first {SHOWN} of {len(found)}:" if len(found) > SHOWN else ""
    return Table(header, tuple(found[:SHOWN]), caption + more)
