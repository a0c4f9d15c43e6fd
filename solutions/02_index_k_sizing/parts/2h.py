"""2h: The write that meets the end"""

from __future__ import annotations

from typing import Any

import torch

from dcplab.course.cases import again
from dcplab.course.model import Buf, Launch, Part, Prediction, Shows, Table, Unit
from dcplab.course.seeded import Draw
from dcplab.present.entries import SHOWN

UNWRITTEN = 0xAA  # what index-K holds before a launch


def _launch(label: str, size: int, locs: torch.Tensor, pages: range, page_size: int, rows: int, keys, scales) -> Launch:
    """Writes into the ``pages`` of index-K; if they do not start at 0, those before them are not here."""
    n, dim = keys.shape
    page = page_size * (dim + 4)
    return Launch(
        buffers={
            "buf": torch.full((len(pages), page), UNWRITTEN, dtype=torch.uint8),
            "key": keys,
            "scale": scales,
            "loc": locs,
        },
        args=(
            Buf("buf", before=pages.start * page),
            Buf("buf", "float32", before=pages.start * page // 4),
            Buf("key"),
            Buf("scale"),
            Buf("loc"),
            n,
        ),
        grid=(-(-n // rows),),
        constexprs={"PAGE_SIZE": page_size, "DIM": dim, "ROWS": rows},
        label=label,
        size=size,
        writes=("buf",),
    )


def _write_cases(draw: Draw) -> list[Launch]:
    def drawn(label, size, n, pads, pages, page_size, dim, rows, first=None):
        pages = pages if isinstance(pages, range) else range(pages)
        locs = draw.sample(range(max(1, pages.start) * page_size, pages.stop * page_size), n - pads)
        locs = draw.shuffled([*locs, *[-1] * pads])
        if first is not None:  # what stands first is what a failure shows first
            locs = [first, *(loc for loc in locs if loc != first)][:n]
        return written(label, size, locs, pages, page_size, dim, rows)

    def written(label, size, locs, pages, page_size, dim, rows):
        n = len(locs)
        keys = torch.randint(1, 255, (n, dim), generator=draw.torch(), dtype=torch.uint8)
        scales = torch.rand(n, generator=draw.torch()) + 0.5
        return _launch(label, size, torch.tensor(locs), pages, page_size, rows, keys, scales)

    far = 2**18 + draw.int(1, 99)  # pages of 8,448 bytes: past 2^31
    return [
        drawn("one token", 0, 1, 0, 4, 4, 8, 1),
        drawn("three tokens, one is padding, a partly filled block", 1, 3, 1, 4, 4, 8, 4),
        drawn("a full block", 2, 8, 0, 5, 4, 16, 8),
        drawn("two programs, a page of 6 slots", 3, 7, 2, 3, 6, 8, 4),
        drawn("the last slot of the last page", 4, 5, 1, 3, 8, 16, 8, first=23),
        drawn("a server's page: 64 slots of 128 + 4 bytes", 5, 20, 3, 3, 64, 128, 8),
        written("loc 0 and its neighbours", 6, draw.shuffled([0, 1, 4, 7, -1]), range(2), 4, 8, 8),
        drawn("more tokens a program than bytes a key", 7, 14, 1, 6, 4, 4, 16),
        drawn("a buffer of more than 2^31 bytes", 8, 9, 1, range(far, far + 2), 64, 128, 8),
    ]


def _own_launch(keys, scales, locs, pages: int, page_size: int, rows: int) -> Launch:
    """The launch for ``lab.run("2h", keys, scales, locs, pages, page_size, rows)``."""
    keys, scales, locs = torch.as_tensor(keys), torch.as_tensor(scales), torch.as_tensor(locs)
    if keys.dim() != 2 or len(keys) != len(scales) or len(keys) != len(locs):
        raise ValueError("keys is [n, DIM]; scales and locs have n entries")
    keys, scales, locs = keys.to(torch.uint8), scales.to(torch.float32), locs.to(torch.int64)
    return _launch("yours", 0, locs.contiguous(), range(pages), page_size, rows, keys.contiguous(), scales.contiguous())


def _write_oracle(buffers: dict[str, torch.Tensor], launch: Launch) -> dict[str, torch.Tensor]:
    page_size, dim = launch.constexprs["PAGE_SIZE"], launch.constexprs["DIM"]
    buf, here = buffers["buf"], buffers["loc"] >= 0
    loc, keys, scales = buffers["loc"][here], buffers["key"][here], buffers["scale"][here]
    first = launch.args[0].before // buf.shape[1]
    page, slot = loc.div(page_size, rounding_mode="floor") - first, loc % page_size
    buf[:, : page_size * dim].view(-1, page_size, dim)[page, slot] = keys
    buf[:, page_size * dim :].view(-1, page_size, 4)[page, slot] = scales.view(-1, 1).view(torch.uint8)
    return {"buf": buf}


def _write_rows(case: Launch, got: Any, expected: Any) -> Table:
    """Byte by byte: where in index-K, what belongs there, and what is there."""
    page_size, dim = case.constexprs["PAGE_SIZE"], case.constexprs["DIM"]
    locs = set(case.buffers["loc"].tolist())
    header = ("page", "byte of the page", "belongs to", "yours", "expected")
    caption = f"locs {case.buffers['loc'].tolist()[:12]}, PAGE_SIZE {page_size}, DIM {dim}, ROWS {case.constexprs['ROWS']}. "
    mine, right = (value.get("buf") if isinstance(value, dict) else None for value in (got, expected))
    if mine is None or right is None or mine.shape != right.shape:
        return Table(header, (), caption)
    places, first = (mine != right).nonzero().tolist(), case.args[0].before // mine.shape[1]
    rows = []
    for at, byte in places:
        page = first + at
        if byte < page_size * dim:
            slot, what = byte // dim, f"key byte {byte % dim}"
        else:
            slot, what = (byte - page_size * dim) // 4, "scale"
        loc = page * page_size + slot
        whose = f"loc {loc}, {what}" if loc in locs else f"loc {loc}, which is not written"
        if rows and rows[-1][:1] == (str(page),) and rows[-1][2] == whose:
            continue  # a scale is four bytes
        yours, asked = ("not written" if v == UNWRITTEN else str(v) for v in (int(mine[at, byte]), int(right[at, byte])))
        rows.append((str(page), str(byte), whose, yours, asked))
        if len(rows) == SHOWN:
            break
    return Table(header, tuple(rows), f"{caption}{len(places)} of {right.numel()} bytes differ.")


def _units(launch: Launch) -> dict[str, Any]:
    """One cell a key and one a scale, in two lines a page of index-K. ``t3`` is the token of lane 3."""
    size, dim, n = launch.constexprs["PAGE_SIZE"], launch.constexprs["DIM"], len(launch.buffers["loc"])
    found: dict[str, list[Unit]] = {}
    for page in range(len(launch.buffers["buf"])):
        start = page * size * (dim + 4)
        found[f"page {page} keys"] = [(start + slot * dim, dim, f"slot {slot}") for slot in range(size)]
        found[f"page {page} scales"] = [(start + size * dim + slot * 4, 4, f"slot {slot}") for slot in range(size)]
    width = {"key": dim, "scale": 1, "loc": 1}
    return {"buf": found} | {name: [(i * w, w, f"t{i}") for i in range(n)] for name, w in width.items()}


PART = Part(
    id="2h",
    entry="write_index_k_kernel",
    title="The write that meets the end",
    points=15,
    minutes=14,
    cases=again(_write_cases),
    oracle=_write_oracle,
    launch=_own_launch,
    rows=_write_rows,
    timeout_s=60.0,
    question="For the token of one lane: at which byte of which page does its key begin, and where does its scale lie?",
    hints=(
        "Two pointers to one memory. Count bytes with the first and floats with the second, and never mix the two counts.",
        "Page loc // PAGE_SIZE begins at byte page * PAGE_SIZE * (DIM + 4). In it key number slot begins at "
        "slot * DIM; the "
        "scales follow after PAGE_SIZE * DIM bytes. Divide by 4 where you count floats.",
        "token = program * ROWS + arange; loc = load(masked by n, other=-1); here = loc >= 0 masks "
        "everything after it. Keys "
        "need a 2-D block: offsets[:, None] + arange(DIM)[None, :], and here[:, None].",
    ),
    prediction=Prediction(
        question=(
            "A page has 64 slots of 128 bytes of key and 4 of scale. At which byte of its page does the scale of slot 1 begin?"
        ),
        answer="8196",
        because="First all keys, 64 * 128 = 8,192 bytes, then the scales: slot 1's is the second, 4 bytes further.",
        choices=("132", "260", "8192", "8196"),
    ),
    picture=Shows("content", {"key": "content", "scale": "number", "loc": "number"}, units=_units),
)
