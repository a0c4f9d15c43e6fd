"""Draws a step of the engine as its stages, one line each: what goes in, who does what, what comes out. A piece of it names all
stages in a line above and draws those that a part is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dcplab.course.model import Table
from dcplab.viz.core.palette import owner_style
from dcplab.viz.core.picture import Picture
from dcplab.viz.core.scene import GAP, MARGIN, Box, Scene, chip_width

HEIGHT, CHIP, CELL = 36, 22, 56
WIDTH = 8 * (CELL + GAP) - GAP  # of a line's cells: eight tokens, or four ranks
Boxes = Callable[[float, float], list[Box]]


@dataclass(frozen=True)
class Stage:
    """A line of the picture. ``boxes(x, y)`` draws it. ``facts``: what goes in, what comes out, and the index space of that."""

    name: str
    says: str
    facts: tuple[str, str, str]
    boxes: Boxes


@dataclass(frozen=True)
class Step:
    """A step of the engine. ``subject`` is for titles ("One decode step of ..."); ``piece`` begins the title of a piece."""

    stages: tuple[Stage, ...]
    subject: str
    caption: str
    piece: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(stage.name for stage in self.stages)


def ranks(texts: Sequence[tuple[str, str]], width: float = 2 * CELL + GAP, style: str = "") -> Boxes:
    """Draw one box a rank: (text, smaller text), in the rank's colour or ``style``, quiet where it has nothing to do."""

    def boxes(x: float, y: float) -> list[Box]:
        return [
            Box(x + r * (width + GAP), y, width, HEIGHT, (style or owner_style(r)) if text else "quiet", text or "nothing", sub)
            for r, (text, sub) in enumerate(texts)
        ]

    return boxes


def staged(step: Step, lit: str | Sequence[str] | None) -> Picture:
    """Draw a step, or the stages of it that ``lit`` names. Raises ValueError for a name that is none."""
    names = step.names if lit is None else (lit,) if isinstance(lit, str) else tuple(lit)
    if not names or (strange := [name for name in names if name not in step.names]):
        raise ValueError(f"the stages are {', '.join(step.names)}; {strange[0]!r} is none." if names else "no stage is named.")
    whole = set(names) == set(step.names)
    label = max(chip_width([shown(s.name)]) for s in step.stages)
    label = max(label, *(0.62 * 11 * len(s.says) + 8 for s in step.stages))
    left, y = MARGIN + label + 3 * GAP, float(MARGIN)
    boxes: list[Box] = [] if whole else _line_of_names(step.names, names, left + WIDTH - MARGIN, y)
    y += 0 if whole else CHIP + 4 * GAP
    for stage in (s for s in step.stages if s.name in names):
        boxes += [Box(MARGIN, y, label, HEIGHT, "header", shown(stage.name), stage.says), *stage.boxes(left, y)]
        y += HEIGHT + 3 * GAP
    rows = tuple((shown(s.name), *s.facts) for s in step.stages if s.name in names)
    return Picture(
        step.subject if whole else f"{step.piece}: {', '.join(shown(name) for name in step.names if name in names)}",
        step.caption if whole else "The stages from a request to its output are named above; the dark ones are drawn.",
        Scene(tuple(boxes)),
        Table(("stage", "takes", "gives", "index space"), rows),
    )


def _line_of_names(names: Sequence[str], lit: Sequence[str], width: float, y: float) -> list[Box]:
    """Draw the stages' names in their order, the lit ones dark."""
    each = (width - (len(names) - 1) * GAP) / len(names)
    return [
        Box(MARGIN + i * (each + GAP), y, each, CHIP, "header" if name in lit else "yes", shown(name))
        for i, name in enumerate(names)
    ]


def shown(name: str) -> str:
    """Return a stage's name as a reader sees it."""
    return {"index_k": "index-K", "top_k": "top-k", "to_ragged": "to ragged"}.get(name, name)
