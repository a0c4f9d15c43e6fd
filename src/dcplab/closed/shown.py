"""Makes what a call gives into what a learner's side can hold: a plain value, what a notebook shows of it, or a film."""

from __future__ import annotations

from typing import Any

import torch

from dcplab.closed.asks import CourseCall
from dcplab.course.model import CheckResult, Part
from dcplab.lab import Checked
from dcplab.present.display import Shown
from dcplab.site import film, films
from dcplab.viz.core.live import View
from dcplab.viz.core.picture import Picture

DEPTH = 16
PLAIN = (type(None), bool, int, float, str, bytes)
# Of a check's result. Its picture is in the card, and what explain() shows comes when it is asked for.
FIELDS = ("lab", "part", "outcome", "points", "max_points", "message", "seed", "mode", "diagnosis", "question", "busy")


class Asked(Shown):
    """A part's prediction as a form needs it: all but its answer."""

    def __init__(self, said: Shown, part: Part, before: str):
        super().__init__(said.text)
        assert part.prediction is not None
        asked = part.prediction
        self.asked = {"part": part.id, "question": asked.question, "choices": list(asked.choices), "before": before}


def told(found: Any) -> dict[str, Any]:
    """Return a reply: ``value``, or ``shown`` (a bundle by MIME type), and with it ``film`` or ``fields`` if there are some."""
    if isinstance(found, CourseCall):
        return {"callable": True}
    if isinstance(found, Checked):
        return {"shown": bundle(found), "fields": fields(found.result)}
    if isinstance(found, Asked):
        return {"shown": bundle(found), "prediction": found.asked}
    if isinstance(found, View):
        made = films.FILMED.get(type(found))
        told = {"shown": picture(found.picture)}
        return told | {"film": reel(made(found))} if made else told
    if isinstance(found, (Shown, Picture)) or hasattr(found, "_repr_html_"):
        return {"shown": bundle(found)}
    value, whole = plain(found)
    return {"value": value} if whole else {"shown": {"text/plain": type(found).__name__}}


def fields(result: CheckResult) -> dict[str, Any]:
    return {name: getattr(result, name) for name in FIELDS}


def bundle(found: Any) -> dict[str, str]:
    """Return the text and the HTML of a result."""
    if isinstance(found, Picture):
        return picture(found)
    made = {"text/plain": repr(found)}
    if (page := getattr(found, "_repr_html_", None)) is not None:
        made["text/html"] = str(page())
    return made


def picture(of: Picture) -> dict[str, str]:
    return {"text/plain": of.text, "text/html": str(of.html)}


def plain(value: Any, depth: int = 0) -> tuple[Any, bool]:
    """Return a value as it travels, and True if nothing is lost by it: a tensor's tag is, and none of its numbers."""
    if depth > DEPTH:
        return None, False
    if type(value) in PLAIN:
        return value, True
    if isinstance(value, torch.Tensor):
        return value.detach().as_subclass(torch.Tensor).contiguous().cpu(), True
    if type(value) in (list, tuple):
        parts = [plain(one, depth + 1) for one in value]
        return type(value)(one for one, _ in parts), all(whole for _, whole in parts)
    if type(value) is dict:
        pairs = [(plain(k, depth + 1), plain(v, depth + 1)) for k, v in value.items()]
        return {k: v for (k, _), (v, _) in pairs}, all(a and b for (_, a), (_, b) in pairs)
    return None, False


def reel(of: film.Film) -> dict[str, Any]:
    """Return a film as data: each piece of SVG once, and a frame as runs of pieces."""
    from itertools import product

    pool = film.Pool()
    values = list(product(*of.axes.values()))
    frames = {v: [film.frame_runs(frame, pool, "film") for frame in of.frames(*v)] for v in values}
    return {
        "name": of.name,
        "steps": of.steps,
        "first": of.first,
        "axes": {name: list(choices) for name, choices in of.axes.items()},
        "start": list(of.start),
        "pieces": pool.pieces,
        "reels": [{"at": list(v), "frames": frames[v]} for v in values],
    }
