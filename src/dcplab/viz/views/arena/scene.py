"""Draws the arena map: a rank's regions in address order, the accesses that landed in each, and strict mode's sentence."""

from __future__ import annotations

import textwrap

from dcplab.course.model import Table
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import GAP, MARGIN, Box, Line, Scene, cell_width, chip, chip_width, number, text_width
from dcplab.viz.views.arena import state as arena_state
from dcplab.viz.views.arena.state import ArenaState, Spill, Stretch

ROW, LANE, LINE, MOST_ROWS, MOST_LISTED = 34, 18, 22, 26, 40
WIDE = 400  # pixels of landings before they wrap


def scene(state: ArenaState) -> Scene:
    """Draw regions from the arena's start down, their use, and the landings. Below: this server's behaviour and strict
    mode's."""
    parts = _shown(state)
    fallen = arena_state.landings(state)
    changed = arena_state.changed_canaries(state)
    names = [p.name if isinstance(p, Stretch) else p for p in parts]
    spans = [_span(p) for p in parts]
    width = max(cell_width(names, 150), *(text_width(span, 11) + 8 for span in spans))
    uses = [_used(p, changed).partition(", ") for p in parts]
    used = max(cell_width(what for what, _, _ in uses), *(text_width(most, 11) + 8 for _, _, most in uses))
    boxes: list[Box] = []
    places: dict[str, Box] = {}
    y = float(MARGIN)
    for part, name, span, (what, _, most) in zip(parts, names, spans, uses, strict=True):
        here = [v for v in fallen if v.region == name]
        chips, height = _chips(here, state, MARGIN + width + used + 3 * GAP + LANE, y)
        height = max(ROW, height)
        box = Box(MARGIN, y, width, height, _style(part), name, span)
        boxes.append(box)
        places[name] = box
        if what:
            style = "notice" if _wrong(part, changed) else "yes"
            boxes.append(Box(MARGIN + width + GAP, y, used, height, style, what, most))
        boxes += chips
        y += height + GAP
    words, _ = _words(state, y + 8)
    return Scene((*boxes, *words), _path(state, places, MARGIN + width + used + 2 * GAP + LANE / 2))


def _shown(state: ArenaState) -> list[Stretch | str]:
    """Return every region if there are few. Otherwise those that an access left, reached or lies beside, and "..." for the
    others."""
    fallen = arena_state.landings(state)
    lost: list[Stretch | str] = ["not mapped"] if any(v.region == "not mapped" for v in fallen) else []
    if len(state.parts) <= MOST_ROWS:
        return [*state.parts, *lost]
    names = {v.region for v in fallen} | {v.source for v in fallen}
    keep = {i + k for i, p in enumerate(state.parts) if p.name in names for k in (-1, 0, 1)}
    keep |= {0, len(state.parts) - 1}
    found: list[Stretch | str] = []
    skipped = 0
    for i, part in enumerate([*state.parts, None]):
        if part is not None and i not in keep:
            skipped += 1
            continue
        if skipped:
            found.append(f"{skipped} more region{'s' if skipped > 1 else ''}")
        skipped = 0
        if part is not None:
            found.append(part)
    return [*found, *lost]


def _span(part: Stretch | str) -> str:
    if isinstance(part, Stretch):
        return f"bytes {number(part.region.first)} to {number(part.region.end - 1)}"
    return "nothing lies here" if part == "not mapped" else "nothing landed there"


def _used(part: Stretch | str, changed: dict[str, str]) -> str:
    if not isinstance(part, Stretch):
        return ""
    if part.canary:
        return changed.get(part.name, "intact")
    if part.slots is None:
        return ""
    most = "none asked for" if part.highest is None else f"largest {part.space} {number(part.highest)}"
    return f"{number(part.slots)} slots, {most}"


def _wrong(part: Stretch | str, changed: dict[str, str]) -> bool:
    if not isinstance(part, Stretch):
        return False
    return part.name in changed or (part.slots is not None and part.highest is not None and part.highest >= part.slots)


def _style(part: Stretch | str) -> str:
    if not isinstance(part, Stretch):
        return "unused"
    if part.canary:
        return "quiet"
    if part.slots is None:
        return "unused"
    kinds = {"index_k": "index_k", "ckv": "page"}
    return next((style for kind, style in kinds.items() if kind in part.name), "header")


def _said(landing: Spill) -> str:
    word = ("write" if landing.write else "read") + ("s" if landing.count != 1 else "")
    what = f"{number(landing.count)} {word} meant for {landing.source}"
    if landing.region == landing.source:
        what = f"{number(landing.count)} {word} by an index of another space"
    if landing.low is None or landing.high is None:
        return what
    if landing.low == landing.high:
        return f"{what}: slot {number(landing.low)}"
    return f"{what}: slots {number(landing.low)} to {number(landing.high)}"


def _chips(here: list[Spill], state: ArenaState, x: float, y: float) -> tuple[list[Box], float]:
    """Draw the landings in one region, in lines of about ``WIDE`` pixels."""
    boxes: list[Box] = []
    left, top = x, y
    for landing in here:
        text = _said(landing)
        w = int(text_width(text, 12)) + 15
        if x > left and x + w > left + WIDE:
            x, top = left, top + LINE + 2 * GAP
        style = "notice" if landing.region != landing.source else "yes"
        boxes.append(Box(x, top + 3, w, LINE, style, text, mark="selected" if landing.latest else "", hover=text))
        x += w + 2 * GAP
    return boxes, top - y + LINE + 2 * GAP if here else 0.0


def _path(state: ArenaState, places: dict[str, Box], x: float) -> tuple[Line, ...]:
    """Draw lines from the buffer that an access is meant for to every region in which it lands."""
    access = state.access
    if access is None or access.buffer not in places:
        return ()
    start = places[access.buffer]
    lines = []
    for hit in access.hits:
        goal = places.get(hit.region)
        if goal is not None and goal is not start:
            y0, y1 = start.middle[1], goal.middle[1]
            lines.append(Line(((x - LANE / 2, y0), (x, y0), (x, y1), (x + LANE / 2, y1)), "journey"))
    return tuple(lines)


def _words(state: ArenaState, y: float) -> tuple[list[Box], float]:
    """Draw two blocks: this server's behaviour at this access, and strict mode's sentence with its time."""
    boxes: list[Box] = []
    for head, text in (("this server", happens(state)), ("strict mode", strict_says(state))):
        boxes.append(chip(MARGIN, y, head, "header", LINE, chip_width(["strict mode", "this server"])))
        left = boxes[-1].x + boxes[-1].w + GAP
        for line in textwrap.wrap(text, 92):
            boxes.append(chip(left, y, line, "notice" if state.at else "yes", LINE))
            y += LINE + GAP
        y += 5
    return boxes, y


def happens(state: ArenaState) -> str:
    """Word the selected access: its place, and the owners of the tokens that it meets there."""
    access = state.access
    if access is None:
        return "No access has left its buffer so far." if state.accesses else "Every access so far stayed inside its buffer."
    head = access.sentence()
    head = head[:1].upper() + head[1:]
    if not access.outside:
        return f"{head} Inside the buffer, but an index of another space: it is another token's place, or right by luck."
    if state.strict:
        return f"{head} It is refused: nothing is {'written' if access.write else 'read'}."
    lands = "; ".join(h.words() for h in access.hits)
    return f"{head} {access.outside} of {access.count} land in: {lands}."


def strict_says(state: ArenaState) -> str:
    """Word the sentence that strict mode raises, and its place in the order of accesses."""
    first = state.first_outside
    if first is None:
        return "It refuses nothing: no index lay outside its buffer."
    if state.strict:
        return f"Raised: {first.sentence()}"
    seen = state.access is not None and any(a is first for a in state.noted[: _place(state) + 1])
    when = "Would have stopped the server before this, with" if seen else "Will stop the server at"
    if state.access is first:
        when = "Stops the server here, before a byte is changed, with"
    return f"{when}: {first.sentence()}"


def _place(state: ArenaState) -> int:
    """Return the number of the selected access among all noted accesses."""
    return next(i for i, a in enumerate(state.noted) if a is state.access)


def sentence(state: ArenaState) -> str:
    count = len(state.accesses)
    kind = "reads and writes" if state.reads else "writes"
    if not count:
        return f"Rank {state.rank}: no {kind} left a buffer or used an index of another space. {strict_says(state)}"
    return f"Rank {state.rank}, access {state.at} of {count} wrong {kind}. {happens(state)} Strict mode: {strict_says(state)}"


def legend(state: ArenaState) -> str:
    changed = arena_state.changed_canaries(state)
    bands = ", ".join(f"{name} ({what})" for name, what in changed.items()) or "none"
    cut = " Only the first accesses were noted one by one." if state.cut else ""
    return (
        "In address order, not to scale; a chip says what landed there from elsewhere up to this access. "
        f"Canaries changed so far: {bands}.{cut}"
    )


def tables(state: ArenaState) -> tuple[Table, ...]:
    """Make the tables of regions, and of the accesses around the selected one."""
    changed = arena_state.changed_canaries(state)
    fallen = arena_state.landings(state)
    lost = ["not mapped"] if any(v.region == "not mapped" for v in fallen) else []
    regions = []
    parts: list[Stretch | str] = [*state.parts, *lost]
    for part in parts:
        name = part.name if isinstance(part, Stretch) else part
        span = ("-", "-") if isinstance(part, str) else (number(part.region.first), number(part.region.end - 1))
        landed = "; ".join(_said(v) for v in fallen if v.region == name)
        regions.append((name, *span, _used(part, changed) or "-", landed or "nothing"))
    start = max(0, min(state.at - MOST_LISTED // 2, len(state.accesses) - MOST_LISTED))
    rows = []
    for i, a in enumerate(state.accesses[start : start + MOST_LISTED], start + 1):
        lands = "refused" if state.strict and a.outside else "; ".join(h.words() for h in a.hits) or a.buffer
        first = number(a.first) if a.first is not None else f"{number(a.low)} to {number(a.high)}"
        mark = "> " if i == state.at else ""
        rows.append((f"{mark}{i}", str(a.step), a.phase, a.op, a.buffer, first, f"{a.outside} of {a.count}", lands))
    header = ("access", "step", "phase", "operation", "meant for", "first index outside", "outside", "lands in")
    listed = (Table(header, tuple(rows)),) if rows else ()
    return Table(("region", "first byte", "last byte", "use", "what landed there"), tuple(regions)), *listed


def picture(state: ArenaState) -> Picture:
    """Make the picture of a state: scene, sentence and tables."""
    first, *more = tables(state)
    return Picture(
        f"Memory of rank {state.rank} of {state.dcp_size}, {len(state.parts)} regions",
        f"{sentence(state)} {legend(state)}",
        scene(state),
        first,
        tuple(more),
    )
