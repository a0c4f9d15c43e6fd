"""Makes HTML. Jinja and markupsafe escape each value that is put in, unless it is `Markup`: HTML made here before.

Both give `Markup`, which escapes what is added to it: whoever hands a page on hands it on as ``str``. Templates lie in
`templates/`. Not for SVG, whose writer has its own reasons (`viz.core.svg`).
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    import jinja2

# JupyterLab breaks the lines of a plain pre between any two letters.
PRE = '<pre style="white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere">{}</pre>'
STATUS = '<div role="status" aria-live="polite">{}</div>'  # a screen reader reads it when it changes


def html(form: str, *values: Any) -> Markup:
    """Put values in the places of a form, as ``str.format`` does."""
    return Markup(form).format(*map(_readable, values))


def fill(template: str, **values: Any) -> Markup:
    """Fill a template with values. One that it asks for and does not get is an error."""
    return Markup(_templates().get_template(template).render(**values))


@functools.cache
def _templates() -> jinja2.Environment:
    import jinja2  # a tenth of a second, which a command that makes no page does not wait for

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=_readable,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _readable(value: Any) -> Any:
    """Replace the characters that no file in UTF-8 can hold: an answer may print half of a pair."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and not isinstance(value, Markup) else value
