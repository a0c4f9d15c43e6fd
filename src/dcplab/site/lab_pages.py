"""Makes a lab's page: the notebook as a learner first gets it, with its pictures drawn, its questions asked, its hints folded.

No cell is run. A cell that is one call of `viz` on literals is drawn here, by the same function; any other cell shows its code.
"""

from __future__ import annotations

import ast
from typing import Any

from markupsafe import Markup
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from dcplab import recall, viz
from dcplab.author import build
from dcplab.course.catalog import Lab
from dcplab.course.model import ExaminedPart, Part
from dcplab.course.recall import drawn as drawn_questions
from dcplab.present.page import html
from dcplab.site import film
from dcplab.site.films import FILMED
from dcplab.viz.core.live import View

TIERS = ("a nudge", "the idea", "nearly the answer")
SEED = 36886  # of the questions on what came before
_KNOWN = {"viz": viz, "range": range, "list": list}  # the names that a cell may use to be drawn here


def page(lab: Lab) -> NotebookNode:
    """Return the notebook of a lab's page."""
    nb = build.make(lab).learner
    head, *rest = nb.cells
    cells = [head, new_markdown_cell(_note(lab), id="as-it-is-opened")]
    asked = {f'lab.predict("{part.id}")': part for part in lab.listed}
    checked = {f"check-{part.id}": part for part in lab.parts}
    for cell in rest:
        cells.append(cell)
        if cell.cell_type != "code":
            continue
        if part := asked.get(cell.source.strip()):
            cell.outputs = _output(_question(part))
        elif cell.source.strip() == f'lab.recall("{lab.number}")':
            cell.outputs = _output(recall.static(drawn_questions(lab.recall, SEED)))
        elif (found := drawn(cell.source)) is not None:
            cell.outputs = _output(shown(found, f"film-{cell.id}"))
        if part := checked.get(cell.id):
            cells.append(new_markdown_cell(str(_hints(part)), id=f"hints-{part.id}"))
    nb.cells = cells
    return nb


def drawn(source: str) -> Any:
    """Return the value of a cell that is one expression of `viz` and literals, else None."""
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except SyntaxError:
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if not ("viz" in names and names <= set(_KNOWN)):
        return None
    value = eval(compile(tree, "cell", "eval"), {"__builtins__": {}, **_KNOWN})  # the course's own source, not a learner's
    return value if isinstance(value, View | viz.Picture) else None


def shown(found: View | viz.Picture, identity: str) -> Markup:
    """Return a picture as HTML: a film where there is one of it. ``identity``: of the film, among those of its page."""
    if isinstance(found, viz.Picture):
        return found.html
    make = FILMED.get(type(found))
    return film.page(make(found), identity) if make else found.picture.html


def _output(page: Markup) -> list[NotebookNode]:
    return [new_output("display_data", data={"text/html": str(page)})]


def _note(lab: Lab) -> str:
    return (
        "```{note}\n"
        "This is the notebook as it is first opened. Nothing runs on this page: "
        f"`./course lab {lab.number}` opens it where you can write and check your answers.\n```"
    )


def _question(part: Part | ExaminedPart) -> Markup:
    """Write a part's question before the first run, without the answer."""
    if part.prediction is None:
        return Markup()
    choices = Markup().join(html("<li>{}</li>", choice) for choice in part.prediction.choices)
    return html('<div class="question"><p>{}</p><ul>{}</ul></div>', part.prediction.question, choices)


def _hints(part: Part) -> Markup:
    folded = (
        html('<details class="hint"><summary>Hint {} for {}: {}</summary><p>{}</p></details>', i, part.id, tier, text)
        for i, (tier, text) in enumerate(zip(TIERS, part.hints, strict=True), 1)
    )
    return Markup("\n").join(folded)
