"""Records the states of a live picture, so that a page without a kernel can step through them.

A frame is the SVG that JupyterLab would show. Neighbouring frames are nearly the same, so a film keeps each piece of SVG once,
and a frame is a list of runs of pieces.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from markupsafe import Markup

from dcplab.present.page import html
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.svg import to_svg

_PIECE = re.compile(r"<[^>]*>[^<]*(?:</[^>]*>[^<]*)*")  # a tag, its text, and what ends there


@dataclass(frozen=True)
class Frame:
    """One state. ``step`` names it on the slider. ``sentence`` is read aloud when it changes, ``legend`` stands below the
    picture. ``loc`` is the `Box.loc` of the cells that lead to it, or None."""

    step: str
    picture: Picture
    sentence: str
    legend: str
    loc: int | None = None


@dataclass(frozen=True)
class Film:
    """``axes``: names to the values of controls, the value at the start of each in ``start``. ``frames(*values)`` gives the
    states for one value of each axis, one for each step of the slider ``steps``. ``first``: the step at the start."""

    name: str
    steps: str
    frames: Callable[..., Sequence[Frame]]
    first: str
    axes: Mapping[str, Sequence[str]]
    start: tuple[str, ...] = ()


def page(film: Film, identity: str) -> Markup:
    """Return the film as HTML: its first frame, which every browser shows, and the data that the site's script steps through.

    ``identity``: a name that no other film of the page has.
    """
    reels = [list(film.frames(*values)) for values in product(*film.axes.values())]
    pool = Pool()
    kept = [[frame_runs(frame, pool, identity) for frame in reel] for reel in reels]
    values = list(product(*film.axes.values()))
    at = values.index(film.start)
    step = next(i for i, frame in enumerate(reels[at]) if frame.step == film.first)
    shown = reels[at][step]
    data = {
        "axes": [{"name": name, "values": list(of)} for name, of in film.axes.items()],
        "steps": film.steps,
        "reel": at,
        "step": step,
        "pieces": pool.pieces,
        "reels": kept,
    }
    return html(
        '<figure class="film" id="{}" aria-label="{}"><div class="film-controls"></div>'
        '<p class="film-sentence" aria-live="polite">{}</p><div class="film-picture">{}</div><figcaption>{}</figcaption>'
        '<script type="text/plain">{}</script></figure>',
        identity,
        film.name,
        shown.sentence,
        Markup(_svg(shown, identity)),
        _below(shown),
        base64.b64encode(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0)).decode(),
    )


def _below(frame: Frame) -> str:
    return f"{frame.picture.title}. {frame.legend}"


def _svg(frame: Frame, identity: str) -> str:
    return to_svg(frame.picture.scene, frame.picture.title, identity, live=True)


def frame_runs(frame: Frame, pool: Pool, identity: str) -> dict[str, Any]:
    runs = pool.runs(_PIECE.findall(_svg(frame, identity)))
    return {"step": frame.step, "loc": frame.loc, "says": frame.sentence, "below": _below(frame), "runs": runs}


class Pool:
    """The different pieces of SVG seen so far, in ``pieces``. A sequence of pieces becomes runs: start, length, start, ..."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._places: dict[str, int] = {}

    def runs(self, pieces: Sequence[str]) -> list[int]:
        """Return the runs that give ``pieces``, after adding those that were not seen before."""
        found: list[int] = []
        for piece in pieces:
            place = self._places.get(piece)
            if place is None:
                place = self._places[piece] = len(self.pieces)
                self.pieces.append(piece)
            if found and found[-2] + found[-1] == place:
                found[-1] += 1
            else:
                found += [place, 1]
        return found
