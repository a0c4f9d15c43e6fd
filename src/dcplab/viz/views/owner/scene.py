"""Draws the owner table: a request's positions, the locs with their pages, every rank's rows, and one loc's journey."""

from __future__ import annotations

from dcplab.course.model import Table
from dcplab.engine import index_spaces
from dcplab.viz.core.palette import owner_style, request_style
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import (
    GAP,
    MARGIN,
    Box,
    Line,
    Place,
    Scene,
    cell_width,
    chip,
    chip_width,
    chunks,
    number,
    per_line,
    text_width,
)
from dcplab.viz.figures.page_tables import bars
from dcplab.viz.figures.strips import loc_box, rank_chips
from dcplab.viz.views.owner.state import OwnerState

BAR, CELL, LANE = 18, 32, 9  # heights of a bar and of a cell; the free lane between lines, in which the journey runs


def scene(state: OwnerState) -> Scene:
    """Draw three blocks, top to bottom: ``req_to_token`` of one request, the shown locs, the ranks' rows."""
    left = MARGIN + chip_width([f"req_to_token[{state.requests[state.request].name}]", "index-K page"]) + 2 * GAP
    tokens, y = _request(state, left)
    strip, y = _strip(state, left, y + 8)
    grid, _ = _rows(state, left, y + 8)
    boxes = tokens + strip + grid
    return Scene(tuple(boxes), _journey(state, tokens, strip, grid))


def _request(state: OwnerState, left: float) -> tuple[list[Box], float]:
    request = state.requests[state.request]
    holder = state.holder(state.selected)
    position = holder[1] if holder else 0
    width = cell_width(number(v) for v in request.locs)
    line = per_line(width)
    start = max(0, position // line * line - line) if len(request.locs) > 2 * line else 0
    window = list(enumerate(request.locs))[start : start + 2 * line]
    boxes: list[Box] = []
    y = float(MARGIN)
    for _, part in chunks(window, line):
        boxes.append(chip(MARGIN, y, "position", "header", BAR, left - MARGIN - 2 * GAP))
        boxes.append(chip(MARGIN, y + BAR + 7, f"req_to_token[{request.name}]", "header", BAR, left - MARGIN - 2 * GAP))
        for i, (p, loc) in enumerate(part):
            x = left + i * (width + GAP)
            at = Box(
                x, y, width, BAR, request_style(state.request), number(p), loc=loc, hover=f"position {p} of {request.name}"
            )
            boxes += [at, loc_box((x, y + BAR + 2, width, CELL), loc, state.dcp_size)]
        y += BAR + 2 + CELL + LANE
    return boxes, y


def _strip(state: OwnerState, left: float, y: float) -> tuple[list[Box], float]:
    locs = list(state.shown)
    width = cell_width(number(v) for v in locs)
    line = per_line(width, state.width, state.page_size, state.dcp_size)
    label = left - MARGIN - 2 * GAP
    held = {loc: (i, p) for i, r in enumerate(state.requests) for p, loc in enumerate(r.locs)}
    boxes: list[Box] = []
    for _, part in chunks(locs, line):
        boxes.append(chip(MARGIN, y, "index-K page", "index_k", BAR, label))
        page = index_spaces.index_k_page(state.selected, state.page_size)
        ids = [index_spaces.index_k_page(v, state.page_size) for v in part]
        boxes += bars((left, y, width, BAR), ids, "index_k", "index-K page", page)
        y += BAR + 2
        boxes.append(chip(MARGIN, y + 7, "loc", "header", BAR, label))
        for i, loc in enumerate(part):
            boxes.append(_cell(state, left + i * (width + GAP), y, width, loc))
        y += CELL + 2
        boxes.append(chip(MARGIN, y, "c-KV page", "page", BAR, label))
        ids = [index_spaces.allocator_page(v, state.page_size, state.dcp_size) for v in part]
        boxes += bars((left, y, width, BAR), ids, "page", "c-KV page", _local_page(state))
        y += BAR + 2
        if any(v in held for v in part):
            boxes.append(chip(MARGIN, y, "held by", "header", BAR, label))
            for i, loc in enumerate(part):
                if loc in held:
                    r, p = held[loc]
                    name = state.requests[r].name
                    tries = (f"{name}{p}", name, f"{name[:1]}{p}", name[:1])
                    text = next((t for t in tries if text_width(t, 12) <= width), "")
                    hover = f"position {p} of request {name}"
                    boxes.append(Box(left + i * (width + GAP), y, width, BAR, request_style(r), text, loc=loc, hover=hover))
            y += BAR + 2
        y += LANE
    return boxes, y


def _local_page(state: OwnerState) -> int:
    return index_spaces.allocator_page(state.selected, state.page_size, state.dcp_size)


def _cell(state: OwnerState, x: float, y: float, w: float, loc: int, h: float = CELL) -> Box:
    mark = "last" if loc == state.largest else ""
    if loc < state.width:
        return Box(x, y, w, h, "reserved", number(loc), "never", mark, loc, f"loc {number(loc)}: page 0 is never issued")
    return loc_box((x, y, w, h), loc, state.dcp_size, mark)


def _rows(state: OwnerState, left: float, y: float) -> tuple[list[Box], float]:
    rows = list(_shown_rows(state))
    used = index_spaces.ckv_rows(state.size, state.page_size)
    width = cell_width([number(state.last), number(rows[-1])])
    label = left - MARGIN - 2 * GAP
    line = per_line(width, state.page_size)
    boxes: list[Box] = []
    for _, part in chunks(rows, line):
        boxes.append(chip(MARGIN, y, "c-KV page", "page", BAR, label))
        ids = [row // state.page_size for row in part]
        boxes += bars((left, y, width, BAR), ids, "page", "page", _local_page(state))
        y += BAR + 2
        boxes.append(chip(MARGIN, y, "row", "header", BAR, label))
        for i, row in enumerate(part):
            boxes.append(chip(left + i * (width + GAP), y, number(row), "header", BAR, width))
        y += BAR + LANE
        boxes += [
            Box(left - 2 * GAP - c.w, c.y, c.w, c.h, c.style, c.text)
            for c in rank_chips(left, y, state.dcp_size, 24, 24 + LANE)
        ]
        for r in range(state.dcp_size):
            for i, row in enumerate(part):
                x = left + i * (width + GAP)
                loc = index_spaces.globalize(row, r, state.dcp_size)
                boxes.append(_row_cell(state, (x, y, width, 24), r, row, loc, row >= used))
            y += 24 + LANE
        y += LANE
    return boxes, y


def _row_cell(state: OwnerState, place: Place, rank: int, row: int, loc: int, spare: bool) -> Box:
    where = f"rank {rank}, row {number(row)}: "
    if spare:
        return Box(*place, "unused", hover=where + "no page is issued that would use it")
    if loc < state.width:
        return Box(*place, "reserved", number(loc), loc=loc, hover=where + "page 0, never issued")
    if loc not in state.shown:
        return Box(*place, "quiet", number(loc), hover=where + f"loc {number(loc)}, outside the range shown")
    mark = "last" if loc == state.largest else ""
    return Box(*place, owner_style(rank), number(loc), "", mark, loc, where + f"loc {number(loc)}")


def _shown_rows(state: OwnerState) -> range:
    """Return the rows of the shown locs, and the rest of the pool if the range ends with the last loc."""
    last = index_spaces.local_row(state.last, state.dcp_size)
    end = state.size + state.page_size if state.last == state.largest else last + 1
    return range(index_spaces.local_row(state.first, state.dcp_size), end)


def _journey(state: OwnerState, tokens: list[Box], strip: list[Box], grid: list[Box]) -> tuple[Line, ...]:
    """Draw lines from the position down to the loc and on to (rank, row), in the free lanes and along the right edge."""
    loc = state.selected
    stops = [[b for b in block if b.loc == loc and b.style not in _REQUEST] for block in (tokens, strip, grid)]
    edge = max(b.x + b.w for b in tokens + strip + grid)
    lines = []
    if stops[0] and stops[1]:
        start, goal = stops[0][0], stops[1][0]
        y0, y1, x = start.y + start.h + LANE / 2, goal.y - BAR - 2 - LANE / 2, edge + 8
        points = [start.bottom, (start.middle[0], y0), (x, y0), (x, y1), (goal.middle[0], y1), (goal.middle[0], y1 + LANE / 2)]
        lines.append(Line(tuple(points), "journey"))
    if stops[1] and stops[2]:
        start, goal = stops[1][0], stops[2][0]
        line = [b for b in strip if b.y in (start.y, start.y + CELL + 2, start.y + CELL + BAR + 4)]
        below = max(b.y + b.h for b in line if b.x < start.middle[0] < b.x + b.w)
        y0, y1, x = max(b.y + b.h for b in line) + LANE / 2, goal.y - LANE / 2, edge + 16
        points = [(start.middle[0], below), (start.middle[0], y0), (x, y0), (x, y1), (goal.middle[0], y1), goal.top]
        lines.append(Line(tuple(points), "journey"))
    return tuple(lines)


_REQUEST = {request_style(i) for i in range(4)}


def picture(state: OwnerState) -> Picture:
    """Make the picture of a state: scene, sentence and table, with the selected loc marked everywhere."""
    return Picture(
        f"Owner table: D = {state.dcp_size}, P = {state.page_size}, C = {number(state.size)}",
        f"{sentence(state)} {legend(state)}",
        scene(state).select(state.selected),
        table(state),
    )


def legend(state: OwnerState) -> str:
    """Explain the special cells, and give the number of rows of a pool."""
    pool = state.size + state.page_size
    spare = pool - index_spaces.ckv_rows(state.size, state.page_size)
    crossed = "Crossed cells: page 0, never issued. " if state.first < state.width else ""
    dashed = ", outlined with dashes" if state.largest in state.shown else ""
    return (
        f"{crossed}The last loc that the allocator issues is {number(state.largest)}{dashed}. "
        f"Each rank's pool has {number(pool)} rows, 0 to {number(pool - 1)}"
        + (f"; the last {spare}, hatched, are never used." if spare else ".")
    )


def sentence(state: OwnerState) -> str:
    """Word the facts about the selected loc."""
    loc, d, p = state.selected, state.dcp_size, state.page_size
    holder = state.holder(loc)
    if loc < state.width:
        who = "Page 0 is never issued, so no request holds it."
    elif holder is None:
        who = "No request holds it."
    else:
        who = f"Request {state.requests[holder[0]].name} holds it at position {number(holder[1])}."
    v = number(loc)
    return (
        f"Loc {v}: owner r{index_spaces.owner_rank(loc, d)} ({v} % {d}), "
        f"row {number(index_spaces.local_row(loc, d))} ({v} // {d}), "
        f"index-K page {number(index_spaces.index_k_page(loc, p))} ({v} // {p}), "
        f"c-KV page {number(index_spaces.allocator_page(loc, p, d))} ({v} // {state.width}). {who}"
    )


def table(state: OwnerState) -> Table:
    """Make the table: one row a shown loc, the selected one marked in the first column."""
    rows = []
    for loc in state.shown:
        holder = state.holder(loc)
        notes = [
            "never issued" if loc < state.width else "",
            "last loc" if loc == state.largest else "",
        ]
        rows.append(
            (
                ("> " if loc == state.selected else "") + number(loc),
                f"r{index_spaces.owner_rank(loc, state.dcp_size)}",
                number(index_spaces.local_row(loc, state.dcp_size)),
                number(index_spaces.index_k_page(loc, state.page_size)),
                number(index_spaces.allocator_page(loc, state.page_size, state.dcp_size)),
                f"{state.requests[holder[0]].name}{holder[1]}" if holder else "-",
                "; ".join(n for n in notes if n),
            )
        )
    return Table(("loc", "owner", "row", "index-K page", "c-KV page", "held by", "note"), tuple(rows))
