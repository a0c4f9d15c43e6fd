"""Draws the watermark: the live locs of each step, the lines at which each consumer breaks, and the victims beyond them."""

from __future__ import annotations

import string
from itertools import pairwise

from dcplab.course.model import Table
from dcplab.engine import index_spaces
from dcplab.viz.core.palette import request_style
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import GAP, MARGIN, Box, Line, Scene, chip, chip_width, number, text_width
from dcplab.viz.views.watermark import state as watermark_state
from dcplab.viz.views.watermark.state import Action, Consumer, Moment, WatermarkState

HEIGHT, TOP_BAND, ROW, CELL, LIMIT = 280, 56, 22, 32, 30
COLUMNS = 600  # pixels of steps; with labels on both sides the picture fits a notebook beside its file browser
MANY_PAGES = 40  # with more pages the last allocator page would be too thin to see, so it is magnified


def scene(state: WatermarkState) -> Scene:
    """Draw, top to bottom: bars of live locs a step with the lines across, numbers a step, the consumers, and their victims."""
    boxes, lines, y = _chart(state)
    more, y = _consumers(state, y + 10)
    hit, _ = _hits(state, y + 10)
    return Scene((*boxes, *more, *hit), lines)


def _shown(state: WatermarkState, width: float) -> range:
    """Return the steps that fit, among them the selected one. The empty server is shown only if it is selected."""
    count = max(1, int(COLUMNS // (width + GAP)))
    last = max(state.at, min(len(state.actions), count))
    return range(max(min(1, state.at), last - count + 1), last + 1)


def _height(state: WatermarkState, loc: int) -> float:
    """Return the height of a loc above loc 0, from 0 to ``HEIGHT``. With many pages, the last page has a band of its own."""
    pages = state.config.pages
    if pages < MANY_PAGES:
        return HEIGHT * loc / (state.largest + 1)
    top = int(index_spaces.page_locs(pages, state.page_size, state.dcp_size)[0])
    if loc <= top:
        return (HEIGHT - TOP_BAND) * loc / top
    return HEIGHT - TOP_BAND + TOP_BAND * (loc - top) / (state.largest + 1 - top)


def _chart(state: WatermarkState) -> tuple[list[Box], tuple[Line, ...], float]:
    steps = watermark_state.played(state)
    names = ["largest live", "served", f"loc {number(state.largest)}"]
    left = MARGIN + chip_width(names) + 2 * GAP
    width = max(60.0, text_width(number(max(state.largest, steps[-1].served)), 12) + 4)
    shown = _shown(state, width)
    ground = MARGIN + LIMIT + HEIGHT
    right = left + len(shown) * (width + GAP)
    label = left - MARGIN - 2 * GAP
    boxes = [chip(MARGIN, ground - 18, "loc 0", "header", 18, label)]
    boxes.append(chip(MARGIN, ground - HEIGHT, f"loc {number(state.largest)}", "header", 18, label))
    if state.config.pages >= MANY_PAGES:
        boxes.append(chip(MARGIN, ground - HEIGHT + 22, f"page {number(state.config.pages)}", "quiet", 18, label))
    y = ground + 6
    for k, name in enumerate(("step", "served", "largest live")):
        boxes.append(chip(MARGIN, y + (0, CELL + 2, CELL + 4 + ROW)[k], name, "header", (CELL, ROW, ROW)[k], label))
    for k, i in enumerate(shown):
        x = left + k * (width + GAP)
        boxes += _bar(state, steps[i], x, width, ground)
        mark = "selected" if i == state.at else ""
        boxes.append(_what(i, steps[i], x, y, width, mark))
        boxes.append(Box(x, y + CELL + 2, width, ROW, "yes", number(steps[i].served)))
        above = any(steps[i].largest >= c.slots for c in watermark_state.consumers(state.config))
        largest = number(steps[i].largest) if steps[i].runs else "none"
        boxes.append(Box(x, y + CELL + 4 + ROW, width, ROW, "notice" if above else "yes", largest))
    limits, lines = _limits(state, steps, left, right, ground)
    return boxes + limits, lines, y + CELL + 4 + 2 * ROW


def _bar(state: WatermarkState, step: Moment, x: float, width: float, ground: float) -> list[Box]:
    """Draw the live locs of one step from the ground up, cut where a line crosses. Each piece has its holder's name, if there
    is room."""
    boxes: list[Box] = []
    below = ground
    cuts = [ground - _height(state, slots) for slots in _grouped(state) if slots <= state.largest]
    page0 = ground - _height(state, state.config.width)
    if ground - page0 >= 14:
        boxes.append(Box(x, page0 + 1, width, ground - page0 - 1, "reserved", "page 0", hover="page 0 is never issued"))
    for run in step.runs:
        bottom = min(below, ground - _height(state, run.first))
        top = min(ground - _height(state, run.last + 1), bottom - 2)
        below = top
        text = f"{run.name} kept" if run.kept else run.name
        held = "kept in the prefix cache" if run.kept else "held by a request"
        hover = f"locs {number(run.first)} to {number(run.last)}: {run.name}, {held}"
        style = request_style(_index(run.name))
        edges = [bottom, *(y for y in cuts if top + 4 < y < bottom - 4), top]
        pieces = list(pairwise(edges))
        if max(b - a for b, a in pieces) < 16 <= bottom - top:  # a line through the name is better than no name
            pieces = [(bottom, top)]
        boxes += [Box(x, a + 1, width, b - a - 1, style, text if b - a >= 16 else "", hover=hover) for b, a in pieces]
    return boxes


def _index(name: str) -> int:
    return string.ascii_uppercase.index(name[0])


def _what(i: int, step: Moment, x: float, y: float, width: float, mark: str) -> Box:
    action = step.action
    if action is None:
        return Box(x, y, width, CELL, "quiet", "0", "empty", mark, hover="an empty server")
    does = {"new": f"+{number(action.tokens)}", "free": "freed", "keep": "kept", "evict": "evicted"}[action.kind]
    style = request_style(_index(action.name))
    return Box(x, y, width, CELL, style, number(i), f"{action.name} {does}", mark, hover=told(action))


def _grouped(state: WatermarkState) -> dict[int, list[Consumer]]:
    found: dict[int, list[Consumer]] = {}
    for consumer in watermark_state.consumers(state.config):
        found.setdefault(consumer.slots, []).append(consumer)
    return dict(sorted(found.items()))


def _limits(state: WatermarkState, steps, left: float, right: float, ground: float) -> tuple[list[Box], tuple[Line, ...]]:
    """Draw a line for each bound, from the first step to its label. Labels move apart where lines are close."""
    boxes, lines = [], []
    width = max(80.0, chip_width([number(state.largest + 1)]))
    groups = _grouped(state)
    heights = [ground - _height(state, min(slots, state.largest + 1)) for slots in groups]
    for (slots, group), y, top in zip(groups.items(), heights, _apart([y - LIMIT / 2 for y in heights]), strict=True):
        at = watermark_state.crossed(group[0], steps[: state.at + 1])
        never = watermark_state.first_issued(state, slots) is None
        said = "holds all" if never else "not crossed" if at is None else f"from step {at}"
        names = ", ".join(c.name for c in group)
        boxes.append(Box(right + 16, top, width, LIMIT, "yes" if at is None else "notice", number(slots), said, hover=names))
        middle = top + LIMIT / 2
        lines.append(Line(((left, y), (right + 2, y), (right + 12, middle), (right + 16, middle)), "limit"))
    return boxes, tuple(lines)


def _apart(tops: list[float]) -> list[float]:
    """Move the tops of labels, the lowest label first, so that none covers another and none leaves the picture."""
    for i in range(1, len(tops)):
        tops[i] = min(tops[i], tops[i - 1] - LIMIT - 2)
    floor = float(MARGIN)
    for i in reversed(range(len(tops))):
        tops[i] = max(tops[i], floor)
        floor = tops[i] + LIMIT + 2
    return tops


def _consumers(state: WatermarkState, y: float) -> tuple[list[Box], float]:
    rows = [facts(state, c) for c in watermark_state.consumers(state.config)]
    header = ("consumer", "has", "breaks at", "by this step")
    widths = [chip_width(cells) for cells in zip(header, *rows, strict=True)]
    boxes: list[Box] = []
    for cells in (header, *rows):
        x = float(MARGIN)
        broken = cells[3].startswith(("overflows", "false alarm"))
        for k, (text, width) in enumerate(zip(cells, widths, strict=True)):
            style = "header" if cells is header or not k else "notice" if broken and k == 3 else "yes"
            boxes.append(Box(x, y, width, ROW, style, text))
            x += width + GAP
        y += ROW + GAP
    return boxes, y


def _hits(state: WatermarkState, y: float) -> tuple[list[Box], float]:
    rows = [row for row in hit_rows(state) if row[2] == number(state.step.largest)]  # the smallest loc stands in the table
    if not rows:
        text = "no live loc is beyond a buffer at this step, so no neighbour is hit"
        return [chip(MARGIN, y, text, "yes", ROW)], y + ROW
    header = ("writes to", "at loc", "and changes")
    widths = [chip_width(cells) for cells in zip(header, *(row[1:] for row in rows), strict=True)]
    boxes: list[Box] = []
    who = None
    for row in [("", *header), *rows]:
        if row[0] != who and row[0]:
            boxes.append(chip(MARGIN, y, row[0], "header", ROW))
            y += ROW + GAP
        who = row[0]
        x = float(MARGIN)
        for text, width in zip(row[1:], widths, strict=True):
            boxes.append(Box(x, y, width, ROW, "notice" if row[0] else "header", text))
            x += width + GAP
        y += ROW + GAP
    return boxes, y


def facts(state: WatermarkState, consumer: Consumer) -> tuple[str, str, str, str]:
    """Return a consumer, its size, the loc at which it breaks with its page and share of the pool, and its state at this
    step."""
    steps = watermark_state.played(state)[: state.at + 1]
    first = watermark_state.first_issued(state, consumer.slots)
    what = number(consumer.slots)
    if first is None:
        return consumer.name, what, "no loc that is issued", "holds"
    at = watermark_state.crossed(consumer, steps)
    does = "overflows" if consumer.buffers else "false alarm"
    return consumer.name, what, f"loc {number(first)}: {page_of(state, first)}", "holds" if at is None else f"{does}, step {at}"


def page_of(state: WatermarkState, loc: int) -> str:
    page, pages = index_spaces.allocator_page(loc, state.page_size, state.dcp_size), state.config.pages
    return f"page {number(page)} of {number(pages)}, {page / pages:.1%}"


def hit_rows(state: WatermarkState) -> list[tuple[str, str, str, str]]:
    return [
        (c.name, h.buffer, number(h.loc), h.lands)
        for c in watermark_state.consumers(state.config)
        for h in watermark_state.hits(state, c)
    ]


def told(action: Action | None) -> str:
    """Put an action into words."""
    if action is None:
        return "the server is empty"
    return {
        "new": f"request {action.name} of {number(action.tokens)} tokens arrives",
        "free": f"request {action.name} finishes and its pages are freed",
        "keep": f"request {action.name} finishes and its whole pages stay in the prefix cache",
        "evict": f"the prefix cache lets go of {action.name}",
    }[action.kind]


def sentence(state: WatermarkState) -> str:
    """Word the facts about the selected step."""
    step = state.step
    room = f", for which the cache lets go of {', '.join(step.evicted)}" if step.evicted else ""
    live = f"The largest live loc is {number(step.largest)}" if step.runs else "No loc is live"
    served = f"{number(step.served)} tokens served so far."
    over = [c for c in watermark_state.consumers(state.config) if step.largest >= c.slots]
    if not over:
        return f"Step {state.at}: {told(step.action)}{room}. {served} {live}, below every line."
    bounds = " and ".join(number(v) for v in dict.fromkeys(c.slots for c in over))
    first = next((c for c in over if c.buffers), None)
    what = ""
    if first:
        hit = next(h for h in watermark_state.hits(state, first) if h.loc == step.largest)
        what = f" With {first.name}, {hit.buffer} at that loc means {hit.lands}."
    return f"Step {state.at}: {told(step.action)}{room}. {served} {live}, beyond {bounds}.{what}"


def legend(state: WatermarkState) -> str:
    low = min(_grouped(state))
    first = watermark_state.first_issued(state, low)
    start = f"The lowest line is {number(low)}: {page_of(state, first)}. " if first is not None else "No line can be crossed. "
    back = "wait until the others run short" if state.need_sort else "come back first"
    return (
        f"Pages 1 to {number(state.config.pages)} of {number(state.config.width)} locs; freed pages {back}. {start}"
        "A line counts slots: loc and line equal is one too many."
        + (" The last page is drawn larger." if state.config.pages >= MANY_PAGES else "")
    )


def tables(state: WatermarkState) -> tuple[Table, ...]:
    """Make the tables: steps; consumers; and the victims, if any."""
    rows = []
    for i, step in enumerate(watermark_state.played(state)):
        over = dict.fromkeys(number(c.slots) for c in watermark_state.consumers(state.config) if step.largest >= c.slots)
        rows.append(
            (
                f"> {i}" if i == state.at else str(i),
                told(step.action),
                number(step.served),
                number(step.largest) if step.runs else "none",
                number(state.config.pages - step.free),
                " ".join(over) or "none",
            )
        )
    steps = Table(("step", "what happens", "tokens served", "largest live loc", "pages held", "lines crossed"), tuple(rows))
    users = Table(
        ("consumer", "slots", "breaks at", f"by step {state.at}"),
        tuple(facts(state, c) for c in watermark_state.consumers(state.config)),
    )
    hit = hit_rows(state)
    hits = (Table(("consumer", "writes to", "at loc", "and changes"), tuple(hit)),) if hit else ()
    return steps, users, *hits


def picture(state: WatermarkState) -> Picture:
    """Make the picture of a state: scene, sentence and tables."""
    first, *more = tables(state)
    return Picture(
        f"Watermark: C = {number(state.size)}, P = {state.page_size}, D = {state.dcp_size}",
        f"{sentence(state)} {legend(state)}",
        scene(state),
        first,
        tuple(more),
    )
