"""The form that asks for a prediction: a question, its choices or a field, a button, and what was said. Works by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dcplab.errors import CourseError
from dcplab.present.page import html
from dcplab.viz.core import keyboard


class Form:
    """The widget, and the same question as text for places where no kernel draws it."""

    def __init__(self, widget: Any, text: str):
        self.widget, self.text = widget, text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = self.widget._repr_mimebundle_(**kwargs)
        data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
        data = {**(data or {}), "text/plain": self.text}
        return (data, *rest) if rest else data


def widgets_here() -> bool:
    """Return True in a notebook that can show widgets."""
    try:
        import ipywidgets  # noqa: F401 - whether it is there
        from IPython import get_ipython
    except ImportError:
        return False
    return get_ipython() is not None


def form(part: str, question: str, choices: Sequence[str], before: str, commit: Callable[[str], str], text: str) -> Form:
    """Make a form. ``commit(answer)`` returns what is said then, or raises CourseError. ``before``: said already. ``text``: the
    same without widgets."""
    import ipywidgets as widgets

    wide = widgets.Layout(width="auto", max_width="48em")
    heading = widgets.HTML(html("<b>{}, predict:</b> {}", part, question))
    if choices:
        field = widgets.RadioButtons(options=list(choices), value=None, layout=wide)
    else:
        field = widgets.Text(placeholder="your answer", layout=wide)
    button = widgets.Button(description="Commit", tooltip="Say what you expect, before you run it")
    said = widgets.HTML(html("{}", before))

    def on_commit(_: Any) -> None:
        try:
            said.value = html("{}", commit(field.value or ""))
        except CourseError as e:
            said.value = html("{}", str(e))
        except Exception as e:  # tell a bad value and keep the form
            said.value = html("{}", f"That did not work: {type(e).__name__}: {e}")

    button.on_click(on_commit)
    return Form(widgets.VBox([heading, field, button, said, keyboard.keep()]), text)
