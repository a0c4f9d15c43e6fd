"""Draws pages of both kinds: index-K pages (P locs) and allocator pages (P * D locs, one c-KV page on every rank)."""

from __future__ import annotations

from collections.abc import Sequence

from dcplab.course.model import Table
from dcplab.engine import index_spaces
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.scene import (
    CELL_HEIGHT,
    GAP,
    MARGIN,
    Box,
    Place,
    Scene,
    cell_width,
    chip,
    chip_width,
    chunks,
    number,
    per_line,
    runs,
)
from dcplab.viz.core.validate import geometry, whole, whole_list
from dcplab.viz.figures.strips import loc_box, rank_chips

BAR = 20


def bars(first: Place, ids: Sequence[int], style: str, name: str, chosen: int = -1) -> list[Box]:
    """Draw one bar over each run of cells of one page, with ``name`` if there is room. Page ``chosen`` is marked.

    ``first``: the place of a bar over the first cell alone.
    """
    x, y, width, h = first
    found = []
    for start, count, page in runs(ids):
        span = count * (width + GAP) - GAP
        text = number(page)
        long = f"{name} {text}"
        label = long if 7.0 * len(long) + 6 <= span else text
        found.append(
            Box(x + start * (width + GAP), y, span, h, style, label, mark="selected" if page == chosen else "", hover=long)
        )
    return found


def paged_lines(
    x: float, y: float, locs: Sequence[int], page_size: int, dcp_size: int, marks: dict[int, str] | None = None
) -> tuple[list[Box], float]:
    """Draw locs in lines, index-K pages as bars above and allocator pages as bars below. Returns boxes and the y below them."""
    marks = marks or {}
    width = cell_width(number(v) for v in locs)
    line = per_line(width, index_spaces.widened_page(page_size, dcp_size), page_size, dcp_size)
    left = x + chip_width(["index-K page", "c-KV page"]) + 2 * GAP
    boxes: list[Box] = []
    for _, part in chunks(locs, line):
        boxes.append(chip(x, y, "index-K page", "index_k", BAR, left - x - 2 * GAP))
        boxes += bars((left, y, width, BAR), [index_spaces.index_k_page(v, page_size) for v in part], "index_k", "index-K page")
        y += BAR + GAP
        boxes.append(chip(x, y + 7, "loc", w=left - x - 2 * GAP))
        for i, loc in enumerate(part):
            boxes.append(loc_box((left + i * (width + GAP), y, width, CELL_HEIGHT), loc, dcp_size, marks.get(loc, "")))
        y += CELL_HEIGHT + GAP
        boxes.append(chip(x, y, "c-KV page", "page", BAR, left - x - 2 * GAP))
        ids = [index_spaces.allocator_page(v, page_size, dcp_size) for v in part]
        boxes += bars((left, y, width, BAR), ids, "page", "c-KV page")
        y += BAR + 14
    return boxes, y


def _elided(n: int) -> list[int | None]:
    """Return the places 0..n-1 of a long line. None stands for places left out."""
    return list(range(n)) if n <= 12 else [*range(6), None, *range(n - 3, n)]


@drawn
def widened_page(page: int, page_size: int, dcp_size: int) -> Picture:
    """Draw one allocator page in two views: its ``P * D`` locs as D index-K pages, and as one c-KV page of P rows on each rank.

    ``page``: an allocator page id. ``page_size``: P. ``dcp_size``: D. Long lines show both ends only.
    """
    dcp_size, page_size = geometry(dcp_size, page_size)
    page = whole(page, "page", 0)
    if dcp_size > 16:
        raise ValueError(f"a picture shows at most 16 ranks, not {dcp_size}.")
    first = page * index_spaces.widened_page(page_size, dcp_size)
    last = first + index_spaces.widened_page(page_size, dcp_size) - 1
    places = _elided(page_size)
    width = cell_width([number(last), f"row {number(index_spaces.local_row(last, dcp_size))}"])
    names = [f"index-K page {number(index_spaces.index_k_page(first + k * page_size, page_size))}" for k in range(dcp_size)]
    label = chip_width([*names, "c-KV page"])
    left = MARGIN + label + 2 * GAP
    boxes: list[Box] = []
    facts: list[tuple[str, ...]] = []

    def line(y: float, locs: list[int | None]) -> None:
        for i, loc in enumerate(locs):
            at = left + i * (width + GAP)
            boxes.append(
                Box(at, y, width, CELL_HEIGHT, "quiet", "...")
                if loc is None
                else loc_box((at, y, width, CELL_HEIGHT), loc, dcp_size)
            )

    y = float(MARGIN)
    across = len(places) * (width + GAP) - GAP
    title = f"allocator page {number(page)}: locs {number(first)} to {number(last)}"
    boxes.append(Box(left, y, max(across, 8.0 * len(title)), BAR, "header", title))
    y += BAR + GAP
    for k in range(dcp_size):
        start = first + k * page_size
        boxes.append(chip(MARGIN, y + 7, names[k], "index_k", w=label))
        line(y, [None if p is None else start + p for p in places])
        y += CELL_HEIGHT + GAP
    y += 16
    local = f"c-KV page {number(page)} on every rank: rows {number(page * page_size)} to {number((page + 1) * page_size - 1)}"
    boxes.append(Box(left, y, max(across, 7.6 * len(local)), BAR, "page", local))
    y += BAR + GAP
    for i, p in enumerate(places):
        at = left + i * (width + GAP)
        text = "..." if p is None else f"row {number(page * page_size + p)}"
        boxes.append(chip(at, y, text, "header", 22, width))
    y += 22 + GAP
    for r, box in enumerate(
        rank_chips(left - 2 * GAP - chip_width([f"rank {dcp_size - 1}"]), y + 5, dcp_size, 26, CELL_HEIGHT + GAP)
    ):
        boxes.append(box)
        rows = [None if p is None else page * page_size + p for p in places]
        line(y + r * (CELL_HEIGHT + GAP), [None if row is None else index_spaces.globalize(row, r, dcp_size) for row in rows])
    shown = {box.loc for box in boxes if box.loc is not None}
    for loc in sorted(shown):
        owner, row = index_spaces.owner_rank(loc, dcp_size), index_spaces.local_row(loc, dcp_size)
        ids = index_spaces.index_k_page(loc, page_size), index_spaces.allocator_page(loc, page_size, dcp_size)
        facts.append((number(loc), f"r{owner}", number(row), *map(number, ids)))
    return Picture(
        f"Allocator page {number(page)}, P = {page_size}, D = {dcp_size}",
        f"{number(last - first + 1)} locs: {dcp_size} index-K pages of {page_size} locs each, "
        f"and one c-KV page of {page_size} rows on each of {dcp_size} ranks.",
        Scene(tuple(boxes)),
        Table(("loc", "owner", "row", "index-K page", "c-KV page"), tuple(facts)),
    )


@drawn
def two_page_tables(locs, page_size: int, dcp_size: int) -> Picture:
    """Draw one request's locs in position order, with its index-K page table and its c-KV page table.

    ``locs``: at most 256 locs, one a position from 0; padding is not allowed. ``page_size``: P. ``dcp_size``: D. The page
    tables list each page once, in order of first use.
    """
    dcp_size, page_size = geometry(dcp_size, page_size)
    locs = whole_list(locs, "locs", least=0)
    if not locs:
        raise ValueError("the request has no locs.")
    index_k = list(dict.fromkeys(index_spaces.index_k_page(v, page_size) for v in locs))
    ckv = list(dict.fromkeys(index_spaces.allocator_page(v, page_size, dcp_size) for v in locs))
    boxes, y = paged_lines(MARGIN, MARGIN, locs, page_size, dcp_size)
    y += 6
    label = chip_width(["index-K page table"])
    for name, style, ids in (("index-K page table", "index_k", index_k), ("c-KV page table", "page", ckv)):
        width = cell_width([number(v) for v in ids], 30)
        for _, part in chunks(ids, per_line(width)):
            boxes.append(chip(MARGIN, y, name, style, 26, label))
            boxes += [
                Box(MARGIN + label + 2 * GAP + i * (width + GAP), y, width, 26, style, number(v)) for i, v in enumerate(part)
            ]
            y += 26 + GAP
        y += 4
    rows = tuple(
        (
            number(position),
            number(loc),
            f"r{index_spaces.owner_rank(loc, dcp_size)}",
            number(index_spaces.index_k_page(loc, page_size)),
            number(index_spaces.allocator_page(loc, page_size, dcp_size)),
        )
        for position, loc in enumerate(locs)
    )
    return Picture(
        f"Two page tables over one request, P = {page_size}, D = {dcp_size}",
        f"Index-K: one id for every {page_size} positions, {len(index_k)} in all: {_listed(index_k)}. "
        f"c-KV: one id for every {page_size * dcp_size} positions, {len(ckv)} in all: {_listed(ckv)}.",
        Scene(tuple(boxes)),
        Table(("position", "loc", "owner", "index-K page", "c-KV page"), rows),
    )


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(number(v) for v in ids)
