"""Draws the isolation matrix: a line for every subset of patches, a column for every watermark, a cell for every server."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from dcplab.course.model import Table
from dcplab.present.page import html
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import GAP, MARGIN, Box, Scene, cell_width, chip, chip_width
from dcplab.viz.views.matrix.state import MatrixCell, MatrixState

HEIGHT, HEAD, PATCH = 40, 22, 48
# A verdict is written in its cell. The style only helps to see rows of equal verdicts.
STYLES = {"right": "owner2", "silent": "owner1", "alarm": "notice", "crash": "page", "": "unused"}
SHORT = {"index_k_size": "size", "ckv_write": "write"}
UNSAID = "nothing"


@dataclass(frozen=True)
class Matrix(Picture):
    """A picture with the surprises below it, as text that is not folded away."""

    surprises: tuple[str, ...] = ()

    @property
    def html(self) -> Markup:
        return super().html + listed(self.surprises)

    @property
    def text(self) -> str:
        return "\n".join([super().text, *(f"\n- {s}" for s in self.surprises)])


def listed(surprises: tuple[str, ...]) -> Markup:
    """Format surprises as a list of a page."""
    if not surprises:
        return Markup()
    return html("<p>Surprises:</p><ul>{}</ul>", Markup().join(html("<li>{}</li>", s) for s in surprises))


def scene(state: MatrixState) -> Scene:
    """Draw heads, then a line for every subset: its name, its patches, and its servers."""
    names = [_name(s) for s in state.subsets]
    left = chip_width([*names, "patches"])
    width = cell_width((main for main, _ in (_words(c, False) for c in state.cells)), 104)  # a longer line is made smaller
    patches = [SHORT.get(p, p) for p in state.patches]
    x0 = MARGIN + left + 2 * GAP
    x1 = x0 + len(patches) * (PATCH + GAP) + 2 * GAP
    boxes: list[Box] = [chip(MARGIN, MARGIN, "patches", "header", HEAD, left)]
    boxes += [chip(x0 + i * (PATCH + GAP), MARGIN, p, "header", HEAD, PATCH) for i, p in enumerate(patches)]
    columns = {level: x1 + i * (width + GAP) for i, level in enumerate(state.levels)}
    boxes += [chip(x, MARGIN, level, "header", HEAD, width) for level, x in columns.items()]
    tops = {s: MARGIN + HEAD + 2 * GAP + i * (HEIGHT + GAP) for i, s in enumerate(state.subsets)}
    for i, cell in enumerate(state.cells):
        y = tops[cell.subset]
        if i == next(j for j, c in enumerate(state.cells) if c.subset == cell.subset):
            boxes.append(Box(MARGIN, y, left, HEIGHT, "header", _name(cell.subset)))
            boxes += [
                Box(x0 + k * (PATCH + GAP), y, PATCH, HEIGHT, "yes" if has else "unused", "yes" if has else "no")
                for k, has in enumerate(cell.patches)
            ]
        main, sub = _words(cell, i == state.running)
        mark = "selected" if i == state.at else "last" if cell.surprise else ""
        style = STYLES[cell.verdict]
        boxes.append(Box(columns[cell.level], y, width, HEIGHT, style, main, sub, mark, i, f"{cell.id}: {told(cell)}"))
    return Scene(tuple(boxes))


def _name(subset: str) -> str:
    return {"none": "none", "all": "all five"}.get(subset, subset)


def _words(cell: MatrixCell, running: bool) -> tuple[str, str]:
    guess = f"you: {cell.predicted or '-'}"
    if not cell.verdict:
        return ("running" if running else "not run yet"), guess
    return cell.verdict, f"{guess} {'✗' if cell.surprise else '✓'}"


def told(cell: MatrixCell) -> str:
    """Word a cell: its prediction, its result, and the reason."""
    if not cell.verdict:
        return f"you say {cell.predicted or UNSAID}; it has not run yet."
    said = f"you said {cell.predicted or UNSAID}, and it is {cell.verdict}" if cell.surprise else f"{cell.verdict}, as you said"
    return f"{said} ({cell.counts}). {cell.because}"


def sentence(state: MatrixState) -> str:
    """Word the state of the run: servers done, predictions that agree, and the selected cell."""
    of, done = len(state.cells), state.done
    if state.running is not None:
        head = f"{done} of {of} servers have run; now {state.cells[state.running].id}."
    elif not done:
        head = f"{of} servers, none of which has run yet."
    else:
        head = f"{done} of {of} servers have run; {state.agreed} of them did what you said."
    cell = state.cells[state.at]
    return " ".join(filter(None, (head, state.note, f"{cell.id}: {told(cell)}")))


def legend(state: MatrixState) -> str:
    return (
        "right: every answer is right. silent: a wrong answer, no error. alarm: a check stops the server, on a legal loc. "
        "crash: memory that is not mapped. Columns: the largest loc is below one rank's rows, C + P, or above, or the pool "
        "is full. A dashed outline is a surprise; the solid one is the server that is told of."
    )


def surprises(state: MatrixState) -> tuple[str, ...]:
    return tuple(f"{c.id}: {told(c)}" for c in state.surprises)


def picture(state: MatrixState) -> Matrix:
    """Make the picture of a state: scene, sentence and table."""
    header = (
        "patches in force",
        *(SHORT.get(p, p) for p in state.patches),
        "watermark",
        "you said",
        "it was",
        "fresh, long, again",
    )
    rows = tuple(
        (
            f"> {_name(c.subset)}" if i == state.at else _name(c.subset),
            *("yes" if has else "no" for has in c.patches),
            c.level,
            c.predicted or "-",
            c.verdict or "not run yet",
            c.counts or "-",
        )
        for i, c in enumerate(state.cells)
    )
    return Matrix(
        f"Isolation matrix, {state.done} of {len(state.cells)} servers run",
        f"{sentence(state)} {legend(state)}",
        scene(state),
        Table(header, rows),
        surprises=surprises(state),
    )
