"""7d: Two block sizes"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from dcplab.course.cases import again, as_column, numbered
from dcplab.course.cells import DrawnCase, DrawnCell, Groups, Strip
from dcplab.course.model import Case, Part, Prediction, Shows, Table
from dcplab.course.seeded import Draw
from dcplab.present.entries import different
from dcplab.present.values import short

from .shared import held, strided


def _table(draw: Draw, lengths: list[int], dtype: torch.dtype = torch.int32, first: int = 1) -> torch.Tensor:
    """Blocks of requests that have so many each, from ``first`` on, in no order; -1 behind them."""
    most = max(lengths)
    blocks = iter(draw.sample(range(first, first + 3 * sum(lengths) + 4), sum(lengths)))
    return torch.tensor([[next(blocks) for _ in range(n)] + [-1] * (most - n) for n in lengths], dtype=dtype)


def _table_cases(draw: Draw) -> list[Case]:
    zero = _table(draw, [2, 3])
    zero[0, 0] = 0
    gap = _table(draw, [4, 4], torch.int64)
    gap[1, 1] = -1
    made = [
        ("blocks of 128, the kernel's are 64", (_table(draw, [2, 3], first=3), 128, 64)),
        ("four to one", (_table(draw, [3, 2, 1]), 64, 16)),
        ("three to one", (_table(draw, [2, 2]), 48, 16)),
        ("blocks of one token", (_table(draw, [2, 1]), 5, 1)),
        ("both of one size", (_table(draw, [3, 2]), 16, 16)),
        ("block 0", (zero, 8, 4)),
        ("padding between blocks", (gap, 8, 4)),
        ("int64 numbers past 2^31 and 2^53", (_table(draw, [2, 1], torch.int64, 2**58) + draw.int(0, 9), 12, 4)),
        ("int32 numbers past 2^24", (_table(draw, [2, 1], first=2**24), 12, 4)),
        ("a strided table", (strided(_table(draw, [3, 3, 3, 3], torch.int64), draw), 32, 16)),
        ("a line of padding alone", (torch.tensor([[-1, -1], [draw.int(2, 9), -1]], dtype=torch.int32), 32, 8)),
        ("no request", (torch.empty(0, 3, dtype=torch.int32), 32, 8)),
        ("no block", (torch.empty(2, 0, dtype=torch.int32), 32, 8)),
    ]
    refused = [
        ("the kernel's blocks do not fit", (_table(draw, [2, 1]), 64, 48)),
        ("the kernel's blocks are larger", (_table(draw, [2, 1]), 16, 64)),
        ("one token is left over", (_table(draw, [2, 1]), draw.choice([33, 65, 17]), 16)),
    ]
    right = numbered(made, call="kernel_block_table")
    wrong = numbered(refused, call="kernel_block_table", start=len(right))
    return right + [replace(case, raises="ValueError") for case in wrong]


def _slot_cases(draw: Draw, start: int) -> list[Case]:
    def tokens(table: torch.Tensor, size: int, n: int, dtype: torch.dtype = torch.int64) -> tuple:
        reqs = torch.tensor([draw.int(0, len(table) - 1) for _ in range(n)], dtype=dtype)
        positions = torch.tensor([draw.int(0, table.shape[1] * size - 1) for _ in range(n)], dtype=dtype)
        return table, reqs, positions, size

    def decode(table: torch.Tensor, size: int, lengths: list[int]) -> tuple:
        return table, torch.arange(len(table)), torch.tensor([n - 1 for n in lengths]), size

    ragged = _table(draw, [4, 2, 1])
    zero = _table(draw, [2, 2])
    zero[1, 0] = 0
    far = _table(draw, [3, 3], torch.int64, 2**52) + draw.int(0, 9)
    column = tokens(_table(draw, [3, 3]), 8, 6)
    made = [
        (
            "the prefill of one request",
            (torch.tensor([[5, 9]], dtype=torch.int32), torch.zeros(6).long(), torch.arange(6) + 2, 4),
        ),
        ("one token of each of three requests", decode(_table(draw, [3, 3, 3]), 4, [draw.int(5, 12) for _ in range(3)])),
        ("tokens of two requests, mixed", tokens(_table(draw, [3, 3]), 8, 9)),
        ("tokens on padding", (ragged, torch.tensor([1, 0, 2, 1]), torch.tensor([9, 13, draw.int(5, 15), 3]), 4)),
        ("blocks of 48", tokens(_table(draw, [2, 2, 2]), 48, 7)),
        ("blocks of one token", tokens(_table(draw, [5, 5]), 1, 5)),
        ("the edges of a block", (_table(draw, [3, 3]), torch.tensor([1, 1, 0, 0]), torch.tensor([15, 16, 31, 32]), 16)),
        ("block 0", (zero, torch.tensor([1, 0, 1]), torch.tensor([draw.int(1, 3), 6, 0]), 4)),
        ("an int32 table, slots past 2^31", tokens(_table(draw, [2, 2], torch.int32, 2**26), 64, 6)),
        ("int64 numbers past 2^53", tokens(far, 48, 6)),
        ("int32 requests and positions", tokens(_table(draw, [3, 3]), 16, 6, torch.int32)),
        ("a strided table", tokens(strided(_table(draw, [3, 3, 3, 3], torch.int64), draw), 16, 6)),
        ("columns of a table", (column[0], as_column(column[1] % 2), as_column(column[2] % 23), 8)),
        (
            "the first and the third request, in no order, a token twice",
            (_table(draw, [3, 3, 3]), torch.tensor([2, 0, 2, 2]), torch.tensor([10, 1, 10, 6]), 4),
        ),
        ("one token", tokens(_table(draw, [2]), 16, 1)),
        ("no token", tokens(_table(draw, [2, 1]), 16, 0)),
    ]
    return numbered(made, call="slot_mapping", start=start)


def _cases(draw: Draw) -> list[Case]:
    tables = _table_cases(draw)
    return tables + _slot_cases(draw, len(tables))


def _oracle(block_table: torch.Tensor, *rest: Any) -> torch.Tensor:
    """Go through it token by token: of a block all its slots are known, and the kernel's blocks are every b-th of them."""
    lines = block_table.tolist()
    if len(rest) == 2:
        size, small = rest
        if size % small:
            raise ValueError("blocks do not fit")
        split = [[number for block in line for number in _numbers(block, size, small)] for line in lines]
        return torch.tensor(split, dtype=block_table.dtype).reshape(len(lines), block_table.shape[1] * (size // small))
    reqs, positions, size = rest
    slots = []
    for req, position in zip(reqs.tolist(), positions.tolist(), strict=True):
        block = lines[req][position // size]
        slots.append(range(block * size, (block + 1) * size)[position % size] if block >= 0 else -1)
    return torch.tensor(slots, dtype=torch.int64)


def _numbers(block: int, size: int, small: int) -> list[int]:
    slots = range(block * size, (block + 1) * size, small)
    return [first // small for first in slots] if block >= 0 else [-1] * len(slots)


def _rows(case: Case, got: Any, expected: Any) -> Table:
    if case.call == "slot_mapping":
        table, reqs, positions, size = case.args
        lines, sides = table.tolist(), (reqs.tolist(), positions.tolist())
        caption = f"block_size {size}, block_table {short(lines)}."
        header = ("request", "position", "its block", "yours", "expected")

        def where(i: int) -> tuple:
            req, position = (side[i] for side in sides)
            return req, position, lines[req][position // size]

        return different(header, where, got, expected, caption)
    table, size, small = case.args
    caption = f"block_size {size}, kernel_block_size {small}, block_table {short(table.tolist())}."
    return different(("request", "yours", "expected"), lambda i: (i,), got, expected, caption, short)


def _cells(tried: DrawnCase) -> Groups:
    case = tried.case
    right = tried.expected if tried.expected is not None else _oracle(*case.args)
    alike = isinstance(tried.got, torch.Tensor) and tried.got.shape == right.shape
    mine = tried.got.tolist() if alike else [None] * len(right)
    if case.call == "slot_mapping":
        table, reqs, positions, size = case.args
        above = [(f"table, request {i}", line) for i, line in enumerate(table.tolist())]
        tokens = [("request", reqs.tolist()), (f"position, blocks of {size}", positions.tolist())]
        lines = tuple(Strip(label, tuple(DrawnCell(str(v), "header") for v in line)) for label, line in tokens)
        given = tuple((Strip(label, tuple(map(_block, line))),) for label, line in above)
        return (*given, (*lines, Strip("your slot", held(mine if alike else None, right.tolist()))))
    table, size, small = case.args
    given = tuple(Strip(f"request {i}, blocks of {size}", tuple(map(_block, line))) for i, line in enumerate(table.tolist()))
    yours = [Strip(f"yours, blocks of {small}", held(one, due)) for one, due in zip(mine, right.tolist(), strict=True)]
    return tuple((strip,) for pair in zip(given, yours, strict=True) for strip in pair)


def _block(number: int) -> DrawnCell:
    return DrawnCell(str(number), "quiet" if number < 0 else "page", "pad" if number < 0 else "")


PART = Part(
    id="7d",
    entry="kernel_block_table",
    also=("slot_mapping",),
    title="Two block sizes",
    points=15,
    minutes=12,
    cases=again(_cases),
    oracle=_oracle,
    rows=_rows,
    question="Of which size are the blocks in this table, and with which slot does one of them begin?",
    hints=(
        "A block's slots do not move. The manager's block n and the first of the kernel's that make it up begin at slot n * B.",
        "With k = B // b, block n becomes n * k, n * k + 1, ..., n * k + k - 1, in the place of one column. A slot is the "
        "block's number times the table's own size, and the position's place in the block besides.",
        "torch.where(blocks >= 0, blocks * k + torch.arange(k), -1) on block_table[:, :, None], then flatten(1). For the "
        "slots: block_table[req_indices, positions // block_size], as int64 before it is multiplied.",
    ),
    prediction=Prediction(
        question=(
            "The manager's blocks have 128 tokens, a request has blocks 5 and 9. The kernel takes them for blocks of 64. Where "
            "does it look for position 70?"
        ),
        answer="in block 9, slot 582",
        because=(
            "70 // 64 is column 1, and there stands 9: 9 * 64 + 6 is 582. The token lies in slot 5 * 128 + 70 = 710. 582 is in "
            "the pool too, the second half of the manager's block 4, which is somebody else's."
        ),
        choices=("in block 5, slot 710", "in block 9, slot 582", "in block 9, slot 1158", "nowhere: an IndexError"),
    ),
    picture=Shows(drawn=_cells, title="Blocks of 128 as blocks of 64"),
)
