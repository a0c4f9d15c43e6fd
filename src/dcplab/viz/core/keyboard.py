"""Keeps keys for the control that has the focus.

JupyterLab in command mode takes arrow keys and letters from every element that is no text field: a list loses its arrows, and
"d d" deletes the cell. An element with ``data-lm-suppress-shortcuts`` keeps its keys. It must be the element itself, since its
ancestors are asked too late. ipywidgets cannot set an attribute, so a widget without a body does it. Keys with Ctrl, Alt or
Meta, and Shift-Enter, stay JupyterLab's.
"""

from __future__ import annotations

import functools

_SCRIPT = """
export default {
  render({ el }) {
    el.style.display = "none";
    const choose = (event) => {
      const theirs = event.ctrlKey || event.altKey || event.metaKey || (event.shiftKey && event.key === "Enter");
      if (el.parentElement?.contains(event.target)) event.target.toggleAttribute("data-lm-suppress-shortcuts", !theirs);
    };
    window.addEventListener("keydown", choose, true);  // before JupyterLab, which listens on the document
    return () => window.removeEventListener("keydown", choose, true);
  },
};
"""


@functools.cache
def _kind() -> type:
    import anywidget

    class Keys(anywidget.AnyWidget):
        _esm = _SCRIPT

    return Keys


def keep():
    """Make an invisible widget. Among a box's children, it keeps for them the keys that they need."""
    try:
        return _kind()()
    except ImportError:  # without anywidget, only the mouse works
        import ipywidgets

        return ipywidgets.HTML()
