"""Draws a scene as SVG: attributes only, no style sheet, since some notebook viewers drop an SVG's styles.

The writer is our own: a saved notebook holds every picture, and a library writes each shape's attributes in full. `_grouped`
writes shared attributes once.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from dcplab.viz.core.palette import LINES, MARKS, STYLES
from dcplab.viz.core.scene import Box, Line, Scene

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
_PATHS = {  # pattern -> its path in a tile of 8 by 8
    "/": "M-2 2L2-2M0 8L8 0M6 10L10 6",
    "\\": "M-2 6L2 10M0 0L8 8M6-2L10 2",
    "x": "M0 0L8 8M0 8L8 0",
    "-": "M0 4H8",
    "|": "M4 0V8",
    "+": "M0 4H8M4 0V8",
    ".": "M3 4H5",
}


def to_svg(scene: Scene, title: str, prefix: str = "dcp", live: bool = False, says: str = "") -> str:
    """Return the scene as one SVG document. A screen reader reads ``title``, and ``says`` if there is more to tell. ``prefix``:
    of its ids, if a page holds several. ``live``: its cells can be chosen (``data-loc``), and tell more under the mouse."""
    w, h = scene.width, scene.height
    used = sorted({b.style for b in scene.boxes if STYLES[b.style].pattern})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(says)}</desc>" if says else "",
        f"<defs>{''.join(_pattern(name, prefix) for name in used)}</defs>" if used else "",
        *(_line(line) for line in scene.lines if line.style == "thread"),
        *(f'<g fill="{_fill(name, prefix)}">{rects}</g>' for name, rects in _grouped((b.style, _rect(b)) for b in scene.boxes)),
        *(_line(line) for line in scene.lines if line.style == "limit"),  # a bound is drawn above bars and below their text
        f'<g font-family="{FONT}" text-anchor="middle">',
        *(f"<g {look}>{texts}</g>" for look, texts in _grouped(t for b in scene.boxes for t in _texts(b))),
        "</g>",
        *(_line(line) for line in scene.lines if line.style == "journey"),
        *(_outline(box) for box in scene.boxes if box.mark),
        *(_cross(box) for box in scene.boxes if box.mark == "wrong"),
        *(_target(box) for box in scene.boxes if live and (box.loc is not None or box.hover)),
        "</svg>",
    ]
    return "".join(parts)


def _pattern(name: str, prefix: str) -> str:
    style = STYLES[name]
    path = f'<path d="{_PATHS[style.pattern]}" stroke="{style.shade}" stroke-width="2" fill="none"/>'
    rect = f'<rect width="8" height="8" fill="{style.fill}"/>'
    return f'<pattern id="{prefix}-{name}" width="8" height="8" patternUnits="userSpaceOnUse">{rect}{path}</pattern>'


def _fill(name: str, prefix: str) -> str:
    return f"url(#{prefix}-{name})" if STYLES[name].pattern else STYLES[name].fill


def _grouped(items: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Group elements that look alike and write their shared attributes once, so that a lab stays small."""
    groups: dict[str, list[str]] = {}
    for look, element in items:
        groups.setdefault(look, []).append(element)
    return ((look, "".join(elements)) for look, elements in groups.items())


def _rect(box: Box) -> str:
    return f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.w:g}" height="{box.h:g}" rx="3"/>'


def _outline(box: Box) -> str:
    colour, width, dash = MARKS[box.mark]
    dashed = ' stroke-dasharray="5 3"' if dash else ""
    return (
        f'<rect x="{box.x - 1:g}" y="{box.y - 1:g}" width="{box.w + 2:g}" height="{box.h + 2:g}" rx="4" fill="none" '
        f'stroke="{colour}" stroke-width="{width:g}"{dashed}/>'
    )


def _cross(box: Box) -> str:
    """Draw a cross in a disc on the corner of a wrong cell: it is told by form, not by the colour of its outline alone."""
    x, y = box.x + box.w - 1, box.y + 1
    arms = f"M{x - 3:g} {y - 3:g}l6 6m0-6l-6 6"
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="6.5" fill="{MARKS["wrong"][0]}"/><path d="{arms}" stroke="#fff" stroke-width="2"/>'
    )


def _target(box: Box) -> str:
    """Lay an invisible cell over what is drawn: it is what a mouse meets."""
    where = f'x="{box.x:g}" y="{box.y:g}" width="{box.w:g}" height="{box.h:g}" rx="3" fill="transparent"'
    chosen = "" if box.loc is None else f' data-loc="{box.loc}" role="button" aria-label="{escape(box.hover or box.text)}"'
    return f"<rect {where}{chosen}>{f'<title>{escape(box.hover)}</title>' if box.hover else ''}</rect>"


def _line(line: Line) -> str:
    colour, width = LINES[line.style]
    points = " ".join(f"{x:g},{y:g}" for x, y in line.points)
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width:g}" stroke-linejoin="round"/>'


def _texts(box: Box) -> list[tuple[str, str]]:
    ink = STYLES[box.style].ink
    return [
        (f'fill="{ink}" font-size="{size:.3g}"', f'<text x="{x:g}" y="{y + size * 0.36:.0f}">{escape(text)}</text>')
        for x, y, size, text in text_places(box)
    ]


def text_places(box: Box) -> list[tuple[float, float, float, str]]:
    """Return ``(x, y of the middle, font size, text)`` of each line of text in a box. `plot` uses it too."""
    x, y = box.middle
    main = 13 if box.h >= 26 else 12
    small = min(11.0, (box.w - 3) / (0.62 * max(1, len(box.sub))))
    if box.sub and box.text:
        return [(x, y - 6, main, box.text), (x, y + 9, small, box.sub)]
    return [(x, y, main, box.text or box.sub)] if box.text or box.sub else []
