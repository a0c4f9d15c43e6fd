"""Draws two layouts side by side: each token's owner on both nodes, the ranks' rows, and one token's way between them."""

from __future__ import annotations

from dcplab.course.model import Table
from dcplab.viz.core.palette import owner_style
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import (
    GAP,
    MARGIN,
    Box,
    Line,
    Scene,
    cell_width,
    chip,
    chip_width,
    chunks,
    per_line,
)
from dcplab.viz.figures.strips import loc_box
from dcplab.viz.views.layouts import state as layouts_state
from dcplab.viz.views.layouts.state import LayoutsState, NodeLayout

BAR, CELL, LANE, AISLE = 20, 34, 8, 44  # heights of a label and a cell; the free lane under a line; the way between the grids


def scene(state: LayoutsState) -> Scene:
    """Draw the tokens with their locs on both nodes, and below them the two nodes' rows, a column a rank."""
    strip, y = _strip(state)
    source, target = state.nodes
    left, right = _grid(state, source, MARGIN, y), []
    edge = max(b.x + b.w for b in left)
    right = _grid(state, target, edge + AISLE, y)
    return Scene((*strip, *left, *right), _way(state, left, right, edge)).select(state.selected)


def _strip(state: LayoutsState) -> tuple[list[Box], float]:
    names = ("token", *(f"{node.name} loc" for node in state.nodes))
    label = chip_width(names)
    width = cell_width([str(node.loc(state.tokens - 1)) for node in state.nodes])
    turns = [node.layout.dcp_size * node.layout.interleave for node in state.nodes]
    boxes: list[Box] = []
    y = float(MARGIN)
    for start, part in chunks(range(state.tokens), per_line(width, max(turns), min(turns))):
        tops = (y, y + BAR + GAP, y + BAR + CELL + 2 * GAP)
        boxes += [
            chip(MARGIN, top, name, "header", h, label) for top, name, h in zip(tops, names, (BAR, CELL, CELL), strict=True)
        ]
        for token in part:
            x = MARGIN + label + 2 * GAP + (token - start) * (width + GAP)
            boxes.append(Box(x, tops[0], width, BAR, "header", str(token), loc=token))
            boxes += [_loc(node, token, (x, top, width, CELL)) for node, top in zip(state.nodes, tops[1:], strict=True)]
        y = tops[2] + CELL + 3 * GAP
    return boxes, y + GAP


def _loc(node: NodeLayout, token: int, place: tuple[float, float, float, float]) -> Box:
    drawn = loc_box(place, node.loc(token), node.layout.dcp_size, interleave=node.layout.interleave)
    return Box(*place, drawn.style, drawn.text, drawn.sub, loc=token, hover=f"token {token} on the {node.name}: {drawn.hover}")


def _grid(state: LayoutsState, node: NodeLayout, x: float, y: float) -> list[Box]:
    """Draw a node: a column a rank, a line a row of their pools. Cells name the token whose c-KV lies there."""
    size, run = node.layout.dcp_size, node.layout.interleave
    rows = node.rows(state.tokens)
    label = chip_width([f"row {rows[-1]}"])
    width = cell_width([str(state.tokens - 1), f"r{size - 1}"])
    left = x + label + 2 * GAP
    held = {(node.owner(token), node.row(token)): token for token in range(state.tokens)}
    title = f"{node.name}: D = {size}, I = {run}"
    boxes = [chip(x, y, title, "header", BAR)]
    y += BAR + GAP
    boxes.append(chip(x, y, "rank", "header", BAR, label))
    boxes += [Box(left + r * (width + GAP), y, width, BAR, owner_style(r), f"r{r}") for r in range(size)]
    y += BAR + LANE
    for row in rows:
        boxes.append(chip(x, y, f"row {row}", "header", BAR, label))
        for r in range(size):
            place = (left + r * (width + GAP), y, width, BAR)
            token = held.get((r, row))
            if token is None:
                boxes.append(Box(*place, "unused", hover=f"{node.name} rank {r}, row {row}: none of these tokens"))
            else:
                hover = f"{node.name} rank {r}, row {row}: token {token}, loc {node.loc(token)}"
                boxes.append(Box(*place, owner_style(r), str(token), loc=token, hover=hover))
        # A rank's run ends here, so a reader sees how long it is.
        y += BAR + LANE + (GAP if (row + 1) % run == 0 and run > 1 else 0)
    return boxes


def _way(state: LayoutsState, left: list[Box], right: list[Box], edge: float) -> tuple[Line, ...]:
    """Return the selected token's line: under its cell to the aisle, along it, and over the other cell."""
    start, goal = (next(b for b in side if b.loc == state.selected) for side in (left, right))
    out, in_, aisle = start.y + start.h + LANE / 2, goal.y - LANE / 2, edge + AISLE / 2
    points = (start.bottom, (start.middle[0], out), (aisle, out), (aisle, in_), (goal.middle[0], in_), goal.top)
    return (Line(points, "journey"),)


def _home(node: NodeLayout, token: int) -> str:
    size, run = node.layout.dcp_size, node.layout.interleave
    loc, turn = node.loc(token), size * run
    return (
        f"{node.name} loc {loc}: rank {node.owner(token)} ({loc} // {run} % {size}), "
        f"row {node.row(token)} ({loc} // {turn} * {run} + {loc} % {run})"
    )


def sentence(state: LayoutsState) -> str:
    """Say where the selected token is on either node, and how many go its way."""
    source, target = state.nodes
    token, same = state.selected, layouts_state.together(state)
    ends = f"source rank {source.owner(token)} to target rank {target.owner(token)}"
    pairs = source.layout.dcp_size * target.layout.dcp_size
    return (
        f"Token {token}: {_home(source, token)}; {_home(target, token)}. From {ends} go {len(same)} of {state.tokens} tokens, "
        f"one launch of {pairs}."
    )


def legend(state: LayoutsState) -> str:
    """Say what cells and colours mean, and how uneven the ranks are."""
    told = []
    for node in state.nodes:
        counts = [sum(node.owner(token) == r for token in range(state.tokens)) for r in range(node.layout.dcp_size)]
        told.append(f"The {node.name}'s ranks hold {_list(counts)}")
    return (
        "A colour is a rank; a cell of the lower grids names the token whose row it is. Hatched: none of these tokens. On "
        f"either node the tokens begin where a round does. {'. '.join(told)}."
    )


def _list(counts: list[int]) -> str:
    return ", ".join(map(str, counts))


def table(state: LayoutsState) -> Table:
    """Make the table: each token's loc, rank and row on both nodes."""
    rows = tuple(
        (str(token), *(str(v) for node in state.nodes for v in (node.loc(token), f"r{node.owner(token)}", node.row(token))))
        for token in range(state.tokens)
    )
    header = ("token", *(f"{node.name} {what}" for node in state.nodes for what in ("loc", "rank", "row")))
    return Table(header, rows)


def picture(state: LayoutsState) -> Picture:
    """Make the picture of a state."""
    source, target = (f"D = {node.layout.dcp_size}, I = {node.layout.interleave}" for node in state.nodes)
    return Picture(f"Two layouts: {source} and {target}", f"{sentence(state)} {legend(state)}", scene(state), table(state))
