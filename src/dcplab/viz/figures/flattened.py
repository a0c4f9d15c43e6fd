"""Draws requests: which cells of ``req_to_token`` go where."""

from __future__ import annotations

from dcplab.course.model import Table
from dcplab.viz.core.palette import request_style
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import CELL_HEIGHT, GAP, MARGIN, Box, Scene, cell_width, chip, chip_width, chunks, number, per_line
from dcplab.viz.core.validate import whole_list

MOST_ROWS, MOST_COLUMNS = 16, 32


def letter(i: int) -> str:
    """Name the i-th request of a batch: A, B, ... Z, A2, B2, ..."""
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 26] + (str(i // 26 + 1) if i >= 26 else "")


@drawn
def flattened(req_to_token, req_pool_indices, seq_lens) -> Picture:
    """Draw the cells of ``req_to_token`` that form the flat vector of locs, and their order.

    ``req_to_token``: 2-D locs (list of rows or tensor), at most 16 rows of 32. ``req_pool_indices``: the row of each request.
    ``seq_lens``: tokens of each request, 0 allowed. Request A is the first of the batch; A0 is its position 0.
    """
    table = req_to_token.tolist() if hasattr(req_to_token, "tolist") else list(req_to_token)
    pool = [whole_list(row, f"req_to_token[{i}]", most=MOST_COLUMNS) for i, row in enumerate(table)]
    indices, lens = whole_list(req_pool_indices, "req_pool_indices", 0), whole_list(seq_lens, "seq_lens", 0)
    _refuse(pool, indices, lens)
    width = cell_width([number(v) for row in pool for v in row])
    label = chip_width([f"row {len(pool) - 1}", "flat"])
    left = MARGIN + label + 2 * GAP
    place = {(row, p): (i, p) for i, (row, n) in enumerate(zip(indices, lens, strict=True)) for p in range(n)}
    boxes: list[Box] = []
    y = float(MARGIN)
    for row, cells in enumerate(pool):
        boxes.append(chip(MARGIN, y + 7, f"row {row}", w=label))
        for column, loc in enumerate(cells):
            i, p = place.get((row, column), (None, column))
            at = left + column * (width + GAP)
            if i is None:
                boxes.append(
                    Box(at, y, width, CELL_HEIGHT, "unused", number(loc), hover=f"row {row}, column {column}: not used")
                )
            else:
                hover = f"request {letter(i)}, position {p}: loc {number(loc)}"
                boxes.append(Box(at, y, width, CELL_HEIGHT, request_style(i), number(loc), f"{letter(i)}{p}", hover=hover))
        y += CELL_HEIGHT + GAP
    y += 18
    flat = [(i, row, p, pool[row][p]) for i, (row, n) in enumerate(zip(indices, lens, strict=True)) for p in range(n)]
    line = max(1, min(per_line(width), max((len(row) for row in pool), default=1)))
    line = max(line, min(per_line(width), len(flat)))
    for start, part in chunks(flat, line):
        boxes.append(chip(MARGIN, y + 7 + 16, "flat", w=label))
        for k, (i, _, p, loc) in enumerate(part):
            at = left + k * (width + GAP)
            boxes.append(chip(at, y, number(start + k), "header", 18, width))
            boxes.append(Box(at, y + 18 + GAP, width, CELL_HEIGHT, request_style(i), number(loc), f"{letter(i)}{p}"))
        y += CELL_HEIGHT + 18 + GAP + 10
    empty = [letter(i) for i, n in enumerate(lens) if n == 0]
    note = f" No token: {', '.join(empty)}." if empty else ""
    facts = tuple((number(k), letter(i), number(row), number(p), number(loc)) for k, (i, row, p, loc) in enumerate(flat))
    return Picture(
        f"{len(flat)} locs of {len(indices)} requests, one after another",
        "Above: req_to_token, hatched where no request of the batch looks. "
        f"Below: the flat vector. A0 is position 0 of request A.{note}",
        Scene(tuple(boxes)),
        Table(("flat index", "request", "row of req_to_token", "position", "loc"), facts),
    )


def _refuse(pool: list[tuple[int, ...]], indices: tuple[int, ...], lens: tuple[int, ...]) -> None:
    if not pool or len(pool) > MOST_ROWS:
        raise ValueError(f"req_to_token has {len(pool)} rows and a picture shows 1 to {MOST_ROWS}.")
    if len(indices) != len(lens):
        raise ValueError(f"there are {len(indices)} req_pool_indices but {len(lens)} seq_lens.")
    if len(set(indices)) != len(indices):
        raise ValueError("two requests of one batch use the same row of req_to_token.")
    for i, (row, n) in enumerate(zip(indices, lens, strict=True)):
        if row >= len(pool):
            raise ValueError(f"request {letter(i)} uses row {row}, and req_to_token has {len(pool)} rows.")
        if n > len(pool[row]):
            raise ValueError(f"request {letter(i)} has {n} tokens, and a row of req_to_token has {len(pool[row])} cells.")
