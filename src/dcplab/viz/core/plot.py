"""Draws a scene as a plotly figure: a fixed list of traces, so that a live figure is updated in place and never rebuilt."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from dcplab.viz.core.palette import GREY, LINES, MARKS, STYLES
from dcplab.viz.core.scene import Box, Scene
from dcplab.viz.core.svg import text_places

FONT = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"
CHANGING = ("x", "y", "text", "textfont", "marker", "customdata", "hovertext")  # fields in which traces of two scenes differ


def to_figure(scene: Scene) -> go.Figure:
    """Return the scene as a ``Figure``: one pixel is one unit, no axes, no background of its own."""
    return go.Figure(traces(scene), layout(scene))


def layout(scene: Scene) -> dict:
    hidden = {"visible": False, "fixedrange": True}
    return {
        "width": scene.width,
        "height": scene.height,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "xaxis": {**hidden, "range": [0, scene.width]},
        "yaxis": {**hidden, "range": [scene.height, 0]},
        "font": {"family": FONT},
        "hoverlabel": {"bgcolor": STYLES["header"].fill, "bordercolor": GREY, "font": {"color": STYLES["header"].ink}},
    }


def traces(scene: Scene) -> list[dict]:
    """Return the same traces in the same order for every scene: lines, one per style, texts, outlines, and the clickable
    places."""
    return [
        _lines(scene, "thread"),
        *(_boxes(name, [b for b in scene.boxes if b.style == name]) for name in STYLES),
        _lines(scene, "limit"),
        _texts(scene),
        _lines(scene, "journey"),
        *(_outlines(mark, [b for b in scene.boxes if b.mark == mark]) for mark in MARKS),
        _targets([b for b in scene.boxes if b.loc is not None or b.hover]),
    ]


def _polygons(boxes: list[Box], grow: float = 0.0) -> tuple[list, list]:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for b in boxes:
        x0, x1, y0, y1 = b.x - grow, b.x + b.w + grow, b.y - grow, b.y + b.h + grow
        xs += [x0, x1, x1, x0, x0, None]
        ys += [y0, y0, y1, y1, y0, None]
    return xs, ys


def _boxes(name: str, boxes: list[Box]) -> dict:
    style = STYLES[name]
    xs, ys = _polygons(boxes)
    trace = {"type": "scatter", "x": xs, "y": ys, "mode": "lines", "line": {"width": 0}, "fill": "toself", "hoverinfo": "skip"}
    trace["fillcolor"] = style.fill
    if style.pattern:
        trace["fillpattern"] = {
            "shape": style.pattern,
            "bgcolor": style.fill,
            "fgcolor": style.shade,
            "size": 8,
            "solidity": 0.35,
        }
    return trace | {"name": name}


def _outlines(mark: str, boxes: list[Box]) -> dict:
    colour, width, dash = MARKS[mark]
    xs, ys = _polygons(boxes, 1)
    line = {"color": colour, "width": width, "dash": "5px,3px" if dash else "solid"}
    return {"type": "scatter", "x": xs, "y": ys, "mode": "lines", "line": line, "hoverinfo": "skip", "name": mark}


def _lines(scene: Scene, style: str) -> dict:
    colour, width = LINES[style]
    xs: list[float | None] = []
    ys: list[float | None] = []
    for line in scene.lines:
        if line.style == style:
            xs += [x for x, _ in line.points] + [None]
            ys += [y for _, y in line.points] + [None]
    look = {"color": colour, "width": width}
    return {"type": "scatter", "x": xs, "y": ys, "mode": "lines", "line": look, "hoverinfo": "skip", "name": style}


def _texts(scene: Scene) -> dict:
    places = [(*place, STYLES[b.style].ink) for b in scene.boxes for place in text_places(b)]
    return {
        "type": "scatter",
        "mode": "text",
        "x": [p[0] for p in places],
        "y": [p[1] for p in places],
        "text": [p[3] for p in places],
        "textfont": {"size": [p[2] for p in places], "color": [p[4] for p in places], "family": FONT},
        "hoverinfo": "skip",
        "name": "text",
    }


def _targets(boxes: list[Box]) -> dict:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [b.middle[0] for b in boxes],
        "y": [b.middle[1] for b in boxes],
        "marker": {"symbol": "square", "size": [min(b.w, b.h) for b in boxes], "opacity": 0},
        "customdata": [b.loc for b in boxes],
        "hovertext": [b.hover for b in boxes],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "name": "targets",
    }


def live_figure(figure: go.Figure) -> go.FigureWidget:
    """Return a figure as a FigureWidget whose first message to the browser holds its traces.

    Plotly's own widget opens empty and sends the traces later. A busy browser draws in between, and then stays blank.
    """

    class FigureWidget(go.FigureWidget):
        _whole = False

        def open(self) -> None:
            if self._whole:
                super().open()

    widget = FigureWidget(figure)
    widget._whole = True
    widget.open()
    return widget


class Plot:
    """A scene in the browser as a live plotly figure, for a plot to read. Stands where `surface.Svg` does; its cells are read
    and not chosen. ``widget`` is a `live_figure`."""

    def __init__(self, scene: Scene, title: str, chosen: Callable[[int], None]):
        self._drawn = traces(scene)
        self.widget = live_figure(go.Figure(self._drawn, layout(scene)))
        self.widget._config = {**self.widget._config, "displayModeBar": False}

    def draw(self, scene: Scene, title: str) -> None:
        """Draw a scene. Only traces that changed are sent."""
        new, look = traces(scene), layout(scene)
        with self.widget.batch_update():
            for i, trace in enumerate(new):
                if self._drawn[i] != trace:
                    self.widget.data[i].update({key: trace[key] for key in CHANGING if key in trace})
            if (self.widget.layout.width, self.widget.layout.height) != (look["width"], look["height"]):
                self.widget.update_layout({key: look[key] for key in ("width", "height", "xaxis", "yaxis")})
        self._drawn = new
