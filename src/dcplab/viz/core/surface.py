"""Draws the scene of a live view in the browser: as the same SVG that a static picture is, in a small widget of our own.

The whole front end is `SCRIPT`: it puts the SVG into the page, and says which cell was chosen, by mouse or keyboard. Plotly's
widget needs a script of 5 MB first, and a slow page drew nothing. `plot.Plot` is for a plot that one reads off.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from dcplab.viz.core.scene import Scene
from dcplab.viz.core.svg import to_svg

DRAWN = "dcplab-drawn"  # the class of what the front end has drawn
SCRIPT = """
const NEAR = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const middle = (cell) => { const b = cell.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; };

function neighbour(cells, from, [dx, dy]) {
  const [x, y] = middle(from);
  let best, least = Infinity;
  for (const cell of cells) {
    const [u, v] = middle(cell), along = (u - x) * dx + (v - y) * dy, aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
    if (along > 1 && along + 3 * aside < least) [best, least] = [cell, along + 3 * aside];
  }
  return best;
}

export default {
  render({ model, el }) {
    let loc, place = [0, 0];  // of the cell that Tab leads to
    const cells = () => [...el.querySelectorAll("[data-loc]")];
    const enter = (cell, focus) => {
      if (!cell) return;
      [loc, place] = [cell.dataset.loc, middle(cell)];
      cells().forEach((c) => c.setAttribute("tabindex", c === cell ? 0 : -1));
      if (focus) cell.focus({ preventScroll: true });
    };
    const again = () => {  // a loc may have several cells, and another place than before
      const all = cells(), same = all.filter((c) => c.dataset.loc === loc);
      const far = (c) => Math.hypot(middle(c)[0] - place[0], middle(c)[1] - place[1]);
      return (same.length ? same : all).reduce((a, b) => (a && far(a) <= far(b) ? a : b), undefined);
    };
    const draw = () => {
      const focus = el.contains(document.activeElement);
      el.innerHTML = model.get("svg");
      el.classList.add("dcplab-drawn");
      enter(again(), focus);
    };
    const choose = (cell) => model.send({ chosen: Number(cell.dataset.loc) });
    const clicked = (event) => {
      const cell = event.target.closest("[data-loc]");
      if (cell) { enter(cell, true); choose(cell); }
    };
    const pressed = (event) => {
      const cell = event.target.closest("[data-loc]");
      if (!cell || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      if (event.key === "Enter" || event.key === " ") choose(cell);
      else if (NEAR[event.key]) enter(neighbour(cells(), cell, NEAR[event.key]) ?? cell, true);
      else return;
      event.preventDefault();
    };
    el.addEventListener("click", clicked);
    el.addEventListener("keydown", pressed);
    model.on("change:svg", draw);
    draw();
    return () => model.off("change:svg", draw);
  },
};
"""
STYLE = """
.dcplab-drawn svg { display: block; max-width: 100%; height: auto; }
.dcplab-drawn [data-loc] { cursor: pointer; outline: none; }
.dcplab-drawn [data-loc]:hover { stroke: #808080; stroke-width: 2; }
.dcplab-drawn [data-loc]:focus-visible { stroke: #808080; stroke-width: 3; stroke-dasharray: 2 2; }
"""


@functools.cache
def _kind() -> type:
    import anywidget
    import traitlets

    class SceneWidget(anywidget.AnyWidget):
        _esm, _css = SCRIPT, STYLE
        svg = traitlets.Unicode().tag(sync=True)

    return SceneWidget


class Svg:
    """A scene in the browser. ``widget`` is an anywidget. ``chosen(loc)`` is called with the `Box.loc` of a cell that was
    clicked, or entered by keyboard."""

    def __init__(self, scene: Scene, title: str, chosen: Callable[[int], None]):
        self._chosen = chosen
        self.widget = _kind()()
        self._prefix = f"dcp{self.widget.model_id[:8]}"  # a pattern of another, hidden SVG of the page would not be painted
        self.draw(scene, title)
        self.widget.on_msg(self._told)

    def draw(self, scene: Scene, title: str) -> None:
        self.widget.svg = to_svg(scene, title, self._prefix, live=True)

    def _told(self, widget: Any, content: Any, buffers: Any) -> None:
        chosen = content.get("chosen") if isinstance(content, dict) else None
        if isinstance(chosen, int):
            self._chosen(chosen)
