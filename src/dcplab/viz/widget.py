"""The live owner table: controls, a plotly figure and a text table over `owner_state` and `owner_scene`.

A thin shell: it holds a `State`, and every control makes another one. What cannot be drawn becomes a sentence above the
picture, which stays as it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from html import escape

from . import owner_scene, owner_state, plot, table
from .owner_state import State
from .picture import Picture, notice

# The static picture is there for viewers without a kernel. Where the live table has been drawn, this hides it.
_HIDE_STATIC = "<style>.jp-OutputArea:has(.dcplab-live) .dcplab-static{display:none}</style>"
_NO_KERNEL = "This table is live where a kernel runs: run this cell in JupyterLab."


def owner_table(dcp_size=4, page_size=4, size=12, first=None, last=None, requests=None, selected=None) -> OwnerTable | Picture:
    """The owner table, live where a kernel runs, and as a picture with a table elsewhere.

    ``dcp_size`` D, ``page_size`` P, ``size`` C: the geometry. ``first``, ``last``: locs, both shown (at most 128; about 64 by
    default). ``requests``: a mapping from name to a length in tokens (whole pages are taken in order) or to the request's locs
    in position order; two by default. ``selected``: the loc to begin with.
    """
    try:
        state = owner_state.make(dcp_size, page_size, size, first, last, requests, selected)
    except (ValueError, TypeError) as error:
        return notice(f"owner_table: {error}")
    return OwnerTable(state, requests, keep_range=first is not None or last is not None)


class OwnerTable:
    """What `owner_table` returns: ``state``, ``picture`` of it, and ``widget``, the live view, made when first needed."""

    def __init__(self, state: State, requests=None, keep_range: bool = False):
        self.state = state
        self._asked = requests
        self._keep_range = keep_range

    @property
    def picture(self) -> Picture:
        return owner_scene.picture(self.state)

    @functools.cached_property
    def widget(self):
        """The live view, an ipywidgets ``VBox``."""
        return _Live(self).box

    def __repr__(self) -> str:
        return self.picture.text

    def _ipython_display_(self) -> None:
        """First the static picture, which every viewer has; then the live view, which hides it."""
        from IPython.display import display

        picture = self.picture
        html = f'<div class="dcplab-static">{picture.html}<p>{_NO_KERNEL}</p></div>'
        display({"text/html": html, "image/svg+xml": picture.svg, "text/plain": picture.text}, raw=True)
        try:
            view = self.widget._repr_mimebundle_()
        except Exception as error:  # no ipywidgets, no anywidget, no comm: the static picture is there already
            display({"text/plain": f"There is no live table here ({type(error).__name__}: {error})."}, raw=True)
            return
        bundle, metadata = view if isinstance(view, tuple) else (view, {})
        display({**bundle, "text/plain": _NO_KERNEL}, raw=True, metadata=metadata)


def _figure(traces: list[dict], layout: dict):
    """A plotly FigureWidget whose first message to the browser holds its traces.

    Plotly's own opens empty and sends the traces after. A busy browser draws in between, and then stays blank.
    """
    import plotly.graph_objects as go

    class FigureWidget(go.FigureWidget):
        _whole = False

        def open(self) -> None:
            if self._whole:
                super().open()

    figure = FigureWidget(traces, layout)
    figure._whole = True
    figure.open()
    return figure


class _Live:
    def __init__(self, owner: OwnerTable):
        import ipywidgets as w

        self.owner = owner
        self.busy = False
        state = owner.state

        def sized(make: type, text: str, tip: str, width: int, label: int, **more):
            layout, style = w.Layout(width=f"{width}px"), {"description_width": f"{label}px"}
            return make(description=text, tooltip=tip, layout=layout, style=style, **more)

        most = max(8, state.dcp_size)
        self.d = sized(w.IntSlider, "D", "DCP group size", 230, 20, min=1, max=most)
        self.p = sized(w.IntText, "P", "slots of a page", 110, 20)
        self.c = sized(w.IntText, "C", "rows of a rank's pool, spare page not counted", 130, 20)
        self.first = sized(w.IntText, "first loc", "first loc shown", 155, 60)
        self.last = sized(w.IntText, "last loc", "last loc shown", 155, 60)
        self.request = sized(w.Dropdown, "request", "the request that is looked at", 180, 55)
        self.position = sized(w.IntSlider, "position", "position in the request", 235, 55)
        self.loc = sized(w.IntSlider, "loc", "the selected loc", 215, 30)
        before = w.Button(description="loc - 1", tooltip="previous loc", layout=w.Layout(width="70px"))
        after = w.Button(description="loc + 1", tooltip="next loc", layout=w.Layout(width="70px"))
        self.message, self.sentence, self.legend, self.table = w.HTML(), w.HTML(), w.HTML(), w.HTML()
        self.figure = _figure(plot.traces(owner_scene.scene(state)), plot.layout(owner_scene.scene(state)))
        self.figure._config = {**self.figure._config, "displayModeBar": False}
        self.drawn: list[dict] = []

        for control in (self.d, self.p, self.c):
            control.observe(self._guarded(self._new_geometry), "value")
        for control in (self.first, self.last):
            control.observe(self._guarded(self._new_range), "value")
        self.request.observe(self._guarded(lambda: owner_state.with_request(self.state, self.request.value)), "value")
        self.position.observe(self._guarded(self._new_position), "value")
        self.loc.observe(self._guarded(lambda: owner_state.with_selected(self.state, self.loc.value)), "value")
        before.on_click(self._guarded(lambda: owner_state.with_selected(self.state, self.state.selected - 1)))
        after.on_click(self._guarded(lambda: owner_state.with_selected(self.state, self.state.selected + 1)))
        self.figure.data[-1].on_click(self._clicked)

        folded = w.Accordion([self.table], titles=("The same as a table",))
        row = w.Layout(flex_flow="row wrap")
        self.box = w.VBox(
            [
                w.HTML(_HIDE_STATIC),
                w.Box([self.d, self.p, self.c, self.first, self.last], layout=row),
                w.Box([self.request, self.position, self.loc, before, after], layout=row),
                self.message,
                self.sentence,
                self.figure,
                self.legend,
                folded,
            ]
        )
        self.box.add_class("dcplab-live")
        self._show(state)

    @property
    def state(self) -> State:
        return self.owner.state

    def _guarded(self, new_state: Callable[[], State]) -> Callable:
        """A callback that shows the state it is given, or one sentence. It never raises, and it ignores its own echoes."""

        def call(*_) -> None:
            if self.busy:
                return
            try:
                state = new_state()
            except ValueError as error:
                self._say(f"{str(error)[:1].upper()}{str(error)[1:]} The picture below still shows the last good values.")
            except Exception as error:
                self._say(
                    f"That did not work ({type(error).__name__}: {error}). The picture below still shows the last good values."
                )
            else:
                self._show(state)

        return call

    def _new_geometry(self) -> State:
        return owner_state.with_geometry(
            self.state, self.d.value, self.p.value, self.c.value, self.owner._asked, self.owner._keep_range
        )

    def _new_range(self) -> State:
        state = owner_state.with_range(self.state, self.first.value, self.last.value)
        self.owner._keep_range = True
        return state

    def _new_position(self) -> State:
        locs = self.state.requests[self.state.request].locs
        return owner_state.with_selected(self.state, locs[self.position.value])

    def _clicked(self, trace, points, _) -> None:
        loc = next((trace.customdata[i] for i in points.point_inds), None)
        if loc is not None:
            self._guarded(lambda: owner_state.with_selected(self.state, int(loc)))()

    def _say(self, text: str) -> None:
        mark = '<span style="background:#f3d98b;color:#10151d;padding:3px 8px;border-radius:3px">'
        self.message.value = f'<div role="alert">{mark}{escape(text)}</span></div>' if text else ""

    def _show(self, state: State) -> None:
        """Makes every part show ``state``. Controls are set quietly; only traces that changed are sent."""
        self.owner.state = state
        self.busy = True
        try:
            with self.box.hold_trait_notifications():
                self._set_controls(state)
        finally:
            self.busy = False
        self._say("")
        picture = owner_scene.picture(state)
        self.sentence.value = f'<div role="status" aria-live="polite">{escape(owner_scene.sentence(state))}</div>'
        self.legend.value = escape(owner_scene.legend(state))
        index = state.shown.index(state.selected)
        self.table.value = f'<div style="max-height:320px;overflow:auto">{table.to_html(picture.table, index)}</div>'
        self._draw(picture)

    def _set_controls(self, state: State) -> None:
        self.d.value, self.p.value, self.c.value = state.dcp_size, state.page_size, state.size
        self.first.value, self.last.value = state.first, state.last
        options = tuple((f"{r.name} ({len(r.locs)} tokens)", i) for i, r in enumerate(state.requests))
        if self.request.options != options:
            self.request.options = options
        self.request.value = state.request
        locs = state.requests[state.request].locs
        self.position.max = max(0, len(locs) - 1)
        self.position.disabled = not locs
        holder = state.holder(state.selected)
        if holder is not None:
            self.position.value = holder[1]
        self.loc.min, self.loc.max = 0, state.largest
        self.loc.value = state.selected

    def _draw(self, picture: Picture) -> None:
        traces, layout = plot.traces(picture.scene), plot.layout(picture.scene)
        with self.figure.batch_update():
            for i, trace in enumerate(traces):
                if self.drawn and self.drawn[i] == trace:
                    continue
                self.figure.data[i].update({key: trace[key] for key in plot.CHANGING if key in trace})
            size = {key: layout[key] for key in ("width", "height", "xaxis", "yaxis")}
            if (self.figure.layout.width, self.figure.layout.height) != (layout["width"], layout["height"]):
                self.figure.update_layout(size)
        self.drawn = traces
