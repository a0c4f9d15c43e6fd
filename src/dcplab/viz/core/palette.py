"""Defines colours and patterns. Colour is never the only sign: a cell also carries its owner's name and, from the second rank
on, a pattern.

Every text stands on its own fill, since no single grey reaches a contrast of 4.5 on both white and JupyterLab's dark
``#111111`` (the best possible is 4.34). Outlines and lines, which need 3, use one mid grey on both.
"""

from __future__ import annotations

from dataclasses import dataclass

PAGES = ("#ffffff", "#111111")  # background in JupyterLab's light and dark theme
DARK_INK, LIGHT_INK = "#10151d", "#ffffff"
GREY = "#808080"


@dataclass(frozen=True)
class Style:
    """``shade`` draws the pattern on ``fill``; ``pattern`` is one of plotly's shapes, "" for none."""

    fill: str
    ink: str = DARK_INK
    pattern: str = ""
    shade: str = ""


_OWNERS = (
    Style("#7cc0f0"),
    Style("#f5b14c", pattern="/", shade="#e79d2f"),
    Style("#62c9a4", pattern="\\", shade="#4cb48f"),
    Style("#e99cc4", pattern="x", shade="#dc86b2"),
    Style("#e9df62", pattern="-", shade="#d3c844"),
    Style("#f39478", pattern="|", shade="#e37f61"),
    Style("#ada4ec", pattern="+", shade="#9a90dd"),
    Style("#c3b195", pattern=".", shade="#a8957a"),
)

_REQUESTS = (  # paler than any owner
    Style("#dbe7f6"),
    Style("#f7e4c6", pattern="/", shade="#eed4ab"),
    Style("#d3eee0", pattern="\\", shade="#bfe2d0"),
    Style("#f4dcea", pattern="x", shade="#e9cadd"),
)

STYLES: dict[str, Style] = {
    **{f"owner{i}": style for i, style in enumerate(_OWNERS)},
    **{f"request{i}": style for i, style in enumerate(_REQUESTS)},
    "header": Style("#5b6575", LIGHT_INK),
    "index_k": Style("#2f6f78", LIGHT_INK),
    "page": Style("#7a4f80", LIGHT_INK),
    "quiet": Style("#a9b1bc"),
    "unused": Style("#a9b1bc", pattern="/", shade="#98a1ad"),
    "reserved": Style("#a9b1bc", pattern="x", shade="#98a1ad"),
    "yes": Style("#d5dbe3"),
    "notice": Style("#f3d98b"),
}
LINES = {"journey": ("#d6336c", 3.0), "thread": (GREY, 1.2), "limit": ("#d6336c", 2.0)}
MARKS = {
    "selected": ("#d6336c", 3.5, ""),
    "last": (GREY, 3.0, "dash"),
    "due": ("#d6336c", 3.0, "dash"),
    "wrong": ("#e03131", 3.0, ""),
}


def owner_style(rank: int) -> str:
    """Return the style of a rank's cells. From the ninth rank on colours repeat; the label in the cell does not."""
    return f"owner{rank % len(_OWNERS)}"


def request_style(i: int) -> str:
    """Return the style of a request's cells. The letter in the cell tells requests apart where colours repeat."""
    return f"request{i % len(_REQUESTS)}"


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb`` (WCAG 2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2), 1 to 21."""
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)
