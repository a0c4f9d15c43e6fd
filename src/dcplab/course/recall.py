"""Draws questions on what came before: those at the head of a lab, which nobody grades.

A lab's questions are functions in its ``parts/recall.py``: each gets a `Draw` and returns a `Prediction` with choices. Numbers
in them come from the course's own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dcplab.course.model import Prediction
from dcplab.course.seeded import Draw

Question = Callable[[Draw], Prediction]
ASKED, CHOICES = 5, 4


def question(draw: Draw, text: str, answer: object, wrong: Iterable[object], because: str) -> Prediction:
    """Make a question of its right answer and the first three wrong ones that differ from it and from each other."""
    choices = list(dict.fromkeys(map(str, (answer, *wrong))))[:CHOICES]
    return Prediction(text, str(answer), because, tuple(draw.shuffled(choices)))


def drawn(questions: Sequence[Question], seed: int) -> tuple[Prediction, ...]:
    """Draw five of a lab's questions, and their numbers: the same for a seed on every machine."""
    draw = Draw(seed)
    return tuple(ask(draw) for ask in draw.sample(questions, min(ASKED, len(questions))))
