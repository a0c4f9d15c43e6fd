"""Draws the workspace widget: c-KV of every rank, the gathered shards, layout B, the workspace, and one token's way."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import replace

from dcplab.course.model import Table
from dcplab.engine import index_spaces
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import GAP, MARGIN, Box, Line, Scene, chip, chip_width, number
from dcplab.viz.views.workspace import state as ws
from dcplab.viz.views.workspace.cells import BAR, GARBAGE, LANE, BufferCell, grid, label_width, strip, width_of
from dcplab.viz.views.workspace.state import NOBODY, USES, Landing, WorkspaceState

LABELS = ("c-KV row", "gathered row", "layout B", "workspace", "rank 0")


def scene(state: WorkspaceState) -> Scene:
    """Draw four blocks, top to bottom, then both transforms of the followed token and the place that its id leads to."""
    made, found = ws.buffers(state), ws.landing(state)
    cells = [_cell(state, n) for n in range(len(state.tokens))]
    width = width_of([*cells, GARBAGE])
    labels = label_width(LABELS)
    shape = (labels, width)
    rows = range(state.page_size, len(made.pools[0]))

    def shown(buffer: str, held: tuple[int, ...], at: range | None = None, rank: int | None = None) -> list[BufferCell]:
        empty = BufferCell(hover="no token of these requests") if buffer == "c-KV" else GARBAGE
        line = []
        for index in at if at is not None else range(len(held)):
            cell = empty if held[index] == NOBODY else cells[held[index]]
            here = not found.right and (buffer, rank, index) == (found.buffer, found.rank, found.index)
            line.append(replace(cell, wrong=True) if here else cell)
        return line

    ranks = range(state.dcp_size)
    pools, y = grid((MARGIN, MARGIN), LABELS[0], shape, [shown("c-KV", made.pools[r], rows, r) for r in ranks], (), rows.start)
    y += 6
    blocks = [pools]
    if made.gathered[0]:
        spans = [(f"{r.name}, padded", n) for r, n in zip(state.requests, made.shard_rows, strict=True)]
        gathered, y = grid((MARGIN, y), LABELS[1], shape, [shown("gathered", made.gathered[r]) for r in ranks], spans)
        y += 6
        blocks.append(gathered)
    parts = [(r, r.cached, len(r.words) - r.cached) for r in state.requests]
    spans = [(f"prefix {r.name}", old) for r, old, _ in parts] + [(f"new {r.name}", new) for r, _, new in parts]
    other, y = strip((MARGIN, y), LABELS[2], shape, shown("layout B", made.other), spans)
    spans = [span for r, old, new in parts for span in ((f"prefix {r.name}", old), (f"new {r.name}", new))]
    workspace, y = strip((MARGIN, y + 6), LABELS[3], shape, shown("workspace", made.workspace), spans)
    blocks += [other, workspace]
    words = _words(state, found, y + 6)
    return Scene(tuple(b for block in [*blocks, words] for b in block), _journey(state, blocks))


def _cell(state: WorkspaceState, n: int) -> BufferCell:
    i, p = state.tokens[n]
    r = state.requests[i]
    new = " new" if p >= r.cached else ""
    hover = f"position {p} of request {r.name}, {r.words[p]}: loc {number(r.locs[p])}{', new in this step' if new else ''}"
    return BufferCell(r.words[p], f"{r.name}{p}{new}", i, r.locs[p], hover)


def _journey(state: WorkspaceState, blocks: list[list[Box]]) -> tuple[Line, ...]:
    """Draw lines from block to block: out below a cell, along the right edge, and in above the next. A new token is not
    gathered."""
    loc = state.followed.locs[state.position]
    stops = [b for block in blocks for b in block if b.loc == loc]
    edge = max(b.x + b.w for block in blocks for b in block)
    lines = []
    for k, (start, goal) in enumerate(itertools.pairwise(stops)):
        heads = [b for block in blocks for b in block if b.x == goal.x and b.w == goal.w and 0 < goal.y - b.y < BAR + 2 * GAP]
        top = min([goal.y, *(b.y - BAR - GAP for b in heads if b.h == BAR)])
        x0, x1, y0, y1 = start.middle[0], goal.middle[0], start.y + start.h + LANE / 2, top - LANE / 2
        around = ((x0, y0), (edge + 8 * (k + 1), y0), (edge + 8 * (k + 1), y1), (x1, y1))
        beside = ((x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2))  # nothing lies between the two lanes
        lines.append(Line((start.bottom, *(beside if y1 - y0 < BAR else around), (x1, top)), "journey"))
    return tuple(lines)


def _words(state: WorkspaceState, found: Landing, y: float) -> list[Box]:
    boxes: list[Box] = []
    heads = ("PAGED", "RAGGED", "used as")
    for head, text in zip(heads, (paged(state), ragged(state), lands(state, found)), strict=True):
        boxes.append(chip(MARGIN, y, head, "header", w=chip_width(heads)))
        left = boxes[-1].x + boxes[-1].w + GAP
        style = "notice" if head == "used as" and not found.right else "yes"
        for line in textwrap.wrap(text, 88):
            boxes.append(chip(left, y, line, style))
            y += 22 + GAP
        y += 5
    return boxes


def name(state: WorkspaceState, token: int) -> str:
    """Name a token as the pictures do: B1 'cat'."""
    i, p = state.tokens[token]
    return f"{state.requests[i].name}{p} '{state.requests[i].words[p]}'"


def paged(state: WorkspaceState) -> str:
    """Word the PAGED transform of the followed token, in numbers."""
    loc, d = ws.loc_of(state), state.dcp_size
    table = f"req_to_token[{state.followed.name}][{state.position}] = loc {number(loc)}"
    owner, row = index_spaces.owner_rank(loc, d), index_spaces.local_row(loc, d)
    return f"{table}; owner {loc} % {d} = rank {owner}, row {loc} // {d} = {row}"


def ragged(state: WorkspaceState) -> str:
    """Word the RAGGED transform of the followed token, in numbers."""
    first = ws.buffers(state).cu_seqlens_k[state.request]
    return f"cu_seqlens_k[{state.followed.name}] + {state.position} = {first} + {state.position} = {ws.ragged_of(state)}"


def lands(state: WorkspaceState, found: Landing) -> str:
    """Word the use of the id, and the token found there."""
    where = f"row {number(found.index)} of rank {found.rank}" if found.rank is not None else f"row {number(found.index)}"
    if found.right and found.token is not None:
        luck = "" if found.use in ("ragged", "row") else ", by luck"
        verdict = f"holds {name(state, found.token)}: right{luck}"
    elif found.token is None:
        beyond = found.rank is None and found.index >= found.rows
        verdict = f"is beyond the {found.rows} rows of this step" if beyond else "holds no token of these requests"
    else:
        whose = "another request's token" if state.tokens[found.token][0] != state.request else "another token of the request"
        verdict = f"holds {name(state, found.token)}, {whose}"
    why = "" if found.right else f": {USES[found.use].why}"
    return f"{USES[found.use].says}: {where} {verdict}{why}"


def sentence(state: WorkspaceState) -> str:
    mine = state.tokens.index((state.request, state.position))
    said = lands(state, ws.landing(state))
    return f"{name(state, mine)}. PAGED: {paged(state)}. RAGGED: {ragged(state)}. Used as {said}."


def legend(state: WorkspaceState) -> str:
    made = ws.buffers(state)
    padding = sum(n == NOBODY for line in made.gathered for n in line)
    rows = f" {padding} of {len(made.gathered) * len(made.gathered[0])} gathered rows are garbage, hatched." if padding else ""
    return (
        "Top to bottom: what lies in each rank's pool; each rank's shard of the prefixes, as every rank gets it; the prefixes "
        f"un-interleaved, and the new tokens behind them; the workspace.{rows} The line follows the token; a dashed outline is "
        "where a wrong id leads."
    )


def tables(state: WorkspaceState) -> tuple[Table, ...]:
    """Make the tables: every use of the followed token's id, and every token's indices."""
    uses = []
    for use in USES:
        found = ws.landing(state, use)
        token = "-" if found.token is None else name(state, found.token)
        mark = "> " if use == state.use else ""
        uses.append((f"{mark}{USES[use].says}", number(found.index), token, _verdict(state, found)))
    made = ws.buffers(state)
    rows = []
    for n, (i, p) in enumerate(state.tokens):
        loc = state.requests[i].locs[p]
        place = next((f"r{r}, {line.index(n)}" for r, line in enumerate(made.gathered) if n in line), "new")
        owner, row = index_spaces.owner_rank(loc, state.dcp_size), index_spaces.local_row(loc, state.dcp_size)
        cells = (number(loc), f"r{owner}", number(row), place, number(made.other.index(n)), number(made.workspace.index(n)))
        rows.append((name(state, n), *cells))
    header = ("token", "loc", "owner", "row", "gathered", "layout B", "ragged index")
    return Table(("id of the token used as", "index", "lies there", "verdict"), tuple(uses)), Table(header, tuple(rows))


def _verdict(state: WorkspaceState, found: Landing) -> str:
    if found.right:
        return "right" if found.use in ("ragged", "row") else "right, by luck"
    if found.token is None:
        return "nothing there"
    return "another request" if state.tokens[found.token][0] != state.request else "another token"


def picture(state: WorkspaceState) -> Picture:
    """Make the picture of a state: scene, sentence and tables, with the followed token marked everywhere."""
    first, second = tables(state)
    return Picture(
        f"From shards to the workspace: D = {state.dcp_size}, {len(state.requests)} requests",
        f"{sentence(state)} {legend(state)}",
        scene(state).select(state.followed.locs[state.position]),
        first,
        (second,),
    )
