"""Steps through the states of a live picture, which the grading service has drawn all at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .remote import Remote

STATUS = '<div role="status" aria-live="polite">{}</div>'


class SteppedFilm(Remote):
    """A live picture: a still of it, and where there are widgets a control for each axis and a slider through the steps."""

    def __init__(self, of: Any, shown: Mapping[str, str], film: Mapping[str, Any]):
        super().__init__(of, shown)
        self._film = film

    def _ipython_display_(self) -> None:
        from IPython.display import display

        try:
            box = self._widget()
        except ImportError:
            display({"text/plain": self.text, "text/html": self._repr_html_()}, raw=True)
        else:
            display(box)

    def _widget(self) -> Any:
        import ipywidgets as w
        from markupsafe import escape

        film = self._film
        reels = {tuple(reel["at"]): reel["frames"] for reel in film["reels"]}
        axes = [
            w.Dropdown(description=name, options=choices, value=value)
            for (name, choices), value in zip(film["axes"].items(), film["start"], strict=True)
        ]
        steps = [frame["step"] for frame in reels[tuple(film["start"])]]
        slider = w.SelectionSlider(description=film["steps"], options=steps, value=film["first"], layout=w.Layout(width="32em"))
        picture, says, below = w.HTML(), w.HTML(), w.HTML()

        def draw(_: Any = None) -> None:
            frames = reels[tuple(axis.value for axis in axes)]
            frame = next((one for one in frames if one["step"] == slider.value), frames[0])
            runs = frame["runs"]
            pieces = (film["pieces"][at : at + count] for at, count in zip(runs[::2], runs[1::2], strict=True))
            picture.value = "".join(piece for run in pieces for piece in run)
            says.value, below.value = STATUS.format(escape(frame["says"])), str(escape(frame["below"]))

        def turned(_: Any) -> None:
            now = [frame["step"] for frame in reels[tuple(axis.value for axis in axes)]]
            if list(slider.options) != now:
                slider.options = now
            draw()

        for axis in axes:
            axis.observe(turned, "value")
        slider.observe(draw, "value")
        draw()
        return w.VBox([w.HBox(axes), slider, says, picture, below])
