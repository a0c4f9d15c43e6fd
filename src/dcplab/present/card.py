"""Shows a check's result as a card: a page of a notebook, of a feedback file, of a grader.

A card brings its looks along, since no style sheet of ours is where it is read. Colours are the theme's own where it has some.
"""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from dcplab.course.model import CheckResult
from dcplab.present.check_result import WORDS, first_and_rest, table_lines
from dcplab.present.page import fill
from dcplab.present.table import to_html

# Outcomes are told from afar by the mark, by the form of the edge and by colour: (mark, edge, the theme's colour, another one
# where there is no theme, or where JupyterLab drops it from a notebook that it does not trust).
NOT_RIGHT = ("✗", "double", "--jp-error-color1", "#d32f2f")
LOOKS = {
    "passed": ("✓", "solid", "--jp-success-color1", "#388e3c"),
    "not_attempted": ("○", "dotted", "--jp-border-color1", "#808080"),
    "error": ("?", "dotted", "--jp-warn-color1", "#b26a00"),
}


def as_html(found: CheckResult, picture: Markup | None = None) -> Markup:
    """Format a result. ``picture``: of the result's ``cells``, which `viz` draws."""
    first, rest = first_and_rest(found.message)
    rest, _, small = rest.rpartition("\n")[0].rpartition("\n")  # the last line repeats the heading
    above, below, grid = rest, "", Markup()
    if found.table is not None:
        above, _, below = rest.partition("\n".join(table_lines(found.table)))
        grid = to_html(replace(found.table, caption=""), look="card") if found.table.rows else grid
    mark, edge, theme, plain = LOOKS.get(found.outcome, NOT_RIGHT)
    return fill(
        "card.html",
        found=found,
        mark=mark,
        edge=edge,
        colours=(plain, Markup("var({},{})").format(theme, plain)),
        word=WORDS[found.outcome],
        points=f"{found.points:g} of {found.max_points:g} points",
        first=first,
        above=above,
        grid=grid,
        picture=picture or "",
        below=below,
        small=small,
    )
