"""7e: Rows on the move"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import GAP, UNWRITTEN, again, spread_rows, told_apart
from dcplab.course.model import Buf, Launch, Part, Prediction, Shows, Table, Unit
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN, whose

Node = tuple[int, int, int]  # rank, D, I
Moved = list[tuple[int, int]]  # source row, target row of each token that goes from one rank to the other


def _rank_and_row(loc: int, node: Node) -> tuple[int, int]:
    """Count in Python's own integers: the turn, the rank, the place in its run."""
    turn, rest = divmod(loc, node[1] * node[2])
    rank, place = divmod(rest, node[2])
    return rank, turn * node[2] + place


def _moved(piece: tuple[int, int, int], source: Node, target: Node) -> Moved:
    """``piece``: first source loc, first target loc, tokens."""
    rows = []
    for i in range(piece[2]):
        (s, of), (t, to) = _rank_and_row(piece[0] + i, source), _rank_and_row(piece[1] + i, target)
        if (s, t) == (source[0], target[0]):
            rows.append((of, to))
    return rows


def _rows_of(first: int, n: int, node: Node) -> range:
    """Rows of all turns that a piece touches: any rank has all of them."""
    turn = node[1] * node[2]
    return range(first // turn * node[2], ((first + n - 1) // turn + 1) * node[2])


def _launch(label: str, size: int, piece, nodes, src, rows, block: int, gaps=(0, 0), **more: Any) -> Launch:
    """``piece``: as in `_moved`. ``nodes``: source and target. ``rows``: two ranges; ``src`` holds those of the source."""
    source, target = nodes
    n, width = piece[2], src.shape[1]
    strides = (width + gaps[0], width + gaps[1])
    blank = torch.full((len(rows[1]), width), float(UNWRITTEN)).to(src.dtype)
    buffers = {"dst": spread_rows(blank, strides[0], UNWRITTEN), "src": spread_rows(src, strides[1], GAP)}
    may = torch.zeros_like(buffers["src"], dtype=torch.bool)
    for of, _ in _moved(piece, source, target):
        at = (of - rows[0].start) * strides[1]
        may[at : at + width] = True
    pools = (Buf("dst", before=rows[1].start * strides[0]), Buf("src", before=rows[0].start * strides[1]))
    names = [f"{side}_{name}" for side in ("DST", "SRC") for name in ("RANK", "SIZE", "INTERLEAVE")]
    return Launch(
        buffers=buffers,
        args=(*pools, piece[1], piece[0], n, *strides),
        grid=(-(-n // block),),
        constexprs={"DIM": width, **dict(zip(names, (*target, *source), strict=True)), "ROWS": block},
        label=label,
        size=size,
        writes=("dst",),
        reads={"src": may},
        **more,
    )


def _drawn_piece(draw: Draw, source: Node, target: Node, n: int, bases: tuple[int, int], least: int) -> tuple[int, int, int]:
    """Draw first locs, up to three turns past ``bases``, so that ``least`` tokens move and, where others can be, one stays."""
    turns = source[1] * source[2], target[1] * target[2]
    while True:
        firsts = [base + draw.int(0, 3 * min(turn, 64)) for base, turn in zip(bases, turns, strict=True)]
        piece = (firsts[0], firsts[1], n)
        count = len(_moved(piece, source, target))
        if count >= least and (count < n or source[1] == target[1] == 1) and 1 not in firsts:
            return piece


def _kernel_cases(draw: Draw) -> list[Launch]:
    def drawn(label, size, source, target, n, width, block, dtype=torch.float32, least=2, bases=(0, 0), **more):
        piece = _drawn_piece(draw, source, target, n, bases, least)
        rows = [_rows_of(first, n, node) for first, node in zip(piece, (source, target), strict=False)]
        rows = [range(0, part.stop) if width < 512 else part for part in rows]  # a small pool is here from row 0 on
        src = told_apart(draw, len(rows[0]), width, dtype)
        if dtype == torch.float64:
            src += 2.0**-40  # float32 rounds it away
        return _launch(label, size, piece, (source, target), src, rows, block, **more)

    def far(size, label, stride, dim=8):
        """The far side's rows lie from 2^18 on, 2^13 elements apart: past 2^31 elements, while its locs are small."""
        row = 2**18 + 4 * draw.int(1, 25)
        node, other = (draw.int(1, 2), 4, 2), (0, 1, 4)
        nodes, gaps = ((node, other), (0, stride - dim)) if size == 10 else ((other, node), (stride - dim, 0))
        first = row // 2 * 8 + draw.int(0, 2)
        firsts = (first, 8) if size == 10 else (8, first)
        rows = tuple(_rows_of(at, 9, on) for at, on in zip(firsts, nodes, strict=True))
        src = told_apart(draw, len(rows[0]), dim, torch.uint8)
        return _launch(label, size, (*firsts, 9), nodes, src, rows, 4, gaps=gaps)

    many = 2**29 + 1024 * draw.int(3, 99)  # times three locs a turn and a turn it leaves 32 bits
    over = 2**31 - 3  # fits 32 bits; three tokens further it does not
    high = (over // (3 * many)) * 3 * many  # the turn in which it lies
    where = (over + 4 - high) // 3, many, 3
    into = _rank_and_row(15, (0, 2, 3))[0], 2, 3
    return [
        drawn("from two ranks by 3 to two by 1, one program", 0, (1, 2, 3), (0, 2, 1), 8, 4, 8),
        drawn("from one rank to three by 4", 1, (0, 1, 2), (2, 3, 4), 13, 4, 16),
        drawn("from four ranks by 2 to one, two programs", 2, (3, 4, 2), (0, 1, 4), 15, 4, 8),
        drawn("from three ranks by 2 to two by 3", 3, (2, 3, 2), (1, 2, 3), 20, 8, 8, bases=(18, 12)),
        drawn("one loc a turn on both sides, lab 06's", 4, (1, 2, 1), (2, 3, 1), 17, 4, 8, bases=(6, 9)),
        drawn("blocks by turns: pages of 8, from two ranks to four", 5, (0, 2, 8), (3, 4, 8), 40, 4, 16, bases=(16, 32)),
        drawn("one rank on both sides, other runs", 6, (0, 1, 5), (0, 1, 3), 9, 4, 4, bases=(10, 20)),
        _launch(
            "no token goes from the one to the other", 7, (8, 24, 8), ((0, 2, 4), (3, 4, 4)), told_apart(draw, 4, 4),
            (range(4, 8), range(4, 12)), 8,
        ),
        drawn("gaps after each row, half", 8, (0, 3, 2), (1, 2, 4), 21, 8, 8, torch.float16, gaps=(5, 3), bases=(6, 8)),
        drawn("a row of one element, one token a program", 9, (0, 2, 3), (4, 5, 2), 12, 1, 1, gaps=(2, 3)),
        far(10, "a source of more than 2^31 elements", 2**13),
        far(11, "a target of more than 2^31 elements", 2**13),
        _launch(
            f"a piece that passes loc 2^31, {many:,} ranks by 3", 12, (over, 11, 9), (where, into),
            told_apart(draw, len(_rows_of(over, 9, where)), 4), (_rows_of(over, 9, where), _rows_of(11, 9, into)), 4,
        ),
        _launch(
            f"target locs past 2^33, {4 * many:,} ranks by 3", 13, (9, 48 * many + 3, 9), ((1, 2, 3), (1, 4 * many, 3)),
            told_apart(draw, 6, 4), (_rows_of(9, 9, (1, 2, 3)), _rows_of(48 * many + 3, 9, (1, 4 * many, 3))), 4,
        ),
        drawn("a server's row: 512 wide, 64 a turn", 14, (0, 1, 64), (5, 8, 64), 130, 512, 32, least=9, bases=(64, 300)),
        drawn("more tokens a program than elements a row", 15, (1, 3, 2), (2, 3, 4), 30, 2, 32),
        drawn("float64 values that float32 does not hold", 17, (1, 3, 2), (0, 2, 2), 14, 4, 8, torch.float64, bases=(6, 4)),
        _launch("row 0 and loc 0", 16, (0, 0, 16), ((0, 1, 8), (0, 3, 2)), told_apart(draw, 16, 4), (range(16), range(6)), 32),
    ]  # fmt: skip


def _nodes(launch: Launch) -> tuple[Node, Node]:
    """Return source and target."""
    c = launch.constexprs
    source, target = ((c[f"{side}_RANK"], c[f"{side}_SIZE"], c[f"{side}_INTERLEAVE"]) for side in ("SRC", "DST"))
    return source, target


def _oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    """Row by row, in Python's own integers."""
    dst_at, src_at, dst_first, src_first, n, dst_stride, src_stride = launch.args
    dst, src, dim = buffers["dst"], buffers["src"], launch.constexprs["DIM"]
    for of, to in _moved((src_first, dst_first, n), *_nodes(launch)):
        a, b = of * src_stride - src_at.before, to * dst_stride - dst_at.before
        dst[b : b + dim] = src[a : a + dim]
    return {"dst": dst}


def _own_launch(src, src_first: int, dst_first: int, n: int, source, target, rows: int, block: int = 4) -> Launch:
    """The launch for ``lab.run("7e", src, src_first, dst_first, n, source, target, rows, block)``; a node is (rank, D, I)."""
    src = torch.as_tensor(src, dtype=torch.float32)
    if src.dim() != 2 or n < 1:
        raise ValueError("src is [rows, DIM]; n is 1 or more")
    nodes = tuple(tuple(int(v) for v in node) for node in (source, target))
    if any(len(node) != 3 for node in nodes):
        raise ValueError("source and target are (rank, D, I)")
    have = (range(len(src)), range(rows))
    for first, node, there in zip((src_first, dst_first), nodes, have, strict=True):
        if (ends := _rows_of(first, n, node).stop) > len(there):
            raise ValueError(f"the turns of locs {first} to {first + n - 1} end with row {ends - 1}: {ends} rows are needed")
    made = _launch("yours", 0, (src_first, dst_first, n), nodes, src, have, block)
    shaped = {"dst": made.buffers["dst"].reshape(rows, -1), "src": made.buffers["src"].reshape(len(src), -1)}
    reads = {"src": made.reads["src"].reshape(len(src), -1)}
    return Launch(**{**vars(made), "buffers": shaped, "reads": reads})


def _units(launch: Launch) -> dict[str, list[Unit]]:
    """One cell a row of either pool. What lies between rows belongs to the row before it."""
    dim, found = launch.constexprs["DIM"], {}
    for name, buf, stride in zip(("dst", "src"), launch.args[:2], launch.args[5:], strict=True):
        last, first = launch.buffers[name].numel(), buf.before // stride
        wide = stride if name == "dst" else dim
        found[name] = [(at, min(wide, last - at), str(first + i)) for i, at in enumerate(range(0, last, stride))]
    return found


def _kernel_rows(case: Launch, got: Any, expected: Any) -> Table:
    c, (dst_stride, src_stride) = case.constexprs, case.args[5:]
    dim, firsts = c["DIM"], [buf.before // stride for buf, stride in zip(case.args[:2], case.args[5:], strict=True)]
    src = case.buffers["src"].double().reshape(-1)
    known = src.as_strided((-(-src.numel() // src_stride), dim), (src_stride, 1)).tolist()
    said = ("rank {} of {}, {} a turn".format(*node) for node in _nodes(case))
    caption = "Source: {}. Target: {}. {} tokens from source loc {} and target loc {} on.".format(
        *said, case.args[4], case.args[3], case.args[2]
    )
    header = ("target row", "yours", "expected")
    mine, right = (value.get("dst") if isinstance(value, dict) else None for value in (got, expected))
    if mine is None or right is None or mine.shape != right.shape:
        return Table(header, (), caption)
    mine, right = (t.double().reshape(-1).tolist() for t in (mine, right))

    def words(row: list[float]) -> str:
        told = whose(row, known, "source row")
        place = told.removeprefix("source row ")
        return f"source row {firsts[1] + int(place)}" if place.isdigit() else told

    found = []
    for at in range(0, len(right), dst_stride):
        row = firsts[0] + at // dst_stride
        here, asked = mine[at : at + dim], right[at : at + dim]
        if here != asked:
            found.append((str(row), words(here), words(asked)))
        if mine[at + dim : at + dst_stride] != right[at + dim : at + dst_stride]:
            found.append((f"after {row}", "written: a gap, nobody's", "not written"))
    return Table(header, tuple(found[:SHOWN]), caption)


PART = Part(
    id="7e",
    entry="relayout_kernel",
    title="Rows on the move",
    points=20,
    minutes=15,
    can_wait=True,
    cases=again(_kernel_cases),
    oracle=_oracle,
    launch=_own_launch,
    rows=_kernel_rows,
    timeout_s=60.0,
    question="For one token of the piece: what are its two locs, and what does 7a say of each on its own node?",
    hints=(
        "Each lane is one token. No loc is stored anywhere: the piece begins at src_first and dst_first, and token i is i "
        "further on either side.",
        "Ask 7a twice, with the numbers of either node. A lane moves if the token exists and both ranks are those of this "
        "launch; load and store under that one mask. Rows reach past 2^31 elements: what is made of tl.arange counts in 32 "
        "bits until you widen it.",
        "token = tl.program_id(0) * ROWS + tl.arange(0, ROWS).to(tl.int64), src_loc = src_first + token, dst_loc likewise. "
        "The source row is src_loc // (SRC_SIZE * SRC_INTERLEAVE) * SRC_INTERLEAVE + src_loc % SRC_INTERLEAVE.",
    ),
    prediction=Prediction(
        question=(
            "A piece of 64 tokens goes from two ranks, one loc a turn, to four ranks, 8 a turn: eight launches, one a pair "
            "of ranks. How many rows do all of them read together?"
        ),
        answer="64",
        because=(
            "A token has one owner on either side, so one launch of eight moves it. The others do not read its row, since the "
            "mask stands before the load. With the target's rank asked only at the store, each of the four would read it: 256."
        ),
        choices=("64", "128", "256", "512"),
    ),
    picture=Shows("content", {"src": "content"}, units=_units),
)
