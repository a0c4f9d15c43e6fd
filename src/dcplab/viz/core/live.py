"""Shared by every live view: a static picture that stays in a saved notebook, a drawing that is updated in place, and a message
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
from dcplab.viz.core import keyboard
from dcplab.viz.core.palette import STYLES
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.surface import DRAWN, Svg

# The static picture serves viewers without a kernel. This style hides it where the live view has been drawn.
HIDE_STATIC = f"<style>.jp-OutputArea:has(.dcplab-live :is(.{DRAWN},.js-plotly-plot)) .dcplab-static{{display:none}}</style>"
NOTICE = '<div role="alert"><span style="background:{};color:{};padding:3px 8px;border-radius:3px">{}</span></div>'
_NO_KERNEL = "This {0} is live where a kernel runs: run this cell in JupyterLab."


def show(picture: Picture, name: str, widget: Callable) -> None:
    """Display the static picture, which every viewer has; then the live view that ``widget()`` makes, which hides it. Where no
    kernel runs its text stands below the picture."""
    from IPython.display import display

    page = html('<div class="dcplab-static">{}</div>', picture.html)
    display({"text/html": str(page), "image/svg+xml": picture.svg, "text/plain": picture.text}, raw=True)
    try:
        view = widget()._repr_mimebundle_()
    except Exception as error:  # no ipywidgets, no anywidget or no comm: the static picture is displayed already
        display({"text/plain": f"There is no live {name} here ({type(error).__name__}: {error})."}, raw=True)
        return
    bundle, metadata = view if isinstance(view, tuple) else (view, {})
    display({**bundle, "text/plain": _NO_KERNEL.format(name)}, raw=True, metadata=metadata)


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
    """Base of the live views. A subclass makes its controls and ``box``, and defines how controls show a state, and which
    state follows when a cell is chosen. ``draws``: what draws the scene."""

    draws: Callable = Svg

    box: Any  # the ipywidgets box, which a subclass makes

    def __init__(self, owner: View):
        import ipywidgets as w

        self.owner: Any = owner  # a subclass's own View
        self.busy = False
        self.message, self.sentence, self.legend, self.table = w.HTML(), w.HTML(), w.HTML(), w.HTML()
        picture = owner.picture
        self.surface = self.draws(picture.scene, picture.title, self._chosen)

    @property
    def state(self):
        return self.owner.state

    def set_controls(self, state) -> None:
        """Make the controls show ``state``."""
        raise NotImplementedError

    def marked(self, state) -> int | None:
        """Return the row of the first table that is selected, or None."""
        return None

    def with_chosen(self, chosen: int):
        """Return the state that follows when the cell with this `Box.loc` is chosen. By default the present one."""
        return self.state

    def _chosen(self, chosen: int) -> None:
        self.guarded(lambda: self.with_chosen(chosen))()

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
        self.surface.draw(picture.scene, picture.title)
        return picture

    def assemble(self, *rows):
        """Assemble the view: rows of controls, then message, sentence, figure, legend and the folded table."""
        import ipywidgets as w

        folded = w.Accordion([self.table], titles=("The same as a table",))
        lines = [w.Box(list(row), layout=w.Layout(flex_flow="row wrap")) for row in rows]
        box = w.VBox(
            [
                w.HTML(HIDE_STATIC),
                *lines,
                self.message,
                self.sentence,
                self.surface.widget,
                self.legend,
                keyboard.keep(),
                folded,
            ]
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
