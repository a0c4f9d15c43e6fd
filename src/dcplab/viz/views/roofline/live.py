"""Shows the roofline: bars that every viewer has, and where a kernel runs a plotly figure to point at and to zoom."""

from __future__ import annotations

import functools

from dcplab import measured
from dcplab.course.model import Table
from dcplab.viz.core.live import HIDE_STATIC, View
from dcplab.viz.core.picture import Picture, notice
from dcplab.viz.figures.bars import Bar, bars, said
from dcplab.viz.views.roofline import state as roofline_state


class Roofline(View):
    """The return value of `roofline`; ``figure(dark)`` is the plotly figure. See `live.View`."""

    name = "roofline"

    @property
    def picture(self) -> Picture:
        return picture(self.state)

    @functools.cached_property
    def widget(self):
        import ipywidgets as w

        from dcplab.viz.core.plot import live_figure

        box = w.VBox([w.HTML(HIDE_STATIC), live_figure(self.figure())])
        box.add_class("dcplab-live")
        return box

    def figure(self, dark: bool = False):
        """Return the roofline as a plotly ``Figure``, on a light ground or on a dark one."""
        from dcplab.viz.views.roofline.figure import figure  # imports plotly, which a grader does without

        return figure(self.state, dark)


def roofline() -> Roofline | Picture:
    """Show how close each kernel of the course came to the card's own rates, out of ``bench/results``. Live where a kernel
    runs.

    Above, kernels that compute: operations a second over operations a byte. Below, those that are held against a copy alone.
    The roofs are a copy and matmuls that the same runs timed.
    """
    try:
        return Roofline(roofline_state.read(measured.kernels()))
    except ValueError as error:
        return notice(f"roofline: {error}")


def picture(state: roofline_state.Timed) -> Picture:
    """Draw a bar for each kernel: the share of its roof that its best case reached. The table has every case."""
    best = state.best
    values = [Bar(_kind(p), p.kernel, 100 * p.share, "owner0" if p.flop else "owner2") for p in sorted(best, key=_order)]
    shown = bars(
        "How close each kernel comes to its roof",
        f"{state.device}, {' and '.join(state.days)}: of each kernel the case that came closest. 100 % is the least time that "
        "the task could take at the rates of a large copy and a large matmul, timed in the same run.",
        "%",
        values,
    )
    copy, matmul = state.roofs.copy, state.roofs.matmul
    roofs = Table(
        ("roof", "smallest", "largest"),
        (
            ("copy, GB/s", f"{copy[0]:,.0f}", f"{copy[1]:,.0f}"),
            *((f"matmul {kind}, TFLOP/s", f"{low:,.0f}", f"{high:,.0f}") for kind, (low, high) in matmul.items()),
        ),
        "The roofs, over all runs",
    )
    cases = Table(
        ("kernel", "case", "ms", "operations a byte", "TFLOP/s", "GB/s", "of its roof"),
        tuple(map(_told, state.points)),
        "Every case",
    )
    return Picture(shown.title, shown.caption, shown.scene, shown.table, (roofs, cases))


def _told(point: roofline_state.Point) -> tuple[str, ...]:
    computed = (said(point.intensity), said(point.tflops)) if point.flop else ("", "")
    return (point.kernel, point.case, said(point.ms), *computed, said(point.gbps), f"{point.share:.0%}")


def _kind(point: roofline_state.Point) -> str:
    return "computes" if point.flop else "bytes alone"


def _order(point: roofline_state.Point) -> tuple[bool, float]:
    return not point.flop, -point.share
