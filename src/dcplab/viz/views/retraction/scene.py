"""Draws a retraction: who holds each page at each moment, where the selected token is, and A's locs before and after."""

from __future__ import annotations

import itertools
from dataclasses import replace

from dcplab.course.model import Table
from dcplab.engine import index_spaces
from dcplab.viz.core.palette import request_style
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import GAP, MARGIN, Box, Line, Scene, cell_width, chip, chip_width, chunks, per_line
from dcplab.viz.figures.strips import loc_box
from dcplab.viz.views.retraction import state as retraction_state
from dcplab.viz.views.retraction.state import MOMENTS, Lies, RetractionMoment, RetractionState

BAR, CELL, LANE = 20, 34, 10  # heights of a label and of a cell; the free lane in which the token's line runs


def scene(state: RetractionState) -> Scene:
    """Draw the moments, a line of pages each, and below them A's positions with their locs before and now."""
    timeline, lines, y = _timeline(state)
    return Scene((*timeline, *_positions(state, y + 8)), lines).select(state.selected)


def lie_words(lie: Lies | None) -> str:
    """Return whose word lies at a loc, as "B 5"; "nobody" where nothing was written."""
    return "nobody" if lie is None else f"{lie[0]} {lie[1]}"


def _timeline(state: RetractionState) -> tuple[list[Box], tuple[Line, ...], float]:
    label = chip_width([_name(i) for i in range(len(MOMENTS))])
    width = cell_width([*(_locs(state, page) for page in range(1, state.pages + 1)), "B's words"], 66)
    host = chip_width([f"A, {state.tokens} tokens", "the host"])
    left, y = MARGIN + label + 2 * GAP, float(MARGIN)
    far = left + (state.pages + 1) * (width + GAP) + 2 * GAP
    boxes = [Box(left, y, width, CELL, "page", "page 0", _locs(state, 0))]
    for page in range(1, state.pages + 1):
        boxes.append(Box(left + page * (width + GAP), y, width, CELL, "page", f"page {page}", _locs(state, page)))
    boxes.append(chip(far, y, "the host", "header", CELL, host))
    y += CELL + GAP
    stops: list[Box] = []
    for i, moment in enumerate(retraction_state.moments(state)):
        y += LANE
        here = "last" if i == state.at else ""
        boxes.append(replace(chip(MARGIN, y, _name(i), "header", CELL, label), mark=here))
        boxes.append(Box(left, y, width, CELL, "reserved", "", "", hover="page 0 is never issued"))
        cells = [_page(state, moment, page, (left + page * (width + GAP), y, width)) for page in range(1, state.pages + 1)]
        kept = Box(far, y, host, CELL, "yes" if moment.host else "unused", f"A, {moment.host} tokens" if moment.host else "")
        boxes += [*cells, kept]
        if moment.locs:
            stops.append(cells[moment.locs[state.selected] // state.width - 1])
        else:
            stops.append(kept)
        y += CELL
    return boxes, _way(stops), y


def _name(i: int) -> str:
    return f"{i} {MOMENTS[i]}"


def _locs(state: RetractionState, page: int) -> str:
    return f"{page * state.width}..{(page + 1) * state.width - 1}"


def _page(state: RetractionState, moment: RetractionMoment, page: int, at: tuple[float, float, float]) -> Box:
    x, y, width = at
    locs = range(page * state.width, (page + 1) * state.width)
    owners = sorted({moment.lies[loc][0] for loc in locs if loc in moment.lies})
    holder = moment.held.get(page)
    words = f"{', '.join(owners)}'s words" if owners else "empty"
    style = request_style("ABC".index(holder)) if holder else "unused"
    hover = f"page {page}, locs {locs[0]} to {locs[-1]}: {holder or 'free'}, in it {words}"
    return Box(x, y, width, CELL, style, holder or "free", words, hover=hover)


def _way(stops: list[Box]) -> tuple[Line, ...]:
    """Return the selected token's lines from moment to moment, in the lanes between."""
    lines = []
    for before, after in itertools.pairwise(stops):
        lane = before.y + before.h + LANE / 2
        lines.append(Line((before.bottom, (before.middle[0], lane), (after.middle[0], lane), after.top), "journey"))
    return tuple(lines)


def _positions(state: RetractionState, y: float) -> list[Box]:
    """Draw A's positions; their locs before, their locs at the moment that is looked at, and what lies there."""
    moments = retraction_state.moments(state)
    old, moment, lies = moments[0].locs, moments[state.at], retraction_state.reads(state)
    names = ("position of A", "loc before", "loc now", "word there")[: 4 if moment.locs else 3]
    label = chip_width(names)
    width = max(cell_width(["nobody"]), *(chip_width([_owner_row(state, loc)]) for loc in (*old, *moment.locs)))
    line = per_line(width, state.width, state.dcp_size)
    boxes: list[Box] = []
    for start, part in chunks(range(state.tokens), line):
        tops = [y, y + BAR + GAP, y + BAR + CELL + 2 * GAP, y + BAR + 2 * CELL + 3 * GAP]
        heights = (BAR, CELL, CELL, BAR)
        boxes += [chip(MARGIN, tops[i], text, "header", heights[i], label) for i, text in enumerate(names)]
        for p in part:
            x = MARGIN + label + 2 * GAP + (p - start) * (width + GAP)
            boxes.append(Box(x, tops[0], width, BAR, request_style(0), str(p), loc=p))
            boxes.append(_loc(state, old[p], p, (x, tops[1], width)))
            if moment.locs:
                right = lies[p] == ("A", p)
                boxes.append(_loc(state, moment.locs[p], p, (x, tops[2], width)))
                boxes.append(Box(x, tops[3], width, BAR, "yes" if right else "notice", lie_words(lies[p]), loc=p))
            else:
                boxes.append(Box(x, tops[2], width, CELL, "quiet", "host", loc=p))
        y = tops[3] + (BAR if moment.locs else 0) + 3 * GAP
    return boxes


def _loc(state: RetractionState, loc: int, p: int, at: tuple[float, float, float]) -> Box:
    x, y, width = at
    return replace(loc_box((x, y, width, CELL), loc, state.dcp_size), sub=_owner_row(state, loc), loc=p)


def _owner_row(state: RetractionState, loc: int) -> str:
    owner, row = index_spaces.owner_rank(loc, state.dcp_size), index_spaces.local_row(loc, state.dcp_size)
    return f"r{owner} row {row}"


def _home(state: RetractionState, loc: int) -> str:
    return (
        f"loc {loc} (owner r{index_spaces.owner_rank(loc, state.dcp_size)}, row {index_spaces.local_row(loc, state.dcp_size)})"
    )


def sentence(state: RetractionState) -> str:
    """Say where the selected token is at this moment, and what A reads."""
    moment, p = retraction_state.moments(state)[state.at], state.selected
    before = retraction_state.moments(state)[0].locs[p]
    head = f"Moment {_name(state.at)}. Position {p} of A was at {_home(state, before)}"
    if not moment.locs:
        return f"{head}; it is on the host, and has no loc."
    if not state.at:
        return f"{head}."
    lie = retraction_state.reads(state)[p]
    found = lie_words(lie)
    verdict = "right" if lie == ("A", p) else "wrong"
    return (
        f"{head} and is at {_home(state, moment.locs[p])}. There lies {found}: {verdict}. "
        f"Restored {state.restore}, {retraction_state.wrong(state)} of {state.tokens} words of A are wrong, and "
        f"{retraction_state.overwritten(state)} of C's are gone."
    )


def legend(state: RetractionState) -> str:
    """Say what cells and lines mean."""
    order = (
        "freed pages wait until the others run short, and are merged in ascending order (need_sort)"
        if state.need_sort
        else "what was freed last is issued first"
    )
    return (
        f"D {state.dcp_size}, P {state.page_size}, pages of {state.width} locs; {order}. A page names its holder, and below "
        "whose words lie in it: freeing a page erases nothing. Dashed: the moment that is looked at. The line is the selected "
        "token. B was here earlier. A token's owner never changes, its loc and its row do."
    )


def tables(state: RetractionState) -> tuple[Table, ...]:
    """Make the tables: A's positions before and now; the holder of each page at each moment."""
    moments, d = retraction_state.moments(state), state.dcp_size
    lies = retraction_state.reads(state)
    rows = []
    for p, before in enumerate(moments[0].locs):
        now = moments[state.at].locs[p] if moments[state.at].locs else None
        ends = ("host", "-", "-", "-") if now is None else (str(now), *_place(now, d), lie_words(lies[p]))
        rows.append((str(p), str(before), *_place(before, d), *ends))
    held = [
        (_name(i), *(m.held.get(page, "free") for page in range(1, state.pages + 1)), f"{m.host} tokens")
        for i, m in enumerate(moments)
    ]
    pages = tuple(f"page {page}" for page in range(1, state.pages + 1))
    return (
        Table(("position", "loc before", "owner", "row", "loc now", "owner now", "row now", "word there"), tuple(rows)),
        Table(("moment", *pages, "host"), tuple(held)),
    )


def _place(loc: int, dcp_size: int) -> tuple[str, str]:
    return f"r{index_spaces.owner_rank(loc, dcp_size)}", str(index_spaces.local_row(loc, dcp_size))


def picture(state: RetractionState) -> Picture:
    """Return the state as a picture with its tables."""
    first, *more = tables(state)
    said = sentence(state)
    return Picture("A retraction, moment by moment", f"{said} {legend(state)}", scene(state), first, tuple(more), said)
