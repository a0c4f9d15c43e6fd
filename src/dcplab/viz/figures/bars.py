"""Draws a few horizontal bars with their names and values: a small plot of measured or counted numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcplab.course.model import Table
from dcplab.viz.core.palette import STYLES
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import GAP, MARGIN, Box, Scene, chip, chip_width

HEIGHT, LONGEST = 24, 360  # pixels of a bar


@dataclass(frozen=True)
class Bar:
    """One bar. ``group`` stands once before all bars of that name, ``series`` before each bar. ``style`` is one of the
    palette's. ``note`` stands behind value and unit."""

    group: str
    series: str
    value: float
    style: str
    note: str = ""


def bars(title: str, caption: str, unit: str, values: Sequence[Bar]) -> Picture:
    """Draw bars from zero, all to one scale, each with its value in ``unit``."""
    if not values or any(b.value < 0 for b in values) or any(b.style not in STYLES for b in values):
        raise ValueError("bars need values of at least 0 and styles of the palette.")
    most = max(b.value for b in values) or 1.0
    groups, names = chip_width(b.group for b in values), chip_width(b.series for b in values)
    boxes: list[Box] = []
    y, before = float(MARGIN), None
    for b in values:
        if b.group != before:
            y += 0 if before is None else 2 * GAP
            boxes.append(chip(MARGIN, y, b.group, "header", HEIGHT, groups))
            before = b.group
        x = MARGIN + groups + GAP
        boxes.append(chip(x, y, b.series, "yes", HEIGHT, names))
        x += names + GAP
        length = max(2.0, b.value / most * LONGEST)
        boxes.append(Box(x, y, length, HEIGHT, b.style, hover=f"{b.group}, {b.series}: {said(b.value)} {unit}{b.note}"))
        boxes.append(chip(x + length + GAP, y, f"{said(b.value)} {unit}{b.note}", "yes", HEIGHT))
        y += HEIGHT + GAP
    table = Table(("group", "series", unit), tuple((b.group, b.series, said(b.value)) for b in values))
    return Picture(title, caption, Scene(tuple(boxes)), table)


def said(value: float) -> str:
    """Format three figures: 0.0512, 1.23, 2,048."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
