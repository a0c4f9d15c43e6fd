"""6f: The copy as a Triton kernel"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import GAP, UNWRITTEN, again, spread_rows, told_apart
from dcplab.course.model import Buf, Launch, Part, Prediction, Shows, Table, Unit
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN, whose


def _launch(label: str, size: int, locs, pools, nodes, block: int, width: int, gaps=(0, 0), **more: Any) -> Launch:
    """``locs``: source and target. ``pools``: source rows, a range of target rows. ``nodes``: (size, rank) of both."""
    (src_locs, dst_locs), (src, rows), ((s, s_rank), (t, t_rank)) = locs, pools, nodes
    n, strides = len(src_locs), (width + gaps[0], width + gaps[1])
    blank = torch.full((len(rows), width), float(UNWRITTEN)).to(src.dtype)
    return Launch(
        buffers={
            "dst": spread_rows(blank, strides[0], UNWRITTEN),
            "src": spread_rows(src, strides[1], GAP),
            "dst_loc": torch.tensor(dst_locs),
            "src_loc": torch.tensor(src_locs),
        },
        args=(Buf("dst", before=rows.start * strides[0]), Buf("src"), Buf("dst_loc"), Buf("src_loc"), n, *strides),
        grid=(-(-n // block),),
        constexprs={"DIM": width, "DST_RANK": t_rank, "DST_SIZE": t, "SRC_RANK": s_rank, "SRC_SIZE": s, "ROWS": block},
        label=label,
        size=size,
        writes=("dst",),
        **more,
    )


def _kernel_cases(draw: Draw) -> list[Launch]:
    def drawn(label, size, nodes, moved, others, cached, width, block, dtype=torch.float32, rows=range(1, 9), **more):
        """``moved`` tokens between these two ranks, ``others`` of which at most one side is theirs, ``cached`` ones (-1)."""
        (s, s_rank), (t, t_rank) = nodes
        src_rows, dst_rows = draw.sample(range(9), moved + cached), draw.sample(rows, moved)
        tokens = [(a * s + s_rank, b * t + t_rank) for a, b in zip(src_rows, dst_rows, strict=False)]
        tokens += [(a * s + s_rank, -1) for a in src_rows[moved:]]
        for k, (a, b) in enumerate(zip(draw.sample(range(9), others), draw.sample(rows, others), strict=True)):
            mine, theirs = (s_rank, (s_rank + 1) % s), (t_rank, (t_rank + 1) % t)
            # Whose token it is not: the target's, the source's, neither's.
            side = k % 3 if min(s, t) > 1 else (0 if t > 1 else 1)
            tokens.append(((a + 12 * (side > 0)) * s + mine[side > 0], b * t + theirs[side != 1]))  # a row that is not here
        tokens = draw.shuffled(tokens)
        pools = told_apart(draw, 10, width, dtype), range(0, rows.stop + 1)
        return _launch(label, size, tuple(map(list, zip(*tokens, strict=True))), pools, nodes, block, width, **more)

    many = 2**30 + 1024 * draw.int(3, 99)  # times a row it leaves 32 bits
    far = 2**18 + 4 * draw.int(1, 25)  # times 2^13 elements a row: past 2^31, and the buffer stays small
    far_locs = [1, 9, 5, 2], [(far + 2) * 4 + 1, far * 4 + 1, far * 4 + 2, (far + 1) * 4 + 1]
    zero = [0, 3, 6, 1, 4], [0, 2, -1, 4, 1]
    return [
        drawn("one program, from one rank to four", 0, ((1, 0), (4, 1)), 3, 2, 0, 4, 8),
        drawn("from four ranks to one", 1, ((4, 3), (1, 0)), 3, 3, 0, 4, 8),
        drawn("from two ranks to three, two programs", 2, ((2, 1), (3, 2)), 4, 4, 0, 8, 4),
        drawn("tokens that the target has already: the last rank", 3, ((1, 0), (4, 3)), 3, 2, 3, 4, 8),
        drawn("one rank on both sides, some cached", 4, ((1, 0), (1, 0)), 4, 0, 2, 4, 4),
        drawn("no token moves between these two", 5, ((4, 1), (4, 2)), 0, 5, 1, 4, 8),
        drawn("gaps after each row, half precision", 6, ((3, 0), (2, 1)), 5, 4, 1, 8, 4, torch.float16, gaps=(5, 3)),
        drawn("a row of one element, one token a program", 7, ((2, 0), (5, 4)), 3, 3, 1, 1, 1),
        drawn("more tokens a program than elements a row", 8, ((3, 2), (3, 2)), 6, 5, 1, 2, 16),
        drawn(f"{many:,} ranks on the source", 9, ((many, many - 1), (2, 1)), 4, 3, 1, 4, 4),
        drawn(f"{many:,} ranks on the target", 10, ((2, 1), (many, many - 1)), 4, 3, 1, 4, 4),
        _launch(
            "a target of more than 2^31 elements", 11, far_locs, (told_apart(draw, 10, 8, torch.uint8), range(far, far + 3)),
            ((1, 0), (4, 1)), 4, 8, gaps=(2**13 - 8, 0),
        ),
        drawn("a server's row: 512 wide", 12, ((1, 0), (8, draw.choice([0, 5, 7]))), 4, 5, 2, 512, 8),
        _launch("row 0 and loc 0", 13, zero, (told_apart(draw, 4, 4), range(4)), ((3, 0), (2, 0)), 8, 4),
    ]  # fmt: skip


def _oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    """Token by token, in Python's own integers."""
    dst_at, *_, n, dst_stride, src_stride = launch.args
    c, dst, src = launch.constexprs, buffers["dst"], buffers["src"]
    for a, b in zip(buffers["src_loc"].tolist()[:n], buffers["dst_loc"].tolist()[:n], strict=True):
        if b >= 0 and a % c["SRC_SIZE"] == c["SRC_RANK"] and b % c["DST_SIZE"] == c["DST_RANK"]:
            to, of = b // c["DST_SIZE"] * dst_stride - dst_at.before, a // c["SRC_SIZE"] * src_stride
            dst[to : to + c["DIM"]] = src[of : of + c["DIM"]]
    return {"dst": dst}


def _own_launch(src, src_locs, dst_locs, src_size: int, src_rank: int, dst_size: int, dst_rank: int, rows: int, block: int = 4):
    """The launch for ``lab.run("6f", src, src_locs, dst_locs, src_size, src_rank, dst_size, dst_rank, rows, block)``."""
    src = torch.as_tensor(src, dtype=torch.float32)
    src_locs, dst_locs = (torch.as_tensor(locs, dtype=torch.int64).tolist() for locs in (src_locs, dst_locs))
    if src.dim() != 2 or len(src_locs) != len(dst_locs) or not src_locs:
        raise ValueError("src is [rows, DIM]; src_locs and dst_locs have an entry a token, at least one")
    nodes = (src_size, src_rank), (dst_size, dst_rank)
    made = _launch("yours", 0, (src_locs, dst_locs), (src, range(rows)), nodes, block, src.shape[1])
    shaped = {"dst": made.buffers["dst"].reshape(rows, -1), "src": made.buffers["src"].reshape(len(src), -1)}
    return Launch(**{**vars(made), "buffers": {**made.buffers, **shaped}})


def _units(launch: Launch) -> dict[str, list[Unit]]:
    """One cell a row of either pool. What lies between rows belongs to the row before it."""
    dim, found = launch.constexprs["DIM"], {}
    for name, stride in zip(("dst", "src"), launch.args[5:], strict=True):
        last = launch.buffers[name].numel()
        starts = enumerate(range(0, last, stride))
        found[name] = [(at, min(stride, last - at) if name == "dst" else dim, str(i)) for i, at in starts]
    return found


def _kernel_rows(case: Launch, got: Any, expected: Any) -> Table:
    c, (dst_stride, src_stride) = case.constexprs, case.args[5:]
    dim, first = c["DIM"], case.args[0].before // dst_stride
    src = case.buffers["src"].float().reshape(-1)
    known = src.as_strided((-(-src.numel() // src_stride), dim), (src_stride, 1)).tolist()
    caption = (
        f"Source: rank {c['SRC_RANK']} of {c['SRC_SIZE']}. Target: rank {c['DST_RANK']} of {c['DST_SIZE']}. ROWS {c['ROWS']}."
    )
    header = ("target row", "yours", "expected")
    mine, right = (value.get("dst") if isinstance(value, dict) else None for value in (got, expected))
    if mine is None or right is None or mine.shape != right.shape:
        return Table(header, (), caption)
    mine, right = (t.float().reshape(-1).tolist() for t in (mine, right))
    found = []
    for at in range(0, len(right), dst_stride):
        row = first + at // dst_stride
        here, asked = mine[at : at + dim], right[at : at + dim]
        if here != asked:
            found.append((str(row), whose(here, known, "source row"), whose(asked, known, "source row")))
        if mine[at + dim : at + dst_stride] != right[at + dim : at + dst_stride]:
            found.append((f"after {row}", "written: a gap, nobody's", "not written"))
    return Table(header, tuple(found[:SHOWN]), caption)


PART = Part(
    id="6f",
    entry="transfer_rows_kernel",
    title="The copy as a Triton kernel",
    points=15,
    minutes=14,
    can_wait=True,
    cases=again(_kernel_cases),
    oracle=_oracle,
    launch=_own_launch,
    rows=_kernel_rows,
    timeout_s=60.0,
    question="For the token of one lane: which two rows has it, and which mask lets it move?",
    hints=(
        "It is 6e, lane by lane: three questions make one mask, and two quotients make two rows.",
        "Load both locs under token < n, the target's with other=-1. A lane moves if the target loc is not negative and both "
        "remainders are those of the ranks. Load and store under that one mask.",
        "The addresses are 2-D: dst_ptr + (dst_loc // DST_SIZE)[:, None] * dst_stride + tl.arange(0, DIM)[None, :], and "
        "likewise for the source with SRC_SIZE and src_stride. mask=moves[:, None] on both.",
    ),
    prediction=Prediction(
        question=(
            "A batch of 64 tokens goes from one rank to eight. Eight launches, one a target rank. How many rows "
            "does each launch read?"
        ),
        answer="8",
        because=(
            "The mask stands before the load: a lane whose token goes to another rank reads its two locs and no row. With the "
            "mask on the store alone each launch would read 64 rows, 512 in all for 64 that move."
        ),
        choices=("1", "8", "64", "512"),
    ),
    picture=Shows("content", {"src": "content", "dst_loc": "loc", "src_loc": "loc"}, units=_units),
)
