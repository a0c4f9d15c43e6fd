"""Asks five questions on what came before, at the head of a lab. A choice is answered at once; nothing is graded or kept.

A notebook shows buttons that work by keyboard (Tab goes on, Enter or Space chooses). Where no kernel draws them, it shows the
same questions as a page, with the answers folded; a terminal shows text. It never waits for an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from dcplab import prediction
from dcplab.course.catalog import Lab
from dcplab.course.model import Prediction
from dcplab.course.recall import drawn
from dcplab.course.seeded import fresh_seed
from dcplab.errors import CourseError
from dcplab.present import page
from dcplab.present.display import Shown
from dcplab.present.page import STATUS, html

HEAD = "On what came before. Nobody grades this, and you may skip it."


class Questions(Shown):
    """The five questions of a seed: text, a page, and ``widget`` where there are widgets."""

    def __init__(self, lab: Lab, asked: Sequence[Prediction], seed: int):
        self.asked = asked
        super().__init__(_text(lab, asked, seed), str(static(asked)))
        self.widget = _widget(asked, f'{HEAD} Others: run the cell again. These: lab.recall("{lab.number}", seed={seed}).')

    @property
    def answers(self) -> Shown:
        """Return the answers as text."""
        return Shown("\n".join(f"{n}. {one.answer}. {one.because}" for n, one in enumerate(self.asked, 1)))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        both = {"text/plain": self.text, "text/html": self._repr_html_()}
        if self.widget is None:
            return both
        bundle = self.widget._repr_mimebundle_(**kwargs)
        data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
        data = {**(data or {}), **both}
        return (data, *rest) if rest else data


def questions(lab: Lab, seed: int | None = None) -> Questions:
    """Draw a lab's questions: by a seed, or anew. Raises CourseError for a lab that asks none."""
    if not lab.recall:
        raise CourseError(f"Lab {lab.number} asks nothing about what came before: nothing does.")
    seed = fresh_seed() if seed is None else seed
    return Questions(lab, drawn(lab.recall, seed), seed)


def static(asked: Sequence[Prediction]) -> Markup:
    """Return questions as a page that needs no kernel, with the answers folded."""
    return page.fill("recall.html", head=HEAD, asked=asked)


def _text(lab: Lab, asked: Sequence[Prediction], seed: int) -> str:
    lines = [f"{n}. {one.question}\n   {' | '.join(one.choices)}" for n, one in enumerate(asked, 1)]
    return "\n".join([HEAD, *lines, f'The answers: lab.recall("{lab.number}", seed={seed}).answers'])


def _widget(asked: Sequence[Prediction], head: str) -> Any:
    """Make the buttons, or None where there are no widgets."""
    try:
        import ipywidgets as widgets
        from IPython import get_ipython
    except ImportError:
        return None
    if get_ipython() is None:
        return None
    from dcplab.viz.core import keyboard

    wide = widgets.Layout(max_width="48em")
    boxes = [_one(n, one, widgets) for n, one in enumerate(asked, 1)]
    return widgets.VBox([widgets.HTML(html("{}", head), layout=wide), *boxes, keyboard.keep()])


def _one(n: int, asked: Prediction, widgets: Any) -> Any:
    said = widgets.HTML(html(STATUS, ""))
    buttons = [
        widgets.Button(description=choice, layout=widgets.Layout(width="auto", min_width="4em", max_width="100%"))
        for choice in asked.choices
    ]

    def on_choice(button: Any) -> None:
        right = prediction.is_right(asked, button.description)
        button.button_style = "success" if right else "warning"
        button.icon = "check" if right else "times"  # seen by form too
        said.value = html(STATUS, prediction.verdict(asked, button.description, right))

    for button in buttons:
        button.on_click(on_choice)
    row = widgets.Layout(flex_flow="row wrap")
    wide = widgets.Layout(max_width="48em")
    heading = widgets.HTML(html("<b>{}.</b> {}", str(n), asked.question), layout=wide)
    said.layout = wide
    return widgets.VBox([heading, widgets.HBox(buttons, layout=row), said])
