"""Asks for a prediction before a run: a question to commit to, then the reason for its answer.

A notebook shows a form that works by keyboard (arrows choose, Tab goes on, Enter commits). Without widgets it is text. It never
waits for an answer, so Run All goes past it.
"""

from __future__ import annotations

import re
from typing import Any

from dcplab import progress
from dcplab.course.catalog import Lab
from dcplab.course.model import ExaminedPart, Part, Prediction
from dcplab.errors import CourseError
from dcplab.present.display import Shown
from dcplab.viz.core import form as forms

LONGEST = 1_000  # characters that are kept: in a closed book the progress file is the service's


def _asked(part: Part | ExaminedPart) -> Prediction:
    if part.prediction is None:
        raise CourseError(f"Part {part.id} asks for no prediction.")
    return part.prediction


def commit(lab: Lab, part: Part | ExaminedPart, answer: str) -> str:
    """Record an answer and return whether it is right, and why. Raises CourseError for an answer outside the choices."""
    asked = _asked(part)
    if len(answer) > LONGEST:
        raise CourseError(f"A prediction has at most {LONGEST:,} characters.")
    if asked.choices and same(answer) not in map(same, asked.choices):
        raise CourseError(f"{answer!r} is none of the choices: {', '.join(asked.choices)}.")
    if not same(answer):
        raise CourseError("A prediction needs an answer, a guess too.")
    right = is_right(asked, answer)
    progress.predict(lab.name, part.id, answer, right)
    return verdict(asked, answer, right)


def is_right(asked: Prediction, answer: str) -> bool:
    return same(answer) == same(asked.answer)


def same(text: str) -> str:
    """Normalise an answer: case, spaces around signs, brackets around a list, and a final full stop do not count."""
    text = re.sub(r"\s+", " ", str(text).strip().lower()).rstrip(".")
    if (text[:1], text[-1:]) in (("[", "]"), ("(", ")")):
        text = text[1:-1]
    return re.sub(r"\s*([,;:\[\](){}=+*/<>])\s*", r"\1", text)


def verdict(asked: Prediction, answer: str, right: bool) -> str:
    first = f"✓ You said {answer}: right." if right else f"✗ You said {answer}. The answer: {asked.answer}."
    return f"{first} {asked.because}"


def question(part: Part | ExaminedPart) -> str:
    """Return the question as text, with instructions for answering."""
    asked = _asked(part)
    choices = "\n".join(f"  {c}" for c in asked.choices)
    example = "one of these" if asked.choices else "your answer"  # learners would take an example from the list for a tip
    return f'{part.id}, predict: {asked.question}\n{choices}\nAnswer with lab.predict("{part.id}", "{example}").'


def said_before(lab: Lab, part: Part | ExaminedPart) -> str:
    """Return an earlier prediction with its verdict, or ""."""
    made = progress.part(lab.name, part.id).get("prediction")
    return verdict(_asked(part), str(made.get("answer")), bool(made.get("right"))) if isinstance(made, dict) else ""


def form(lab: Lab, part: Part | ExaminedPart) -> Any:
    """Return the form, or the question as text where there are no widgets. An earlier prediction is shown with its verdict."""
    asked, before = _asked(part), said_before(lab, part)
    text = "\n".join(filter(None, (question(part), before)))
    if not forms.widgets_here():
        return Shown(text)
    return forms.form(part.id, asked.question, asked.choices, before, lambda answer: commit(lab, part, answer), text)
