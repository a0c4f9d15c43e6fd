"""Draws the allocator's pages of a small server, and how many of each page's locs have a slot in a buffer."""

from __future__ import annotations

from dataclasses import replace

from dcplab.course.cells import Cells, Ruler
from dcplab.present.answer_cells import measured
from dcplab.viz.core.picture import Picture, drawn
from dcplab.viz.core.validate import geometry, whole
from dcplab.viz.figures.answer import answer

MOST = 12  # pages


@drawn
def pages(size: int, page_size: int, dcp_size: int, slots: int) -> Picture:
    """Draw pages 0 to C // P with their locs, and which of these have one of ``slots``.

    ``size``: C, rows that a rank can hold, at most MOST pages. ``page_size``: P. ``dcp_size``: D.
    """
    dcp_size, page_size = geometry(dcp_size, page_size)
    count, slots = whole(size, "size", 1) // page_size, whole(slots, "slots", 0)
    if count > MOST:
        raise ValueError(f"a picture shows at most {MOST} pages, not {count}.")
    width = page_size * dcp_size
    spans = tuple(f"{i * width} to {(i + 1) * width - 1}" for i in range(count + 1))
    ruler = Ruler("allocator page", tuple(map(str, range(count + 1))), width, counts=True, above=(("locs", spans),))
    says = f"C = {size}, P = {page_size}, D = {dcp_size}, {slots} slots. Page 0 is never issued."
    *above, covered = (measured(ruler, slots, slots) or [()])[0]
    return answer(Cells("Locs and slots", says, ((*above, replace(covered, label=f"of {slots} slots")),)))
