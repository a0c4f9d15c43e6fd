"""Shared by every live view: a static picture that stays in a saved notebook, a figure that is updated in place, and a message
line.

A live view is a thin shell: it holds a state, and every control makes another state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from markupsafe import Markup

from dcplab.present import table as tables
from dcplab.present.page import STATUS, html
from dcplab.viz.core import keyboard, plot
from dcplab.viz.core.palette import STYLES
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import Scene

# The static picture serves viewers without a kernel. This style hides it where the live view has been drawn.
HIDE_STATIC = "<style>.jp-OutputArea:has(.dcplab-live) .dcplab-static{display:none}</style>"
NOTICE = '<div role="alert"><span style="background:{};color:{};padding:3px 8px;border-radius:3px">{}</span></div>'
_NO_KERNEL = "This {0} is live where a kernel runs: run this cell in JupyterLab."


def show(picture: Picture, name: str, widget: Callable) -> None:
    """Display the static picture, which every viewer has; then the live view that ``widget()`` makes, which hides it."""
    from IPython.display import display

    none = _NO_KERNEL.format(name)
    page = html('<div class="dcplab-static">{}<p>{}</p></div>', picture.html, none)
    display({"text/html": str(page), "image/svg+xml": picture.svg, "text/plain": picture.text}, raw=True)
    try:
        view = widget()._repr_mimebundle_()
    except Exception as error:  # no ipywidgets, no anywidget or no comm: the static picture is displayed already
        display({"text/plain": f"There is no live {name} here ({type(error).__name__}: {error})."}, raw=True)
        return
    bundle, metadata = view if isinstance(view, tuple) else (view, {})
    display({**bundle, "text/plain": none}, raw=True, metadata=metadata)


def figure_widget(scene: Scene):
    """Make a plotly FigureWidget whose first message to the browser holds its traces.

    Plotly's own widget opens empty and sends the traces later. A busy browser draws in between, and then stays blank.
    """
    import plotly.graph_objects as go

    class FigureWidget(go.FigureWidget):
        _whole = False

        def open(self) -> None:
            if self._whole:
                super().open()

    figure = FigureWidget(plot.traces(scene), plot.layout(scene))
    figure._whole = True
    figure.open()
    figure._config = {**figure._config, "displayModeBar": False}
    return figure


def control(make: type, text: str, tip: str, width: int, label: int = 0, **more):
    """Make an ipywidgets control of a given width, with a description of ``label`` pixels (0 for a button)."""
    import ipywidgets as w

    style = {"style": {"description_width": f"{label}px"}} if label else {}
    return make(description=text, tooltip=tip, layout=w.Layout(width=f"{width}px"), **style, **more)


class View:
    """The return value of a live picture's function: ``state``, the ``picture`` of it, and ``widget``, the live view, made when
    needed.

    A subclass gives ``name``, ``scenes`` (the module that draws a state: ``scene``, ``picture``, ``sentence``, ``legend``), and
    ``shell`` (its `Live`).
    """

    name: str
    scenes: ModuleType
    shell: type[Live]

    def __init__(self, state):
        self.state = state

    @property
    def picture(self) -> Picture:
        return self.scenes.picture(self.state)

    @functools.cached_property
    def widget(self):
        """Return the live view, an ipywidgets ``VBox``."""
        return self.shell(self).box

    def __repr__(self) -> str:
        return self.picture.text

    def _ipython_display_(self) -> None:
        show(self.picture, self.name, lambda: self.widget)


class Live:
    """Base of the live views. A subclass makes its controls and ``box``, and defines how controls show a state."""

    box: Any  # the ipywidgets box, which a subclass makes

    def __init__(self, owner: View):
        import ipywidgets as w

        self.owner: Any = owner  # a subclass's own View
        self.busy = False
        self.message, self.sentence, self.legend, self.table = w.HTML(), w.HTML(), w.HTML(), w.HTML()
        self.figure = figure_widget(owner.scenes.scene(owner.state))
        self.drawn: list[dict] = []

    @property
    def state(self):
        return self.owner.state

    def set_controls(self, state) -> None:
        """Make the controls show ``state``."""
        raise NotImplementedError

    def marked(self, state) -> int | None:
        """Return the row of the first table that is selected, or None."""
        return None

    def show(self, state) -> Picture:
        """Make every part show ``state``. Controls are set without triggering their callbacks."""
        self.owner.state = state
        self.busy = True
        try:
            with self.box.hold_trait_notifications():
                self.set_controls(state)
        finally:
            self.busy = False
        picture, scenes = self.owner.picture, self.owner.scenes
        self.tell(scenes.sentence(state), scenes.legend(state), tables.every(picture.tables, self.marked(state)))
        self.draw(picture.scene)
        return picture

    def assemble(self, *rows):
        """Assemble the view: rows of controls, then message, sentence, figure, legend and the folded table."""
        import ipywidgets as w

        folded = w.Accordion([self.table], titles=("The same as a table",))
        lines = [w.Box(list(row), layout=w.Layout(flex_flow="row wrap")) for row in rows]
        box = w.VBox(
            [w.HTML(HIDE_STATIC), *lines, self.message, self.sentence, self.figure, self.legend, keyboard.keep(), folded]
        )
        box.add_class("dcplab-live")
        return box

    def guarded(self, new_state: Callable) -> Callable:
        """Return a callback that shows the state it computes, or one sentence for bad values. It never raises and ignores its
        own echoes."""

        def call(*_) -> None:
            if self.busy:
                return
            kept = "The picture below still shows the last good values."
            try:
                state = new_state()
            except ValueError as error:
                self.say(f"{str(error)[:1].upper()}{str(error)[1:]} {kept}")
            except Exception as error:
                self.say(f"That did not work ({type(error).__name__}: {error}). {kept}")
            else:
                self.show(state)

        return call

    def say(self, text: str) -> None:
        look = STYLES["notice"]
        self.message.value = html(NOTICE, look.fill, look.ink, text) if text else ""

    def tell(self, sentence: str, legend: str, table: Markup) -> None:
        """Set the words around the figure, and clear the message line."""
        self.say("")
        self.sentence.value = html(STATUS, sentence)
        self.legend.value = html("{}", legend)
        self.table.value = html('<div style="max-height:320px;overflow:auto">{}</div>', table)

    def draw(self, scene: Scene) -> None:
        """Draw a scene. Only traces that changed are sent."""
        traces, layout = plot.traces(scene), plot.layout(scene)
        with self.figure.batch_update():
            for i, trace in enumerate(traces):
                if self.drawn and self.drawn[i] == trace:
                    continue
                self.figure.data[i].update({key: trace[key] for key in plot.CHANGING if key in trace})
            size = {key: layout[key] for key in ("width", "height", "xaxis", "yaxis")}
            if (self.figure.layout.width, self.figure.layout.height) != (layout["width"], layout["height"]):
                self.figure.update_layout(size)
        self.drawn = traces
