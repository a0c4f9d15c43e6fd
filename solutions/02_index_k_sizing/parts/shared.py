"""Lab 02: sizes of pools."""

from __future__ import annotations

from dcplab.course.cells import Ruler
from dcplab.course.seeded import Draw
from dcplab.present.value_cells import LARGEST

REAL = (455_744, 64, 8)  # size, page_size, dcp_size of issue #36886


def few_pages(draw: Draw, low: int = 3, high: int = 9) -> int:
    return draw.int(low, high)


def huge_size(draw: Draw, rest: int) -> int:
    """A size past 2^53, for pages of 3 with ``rest`` rows over, which neither bit masks nor float64 round down rightly."""
    while True:
        size = 3 * (2**57 + draw.int(10**6, 10**9)) + rest
        if len({size // 3, int(size / 3), int(float(size)) // 3}) == 3 and size & ~2 != size - rest:
            return size


MOST_PAGES = 12  # of a picture


def pages_ruler(page: int, pages: int, space: str, **more) -> Ruler | None:
    """Lay out pages 0 to ``pages`` of the allocator, ``page`` locs (or rows) wide each, for a number of lab 02."""
    if pages > MOST_PAGES or (pages + 1) * page > LARGEST:
        return None
    above = more.pop("above", ())
    spans = tuple(f"{i * page} to {(i + 1) * page - 1}" for i in range(pages + 1))
    return Ruler("allocator page", tuple(map(str, range(pages + 1))), page, above=((f"{space}s", spans), *above), **more)
