"""Draws a kernel's programs and lanes: each lane's load and store."""

from __future__ import annotations

from dataclasses import dataclass

from dcplab.course.model import Table
from dcplab.engine import index_spaces
from dcplab.viz.core.palette import owner_style
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import GAP, MARGIN, Box, Scene, cell_width, chip, chip_width, number
from dcplab.viz.core.validate import geometry, whole, whole_list
from dcplab.viz.figures.strips import loc_box

STEP, MOST_LANES, MOST_PROGRAMS = 26, 32, 16
LINES = ("lane", "element", "in range", "loc", "owned", "stores")


@dataclass(frozen=True)
class Lane:
    """One lane of one program. ``loc`` and ``stores`` are None where the mask is off: nothing is loaded or stored."""

    program: int
    lane: int
    element: int
    loc: int | None
    owned: bool
    stores: int | None


def lanes(locs: tuple[int, ...], dcp_rank: int, dcp_size: int, block: int) -> list[Lane]:
    """Compute the lanes of ``localize_page_table_kernel`` on ``locs``, with ``block`` elements a program."""
    found = []
    for element in range(-(-len(locs) // block) * block):
        loc = locs[element] if element < len(locs) else None
        row = None if loc is None else index_spaces.localize(loc, dcp_rank, dcp_size)
        found.append(Lane(element // block, element % block, element, loc, row is not None and row >= 0, row))
    return found


@drawn
def kernel_lanes(locs, dcp_rank: int, dcp_size: int, block: int) -> Picture:
    """Draw programs and lanes of the localize kernel: element, mask, loc, owned, and the row (or -1) that is stored.

    ``locs``: locs or -1. ``dcp_rank`` of ``dcp_size`` ranks. ``block``: elements a program takes. At most 16 programs of 32
    lanes are drawn.
    """
    dcp_size, _ = geometry(dcp_size)
    dcp_rank, block = whole(dcp_rank, "dcp_rank", 0), whole(block, "block", 1)
    locs = whole_list(locs, "locs")
    if dcp_rank >= dcp_size:
        raise ValueError(f"dcp_rank must be below dcp_size {dcp_size}, not {dcp_rank}.")
    if not locs:
        raise ValueError("there is no loc, so no program runs.")
    if block > MOST_LANES or -(-len(locs) // block) > MOST_PROGRAMS:
        raise ValueError(f"a picture shows at most {MOST_PROGRAMS} programs of {MOST_LANES} lanes.")
    found = lanes(locs, dcp_rank, dcp_size, block)
    width = cell_width((number(v) for v in locs), 40)
    label = chip_width([*LINES, f"program {found[-1].program}"])
    boxes: list[Box] = []
    for lane in found:
        top = MARGIN + lane.program * (STEP * len(LINES) + 16)
        x = MARGIN + label + 2 * GAP + lane.lane * (width + GAP)
        if lane.lane == 0:
            boxes.append(chip(MARGIN, top, f"program {lane.program}", "page", 22, label))
            boxes += [chip(MARGIN, top + STEP * (k + 1), name, w=label) for k, name in enumerate(LINES[1:])]
        boxes += _column(x, top, width, lane, dcp_size, dcp_rank)
    rows = tuple(
        (
            number(v.program),
            number(v.lane),
            number(v.element),
            "no" if v.loc is None else "yes",
            "-" if v.loc is None else number(v.loc),
            "yes" if v.owned else "no",
            "nothing" if v.stores is None else number(v.stores),
        )
        for v in found
    )
    return Picture(
        f"Lanes of the localize kernel on rank {dcp_rank} of {dcp_size}, BLOCK = {block}",
        f"{len(locs)} locs need {found[-1].program + 1} programs. A lane past the end loads and stores nothing; "
        "a lane in range always stores, its row or -1.",
        Scene(tuple(boxes)),
        Table(("program", *LINES), rows),
    )


def _column(x: float, top: float, width: float, lane: Lane, dcp_size: int, dcp_rank: int) -> list[Box]:
    inside = lane.loc is not None
    texts = [
        ("header", f"lane {lane.lane}" if width >= 48 else f"L{lane.lane}"),
        ("yes" if inside else "unused", number(lane.element)),
        ("yes" if inside else "unused", "yes" if inside else "no"),
        None,
        ("yes" if lane.owned else "quiet" if inside else "unused", ("yes" if lane.owned else "no") if inside else ""),
        (
            owner_style(dcp_rank) if lane.owned else "quiet" if inside else "unused",
            "" if lane.stores is None else number(lane.stores),
        ),
    ]
    boxes = []
    for k, item in enumerate(texts):
        y = top + STEP * k
        if item is None:
            if lane.loc is not None:
                box = loc_box((x, y, width, 22), lane.loc, dcp_size)
                text = f"{box.text}"
                boxes.append(Box(x, y, width, 22, box.style, text, loc=box.loc, hover=box.hover))
            else:
                boxes.append(Box(x, y, width, 22, "unused"))
        else:
            boxes.append(Box(x, y, width, 22, *item))
    return boxes
