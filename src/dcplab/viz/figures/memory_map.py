"""Draws memory in address order: neighbouring regions, and the region in which an access really lands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from dcplab.course.model import Table
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import GAP, MARGIN, Box, Scene, cell_width, number, text_width
from dcplab.viz.core.validate import whole

HEIGHT, CHIP, MOST_REGIONS, MOST_TOUCHES = 40, 22, 24, 64


@dataclass(frozen=True)
class Region:
    """Addresses ``first`` to ``end - 1`` of one memory, in the picture's unit."""

    name: str
    first: int
    end: int


@dataclass(frozen=True)
class Touch:
    """One access: its name, the region that it is meant for, and the address that it uses."""

    what: str
    meant: str
    address: int


def lands(regions: tuple[Region, ...], address: int) -> Region | None:
    """Return the region that holds an address, or None where nothing is mapped."""
    return next((r for r in regions if r.first <= address < r.end), None)


@drawn
def memory_map(regions, touches=(), unit: str = "row") -> Picture:
    """Draw regions of one memory in address order, not to scale, each with the accesses that land in it.

    ``regions``: ``(name, first, end)``, half-open, as `engine.arena.Arena.table` gives them. ``touches``: ``(what, meant,
    address)``, where ``meant`` names a region. ``unit``: the unit of an address ("row", "byte"). An access outside the region
    that it is meant for is outlined and says so.
    """
    placed = tuple(sorted((_region(r) for r in regions), key=lambda r: r.first))
    accesses = tuple(_touch(t, {r.name for r in placed}) for t in touches)
    if not 1 <= len(placed) <= MOST_REGIONS or len(accesses) > MOST_TOUCHES:
        raise ValueError(f"a picture shows 1 to {MOST_REGIONS} regions and at most {MOST_TOUCHES} accesses.")
    for a, b in pairwise(placed):
        if a.end > b.first:
            raise ValueError(f"regions {a.name} and {b.name} overlap at {unit} {number(b.first)}.")
    spans = {r.name: f"{unit}s {number(r.first)} to {number(r.end - 1)}" for r in placed}
    width = max(cell_width([*spans, *spans.values(), "not mapped"], 150), 150)
    boxes: list[Box] = []
    y = float(MARGIN)
    for region in [*placed, None]:
        here = [t for t in accesses if lands(placed, t.address) == region]
        if region is None and not here:
            continue
        chips, height = _chips(region, here, MARGIN + width + 4 * GAP, y, unit)
        height = max(HEIGHT, height)
        name, span = (region.name, spans[region.name]) if region else ("not mapped", "nothing lies here")
        boxes += [Box(MARGIN, y, width, height, "header" if region else "unused", name, span), *chips]
        y += height + GAP
    astray = [t for t in accesses if _astray(placed, t)]
    rows = tuple(_facts(placed, t, unit) for t in accesses)
    header = ("access", "meant for", unit, "lands in", f"{unit} there", "right")
    table = Table(header, rows) if rows else Table(("region", f"first {unit}", f"last {unit}"), tuple(_span(r) for r in placed))
    return Picture(
        f"Where {len(accesses)} accesses land" if accesses else f"{len(placed)} regions of one memory",
        f"In address order, not to scale. {len(astray)} of {len(accesses)} accesses land outside what they are meant for."
        if accesses
        else "In address order, not to scale.",
        Scene(tuple(boxes)),
        table,
    )


def _chips(region: Region | None, here: list[Touch], x: float, y: float, unit: str) -> tuple[list[Box], float]:
    """Draw the accesses that land in one region, in lines of about 560 pixels."""
    boxes: list[Box] = []
    left, top = x, y
    for touch in here:
        astray = region is None or touch.meant != region.name
        text = f"{touch.what}: {unit} {number(touch.address)}" + (f", meant for {touch.meant}" if astray else "")
        w = int(text_width(text, 12)) + 15
        if x > left and x + w > left + 560:
            x, top = left, top + CHIP + 2 * GAP
        boxes.append(Box(x, top, w, CHIP, "notice" if astray else "yes", text, mark="selected" if astray else "", hover=text))
        x += w + 2 * GAP
    if top == y:  # a single line stands in the middle of its region
        boxes = [replace(b, y=y + (HEIGHT - CHIP) / 2) for b in boxes]
    return boxes, top - y + CHIP + GAP


def _astray(placed: tuple[Region, ...], touch: Touch) -> bool:
    region = lands(placed, touch.address)
    return region is None or region.name != touch.meant


def _facts(placed: tuple[Region, ...], touch: Touch, unit: str) -> tuple[str, ...]:
    region = lands(placed, touch.address)
    there = number(touch.address - region.first) if region else "-"
    name = region.name if region else "not mapped"
    return touch.what, touch.meant, number(touch.address), name, there, "no" if _astray(placed, touch) else "yes"


def _span(region: Region) -> tuple[str, str, str]:
    return region.name, number(region.first), number(region.end - 1)


def _region(value) -> Region:
    name, first, end = value
    region = Region(str(name), whole(first, f"the start of {name}"), whole(end, f"the end of {name}"))
    if region.end <= region.first:
        raise ValueError(f"region {name} ends before it begins.")
    return region


def _touch(value, names: set[str]) -> Touch:
    what, meant, address = value
    if meant not in names:
        raise ValueError(f"{what} is meant for {meant!r}, and there is no such region.")
    return Touch(str(what), str(meant), whole(address, f"the address of {what}", -(2**63)))
