"""Defines a picture, the result of a static figure function: a scene, a sentence about it, and the same facts as a table."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from dcplab.course.model import Table
from dcplab.present import table as tables
from dcplab.present.page import html
from dcplab.viz.core.scene import Box, Scene, text_width
from dcplab.viz.core.svg import to_svg

IMAGE = '<img src="data:image/svg+xml;base64,{}" alt="{}" width="{}" style="max-width:100%">'
FIGURE = (
    '<figure class="dcplab-picture" style="margin:0">{}<figcaption><b>{}.</b> {}</figcaption>'
    "<details><summary>The same as a table</summary>{}</details></figure>"
)


@dataclass(frozen=True)
class Picture:
    """``svg``, ``text``, ``html`` and ``figure()`` show the same facts. A notebook picks the one that it can show. ``more``:
    further tables, for facts that do not fit the columns of ``table``.

    ``html`` carries the picture as an ``img`` with the SVG inside. Viewers that clean HTML let it pass, and JupyterLab shows it
    in a notebook that it does not trust.
    """

    title: str
    caption: str
    scene: Scene
    table: Table
    more: tuple[Table, ...] = ()
    alt: str = ""  # the text alternative, where the title alone does not tell what there is to see

    @property
    def tables(self) -> tuple[Table, ...]:
        return (self.table, *self.more)

    @property
    def svg(self) -> str:
        return to_svg(self.scene, self.title, says=self.alt)

    @property
    def image(self) -> Markup:
        """The picture as an ``img`` that carries it."""
        data = base64.b64encode(self.svg.encode()).decode()
        return html(IMAGE, data, self.alt or self.title, self.scene.width)

    @property
    def text(self) -> str:
        return "\n".join([self.title, self.caption, *(part for t in self.tables for part in ("", tables.to_text(t)))])

    @property
    def html(self) -> Markup:
        return html(FIGURE, self.image, self.title, self.caption, tables.every(self.tables))

    def figure(self):
        """Return the picture as a plotly ``Figure``."""
        from dcplab.viz.core.plot import to_figure

        return to_figure(self.scene)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": str(self.html), "image/svg+xml": self.svg, "text/plain": self.text}


def notice(message: str) -> Picture:
    """Return a picture that is one sentence: the reason why there is nothing else to show."""
    scene = Scene((Box(8, 8, text_width(message, 13) + 28, 30, "notice", message),))
    return Picture("Nothing to draw", message, scene, Table(("message",), ((message,),)))


def drawn(figure: Callable[..., Picture]) -> Callable[..., Picture]:
    """Wrap a figure function so that bad values give a notice: a picture must not stop a notebook.

    The undecorated function, which raises ``ValueError``, stays reachable as ``__wrapped__``.
    """

    @functools.wraps(figure)
    def show(*args, **kwargs) -> Picture:
        try:
            return figure(*args, **kwargs)
        except (ValueError, TypeError) as error:
            return notice(f"{figure.__name__}: {error}")

    return show
