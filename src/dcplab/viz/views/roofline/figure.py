"""Draws the roofline with plotly on a ground of its own, light or dark: what computes, and below the rest."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dcplab.viz.core.palette import DARK_INK, PAGES, STYLES, owner_style
from dcplab.viz.core.plot import FONT
from dcplab.viz.views.roofline.state import Point, Timed

INKS = (DARK_INK, "#e6e9ee")  # of a light and of a dark page
RULES = ("#d9dee5", "#333a44")  # lines of the grid
ROOF = ("#b3123f", "#ff7096")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "hexagon")
WIDTH, HEIGHT = 860, 800


def figure(state: Timed, dark: bool = False) -> go.Figure:
    """Return the figure. A kernel has a symbol and a colour of its own; under the mouse a point tells its case."""
    ink, rule = INKS[dark], RULES[dark]
    drawn = make_subplots(rows=2, cols=1, vertical_spacing=0.13, row_heights=[0.5, 0.5], subplot_titles=_titles(state))
    for i, (name, points) in enumerate(_by_kernel(state.computing)):
        drawn.add_trace(
            _points(name, points, [p.intensity for p in points], [p.tflops for p in points], (i, ink)), row=1, col=1
        )
    for i, (name, points) in enumerate(_by_kernel(state.moving)):
        trace = _points(name, points, [name] * len(points), [p.gbps for p in points], (i, ink))
        drawn.add_trace(trace.update(showlegend=False), row=2, col=1)
    _roofs(drawn, state, ROOF[dark])
    drawn.update_xaxes(type="log", title_text="operations a byte", dtick=1, row=1, col=1)
    drawn.update_yaxes(type="log", title_text="TFLOP/s", dtick=1, row=1, col=1)
    drawn.update_xaxes(tickangle=-30, row=2, col=1)
    drawn.update_yaxes(title_text="GB/s", rangemode="tozero", row=2, col=1)
    drawn.update_xaxes(gridcolor=rule, linecolor=ink, zeroline=False)
    drawn.update_yaxes(gridcolor=rule, linecolor=ink, zeroline=False)
    return drawn.update_layout(
        width=WIDTH,
        height=HEIGHT,
        margin={"l": 70, "r": 20, "t": 40, "b": 100},
        paper_bgcolor=PAGES[dark],
        plot_bgcolor=PAGES[dark],
        font={"family": FONT, "color": ink, "size": 13},
        legend={"x": 0.99, "xanchor": "right", "y": 0.585, "yanchor": "bottom", "bgcolor": PAGES[dark]},
        hoverlabel={"bgcolor": STYLES["header"].fill, "font": {"color": STYLES["header"].ink}},
    )


def _titles(state: Timed) -> tuple[str, str]:
    where = f"{state.device}, {' and '.join(state.days)}"
    return f"What computes, against a matmul and a copy ({where})", "Held against the copy alone, each timed case"


def _by_kernel(points: tuple[Point, ...]) -> list[tuple[str, list[Point]]]:
    names = dict.fromkeys(p.kernel for p in points)
    return [(name, [p for p in points if p.kernel == name]) for name in names]


def _points(name: str, points: list[Point], x: list, y: list[float], look: tuple[int, str]) -> go.Scatter:
    i, ink = look
    marker = {"symbol": SYMBOLS[i % len(SYMBOLS)], "size": 11, "color": STYLES[owner_style(i)].fill}
    told = [f"<b>{name}</b>: {p.case}<br>{p.ms:.4g} ms, {p.share:.0%} of its roof" for p in points]
    return go.Scatter(
        x=x,
        y=y,
        name=name,
        mode="markers",
        marker=marker | {"line": {"color": ink, "width": 1}},
        hovertext=told,
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _roofs(drawn: go.Figure, state: Timed, colour: str) -> None:
    """Draw the largest rates that the runs measured: the copy's slope, a flat line for each matmul, and the copy below."""
    line = {"color": colour, "width": 2}
    slope = state.roofs.copy[1] / 1e3  # TFLOP/s at one operation a byte
    tops = {kind: rates[1] for kind, rates in state.roofs.matmul.items()}
    seen = [p.intensity for p in state.computing]
    if tops:
        first, last = min(seen) / 2, max([*seen, *(top / slope for top in tops.values())]) * 2
        knee = max(tops.values()) / slope
        _roof(drawn, [(first, first * slope), (knee, max(tops.values()))], line, 1)
        _said(drawn, (first * 1.1, first * slope), f"copy {state.roofs.copy[1]:,.0f} GB/s", (colour, "bottom right"), 1)
        for kind, top in tops.items():
            _roof(drawn, [(top / slope, top), (last, top)], line, 1)
            _said(drawn, (top / slope, top / 1.1), f"matmul {kind} {top:,.0f} TFLOP/s", (colour, "bottom right"), 1)
    names = list(dict.fromkeys(p.kernel for p in state.moving))
    if names:
        top = state.roofs.copy[1]
        _roof(drawn, [(names[0], top), (names[-1], top)], line, 2)
        _said(drawn, (names[0], top), f"copy {top:,.0f} GB/s", (colour, "top right"), 2)


def _roof(drawn: go.Figure, ends: list[tuple], line: dict, row: int) -> None:
    x, y = zip(*ends, strict=True)
    drawn.add_trace(go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False), row=row, col=1)


def _said(drawn: go.Figure, at: tuple, text: str, look: tuple[str, str], row: int) -> None:
    """Write a roof's name at one of its ends. ``look``: its colour, and on which side of the end it stands."""
    colour, side = look
    font = {"color": colour, "size": 13}
    trace = go.Scatter(x=[at[0]], y=[at[1]], mode="text", text=[text], textposition=side, textfont=font)
    drawn.add_trace(trace.update(hoverinfo="skip", showlegend=False, cliponaxis=False), row=row, col=1)
