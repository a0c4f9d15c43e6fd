"""Draws a token's journey: the words written and read back, the rows of every rank, and every read of one token."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from dcplab.course.model import Table
from dcplab.engine import index_spaces
from dcplab.viz.core.palette import owner_style, request_style
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import GAP, MARGIN, Box, Place, Scene, cell_width, chip, chip_width, text_width
from dcplab.viz.views.journey import state as journey_state
from dcplab.viz.views.journey.state import LAYERS, JourneyState, Merged, Read, StoredToken, Token

WORD, RETURNED, ROW = 34, 32, 18  # heights: a word with its loc, a word read back, a row of memory
SUPER = "\N{SUPERSCRIPT ZERO}\N{SUPERSCRIPT ONE}"  # after a word: the layer that wrote it, if it is another layer
FROM = "\N{BLACK RIGHT-POINTING SMALL TRIANGLE}"  # before a word: this row is read


def scene(state: JourneyState) -> Scene:
    """Draw both requests and the words read back above; below, the ranks' rows of both layers, and the reads of the selected
    token beside them."""
    # A row of memory has smaller letters, and room for its two signs.
    words = [t.word for t in state.tokens] + ["empty"]
    width = max(cell_width(words, 44), *(ceil(text_width(word + "00", 12)) + 4 for word in words))
    boxes, y = _strips(state, width)
    more, right = _memory(state, width, y + 6)
    panel = _panel(state, right + 4 * GAP, y + 6)
    return Scene((*boxes, *more, *panel)).select(state.token.loc)


def word(state: JourneyState, cell: StoredToken | None) -> str:
    """Return the content of a row as a word."""
    return "empty" if cell is None else state.tokens[cell.token].word


def brought(state: JourneyState, merged: Merged) -> str:
    """Return the result of the merge as a word. Several different words give a mix."""
    if not merged.cells:
        return "nothing"
    return word(state, merged.cells[0]) if len(merged.cells) == 1 else "mix"


def _verdict(merged: Merged) -> str:
    return "right" if merged.right else "wrong"


def _strips(state: JourneyState, width: float) -> tuple[list[Box], float]:
    label = chip_width(["request A", *(f"layer {i} gives" for i in range(LAYERS))])
    boxes: list[Box] = []
    y = float(MARGIN)
    for number, name in enumerate("AB"):
        mine = [t for t in state.tokens if t.request == name]
        boxes.append(chip(MARGIN, y, f"request {name}", "header", WORD, label))
        left = MARGIN + label + GAP
        for t in mine:
            x = left + t.position * (width + GAP)
            boxes.append(
                Box(x, y, width, WORD, request_style(number), t.word, f"loc {t.loc}", loc=t.loc, hover=_hover(state, t))
            )
        y += WORD + GAP
        for layer in range(LAYERS):
            boxes.append(chip(MARGIN, y, f"layer {layer} gives", "yes", RETURNED, label))
            for t in mine:
                m = journey_state.merged(state, layer, t.index)
                x = left + t.position * (width + GAP)
                style = "yes" if m.right else "notice"
                boxes.append(
                    Box(x, y, width, RETURNED, style, brought(state, m), _verdict(m), loc=t.loc, hover=_hover(state, t))
                )
            y += RETURNED + GAP
        y += 2 * GAP
    return boxes, y


def _hover(state: JourneyState, token: Token) -> str:
    owner, row = index_spaces.owner_rank(token.loc, state.dcp_size), index_spaces.local_row(token.loc, state.dcp_size)
    return f"{token.word}: loc {token.loc}, owner rank {owner}, row {row}"


def _memory(state: JourneyState, width: float, y: float) -> tuple[list[Box], float]:
    """Draw one block a layer, one column a rank, one cell a row. Where the selected token belongs but is missing, the cell is
    dashed."""
    held = journey_state.memory(state).held
    token = state.token
    home = index_spaces.owner_rank(token.loc, state.dcp_size), index_spaces.local_row(token.loc, state.dcp_size)
    reads = journey_state.memory(state).reads
    read = {(r.rank, r.region, r.at) for layer in range(LAYERS) for r in reads[layer][token.index]}
    label = chip_width(["row 88"])
    block = label + state.dcp_size * (width + GAP)
    boxes: list[Box] = []
    for layer in range(LAYERS):
        x = MARGIN + layer * (block + 5 * GAP)
        title = "c-KV of layer 0" if layer == 0 else f"of layer {layer}, behind it"
        boxes.append(chip(x, y, title, "page", 22, block - GAP))
        for rank in range(state.dcp_size):
            at = x + label + GAP + rank * (width + GAP)
            mark = "selected" if rank == home[0] else ""
            boxes.append(Box(at, y + 22 + GAP, width, 22, owner_style(rank), f"rank {rank}", mark=mark))
        for row in range(state.rows):
            top = y + 2 * (22 + GAP) + row * (ROW + 2)
            boxes.append(chip(x, top, f"row {row}", "header", ROW, label))
            for rank in range(state.dcp_size):
                cell = held[rank][layer][row]
                at = x + label + GAP + rank * (width + GAP)
                seen = (rank, f"ckv.{layer}", row) in read
                due = "due" if (rank, row) == home and cell != StoredToken(layer, token.index) else ""
                boxes.append(replace(_cell(state, cell, layer, row, seen, (at, top, width, ROW)), mark=due))
    return boxes, MARGIN + LAYERS * block + (LAYERS - 1) * 5 * GAP


def _cell(state: JourneyState, cell: StoredToken | None, layer: int, row: int, seen: bool, place: Place) -> Box:
    before = FROM if seen else ""
    if cell is None:
        reserved = index_spaces.allocator_page(row * state.dcp_size, state.page_size, state.dcp_size) == 0
        return Box(*place, "reserved" if reserved else "unused", f"{before}empty" if seen else "")
    token = state.tokens[cell.token]
    style = request_style("AB".index(token.request)) if cell.layer == layer else "notice"
    other = "" if cell.layer == layer else SUPER[cell.layer]
    return Box(*place, style, before + token.word + other, loc=token.loc, hover=f"layer {cell.layer} wrote {token.word} here")


def _panel(state: JourneyState, x: float, y: float) -> list[Box]:
    """Draw the selected token, its place, and every rank's read of it, layer by layer."""
    token, d = state.token, state.dcp_size
    home = f"owner rank {index_spaces.owner_rank(token.loc, d)}, row {index_spaces.local_row(token.loc, d)}"
    reads = journey_state.memory(state).reads
    lines = [("header", f"{token.word}: loc {token.loc}"), ("yes", home)]
    for layer in range(LAYERS):
        lines.append(("page", f"layer {layer} reads"))
        lines += [(owner_style(r.rank), _said(state, r)) for r in reads[layer][token.index]]
        m = journey_state.merged(state, layer, token.index)
        lines.append(("yes" if m.right else "notice", f"merged: {brought(state, m)}, {_verdict(m)}"))
        lines.append(("yes", _keys(m)))
    wide = chip_width([text for _, text in lines])
    found = []
    for style, text in lines:
        y += 6 if style == "page" else 0
        found.append(chip(x, y, text, style, 22, wide))
        y += 22 + GAP
    return found


def _said(state: JourneyState, read: Read) -> str:
    if read.row is None:
        return f"rank {read.rank}: not here, -1"
    return f"rank {read.rank}: {_at(state, read)}, {word(state, read.cell)}"


def _at(state: JourneyState, read: Read) -> str:
    """Name the row that is read. If it is no row of the layer, give the number of rows too."""
    beyond = read.row is not None and read.row >= state.rows
    return f"row {read.row}" + (f" of {state.rows}" if beyond else "")


def _keys(merged: Merged) -> str:
    off = f", LSE + {merged.lse_off:.2f}" if merged.lse_off else ""
    return f"{merged.keys} key{'' if merged.keys == 1 else 's'} for 1{off}"


def sentence(state: JourneyState) -> str:
    token, d = state.token, state.dcp_size
    write, read = ("mended" if fixed else "as it was" for fixed in (state.write, state.read))
    fixes = f"Write {write}, read {read}, {state.level} watermark."
    counts = " and ".join(f"{journey_state.right_words(state, i)} in layer {i}" for i in range(LAYERS))
    home = f"owner rank {index_spaces.owner_rank(token.loc, d)}, row {index_spaces.local_row(token.loc, d)}"
    told = []
    for layer in range(LAYERS):
        m = journey_state.merged(state, layer, token.index)
        rows = _reads(state, [r for r in journey_state.memory(state).reads[layer][token.index] if r.row is not None])
        told.append(f"Layer {layer}: {rows}; merged: {brought(state, m)}, {_verdict(m)}, {_keys(m)}.")
    return (
        f"{fixes} Of {len(state.tokens)} words come back right: {counts}. "
        f"{token.word}, position {token.position} of request {token.request}: loc {token.loc}, {home}. {' '.join(told)}"
    )


def _reads(state: JourneyState, reads: list[Read]) -> str:
    """Word every rank's read of a token, in one phrase if they are alike."""
    if len(reads) > 1 and len({(r.row, r.cell) for r in reads}) == 1:
        return f"every rank reads {_at(state, reads[0])}, {word(state, reads[0].cell)}"
    return "; ".join(f"rank {r.rank} reads {_at(state, r)}, {word(state, r.cell)}" for r in reads)


def legend(state: JourneyState) -> str:
    past = journey_state.memory(state).past
    lost = f" {past} writes lie behind layer {LAYERS - 1}, in whatever comes there." if past else ""
    return (
        f"D {state.dcp_size}, P {state.page_size}, C {state.size}: {state.rows} rows a rank, locs up to "
        f"{index_spaces.largest_loc(state.size, state.page_size, state.dcp_size)}. Outlined: the selected token, and its "
        f"owner. Dashed: where it belongs. {FROM} a row that is read for it. Crossed: page 0, never issued. "
        f"Yellow, with its number: what another layer wrote.{lost}"
    )


def tables(state: JourneyState) -> tuple[Table, ...]:
    """Make the tables: every token with its places and the word read back; then the reads of the selected token."""
    d = state.dcp_size
    rows = []
    for t in state.tokens:
        ends = []
        for layer in range(LAYERS):
            m = journey_state.merged(state, layer, t.index)
            ends += [_stored(state, layer, t.index), f"{brought(state, m)} ({_verdict(m)})"]
        place = (str(t.loc), str(index_spaces.owner_rank(t.loc, d)), str(index_spaces.local_row(t.loc, d)))
        rows.append((t.request, str(t.position), t.word, *place, *ends))
    header = ["request", "position", "word", "loc", "owner", "row"]
    for layer in range(LAYERS):
        header += [f"layer {layer} stored at", f"layer {layer} gives"]
    reads = journey_state.memory(state).reads
    seen = []
    for layer in range(LAYERS):
        for r in reads[layer][state.selected]:
            row = "-1" if r.row is None else str(r.row)
            where = "-" if r.row is None else r.region + ("" if r.at is None else f" row {r.at}")
            seen.append((str(layer), str(r.rank), row, where, "-" if r.row is None else word(state, r.cell)))
    one = Table(("layer", "rank", "row read", "lies in", "word"), tuple(seen), f"{state.token.word}, loc {state.token.loc}")
    return Table(tuple(header), tuple(rows)), one


def _stored(state: JourneyState, layer: int, token: int) -> str:
    places = journey_state.stored_at(state, layer, token)
    named = [f"{rank}:{row}" if name == f"ckv.{layer}" else f"{rank}:{name} {row}" for rank, name, row in places]
    return " ".join(named) or "nowhere here"


def picture(state: JourneyState) -> Picture:
    """Make the picture of a state: scene, sentence and tables."""
    first, *more = tables(state)
    title = f"A token's journey on {state.dcp_size} ranks, {state.level} watermark"
    return Picture(title, f"{sentence(state)} {legend(state)}", scene(state), first, tuple(more))
